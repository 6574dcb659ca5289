"""The source `slurm`: one cluster, polled with a number of calls that its jobs do not change.

A poll is one ``squeue`` for all jobs; one ``sacct`` for what ended since the watermark; at most one
``sacct`` for jobs that left the queue and whose end is not reported yet; details of at most
``details_per_poll`` new submissions; now and then one ``scontrol show config``. Each of the three
tools pauses on its own after a failure, scontrol together with squeue, so a slow controller is not
asked the more, and what the others report is not lost: after an outage sacct catches up from the
watermark.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator

from jobsight.documents import JSON, JobDocument, slurm_id
from jobsight.errors import SourceError
from jobsight.history.slurm.accounts import Accounts, NewestFirst
from jobsight.history.slurm.client import PASSING, FailureKind, SlurmClient, SlurmError
from jobsight.history.slurm.details import Details
from jobsight.history.slurm.documents import (
    goes_on,
    group_runs,
    lives,
    of_queue,
    of_runs,
    of_shown,
    with_submit,
)
from jobsight.history.slurm.ids import SlurmId, expand
from jobsight.history.slurm.sacct import Run
from jobsight.history.slurm.scontrol import Config
from jobsight.history.slurm.unresolved import Departed, Unresolved
from jobsight.history.slurm.watch import Change, Look, Watch
from jobsight.history.sources import Observed, Pause, Position, Source, resumed
from jobsight.settings import SlurmSettings

__all__ = ["SlurmSource"]

_VERSION = 1
_MEMORY = 3_600_000_000
"""How much longer than sacct is asked back, fetched details are remembered; µs."""
_MICROS = 1_000_000
_PATIENCE = 3
"""How often sacct is asked about a job that ran before the queue is believed, which knows no exit
code."""
_EVEN = 2 * _MICROS
"""Clocks that differ by less count as even: the controller gives its own in whole seconds."""


class SlurmSource(Source):
    """One Slurm cluster.

    Args:
        client: runs the tools; this source's alone.
        cluster: the name in the ids of its jobs.
        settings: intervals, bounds, caps.
        clock: seconds since 1970; tests give their own.
        newest_first: the accounting is read from now backwards, see `NewestFirst`.
    """

    def __init__(
        self,
        client: SlurmClient,
        cluster: str,
        settings: SlurmSettings,
        clock: Callable[[], float] = time.time,
        *,
        newest_first: bool = False,
    ) -> None:
        self.name = f"slurm:{cluster}"
        self._prefix = slurm_id(cluster, "").removesuffix(":")
        self.interval = settings.interval
        self._client = client
        self._cluster = cluster
        self._settings = settings
        self._clock = clock
        self._watch = Watch(settings.array_tasks)
        self._accounts = (NewestFirst if newest_first else Accounts)(client, settings)
        self._details = Details(client, cluster, settings)
        self._unresolved = Unresolved(cluster, settings.unknown_end_after, settings.overlap)
        self._looked: int | None = None
        self._queue_pause = Pause(settings.interval, settings.backoff_most)
        self._queue_failure: SlurmError | None = None
        self._config: Config | None = None
        self._config_due = 0.0
        self._due = 0.0
        self._skew = 0
        self._backlog: Iterator[JobDocument] | None = None
        self._saved: Position = {}
        self._polls = 0
        self._documents = 0
        self._last_error: dict[str, JSON] | None = None

    # --- the contract ---

    def resume(
        self, position: Position | None, active: Callable[[str | None], Iterator[JobDocument]]
    ) -> None:
        """Go on from `position`; the store's living jobs are those to be resolved.

        Raises:
            SourceError: the position was written by a newer version, or is damaged.
        """
        self._watch = Watch(self._settings.array_tasks)
        self._backlog = None
        with resumed(self.name, position, _VERSION) as saved:
            self._saved = saved
            self._accounts.restore(saved)
            self._unresolved.restore(saved)
            self._details.restore(saved)
            self._watch.resume(saved)
            self._looked = int(saved["looked"]) if "looked" in saved else None
        for document in active(self._prefix):
            self._watch.restore(document)
            self._details.shared.keep(document)

    def poll(self) -> Observed | None:
        """Ask the tools once; or, where the last poll saw more than fits, give its rest.

        Raises:
            SourceError: neither the controller nor the accounting gave an answer.
        """
        if self._backlog is None:
            self._backlog = self._ask()
        found = list(itertools.islice(self._backlog, self._settings.documents_per_poll))
        self._documents += len(found)
        if len(found) == self._settings.documents_per_poll:
            return Observed(found, dict(self._saved), more=True)
        self._backlog = None
        # Without accounts nothing else of a position changes at every look.
        position: Position = {
            "version": _VERSION,
            **({"looked": self._looked} if self._looked and self._keeps_accounts() else {}),
            **self._accounts.position(),
            **self._unresolved.position(),
            **self._details.position(),
            **self._watch.position(),
        }
        if not found and position == self._saved:
            return None
        self._saved = position
        catching_up = self._accounts.behind > 0 and self._accounts.failure is None
        return Observed(found, dict(position), more=catching_up)

    @property
    def problem(self) -> str | None:
        """See `Source.problem`: the controller or the accounting gives no answer."""
        error = self._queue_failure or self._accounts.failure
        known = error is not None and error.kind is not FailureKind.NO_ACCOUNTING
        return str(error) if known else None

    def status(self) -> dict[str, JSON]:
        """Calls by command, jobs, what waits, failures, the watermark and the clocks."""
        client = self._client
        failure = self._queue_failure or self._accounts.failure
        details = self._details
        return {
            "calls": dict(sorted(client.calls.items())),
            "call_seconds": {tool: round(took, 3) for tool, took in sorted(client.seconds.items())},
            "polls": self._polls,
            "documents": self._documents,
            "jobs_living": len(self._watch.seen),
            "jobs_unsettled": len(self._unresolved.open),
            "array_tasks_unlisted": self._watch.unlisted,
            "details_fetched": details.fetched,
            "details_pending": details.waiting(),
            "details_forgotten": details.forgotten,
            "details_refused": details.refused,
            "details_failure": None if details.failure is None else str(details.failure),
            "last_detail_refused": details.last_refused,
            "scripts_fetched": details.scripts,
            "lines_refused": client.refused,
            "last_line_refused": client.last_refused,
            "accounting": self._keeps_accounts(),
            "problem": None if failure is None else failure.kind.value,
            "last_error": self._last_error,
            "backoff_s": round(self._queue_pause.left(time.monotonic()), 1),
            "watermark": self._accounts.since,
            "behind_s": self._accounts.behind // _MICROS,
            "clock_skew_s": self._skew / _MICROS,
            "slurm_version": self._config.version if self._config else None,
        }

    def close(self) -> None:
        """Nothing is held open between polls."""

    # --- one poll ---

    def _ask(self) -> Iterator[JobDocument]:
        """Ask every tool that may be asked now; give the documents of what they report.

        Raises:
            SourceError: neither the queue nor the accounting gave an answer.
        """
        self._polls += 1
        if self._accounts.behind > 0 and time.monotonic() < self._due:
            return self._of_accounts(self._look_at_accounts(self._now()) or [], self._now())
        self._due = time.monotonic() + self._settings.interval
        self._look_at_config()
        if self._config is not None:
            self._details.kept = self._keeps_accounts() and self._config.scripts_kept
        now = self._now()
        look = self._look_at_queue(now)
        runs = self._look_at_accounts(now)
        if look is None and runs is None:
            raise (
                self._queue_failure
                or self._accounts.failure
                or SourceError(f"{self.name}: the controller is asked again after a pause")
            )
        documents = [*self._of_accounts(runs or [], now), *self._resolve(now, look)]
        if look is not None:
            late = self._accounts.usable()
            documents += self._details.fetch(now, self._settings.details_per_poll, late=late)
        before = now - _MEMORY
        if self._keeps_accounts() and self._accounts.since is not None:
            before = self._accounts.since_overlap() - _MEMORY  # it has reported all ends before
        self._details.forget(before)
        self._watch.forget(before)
        changes = look.changes if look is not None else []

        def changed(change: Change) -> JobDocument:
            document = of_queue(self._cluster, change.line, change.id, change.events, now)
            return self._details.shared.into(with_submit(document, change.submitted), change.id)

        return itertools.chain(documents, map(changed, changes))

    def _look_at_config(self) -> None:
        """The configuration and the clock, when it is time; a failure leaves the last ones."""
        moment = time.monotonic()
        if moment < self._config_due or not self._queue_pause.over(moment):
            return
        before = self._clock()
        try:
            self._config = self._client.config()
        except SlurmError as error:
            self._note(error)
            self._config_due = time.monotonic() + self._settings.interval
            return
        self._config_due = time.monotonic() + self._settings.config_every
        if self._config.now is not None:
            middle = int((before + self._clock()) / 2 * _MICROS)
            skew = self._config.now - middle
            self._skew = 0 if abs(skew) < _EVEN else skew

    def _look_at_queue(self, now: int) -> Look | None:
        if not self._queue_pause.over(time.monotonic()):
            return None
        try:
            lines = self._client.queue()
        except SlurmError as error:
            self._note(error)
            self._queue_failure = error
            self._queue_pause.failed(time.monotonic())
            return None
        self._queue_failure = None
        self._queue_pause.worked()
        look = self._watch.look(lines, now)
        # Whether the controller still lists every job that ran since the last look.
        age = self._config.min_job_age if self._config else None
        remembered = (
            age is not None and self._looked is not None and now - self._looked < age * _MICROS
        )
        self._unresolved.left(
            *(look.ended, look.gone, self._watch.seen, now),
            replaced=look.replaced,
            unbroken=self._keeps_accounts(),
            remembered=remembered,
        )
        self._details.queued(lines, now)
        self._looked = now
        return look

    def _look_at_accounts(self, now: int) -> list[Run] | None:
        if not self._keeps_accounts() or not self._accounts.usable():
            return None
        try:
            return self._accounts.poll(now)
        except SlurmError as error:
            self._note(error)
            return None

    def _keeps_accounts(self) -> bool:
        """Whether sacct is to be asked: as set, or as the controller says, or as it answers."""
        said = self._config.accounting if self._config is not None else None
        for known in (self._settings.accounting, said):
            if known is not None:
                return known
        error = self._accounts.failure
        return error is None or error.kind is not FailureKind.NO_ACCOUNTING

    def _of_accounts(self, runs: list[Run], now: int) -> Iterator[JobDocument]:
        sampling = self._config.sampling if self._config else None
        for job, found in group_runs(self._watch.named(runs), self._settings.array_tasks):
            known = self._unresolved.open.get(job.name)
            seen = self._watch.seen.get(job.name)
            submitted = known.submitted if known else seen.first_submit if seen else None
            before, first, last = known or seen, found[0], found[-1]
            if lives(last) and (before is None or (last.submit or 0) < (before.submit or 0)):
                continue  # the controller forgot it, and no tool will report its end
            if before and before.is_replaced(first.user, first.submit, first.restarts):
                submitted = None
            document = of_runs(
                self._cluster, job, found, now, submitted=submitted, sampling=sampling
            )
            if before is None and goes_on(last):
                self._unresolved.expect(job, found, now)
            self._unresolved.resolve(job, found)
            if seen is None:
                self._details.ended(job, document.submission.submitted)
            yield self._details.shared.into(document, job)

    def _resolve(self, now: int, look: Look | None) -> list[JobDocument]:
        """Ask about jobs that left the queue, by their ids: in one call, or under the cap."""
        documents: list[JobDocument] = []
        if self._keeps_accounts():
            documents += self._resolve_by_sacct(now)
        elif look is not None:
            # What the controller still knows, for so long as it does.
            for known in self._unresolved.due(now, self._settings.details_per_poll):
                try:
                    documents += self._shown_end(known, now)
                except SlurmError as error:
                    self._note(error)
                    if error.kind in PASSING:
                        break
                self._unresolved.asked([known], now)
        alone = not self._keeps_accounts() or self._accounts.failure is not None
        documents += self._unresolved.ends_by_queue(now, 0 if alone else _PATIENCE)
        documents += self._unresolved.give_up(now)
        return documents

    def _resolve_by_sacct(self, now: int) -> list[JobDocument]:
        due = self._unresolved.due(now, self._settings.settle_per_poll)
        if not due or not self._accounts.usable():
            return []
        names = self._watch.asked({known.id.name for known in due})
        submits = [known.submitted or known.submit for known in due]
        since = None if None in submits else min(filter(None, submits)) - _MEMORY
        try:
            runs = self._accounts.ask(lambda: self._client.accounts(names, since))
        except SlurmError as error:
            self._note(error)
            return []
        documents = list(self._of_accounts(runs, now))
        self._unresolved.asked(
            (known for known in due if known.id.name in self._unresolved.open), now
        )
        return documents

    def _shown_end(self, known: Departed, now: int) -> Iterator[JobDocument]:
        for shown in self._client.show(known.id.name):
            if known.is_replaced(shown.user, shown.times["Submit"], shown.restarts):
                continue
            job: SlurmId
            for job in expand(shown.id, 1)[0]:
                document = of_shown(self._cluster, job, shown, now)
                ended = any(event.state and event.state.ended for event in document.timeline)
                if job.name == known.id.name and ended:
                    self._unresolved.close(job.name)
                    yield with_submit(document, known.submitted)

    # --- clocks, position ---

    def _now(self) -> int:
        """The controller's clock in whole seconds, in which it gives its own times too.

        Where the clocks differ, a second earlier: what is seen now must not seem later than what
        happens next.
        """
        ours = int(self._clock() * _MICROS) + self._skew
        return ours // _MICROS * _MICROS - (_MICROS if self._skew else 0)

    def _note(self, error: SlurmError) -> None:
        self._last_error = {"time": int(self._clock() * _MICROS), "text": str(error)}
