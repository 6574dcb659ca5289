"""Documents per second, lately."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

__all__ = ["Rate"]

_MEMORY_S = 30.0
"""What happened so long ago counts 1/e of what happens now."""


class Rate:
    """A count per second whose past fades exponentially; steady counts tend to their rate."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._begun = self._seen = now()
        self._sum = 0.0

    def add(self, count: int) -> None:
        """`count` more."""
        self._fade()
        self._sum += count

    def value(self) -> float:
        """Per second."""
        self._fade()
        # Early on, only so much of the memory has been filled.
        filled = _MEMORY_S * -math.expm1(-max(self._seen - self._begun, 1.0) / _MEMORY_S)
        return self._sum / filled

    def _fade(self) -> None:
        now = self._now()
        self._sum *= math.exp(-(now - self._seen) / _MEMORY_S)
        self._seen = now
