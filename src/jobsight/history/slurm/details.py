"""What scontrol shows of new jobs, and their batch scripts: under a cap, and each only once.

One look a submission: an array's tasks and a heterogeneous job's components share theirs. Which
submissions have been looked at is part of the source's position, so a restart asks for none again.
Scripts of jobs that ended before their turn come from the accounting, where it keeps them.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Collection, Iterable, Iterator

import msgspec

from jobsight.documents import JSON, JobDocument, Submission, number_of, slurm_id
from jobsight.history.slurm.client import SlurmClient
from jobsight.history.slurm.documents import script_parts
from jobsight.history.slurm.fetched import Fetched
from jobsight.history.slurm.ids import SlurmId, expand, pack, unpack
from jobsight.history.slurm.scontrol import Shown
from jobsight.history.slurm.sharing import SharedScripts
from jobsight.history.slurm.shown import of_shown
from jobsight.history.slurm.troubles import PASSING, SlurmError, Trouble
from jobsight.settings import SlurmSettings

__all__ = ["Details"]

_MOST_WAITING = 5000
_MOST_PARTS = 1000
_MOST_TRIES = 20


class Details:
    """Details and scripts, fetched a few at a time.

    Attributes:
        fetched: submissions looked at so far, since the start.
        scripts: of these, with a script.
        forgotten: submissions dropped because too many waited.
        refused: submissions whose details or script were refused for good; `last_refused` says
            why the last one was.
        trouble: why the last look stopped early; None: it did not.
        kept: whether the accounting keeps scripts and is asked; None: not known yet.
        shared: the scripts that the tasks of arrays and the components of jobs have in common.
    """

    def __init__(self, client: SlurmClient, cluster: str, settings: SlurmSettings) -> None:
        self.fetched = 0
        self.scripts = 0
        self.forgotten = 0
        self.refused = 0
        self.last_refused: str | None = None
        self.trouble: SlurmError | None = None
        self.kept: bool | None = None
        self.shared = SharedScripts()
        self._client = client
        self._settings = settings
        self._cluster = cluster
        self._done = Fetched()
        self._live: dict[int, None] = {}
        self._late: dict[int, dict[str, SlurmId]] = {}
        self._postponed: dict[int, int] = {}

    # --- what is to be fetched ---

    def queued(self, jobs: Iterable[SlurmId]) -> None:
        """Tell which jobs the controller knows now."""
        if not self._wanted:
            return
        live: dict[int, None] = {}
        for job in jobs:
            if job.job is not None and not self._done.told(job.job):
                live[job.job] = None
        self._live = live

    def ended(self, job: SlurmId) -> None:
        """Tell of a job that has ended; its script is fetched late if it was not before."""
        number = job.job
        if number is None or not self._settings.scripts or not self._settings.details:
            return
        if self._done.told(number) or self.kept is False:
            return
        parts = self._late.setdefault(number, {})
        if len(parts) < _MOST_PARTS:
            parts[job.name] = job
        if len(self._late) > _MOST_WAITING:
            del self._late[next(iter(self._late))]
            self.forgotten += 1

    def known(self, document: JobDocument) -> None:
        """Tell of a living job that the store has: a script that it has is not fetched again."""
        self.shared.known(document)
        number = number_of(document.id)
        if document.submission.script is not None and number.isdecimal():
            self._done.add(int(number))

    def forget(self, before: int, now: int) -> None:
        """Forget what was fetched of jobs that nobody has told of since long before `before`."""
        self._done.forget(before, now)

    @property
    def remembered(self) -> int:
        """How many submissions are known to have been looked at."""
        return len(self._done)

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
            **self._done.position(),
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
        done = Fetched()
        done.restore(position, now)
        late = {
            number: {job.name: job for job in _read_parts(number, str(parts.get(str(number), "")))}
            for number in unpack(str(position.get("late", "")), _MOST_WAITING)
        }
        self._done = done
        self._late = late
        self._live = {}
        self._postponed = {}
        self.shared.clear()

    # --- fetching ---

    def fetch(self, now: int, budget: int, *, late: bool = True) -> list[JobDocument]:
        """Documents of the next submissions that wait.

        Trouble that may pass ends it; the submission that met it waits behind all others, lest one
        that is always slow holds them up.

        Args:
            now: µs since 1970.
            budget: how many submissions at most; three calls each, at most. Fewer where they take
                longer than one call may.
            late: ask for scripts that the accounting kept of jobs that have ended.
        """
        found: list[JobDocument] = []
        self.trouble = None
        if self.kept is False:
            self._late.clear()
        enough = time.monotonic() + self._settings.timeout
        for number in self._turns(budget, self._late if late and self.kept else {}):
            if time.monotonic() > enough:
                break
            try:
                if number in self._live:
                    found.extend(self._look(number, now))
                else:
                    found.extend(self._scripted(number, now))
            except SlurmError as error:
                self.trouble = error
                self._postpone(number, error)
                break
        return found

    def _turns(self, budget: int, late: Collection[int]) -> list[int]:
        """The next to be looked at; those that met trouble go last."""
        known = self._live.keys() | self._late.keys() if self._postponed else ()
        self._postponed = {one: tries for one, tries in self._postponed.items() if one in known}
        turns = itertools.chain(self._live, (one for one in late if one not in self._live))
        first = itertools.islice((one for one in turns if one not in self._postponed), budget)
        chosen = list(first)
        tried = sorted(self._postponed, key=self._postponed.__getitem__)
        last = (one for one in tried if one in self._live or one in late)
        return [*chosen, *itertools.islice(last, budget - len(chosen))]

    def _postpone(self, number: int, error: SlurmError) -> None:
        """Let all others go first; give up what has been too slow too often."""
        tries = self._postponed[number] = self._postponed.get(number, 0) + 1
        if error.trouble is Trouble.SLOW and tries >= _MOST_TRIES:
            self.refused += 1
            self.last_refused = str(error)
            self._finish(number)

    def _look(self, number: int, now: int) -> Iterator[JobDocument]:
        base = str(number)
        shown = self._shown(base) if self._settings.details else []
        parts = self._parts(base, shown)
        most = self._settings.array_tasks
        jobs = [(job, record) for record in shown for job in expand(record.id, most)[0]]
        late = self._late.get(number, {}).values()
        siblings = any(job.name != base for job in (*(job for job, _ in jobs), *late))
        self._finish(number)
        if parts is not None and siblings:
            self.shared.tell(base, parts)
            for job in late:
                yield self.shared.into(JobDocument(slurm_id(self._cluster, job.name), now), job)
        elif parts is not None:
            yield JobDocument(slurm_id(self._cluster, base), now, submission=parts)
        for job, record in jobs:
            yield self.shared.into(of_shown(self._cluster, job, record, now), job)

    def _shown(self, base: str) -> list[Shown]:
        try:
            return self._client.show(base)
        except SlurmError as error:
            if error.trouble is not Trouble.NO_JOB:
                self._refuse(error)
            return []

    def _parts(self, base: str, shown: list[Shown]) -> Submission | None:
        """The script, of the controller or else of the accounting."""
        if not self._settings.scripts or (shown and not any(one.batch for one in shown)):
            return None
        try:
            script: str | None = self._client.script(base)
        except SlurmError as error:
            if error.trouble in PASSING:
                raise
            script = self._kept_script(base) if self.kept else None
            if script is None and error.trouble is Trouble.NO_PERMISSION:
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

    def _scripted(self, number: int, now: int) -> Iterator[JobDocument]:
        """Of jobs that have ended: the script that the accounting kept."""
        script = self._kept_script(str(number))
        jobs = self._late[number].values()
        self._finish(number)
        if not script:
            return
        self.scripts += 1
        parts = script_parts(script)
        for job in jobs:
            document = JobDocument(slurm_id(self._cluster, job.name), now)
            if job.name == job.base:
                yield msgspec.structs.replace(document, submission=parts)
            else:
                self.shared.keep(job.base, parts)
                yield self.shared.into(document, job)

    def _refuse(self, error: SlurmError) -> None:
        """Count what will not be told however often it is asked.

        Raises:
            SlurmError: it may pass.
        """
        if error.trouble in PASSING:
            raise error
        self.refused += 1
        self.last_refused = str(error)

    def _finish(self, number: int) -> None:
        self.fetched += 1
        self._done.add(number)
        self._live.pop(number, None)
        self._late.pop(number, None)


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
