"""A sweep comes out the same on DAGMan, on Slurm and here, whatever befalls its runs.

The short form has three runs, of which one is evicted; ``JOBSIGHT_PROVE=1`` runs the whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from tests.sweepproof import OnCondor, OnSlurm, Sweep, assert_same, open_umask, program
from tests.testbed import HtcondorPool, SlurmCluster
from tests.testbed.fixtures import python_folders
from tests.testbed.sites import SiteCluster, SitePool

PROVE = bool(os.environ.get("JOBSIGHT_PROVE"))
Record = Callable[[str, object], None]

SHORT: dict[str, Any] = {
    "runs": 3, "seed": 8, "epochs": 30, "early_stopping": {"patience": 5},
}  # fmt: skip
STOPS, FAILS, LONG = 1, 2, 3
"""The runs of the short form: one stops early, one fails, one is long enough to be evicted."""


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the short form comes to here, undisturbed."""
    sweep = Sweep.new(tmp_path_factory.mktemp("here") / "sweep", "here", **SHORT)
    sweep.told("submit")
    sweep.check_best()
    result = sweep.result()
    runs = result["runs"]
    assert runs[STOPS].end["status"] == "early"
    assert runs[FAILS].end["status"] == "failed" and "NaN" in runs[FAILS].end["cause"]
    assert len(runs[LONG].epochs) > 20
    return result


def bed_or_skip(bed: HtcondorPool | SlurmCluster) -> None:
    if isinstance(bed, SitePool | SiteCluster):
        pytest.skip("needs the test bed's own, whose jobs run as another user")
    if not python_folders():
        pytest.skip("jobs cannot see this Python: it lies in /usr")


def test_a_run_evicted_from_a_pool_changes_nothing(
    condor_pool: HtcondorPool, expected: dict[str, Any], record_property: Record
) -> None:
    bed_or_skip(condor_pool)
    with open_umask():
        sweep = Sweep.new(
            condor_pool.folder / "work/proof", "dagman", tools=condor_pool.bin,
            program=program(condor_pool), **SHORT,
        )  # fmt: skip
        assert not sweep.told("plan")["shared"]
        sweep.own(condor_pool)
        sweep.told("submit")
        sweep.own(condor_pool)
    befalls = OnCondor(condor_pool, sweep)
    befalls.wait_epoch(LONG, 3, timeout=240)
    befalls.evict(LONG)
    status = sweep.wait(timeout=300)
    assert status["done"], status
    sweep.check_best()
    assert_went_on(sweep, expected, record_property)


def test_a_run_requeued_by_slurm_changes_nothing(
    slurm_cluster: SlurmCluster, expected: dict[str, Any], record_property: Record
) -> None:
    bed_or_skip(slurm_cluster)
    with open_umask():
        sweep = Sweep.new(
            slurm_cluster.folder / "work/proof", "slurm", tools=slurm_cluster.bin,
            program=program(slurm_cluster), **SHORT,
        )  # fmt: skip
        sweep.told("plan")
        sweep.own(slurm_cluster)
        sweep.told("submit")
    befalls = OnSlurm(slurm_cluster, sweep)
    befalls.wait_epoch(LONG, 3, timeout=240)
    befalls.requeue(LONG)
    status = sweep.wait(timeout=300)
    assert status["done"], status
    sweep.check_best()
    assert_went_on(sweep, expected, record_property)


def assert_went_on(sweep: Sweep, expected: dict[str, Any], record_property: Record) -> None:
    """The long run was started twice, repeated no epoch but one under way, and all is the same."""
    long = sweep.runs()[LONG]
    assert len(long.starts) == 2 and long.starts[1] >= 3, long.starts
    assert long.repeated <= 1
    assert_same(sweep, expected)
    record_property("runs", len(expected["runs"]))
    record_property("epochs kept at the eviction", long.starts[1])
    record_property("epochs repeated", long.repeated)
