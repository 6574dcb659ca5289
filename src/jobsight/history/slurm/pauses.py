"""Longer and longer pauses after repeated trouble."""

from __future__ import annotations

__all__ = ["Pause"]


class Pause:
    """Whether something in trouble may be tried again; all times are monotonic seconds."""

    def __init__(self, first: float, most: float) -> None:
        self._first = first
        self._most = max(first, most)
        self._length = 0.0
        self._until = 0.0

    def over(self, now: float) -> bool:
        """Whether it may be tried now."""
        return now >= self._until

    def left(self, now: float) -> float:
        """Seconds until it may be tried."""
        return max(0.0, self._until - now)

    def failed(self, now: float) -> None:
        """It failed: pause twice as long as the last time."""
        self._length = min(self._length * 2 or self._first, self._most)
        self._until = now + self._length

    def worked(self) -> None:
        """It worked: no pause."""
        self._length = self._until = 0.0
