"""What the status says of each part at work: its last error, and its documents per second."""

from __future__ import annotations

import logging
import math
import time
from time import monotonic
from typing import Any

from jobsight.documents import JSON
from jobsight.errors import JobsightError
from jobsight.service.logs import log
from jobsight.text import printable

__all__ = ["WIDTH", "LastError", "Rate", "now_micros"]

WIDTH = 300
"""Characters of an error's text that are kept."""

_MEMORY_S = 30.0
"""What happened so long ago counts 1/e of what happens now."""


def now_micros() -> int:
    """The time, µs since 1970."""
    return time.time_ns() // 1000


class LastError:
    """The last error of a source or of the store, written to the log and kept for the status.

    `record` and `resolve` belong to one thread, `snapshot` to any.
    """

    def __init__(self) -> None:
        self._last: dict[str, JSON] | None = None

    def record(self, event: str, error: BaseException, **fields: Any) -> None:
        """Log an error under the name `event`, with `fields`, and keep it."""
        text = printable(error, WIDTH)
        if not isinstance(error, JobsightError):
            text = f"{type(error).__name__}: {text}"
        self._last = {"time": now_micros(), "text": text, "event": event, "over": None}
        log(event, logging.ERROR, **fields, error=text)

    def resolve(self, event: str | None = None) -> bool:
        """Mark the last error as over; with `event`, only if that is its name.

        Returns:
            Whether it was not over until now.
        """
        last = self._last
        if last is None or last["over"] is not None or event not in (None, last["event"]):
            return False
        self._last = {**last, "over": now_micros()}
        return True

    def snapshot(self) -> dict[str, JSON] | None:
        """``time``, ``text``, ``event`` and ``over`` (µs since 1970; None: not yet); None: none."""
        return self._last


class Rate:
    """A count per second whose past fades exponentially; steady counts tend to their rate."""

    def __init__(self) -> None:
        self._begun = self._seen = monotonic()
        self._sum = 0.0

    def add(self, count: int) -> None:
        """Count `count` more."""
        self._sum = self._faded() + count

    def value(self) -> float:
        """The count per second."""
        self._sum = self._faded()
        # Early on, only a part of the memory is filled.
        filled = _MEMORY_S * -math.expm1(-max(self._seen - self._begun, 1.0) / _MEMORY_S)
        return self._sum / filled

    def _faded(self) -> float:
        before, self._seen = self._seen, monotonic()
        return self._sum * math.exp((before - self._seen) / _MEMORY_S)
