"""Tracking of runs by Weights & Biases, which never fails, blocks or delays a training for long.

The SDK is in a process of its own (`jobsight.tuning.wandbchild`), to which lines are written
without waiting; only `finish` waits, for at most some seconds, and then ends it.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import logging
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobsight.errors import UsageError
from jobsight.files import without_nan
from jobsight.runtime import install_command
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.tuning.config import TrackingSettings

__all__ = ["Tracker", "open_tracker"]

_LOG = logging.getLogger(__name__)

_PASSED_ON = frozenset(
    {"WANDB_API_KEY", "WANDB_BASE_URL", "WANDB_IDENTITY_TOKEN_FILE", "WANDB_CREDENTIALS_FILE"}
    | {"WANDB_INSECURE_DISABLE_SSL", "WANDB_CONFIG_DIR"}
)
"""Who the user is and where the server is; everything else is decided by the sweep's config."""

PATIENCE = 15.0
"""Seconds to wait for a server when a run starts, and again when it ends."""
_SLACK = 5.0
_BEGINS = 60.0
"""Seconds in which the SDK is imported, on a busy machine."""
_MOST_WAITING = 4 << 20
"""Bytes that the process has not read yet, after which it is given up."""


class Tracker:
    """Reports nothing: what tracking is where it is off.

    An attempt calls `start`, `log` after each epoch, and `finish`. A tracker that is not finished,
    since the training was killed, leaves the run to be continued.
    """

    def start(self, run: int, params: Mapping[str, Any], config: Mapping[str, Any]) -> None:
        """An attempt of run number `run` begins at a point; `config`: what else W&B is to show."""

    def log(self, epoch: int, values: Mapping[str, float | None]) -> None:
        """An epoch, counted from 1, was trained; NaN, infinity and None all mean undefined."""

    def finish(self, summary: Mapping[str, Any], failed: str | None = None) -> None:
        """The attempt ended; `failed`: why, where the run failed or is to resume."""


def open_tracker(
    settings: TrackingSettings,
    folder: Path,
    sweep_name: str,
    *,
    say: Callable[[str], None] = _LOG.warning,
    patience: float = PATIENCE,
) -> Tracker:
    """The tracker of a run.

    Args:
        settings: of the sweep.
        folder: in whose ``wandb/`` the SDK writes, a folder per attempt.
        sweep_name: the group of the sweep's runs.
        say: gets, in one line without any key, what W&B did not do.
        patience: seconds to wait for a server.

    Raises:
        UsageError: W&B is asked for and its SDK is not installed.
    """
    if settings.wandb == "off":
        return Tracker()
    if importlib.util.find_spec("wandb") is None:
        raise UsageError(
            f"tracking with Weights & Biases needs its SDK: {install_command('sweep')}; or write "
            "'wandb: off' under 'tracking'"
        )
    return _Wandb(settings, folder, sweep_name, say, patience)


class _Wandb(Tracker):
    """Reports to W&B: online, or into files that ``wandb sync`` sends later.

    All attempts of a run have one id, made of the sweep's name, the run's number and its point, and
    so are one run of W&B. Online, a server that cannot be reached or refuses the key is reported by
    `say`, and the run is kept in files.
    """

    def __init__(
        self,
        settings: TrackingSettings,
        folder: Path,
        sweep_name: str,
        say: Callable[[str], None],
        patience: float,
    ) -> None:
        self._settings, self._folder, self._group = settings, folder.absolute(), sweep_name
        self._say, self._patience = say, patience
        self._process: subprocess.Popen[bytes] | None = None
        self._scratch = ""
        self._begun = 0.0
        self._waiting = b""

    def start(self, run: int, params: Mapping[str, Any], config: Mapping[str, Any]) -> None:
        online = self._settings.wandb == "online"
        point = json.dumps(without_nan(dict(params)), sort_keys=True, default=str)
        digest = hashlib.sha256(point.encode()).hexdigest()[:8]
        group = re.sub(r"[^0-9A-Za-z_.-]", "-", self._group)[:80]
        request = {
            "mode": self._settings.wandb,
            "folder": str(self._folder),
            "project": self._settings.project,
            "entity": self._settings.entity,
            "tags": self._settings.tags,
            "group": self._group,
            "name": f"{printable(self._group, 80)} {run:04d}",
            "id": f"{group}-{run:04d}-{digest}",
            "patience": self._patience,
            "config": {**config, "run": run, **params},
        }
        self._scratch = tempfile.mkdtemp(prefix="jobsight-wandb-")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", "jobsight.tuning.wandbchild"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._environment(online),
                bufsize=0,
                # A signal to the training's process group leaves it the time to end the run.
                start_new_session=True,
            )
        except OSError as error:
            self._say(f"Weights & Biases: its process does not start: {error.strerror}")
            return
        for stream in (self._process.stdin, self._process.stdout):
            os.set_blocking(stream.fileno(), False)  # type: ignore[union-attr]
        self._begun = time.monotonic()
        self._send(request)

    def _environment(self, online: bool) -> dict[str, str]:
        """Ours, with nothing of W&B's but who the user is, and with places that are removed."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("WANDB_") or (online and name in _PASSED_ON)
        }
        places = {"TMPDIR", "WANDB_CACHE_DIR", "WANDB_DATA_DIR", "WANDB_ARTIFACT_DIR", "WANDB_DIR"}
        places |= set() if online else {"WANDB_CONFIG_DIR"}
        return kept | dict.fromkeys(places, self._scratch) | {"WANDB_ERROR_REPORTING": "false"}

    def log(self, epoch: int, values: Mapping[str, float | None]) -> None:
        known = {k: v for k, v in without_nan(dict(values)).items() if v is not None}
        self._send({**known, "epoch": epoch})

    def finish(self, summary: Mapping[str, Any], failed: str | None = None) -> None:
        why = {} if failed is None else {"failed": printable(failed, 300)}
        self._send({"summary": {**summary, **why}, "failed": failed is not None})
        if (process := self._process) is None:
            return
        assert process.stdin is not None
        begins = self._begun + _BEGINS + self._patience
        deadline = max(time.monotonic() + self._patience + _SLACK, begins)
        while self._waiting and process.poll() is None and time.monotonic() < deadline:
            select.select([], [process.stdin], [], 0.2)
            self._send(None)
        process.stdin.close()
        try:
            process.wait(max(deadline - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            self._say("Weights & Biases: it does not end in time; 'wandb sync' sends what is kept")
        self._close()

    def _send(self, values: Mapping[str, Any] | None) -> None:
        """Write a line as far as the process takes it now, and pass on what it says."""
        if self._process is None:
            return
        assert self._process.stdin is not None
        if values is not None:
            line = json.dumps(without_nan(dict(values)), allow_nan=False, default=str)
            self._waiting += line.encode() + b"\n"
        try:
            while self._waiting:
                sent = os.write(self._process.stdin.fileno(), self._waiting)
                self._waiting = self._waiting[sent:]
        except BlockingIOError:
            if len(self._waiting) > _MOST_WAITING:
                self._say("Weights & Biases: it does not keep up; the rest of the run is left out")
                self._close()
                return
        except OSError:  # it ended, and says why
            self._close()
            return
        self._hear(self._process)

    def _hear(self, process: subprocess.Popen[bytes]) -> None:
        """Pass on the lines that the process wrote."""
        assert process.stdout is not None
        for line in (process.stdout.read() or b"").decode("utf-8", "replace").splitlines():
            self._say(f"Weights & Biases: {printable(line, 300)}")

    def _close(self) -> None:
        """End the process, whatever it does; its service ends with it."""
        process, self._process = self._process, None
        assert process is not None and process.stdin is not None and process.stdout is not None
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self._hear(process)
        process.stdout.close()
        with contextlib.suppress(OSError):
            process.stdin.close()
        shutil.rmtree(self._scratch, ignore_errors=True)
