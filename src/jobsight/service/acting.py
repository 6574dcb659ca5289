"""Acting, round by round: of `jobsight acting run`, and in a thread of the service."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from jobsight.acting.condor.writeback import Writeback as CondorWriteback
from jobsight.acting.control import Switch
from jobsight.acting.decisions import DecisionLog
from jobsight.acting.sharing.policy import found_in, matrix_of, publish
from jobsight.acting.slurm.pending import answers_of_pending
from jobsight.acting.slurm.writeback import Writeback as SlurmWriteback
from jobsight.errors import JobsightError, SourceError
from jobsight.history.condor.client import CondorClient
from jobsight.history.slurm.client import SlurmClient
from jobsight.questions.hold.heldqueue import HeldQueue, here
from jobsight.service.configured import log_files
from jobsight.service.logs import LastError, log

if TYPE_CHECKING:
    from jobsight.acting.slurm.plan import Answers
    from jobsight.questions.hold.answering.answer import Answer
    from jobsight.service.web.ready import Follower, Ready
    from jobsight.settings import ActingSettings, Settings
    from jobsight.store import Store

__all__ = ["Judges", "act", "acting_in", "writebacks"]

_STOP_S = 5.0
_SHARING_S = 3600.0
Round = Callable[[], str]


class Judges(NamedTuple):
    """What gives the answers that are written back.

    Attributes:
        held: those for all held jobs of this machine's schedd, by use.
        pending: those for pending jobs of the Slurm cluster, by name.
    """

    held: Callable[[], Sequence[Answer]]
    pending: Callable[[Collection[str]], Mapping[str, Answers]]


def writebacks(settings: Settings, judges: Judges) -> list[CondorWriteback | SlurmWriteback]:
    """Write-back into each scheduler of which this machine has the tools.

    Raises:
        SourceError: it has none.
    """
    acting, found = settings.acting, list[CondorWriteback | SlurmWriteback]()
    condor = CondorClient(settings.condor).has("condor_qedit")
    if condor and (schedd := here(settings)) is not None:
        found.append(CondorWriteback(settings.condor, acting, acting.mode, schedd, judges.held))
    if SlurmClient(settings.slurm).has("scontrol"):
        found.append(SlurmWriteback(settings.slurm, acting, acting.mode, judges.pending))
    if not found:
        raise SourceError(
            "there is no scheduler to act through: neither scontrol nor condor_qedit and the name "
            "of a schedd are found; see the settings slurm.bin and condor.bin"
        )
    return found


def act(rounds: Sequence[Round], settings: ActingSettings, stop: threading.Event) -> None:
    """Rounds until it is to stop; one that fails is logged, and the next begins anew.

    Raises:
        SourceError: another process acts already.
        OutputError: the folder or the lock file cannot be made.
    """
    failed = [LastError() for _ in rounds]
    with Switch(settings.folder).alone():
        while not stop.is_set():
            for round_, last in zip(rounds, failed, strict=True):
                try:
                    if done := round_():
                        log("round", done=done)
                    last.resolve()
                except JobsightError as error:
                    last.record("round failed", error)
            stop.wait(settings.every)


@contextmanager
def acting_in(follower: Follower, store: Store, settings: Settings) -> Iterator[None]:
    """Within the block a thread acts on what the service has ready, if the settings say so."""
    if settings.acting.mode == "off":
        yield
        return
    stop = threading.Event()
    thread = threading.Thread(
        target=_act, args=(follower, store, settings, stop), name="acting", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(_STOP_S)


def _act(follower: Follower, store: Store, settings: Settings, stop: threading.Event) -> None:
    """Act until it is to stop, and while another process does, wait for its end."""
    acting, failed = settings.acting, LastError()
    judges = Judges(partial(_held, follower, settings), partial(_pending, follower, settings))
    while not stop.is_set():
        try:
            rounds: list[Round] = [each.round for each in writebacks(settings, judges)]
            if acting.share:
                rounds.append(_Sharing(store, settings).round)
            act(rounds, acting, stop)
        except JobsightError as error:
            failed.record("nothing acts", error)
            stop.wait(acting.every)


def _ready(follower: Follower) -> Ready:
    if (ready := follower.current) is None:
        raise SourceError("the store has not been read yet")
    return ready


def _held(follower: Follower, settings: Settings) -> list[Answer]:
    """The answers for all held jobs as of now."""
    ready = _ready(follower)
    queue = HeldQueue(settings, here(settings))
    pool = queue.pool(partial(log_files, settings))
    with ready.lock:
        session = ready.session("hold", step=1000).adapted(lambda answerer: answerer.within(pool))
        return queue.answers(session, pool)


def _pending(
    follower: Follower, settings: Settings, names: Collection[str]
) -> Mapping[str, Answers]:
    """The answers for pending jobs as of now."""
    ready, cluster = _ready(follower), SlurmClient(settings.slurm).cluster_name()
    with ready.lock:
        start, fail = (ready.session(name, step=1000).answer for name in ("start", "fail"))
        return answers_of_pending(names, cluster, start, fail)


class _Sharing:
    """The placement policy, published hourly."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store, self._settings = store, settings
        self._next = 0.0

    def round(self) -> str:
        """Publish it if it is time; what was done, if anything.

        Raises:
            JobsightError: see `publish`.
        """
        if time.monotonic() < self._next:
            return ""
        self._next = time.monotonic() + _SHARING_S
        acting = self._settings.acting
        found = found_in(self._store, matrix_of(acting).node(), self._settings)
        return publish(found, self._settings, acting.mode, DecisionLog(acting.folder))
