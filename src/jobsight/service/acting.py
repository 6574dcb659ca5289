"""Acting, round by round: of `jobsight acting run`, and in a thread of the service."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import polars as pl

from jobsight.acting.condor.idle import Expected, IdleWriteback
from jobsight.acting.condor.writeback import Writeback as CondorWriteback
from jobsight.acting.control import Switch
from jobsight.acting.sharing.policy import found_in, matrix_of, publish
from jobsight.acting.slurm.plan import Answers
from jobsight.acting.slurm.writeback import Writeback as SlurmWriteback
from jobsight.documents import State, slurm_id
from jobsight.documents.keys import first_id
from jobsight.errors import JobsightError, SourceError
from jobsight.history.condor.client import CondorClient
from jobsight.history.slurm.client import SlurmClient
from jobsight.questions.fail.wording import worded
from jobsight.questions.hold.heldqueue import HeldQueue, here
from jobsight.service.configured import log_files
from jobsight.service.logs import LastError, log

if TYPE_CHECKING:
    from jobsight.answering.question import Answer as AnyAnswer
    from jobsight.questions.fail.answering import Answer as FailAnswer
    from jobsight.questions.hold.answering.answer import Answer
    from jobsight.questions.start.answering import Answer as StartAnswer
    from jobsight.service.web.ready import Follower, Ready
    from jobsight.settings import ActingSettings, Settings
    from jobsight.store import Store

__all__ = ["Judges", "Writeback", "act", "acting_in", "answers_of_pending", "expected_by",
           "pending_at", "writebacks"]  # fmt: skip

_STOP_S = 5.0
_SHARING_S = 3600.0
Ask = Callable[[pl.Expr], Sequence[Any]]
"""Asks a question about the jobs that an expression over the job table selects."""
Round = Callable[[], str]


class Judges(NamedTuple):
    """What gives the answers that are written back.

    Attributes:
        held: those for all held jobs of this machine's schedd, by use.
        pending: those for pending jobs of the Slurm cluster, by name.
        idle: what is expected of the idle jobs of a schedd.
    """

    held: Callable[[], Sequence[Answer]]
    pending: Callable[[Collection[str]], Mapping[str, Answers]]
    idle: Callable[[str], Sequence[Expected]]


def answers_of_pending(
    names: Collection[str], cluster: str, start: Ask, fail: Ask
) -> dict[str, Answers]:
    """The answers for pending jobs of a cluster, by their names (``12``, ``12_5``).

    Raises:
        JobsightError: as `start` and `fail`.
    """
    ids = {slurm_id(cluster, name): name for name in names}
    waits = pl.col("state").cast(pl.String).is_in([State.PENDING.value, State.HELD.value])
    first = pl.col("id").cast(pl.String).str.replace(r"@\d+$", "")
    rows = waits & first.is_in(list(ids))

    def by_name(ask: Ask) -> dict[str, Any]:
        answers: Sequence[AnyAnswer] = ask(rows)
        return {ids[first_id(str(answer.id))]: answer for answer in answers}

    starts, fails = by_name(start), by_name(fail)
    return {name: Answers(starts.get(name), fails.get(name)) for name in {**starts, **fails}}


def pending_at(schedd: str) -> pl.Expr:
    """The pending jobs of a schedd, as an expression over the job table."""
    place = pl.col("scheduler_name").cast(pl.String).str.to_lowercase()
    return (
        (pl.col("state").cast(pl.String) == State.PENDING.value)
        & (pl.col("scheduler") == "htcondor")
        # A log that does not name its access point is of this one.
        & ((place == schedd.lower()) | place.str.contains(r"^log-[0-9a-f]+$"))
    )


def expected_by(fails: Sequence[FailAnswer], starts: Sequence[StartAnswer]) -> list[Expected]:
    """What the answers of two questions for the same pending jobs come to."""
    spans = {answer.id: answer.starts for answer in starts}
    expected = []
    for answer in fails:
        job, words, start = answer.job, worded(answer.to_json()), spans.get(answer.id)
        cluster, _, proc = job["job"].partition(".")
        expected.append(
            Expected(
                (int(cluster), int(proc)),
                job["submit"] and job["submit"].timestamp(),
                answer.probability,
                start and (start[0] / 1e6, start[1] / 1e6, start[2] / 1e6),
                answer.blocked or words.advice or next(iter(words.evidence), ""),
                answer.model,
            )
        )
    return expected


class Writeback(Protocol):
    """Write-back into jobs of one scheduler."""

    def plan(self) -> Any:
        """What a round would do: `changes`, and `counts` of jobs."""

    def round(self) -> str:
        """Do it; what was done, in a line."""


def writebacks(settings: Settings, judges: Judges) -> list[tuple[Writeback, float]]:
    """Write-back into each scheduler of which this machine has the tools.

    Returns:
        Each, with the seconds that pass at least between two of its rounds.

    Raises:
        SourceError: it has none.
    """
    acting, found = settings.acting, list[tuple[Writeback, float]]()
    condor = CondorClient(settings.condor).has("condor_qedit")
    if condor and (schedd := settings.access_point or here(settings)) is not None:
        held = CondorWriteback(settings.condor, acting, schedd, judges.held)
        found.append((held, 0.0))
        if acting.idle:
            judge = partial(judges.idle, schedd)
            idle = IdleWriteback(settings.condor, acting, judge)
            found.append((idle, acting.renew))
    if SlurmClient(settings.slurm).has("scontrol"):
        slurm = SlurmWriteback(settings.slurm, acting, judges.pending)
        found.append((slurm, 0.0))
    if not found:
        raise SourceError(
            "there is no scheduler to act through: neither scontrol nor condor_qedit and the name "
            "of a schedd are found; see the settings slurm.bin and condor.bin"
        )
    return found


def act(
    rounds: Sequence[tuple[Round, float]], settings: ActingSettings, stop: threading.Event
) -> None:
    """Rounds, each with the seconds between two of it, until it is to stop.

    One that fails is logged, and the next begins anew.

    Raises:
        SourceError: another process acts already.
        OutputError: the folder or the lock file cannot be made.
    """
    failed, due = [LastError() for _ in rounds], [0.0 for _ in rounds]
    with Switch(settings.folder).alone():
        while not stop.is_set():
            for number, (round_, every) in enumerate(rounds):
                if due[number] > time.monotonic():
                    continue
                due[number] = time.monotonic() + every
                try:
                    log("round", done=round_())
                    failed[number].resolve()
                except Exception as error:  # one job's strange ad must not stop all that acts
                    failed[number].record("round failed", error)
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
    judges = Judges(
        partial(_held, follower, settings), partial(_pending, follower, settings),
        partial(_idle, follower),
    )  # fmt: skip
    while not stop.is_set():
        try:
            rounds = [(each.round, every) for each, every in writebacks(settings, judges)]
            if acting.share:
                rounds.append((partial(_share, store, settings), _SHARING_S))
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
    # Asked before the lock is taken, and kept: tools may be slow, and all questions would wait.
    pool.largest()
    pool.logs()
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


def _idle(follower: Follower, schedd: str) -> list[Expected]:
    """What is expected of idle jobs as of now."""
    ready = _ready(follower)
    with ready.lock:
        fails, starts = (
            ready.session(name, step=1000).answer(pending_at(schedd)) for name in ("fail", "start")
        )
    return expected_by(fails, starts)


def _share(store: Store, settings: Settings) -> str:
    """Publish the placement policy; what was done."""
    found = found_in(store, matrix_of(settings.acting).node(), settings)
    return publish(found, settings)
