"""How long to wait after trouble: longer each time, up to a bound, and never in step with others.

"Equal jitter": half of the span is sure, the other half is drawn, so that collectors that lost the
same server do not all come back in one moment.
"""

from __future__ import annotations

import random

__all__ = ["Backoff"]


class Backoff:
    """The pauses of one source.

    Attributes:
        failures: troubles in a row.
    """

    def __init__(self, first: float, longest: float, rng: random.Random | None = None) -> None:
        self._first = first
        self._longest = max(first, longest)
        self._rng = rng or random.Random()  # noqa: S311  # spreads load, guards nothing
        self.failures = 0

    def pause(self) -> float:
        """Seconds to wait after one more trouble."""
        # Beyond 2^30 the bound has long been reached; floats would overflow later.
        span = min(self._longest, self._first * 2.0 ** min(self.failures, 30))
        self.failures += 1
        return span * (0.5 + self._rng.random() / 2)

    def reset(self) -> None:
        """All is well again."""
        self.failures = 0
