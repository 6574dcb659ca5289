"""Sweeps, planned and handed over in tests; what their runs tell, read without Jobsight."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support import small_sweeps
from tests.testbed import HtcondorPool, SlurmCluster
from tests.testbed.namespace import logs_folder, until
from typer.testing import CliRunner

from jobsight.cli.main import app

SPACE: dict[str, Any] = {
    "j": {"distribution": "int_uniform", "min": 2, "max": 6},
    "m": {"distribution": "int_uniform", "min": 10, "max": 24},
    "hidden_size": {"values": [16, 48]},
    "lstm_layers": {"values": [1, 2]},
    # Learns for long, well, and not for long.
    "learning_rate": {"values": [0.00005, 0.004, 0.02]},
    "batch_size": {"distribution": "q_log_uniform_values", "q": 8, "min": 8, "max": 16},
    # The latter lets the loss become NaN.
    "weight_decay": {"values": [0.001, 1e30], "probabilities": [0.8, 0.2]},
}
SHORT: dict[str, Any] = {
    "runs": 3, "seed": 8, "epochs": 30, "early_stopping": {"patience": 5},
}  # fmt: skip
"""A sweep of which run 2 fails and run 3 learns slowly, and so can be disturbed."""
_TAKEN = frozenset({"event", "time", "seconds", "cpu_seconds", "peak_bytes"})
"""What tells how long a run took and what it needed, and may differ."""
_OF_PLACE = frozenset({"sweep", "seconds", "registry", "data"})
"""What in bestmodel.json tells when and where it was made."""


@dataclass(frozen=True)
class Told:
    """What the record of one run tells, and hashes of the network that it kept.

    Attributes:
        run: its number.
        parameters: its point.
        epochs: metrics by epoch; the later line of two counts.
        end: status, cause, epochs, best epoch, metrics.
        network: SHA-256 by file of ``model/``.
        starts: epochs done at each start.
        trained: the number of each epoch told, in order.
    """

    run: int
    parameters: Mapping[str, Any]
    epochs: Mapping[int, Mapping[str, float]]
    end: Mapping[str, Any]
    network: Mapping[str, str]
    starts: Sequence[int] = field(compare=False)
    trained: Sequence[int] = field(compare=False)

    @property
    def repeated(self) -> int:
        """Epochs that were told more than once."""
        return len(self.trained) - len(self.epochs)


def hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of every file under a folder."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def read_run(folder: Path) -> Told:
    """What the record in a run's folder tells."""
    lines = [json.loads(line) for line in (folder / "record.jsonl").read_text().splitlines()]
    epochs = [line for line in lines if line["event"] == "epoch"]
    (end,) = [line for line in lines if line["event"] == "end"]
    starts = [line for line in lines if line["event"] == "start"]
    return Told(
        run=int(folder.name),
        parameters=starts[-1]["parameters"],
        epochs={line["epoch"]: _kept(line) for line in epochs},
        end=_kept(end),
        network=hashes(folder / "model"),
        starts=[line["epoch"] for line in starts],
        trained=[line["epoch"] for line in epochs],
    )


def _kept(line: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in line.items() if key not in _TAKEN}


@dataclass(frozen=True)
class Sweep:
    """A sweep by the command line.

    Attributes:
        file: its config, in a folder of its own, with its log.
        environment: of the commands: where tools are, the registry.
    """

    file: Path
    environment: Mapping[str, str]

    @classmethod
    def new(cls, folder: Path, where: str, *, tools: Path | None = None, **options: Any) -> Sweep:
        """Make the folder, the log and the config."""
        folder.mkdir()
        small_sweeps.write_log(folder / "pool.log")
        told = {
            "where": where,
            "cluster": "small",
            "parameters": SPACE,
            "resources": {"memory": 1000, "disk": 200},
            **options,
        }
        path = os.environ["PATH"]
        environment = {
            "PATH": path if tools is None else os.pathsep.join([str(tools), path]),
            "JOBSIGHT_REGISTRY": str(folder / "models"),
            "TZ": "UTC",
        }
        return cls(small_sweeps.config(folder, **told), environment)

    @property
    def folder(self) -> Path:
        """The folder that it is planned into."""
        return self.file.with_suffix(".sweep")

    def run_folder(self, run: int) -> Path:
        """The folder of a run."""
        return self.folder / f"runs/{run:04d}"

    def told(self, verb: str, *options: str) -> Any:
        """What a command says, as data."""
        result = CliRunner().invoke(
            app, ["sweep", verb, str(self.file), *options, "--json"], env=self.environment
        )
        assert result.exit_code == 0, (verb, result.exception, result.stderr)
        return json.loads(result.stdout)

    def start(self) -> subprocess.Popen[str]:
        """`submit` as a process of its own, in the background."""
        command = [sys.executable, "-m", "jobsight", "sweep", "submit", str(self.file)]
        return subprocess.Popen(
            command, env={**os.environ, **self.environment}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def own(self, bed: HtcondorPool | SlurmCluster) -> None:
        """Give all of it to alice, as whom the work is done."""
        uid, gid = bed.namespace.users["alice"]
        subprocess.run(["chown", "-R", f"{uid}:{gid}", str(self.file.parent)], check=True)

    def wait(self, *, timeout: float) -> dict[str, Any]:
        """Until nobody works on it; how it is then."""

        def ended() -> dict[str, Any] | None:
            now: dict[str, Any] = self.told("status", "--runs")
            return None if now["active"] else now

        found = until(ended, f"{self.file} to end", timeout=timeout, pause=1.0)
        assert found is not None
        return found

    def runs(self) -> dict[int, Told]:
        """What all runs tell, by number."""
        found = [read_run(folder) for folder in sorted((self.folder / "runs").iterdir())]
        return {one.run: one for one in found}

    def result(self) -> dict[str, Any]:
        """All that must be the same wherever the sweep was run, and whatever befell it."""
        facts = json.loads((self.folder / "best/bestmodel.json").read_text())
        model = self.folder / "best/model"
        manifest = json.loads((model / "manifest.json").read_text())
        names = hashes(model)
        del names["manifest.json"]  # tells the path of the log
        return {
            "runs": self.runs(),
            "facts": {key: value for key, value in facts.items() if key not in _OF_PLACE},
            "data": facts["data"]["sha256"],
            "model": names,
            "manifest": {
                key: value for key, value in manifest.items() if key not in ("sources", "sha256")
            },
        }

    def check_best(self) -> Told:
        """bestmodel.info names the run with the best metric of all records; the run."""
        text = (self.folder / "best/bestmodel.info").read_text()
        info = {
            key: json.loads(value)
            for key, _, value in (line.partition(" = ") for line in text.splitlines())
        }
        metric, sign = info["metric"], {"maximize": 1, "minimize": -1}[info["goal"]]
        runs = self.runs()
        good = {
            one.run: sign * one.end["metrics"][metric]
            for one in runs.values()
            if one.end["status"] in ("finished", "early")
        }
        most = max(good.values())
        expected = min(run for run, value in good.items() if value == most)
        best = runs[info["run"]]
        assert best.run == expected, (info["run"], good)
        assert info["value"] == best.end["metrics"][metric]
        assert {key: info[f"parameters.{key}"] for key in best.parameters} == best.parameters
        kept = best.epochs[best.end["best_epoch"]]
        assert kept["select_loss"] == min(one["select_loss"] for one in best.epochs.values())
        looks = json.loads((self.folder / "best/looks.json").read_text())["looks"]
        assert len(looks) == info["model.looks"] == 1, "the test part was looked at once"
        assert {"constant", "rates", "lstm"} <= {
            key.split(".")[2] for key in info if key.startswith("model.test.")
        }
        return best


def differences(one: Any, other: Any, name: str = "") -> Iterator[str]:
    """What differs between two results, as names and values."""
    if isinstance(one, Told) and isinstance(other, Told):
        for key in ("parameters", "epochs", "end", "network"):
            yield from differences(getattr(one, key), getattr(other, key), f"{name}.{key}")
    elif isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in sorted({*one, *other}, key=str):
            yield from differences(one.get(key), other.get(key), f"{name}.{key}")
    elif one != other:
        yield f"{name.lstrip('.')}: {one!r:.200} != {other!r:.200}"


def assert_same(sweep: Sweep, expected: Mapping[str, Any]) -> None:
    """The sweep came to this, bit by bit; where it did not, its folder is kept."""
    found = list(differences(sweep.result(), expected))
    if found:
        kept = logs_folder() / f"sweep-{sweep.file.parent.name}"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(sweep.folder, kept)
        raise AssertionError("\n".join([f"{len(found)} differences; kept {kept}", *found[:30]]))


def epochs_told(record: Path) -> int:
    """How many epochs a record tells of now."""
    try:
        return record.read_text().count('"event": "epoch"')
    except OSError:
        return 0


def packed(archive: Path) -> Any:
    """Pack this environment, with its interpreter; what the command tells of it."""
    command = ["sweep", "pack", "--with-python", "-o", str(archive), "--json"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, (result.exception, result.stderr)
    return json.loads(result.stdout)


def program(bed: HtcondorPool | SlurmCluster) -> dict[str, Any]:
    """How nodes are started in a bed: compiled kernels at hand, and the linear algebra of here.

    OpenBLAS adds in another order on another kind of processor, or where its variables ask it to;
    then metrics differ in their last bits.
    """
    kernels = bed.folder / "work/kernels"
    if not kernels.exists():
        importlib.import_module("jobsight.compiling")  # sets the folder
        compiled = vars(importlib.import_module("numba.core.config"))["CACHE_DIR"]
        shutil.copytree(compiled, kernels)
        uid, gid = bed.namespace.users["alice"]
        subprocess.run(["chown", "-R", f"{uid}:{gid}", str(kernels)], check=True)
    blas = {key: value for key, value in os.environ.items() if key.startswith("OPENBLAS_")}
    return {"environment": {"NUMBA_CACHE_DIR": str(kernels), **blas}}


@contextlib.contextmanager
def open_umask() -> Iterator[None]:
    """Files that are made meanwhile may be changed by alice, as whom jobs run."""
    before = os.umask(0)
    try:
        yield
    finally:
        os.umask(before)
