"""Records of runs, read back: ``record.jsonl`` in a run's folder, whole, growing, cut or damaged.

`jobsight.learning.tracking.local` says which lines there are. Reading is tolerant and bounded: a
line that cannot be used is skipped and counted, a later line about the same epoch wins, and of a
record that is far larger than any run writes only the beginning and the end are looked at.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from jobsight.learning.sweep.runrecord import (
    MOST_METRICS,
    Attempt,
    Best,
    Epochs,
    Goal,
    RunRecord,
    RunStatus,
)
from jobsight.learning.tracking import RECORD
from jobsight.text import printable

__all__ = ["Attempt", "Best", "Epochs", "Goal", "RunRecord", "RunStatus", "read_all", "read_record"]

HEAD_BYTES = 1 << 20
TAIL_BYTES = 15 << 20
LINE_BYTES = 1 << 20
MOST_EPOCHS = 100_000
MOST_PARAMETERS = 256
MOST_HOSTS = 64
TEXT = 300
LAST_MICROS = 2**62

SAVED = "saved"
"""Why an attempt stopped that goes on at once; see `StopReason`."""
POINT = "point.json"
RESULT = "result.json"
_NOT_METRICS = frozenset({"event", "time", "epoch"})
_NUMBERED = re.compile(r"\d{1,9}", re.ASCII)


def _integer(value: Any, default: int | None = None, most: int = LAST_MICROS) -> int | None:
    """The value where it is a whole number in [0, most], else the default."""
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most
    return value if good else default


def _number(value: Any) -> float | None:
    """The value as a float; NaN for null and what is not finite; None where it is no number."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    with contextlib.suppress(OverflowError):
        if math.isfinite(value):
            return float(value)
    return math.nan


def _numbers(values: Any, leave_out: frozenset[str] = frozenset()) -> dict[str, float]:
    """The numbers among the items of a JSON object."""
    if not isinstance(values, dict):
        return {}
    found = ((name, _number(value)) for name, value in values.items() if name not in leave_out)
    kept = {printable(name, 80): value for name, value in found if value is not None}
    return dict(list(kept.items())[:MOST_METRICS])


def _text(value: Any) -> str | None:
    return None if value is None else printable(value, TEXT)


_ENDINGS = frozenset(status.value for status in RunStatus if status.ended)


class _Reading:
    """What the lines read so far tell of a run."""

    def __init__(self, folder: Path) -> None:
        number = folder.name
        self.run = int(number) if _NUMBERED.fullmatch(number) else None
        self.status = RunStatus.WAITING
        self.parameters: dict[str, Any] = {}
        self.seed: int | None = None
        self.starts = 0
        self.saves = 0
        self.gone_on = 0
        """Starts that went on from a save."""
        self.hosts: dict[str, None] = {}
        self.history: list[Attempt] = []
        self.repeated = 0
        self.started: int | None = None
        self.last_update: int | None = None
        self.reason: str | None = None
        self.told: dict[int, tuple[int, Mapping[str, float]]] = {}
        self.spent = 0.0
        self.end: dict[str, Any] = {}
        self.notes: list[str] = []
        self.skipped = 0

    def line(self, line: bytes) -> None:
        """Take one line in, or count it as skipped."""
        if not line.strip():
            return
        found: Any = None
        with contextlib.suppress(msgspec.MsgspecError, ValueError, RecursionError):
            found = msgspec.json.decode(line) if len(line) <= LINE_BYTES else None
        if not isinstance(found, dict) or not self._take(found):
            self.skipped += 1
            return
        time = _integer(found.get("time"))
        if time is not None:
            self.last_update = max(time, self.last_update or 0)

    def _take(self, told: dict[str, Any]) -> bool:
        """Whether the line was of use."""
        match told.get("event"):
            case "start":
                return self._start(told)
            case "epoch":
                return self._epoch(told)
            case "note":
                return self._note(told)
            case "stopped":
                return self._stopped(told)
            case "end":
                return self._end(told)
            case _:
                return False

    def _start(self, told: dict[str, Any]) -> bool:
        parameters = told.get("parameters")
        if not isinstance(parameters, dict) or len(parameters) > MOST_PARAMETERS:
            return False
        seed = _integer(told.get("seed"))
        if self.starts and (parameters != self.parameters or seed != self.seed):
            # Another training was begun in the same folder.
            self.told, self.spent, self.history, self.repeated = {}, 0.0, [], 0
        self.parameters, self.seed = parameters, seed
        self.run = _integer(told.get("run"), self.run)
        # The record counts its own starts; the line knows of those that were cut out of it.
        self.starts = max(self.starts + 1, _integer(told.get("attempt"), 0, 10**6) or 0)
        self.gone_on += self.reason == SAVED
        host = _text(told.get("host"))
        if host and len(self.hosts) < MOST_HOSTS:
            self.hosts[host] = None
        if self.started is None:
            self.started = _integer(told.get("time"))
        self._attempt(host, _integer(told.get("time")), _integer(told.get("epoch"), 0) or 0)
        self.status, self.reason, self.end = RunStatus.RUNNING, None, {}
        return True

    def _attempt(self, host: str | None, time: int | None, epoch: int) -> None:
        latest = self.history[-1] if self.history else None
        if latest is not None and latest.ending == SAVED and latest.host == host:
            self._go_on(time, ending=None)
            return
        if latest is not None and latest.ending is None:
            self._go_on(None, ending="lost")
        self.history = [*self.history[1 - MOST_HOSTS :], Attempt(host, time, time, None, epoch)]

    def _go_on(self, time: int | None, **changed: Any) -> None:
        """The attempt under way told something."""
        if self.history:
            latest = self.history[-1]
            self.history[-1] = replace(latest, last=time or latest.last, **changed)

    def _epoch(self, told: dict[str, Any]) -> bool:
        number = _integer(told.get("epoch"), most=10**9)
        if not number or (len(self.told) >= MOST_EPOCHS and number not in self.told):
            return False
        values = _numbers(told, _NOT_METRICS)
        self.repeated += number in self.told
        self._go_on(_integer(told.get("time")), epoch=number)
        self.told[number] = (_integer(told.get("time"), 0) or 0, values)
        seconds = values.get("seconds", 0.0)
        self.spent += seconds if seconds > 0 else 0.0
        if self.status is not RunStatus.RUNNING and not self.end:
            self.status = RunStatus.RUNNING  # its start was lost, or it writes still
        return True

    def _note(self, told: dict[str, Any]) -> bool:
        text = _text(told.get("text"))
        if text and len(self.notes) < MOST_HOSTS:
            self.notes.append(text)
        return bool(text)

    def _stopped(self, told: dict[str, Any]) -> bool:
        self.status, self.reason = RunStatus.STOPPED, _text(told.get("reason"))
        self.saves += self.reason == SAVED
        self._go_on(_integer(told.get("time")), ending=self.reason or "evicted")
        return True

    def _end(self, told: dict[str, Any]) -> bool:
        status = told.get("status")
        if not isinstance(status, str) or status not in _ENDINGS:
            return False
        self.status, self.reason, self.end = RunStatus(status), None, told
        self._go_on(_integer(told.get("time")), ending="end")
        return True

    def record(self, folder: Path, cause: str | None) -> RunRecord:
        """All of it, frozen."""
        end = self.end
        spent, cpu = _number(end.get("seconds")), _number(end.get("cpu_seconds"))
        return RunRecord(
            folder=folder,
            run=self.run,
            status=self.status,
            parameters=self.parameters,
            seed=self.seed,
            attempts=self.starts - self.gone_on,
            saves=self.saves,
            hosts=tuple(self.hosts),
            history=tuple(self.history),
            repeated=self.repeated,
            started=self.started,
            last_update=self.last_update,
            reason=self.reason,
            cause=cause or _text(end.get("cause")),
            epochs=Epochs.of(self.told),
            metrics=_numbers(end.get("metrics")),
            best_epoch=_integer(end.get("best_epoch")),
            seconds=spent if spent is not None and spent >= 0 else self.spent,
            cpu_seconds=cpu if cpu is not None and cpu >= 0 else None,
            peak_bytes=_integer(end.get("peak_bytes")),
            notes=tuple(self.notes),
            skipped=self.skipped,
        )


def _content(path: Path, most: int = HEAD_BYTES + TAIL_BYTES) -> Iterator[bytes]:
    """The lines of a regular file, or the first and the last of one that is too large.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    # A pipe of that name must not keep us waiting for its writer.
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(file, "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(None, "it is no regular file")
        if status.st_size <= most:
            yield from stream.read(most).split(b"\n")
            return
        yield from stream.read(HEAD_BYTES).split(b"\n")
        stream.seek(-TAIL_BYTES, os.SEEK_END)
        yield from stream.read(TAIL_BYTES).split(b"\n")


def _object(path: Path) -> dict[str, Any]:
    """A small JSON object beside the record; empty where there is none that can be read."""
    with contextlib.suppress(OSError, ValueError, RecursionError, msgspec.MsgspecError):
        found = msgspec.json.decode(b"\n".join(_content(path, HEAD_BYTES)))
        return found if isinstance(found, dict) else {}
    return {}


def _complete(reading: _Reading, folder: Path) -> None:
    """What the other files of the folder tell where the record tells nothing."""
    point = _object(folder / POINT)
    parameters = point.get("parameters")
    if isinstance(parameters, dict) and len(parameters) <= MOST_PARAMETERS:
        reading.parameters = parameters
        reading.run = _integer(point.get("run"), reading.run)
    if reading.status is RunStatus.WAITING:
        reading.line(msgspec.json.encode({**_object(folder / RESULT), "event": "end"}))
        reading.skipped = 0


def read_record(
    folder: Path, *, now: int | None = None, lost_after: float | None = None
) -> RunRecord:
    """What a run's folder tells; a folder that is missing or empty is a run that waits.

    Args:
        folder: of one run, e.g. ``runs/0007``.
        now: µs since 1970, for `lost_after`.
        lost_after: seconds of silence after which a run that says it is running counts as `LOST`
            (it was killed and told nobody); not judged where None. Take several epochs.

    Never raises for what the folder holds: a record that cannot be read has the status
    `UNREADABLE`, and `cause` says why.
    """
    reading, cause = _Reading(folder), None
    try:
        for line in _content(folder / RECORD):
            reading.line(line)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        reading.status = RunStatus.UNREADABLE
        cause = printable(f"cannot read {folder / RECORD}: {error.strerror or error}", TEXT)
    if not reading.starts:
        _complete(reading, folder)
    if reading.status is RunStatus.RUNNING and now is not None and lost_after is not None:
        silent = (now - (reading.last_update or 0)) / 1e6
        reading.status = RunStatus.LOST if silent > lost_after else RunStatus.RUNNING
    return reading.record(folder, cause)


def read_all(
    folder: Path, *, now: int | None = None, lost_after: float | None = None
) -> list[RunRecord]:
    """The records of all runs, in order of their numbers.

    Args:
        folder: that holds a folder a run, named by its number (``runs`` of a sweep); one that is
            missing holds none.
        now: see `read_record`.
        lost_after: see `read_record`.
    """
    try:
        names = [name for name in os.listdir(folder) if _NUMBERED.fullmatch(name)]  # noqa: PTH208
    except (FileNotFoundError, NotADirectoryError):
        return []
    names.sort(key=lambda name: (int(name), name))
    return [read_record(folder / name, now=now, lost_after=lost_after) for name in names]
