"""Acting, round by round: of `jobsight acting run`, and in a thread of the service."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from jobsight.acting.condor.writeback import Writeback
from jobsight.acting.control import Switch
from jobsight.errors import JobsightError, SourceError
from jobsight.questions.hold.heldqueue import HeldQueue, here
from jobsight.service.configured import log_files
from jobsight.service.logs import LastError, log

if TYPE_CHECKING:
    from jobsight.questions.hold.answering.answer import Answer
    from jobsight.service.web.ready import Follower
    from jobsight.settings import ActingSettings, Settings

__all__ = ["act", "acting_in"]

_STOP_S = 5.0


def act(
    rounds: Sequence[Callable[[], str]], settings: ActingSettings, stop: threading.Event
) -> None:
    """Rounds until it is to stop; one that fails is logged, and the next begins anew.

    Raises:
        SourceError: another process acts already.
        OutputError: the folder or the lock file cannot be made.
    """
    failed = {number: LastError() for number in range(len(rounds))}
    with Switch(settings.folder).alone():
        while not stop.is_set():
            for number, round_ in enumerate(rounds):
                try:
                    log("round", done=round_())
                    failed[number].resolve()
                except JobsightError as error:
                    failed[number].record("round failed", error)
            stop.wait(settings.every)


@contextmanager
def acting_in(follower: Follower, settings: Settings) -> Iterator[None]:
    """Within the block a thread acts on what the service has ready, if the settings say so."""
    if settings.acting.mode == "off":
        yield
        return
    stop = threading.Event()
    thread = threading.Thread(
        target=_act, args=(follower, settings, stop), name="acting", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(_STOP_S)


def _act(follower: Follower, settings: Settings, stop: threading.Event) -> None:
    """Act until it is to stop, and while another process does, wait for its end."""
    acting, failed = settings.acting, LastError()
    while not stop.is_set():
        try:
            if (schedd := here(settings)) is None:
                raise SourceError("this machine has no schedd to act through")
            judge = partial(_held, follower, settings, schedd)
            writeback = Writeback(settings.condor, acting, acting.mode, schedd, judge)
            act([writeback.round], acting, stop)
        except JobsightError as error:
            failed.record("nothing acts", error)
            stop.wait(acting.every)


def _held(follower: Follower, settings: Settings, schedd: str) -> list[Answer]:
    """The answers for all held jobs as of now."""
    ready = follower.current
    if ready is None:
        raise SourceError("the store has not been read yet")
    queue = HeldQueue(settings, schedd)
    pool = queue.pool(partial(log_files, settings))
    with ready.lock:
        session = ready.session("hold", step=1000).adapted(lambda answerer: answerer.within(pool))
        return queue.answers(session, pool)
