"""One attempt at a run: what it keeps in the run's folder, and what it reports to the tracker."""

from __future__ import annotations

import hashlib
import json
import math
import re
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from jobsight.errors import OutputError
from jobsight.files import read_json, sha256, unfinished, write_json
from jobsight.learning.targets import Target
from jobsight.learning.tracking import Ending, RunEnd, StopReason, Tracker
from jobsight.models.base import Labelled, Model
from jobsight.models.watching import Epoch, EpochRecord, FittingWatch
from jobsight.settings import QuestionSettings

__all__ = ["MODEL", "RESULT", "Attempt", "Saving", "Stop", "Watch", "identity_of", "kept_files",
           "peak_bytes", "read_result"]  # fmt: skip

MODEL, RESULT = "model", "result.json"
SCHEMA = "jobsight.run/1"

Stop = Callable[[], StopReason | None]

SAVE_SECONDS = 600.0
SAVE_TIMES = 10
"""Of what a start takes until it trains: so a save, which makes another necessary, costs no more
than a tenth."""


@dataclass(frozen=True)
class Saving:
    """When a run leaves its machine for a moment, so that what it has is fetched from there.

    Where files are transferred, a checkpoint lies on the machine alone until a scheduler fetches
    it. HTCondor does so when a job leaves with exit status 85, and then starts it again at once,
    where it was. What a machine that dies takes along is what was trained since.

    Attributes:
        every: seconds of training in one attempt, after which it saves behind the epoch under way;
            None: `SAVE_SECONDS`, or `SAVE_TIMES` what it took to begin, if that is longer.
    """

    every: float | None = None

    def due(self, *, begun: float, trained: float, epochs: int, left: int) -> bool:
        """Whether to save now, between two epochs.

        Args:
            begun: seconds that this attempt took until it trained: it read, it built examples.
            trained: seconds of training since.
            epochs: that were trained in these, at least one: so every attempt gets on.
            left: epochs to go at most. What is trained sooner than another attempt would begin is
                not worth a save.
        """
        every = max(SAVE_SECONDS, SAVE_TIMES * begun) if self.every is None else self.every
        return trained >= every and left * trained / epochs > begun


def peak_bytes() -> int:
    """The most memory that this process ever held; 0 where the system does not say.

    Not ``ru_maxrss``, which starts at what the parent held when it forked.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0


class Attempt:
    """What one attempt at a run keeps, and reports to the tracker.

    Attributes:
        epochs: done so far.
    """

    def __init__(
        self,
        folder: Path,
        run: int,
        parameters: Mapping[str, Any],
        settings: QuestionSettings,
        tracker: Tracker,
    ) -> None:
        self.folder, self.run, self.parameters, self.tracker = folder, run, parameters, tracker
        self.epochs = 0
        self._seed = settings.seed
        self._identity = identity_of(settings, parameters)
        self._clock, self._cpu = time.perf_counter(), time.process_time()
        self._before: tuple[EpochRecord, ...] = ()
        self._begun: float | None = None

    def done(self) -> RunEnd | None:
        """The end, where an earlier attempt at this very point came to one."""
        try:
            run, end = read_result(self.folder, self._identity)
        except (OSError, ValueError):
            return None
        return end if run == self.run else None

    def begin(self, before: tuple[EpochRecord, ...] = (), notes: tuple[str, ...] = ()) -> None:
        """Tell, once, that the attempt begins behind these epochs."""
        if self._begun is None:
            self._begun, self._before, self.epochs = time.perf_counter(), before, len(before)
            self.tracker.start(
                run=self.run, parameters=self.parameters, epoch=self.epochs, seed=self._seed
            )
        for note in notes:
            self.tracker.note(note)

    def may_save(self, saving: Saving, left: int) -> bool:
        """Whether it is time to save, as `Saving.due` has it, with so many epochs to go at most."""
        epochs = self.epochs - len(self._before)
        if self._begun is None or epochs < 1:
            return False
        trained = time.perf_counter() - self._begun
        begun = self._begun - self._clock
        return saving.due(begun=begun, trained=trained, epochs=epochs, left=left)

    def end(
        self,
        status: Ending,
        *,
        cause: str | None = None,
        best_epoch: int | None = None,
        metrics: Mapping[str, float | None] | None = None,
        files: Mapping[str, str] | None = None,
    ) -> RunEnd:
        """Tell the end, and write it down last of all: with ``result.json`` the run is over.

        Args:
            status: how it ended.
            cause: why, where it failed or was dropped.
            best_epoch: whose weights are kept.
            metrics: of these.
            files: SHA-256 of the files of ``model/``.

        Returns:
            the end, with what all attempts took.

        Raises:
            OutputError: it cannot be written.
        """
        end = RunEnd(
            status,
            cause,
            self.epochs,
            best_epoch,
            metrics or {},
            seconds=time.perf_counter() - self._clock + _spent(self._before, "seconds"),
            cpu_seconds=time.process_time() - self._cpu + _spent(self._before, "cpu_seconds"),
            peak_bytes=peak_bytes(),
        )
        self.tracker.end(end)
        body = {
            "schema": SCHEMA,
            "event": "end",
            "time": time.time_ns() // 1000,
            "run": self.run,
            "parameters": dict(self.parameters),
            "identity": self._identity,
            "files": dict(files or {}),
            **asdict(end),
        }
        write_json(self.folder / RESULT, body)
        return end

    def keep_model(self, model: Model) -> dict[str, str]:
        """Write the model into ``model/``, in the place of what is there; SHA-256 of its files.

        Raises:
            OutputError: it cannot be written.
        """
        folder = self.folder / MODEL
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with unfinished(folder, 0o777, folder=True) as temporary:
                model.save(temporary)
                shutil.rmtree(folder, ignore_errors=True)
                temporary.rename(folder)
            return kept_files(folder)
        except OSError as error:
            raise OutputError(f"cannot write {folder}: {error.strerror or error}") from None


class Watch(FittingWatch):
    """Measures every epoch on the held-back rows, reports to the tracker, and may stop the run.

    Attributes:
        saving: it stopped the fit itself, so that what there is is fetched.
    """

    def __init__(
        self,
        attempt: Attempt,
        goal: Target,
        select: Labelled,
        stop: Stop,
        saving: Saving | None = None,
    ) -> None:
        self._goal = goal
        self._attempt, self._select, self._stop, self._schedule = attempt, select, stop, saving
        self.saving = False

    def begins(self, records: tuple[EpochRecord, ...], notes: tuple[str, ...]) -> None:
        """See `FittingWatch.begins`."""
        self._attempt.begin(records, notes)

    def measured(self, epoch: Epoch) -> EpochRecord:
        """Losses, time, and all metrics of the held-back rows: they cost milliseconds."""
        rows = self._select
        metrics = self._goal.scores(epoch.select, rows.values, rows.weight) if len(rows) else {}
        spent = {"seconds": epoch.seconds, "cpu_seconds": epoch.cpu_seconds}
        return {**super().measured(epoch), **spent, **metrics}

    def saved(self, number: int, record: EpochRecord) -> None:
        """See `FittingWatch.saved`."""
        self._attempt.epochs = number
        self._attempt.tracker.epoch(number, record)

    def enough(self, left: int) -> bool:
        """See `FittingWatch.enough`."""
        schedule = self._schedule
        self.saving = schedule is not None and self._attempt.may_save(schedule, left)
        return self.saving

    def stop(self) -> bool:
        """See `FittingWatch.stop`."""
        return self._stop() is not None


def kept_files(folder: Path) -> dict[str, str]:
    """SHA-256 of the files in `folder`, by name."""
    return {path.name: sha256(path) for path in sorted(folder.glob("*"))}


def read_result(folder: Path, identity: str) -> tuple[int, RunEnd]:
    """The number of the run that ended in `folder`, and how.

    Args:
        folder: of the run.
        identity: see `identity_of`.

    Raises:
        OSError: ``result.json`` is missing.
        ValueError: they are damaged, changed since, or of a run with other settings.
    """
    saved = read_json(folder / RESULT, dict)
    try:
        if saved["identity"] != identity:
            raise ValueError("it is of a run with other settings or parameters")
        if saved["files"] and saved["files"] != kept_files(folder / MODEL):
            raise ValueError("the model next to it was changed since")
        end = RunEnd(**{field.name: saved[field.name] for field in fields(RunEnd)})
        return int(saved["run"]), end
    except (KeyError, TypeError) as error:
        raise ValueError(f"it is damaged ({type(error).__name__}: {error})") from None


def identity_of(settings: QuestionSettings, parameters: Mapping[str, Any]) -> str:
    """A digest of all that a run is given: the settings that the sweep fixes, and its point."""
    given = {"settings": settings.model_dump(mode="json"), "parameters": dict(parameters)}
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()


def _spent(before: tuple[EpochRecord, ...], name: str) -> float:
    spent = (one.get(name) for one in before)
    return sum(one for one in spent if one is not None and math.isfinite(one))
