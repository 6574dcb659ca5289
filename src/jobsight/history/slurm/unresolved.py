"""Jobs that left the queue, until a tool reports how they ended."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from jobsight.documents import JSON, JobDocument, State
from jobsight.documents.identity import is_reused
from jobsight.documents.states import slurm_state
from jobsight.history.slurm.documents import of_ended, queue_end, with_submit
from jobsight.history.slurm.ids import SlurmId
from jobsight.history.slurm.sacct import Run
from jobsight.history.slurm.squeue import Queued
from jobsight.history.slurm.watch import Seen

__all__ = ["Departed", "Unresolved"]

_MICROS = 1_000_000
_FIRST_WAIT = 5 * _MICROS
_LONGEST_WAIT = 600 * _MICROS
_MOST_KEPT = 1000
_CLOCKS = 2 * _MICROS
"""By which the clocks of controller, accounting and this machine may differ; an end that no tool
reports gives way to whatever is dated after it."""


@dataclass(slots=True)
class Departed:
    """A job that left the queue and whose end is not reported yet. Times are µs since 1970.

    Attributes:
        id: the job.
        since: when it was missed first.
        submit: its last submission; `submitted` the first one.
        user: whose it is.
        line: of the queue, where that still lists it as ended.
        unstarted: a task of an array that waited when it was seen last; had it run unseen, the
            accounting or the controller would know.
        sure: the controller would know, so no other tool is asked.
        reported: a document of its end has been made of the queue's line.
        asked: how often a tool was asked by its id, and answered; `next_ask`: when it is next.
    """

    id: SlurmId
    since: int
    submit: int | None
    submitted: int | None
    user: str | None = None
    line: Queued | None = None
    unstarted: bool = False
    sure: bool = False
    reported: bool = False
    asked: int = 0
    next_ask: int = 0

    def is_replaced(self, user: str | None, submit: int | None, requeues: int | None) -> bool:
        """As `Seen.is_replaced`."""
        return is_reused(self.user, self.submit, user, submit, requeues)


class Unresolved:
    """Jobs whose end is to be found out, and ended jobs that the queue still lists.

    Attributes:
        open: the former by name.
    """

    def __init__(self, cluster: str, unknown_after: float, late: float) -> None:
        self.open: dict[str, Departed] = {}
        self._cluster = cluster
        self._unknown_after = int(unknown_after * _MICROS)
        self._late = int(min(late, unknown_after) * _MICROS)
        self._closed: dict[str, int | None] = {}
        self._replaced: list[Departed] = []
        self._since: dict[str, int] = {}

    def position(self) -> dict[str, JSON]:
        """What must be known after a restart: since when jobs are open that were asked about."""
        asked = {name: job.since for name, job in self.open.items() if job.asked}
        return {"open": dict(itertools.islice(asked.items(), _MOST_KEPT))} if asked else {}

    def restore(self, position: dict[str, JSON]) -> None:
        """Begin anew.

        Raises:
            ValueError: the position is damaged.
        """
        since = position.get("open", {})
        if not isinstance(since, dict) or not all(isinstance(at, int) for at in since.values()):
            raise ValueError("its open jobs are not a mapping to times")
        self.open.clear()
        self._closed.clear()
        self._replaced.clear()
        self._since = dict(since)

    def left(
        self,
        ended: Mapping[str, tuple[SlurmId, Queued]],
        gone: Iterable[Seen],
        living: Mapping[str, Seen],
        now: int,
        *,
        unbroken: bool,
        replaced: Iterable[Seen],
        remembered: bool,
    ) -> None:
        """Take what a look at the queue showed.

        The jobs are those of the `Look`; `unbroken`: what ran since the last one is in the
        accounting, sooner or later; `remembered`: it is still in the queue.
        """
        self._closed = {
            name: submit
            for name, submit in self._closed.items()
            if name in ended and submit == ended[name][1].submit
        }
        self._replaced += [_departed(seen, now) for seen in replaced]
        for name in self.open.keys() & living.keys():
            job, other = self.open.pop(name), living[name]
            if job.is_replaced(other.user, other.submit, other.restarts):
                self._replaced.append(job)
        for seen in gone:
            name, waited = seen.id.name, seen.waits_in_array
            since = self._since.pop(name, now)
            job = self.open[name] = _departed(seen, since)
            job.unstarted = waited and (unbroken or remembered)
            job.sure = waited and remembered and name not in ended
        for name, (id_, line) in ended.items():
            known = self.open.get(name)
            if known is not None and known.is_replaced(line.user, line.submit, line.restarts):
                self._replaced.append(self.open.pop(name))
            if name not in self._closed:
                new = Departed(id_, now, line.submit, line.submit, line.user)
                self.open.setdefault(name, new).line = line

    def expect(self, job: SlurmId, runs: list[Run], now: int) -> None:
        """Take runs, the last one requeued, of a job that no look at the queue has shown.

        It may never be shown: a controller that is killed before it saves its state forgets it.
        """
        first, last = runs[0], runs[-1]
        self.open.setdefault(job.name, Departed(job, now, last.submit, first.submit, last.user))

    def resolve(self, job: SlurmId, runs: list[Run]) -> None:
        """Take what sacct reports of a job."""
        known, last = self.open.get(job.name), runs[-1]
        state = slurm_state(last.state)
        if known is None or state is None or not state.ended or last.unfinished:
            return
        if known.is_replaced(runs[0].user, runs[0].submit, runs[0].restarts):
            return
        if known.submit is None or last.submit is None or last.submit >= known.submit:
            self.close(job.name)

    def close(self, name: str) -> None:
        """The end of a job is reported."""
        known = self.open.pop(name, None)
        if known is not None and known.line is not None:
            self._closed[name] = known.line.submit

    def due(self, now: int, most: int) -> list[Departed]:
        """Jobs to be asked about by their ids, those that wait longest first."""
        waiting = [job for job in self.open.values() if job.next_ask <= now]
        return sorted(waiting, key=lambda job: job.next_ask)[:most]

    def asked(self, jobs: Iterable[Departed], now: int) -> None:
        """A tool was asked about jobs, and answered; those still open are asked about later."""
        for job in jobs:
            job.asked += 1
            job.next_ask = now + min(_FIRST_WAIT << min(job.asked, 10), _LONGEST_WAIT)

    def ends_by_queue(self, now: int, asked: int) -> Iterator[JobDocument]:
        """Documents of ends that so far the queue alone reports, each once.

        Of what was cancelled before it started, the accounting knows no more than the queue, or
        nothing (tasks of arrays, in 22.05 and 24.11).

        Args:
            now: µs since 1970.
            asked: how often another tool must have been asked in vain.
        """
        for job in self.open.values():
            if job.line is None or job.reported:
                continue
            never_started = slurm_state(job.line.state) is State.CANCELLED and not job.line.hosts
            if job.asked >= asked or never_started:
                job.reported = True
                yield self._by_queue(job, job.line, now)

    def give_up(self, now: int) -> Iterator[JobDocument]:
        """Documents of jobs of which no tool has reported for too long; they are closed.

        And of those whose number another job has, so that the controller knows them no more.
        """
        overdue = []
        for job in self.open.values():
            patience = self._late if job.unstarted else self._unknown_after
            if job.sure or (job.asked and job.since <= now - patience):
                overdue.append(job)
        for job in overdue:
            self.close(job.id.name)
        for job in (*self._replaced, *overdue):
            if job.line is None:
                # What it did last may have been dated to that very second, or by a clock ahead.
                gone = job.since + (0 if job.unstarted else _CLOCKS)
                unstarted = job.unstarted
                yield queue_end(
                    self._cluster, job.id, job.submitted, gone, now, unstarted=unstarted
                )
            elif not job.reported:
                yield self._by_queue(job, job.line, now)
        self._replaced.clear()

    def _by_queue(self, job: Departed, line: Queued, now: int) -> JobDocument:
        return with_submit(of_ended(self._cluster, line, job.id, now), job.submitted)


def _departed(seen: Seen, since: int) -> Departed:
    return Departed(seen.id, since, seen.submit, seen.first_submit, seen.user)
