"""What a run records: one JSON file in its folder, replaced after each epoch.

It has the run's point before the run begins, and is all that comes back from a machine that does
not see the sweep's folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from jobsight.errors import SweepError
from jobsight.files import read_json, write_json

__all__ = ["RECORD", "Epoch", "RunRecord", "run_folder", "started_runs"]

RECORD = "run.json"
_RUNS = "runs"


class Epoch(msgspec.Struct):
    """One epoch; `loss` and `metric` are of the validation block, None where undefined."""

    epoch: int
    train_loss: float | None
    loss: float | None
    metric: float | None
    seconds: float | None


class RunRecord(msgspec.Struct):
    """One run.

    Attributes:
        run: its number, from 1.
        params: its point, by the names of the config.
        state: ``running`` until it ended for good.
        epochs: trained so far.
        value: of the configured metric in its best epoch.
        best_epoch: that epoch.
        metrics: all metrics on the validation block of the best epoch.
        seconds: wall time of all attempts.
        attempts: how often it was started.
        host: where it runs or ran last.
        stopped: why it stopped: ``patience``, ``epochs``, ``pruned``; ``cancelled`` where it was
            interrupted and is to resume.
        started, ended: ISO 8601, UTC.
        error: why it failed, one line.
    """

    run: int
    params: dict[str, Any]
    state: Literal["running", "complete", "pruned", "failed"] = "running"
    epochs: list[Epoch] = []
    value: float | None = None
    best_epoch: int | None = None
    metrics: dict[str, float | None] = {}
    seconds: float = 0.0
    attempts: int = 0
    host: str | None = None
    stopped: str | None = None
    started: str | None = None
    ended: str | None = None
    error: str | None = None

    def attributes(self) -> dict[str, Any]:
        """What a trial keeps of it besides its point, state and values."""
        whole: dict[str, Any] = msgspec.to_builtins(self)
        return {key: whole[key] for key in whole if key not in ("params", "state", "value")}

    def write(self, folder: Path) -> None:
        """Write it into the run's folder.

        Raises:
            OutputError: it cannot be written.
        """
        write_json(folder / RECORD, msgspec.to_builtins(self))

    @classmethod
    def read(cls, folder: Path) -> RunRecord | None:
        """The record in a run's folder; None: there is none.

        Raises:
            SweepError: it is damaged.
        """
        path = folder / RECORD
        try:
            return msgspec.convert(read_json(path, dict), cls)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise SweepError(
                f"{path} is damaged ({error}); remove it, and the run begins anew"
            ) from None


def run_folder(folder: Path, run: int) -> Path:
    """The folder of a run of the sweep in `folder`."""
    return folder / _RUNS / f"{run:04d}"


def started_runs(folder: Path) -> Iterator[RunRecord]:
    """The records of the runs of a sweep's folder, those of damaged ones left out."""
    for path in sorted((folder / _RUNS).glob(f"*/{RECORD}")):
        try:
            record = RunRecord.read(path.parent)
        except SweepError:
            continue
        if record is not None and path.parent.name == f"{record.run:04d}":
            yield record
