"""How long to wait after an error: longer each time, up to a bound, with "equal jitter".

Half of the span is fixed, half is random, so that collectors that lost the same server do not all
come back in one moment.
"""

from __future__ import annotations

import random

__all__ = ["Pause"]


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
