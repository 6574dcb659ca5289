"""A run reported to Weights & Biases: as it goes on, or into files that are sent later."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from jobsight.files import without_nan
from jobsight.learning.tracking.base import RunEnd, StopReason
from jobsight.learning.tracking.child import SdkError, SdkProcess, require_sdk

__all__ = ["FOLDER", "WandbOptions", "WandbRun"]

FOLDER = "wandb"
"""In a run's folder: what the SDK writes, a folder an attempt."""

_LINE_SECONDS = 5.0
_OFFLINE_SECONDS = 60.0
"""To start without a server: the SDK takes long to import on a busy machine."""
_SOON = 10.0
_EXIT_SLACK = 3.0


@dataclass(frozen=True)
class WandbOptions:
    """How runs are reported to W&B.

    Attributes:
        entity: user or team; None for the key's own.
        sweep: digest of the sweep: runs are grouped by it, and named by it and their number, so
            that all attempts of one run are one run of W&B.
        run_id: the name that a server gave the run, where its sweep `sweep_id` decides.
        patience: most seconds to wait for a server when a run starts, and again when it ends.
    """

    mode: Literal["online", "offline"] = "offline"
    project: str = "jobsight"
    entity: str | None = None
    tags: tuple[str, ...] = ()
    sweep: str = "sweep"
    run_id: str | None = None
    sweep_id: str | None = None
    patience: float = 15.0


class WandbRun:
    """Reports to W&B, online or into ``wandb/`` in the run's folder; never fails a run.

    Online, a server that cannot be reached within `patience`, or that refuses the key, is reported
    to `say` in one line, and the run is kept offline. The SDK finds the key, in ``WANDB_API_KEY``
    or netrc. Offline nothing reaches the network. ``wandb sync`` sends what was kept; all attempts
    of a run have one id and become one run there.

    Raises:
        UsageError: the SDK is not installed.
    """

    def __init__(self, folder: Path, options: WandbOptions, say: Callable[[str], None]) -> None:
        require_sdk()
        self._folder = folder.absolute()
        self._options = options
        self._say = say
        self._sdk: SdkProcess | None = None

    def start(self, run: int, config: dict[str, Any]) -> None:
        """An attempt begins; `config` is its parameters and seed."""
        if self._options.mode == "offline" or not self._open("online", run, config):
            self._open("offline", run, config)

    def _open(self, mode: Literal["online", "offline"], run: int, config: dict[str, Any]) -> bool:
        options, before = self._options, set(self._attempts())
        request = {
            **asdict(options),
            "mode": mode,
            "folder": str(self._folder),
            "id": options.run_id or f"{options.sweep[:12]}-{run:04d}",
            "name": f"{options.sweep[:8]}-{run:04d}",
            "config": config,
        }
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._sdk = SdkProcess(online=mode == "online")
            seconds = options.patience + _EXIT_SLACK if mode == "online" else _OFFLINE_SECONDS
            self._sdk.ask("open", request, seconds)
        except (SdkError, OSError) as error:
            self.close()
            for attempt in set(self._attempts()) - before:
                shutil.rmtree(attempt, ignore_errors=True)
            kept = "record.jsonl alone" if mode == "offline" else "files; 'wandb sync' sends them"
            self._say(f"Weights & Biases, {mode}: {error}; this run is kept in {kept}")
            return False
        return True

    def _attempts(self) -> list[Path]:
        """The folders that the SDK wrote for attempts of this run."""
        return sorted((self._folder / FOLDER).glob("*run-*"))

    def epoch(self, epoch: int, metrics: Mapping[str, float | None]) -> None:
        """An epoch was trained."""
        known = {
            name: value for name, value in without_nan(dict(metrics)).items() if value is not None
        }
        self._ask("log", {"epoch": epoch, "values": known}, _LINE_SECONDS)

    def model(self, folder: Path) -> None:
        """Copy the model's files next to what the SDK wrote, so that they are sent with it."""
        self._ask("model", {"folder": str(folder.absolute())}, self._options.patience)

    def stopped(self, reason: StopReason) -> None:
        """The attempt ended. W&B shows the run as failed until its next attempt starts.

        Also where it only saves: a server's search would learn from a finished run.
        """
        self._end({"stopped": reason}, 1, min(_SOON, self._options.patience))

    def end(self, end: RunEnd) -> None:
        """The run ended for good."""
        metrics = {f"kept.{name}": value for name, value in (end.metrics or {}).items()}
        facts = {"status": end.status, "cause": end.cause, "best_epoch": end.best_epoch}
        spent = {"cpu_seconds": end.cpu_seconds, "peak_bytes": end.peak_bytes}
        failed = int(end.status == "failed")
        self._end({**facts, **spent, **metrics}, failed, self._options.patience)

    def _end(self, summary: dict[str, Any], status: int, patience: float) -> None:
        self._ask("end", {"summary": summary, "exit": status}, patience)
        self.close()

    def _ask(self, verb: str, values: Mapping[str, Any], patience: float) -> None:
        if self._sdk is None:
            return
        try:
            self._sdk.ask(verb, values, patience + _EXIT_SLACK)
        except SdkError as error:
            self.close()
            self._say(
                f"Weights & Biases: {error}; what it did not take is in record.jsonl, and what "
                f"is in {FOLDER}/ can be sent by 'wandb sync'"
            )

    def close(self) -> None:
        """End the SDK's process, and remove what only its makers would read."""
        if self._sdk is not None:
            sdk, self._sdk = self._sdk, None
            sdk.close()
            for attempt in self._attempts():
                shutil.rmtree(attempt / "logs", ignore_errors=True)
                shutil.rmtree(attempt / "tmp", ignore_errors=True)
