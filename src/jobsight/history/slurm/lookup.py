"""Jobs collected by their ids, which Kafka notices name."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterator, Sequence

import msgspec

from jobsight.documents import JobDocument, parse_key
from jobsight.documents.identity import sort_out
from jobsight.history.slurm.client import FailureKind, SlurmClient, SlurmError
from jobsight.history.slurm.details import Details
from jobsight.history.slurm.documents import (
    group_runs,
    of_ended,
    of_queue,
    of_runs,
    queue_end,
    with_submit,
)
from jobsight.history.slurm.ids import SlurmId, parse_id
from jobsight.history.slurm.scontrol import Config
from jobsight.history.slurm.squeue import Queued
from jobsight.history.slurm.watch import Watch
from jobsight.settings import SlurmSettings

__all__ = ["SlurmLookup"]

_MICROS = 1_000_000
_REUSED = 7 * 86_400 * _MICROS
"""Runs that ended longer ago are of another job: Slurm uses numbers again; µs."""
_MEMORY = 3_600 * _MICROS
"""How long jobs that left the queue are remembered; µs."""


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
        """Take a living job of the store: what it holds is not reported or fetched again."""
        self._watch.restore(document)
        self._details.known(document, int(self._clock()) * _MICROS)

    def collect(self, ids: Collection[str]) -> list[JobDocument]:
        """What Slurm reports of some jobs now, one document per job of which anything is known.

        The ids are as users write them: ``123`` (an array: all its tasks), ``123_4``, ``123+1``;
        others are left out. For each slice of ``settle_per_poll`` jobs one call of squeue and one
        of sacct, and details of at most ``details_per_poll`` submissions not looked at before.

        Raises:
            SlurmError: neither squeue nor sacct gave an answer.
        """
        named: dict[str, SlurmId] = {}
        for text in sorted(ids):
            with contextlib.suppress(ValueError):
                job = parse_id(text)._replace(step=None)
                named[job.name] = job
        jobs = list(named.values())
        found: dict[str, list[JobDocument]] = {}
        width = self._settings.settle_per_poll
        for start in range(0, len(jobs), width):
            for document in self._slice(jobs[start : start + width]):
                found.setdefault(document.id, []).append(document)
        # Later jobs of a number go to the store under the number too, which knows more of them.
        return [
            msgspec.structs.replace(document, id=id_)
            for id_, documents in found.items()
            for _, document in sort_out((), documents)
        ]

    def _slice(self, jobs: Sequence[SlurmId]) -> Iterator[JobDocument]:
        now = int(self._clock()) * _MICROS
        wanted = {job.name for job in jobs}
        # squeue and sacct do not know a component by itself, but their whole job.
        asked = {job.base if job.component is not None else job.name for job in jobs}
        failures: list[SlurmError] = []
        found: list[JobDocument] = []
        try:
            lines = self._client.queue(asked)
            found += self._of_queue(lines, asked, now)
            self._details.queued(lines, now)
        except SlurmError as error:
            failures.append(error)
        try:
            if self._settings.accounting is False:
                raise SlurmError("sacct is not asked, as set", FailureKind.NO_ACCOUNTING)
            names = asked | self._watch.asked(wanted) - wanted
            runs = list(self._watch.named(self._client.accounts(names, now - _REUSED)))
            sampling = self._sampling() if any(run.steps for run in runs) else None
            found += (
                of_runs(self._cluster, job, of_job, now, sampling=sampling)
                for job, of_job in group_runs(runs, self._settings.array_tasks)
            )
        except SlurmError as error:
            failures.append(error)
        if len(failures) > 1:
            raise failures[0]
        found += self._details.fetch(now, self._settings.details_per_poll)
        self._details.forget(now - _MEMORY)
        self._watch.forget(now - _MEMORY)
        for document in found:
            job = parse_id(parse_key(document.id).job)
            if job.name in wanted or job.base in wanted:
                yield self._details.shared.into(document, job)

    def _of_queue(
        self, lines: Sequence[Queued], asked: Collection[str], now: int
    ) -> Iterator[JobDocument]:
        """All jobs that the queue lists; of those that live, with what has changed."""
        look = self._watch.look(lines, now, asked)
        news = {change.id.name: change.events for change in look.changes}
        for lost in look.replaced:
            yield queue_end(self._cluster, lost.id, lost.first_submit, now, now, unstarted=False)
        for gone in look.gone:
            unstarted = gone.waits_in_array and gone.id.name not in look.ended
            if unstarted and self._remembers(now - gone.last):
                submitted = gone.first_submit
                yield queue_end(self._cluster, gone.id, submitted, now, now, unstarted=True)
        for job, line in look.living:
            document = of_queue(self._cluster, line, job, news.get(job.name, ()), now)
            yield with_submit(document, self._watch.seen[job.name].first_submit)
        for job, line in look.ended.values():
            yield with_submit(of_ended(self._cluster, line, job, now), line.submit)

    def _known_config(self) -> Config | None:
        if self._config is None:
            with contextlib.suppress(SlurmError):
                self._config = self._client.config()
        return self._config

    def _sampling(self) -> str | None:
        config = self._known_config()
        return config.sampling if config else None

    def _remembers(self, span: int) -> bool:
        """Whether the controller still lists what ended that long ago, µs."""
        config = self._known_config()
        return config is not None and span < (config.min_job_age or 0) * _MICROS
