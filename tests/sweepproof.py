"""Sweeps whose runs are evicted, killed and moved about; what they tell, read without Jobsight."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from jobsight.cli.main import app
from tests import small_sweeps
from tests.testbed import HtcondorPool, SlurmCluster
from tests.testbed.namespace import logs_folder, until

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
            "manifest": {key: value for key, value in manifest.items() if key != "sources"},
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


@dataclass(frozen=True)
class OnCondor:
    """What befalls the runs of a sweep on a pool."""

    pool: HtcondorPool
    sweep: Sweep

    def job(self, run: int) -> dict[str, Any]:
        """The ad of the job of a run, now in the queue."""
        return self.pool.queue(f'DAGNodeName == "run-{run:04d}"')[0]

    def training(self) -> dict[int, tuple[str, int]]:
        """Site and epochs of each run that is being trained now, as its record there tells."""
        found = {}
        for record in self.pool.folder.glob("state/execute-*/*/runs/*/record.jsonl"):
            site = record.parts[-5].removeprefix("execute-")
            with contextlib.suppress(OSError, ValueError):
                text = record.read_text()
                if '"event": "end"' not in text:
                    found[int(record.parent.name)] = (site, text.count('"event": "epoch"'))
        return found

    def wait_training(self, runs: Collection[int], epoch: int, *, timeout: float) -> int:
        """Until one of these runs has trained so many epochs and trains on; which."""

        def there() -> int | None:
            return next(
                (
                    run
                    for run, (_, done) in self.training().items()
                    if run in runs and done >= epoch
                ),
                None,
            )

        found = until(there, f"epoch {epoch} of runs {sorted(runs)}", timeout=timeout, pause=0.05)
        assert found is not None
        return found

    def wait_ended(self, runs: Collection[int], *, timeout: float) -> None:
        """Until these runs have results."""
        files = [self.sweep.run_folder(run) / "result.json" for run in runs]
        until(
            lambda: all(file.exists() for file in files),
            f"runs {sorted(runs)} to end",
            timeout=timeout,
            pause=0.3,
        )

    def evict(self, run: int) -> None:
        """Have a run go, softly, as for a job of higher priority."""
        self.pool.run("condor_vacate_job", str(self.job(run)["ClusterId"]))

    def switch(self, site: str, *, on: bool) -> None:
        """Turn a site off, or on again."""
        verb = ("condor_on",) if on else ("condor_off", "-graceful")
        self.pool.run(*verb, "-daemon", site)

        def switched() -> bool:
            return (site in self.pool.run("condor_status", "-af", "TestbedSite")) is on

        until(switched, f"{site} to be {'on' if on else 'off'}", timeout=90)

    def check_processes(self) -> None:
        """Runs that train now have all their code from where they were unpacked."""
        seen = 0
        for entry in Path("/proc").glob("[0-9]*"):  # a job has mounts of its own
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_text().split("\0")
                place = str((entry / "cwd").readlink())
                if words[3:6] == ["sweep", "node", "run"] and self.pool.folder.name in place:
                    files = (entry / "maps").read_text()
                    assert "/jobsight-environment/" in files
                    assert sys.prefix not in files
                    seen += 1
        assert seen, "no run was seen"

    def saves(self, run: int) -> int:
        """How often the access point fetched what a run had while it went on."""
        jobs = self.pool.queue(f'DAGNodeName == "run-{run:04d}"')
        return max((int(job.get("CheckpointNumber", -1)) + 1 for job in jobs), default=0)

    @contextlib.contextmanager
    def lose_machine(self, run: int) -> Iterator[str]:
        """Kill -9 what a run's site has, and the run, without a word to anybody; the site.

        It comes back, and takes no job until the block ends.
        """
        site = str(self.job(run)["RemoteHost"]).split("@")[1].upper()
        self.pool.configure([f"{site}.START = False"])
        try:
            pids = [pid for one in self._processes(run) for pid in (self._starter(one), one)]
            self.pool.namespace.kill(f"condor_startd -f -local-name {site}")
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            yield site
        finally:
            self.pool.configure([f"{site}.START = True"])
            until(lambda: site in self.pool.run("condor_status", "-af", "TestbedSite"),
                  f"{site} to be back", timeout=60)  # fmt: skip

    def _processes(self, run: int) -> Iterator[int]:
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_text().split("\0")
                here = self.pool.folder.name in str((entry / "cwd").readlink())
                if here and words[3:7] == ["sweep", "node", "run", str(run)]:
                    yield int(entry.name)

    def _starter(self, pid: int) -> int:
        """The condor_starter that watches over a process."""
        parent = int(Path(f"/proc/{pid}/status").read_text().partition("PPid:")[2].split()[0])
        assert Path(f"/proc/{parent}/comm").read_text().strip() == "condor_starter"
        return parent

    def managers(self) -> set[int]:
        """Processes of DAGMan."""
        found = self.pool.namespace.processes().items()
        return {pid for pid, name in found if name == "condor_dagman"}

    def kill_manager(self) -> None:
        """Kill -9 DAGMan, and wait for the next."""
        before = self.managers()
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        until(lambda: self.managers() - before, "another DAGMan", timeout=90)

    def remove_dag(self) -> None:
        """Remove the DAG, as its user would, and wait until all of it is gone."""
        (dag,) = self.pool.queue('regexp("condor_dagman", Cmd)')
        self.pool.run("condor_rm", str(dag["ClusterId"]), user="alice")
        until(lambda: not self.pool.queue(), "the queue to be empty", timeout=90)


@dataclass(frozen=True)
class OnThisMachine:
    """What befalls the runs of a sweep here."""

    sweep: Sweep

    def kill_one(self, runs: Collection[int], epoch: int, *, timeout: float) -> int:
        """Kill -9 the process of the first of these runs that has so many epochs; which."""

        def there() -> tuple[int, int] | None:
            for run in runs:
                if epochs_told(self.sweep.run_folder(run) / "record.jsonl") >= epoch:
                    for pid in self._processes(run):
                        return run, pid
            return None

        found = until(there, f"epoch {epoch} of runs {sorted(runs)}", timeout=timeout, pause=0.05)
        assert found is not None
        os.kill(found[1], signal.SIGKILL)
        return found[0]

    def _processes(self, run: int) -> Iterator[int]:
        end = f"sweep node run {run} .".split()
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_text().rstrip("\0").split("\0")
                here = (entry / "cwd").readlink() == self.sweep.folder
                if here and words[-5:] == end and words[1:3] == ["-m", "jobsight"]:
                    yield int(entry.name)


@dataclass(frozen=True)
class OnSlurm:
    """What befalls the runs of a sweep on a cluster."""

    cluster: SlurmCluster
    sweep: Sweep

    def wait_epoch(self, run: int, epoch: int, *, timeout: float) -> None:
        """Until a run has trained so many epochs."""
        record = self.sweep.run_folder(run) / "record.jsonl"
        there = lambda: epochs_told(record) >= epoch  # noqa: E731
        until(there, f"epoch {epoch} of run {run}", timeout=timeout, pause=0.05)

    def requeue(self, run: int) -> None:
        """Have a run go, and queue it again."""
        state = self.sweep.folder / f"submitted/state/run-{run:04d}.jsonl"
        lines = [json.loads(line) for line in state.read_text().splitlines() if line]
        self.cluster.requeue(lines[-1]["job"])


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
        importlib.import_module("jobsight.jit")  # sets the folder
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
