"""Structured log: one line an event of interest, for people or for machines.

An event has a name of one word or a few (``source failed``) and fields. Fields may hold hostile
text (job names, paths, replies of servers): it is bounded and escaped, so that a line stays a line
and a terminal a terminal.
"""

from __future__ import annotations

import json
import logging
import math
from time import monotonic
from typing import Any, Literal

from jobsight.clock import format_micros, now_micros
from jobsight.documents import JSON
from jobsight.errors import JobsightError
from jobsight.files import without_nan
from jobsight.text import printable

__all__ = ["WIDTH", "LastError", "Rate", "log", "set_up"]

_LOGGER = logging.getLogger("jobsight.service")
_WIDTH = 500
"""Characters kept of a field's text."""


def log(event: str, level: int = logging.INFO, **fields: Any) -> None:
    """Log an event with its fields; None: the field is left out."""
    known = {name: value for name, value in fields.items() if value is not None}
    _LOGGER.log(level, "%s", event, extra={"fields": known})


def set_up(form: Literal["text", "json"], *, level: int = logging.INFO) -> None:
    """Send the events of the service of at least that level to standard error, a line each."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Formatter(form))
    _LOGGER.handlers = [handler]
    _LOGGER.setLevel(level)
    _LOGGER.propagate = False
    # A log that cannot be written (full disk, reader gone) must not stop the work.
    logging.raiseExceptions = False


class _Formatter(logging.Formatter):
    """One line per event.

    Text: ``2026-11-21 01:35:00Z info source failed: source="eventlog:…" error="…"``; JSON, in plain
    ASCII: ``{"time": …, "level": …, "event": …, fields}``.
    """

    def __init__(self, form: Literal["text", "json"]) -> None:
        super().__init__()
        self._form = form

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = getattr(record, "fields", {})
        head = {
            "time": format_micros(round(record.created * 1e3) * 1000),
            "level": record.levelname.lower(),
            "event": printable(record.getMessage(), _WIDTH),
        }
        if self._form == "text":
            parts = []
            for name, value in fields.items():
                text = printable(value, _WIDTH)
                bare = text.replace("_", "").replace(".", "").replace("-", "")
                plain = isinstance(value, bool | int | float) or (text.isascii() and bare.isalnum())
                parts.append(f"{name}={text if plain else json.dumps(text, ensure_ascii=False)}")
            return " ".join(head.values()) + (f": {' '.join(parts)}" if parts else "")
        bounded = {
            name: value if isinstance(value, bool | int | float) else printable(value, _WIDTH)
            for name, value in fields.items()
        }
        return json.dumps(without_nan({**bounded, **head}), ensure_ascii=True)


WIDTH = 300
"""Characters of an error's text that are kept."""

_MEMORY_S = 30.0
"""What happened so long ago counts 1/e of what happens now."""


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
