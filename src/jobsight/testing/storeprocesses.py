"""What the conformance suite of stores runs in other processes, to be killed there."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing.process import BaseProcess

from jobsight.documents import JobDocument, State
from jobsight.store import Move, Store
from jobsight.testing.storedocuments import NOON, event, made_partial

__all__ = ["Opener", "StoreTests", "collect", "merge_same", "prune_until", "recorded_of", "start"]

Opener = Callable[[], Store]

_BATCH = 50


class StoreTests:
    """What all parts of `jobsight.testing.StoreContract` share.

    Attributes:
        kills: how often a writer, and a prune, are killed.
    """

    kills = 5

    def new_opener(self) -> Opener:
        """What opens a store that has a folder for its archive and is empty as yet.

        Each call opens the same store again, as another process would. It is pickled and called
        in other processes too: use `functools.partial`, no lambda.
        """
        raise NotImplementedError


def start(target: Callable[..., None], *arguments: object) -> BaseProcess:
    """A new process, of a server that has the imports alone: it inherits no connection."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", __name__, "pyarrow.parquet"])
    process = context.Process(target=target, args=arguments)
    process.start()
    return process


def recorded_of(step: int) -> list[JobDocument]:
    """What a source reports in its poll `step`: an event of each of 50 jobs, ten polls a job."""
    age = step % 10
    state = State.PENDING if age == 0 else State.COMPLETED if age == 9 else State.RUNNING
    return [
        made_partial(
            step // 10 * _BATCH + number,
            event(NOON + step * 1_000_000 + number, state, position=step * _BATCH + number),
        )
        for number in range(_BATCH)
    ]


def collect(opener: Opener) -> None:
    """Collect from a source without end, from where the store says that it stands."""
    with opener() as store:
        while True:
            position = store.position("log")
            step = position["step"] if position else 0
            store.merge(recorded_of(step), [Move("log", position, {"step": step + 1})])


def merge_same(opener: Opener, source: str, events: int) -> None:
    """Tell of the same ten jobs as others do at the same time, one event at a time."""
    with opener() as store:
        for at in range(events):
            time = NOON + at * 1_000_000
            parts = [
                made_partial(number, event(time, State.RUNNING, position=at, source=source))
                for number in range(10)
            ]
            store.merge(parts)


def prune_until(opener: Opener, before: int, last: int | None, counts: str) -> None:
    """Prune, and be killed at the interpreter's audit event number `last`; None: count them.

    Audit events (PEP 578) come with every file that is opened, renamed or removed, so that counting
    them finds every step of a prune. Their number is written to the file `counts`.
    """
    import pyarrow.parquet  # noqa: F401  # its own files are none of the prune's steps

    with opener() as store:
        store.generation()
        seen = [0]

        def audit(name: str, _: tuple[object, ...]) -> None:
            if name.startswith(("open", "os.", "socket.", "sqlite3.", "shutil.")):
                seen[0] += 1
                if seen[0] == last:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(audit)
        store.prune(before)
        count = seen[0]
    with open(counts, "w", encoding="ascii") as file:  # noqa: PTH123
        file.write(str(count))
