"""Jobs collected by their ids, for those who are told of jobs by others (Kafka notices)."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterator, Sequence

from jobsight.documents import JobDocument, merge
from jobsight.history.slurm.client import SlurmClient
from jobsight.history.slurm.details import Details
from jobsight.history.slurm.documents import (
    ended_events,
    group_runs,
    of_one_job,
    of_queue,
    of_runs,
    unstarted_end,
    with_submit,
)
from jobsight.history.slurm.ids import SlurmId, parse_id
from jobsight.history.slurm.sacct import Run
from jobsight.history.slurm.scontrol import Config
from jobsight.history.slurm.squeue import Queued
from jobsight.history.slurm.troubles import SlurmError, Trouble
from jobsight.history.slurm.watch import Watch
from jobsight.settings import SlurmSettings

__all__ = ["SlurmLookup"]

_MICROS = 1_000_000
_MEMORY = 3_600 * _MICROS
"""How long fetched details of a job that nobody asks for are remembered, at least; µs."""


class SlurmLookup:
    """Collects named jobs of one cluster. One thread at a time.

    Args:
        client: runs the tools.
        cluster: the name in the ids of its jobs.
        settings: bounds and caps.
        clock: seconds since 1970.
    """

    def __init__(
        self,
        client: SlurmClient,
        cluster: str,
        settings: SlurmSettings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._cluster = cluster
        self._settings = settings
        self._clock = clock
        self._config: Config | None = None
        self.resume()

    def resume(self) -> None:
        """Begin anew: what was collected last may not have been saved."""
        self._watch = Watch(self._settings.array_tasks)
        self._details = Details(self._client, self._cluster, self._settings)
        self._details.kept = False  # the next look at a job that lives is soon enough

    def known(self, document: JobDocument) -> None:
        """Tell of a living job that the store has: what it holds is not told or fetched again."""
        self._watch.restore(document)
        self._details.known(document)

    @property
    def remembered(self) -> int:
        """How many submissions are not looked at again."""
        return self._details.remembered

    def collect(self, ids: Collection[str]) -> list[JobDocument]:
        """What Slurm tells of some jobs now: their lines of the queue, accounts and details.

        For each slice of ``settle_per_poll`` jobs one call of squeue and one of sacct, and details
        of at most ``details_per_poll`` submissions not looked at before.

        Args:
            ids: as users write them: ``123`` (an array: all its tasks), ``123_4``, ``123+1``.

        Returns:
            One document a job of which anything is known. Ids that are none are left out.

        Raises:
            SlurmError: neither squeue nor sacct gave an answer.
        """
        jobs = list({job.name: job for job in map(_job, sorted(ids)) if job is not None}.values())
        found: dict[str, JobDocument] = {}
        width = self._settings.settle_per_poll
        for start in range(0, len(jobs), width):
            for document in self._slice(jobs[start : start + width]):
                found[document.id] = merge(found.get(document.id), document)
        return list(found.values())

    def _slice(self, jobs: Sequence[SlurmId]) -> Iterator[JobDocument]:
        now = int(self._clock()) * _MICROS
        wanted = {job.name for job in jobs}
        # squeue and sacct do not know a component by itself, but their whole job.
        asked = {job.base if job.component is not None else job.name for job in jobs}
        lines, queue_trouble = self._lines(asked)
        told = list(self._of_queue(lines, asked, wanted, now)) if queue_trouble is None else []
        runs, accounts_trouble = self._runs(asked | self._watch.asked(wanted) - wanted)
        if queue_trouble is not None and accounts_trouble is not None:
            raise queue_trouble
        yield from told
        for job, found in group_runs(self._watch.named(runs), self._settings.array_tasks):
            seen = self._watch.seen.get(job.name)
            found = of_one_job(found, seen.submit if seen else None)  # noqa: PLW2901
            if found and (job.name in wanted or job.base in wanted):
                yield self._details.shared.into(of_runs(self._cluster, job, found, now), job)
        self._details.queued(line.id for line in lines)
        details = self._details.fetch(now, self._settings.details_per_poll)
        self._details.forget(now - _MEMORY, now)
        self._watch.forget(now - _MEMORY)
        for document in details:
            name = document.id.rpartition(":")[2]
            if name in wanted or parse_id(name).base in wanted:
                yield document

    def _of_queue(
        self, lines: Sequence[Queued], asked: Collection[str], wanted: Collection[str], now: int
    ) -> Iterator[JobDocument]:
        """All jobs that the queue knows; of those that live, what is not as it was is told."""
        look = self._watch.look(lines, now, asked)
        news = {change.id.name: change.events for change in look.changes}
        told = [(job, line, news.get(job.name, ())) for job, line in look.living]
        told += [(job, line, tuple(ended_events(line, now))) for job, line in look.ended.values()]
        for gone in look.gone:
            unstarted = gone.waits_in_array and gone.id.name not in look.ended
            if unstarted and self._remembers(now - gone.last):
                yield unstarted_end(self._cluster, gone.id, now, now)
        for job, line, events in told:
            if job.name in wanted or job.base in wanted:
                seen = self._watch.seen.get(job.name)
                document = of_queue(self._cluster, line, job, events, now)
                document = with_submit(document, seen.first_submit if seen else line.submit)
                yield self._details.shared.into(document, job)

    def _remembers(self, span: int) -> bool:
        """Whether the controller still lists what ended that long ago, µs."""
        if self._config is None:
            with contextlib.suppress(SlurmError):
                self._config = self._client.config()
        age = self._config.min_job_age if self._config else None
        return age is not None and span < age * _MICROS

    def _lines(self, asked: Collection[str]) -> tuple[list[Queued], SlurmError | None]:
        try:
            return self._client.queue(asked), None
        except SlurmError as error:
            return [], error

    def _runs(self, asked: Collection[str]) -> tuple[list[Run], SlurmError | None]:
        if self._settings.accounting is False:
            return [], SlurmError("sacct is not asked, as set", Trouble.NO_ACCOUNTING)
        try:
            return self._client.accounts(asked), None
        except SlurmError as error:
            return [], error


def _job(text: str) -> SlurmId | None:
    try:
        job = parse_id(text)
    except ValueError:
        return None
    return job._replace(step=None)
