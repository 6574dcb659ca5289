"""What ``--json`` of Slurm's tools prints: its jobs one after another, and values in them.

A number is plain in 22.05 (openapi v0.0.38) and ``{set, infinite, number}`` in newer versions
(data_parser v0.0.39 to v0.0.44); a state is a word, or a list of a state and its flags; an exit
code is the status of wait(2), or an object.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from jobsight.errors import SourceError
from jobsight.history.eventlog.logfiles import LogFile
from jobsight.history.importers.adtext import Piece, cut_json

__all__ = ["JOBS", "OF_QUEUE", "UNSET", "UNSET_MOST", "exit_at", "job_name", "json_jobs",
           "list_at", "text_at", "value_at", "words_at"]  # fmt: skip

UNSET, UNSET_MOST = 0xFFFFFFF0, 0xFFFFFFFF
"""Slurm's words for no value, infinite and the like are the 32-bit numbers of this range."""

JOBS = re.compile(rb'"jobs"\s*:\s*\[')
"""Where the list of jobs begins."""
OF_QUEUE = re.compile(rb'"(accrue_time|job_state|last_backfill)"\s*:')
"""Keys of squeue's and scontrol's JSON that sacct's lacks."""


def json_jobs(
    file: LogFile, data: Iterable[bytes]
) -> Iterator[tuple[Piece, dict[str, Any] | None]]:
    """The jobs of a file with these bytes; None where a piece holds none, see its `fault`.

    Raises:
        SourceError: it has no list of jobs.
    """
    several = iter(data)
    head = next(several, b"")
    begun = JOBS.search(head)
    if begun is None:
        raise SourceError(f'{file.name} has no list "jobs", as --json of Slurm\'s tools prints it')
    lines = b"\n" * head.count(b"\n", 0, begun.end())
    for piece, job in cut_json(itertools.chain([lines + head[begun.end() :]], several)):
        # What follows the jobs ("meta", "errors") is not damage.
        if "job_id" in job if job is not None else not piece.data.startswith((b'"', b"}")):
            yield piece, job


def value_at(value: Any, *path: str) -> Any:
    """What is at a path in JSON, numbers unwrapped; None where nothing is, or no value is set."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    if isinstance(value, dict) and "number" in value:
        if value.get("infinite"):
            return "UNLIMITED"
        return value["number"] if value.get("set") else None
    return value


def text_at(value: Any, *path: str) -> str:
    """The text or whole number at a path; "" where there is none, or a time that is not set."""
    found = value_at(value, *path)
    if type(found) is int:
        return "" if UNSET <= found <= UNSET_MOST and "time" in path[0] else str(found)
    return found if isinstance(found, str) else ""


def list_at(value: Any, *path: str) -> list[Any]:
    """The list at a path; an empty one where there is none."""
    found = value_at(value, *path)
    return found if isinstance(found, list) else []


def words_at(value: Any, *path: str) -> list[str]:
    """The words of a state at a path: a list of them, or one."""
    return [*map(str, list_at(value, *path))] or [text_at(value, *path)]


def exit_at(value: Any, *path: str) -> str:
    """The exit code and signal at a path, as ``3:0``; "" where nothing is."""
    found = value_at(value, *path)
    if found is None:
        return ""
    if type(found) is int:
        return f"{found >> 8 & 255}:{found & 127}"
    signal = text_at(found, "signal", "id") or text_at(found, "signal", "signal_id")
    return f"{text_at(found, 'return_code') or 0}:{signal or 0}"


def job_name(raw: str, array: str, task: str, tasks: str, het: str, offset: str) -> str:
    """The id as users see it."""
    if array not in ("", "0"):
        if task:
            return f"{array}_{task}"
        return f"{array}_[{tasks}]" if tasks else array
    return f"{het}+{offset or 0}" if het not in ("", "0") else raw
