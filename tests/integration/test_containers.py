"""Sweeps whose runs are in containers, by a real Apptainer: here, on Slurm, and on a pool.

The image is Debian 12 on machines that are Debian 13, and alone has a program called `jobsight`.
What comes out is the same, bit by bit, as without containers: Python and packages are these very
ones, which the machines show to their containers.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tests.integration.sweepbefalls import OnCondor, OnSlurm
from tests.integration.sweepproof import SHORT, Sweep, assert_same, open_umask, program
from tests.support.limits import PROVE, prove
from tests.testbed import BedError, HtcondorPool, SlurmCluster, Unavailable, containers
from tests.testbed.containers import image, pack_image
from tests.testbed.fixtures import python_folders
from tests.testbed.namespace import until
from tests.testbed.roots import cache_folder
from tests.testbed.sites import SiteCluster, SitePool

from jobsight.cluster import Node, NodeState, Plan, PlanStatus, Program, Resources, Stage
from jobsight.cluster.dagman import Dagman
from jobsight.cluster.slurm import Slurm
from jobsight.settings import SlurmSettings

pytestmark = pytest.mark.usefixtures("apptainer")

SLOW = {3}
"""The run of the sweep that can be disturbed."""
_Bed = TypeVar("_Bed", HtcondorPool, SlurmCluster)
PATIENCE = 900 if PROVE else 200


@pytest.fixture(scope="module")
def cluster(slurm_cluster: SlurmCluster) -> SlurmCluster:
    return require(slurm_cluster)


@pytest.fixture(scope="module")
def pool(condor_pool: HtcondorPool) -> HtcondorPool:
    return require(condor_pool)


def require(bed: _Bed) -> _Bed:
    """Skip where a bed's machines are not ours; make the images in it."""
    if isinstance(bed, SitePool | SiteCluster):
        pytest.skip("needs the test bed's own, to whose containers this Python is shown")
    if not python_folders():
        pytest.skip("jobs cannot see this Python: it lies in /usr")
    folder = image(bed.folder / "work/image")
    pack_image(bed.namespace, folder, bed.folder / "work/image.sif")
    with pytest.raises(BedError, match=r"127|No such file"):
        bed.run("jobsight", "--version", user="alice")  # but in the image there is none
    return bed


@prove
def test_a_sweep_here_is_the_same_in_containers(
    cluster: SlurmCluster, short_sweep: dict[str, Any]
) -> None:
    """Here is a machine of the cluster: it has Apptainer, and this one may not."""
    with open_umask():
        sweep = planned(cluster, "here", {"image": "../image.sif"})
        sweep.own(cluster)
        environment = [f"{key}={value}" for key, value in sweep.environment.items()]
        jobsight = ["env", *environment, sys.executable, "-m", "jobsight"]
        cluster.namespace.run(
            *jobsight, "sweep", "submit", str(sweep.file),
            user="alice", timeout=PATIENCE, processes=True,
        )  # fmt: skip
    assert sweep.told("status")["done"]
    assert_same(sweep, short_sweep)


def planned(bed: HtcondorPool | SlurmCluster, where: str, how: dict[str, Any]) -> Sweep:
    """A sweep in a folder of its own, ready to be handed over."""
    folder = bed.folder / "work" / f"contained-{where}"
    tools = None if where == "here" else bed.bin
    told = {"program": {**program(bed), **how}, **SHORT}
    sweep = Sweep.new(folder, where, tools=tools, **told)
    sweep.told("plan")
    sweep.own(bed)
    return sweep


@prove
def test_a_sweep_on_slurm_is_the_same_in_containers(
    cluster: SlurmCluster, short_sweep: dict[str, Any]
) -> None:
    with open_umask():
        sweep = planned(cluster, "slurm", {"image": "../image"})
        sweep.told("submit")
        sweep.own(cluster)
        befalls = OnSlurm(cluster, sweep)
        befalls.wait_epoch(min(SLOW), 3, timeout=PATIENCE)
        befalls.requeue(min(SLOW))
    finish(sweep)
    assert_same(sweep, short_sweep)


def finish(sweep: Sweep) -> None:
    status = sweep.wait(timeout=PATIENCE)
    assert status["done"], status
    if PROVE:
        (run,) = SLOW
        told = sweep.runs()[run]
        assert len(told.starts) == 2 and told.starts[1] >= 3, "it went on from its checkpoint"
        assert told.repeated <= 1


PROGRAM = r"""
case $1 in
    see) echo "$PWD|$(cat "$2")|$(ls "$3" 2>&1 | wc -l)|$PYTHONPATH|$PYTHONNOUSERSITE" > out/seen
         cat /etc/debian_version >> out/seen ;;
    save) trap 'echo saved >> out/save; exit 85' USR1
          [ ! -s out/save ] || exit 0
          : > out/save; sleep 600 & wait $! ;;
    fail) echo "it broke" >&2; exit 3 ;;
esac
"""


def submitted(
    cluster: SlurmCluster, name: str, how: str, *nodes: Node
) -> tuple[Callable[[], PlanStatus], Plan]:
    """A plan of a shell script in an image, handed over to Slurm; how it is asked about."""
    scheduler = Slurm(SlurmSettings(bin=cluster.bin))
    with open_umask(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", "/of/the/machine")
        folder = cluster.folder / "work" / name
        (folder / "out").mkdir(parents=True)
        (folder / "program.sh").write_text(PROGRAM)
        # Without its temporary folder and its home, nothing is seen but what is named.
        apart = {"APPTAINER_NO_MOUNT": "tmp,home"}
        contained = Program(("sh", "program.sh"), image=how, environment=apart)
        plan = Plan("contained", folder, (Stage("all", nodes),), contained, shared=True)
        scheduler.write(plan)
        scheduler.submit(plan)
    return lambda: scheduler.status(plan), plan


def test_a_container_sees_what_is_named_and_is_told_to_save(cluster: SlurmCluster) -> None:
    work = cluster.folder / "work"
    (work / 'logs, "x"').mkdir(mode=0o777)
    log = work / 'logs, "x"/it\'s'
    log.write_text("read")
    small = Resources(memory_mb=200)
    see = Node("see", ("see", str(log), str(work)), inputs=(str(log),), resources=small)
    save = Node("save", ("save",), resources=small, checkpoints=True)
    ask, plan = submitted(cluster, 'it\'s "a, b"=c $d', str(work / "image.sif"), see, save)
    saved = plan.folder / "out/save"
    until(saved.exists, "the node to run", timeout=60)
    job = ask().nodes["save"].job
    assert job is not None
    cluster.run("scancel", "--batch", "--signal=USR1", job)
    until(lambda: not ask().active, "the plan to end", timeout=90, pause=1)
    status = ask()
    assert {one.state for one in status.nodes.values()} == {NodeState.DONE}, status
    assert saved.read_text() == "saved\n" and status.nodes["save"].attempts == 2
    seen, debian = (plan.folder / "out/seen").read_text().splitlines()
    assert seen.split("|") == [str(plan.folder), "read", "2", "", "1"], "its folder, and the log's"
    assert debian.startswith("12")


def test_what_fails_in_a_container_or_for_want_of_one_is_told(cluster: SlurmCluster) -> None:
    work = cluster.folder / "work"
    small = Resources(memory_mb=200)
    fails = Node("fails", ("fail",), resources=small)
    ask, _ = submitted(cluster, "fails", str(work / "image"), fails)
    other, _ = submitted(cluster, "none", str(work / "no.sif"), fails)
    until(lambda: not (ask().active or other().active), "both to end", timeout=60, pause=1)
    assert ask().nodes["fails"].cause == "ended with status 3: it broke"
    cause = other().nodes["fails"].cause
    assert cause is not None and "no.sif" in cause and "ended with status 255" in cause


@prove
def test_a_pool_that_shares_folders_runs_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder lies not below /tmp, of which HTCondor gives containers one of their own."""
    monkeypatch.setattr(tempfile, "tempdir", str(cache_folder()))
    with HtcondorPool(sites=("ALPHA",)) as pool, open_umask():
        folder = pool.folder / "work/shared"
        (folder / "out").mkdir(parents=True)
        (folder / "program.sh").write_text(PROGRAM)
        (folder / "log").write_text("read")
        file = pack_image(pool.namespace, image(folder / "image"), folder / "image.sif")
        see = Node("see", ("see", "log", "/work"), resources=Resources(memory_mb=100, disk_mb=10))
        contained = Program(("sh", "program.sh"), image=str(file))
        plan = Plan("shared", folder, (Stage("all", (see,)),), contained, shared=True)
        scheduler = handed_over(pool, plan, monkeypatch)
        until(lambda: not scheduler.status(plan).active, "the plan to end", timeout=90, pause=1)
        status = scheduler.status(plan)
        assert status.nodes["see"].state is NodeState.DONE, status
        seen, debian = (folder / "out/seen").read_text().splitlines()
        assert seen.startswith(f"{folder}|read|") and debian.startswith("12")


def test_a_machine_on_which_no_container_starts_is_left(
    pool: HtcondorPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_umask():
        folder = pool.folder / "work/left"
        (folder / "out").mkdir(parents=True)
        (folder / "no.sif").write_text("no image")
        asked = Resources(memory_mb=100, disk_mb=10)
        node = Node("see", ("see",), outputs=("out",), resources=asked)
        contained = Program(("sh",), image=str(folder / "no.sif"))
        plan = Plan("left", folder, (Stage("all", (node,)),), contained, shared=False)
        scheduler = handed_over(pool, plan, monkeypatch)
    events = folder / "submitted/events.log"

    def left() -> list[str]:
        told = events.read_text() if events.exists() else ""
        return re.findall(r"Error from starter on [^@]*@(\w+)@", told)

    until(lambda: len(left()) >= 3, "three machines to fail", timeout=60, pause=0.5)
    scheduler.cancel(plan)
    assert all(one != other for one, other in itertools.pairwise(left())), left()


def handed_over(pool: HtcondorPool, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> Dagman:
    """A plan on a pool; who to ask about it."""
    monkeypatch.setenv("PATH", str(pool.bin), prepend=os.pathsep)
    scheduler = Dagman()
    scheduler.write(plan)
    alice = ":".join(map(str, pool.namespace.users["alice"]))
    subprocess.run(["chown", "-R", alice, str(plan.folder)], check=True)
    scheduler.submit(plan)
    return scheduler


def test_why_there_is_no_apptainer_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "etc").mkdir()
    monkeypatch.setattr(containers, "root", lambda _: tmp_path)
    containers.need_apptainer()
    (tmp_path / "etc/testbed-lacks").write_text("E: Unable to locate package apptainer\n")
    with pytest.raises(Unavailable, match="no apptainer: E: Unable to locate package apptainer; "):
        containers.need_apptainer()


@prove
def test_a_sweep_on_a_pool_is_the_same_in_containers(
    pool: HtcondorPool, short_sweep: dict[str, Any], record_property: Any
) -> None:
    """The image is sent along, as one file."""
    kernels = {
        "environment": {**program(pool)["environment"], "NUMBA_CACHE_DIR": "/scratch/kernels"}
    }
    with open_umask():
        sweep = planned(pool, "dagman", {"image": "../image.sif", **kernels})
        sweep.told("submit")
        sweep.own(pool)
        if PROVE:
            befalls = OnCondor(pool, sweep)
            befalls.evict(befalls.wait_training(SLOW, 3, timeout=PATIENCE))
    finish(sweep)
    assert_same(sweep, short_sweep)
    record_property("Apptainer", pool.run("apptainer", "--version").split()[-1])
