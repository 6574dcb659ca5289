"""Jobs that left the queue, until somebody tells how they ended."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from jobsight.documents import JSON, JobDocument, State
from jobsight.documents.states import slurm_state
from jobsight.history.slurm.documents import of_ended, queue_end, with_submit
from jobsight.history.slurm.ids import SlurmId
from jobsight.history.slurm.sacct import Run
from jobsight.history.slurm.squeue import Queued
from jobsight.history.slurm.watch import Seen

__all__ = ["Open", "Settling"]

_MICROS = 1_000_000
_FIRST_WAIT = 5 * _MICROS
_LONGEST_WAIT = 600 * _MICROS
_MOST_KEPT = 1000
_CLOCKS = 2 * _MICROS
"""By which controller, accounts and we may date things otherwise; an end that nobody told of gives
way to whatever is dated after it."""


@dataclass(slots=True)
class Open:
    """A job whose end nobody has told. Times are µs since 1970."""

    id: SlurmId
    since: int
    line: Queued | None = None
    submit: int | None = None
    submitted: int | None = None
    unstarted: bool = False
    """A task of an array that waited when it was seen last; had it run unseen, the accounts or the
    controller would know."""
    sure: bool = False
    """The controller would know, so nobody else has to be asked."""
    told: bool = False
    """A document of its end has been made of the queue's line, until somebody knows more."""
    asked: int = 0
    """How often somebody was asked by its id, and answered."""
    next_ask: int = 0


class Settling:
    """What left the queue and is not settled, and what was settled but still stands in the queue.

    Attributes:
        open: jobs by name.
    """

    def __init__(self, cluster: str, unknown_after: float, late: float) -> None:
        self.open: dict[str, Open] = {}
        self._cluster = cluster
        self._unknown_after = int(unknown_after * _MICROS)
        self._late = int(min(late, unknown_after) * _MICROS)
        self._settled: dict[str, int | None] = {}
        self._since: dict[str, int] = {}

    def position(self) -> dict[str, JSON]:
        """What must be known after a restart: since when jobs are open that were asked about."""
        asked = {name: known.since for name, known in self.open.items() if known.asked}
        return {"open": dict(itertools.islice(asked.items(), _MOST_KEPT))} if asked else {}

    def restore(self, position: dict[str, JSON]) -> None:
        """Begin anew.

        Raises:
            ValueError: the position is damaged.
        """
        since = position.get("open", {})
        if not isinstance(since, dict) or not all(isinstance(at, int) for at in since.values()):
            raise ValueError("its open jobs are no mapping to times")
        self.open.clear()
        self._settled.clear()
        self._since = dict(since)

    def left(
        self,
        ended: Mapping[str, tuple[SlurmId, Queued]],
        gone: Iterable[Seen],
        living: Collection[str],
        now: int,
        *,
        unbroken: bool,
        remembered: bool,
    ) -> None:
        """Take in what a look at the queue told.

        Args:
            ended: lines of ended jobs, by name.
            gone: jobs that lived at the last look.
            living: names of jobs that live now.
            now: µs since 1970.
            unbroken: what ran since the last look is in the accounts, sooner or later.
            remembered: it is still in the queue.
        """
        self._settled = {
            name: submit
            for name, submit in self._settled.items()
            if name in ended and submit == ended[name][1].submit
        }
        for seen in gone:
            waited = seen.waits_in_array
            since = self._since.pop(seen.id.name, now)
            known = Open(seen.id, since, None, seen.submit, seen.first_submit)
            known.unstarted = waited and (unbroken or remembered)
            known.sure = waited and remembered and seen.id.name not in ended
            self.open[seen.id.name] = known
        for name, (job, line) in ended.items():
            if name not in self._settled:
                known = self.open.setdefault(name, Open(job, now, None, line.submit, line.submit))
                known.line = line
        for name in [name for name in self.open if name in living]:
            del self.open[name]

    def settle(self, job: SlurmId, runs: list[Run]) -> None:
        """Take in what sacct told of a job."""
        known = self.open.get(job.name)
        last = runs[-1]
        state = slurm_state(last.state)
        if known is None or state is None or not state.ended or last.unfinished:
            return
        if known.submit is not None and last.submit is not None and last.submit < known.submit:
            return
        self.close(job.name)

    def close(self, name: str) -> None:
        """It is told how a job ended."""
        known = self.open.pop(name, None)
        if known is not None and known.line is not None:
            self._settled[name] = known.line.submit

    def due(self, now: int, most: int) -> list[Open]:
        """Jobs to be asked about by their ids, those that wait longest first."""
        waiting = [known for known in self.open.values() if known.next_ask <= now]
        return sorted(waiting, key=lambda known: known.next_ask)[:most]

    def asked(self, jobs: Iterable[Open], now: int) -> None:
        """Somebody was asked about jobs, and answered; those still open are asked about later."""
        for known in jobs:
            known.asked += 1
            known.next_ask = now + min(_FIRST_WAIT << min(known.asked, 10), _LONGEST_WAIT)

    def told_by_queue(self, now: int, asked: int) -> Iterator[JobDocument]:
        """Documents of ends that so far the queue alone tells, each once.

        Of what was cancelled before it started, the accounts know no more than the queue, or
        nothing (tasks of arrays, in 22.05 and 24.11).

        Args:
            now: µs since 1970.
            asked: how often somebody else must have been asked in vain.
        """
        for known in self.open.values():
            if known.line is None or known.told:
                continue
            if known.asked >= asked or _never_started(known.line):
                known.told = True
                yield self._by_queue(known, known.line, now)

    def give_up(self, now: int) -> Iterator[JobDocument]:
        """Documents of jobs nobody has told of for too long; they are open no longer."""
        late = [
            known
            for known in self.open.values()
            if known.sure or (known.asked and self._is_late(known, now))
        ]
        for known in late:
            if known.line is None:
                # What it did last may have been dated to that very second, or by a clock ahead.
                gone = known.since + (0 if known.unstarted else _CLOCKS)
                yield queue_end(self._cluster, known.id, gone, now, unstarted=known.unstarted)
            elif not known.told:
                yield self._by_queue(known, known.line, now)
            self.close(known.id.name)

    def _is_late(self, known: Open, now: int) -> bool:
        return known.since <= now - (self._late if known.unstarted else self._unknown_after)

    def _by_queue(self, known: Open, line: Queued, now: int) -> JobDocument:
        return with_submit(of_ended(self._cluster, line, known.id, now), known.submitted)


def _never_started(line: Queued) -> bool:
    return slurm_state(line.state) is State.CANCELLED and not line.hosts
