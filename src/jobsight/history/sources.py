"""The contract of a source: something that reports on jobs while they change, and can be polled.

A collector calls `poll`, saves the documents *and* the position in one transaction, and then calls
`committed`. After an interruption the source is polled again from the saved position: nothing is
lost, and since documents are merged (`jobsight.documents.merge`), nothing counts twice. After an
error, it waits for a `Pause`.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from jobsight.documents import JSON, JobDocument
from jobsight.errors import SourceError

__all__ = ["Observed", "Pause", "Position", "Source", "resumed"]

Position = dict[str, JSON]
"""The position of a source: small, plain JSON, understood by the source alone."""


@contextmanager
def resumed(name: str, position: Position | None, version: int) -> Iterator[Position]:
    """The position of a source, to go on from; what cannot be read of it in the block is damaged.

    Args:
        name: of the source.
        position: what the store has saved for it.
        version: of the positions that it writes.

    Raises:
        SourceError: the position is damaged, or of a newer version.
    """
    saved = dict(position or {})
    try:
        if saved.get("version", version) != version:
            raise ValueError(f"it is of version {saved['version']!r}")
        yield saved
    except (ValueError, TypeError, LookupError) as error:
        raise SourceError(
            f"the position of {name} is damaged or of a newer version: {error}; update jobsight, "
            "or remove the position to begin anew"
        ) from None


@dataclass(frozen=True)
class Observed:
    """The result of one poll.

    Attributes:
        documents: partial documents of jobs that changed, to be merged.
        position: the source's position after them.
        more: more is waiting; poll again at once.
        missed: records that were lost or damaged, in words.
    """

    documents: Sequence[JobDocument]
    position: Position
    more: bool = False
    missed: Sequence[str] = ()


class Source(ABC):
    """Something that reports on jobs.

    A source belongs to one thread, which calls `resume` first, and again after a poll whose
    documents could not be saved. Every method but `resume` and `close` returns within the time
    limits of the source's settings.

    Attributes:
        name: the key of its position in the store, e.g. ``eventlog:/var/log/condor/EventLog``.
        interval: seconds to wait after a poll that has nothing more.
    """

    name: str
    interval: float

    @abstractmethod
    def resume(
        self, position: Position | None, active: Callable[[str | None], Iterator[JobDocument]]
    ) -> None:
        """Go on from `position`; None: from the beginning.

        Args:
            position: what the store has saved for this source.
            active: gives the store's jobs that have not ended, of one cluster (its ids up to the
                last colon) or, None, of all; for sources that must know them.

        Raises:
            SourceError: the position was written by a newer version, or is damaged.
        """

    @abstractmethod
    def poll(self) -> Observed | None:
        """What is new since the last call; None: nothing, and the position is as it was.

        Raises:
            SourceError: an error that may pass (a file missing, a controller that is down). What
                was seen before is not lost; the caller waits longer and longer and polls again.
        """

    def committed(self) -> None:  # noqa: B027  # most sources need not know
        """The store has the documents of the last poll."""

    @property
    def problem(self) -> str | None:
        """What is wrong though polls give what they can (one of two tools is down), in words."""
        return None

    @abstractmethod
    def status(self) -> dict[str, JSON]:
        """Counters and lag: JSON, no secrets, no unbounded lists."""

    @abstractmethod
    def close(self) -> None:
        """Close files, processes and connections; may be called twice."""


class Pause:
    """The pauses of something that may fail; all times are monotonic seconds.

    Args:
        first: the longest that the first pause may be; each is of twice the span of the last.
        longest: the bound of that span.
        rng: draws the lengths; None: one of its own.

    Attributes:
        failures: errors in a row.
    """

    def __init__(self, first: float, longest: float, rng: random.Random | None = None) -> None:
        self._first = first
        self._longest = max(first, longest)
        self._rng = rng or random.Random()  # noqa: S311  # spreads load, guards nothing
        self._until = 0.0
        self.failures = 0

    def over(self, now: float) -> bool:
        """Whether it may be tried now."""
        return now >= self._until

    def left(self, now: float) -> float:
        """Seconds until it may be tried."""
        return max(0.0, self._until - now)

    def failed(self, now: float) -> float:
        """It failed once more; seconds until it may be tried."""
        # Beyond 2^30 the bound has long been reached; floats would overflow later.
        span = min(self._longest, self._first * 2.0 ** min(self.failures, 30))
        self.failures += 1
        length = span * (0.5 + self._rng.random() / 2)
        self._until = now + length
        return length

    def worked(self) -> None:
        """It worked: no pause."""
        self._until = 0.0
        self.failures = 0
