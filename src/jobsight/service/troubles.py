"""What went wrong last, when, and since when it is over."""

from __future__ import annotations

import logging
import time
from typing import Any

from jobsight.documents import JSON
from jobsight.errors import JobsightError
from jobsight.service.logs import log
from jobsight.text import printable

__all__ = ["WIDTH", "LastTrouble"]

WIDTH = 300
"""Characters of a trouble's text that are kept."""


class LastTrouble:
    """The last trouble of a source or of the store: told in the log, kept for the status.

    `tell` and `over` belong to one thread, `snapshot` to any.
    """

    def __init__(self) -> None:
        self._last: dict[str, JSON] | None = None

    def tell(self, event: str, error: BaseException, **fields: Any) -> None:
        """Something failed.

        Args:
            event: what, as the log has it.
            error: why; one that is none of ours is told with its type.
            fields: of the log's line.
        """
        text = printable(error, WIDTH)
        if not isinstance(error, JobsightError):
            text = f"{type(error).__name__}: {text}"
        self._last = {"time": _now(), "text": text, "event": event, "over": None}
        log(event, logging.ERROR, **fields, error=text)

    def over(self, event: str | None = None) -> bool:
        """What failed works again; with `event`, if that is what failed last.

        Returns:
            Whether it did not until now.
        """
        last = self._last
        if last is None or last["over"] is not None or event not in (None, last["event"]):
            return False
        self._last = {**last, "over": _now()}
        return True

    def snapshot(self) -> dict[str, JSON] | None:
        """``time``, ``text``, ``event`` and ``over`` (µs since 1970; None: not yet); None: none."""
        return self._last


def _now() -> int:
    return time.time_ns() // 1000
