"""A run that is sent its files saves as it goes, and a machine that dies costs what came since."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.integration.sweepbefalls import OnCondor
from tests.integration.sweepproof import Sweep, differences, open_umask, program, read_run
from tests.support.limits import prove
from tests.testbed import HtcondorPool
from tests.testbed.condor import Ad
from tests.testbed.fixtures import python_folders
from tests.testbed.namespace import until
from tests.testbed.sites import SitePool

from jobsight.cluster import NodeState, NodeStatus, Plan
from jobsight.cluster.dagman import Dagman
from jobsight.learning.sweep.layout import Layout
from jobsight.learning.sweep.planning import read_plan
from jobsight.learning.sweep.records import read_record

POINT = {"m": 20, "j": 6, "hidden_size": 48, "learning_rate": 0.0005, "batch_size": 8}
Record = Callable[[str, object], None]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Where the run is trained on this machine."""
    return tmp_path / "here"


@pytest.fixture
def befalls(
    condor_pool: HtcondorPool, monkeypatch: pytest.MonkeyPatch, here: Path
) -> Iterator[OnCondor]:
    """One run of a sweep whose logs are parsed, handed to the pool's DAGMan alone."""
    pool = condor_pool
    if isinstance(pool, SitePool) or not python_folders():
        pytest.skip("needs the test bed's own pool, and a Python that its jobs can see")
    with open_umask():
        sweep = Sweep.new(
            pool.folder / "work/saves", "dagman", tools=pool.bin, program=program(pool),
            parameters={name: {"value": value} for name, value in POINT.items()},
            runs=1, epochs=100_000, early_stopping={"patience": 110}, save_every=2,
            dagman={"job_lease_duration": 20},
        )  # fmt: skip
        sweep.told("plan")
        (sweep.folder / "pool.log").symlink_to(sweep.file.with_name("pool.log"))  # as if sent
        kernels = program(pool)["environment"]["NUMBA_CACHE_DIR"]
        monkeypatch.setenv("NUMBA_CACHE_DIR", kernels)
        node(sweep.folder, "parse", "s01")
        shutil.copytree(sweep.folder, here)
        node(here, "run", "1", "--until", "1")  # compiles what is not, for the jobs too
    monkeypatch.setenv("PATH", sweep.environment["PATH"])
    with open_umask():
        sweep.own(pool)
        subprocess.run(["chown", "-R", "--reference", sweep.file, kernels], check=True)
        Dagman().submit(runs_alone(sweep))
        sweep.own(pool)
    yield OnCondor(pool, sweep)
    pool.remove_all()


def runs_alone(sweep: Sweep) -> Plan:
    """The stage of its plan that trains."""
    plan = read_plan(Layout(sweep.folder))
    return replace(plan, stages=tuple(one for one in plan.stages if one.name == "runs"))


def node(folder: Path, *words: str) -> None:
    """Do here what a node does."""
    command = [sys.executable, "-m", "jobsight", "sweep", "node", *words, "."]
    subprocess.run(command, cwd=folder, env={**os.environ, "TZ": "UTC"}, check=True)


def trained(befalls: OnCondor) -> int:
    """Epochs that the run has told where it is trained."""
    return befalls.training().get(1, ("", 0))[1]


def wait_saved(befalls: OnCondor, times: int) -> None:
    """Until so many saves were fetched, and an epoch was trained since."""
    until(lambda: befalls.saves(1) >= times, f"save {times}", timeout=90, pause=0.3)
    before = trained(befalls)
    until(lambda: trained(befalls) > before, "another epoch", timeout=60, pause=0.1)


@prove
def test_a_machine_that_dies_costs_what_was_trained_since_the_last_save(
    befalls: OnCondor, here: Path, record_property: Record
) -> None:
    sweep = befalls.sweep
    wait_saved(befalls, 2)
    (now,) = sweep.told("status", "--runs")["runs"]
    assert (now["state"], now["attempts"], now["cause"]) == ("running", 1, None)
    cluster = befalls.job(1)["ClusterId"]
    with befalls.lose_machine(1) as site:
        save_seldom(befalls)
        node(here, "run", "1")
        befalls.wait_ended({1}, timeout=120)
    until(lambda: befalls.pool.history(f"ClusterId == {cluster}"), "the job's exit", timeout=60)
    check(befalls, befalls.pool.job(cluster), site, record_property)
    assert not list(differences(read_run(sweep.run_folder(1)), read_run(here / "runs/0001")))


def check(befalls: OnCondor, ad: Ad, site: str, record_property: Record) -> None:
    """It went on elsewhere, from the second save; saves are neither starts nor evictions."""
    folder = befalls.sweep.run_folder(1)
    told, record = read_run(folder), read_record(folder)
    saves = (folder / "record.jsonl").read_text().count('"reason": "saved"')
    assert saves >= 2 and record.repeated == 0
    assert told.starts[0] == 0 and 0 < told.starts[1] < told.starts[2]
    assert {one.ending for one in record.history} == {"end"}  # one host name, of two sites
    assert f"@{site.lower()}@" not in ad["LastRemoteHost"]
    until(lambda: as_node(befalls).state is NodeState.DONE, "the end to be told", timeout=20)
    assert (as_node(befalls).attempts, as_node(befalls).cause) == (2, None)
    record_property("saves", saves)
    record_property("seconds of a save", costs(folder))


def save_seldom(befalls: OnCondor) -> None:
    """Two saves are enough: each takes seconds."""
    job = befalls.job(1)
    words = str(job["Arguments"]).replace("--save-every 2", "--save-every 9999")
    befalls.pool.run("condor_qedit", str(job["ClusterId"]), "Arguments", json.dumps(words))


def as_node(befalls: OnCondor) -> NodeStatus:
    """The run as the events of its job tell of it."""
    return Dagman().status(runs_alone(befalls.sweep)).nodes["run-0001"]


def costs(folder: Path) -> list[float]:
    """Seconds from each save until training went on; that behind the second tells of the death."""
    lines = [json.loads(line) for line in (folder / "record.jsonl").read_text().splitlines()]
    lines = [line for line in lines if line["event"] in ("stopped", "start")]
    spans = zip(lines[1::2], lines[2::2], strict=False)
    return [round((after["time"] - save["time"]) / 1e6, 1) for save, after in spans]
