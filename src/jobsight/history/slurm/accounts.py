"""What ended since the watermark, asked of sacct: one call a poll, nothing missed, nothing twice.

The watermark is a time of the controller's clock up to which all ends have been reported. The
accounting learns late, so each call looks back over the overlap again, and runs already seen are
left out. After an outage of the accounting (or of ours) the watermark is held until the overlap has
passed, since what ended during the outage may arrive only after it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from jobsight.documents import JSON
from jobsight.history.slurm.client import FailureKind, SlurmClient, SlurmError
from jobsight.history.slurm.sacct import Run
from jobsight.history.sources import Pause
from jobsight.settings import SlurmSettings

__all__ = ["Accounts", "NewestFirst"]

_MICROS = 1_000_000
_SHORTEST = 60 * _MICROS
_FIRST = 3600 * _MICROS
_QUICK_S = 1.0


class Accounts:
    """The accounting of one cluster, asked again and again.

    Attributes:
        since: the watermark, µs since 1970; None before the first poll.
        behind: µs between the watermark's next step and now, while old times are caught up.
        failure: why the last call gave nothing; None: it gave something.
    """

    def __init__(self, client: SlurmClient, settings: SlurmSettings) -> None:
        self.since: int | None = None
        self.behind = 0
        self.failure: SlurmError | None = None
        self._client = client
        self._overlap = int(settings.overlap * _MICROS)
        self._lookback = int(settings.lookback * _MICROS)
        self._longest = int(settings.window * _MICROS)
        self._span = self._widest = self._longest
        self._pause = Pause(settings.interval, settings.backoff_most)
        self._reached: int | None = None
        self._fresh = True
        self._answers_since: int | None = 0
        """After an outage, µs; None: it does not answer, 0: the watermark need not be held."""
        self._reported: dict[tuple[str, int | None], tuple[int, int]] = {}

    def restore(self, position: dict[str, JSON]) -> None:
        """Go on from a position; what was reported before counts as new.

        Raises:
            ValueError: the position is damaged.
        """
        since, answers_since = position.get("since"), position.get("answers_since", 0)
        if not isinstance(since, int | None) or not isinstance(answers_since, int | None):
            raise ValueError("its times are not whole numbers")
        self.since = since
        self._reported.clear()
        self._reached = None
        self._fresh = True
        self._answers_since = answers_since

    def position(self) -> dict[str, JSON]:
        """What must be known after a restart."""
        waiting = {} if self._answers_since == 0 else {"answers_since": self._answers_since}
        return {"since": self.since, **waiting}

    def usable(self) -> bool:
        """Whether it may be asked now: it is in no pause after a failure."""
        return self._pause.over(time.monotonic())

    def poll(self, now: int) -> list[Run]:
        """Runs that ended since the watermark and have not been reported as they are now.

        Args:
            now: the controller's clock, µs since 1970.

        Raises:
            SlurmError: no answer; the watermark is as it was.
        """
        if self.since is None:
            self.since = now - self._lookback
        elif self._fresh and now - self.since > self._overlap:
            self._answers_since = self._answers_since or None
        self._fresh = False
        start = self.since if self._reached is None else self._reached
        until = min(now, start + self._span)
        runs = self.ask(lambda: self._client.ended(self._before(start), until))
        # What ended before the accounting came back may still be on its way.
        if self._answers_since is None:
            self._answers_since = now
        elif now - self._answers_since >= self._overlap and self._reached is None:
            self._answers_since = 0
        if self._answers_since == 0:
            self.since = max(self.since, until)
        self._reached = until if until < now else None
        self.behind = now - until
        if until == now:
            self._widest = self._longest
        self._span = min(self._span * 2, self._widest)
        return self._news(runs)

    def _before(self, time: int) -> int:
        return max(time - self._overlap, _MICROS * 1_000_000)

    def since_overlap(self) -> int:
        """From when on sacct is asked."""
        return self._before(self.since or 0)

    def ask(self, call: Callable[[], list[Run]]) -> list[Run]:
        """Call sacct, and remember whether it answered.

        Raises:
            SlurmError: no answer; until the pause is over it should not be asked again.
        """
        try:
            runs = call()
        except SlurmError as error:
            self.failure = error
            if error.kind is FailureKind.TOO_MUCH:
                # It is well; until now is reached it is not asked for so much at once again.
                self._span = self._widest = max(self._span // 2, _SHORTEST)
            else:
                self._answers_since = self._reached = None
                self._pause.failed(time.monotonic())
            raise
        self.failure = None
        self._pause.worked()
        return runs

    def _news(self, runs: list[Run]) -> list[Run]:
        """All runs of jobs of which one is new; those before the next call's span are forgotten."""
        border = self.since_overlap() - self._overlap
        self._reported = {key: seen for key, seen in self._reported.items() if seen[0] >= border}
        fresh: set[str] = set()
        # Where slurmdbd learned of the end before the start, it knows hardly more: an array's task
        # then has its own number, as a job of this name (seen with 22.05 after an outage). It is
        # reported when all is known. By its id it may be asked for.
        runs = [run for run in runs if run.name != "allocation" or run.directory]
        for run in runs:
            key, digest = (run.id.name, run.submit), hash(run)
            if self._reported.get(key, (0, None))[1] != digest:
                fresh.add(run.id.name)
            self._reported[key] = (run.end or run.submit or 0, digest)
        return [run for run in runs if run.id.name in fresh]


class NewestFirst(Accounts):
    """The accounting asked from now backwards, so that an answer need not wait for all of it.

    The first poll asks for what ended since the last one, or in the last hour where that was
    longer ago. Each further poll asks for the span before what is known: an hour, doubled while
    sacct answers within a second.
    """

    def __init__(self, client: SlurmClient, settings: SlurmSettings) -> None:
        super().__init__(client, settings)
        self._unread: list[tuple[int, int]] = []
        """Spans that were not asked about, µs; the latest is the last."""
        self._span = _FIRST

    def restore(self, position: dict[str, JSON]) -> None:
        """See `Accounts.restore`."""
        super().restore(position)
        self._unread = [(int(start), int(end)) for start, end in position.get("unread", [])]
        self._span = max(int(position.get("span", _FIRST)), _SHORTEST)
        self.behind = sum(end - start for start, end in self._unread)

    def position(self) -> dict[str, JSON]:
        """See `Accounts.position`."""
        spans = [list(span) for span in self._unread]
        return {"since": self.since, **({"unread": spans, "span": self._span} if spans else {})}

    def poll(self, now: int) -> list[Run]:
        """Runs of one span that have not been reported as they are now; see `Accounts.poll`."""
        if self._fresh:
            known = now - self._lookback if self.since is None else self.since
            start = max(known, now - _FIRST)
            runs = self.ask(lambda: self._client.ended(self._before(start), now))
            self._unread += [(known, start)] if known < start else []
            self.since, self._fresh = now, False
        elif self._unread:
            known, end = self._unread.pop()
            start = max(known, end - self._span)
            begun = time.monotonic()
            try:
                runs = self.ask(lambda: self._client.ended(self._before(start), end))
            except SlurmError:
                self._unread.append((known, end))
                raise
            if time.monotonic() - begun < _QUICK_S:
                self._span *= 2
            self._unread += [(known, start)] if known < start else []
        else:
            runs = []
        self.behind = sum(end - start for start, end in self._unread)
        return self._news(runs)
