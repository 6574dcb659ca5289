"""Records of runs, read back: ``record.jsonl`` in a run's folder, whole, growing, cut or damaged.

`jobsight.learning.tracking` says which lines there are. Reading is tolerant and bounded: a line
that cannot be used is skipped and counted, a later line about the same epoch wins, and a record far
larger than any run writes is not read.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

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

MOST_BYTES = 64 << 20
LINE_BYTES = 1 << 20
MOST_EPOCHS = 100_000
MOST_ATTEMPTS = 64
TEXT = 300

SAVED = "saved"
"""Why an attempt stopped that goes on at once; see `StopReason`."""
POINT = "point.json"
_NOT_METRICS = frozenset({"event", "time", "epoch"})
_NUMBERED = re.compile(r"\d{1,9}", re.ASCII)

Count = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
Parameters = Annotated[dict[str, Any], msgspec.Meta(max_length=256)]


class _Line(msgspec.Struct):
    """What a line may hold; of an epoch also its metrics, which have names of their own."""

    event: Literal["start", "epoch", "note", "stopped", "end"]
    time: Count | None = None
    run: Count | None = None
    attempt: Annotated[int, msgspec.Meta(ge=0, le=10**6)] = 0
    host: str | None = None
    parameters: Parameters | None = None
    epoch: Annotated[int, msgspec.Meta(ge=0, le=10**9)] = 0
    seed: Count | None = None
    reason: str | None = None
    status: Literal["finished", "early", "failed", "dropped"] | None = None
    cause: str | None = None
    metrics: dict[str, Any] = {}
    best_epoch: Count | None = None
    seconds: float | None = None
    cpu_seconds: float | None = None
    peak_bytes: Count | None = None


class _Point(msgspec.Struct):
    parameters: Parameters
    run: Count | None = None


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    """The numbers among the items of a JSON object; NaN for null and what is not finite."""
    kept: dict[str, float] = {}
    for name, value in values.items():
        if name not in _NOT_METRICS and len(kept) < MOST_METRICS:
            if value is None:
                kept[printable(name, 80)] = math.nan
            elif isinstance(value, int | float) and not isinstance(value, bool):
                with contextlib.suppress(OverflowError):
                    kept[printable(name, 80)] = value if math.isfinite(value) else math.nan
    return kept


class _Reading:
    """Fills a record with its lines; `continued` counts the starts that went on from a save."""

    def __init__(self, folder: Path) -> None:
        number = int(folder.name) if _NUMBERED.fullmatch(folder.name) else None
        self.record = RunRecord(folder, number)
        self.epochs: dict[int, tuple[int, Mapping[str, float]]] = {}
        self.starts = 0
        self.continued = 0
        self.ended = False

    def line(self, content: bytes) -> None:
        """Take one line in, or count it as skipped."""
        if not content.strip():
            return
        try:
            if len(content) > LINE_BYTES:
                raise ValueError("too long")
            values = msgspec.json.decode(content)
            line = msgspec.convert(values, _Line)
            used = self._take(line, values)
        except (ValueError, RecursionError):
            used = False
        if not used:
            self.record.skipped += 1
        elif line.time is not None:
            self.record.last_update = max(line.time, self.record.last_update or 0)

    def _take(self, line: _Line, values: dict[str, Any]) -> bool:
        """Whether the line was of use."""
        if line.event == "start":
            return self._start(line)
        if line.event == "epoch":
            return self._epoch(line, values)
        if line.event == "stopped":
            self.record.status = RunStatus.STOPPED
            self._update(line.time, ending=printable(line.reason or "evicted", TEXT))
        elif line.event == "end":
            return self._end(line)
        return True

    def _start(self, line: _Line) -> bool:
        record = self.record
        if line.parameters is None:
            return False
        if self.starts and (line.parameters, line.seed) != (record.parameters, record.seed):
            # Another training was begun in the same folder.
            self.epochs, record.seconds, record.history, record.repeated = {}, 0.0, (), 0
        record.parameters, record.seed = line.parameters, line.seed
        record.run = record.run if line.run is None else line.run
        # The record counts its own starts; the line knows of those that were cut out of it.
        self.starts = max(self.starts + 1, line.attempt)
        record.started = line.time if record.started is None else record.started
        host = None if line.host is None else printable(line.host, TEXT)
        latest = record.history[-1] if record.history else None
        self.continued += latest is not None and latest.ending == SAVED
        if latest is not None and latest.ending == SAVED and latest.host == host:
            self._update(line.time, ending=None)
        else:
            if latest is not None and latest.ending is None:
                self._update(None, ending="lost")
            attempt = Attempt(host, line.time, line.time, None, line.epoch)
            record.history = (*record.history[1 - MOST_ATTEMPTS :], attempt)
        record.status, self.ended = RunStatus.RUNNING, False
        return True

    def _update(self, time: int | None, **changed: Any) -> None:
        """The attempt under way reported something."""
        if self.record.history:
            *before, latest = self.record.history
            self.record.history = (*before, replace(latest, last=time or latest.last, **changed))

    def _epoch(self, line: _Line, values: dict[str, Any]) -> bool:
        record, number = self.record, line.epoch
        if not number or (len(self.epochs) >= MOST_EPOCHS and number not in self.epochs):
            return False
        record.repeated += number in self.epochs
        self._update(line.time, epoch=number)
        self.epochs[number] = (line.time or 0, _numbers(values))
        record.seconds += max(line.seconds or 0.0, 0.0)
        if not self.ended:
            record.status = RunStatus.RUNNING  # its start was lost, or it writes still
        return True

    def _end(self, line: _Line) -> bool:
        record = self.record
        if line.status is None:
            return False
        record.status, self.ended = RunStatus(line.status), True
        record.cause = None if line.cause is None else printable(line.cause, TEXT)
        record.metrics = _numbers(line.metrics)
        record.best_epoch = line.best_epoch
        record.seconds = record.seconds if line.seconds is None else max(line.seconds, 0.0)
        record.cpu_seconds = line.cpu_seconds
        record.peak_bytes = line.peak_bytes
        self._update(line.time, ending="end")
        return True


def _content(path: Path, most: int = MOST_BYTES) -> bytes:
    """What a file of bounded size holds.

    Raises:
        OSError: it cannot be read, or is too large.
    """
    with path.open("rb") as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise OSError(None, f"it is larger than {most >> 20} MiB")
    return content


def read_record(folder: Path) -> RunRecord:
    """The record of a run by its folder (``runs/0007``); one that is missing or empty is waiting.

    Never raises for what the folder holds: a record that cannot be read has the status
    `UNREADABLE`, and `cause` says why.
    """
    reading = _Reading(folder)
    record = reading.record
    try:
        for line in _content(folder / RECORD).split(b"\n"):
            reading.line(line)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        cause = f"cannot read {folder / RECORD}: {error.strerror or error}"
        record.status, record.cause = RunStatus.UNREADABLE, printable(cause, TEXT)
    if not reading.starts:
        with contextlib.suppress(OSError, ValueError, RecursionError):
            point = msgspec.json.decode(_content(folder / POINT, LINE_BYTES), type=_Point)
            record.parameters = point.parameters
            record.run = record.run if point.run is None else point.run
    record.epochs = Epochs.of(reading.epochs)
    record.attempts = reading.starts - reading.continued
    return record


def read_all(folder: Path) -> list[RunRecord]:
    """The records of all runs, in order of their numbers, which name their folders in `folder`."""
    try:
        names = [name for name in os.listdir(folder) if _NUMBERED.fullmatch(name)]  # noqa: PTH208
    except (FileNotFoundError, NotADirectoryError):
        return []
    names.sort(key=lambda name: (int(name), name))
    return [read_record(folder / name) for name in names]
