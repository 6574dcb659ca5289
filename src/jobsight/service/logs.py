"""Structured log: one line an event of interest, for people or for machines.

An event has a name of one word or a few (``source failed``) and fields. Fields may hold hostile
text (job names, paths, replies of servers): it is bounded and escaped, so that a line stays a line
and a terminal a terminal.
"""

from __future__ import annotations

import json
import logging
import sys
from typing import Any, Literal, TextIO

from jobsight.clock import format_micros
from jobsight.files import without_nan
from jobsight.text import printable

__all__ = ["JsonFormatter", "TextFormatter", "log", "set_up"]

_LOGGER = logging.getLogger("jobsight.service")
_WIDTH = 500
"""Characters kept of a field's text."""


def log(event: str, level: int = logging.INFO, **fields: Any) -> None:
    """Log an event with its fields; None: the field is left out."""
    known = {name: value for name, value in fields.items() if value is not None}
    _LOGGER.log(level, "%s", event, extra={"fields": known})


def set_up(
    form: Literal["text", "json"], stream: TextIO | None = None, *, level: int = logging.INFO
) -> None:
    """Send the events of the service to `stream` (default: standard error), a line each.

    Args:
        form: of the lines.
        stream: where they go.
        level: what is below it is not told.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    _LOGGER.handlers = [handler]
    _LOGGER.setLevel(level)
    _LOGGER.propagate = False
    # A log that cannot be written (full disk, reader gone) must not stop the work.
    logging.raiseExceptions = False


class JsonFormatter(logging.Formatter):
    """``{"time": …, "level": …, "event": …, fields}``: plain ASCII, one object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line of JSON."""
        line = {"time": _time(record), "level": record.levelname.lower(), "event": _event(record)}
        fields = {name: _bounded(value) for name, value in _fields(record).items()}
        return json.dumps(without_nan({**fields, **line}), default=_text, ensure_ascii=True)


class TextFormatter(logging.Formatter):
    """``2026-11-21 01:35:00Z info source failed: source="eventlog:…" error="…"``."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line of text."""
        parts = [f"{name}={_shown(value)}" for name, value in _fields(record).items()]
        head = f"{_time(record)} {record.levelname.lower()} {_event(record)}"
        return f"{head}: {' '.join(parts)}" if parts else head


def _time(record: logging.LogRecord) -> str:
    return format_micros(round(record.created * 1e3) * 1000)


def _event(record: logging.LogRecord) -> str:
    return printable(record.getMessage(), _WIDTH)


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] = getattr(record, "fields", {})
    return fields


def _text(value: object) -> str:
    return printable(value, _WIDTH)


def _bounded(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | None) else _text(value)


def _shown(value: Any) -> str:
    """A value as text: in quotes unless it is a number or a plain word."""
    text = _text(value)
    if isinstance(value, bool | int | float):
        return text
    plain = text.isascii() and text.replace("_", "").replace(".", "").replace("-", "").isalnum()
    return text if plain else json.dumps(text, ensure_ascii=False)
