"""What one run reports while it trains: to its local record always, to W&B where asked for."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from jobsight.errors import OutputError
from jobsight.files import without_nan
from jobsight.learning.tracking.base import RunEnd, StopReason
from jobsight.learning.tracking.wandb import WandbOptions, WandbRun

__all__ = ["RECORD", "Tracker"]

RECORD = "record.jsonl"
"""In a run's folder; `jobsight.learning.sweep.records` reads it."""

_LOG = logging.getLogger(__name__)
LINE_BYTES = 1 << 20


class Tracker:
    """Keeps what one run reports.

    Order: `start` once, then `epoch` after each epoch, then either `stopped` (the run goes on
    later, maybe elsewhere) or `model` and `end`; `close` always, also after errors (the context
    manager does). A tracker that is closed without `end` leaves the run to be continued.

    ``record.jsonl`` gets one line per event, each in one write (times are µs since 1970, spans
    seconds)::

        {"event": "start", "time": …, "run": 7, "attempt": 1, "host": "…", "parameters": {…},
         "epoch": 0, "seed": 0}
        {"event": "epoch", "time": …, "epoch": 1, "train_loss": …, "select_loss": …, …}
        {"event": "note", "time": …, "text": "…"}
        {"event": "stopped", "time": …, "reason": "evicted"}
        {"event": "end", "time": …, "status": "finished", "cause": null, "epochs": 20,
         "best_epoch": 12, "metrics": {…}, "seconds": …, "cpu_seconds": …, "peak_bytes": …}

    A line cut short by a crash is closed off before the next is written. What is not finite is
    null. `attempt` counts the starts that the record already has.

    For one thread. A second attempt that starts while the first still writes spoils nothing.

    Args:
        folder: of the run.
        wandb: how runs are reported to W&B; None: not at all.
        say: gets, in one line, what the user should know; the record keeps it as a note too.

    Raises:
        UsageError: W&B is asked for and its SDK is not installed.
        OutputError: from every method: the record cannot be opened or written; it then ends with a
            whole line, or with a cut one that the next attempt closes off.
    """

    def __init__(
        self,
        folder: Path,
        wandb: WandbOptions | None = None,
        *,
        say: Callable[[str], None] = _LOG.warning,
    ) -> None:
        self._path = folder / RECORD
        self._file: int | None = None
        self._open_line = False
        self._attempts = 0
        self._say = say
        self._wandb = WandbRun(folder, wandb, self._warn) if wandb is not None else None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._file = os.open(self._path, flags, 0o666)
            self._look_back(self._file)
        except OSError as error:
            self.close()
            raise self._explained(error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _look_back(self, file: int) -> None:
        """Count the attempts in the record, and see whether its last line was cut."""
        last = b"\n"
        with os.fdopen(os.dup(file), "rb") as stream:
            while line := stream.readline(LINE_BYTES):
                self._attempts += last.endswith(b"\n") and line.startswith(b'{"event": "start"')
                last = line
        self._open_line = not last.endswith(b"\n")

    def _explained(self, error: OSError) -> OutputError:
        reason = os.strerror(error.errno) if error.errno else str(error)
        return OutputError(
            f"cannot write {self._path}: {reason}; fix that and start the run again, it goes on "
            "from its last checkpoint"
        )

    def _append(self, event: str, values: Mapping[str, Any]) -> None:
        assert self._file is not None  # it was not closed
        whole = {"event": event, "time": time.time_ns() // 1000, **values}
        text = json.dumps(without_nan(whole), allow_nan=False)
        line = b"\n" * self._open_line + text.encode() + b"\n"
        try:
            written = os.write(self._file, line)
            self._open_line = written < len(line)
            if self._open_line:  # the disk took a part: the rest fails with the reason
                os.write(self._file, line[written:])
                self._open_line = False
            # A full or lost network file system says so here, and only here.
            os.fsync(self._file)
        except OSError as error:
            raise self._explained(error) from None

    def _warn(self, text: str) -> None:
        self.note(text)
        self._say(text)

    def start(
        self, *, run: int, parameters: Mapping[str, Any], epoch: int = 0, seed: int = 0
    ) -> None:
        """An attempt begins at a point, JSON data; `epoch` is the last one already done."""
        self._attempts += 1
        values = {"run": run, "attempt": self._attempts, "host": socket.gethostname()}
        more = {"parameters": dict(parameters), "epoch": epoch, "seed": seed}
        self._append("start", {**values, **more})
        if self._wandb:
            self._wandb.start(run, {"run": run, "seed": seed, **parameters})

    def epoch(self, epoch: int, metrics: Mapping[str, float | None]) -> None:
        """An epoch, counted from 1, was trained and its checkpoint is on disk.

        Metrics are ``train_loss``, ``select_loss``, ``seconds`` and those of the held-back rows;
        NaN, infinity and None all mean undefined.
        """
        self._append("epoch", {"epoch": epoch, **metrics})
        if self._wandb:
            self._wandb.epoch(epoch, metrics)

    def note(self, text: str) -> None:
        """Keep one line of what else happened, such as a server out of reach."""
        self._append("note", {"text": text})

    def stopped(self, reason: StopReason) -> None:
        """The attempt ends here, the run does not."""
        self._append("stopped", {"reason": reason})
        if self._wandb:
            self._wandb.stopped(reason)

    def model(self, folder: Path) -> None:
        """The model kept, as files in `folder`, of which W&B gets copies."""
        if self._wandb:
            self._wandb.model(folder)

    def end(self, end: RunEnd) -> None:
        """The run ended for good."""
        self._append("end", {**asdict(end), "metrics": dict(end.metrics or {})})
        if self._wandb:
            self._wandb.end(end)

    def close(self) -> None:
        """Close files and end processes, in bounded time. More than once does no harm."""
        with contextlib.ExitStack() as stack:
            if self._file is not None:
                stack.callback(os.close, self._file)
                self._file = None
            if self._wandb:
                self._wandb.close()
