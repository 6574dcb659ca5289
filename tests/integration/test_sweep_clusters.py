"""The same small sweep by the real DAGMan, the real Slurm and here: one best model, bit by bit."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests import small_sweeps
from tests.dagplans import first_in_path
from tests.testbed import HtcondorPool
from tests.testbed.namespace import until
from tests.testbed.sites import SiteCluster, SitePool
from tests.testbed.slurm import SlurmCluster
from typer.testing import CliRunner

from jobsight.cli.main import app


def told(*arguments: object) -> Any:
    result = CliRunner().invoke(app, ["sweep", *map(str, arguments), "--json"])
    assert result.exit_code == 0, (result.exception, result.stderr)
    return json.loads(result.stdout)


def prepare(folder: Path, where: str, **options: Any) -> Path:
    """The config of a sweep in a new folder, with its log."""
    folder.mkdir()
    small_sweeps.write_log(folder / "pool.log")
    return small_sweeps.config(
        folder,
        where=where,
        runs=2,
        resources={"memory": 1000, "disk": 200},
        cluster="small",
        **options,
    )


def wait(file: Path) -> dict[str, Any]:
    """Until the scheduler is done with it; what is known of the best run then."""

    def ended() -> dict[str, Any] | None:
        progress: dict[str, Any] = told("status", file)
        return None if progress["active"] else progress

    progress = until(ended, "the sweep to end", timeout=300, pause=1.0)
    assert progress is not None and progress["done"], progress
    best: dict[str, Any] = told("best", file)
    return best


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the sweep comes to on this machine."""
    folder = tmp_path_factory.mktemp("here")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        patch.setenv("JOBSIGHT_REGISTRY", str(folder / "models"))
        file = prepare(folder / "sweep", "here")
        told("submit", file)
        facts: dict[str, Any] = told("best", file)
    return facts


def compare(facts: dict[str, Any], expected: dict[str, Any]) -> None:
    same = ("sweep", "run", "metric", "value", "parameters", "best_epoch", "select", "versions")
    assert {key: facts[key] for key in same} == {key: expected[key] for key in same}
    assert facts["data"]["sha256"] == expected["data"]["sha256"]
    assert facts["model"]["test"] == expected["model"]["test"]


def own(pool: HtcondorPool | SlurmCluster, folder: Path) -> None:
    """Give a folder to alice, as whom the work is done."""
    uid, gid = pool.namespace.users["alice"]
    subprocess.run(["chown", "-R", f"{uid}:{gid}", str(folder)], check=True)


def test_dagman_gives_the_same_best_model(
    condor_pool: HtcondorPool, monkeypatch: pytest.MonkeyPatch, expected: dict[str, Any]
) -> None:
    if isinstance(condor_pool, SitePool):
        pytest.skip("needs the test bed's own pool: its jobs run as another user")
    folder = condor_pool.folder / "work/sweep"
    monkeypatch.setenv("PATH", first_in_path(condor_pool))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("JOBSIGHT_REGISTRY", str(folder / "models"))
    file = prepare(folder, "dagman")
    planned = told("plan", file)
    assert not planned["shared"]
    own(condor_pool, folder)
    told("submit", file)
    own(condor_pool, folder)
    compare(wait(file), expected)


def test_slurm_gives_the_same_best_model(
    slurm_cluster: SlurmCluster, monkeypatch: pytest.MonkeyPatch, expected: dict[str, Any]
) -> None:
    if isinstance(slurm_cluster, SiteCluster):
        pytest.skip("needs the test bed's own cluster: its jobs run as another user")
    folder = slurm_cluster.folder / "work/sweep"
    monkeypatch.setenv("PATH", os.pathsep.join([str(slurm_cluster.bin), os.environ["PATH"]]))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("JOBSIGHT_REGISTRY", str(folder / "models"))
    before = os.umask(0)
    try:
        file = prepare(folder, "slurm")
        told("plan", file)
        own(slurm_cluster, folder)
        told("submit", file)
        compare(wait(file), expected)
    finally:
        os.umask(before)
