"""The queue compared with the last look at it.

Only changes make documents: a job that is new, that started, was suspended or requeued, or whose
reason for waiting is another.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import msgspec

from jobsight.documents import JSON, Event, JobDocument, State, parse_key
from jobsight.documents.identity import is_reused
from jobsight.documents.keys import first_id
from jobsight.errors import UsageError
from jobsight.history.slurm.documents import bounded, state_of
from jobsight.history.slurm.ids import SlurmId, Tasks, expand, parse_id
from jobsight.history.slurm.sacct import Run
from jobsight.history.slurm.squeue import Queued
from jobsight.program.submission.times import behind

__all__ = ["Change", "Look", "Seen", "Watch"]

_WAITING = (State.PENDING, State.HELD)
_MICROS = 1_000_000


@dataclass(slots=True)
class Seen:
    """A living job as it was seen last; times are µs since 1970."""

    id: SlurmId
    state: State | None
    reason: str = ""
    submit: int | None = None
    first_submit: int | None = None
    """Of a requeued job: when it was submitted the first time."""
    look: int = 0
    """Number of the look that saw it last."""
    last: int = 0
    """When that was; 0: it is known from the store alone."""
    changed: int = 0
    """Time of the last entry of its timeline."""
    user: str | None = None
    restarts: int | None = None
    """How often it was requeued."""

    @property
    def waits_in_array(self) -> bool:
        """Whether it is a task that has not started, of which Slurm may forget all."""
        return self.id.task is not None and self.state in _WAITING

    def is_replaced(self, user: str | None, submit: int | None, requeues: int | None) -> bool:
        """Whether what was submitted so is another job, which has its number now."""
        return is_reused(self.user, self.submit, user, submit, requeues)


@dataclass(frozen=True, slots=True)
class Change:
    """A living job that is new or not as it was, and what is new in its timeline."""

    id: SlurmId
    line: Queued
    events: tuple[Event, ...]
    submitted: int | None


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the queue showed.

    Attributes:
        living: all jobs that live, each with its line.
        changes: of these.
        ended: jobs that have ended and are still listed, by name.
        gone: jobs that lived at the last look and do not any more.
        replaced: jobs whose number is now another job's: the controller has forgotten them.
    """

    living: list[tuple[SlurmId, Queued]]
    changes: list[Change]
    ended: dict[str, tuple[SlurmId, Queued]]
    gone: list[Seen]
    replaced: list[Seen]


class Watch:
    """The living jobs of one cluster, or those of them that are asked for by their ids.

    Attributes:
        seen: those jobs, by their names.
        unlisted: pending array tasks beyond the bound, at the last look.
    """

    def __init__(self, array_tasks: int) -> None:
        self.seen: dict[str, Seen] = {}
        self.unlisted = 0
        self._most = array_tasks
        self._looks = 0
        self._components: dict[str, tuple[SlurmId, int]] = {}
        self._replaced: list[Seen] = []

    def restore(self, document: JobDocument) -> None:
        """Begin with a job of this cluster that the store holds as living."""
        try:
            name = first_id(parse_key(document.id).job)
            job = parse_id(name)
        except (UsageError, ValueError):
            return
        if job.component is not None and document.submission.raw_id is not None:
            self._components[document.submission.raw_id] = job, document.updated
        last = next((event for event in reversed(document.timeline) if event.state), None)
        state, reason = (last.state, last.reason or "") if last else (None, "")
        first = document.submission.submitted
        requeues = [event.time for event in document.timeline if event.word == "REQUEUED"]
        seen = Seen(job, state, reason, max(requeues, default=first), first)
        seen.changed = document.timeline[-1].time if document.timeline else 0
        seen.user = document.submission.user
        # Of two jobs of one number the controller knows the later one.
        two = sorted(filter(None, (seen, self.seen.get(name))), key=lambda known: known.submit or 0)
        self.seen[name] = two.pop()
        self._replaced += two

    # --- components of heterogeneous jobs ---

    def position(self) -> dict[str, JSON]:
        """Components that must be known after a restart although they have ended."""
        gone = {
            raw: [job.name, last]
            for raw, (job, last) in self._components.items()
            if job.name not in self.seen
        }
        return {"components": gone} if gone else {}

    def resume(self, position: dict[str, JSON]) -> None:
        """Know the components of a position.

        Raises:
            ValueError: the position is damaged.
        """
        for raw, (name, last) in position.get("components", {}).items():
            self._components[raw] = parse_id(name), int(last)

    def forget(self, before: int) -> None:
        """Forget components that left the queue before that time, µs."""
        self._components = {
            raw: (job, last)
            for raw, (job, last) in self._components.items()
            if last >= before or job.name in self.seen
        }

    def asked(self, names: Collection[str]) -> set[str]:
        """These names, and Slurm's own numbers of the components among them."""
        return {raw for raw, (job, _) in self._components.items() if job.name in names} | set(names)

    def named(self, runs: Iterable[Run]) -> Iterator[Run]:
        """Runs under the names that the queue has for their jobs.

        sacct lists components that never started by Slurm's own numbers, as jobs (24.11).
        """
        for run in runs:
            known = self._components.get(run.id.name)
            yield run if known is None else msgspec.structs.replace(run, id=known[0])

    # --- the queue ---

    def look(self, lines: Iterable[Queued], now: int, asked: Collection[str] | None = None) -> Look:
        """Compare the queue with what it was.

        Args:
            lines: the whole queue, or what is asked for of it.
            now: the controller's clock, µs since 1970.
            asked: names of jobs, or of whole arrays and heterogeneous jobs; None: all.
        """
        self._looks += 1
        living: list[tuple[SlurmId, Queued, State | None]] = []
        ended: dict[str, tuple[SlurmId, Queued]] = {}
        partly: dict[str, Tasks] = {}
        self.unlisted = 0
        for line in lines:
            if line.id.component is not None:
                self._components[line.raw_id] = line.id, now
            else:
                self._components.pop(line.id.name, None)  # its number is used again
            state = state_of(line.state, line.reason)
            jobs, left_out = expand(line.id, self._most)
            self.unlisted += left_out
            if line.id.tasks is not None and (left_out or line.id.tasks.cut):
                partly[line.id.base] = line.id.tasks
            for job in jobs:
                known = self.seen.get(job.name)
                if known is not None and known.is_replaced(line.user, line.submit, line.restarts):
                    self._replaced.append(self.seen.pop(job.name))
                if state is not None and state.ended:
                    ended[job.name] = (job, line)
                else:
                    living.append((job, line, state))
        changes = [
            change
            for job, line, state in living
            if (change := self._compare(job, line, state, now)) is not None
        ]

        def in_part_of_array(seen: Seen) -> bool:
            """Whether a waiting task may be one of those that its array's line does not name."""
            tasks = partly.get(seen.id.base)
            if tasks is None or seen.id.task is None or seen.state not in _WAITING:
                return False
            return tasks.cut or any(seen.id.task in span for span in tasks.ranges)

        gone = [
            seen
            for seen in self.seen.values()
            if seen.look != self._looks
            and (asked is None or seen.id.name in asked or seen.id.base in asked)
            and not in_part_of_array(seen)
        ]
        for seen in gone:
            del self.seen[seen.id.name]
        for name in [name for name in ended if name in self.seen]:
            del ended[name]
        replaced, self._replaced = self._replaced, []
        return Look([(job, line) for job, line, _ in living], changes, ended, gone, replaced)

    def _compare(self, job: SlurmId, line: Queued, state: State | None, now: int) -> Change | None:
        seen, reason = self.seen.get(job.name), line.reason
        requeued = bool(line.restarts)
        if seen is not None:
            seen.look, seen.last = self._looks, now
            requeued = (
                line.submit is not None and seen.submit is not None and line.submit > seen.submit
            )
            waits = state in _WAITING and reason != seen.reason
            if state is seen.state and not requeued and not waits:
                return None
        before = line.submit if requeued else None if seen is None else seen.changed
        if state in _WAITING and before is not None and before // _MICROS == now // _MICROS:
            # Of one second, a submission or a hold goes after a wait: the next look reports this.
            if seen is not None and not requeued:
                return None
            state, reason = State.PENDING, ""
            line = msgspec.structs.replace(line, reason="", state="PENDING")
        if seen is None:
            events = tuple(_events(line, state, None, now))
            self.seen[job.name] = Seen(
                *(job, state, reason, line.submit, line.submit, self._looks, now),
                *(_last(events), line.user, line.restarts),
            )
            return Change(job, line, events, line.submit)
        events = tuple(_events(line, state, seen.state, now, line.submit if requeued else None))
        seen.state, seen.reason, seen.changed = state, reason, _last(events)
        seen.submit, seen.restarts = line.submit or seen.submit, line.restarts
        seen.first_submit = seen.first_submit or seen.submit
        return Change(job, line, events, seen.first_submit)


def _events(
    line: Queued, state: State | None, before: State | None, now: int, requeued: int | None = None
) -> Iterator[Event]:
    """What is new: a submission or start at its own time, all else at the time of the look.

    The state was `before` at the last look (None: the job is new); it was `requeued` (µs) since.
    """
    submitted = line.submit if before is None else requeued
    if submitted is not None:
        word = "REQUEUED" if requeued or line.restarts else "PENDING"
        yield Event(time=submitted, source="squeue", state=State.PENDING, word=word)
    present = Event(time=now, source="squeue", state=state, word=bounded(line.state, 80))
    resumed = before is State.SUSPENDED and state is State.RUNNING and requeued is None
    # Of a job that was requeued while it completes, the queue shows when it may start again.
    if resumed or line.state == "COMPLETING":
        yield present
    elif state in (State.RUNNING, State.SUSPENDED) and line.start is not None:
        start, host = behind(line.start, requeued), bounded(line.hosts)
        yield Event(time=start, source="squeue", state=State.RUNNING, word="RUNNING", host=host)
        if state is State.SUSPENDED:
            yield present
    elif state in _WAITING and (line.reason or state is State.HELD or submitted is None):
        # Without a reason too: what was held or waited for something does so no more.
        start_s = (
            None if line.start is None else line.start // 1_000_000
        )  # as the scheduler expects
        values = {"StartEstimate": start_s, "Priority": line.priority}
        known = {name: value for name, value in values.items() if value is not None}
        estimate = json.dumps(known, sort_keys=True) if known else None
        yield msgspec.structs.replace(present, reason=bounded(line.reason), attributes=estimate)
    elif state is not State.PENDING:
        yield present


def _last(events: tuple[Event, ...]) -> int:
    return max((event.time for event in events), default=0)
