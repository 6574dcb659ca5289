"""A sweep comes out the same on DAGMan, on Slurm and here, whatever befalls its runs.

The same bits: of every metric of every epoch, of every network, of the model directory. That holds
on one kind of processor with one kind of linear algebra, which the beds and this machine share.

The short form has three runs, of which one is evicted; ``JOBSIGHT_PROVE=1`` runs the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.integration.sweepbefalls import OnCondor, OnSlurm, OnThisMachine
from tests.integration.sweepproof import (
    SHORT,
    SPACE,
    Sweep,
    assert_same,
    differences,
    open_umask,
    packed,
    program,
)
from tests.support.limits import PROVE, limit, prove
from tests.testbed import HtcondorPool, SlurmCluster
from tests.testbed.fixtures import python_folders
from tests.testbed.sites import SiteCluster, SitePool

Record = Callable[[str, object], None]

WHOLE: dict[str, Any] = {
    "runs": 12, "seed": 184, "epochs": 50, "early_stopping": {"patience": 5},
}  # fmt: skip
PLAN = WHOLE if PROVE else SHORT
LONG = {1, 2, 3, 4} if PROVE else {3}
"""Runs that learn slowly, and so are long enough to be disturbed."""
FAIL = {6, 12} if PROVE else {2}
PATIENCE = 900 if PROVE else 300
"""Seconds that are waited for the end of a sweep at most."""


@pytest.fixture(scope="module")
def expected(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> dict[str, Any]:
    """The result of the sweep on this machine, undisturbed."""
    if PROVE:
        sweep = Sweep.new(tmp_path_factory.mktemp("here") / "sweep", "here", **PLAN)
        sweep.told("submit")
        sweep.check_best()
        result = sweep.result()
    else:
        result = request.getfixturevalue("short_sweep")
    runs = result["runs"]
    failed = {run for run, one in runs.items() if one.end["status"] == "failed"}
    assert failed == FAIL and all("NaN" in runs[run].end["cause"] for run in FAIL)
    assert "early" in {one.end["status"] for one in runs.values()}
    assert all(len(runs[run].epochs) > 15 for run in LONG), {
        run: len(one.epochs) for run, one in runs.items()
    }
    return result


@pytest.fixture
def pool(condor_pool: HtcondorPool, request: pytest.FixtureRequest) -> Iterator[HtcondorPool]:
    """A pool that sees this Python; for the whole form one with few places."""
    require(condor_pool)
    if not PROVE:
        yield condor_pool
        return
    failed = request.session.testsfailed
    own = HtcondorPool(cpus=2, memory=4000, shows=python_folders()).start()
    try:
        yield own
    finally:
        own.stop(keep_logs=request.session.testsfailed > failed)


def require(bed: HtcondorPool | SlurmCluster) -> None:
    """Skip where jobs are not the test bed's own, or cannot run this Python."""
    if isinstance(bed, SitePool | SiteCluster):
        pytest.skip("needs the test bed's own, whose jobs run as another user")
    if not python_folders():
        pytest.skip("jobs cannot see this Python: it lies in /usr")


def on_a_pool(pool: HtcondorPool, name: str, **options: Any) -> OnCondor:
    """A sweep handed over to the pool's DAGMan, with transferred files."""
    with open_umask():
        folder = pool.folder / "work" / name
        how = {"tools": pool.bin, "program": program(pool), **options}
        sweep = Sweep.new(folder, "dagman", **how)
        assert not sweep.told("plan")["shared"]
        submit(sweep, pool)
    return OnCondor(pool, sweep)


def submit(sweep: Sweep, bed: HtcondorPool | SlurmCluster) -> None:
    """Hand over what is all alice's."""
    sweep.own(bed)
    sweep.told("submit")
    sweep.own(bed)


def on_slurm(cluster: SlurmCluster, name: str, **options: Any) -> OnSlurm:
    """A sweep handed over to Slurm."""
    with open_umask():
        folder = cluster.folder / "work" / name
        how = {"tools": cluster.bin, "program": program(cluster), **options}
        sweep = Sweep.new(folder, "slurm", **how)
        sweep.told("plan")
        submit(sweep, cluster)
    return OnSlurm(cluster, sweep)


def finish(sweep: Sweep) -> None:
    """Wait until it is done, with the best of its runs chosen."""
    status = sweep.wait(timeout=PATIENCE)
    assert status["done"], status
    sweep.check_best()


def test_what_befalls_runs_on_a_pool_changes_nothing(
    pool: HtcondorPool, expected: dict[str, Any], record_property: Record
) -> None:
    befalls = on_a_pool(pool, "proof", **PLAN)
    evicted = befalls.wait_training(LONG, 3, timeout=PATIENCE)
    befalls.evict(evicted)
    disturbed = {evicted}
    if PROVE:
        disturbed.add(disturb_more(befalls, evicted, record_property))
    finish(befalls.sweep)
    assert_went_on(befalls.sweep, disturbed, record_property)
    assert_same(befalls.sweep, expected)
    record_property("HTCondor", pool.run("condor_version").split()[1])


def disturb_more(befalls: OnCondor, evicted: int, record_property: Record) -> int:
    """Turn a site off, kill DAGMan, remove the DAG and submit it again; the run that moved."""
    moved = befalls.wait_training(LONG - {evicted}, 3, timeout=PATIENCE)
    site, _ = befalls.training()[moved]
    befalls.switch(site, on=False)
    befalls.kill_manager()
    befalls.wait_ended({evicted, moved}, timeout=PATIENCE)
    (ad,) = befalls.pool.history(f'DAGNodeName == "run-{moved:04d}"')
    assert f"@{site.lower()}@" not in ad["LastRemoteHost"], "it went elsewhere"
    befalls.wait_training(set(range(1, 13)), 1, timeout=PATIENCE)
    befalls.remove_dag()
    status = befalls.sweep.told("status")
    assert not status["active"] and not status["done"]
    kept = {run: befalls.sweep.run_folder(run) / "result.json" for run in range(1, 13)}
    before = {run: file.read_bytes() for run, file in kept.items() if file.exists()}
    assert {evicted, moved} <= before.keys() and len(before) < 12
    befalls.switch(site, on=True)
    submit(befalls.sweep, befalls.pool)
    befalls.sweep.wait(timeout=PATIENCE)
    assert all(kept[run].read_bytes() == body for run, body in before.items()), "done twice"
    record_property("runs done before the DAG was removed", len(before))
    return moved


def test_what_befalls_runs_on_slurm_changes_nothing(
    slurm_cluster: SlurmCluster, expected: dict[str, Any], record_property: Record
) -> None:
    require(slurm_cluster)
    befalls = on_slurm(slurm_cluster, "proof", slurm={"at_once": 3}, **PLAN)
    run = min(LONG)
    befalls.wait_epoch(run, 3, timeout=PATIENCE)
    befalls.requeue(run)
    finish(befalls.sweep)
    assert_went_on(befalls.sweep, {run}, record_property)
    assert_same(befalls.sweep, expected)
    record_property("Slurm", slurm_cluster.run("sinfo", "--version").split()[-1])


@prove
def test_a_run_killed_here_changes_nothing(
    tmp_path: Any, expected: dict[str, Any], record_property: Record
) -> None:
    sweep = Sweep.new(tmp_path / "sweep", "here", here={"processes": 2}, **PLAN)
    with sweep.start() as process:
        run = OnThisMachine(sweep).kill_one(LONG, 3, timeout=PATIENCE)
        said, _ = process.communicate(timeout=limit(PATIENCE))
    assert process.returncode == 0, said
    finish(sweep)
    assert_went_on(sweep, {run}, record_property)
    assert_same(sweep, expected)


def assert_went_on(sweep: Sweep, disturbed: set[int], record_property: Record) -> None:
    """These runs were started twice, and repeated no epoch but one under way."""
    runs = sweep.runs()
    for run in disturbed:
        starts = runs[run].starts
        assert len(starts) >= 2 and starts[1] >= 3 and starts == sorted(starts), (run, starts)
        assert runs[run].repeated < len(starts), (run, starts, runs[run].trained)
    record_property("runs", len(runs))
    record_property("epochs kept when disturbed", [runs[run].starts[1] for run in disturbed])
    record_property("epochs repeated", sum(one.repeated for one in runs.values()))


LEARNED: dict[str, Any] = {
    "method": "bayes", "round": 4, "runs": 7, "epochs": 8, "drop": {"after": 2, "keep": 0.5},
    "parameters": {**SPACE, "weight_decay": {"values": [0.001, 0.01]}},
}  # fmt: skip


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a sweep comes to here whose second round is learned, and whose worst are dropped."""
    sweep = Sweep.new(tmp_path_factory.mktemp("learned") / "sweep", "here", **LEARNED)
    sweep.told("submit")
    sweep.check_best()
    result = sweep.result()
    statuses = [one.end["status"] for one in result["runs"].values()]
    assert len(statuses) == 7 and statuses.count("dropped") >= 2, statuses
    return result


@prove
def test_rounds_are_planned_and_runs_dropped_alike_on_a_pool(
    pool: HtcondorPool, learned: dict[str, Any]
) -> None:
    befalls = on_a_pool(pool, "learned", **LEARNED)
    finish(befalls.sweep)
    assert_same(befalls.sweep, learned)


@prove
def test_rounds_are_planned_and_runs_dropped_alike_on_slurm(
    slurm_cluster: SlurmCluster, learned: dict[str, Any]
) -> None:
    require(slurm_cluster)
    befalls = on_slurm(slurm_cluster, "learned", **LEARNED)
    finish(befalls.sweep)
    assert_same(befalls.sweep, learned)


@prove
def test_a_packed_environment_trains_alike(
    pool: HtcondorPool, expected: dict[str, Any], record_property: Record
) -> None:
    pack = pool.folder / "work/pack.tar"
    told = packed(pack)
    how = {**PLAN, "runs": 2, "resources": {"memory": 1500, "disk": 8000}}
    blas = program(pool)["environment"]
    del blas["NUMBA_CACHE_DIR"]  # of other paths
    befalls = on_a_pool(pool, "packed", program={"pack": str(pack), "environment": blas}, **how)
    befalls.wait_training({1, 2}, 2, timeout=PATIENCE)
    befalls.check_processes()
    finish(befalls.sweep)
    runs = befalls.sweep.runs()
    assert {1, 2} == runs.keys()
    found = list(differences(runs, {run: expected["runs"][run] for run in runs}))
    assert not found, found[:30]
    record_property("packages", len(told["packages"]))
    record_property("bytes packed", told["bytes"])
