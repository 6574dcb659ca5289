"""The decision log: JSON lines of what was known, said, done and refused, and why.

A change is written down before it is made (``"what": "intent"``) and after (``"result"``), so an
intent without its result is one that a kill interrupted. What cannot be written down is not done.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jobsight.clock import format_micros, now_micros
from jobsight.errors import OutputError
from jobsight.files import without_nan

__all__ = ["DecisionLog"]

_MOST_BYTES = 16 << 20
_OLD_FILES = 9
_TAIL = 1 << 20


class DecisionLog:
    """The log of one folder, for one process that writes at a time.

    Attributes:
        path: of the newest file; older ones are ``decisions.jsonl.1`` (newest) to ``.9``.
    """

    def __init__(self, folder: Path, *, most_bytes: int = _MOST_BYTES) -> None:
        self.path = folder / "decisions.jsonl"
        self._most_bytes = most_bytes

    def write(self, what: str, **fields: Any) -> None:
        """Append a line with ``time``, ``what`` and the fields, and wait until it is on the disk.

        Raises:
            OutputError: it cannot be written whole; the log is then as it was.
        """
        record = without_nan({"time": format_micros(now_micros()), "what": what, **fields})
        line = json.dumps(record, ensure_ascii=True, allow_nan=False).encode() + b"\n"
        try:
            self._rotate(len(line))
            self._append(line)
        except OSError as error:
            reason = error.strerror or str(error)
            raise OutputError(
                f"nothing is done that cannot be written down: cannot write {self.path}: {reason}"
            ) from None

    def _append(self, line: bytes) -> None:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        number = os.open(self.path, flags, 0o600)
        try:
            size = os.fstat(number).st_size
            # A kill may have left a line without its end.
            if size and os.pread(number, 1, size - 1) != b"\n":
                line = b"\n" + line
            try:
                if os.write(number, line) != len(line):
                    raise OSError("the disk is full")
                os.fsync(number)
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(number, size)
                raise
        finally:
            os.close(number)

    def _rotate(self, more: int) -> None:
        try:
            size = self.path.stat().st_size
        except FileNotFoundError:
            return
        if size == 0 or size + more <= self._most_bytes:
            return
        for number in range(_OLD_FILES, 0, -1):
            newer = self._old(number - 1) if number > 1 else self.path
            with contextlib.suppress(FileNotFoundError):
                newer.rename(self._old(number))

    def _old(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")

    def latest(self) -> Iterator[dict[str, Any]]:
        """The records of the last MiB of the newest two files, newest first; damage is skipped."""
        for path in (self.path, self._old(1)):
            try:
                with path.open("rb") as stream:
                    stream.seek(max(0, path.stat().st_size - _TAIL))
                    lines = stream.read(_TAIL).splitlines()
            except OSError:
                continue
            for line in reversed(lines):
                with contextlib.suppress(ValueError, RecursionError):
                    record = json.loads(line)
                    if isinstance(record, dict):
                        yield record
