"""Sweeps by the command line, on this machine and in test beds; what their folders hold."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support import small_sweeps
from tests.support.limits import PROVE
from tests.testbed import HtcondorPool, SlurmCluster
from tests.testbed.fixtures import python_folders
from tests.testbed.namespace import until
from tests.testbed.sites import SiteCluster, SitePool
from typer.testing import CliRunner

from jobsight.cli.main import app

Bed = HtcondorPool | SlurmCluster
PATIENCE = 900 if PROVE else 300
"""Seconds that are waited for the end of a sweep at most."""

SLOW: dict[str, Any] = {
    "runs": 2,
    "epochs": 12,
    "early_stopping": {"patience": 100},
    "parameters": {
        "hidden_size": {"value": 64},
        "m": {"min": 30, "max": 40},
        "j": {"value": 10},
        "batch_size": {"value": 4},
        "learning_rate": {"values": [0.0001, 0.0002]},
    },
}
"""A sweep whose runs last for seconds, and so can be interrupted."""


@dataclass(frozen=True)
class Sweep:
    """A sweep by the command line.

    Attributes:
        file: its config, in a folder of its own, with its log.
        environment: of the commands: where tools are, the registry.
        bed: whose user alice the work is done as; None: this machine.
    """

    file: Path
    environment: Mapping[str, str]
    bed: Bed | None = None

    @classmethod
    def new(cls, folder: Path, bed: Bed | None = None, **options: Any) -> Sweep:
        """Make the folder, the log and the config."""
        folder.mkdir()
        small_sweeps.write_log(folder / "pool.log")
        content: dict[str, Any] = {
            "cluster": "small",
            "resources": {"memory": 1000, "disk": 200},
            **({} if bed is None else {"program": program(bed)}),
            **options,
        }
        path = os.environ["PATH"]
        environment = {
            "PATH": path if bed is None else os.pathsep.join([str(bed.bin), path]),
            "JOBSIGHT_REGISTRY": str(folder / "models"),
            "TZ": "UTC",
        }
        return cls(small_sweeps.config(folder, **content), environment, bed)

    @property
    def folder(self) -> Path:
        """The folder that it is planned into."""
        return self.file.with_suffix(".sweep")

    def says(self, verb: str, *options: str) -> Any:
        """What a command prints, as data."""
        result = CliRunner().invoke(
            app, ["sweep", verb, str(self.file), *options, "--json"], env=self.environment
        )
        assert result.exit_code == 0, (verb, result.exception, result.output)
        return json.loads(result.stdout)

    def fails(self, verb: str, *options: str) -> str:
        """Why a command fails."""
        call = ["sweep", verb, str(self.file), *options]
        result = CliRunner().invoke(app, call, env=self.environment)
        assert result.exit_code != 0, result.output
        return str(result.exception)

    def start(self) -> subprocess.Popen[str]:
        """`submit` as a process of its own, in the background."""
        return subprocess.Popen(
            [sys.executable, "-m", "jobsight", "sweep", "submit", str(self.file)],
            env={**os.environ, **self.environment},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def submit(self) -> None:
        """Submit what is all alice's."""
        with open_umask():
            self.says("plan")
            self.own()
            self.says("submit")
            self.own()

    def own(self) -> None:
        """Give all of it to alice."""
        assert self.bed is not None
        uid, gid = self.bed.namespace.users["alice"]
        subprocess.run(["chown", "-R", f"{uid}:{gid}", str(self.file.parent)], check=True)

    def wait(self) -> dict[str, Any]:
        """Until nothing works on it; how it is then."""

        def ended() -> dict[str, Any] | None:
            with open_umask():
                now: dict[str, Any] = self.says("status", "--runs")
            return None if now["active"] else now

        status = until(ended, f"{self.file} to end", timeout=PATIENCE, pause=1.0)
        assert status is not None
        return status

    def record(self, run: int) -> dict[str, Any]:
        """What a run recorded; nothing before it is planned."""
        try:
            text = (self.folder / f"runs/{run:04d}/run.json").read_text()
        except FileNotFoundError:
            return {"epochs": [], "state": "running", "attempts": 0}
        record: dict[str, Any] = json.loads(text)
        return record

    def wait_epoch(self, run: int, epoch: int) -> None:
        """Until a run has trained so many epochs."""
        until(
            lambda: len(self.record(run)["epochs"]) >= epoch,
            f"epoch {epoch} of run {run}",
            timeout=PATIENCE,
            pause=0.05,
        )

    def check_best(self) -> dict[str, Any]:
        """bestmodel.info names the run with the best metric of all records, tested once."""
        text = (self.folder / "best/bestmodel.info").read_text()
        info = {
            key: json.loads(value)
            for key, _, value in (line.partition(" = ") for line in text.splitlines())
        }
        sign = {"maximize": 1, "minimize": -1}[info["goal"]]
        records = map(self.record, range(1, sum(self.says("best")["runs"].values()) + 1))
        values = {one["run"]: sign * one["value"] for one in records if one["state"] == "complete"}
        most = max(values.values())
        assert info["run"] == min(run for run, value in values.items() if value == most), values
        best = self.record(info["run"])
        assert info["value"] == best["value"] == best["metrics"][info["metric"]]
        epochs = [sign * one["metric"] for one in best["epochs"]]
        assert sign * best["value"] == max(epochs) == epochs[best["best_epoch"] - 1]
        assert {key: info[f"parameters.{key}"] for key in best["params"]} == best["params"]
        assert len(json.loads((self.folder / "best/looks.json").read_text())["looks"]) == 1
        assert info["model.looks"] == 1 and info["registry.champion"] is True
        assert (self.folder / "report.html").exists() and self.says("status")["done"]
        return info


def program(bed: Bed) -> dict[str, Any]:
    """How runs are started in a bed: compiled kernels at hand."""
    kernels = bed.folder / "work/kernels"
    if not kernels.exists():
        importlib.import_module("jobsight.compiling")  # sets the folder
        compiled = vars(importlib.import_module("numba.core.config"))["CACHE_DIR"]
        shutil.copytree(compiled, kernels)
        uid, gid = bed.namespace.users["alice"]
        subprocess.run(["chown", "-R", f"{uid}:{gid}", str(kernels)], check=True)
    return {"environment": {"NUMBA_CACHE_DIR": str(kernels)}}


def require(bed: Bed) -> None:
    """Skip where jobs are not the test bed's own, or cannot run this Python."""
    if isinstance(bed, SitePool | SiteCluster):
        pytest.skip("needs the test bed's own, whose jobs run as another user")
    if not python_folders():
        pytest.skip("jobs cannot see this Python: it is in /usr")


@contextlib.contextmanager
def open_umask() -> Iterator[None]:
    """Files that are made meanwhile may be changed by alice, as whom jobs run."""
    before = os.umask(0)
    try:
        yield
    finally:
        os.umask(before)
