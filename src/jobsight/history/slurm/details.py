"""What scontrol shows of new jobs, and their batch scripts: under a cap, and each only once.

Each submission is looked at once: an array's tasks and a heterogeneous job's components share
details and script. Which submissions were looked at is part of the source's position. Scripts of
jobs that ended before their turn come from the accounting, where it keeps them.
"""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from jobsight.documents import JSON, JobDocument, Submission, Usage, number_of, slurm_id
from jobsight.history.slurm.client import PASSING, FailureKind, SlurmClient, SlurmError
from jobsight.history.slurm.documents import of_shown, script_parts, with_submit
from jobsight.history.slurm.ids import SlurmId, expand, pack, parse_id, unpack
from jobsight.history.slurm.scontrol import Shown
from jobsight.history.slurm.squeue import Queued
from jobsight.settings import SlurmSettings

__all__ = ["Details", "SharedScripts"]

_HOUR = 3_600_000_000
_MOST_FETCHED = 1_000_000
_MOST_LATE = 5000
"""Ended jobs that wait for their scripts."""
_MOST_TRIES = 20
_SHARED_CHARACTERS = 16 << 20
"""Of the scripts that documents of one array's tasks hold: a million tasks do not fill a store."""
_MOST_SHARED = 64 << 20
"""Characters of all scripts in memory."""


class SharedScripts:
    """Scripts by the number of their array or job; the oldest go where they grow too many."""

    def __init__(self) -> None:
        self._scripts: dict[str, tuple[Submission, int]] = {}

    def keep(self, document: JobDocument) -> None:
        """Keep the script in the document of an array's task for its siblings."""
        base = document.submission.array
        if base and base not in self._scripts:
            self.add(base, document.submission)

    def drop(self, base: str) -> None:
        """Drop the script of an array or a job whose number another one has."""
        self._scripts.pop(base, None)

    def add(self, base: str, submission: Submission) -> None:
        """Keep the script of an array or a job."""
        if not submission.script:
            return
        parts = Submission(script=submission.script, directives=submission.directives)
        self._scripts[base] = parts, _SHARED_CHARACTERS
        sizes = [len(parts.script or "") for parts, _ in self._scripts.values()]
        surplus = sum(sizes) - _MOST_SHARED
        for oldest, size in zip(list(self._scripts)[:-1], sizes, strict=False):
            if surplus <= 0:
                break
            del self._scripts[oldest]
            surplus -= size

    def into(self, document: JobDocument, job: SlurmId) -> JobDocument:
        """The document with the script of its siblings; with its options where that is too much."""
        parts, left = self._scripts.get(job.base, (None, 0))
        if parts is None or document.submission.script is not None:
            return document
        left -= len(parts.script or "")
        self._scripts[job.base] = parts, left
        submission = msgspec.structs.replace(
            document.submission,
            script=parts.script if left >= 0 else None,
            directives=parts.directives,
        )
        return msgspec.structs.replace(document, submission=submission)


class Details:
    """Details and scripts, fetched a few at a time.

    Attributes:
        fetched: submissions looked at so far, since the start.
        scripts: of these, with a script.
        forgotten: ended jobs dropped because too many waited for their scripts.
        refused: submissions whose details or script were refused for good; `last_refused` says
            why the last one was.
        failure: why the last look stopped early; None: it did not.
        kept: whether the accounting keeps scripts and is asked; None: not known yet.
        shared: the scripts that the tasks of arrays and the components of jobs have in common.
    """

    def __init__(self, client: SlurmClient, cluster: str, settings: SlurmSettings) -> None:
        self.fetched = 0
        self.scripts = 0
        self.forgotten = 0
        self.refused = 0
        self.last_refused: str | None = None
        self.failure: SlurmError | None = None
        self.kept: bool | None = None
        self.shared = SharedScripts()
        self._client = client
        self._settings = settings
        self._cluster = cluster
        self._done: dict[int, int] = {}
        self._live: dict[int, bool] = {}
        """Submissions that are not looked at yet; whether the number is also the id of a job."""
        self._late: dict[str, tuple[SlurmId, int | None]] = {}
        self._submits: dict[int, int] = {}
        self._tries: Counter[int] = Counter()

    # --- what is to be fetched ---

    def queued(self, lines: Sequence[Queued], now: int) -> None:
        """Take the jobs that the controller lists now (µs)."""
        if not (self._settings.details or self._settings.scripts):
            return
        listed = {
            line.id.job: line.id.name == line.id.base and line.id.tasks is None
            for line in lines
            if line.id.job is not None
        }
        submits: dict[int, int] = {}
        for line in lines:
            number, submit = line.id.job, line.submit
            if number is not None and submit is not None and line.restarts == 0:
                submits[number] = min(submit, submits.get(number, submit))
        for number, submit in submits.items():
            if submit > self._submits.get(number, submit):  # the number is another one's now
                self._done.pop(number, None)
                for job in self._late_of(number):
                    del self._late[job.name]
                self.shared.drop(str(number))
        self._submits |= submits
        self._done |= {number: now // _HOUR for number in listed if number in self._done}
        self._live = {number: plain for number, plain in listed.items() if number not in self._done}
        waiting = {*self._live, *self._late_numbers()}
        self._tries = Counter(
            {number: self._tries[number] for number in self._tries if number in waiting}
        )

    def ended(self, job: SlurmId, submitted: int | None) -> None:
        """Take a job that has ended; its script is fetched late if it was not before."""
        number = job.job
        if number is None or not self._settings.scripts or not self._settings.details:
            return
        if number in self._done or self.kept is False:
            return
        self._late[job.name] = job, submitted
        if len(self._late) > _MOST_LATE:
            del self._late[next(iter(self._late))]
            self.forgotten += 1

    def known(self, document: JobDocument, now: int) -> None:
        """Take a living job of the store: a script that it has is not fetched again."""
        self.shared.keep(document)
        number = number_of(document.id)
        if document.submission.script is not None and number.isdecimal():
            self._done[int(number)] = now // _HOUR

    def forget(self, before: int) -> None:
        """Forget submissions that were listed last some hours before a moment (µs)."""
        oldest = before // _HOUR
        self._done = {number: hour for number, hour in self._done.items() if hour >= oldest}
        known = self._done.keys() | self._live.keys()
        self._submits = {number: self._submits[number] for number in self._submits.keys() & known}

    def waiting(self) -> int:
        """How many submissions wait for their turn."""
        return len(self._live) + len(self._late_numbers())

    def _late_numbers(self) -> set[int | None]:
        return {job.job for job, _ in self._late.values()}

    def _late_of(self, number: int) -> list[SlurmId]:
        return [job for job, _ in self._late.values() if job.job == number]

    # --- position ---

    def position(self) -> dict[str, JSON]:
        """What must be known after a restart."""
        hours: dict[str, list[int]] = {}
        for number, hour in self._done.items():
            hours.setdefault(str(hour), []).append(number)
        fetched = {hour: pack(numbers) for hour, numbers in hours.items()}
        late = {name: submitted for name, (_, submitted) in self._late.items()}
        return {"fetched": fetched, "late": late}

    def restore(self, position: dict[str, JSON]) -> None:
        """Go on from a position.

        Raises:
            ValueError: the position is damaged.
        """
        fetched, late = position.get("fetched", {}), position.get("late", {})
        if not isinstance(fetched, dict) or not isinstance(late, dict):
            raise ValueError("its submissions are not by hours, or its late jobs not by names")
        self._done = {
            number: int(hour)
            for hour, numbers in fetched.items()
            for number in unpack(str(numbers), _MOST_FETCHED)
        }
        self._live, self._late, self._submits = {}, {}, {}
        for name, submitted in late.items():
            self.ended(parse_id(str(name)), None if submitted is None else int(submitted))
        self._tries.clear()
        self.shared = SharedScripts()

    # --- fetching ---

    def fetch(self, now: int, budget: int, *, late: bool = True) -> list[JobDocument]:
        """Documents of the next submissions that wait.

        A failure that may pass ends it; the submission that met it waits behind all others, so that
        one that is always slow does not hold them up.

        Args:
            now: µs since 1970.
            budget: how many submissions at most; three calls each, at most. Fewer where they take
                longer than one call may.
            late: ask for scripts that the accounting kept of jobs that have ended.
        """
        found: list[JobDocument] = []
        self.failure = None
        if self.kept is False:
            self._late.clear()
        enough = time.monotonic() + self._settings.timeout
        waiting = dict.fromkeys(self._live)
        if late and self.kept:
            waiting |= {job.job: None for job, _ in self._late.values() if job.job is not None}
        for number in heapq.nsmallest(budget, waiting, key=self._tries.__getitem__):
            if time.monotonic() > enough:
                break
            try:
                look = self._look if number in self._live else self._look_late
                found.extend(look(number, now))
            except SlurmError as error:
                self.failure = error
                self._tries[number] += 1
                if error.kind is FailureKind.SLOW and self._tries[number] >= _MOST_TRIES:
                    self._count_refused(error)
                    self._finish(number, now)
                break
        return found

    def _look(self, number: int, now: int) -> Iterator[JobDocument]:
        base = str(number)
        shown: list[Shown] = []
        if self._settings.details:
            try:
                shown = self._client.show(base)
            except SlurmError as error:
                if error.kind is not FailureKind.NO_JOB:
                    self._refuse(error)
        parts = self._script(base, shown)
        most = self._settings.array_tasks
        jobs = [(job, record) for record in shown for job in expand(record.id, most)[0]]
        late = [self._late[job.name] for job in self._late_of(number)]
        plain = self._live.get(number, True)
        self._finish(number, now)
        if parts is not None and not (
            plain and {base}.issuperset(job.name for job, _ in (*jobs, *late))
        ):
            self.shared.add(base, parts)
            for job, submitted in late:
                yield self._with_script(job, submitted, now)
        elif parts is not None:
            submitted = self._submits.get(number)
            usage = Usage(requeues=None if submitted is None else 0)
            for record in shown:  # the controller may have given the number again meanwhile
                submitted, usage = record.times["Submit"], Usage(requeues=record.restarts)
            document = JobDocument(
                slurm_id(self._cluster, base), now, submission=parts, usage=usage
            )
            yield with_submit(document, submitted)
        for job, record in jobs:
            yield self.shared.into(of_shown(self._cluster, job, record, now), job)

    def _look_late(self, number: int, now: int) -> Iterator[JobDocument]:
        """Of jobs that have ended: the script that the accounting kept."""
        script = self._kept_script(str(number))
        jobs = [self._late[job.name] for job in self._late_of(number)]
        self._finish(number, now)
        if not script:
            return
        self.scripts += 1
        self.shared.add(str(number), script_parts(script))
        for job, submitted in jobs:
            yield self._with_script(job, submitted, now)

    def _with_script(self, job: SlurmId, submitted: int | None, now: int) -> JobDocument:
        document = JobDocument(slurm_id(self._cluster, job.name), now)
        return self.shared.into(with_submit(document, submitted), job)

    def _script(self, base: str, shown: list[Shown]) -> Submission | None:
        """The script, of the controller or else of the accounting."""
        if not self._settings.scripts or (shown and not any(record.batch for record in shown)):
            return None
        try:
            script: str | None = self._client.script(base)
        except SlurmError as error:
            if error.kind in PASSING:
                raise
            script = self._kept_script(base) if self.kept else None
            if script is None and error.kind is FailureKind.NO_PERMISSION:
                self._refuse(error)
        if not script:
            return None
        self.scripts += 1
        return script_parts(script)

    def _kept_script(self, base: str) -> str | None:
        try:
            return self._client.kept_script(base)
        except SlurmError as error:
            self._refuse(error)
            return None

    def _refuse(self, error: SlurmError) -> None:
        """Count what is refused however often it is asked for.

        Raises:
            SlurmError: it may pass.
        """
        if error.kind in PASSING:
            raise error
        self._count_refused(error)

    def _count_refused(self, error: SlurmError) -> None:
        self.refused += 1
        self.last_refused = str(error)

    def _finish(self, number: int, now: int) -> None:
        self.fetched += 1
        self._done[number] = now // _HOUR
        self._live.pop(number, None)
        for job in self._late_of(number):
            del self._late[job.name]
