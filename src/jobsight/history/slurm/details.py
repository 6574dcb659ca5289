"""What scontrol shows of new jobs, and their batch scripts: under a cap, and each only once.

One look a submission: an array's tasks and a heterogeneous job's components share theirs. Which
submissions have been looked at is part of the source's position, so a restart asks for none again.
Scripts of jobs that ended before their turn come from the accounting, where it keeps them.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator

import msgspec

from jobsight.documents import JSON, JobDocument, Submission, slurm_id
from jobsight.history.slurm.client import SlurmClient
from jobsight.history.slurm.documents import script_parts
from jobsight.history.slurm.ids import SlurmId, expand, pack, unpack
from jobsight.history.slurm.scontrol import Shown
from jobsight.history.slurm.shown import of_shown
from jobsight.history.slurm.troubles import SlurmError, Trouble
from jobsight.settings import SlurmSettings

__all__ = ["Details"]

_MOST_WAITING = 5000
_MOST_PARTS = 1000
_MOST_FETCHED = 1_000_000
_SHARED_BYTES = 16 << 20
_MOST_SHARED = 64 << 20
_PASSING = (Trouble.DOWN, Trouble.SLOW, Trouble.MISSING)


class Details:
    """Details and scripts, fetched a few at a time.

    Attributes:
        fetched: submissions looked at so far, since the start.
        scripts: of these, with a script.
        forgotten: submissions dropped because too many waited.
        trouble: why the last look stopped early; None: it did not.
    """

    def __init__(self, client: SlurmClient, settings: SlurmSettings, cluster: str) -> None:
        self.fetched = 0
        self.scripts = 0
        self.forgotten = 0
        self.trouble: SlurmError | None = None
        self._client = client
        self._settings = settings
        self._cluster = cluster
        self._done: dict[int, int] = {}
        self._live: dict[int, None] = {}
        self._late: dict[int, dict[str, SlurmId]] = {}
        self._shared: dict[str, _Shared] = {}

    # --- what is to be fetched ---

    def queued(self, jobs: Iterable[SlurmId], now: int) -> None:
        """Tell which jobs the controller knows now."""
        if not self._wanted:
            return
        live: dict[int, None] = {}
        for job in jobs:
            if job.job is None:
                continue
            if job.job in self._done:
                self._done[job.job] = now
            else:
                live[job.job] = None
        self._live = live

    def ended(self, job: SlurmId, now: int) -> None:
        """Tell of a job that has ended; its script is fetched late if it was not before."""
        number = job.job
        if number is None or not self._settings.scripts or not self._settings.details:
            return
        if number in self._done:
            self._done[number] = now
            return
        parts = self._late.setdefault(number, {})
        if len(parts) < _MOST_PARTS:
            parts[job.name] = job
        if len(self._late) > _MOST_WAITING:
            del self._late[next(iter(self._late))]
            self.forgotten += 1

    def forget(self, before: int) -> None:
        """Forget what was fetched of jobs that nobody has told of since `before`."""
        if len(self._done) > _MOST_FETCHED or any(at < before for at in self._done.values()):
            self._done = {number: at for number, at in self._done.items() if at >= before}

    def waiting(self) -> int:
        """How many submissions wait for their turn."""
        return len(self._live) + len(self._late)

    @property
    def _wanted(self) -> bool:
        return self._settings.details or self._settings.scripts

    # --- position ---

    def position(self) -> dict[str, JSON]:
        """What must be known after a restart."""
        parts = {str(number): _write_parts(jobs.values()) for number, jobs in self._late.items()}
        return {
            "fetched": pack(self._done),
            "late": pack(self._late),
            "late_parts": {number: text for number, text in parts.items() if text},
        }

    def restore(self, position: dict[str, JSON], now: int) -> None:
        """Go on from a position.

        Raises:
            ValueError: the position is damaged.
        """
        parts = position.get("late_parts", {})
        if not isinstance(parts, dict):
            raise ValueError("its late jobs are no mapping")
        numbers = unpack(str(position.get("fetched", "")), _MOST_FETCHED)
        late = {
            number: {job.name: job for job in _read_parts(number, str(parts.get(str(number), "")))}
            for number in unpack(str(position.get("late", "")), _MOST_WAITING)
        }
        self._done = dict.fromkeys(numbers, now)
        self._late = late
        self._live = {}
        self._shared = {}

    def known(self, document: JobDocument) -> None:
        """Tell of a living job that the store has: its script may be its siblings' too."""
        base = document.submission.array
        if base and document.submission.script and base not in self._shared:
            self._share(base, document.submission)

    # --- fetching ---

    def fetch(self, now: int, budget: int, *, kept: bool) -> list[JobDocument]:
        """Documents of the next submissions that wait.

        Args:
            now: µs since 1970.
            budget: how many submissions at most; three calls each, at most. Fewer where they take
                longer than one call may.
            kept: the accounting keeps scripts and can be asked.
        """
        found: list[JobDocument] = []
        self.trouble = None
        enough = time.monotonic() + self._settings.timeout
        late = self._late.items() if kept else ()
        turns = [*((number, None) for number in self._live), *late]
        try:
            for number, jobs in itertools.islice(turns, budget):
                if time.monotonic() > enough:
                    break
                if jobs is None:
                    found.extend(self._look(number, now, kept=kept))
                else:
                    script = self._client.kept_script(str(number))
                    found.extend(self._scripted(jobs.values(), script, now))
                    self._finish(number, now)
        except SlurmError as error:
            self.trouble = error
        return found

    def _look(self, number: int, now: int, *, kept: bool) -> Iterator[JobDocument]:
        base = str(number)
        shown = self._shown(base) if self._settings.details else []
        parts = self._parts(base, shown, kept=kept)
        most = self._settings.array_tasks
        jobs = [(job, record) for record in shown for job in expand(record.id, most)[0]]
        siblings = any(job.name != base for job, _ in jobs)
        self._finish(number, now)
        if parts is not None and siblings:
            self._share(base, parts)
        elif parts is not None:
            yield JobDocument(slurm_id(self._cluster, base), now, submission=parts)
        for job, record in jobs:
            yield self.share(of_shown(self._cluster, job, record, now), job)

    def _shown(self, base: str) -> list[Shown]:
        try:
            return self._client.show(base)
        except SlurmError as error:
            if error.trouble in _PASSING:
                raise
            return []

    def _parts(self, base: str, shown: list[Shown], *, kept: bool) -> Submission | None:
        """The script, of the controller or else of the accounting."""
        if not self._settings.scripts or (shown and not any(one.batch for one in shown)):
            return None
        script: str | None
        try:
            script = self._client.script(base)
        except SlurmError as error:
            if error.trouble in _PASSING:
                raise
            script = self._client.kept_script(base) if kept else None
        if not script:
            return None
        self.scripts += 1
        return script_parts(script)

    def _scripted(
        self, jobs: Iterable[SlurmId], script: str | None, now: int
    ) -> Iterator[JobDocument]:
        if not script:
            return
        self.scripts += 1
        shared = _Shared(script_parts(script))
        for job in jobs:
            document = JobDocument(slurm_id(self._cluster, job.name), now)
            yield shared.into(document)
            if job.name != job.base:
                self._share(job.base, shared.parts)

    def _finish(self, number: int, now: int) -> None:
        self.fetched += 1
        self._done[number] = now
        self._live.pop(number, None)
        self._late.pop(number, None)

    # --- what siblings share ---

    def _share(self, base: str, submission: Submission) -> None:
        parts = Submission(script=submission.script, directives=submission.directives)
        self._shared[base] = _Shared(parts)
        kept = sum(len(shared.parts.script or "") for shared in self._shared.values())
        while kept > _MOST_SHARED and len(self._shared) > 1:
            oldest = next(iter(self._shared))
            kept -= len(self._shared.pop(oldest).parts.script or "")

    def share(self, document: JobDocument, job: SlurmId) -> JobDocument:
        """The document with the script that its siblings have, if that is known."""
        shared = self._shared.get(job.base)
        if shared is None or document.submission.script is not None:
            return document
        return shared.into(document)


class _Shared:
    """A script and how often it may still be written.

    An array of a million tasks holds it often enough, but does not fill the store with it.
    """

    def __init__(self, parts: Submission) -> None:
        self.parts = parts
        self._left = _SHARED_BYTES

    def into(self, document: JobDocument) -> JobDocument:
        """The document with the script, or with its options alone where it may not hold more."""
        self._left -= len(self.parts.script or "")
        submission = msgspec.structs.replace(
            document.submission,
            script=self.parts.script if self._left >= 0 else None,
            directives=self.parts.directives,
        )
        return msgspec.structs.replace(document, submission=submission)


def _write_parts(jobs: Iterable[SlurmId]) -> str:
    """``_0-4`` for tasks, ``+0-1`` for components, "" for a plain job."""
    chosen = list(jobs)
    tasks = [job.task for job in chosen if job.task is not None]
    components = [job.component for job in chosen if job.component is not None]
    if tasks:
        return f"_{pack(tasks)}"
    return f"+{pack(components)}" if components else ""


def _read_parts(number: int, text: str) -> Iterator[SlurmId]:
    """What `_write_parts` wrote."""
    if not text:
        yield SlurmId(number)
    for part in unpack(text[1:], _MOST_PARTS):
        yield SlurmId(number, task=part) if text[0] == "_" else SlurmId(number, component=part)
