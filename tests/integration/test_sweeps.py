"""Sweeps on this machine, on a real DAGMan and on a real Slurm, interrupted and resumed."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.integration.sweeps import PATIENCE, SLOW, Sweep, open_umask, program, require
from tests.support.limits import limit
from tests.testbed import BedError, HtcondorPool, SlurmCluster
from tests.testbed.containers import image, pack_image
from tests.testbed.namespace import until

pytestmark = pytest.mark.slow


def runs_of(sweep: Sweep, run: int) -> list[int]:
    """Processes of this machine that train a run."""
    end, found = ["sweep", "node", "run", str(run), "."], []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_text().rstrip("\0").split("\0")
            if words[-5:] == end and (entry / "cwd").readlink() == sweep.folder:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_here_a_killed_run_resumes_and_a_stopped_sweep_continues(tmp_path: Path) -> None:
    sweep = Sweep.new(tmp_path / "sweep", at_once=1, **SLOW)
    with sweep.start() as process:
        sweep.wait_epoch(1, 3)
        for pid in runs_of(sweep, 1):
            os.kill(pid, signal.SIGKILL)
        until(lambda: sweep.record(1)["attempts"] == 2, "a second start", timeout=PATIENCE)
        sweep.wait_epoch(1, 5)
        assert "the sweep is active" in sweep.fails("submit")
        assert sweep.says("cancel")["active"] is False
        said, _ = process.communicate(timeout=limit(60))
    assert process.returncode == 1 and "stopped; submit again" in said
    assert runs_of(sweep, 1) == []
    status = sweep.says("status", "--runs")
    assert status["states"] == {"stopped": 1, "waiting": 1} and not status["done"]
    kept = sweep.record(1)
    assert kept["stopped"] == "cancelled" and len(kept["epochs"]) >= 5
    sweep.says("submit")
    sweep.check_best()
    first = sweep.record(1)
    assert first["attempts"] == 3 and [one["epoch"] for one in first["epochs"]] == [*range(1, 13)]
    assert first["epochs"][: len(kept["epochs"])] == kept["epochs"], "none was trained again"


def test_a_sweep_can_be_given_more_runs_and_only_these(tmp_path: Path) -> None:
    sweep = Sweep.new(tmp_path / "sweep", metric={"name": "log_loss"}, seed=3)
    points = sweep.says("plan")["points"]
    sweep.says("submit")
    assert sweep.check_best()["goal"] == "minimize"
    records = [sweep.record(run) for run in (1, 2, 3)]
    assert [one["params"] for one in records] == list(points.values())
    assert sweep.says("cleanup", "--yes")["removed"]
    content = json.loads(sweep.file.read_text())
    sweep.file.write_text(json.dumps({**content, "seed": 4}))
    assert "seed was 3 and is 4" in sweep.fails("plan")
    sweep.file.write_text(json.dumps({**content, "runs": 4}))
    sweep.says("submit")
    assert [sweep.record(run) for run in (1, 2, 3)] == records, "none was trained again"
    assert sum(sweep.says("best")["runs"].values()) == 4


def test_a_run_that_cannot_learn_fails_and_its_sweep_goes_on(tmp_path: Path) -> None:
    decays = {"weight_decay": {"values": [0.001, 1e30]}}
    sweep = Sweep.new(tmp_path / "sweep", method="grid", parameters=decays, runs=None)
    sweep.says("submit")
    sweep.check_best()
    status = sweep.says("status")
    assert status["states"] == {"complete": 1, "failed": 1}
    (failure,) = status["failures"]
    assert failure["what"] == "run 2" and "NaN" in failure["cause"]


@pytest.mark.parametrize("method", ["bayes", "gp"])
def test_a_search_that_learns_here(tmp_path: Path, method: str) -> None:
    stop = {"type": "hyperband", "min_iter": 1, "eta": 2}
    options: dict[str, Any] = {
        "method": method,
        "runs": 12,
        "epochs": 3,
        "early_terminate": stop,
        "at_once": 1,
    }
    sweep = Sweep.new(tmp_path / "sweep", **options)
    assert sweep.says("plan")["points"] == {}
    sweep.says("submit")
    sweep.check_best()
    states = sweep.says("status")["states"]
    assert states["pruned"] >= 2 and states["complete"] >= 2, states
    pruned = [one for one in map(sweep.record, range(1, 13)) if one["state"] == "pruned"]
    assert all(one["stopped"] == "pruned" and len(one["epochs"]) < 3 for one in pruned)


def test_dagman_transfers_files_and_resumes_an_evicted_run(condor_pool: HtcondorPool) -> None:
    require(condor_pool)
    sweep = Sweep.new(condor_pool.folder / "work/dag", condor_pool, where="dagman", **SLOW)
    sweep.submit()
    spooled = "state/execute-*/*/runs/0001/run.json"

    def third_epoch() -> bool:
        texts = [path.read_text() for path in condor_pool.folder.glob(spooled)]
        return any(len(json.loads(text)["epochs"]) >= 3 for text in texts)

    until(third_epoch, "the third epoch of run 1", timeout=PATIENCE, pause=0.05)
    (job,) = condor_pool.queue('DAGNodeName == "run-0001"')
    condor_pool.run("condor_vacate_job", str(job["ClusterId"]))
    status = sweep.wait()
    assert status["done"], (status["failures"], status)
    sweep.check_best()
    first = sweep.record(1)
    assert first["attempts"] == 2 and len(first["epochs"]) == 12


def test_dagman_has_the_checkpoint_of_a_long_run_fetched(condor_pool: HtcondorPool) -> None:
    require(condor_pool)
    how: dict[str, Any] = {**SLOW, "where": "dagman", "save_every": 1, "runs": 1}
    sweep = Sweep.new(condor_pool.folder / "work/saves", condor_pool, **how)
    sweep.submit()
    status = sweep.wait()
    assert status["done"], (status["failures"], status)
    record = sweep.record(1)
    assert record["attempts"] >= 3 and len(record["epochs"]) == 12


def test_dagman_chooses_points_as_runs_end(condor_pool: HtcondorPool) -> None:
    require(condor_pool)
    how = {"where": "dagman", "method": "bayes", "runs": 4, "at_once": 2}
    sweep = Sweep.new(condor_pool.folder / "work/learns", condor_pool, **how)
    sweep.submit()
    status = sweep.wait()
    assert status["done"], (status["failures"], status)
    sweep.check_best()
    points = [json.dumps(sweep.record(run)["params"]) for run in (1, 2, 3, 4)]
    assert len(set(points)) == 4


def test_dagman_understands_hundreds_of_runs_and_is_cancelled(condor_pool: HtcondorPool) -> None:
    require(condor_pool)
    how: dict[str, Any] = {**SLOW, "where": "dagman", "runs": 400, "at_once": 2}
    how["dagman"] = {"DAGMAN_USE_STRICT": "0", "+ProjectName": '"tuning"'}
    sweep = Sweep.new(condor_pool.folder / "work/many", condor_pool, **how)
    sweep.submit()
    out = sweep.folder / "submitted/sweep.dag.dagman.out"
    until(lambda: out.exists() and "Of 402 nodes total" in out.read_text(), "DAGMan to count")
    until(lambda: sweep.says("status")["states"].get("running") == 2, "two runs", timeout=90)
    assert "the sweep is active" in sweep.fails("submit")
    with open_umask():
        assert sweep.says("cancel")["active"] is False
    assert sweep.wait()["states"]["waiting"] >= 398


def test_what_condor_refuses_is_an_error_before_anything_runs(condor_pool: HtcondorPool) -> None:
    require(condor_pool)
    where = condor_pool.folder / "work"
    for name, options, words in (
        ("a", {"requirements": "((("}, "Parse error in expression"),
        ("b", {"recuirements": "true"}, "dagman.recuirements: condor_submit knows no such"),
        ("c", {"log": "x"}, "written by jobsight"),
    ):
        sweep = Sweep.new(where / f"refused-{name}", condor_pool, where="dagman", dagman=options)
        assert words in sweep.fails("submit")


def test_dagman_gives_up_a_run_that_cannot_start(condor_pool: HtcondorPool) -> None:
    require(condor_pool)
    how: dict[str, Any] = {"where": "dagman", "runs": 1, "resources": {"memory": 1000, "disk": 200}}
    sweep = Sweep.new(condor_pool.folder / "work/broken", condor_pool, **how)
    with open_umask():
        sweep.says("plan")
        (sweep.folder / "runs/0001/run.json").write_text("{}")
        sweep.own()
        sweep.says("submit")
    status = sweep.wait()
    assert not status["done"] and status["states"] == {"broken": 1}, status
    (failure, *_) = status["failures"]
    assert "exit status" in failure["cause"] and "run.json is damaged" in failure["cause"]
    assert "1 run of 1 have not ended" in sweep.fails("collect")


def test_slurm_requeues_a_run_at_its_time_limit(slurm_cluster: SlurmCluster) -> None:
    require(slurm_cluster)
    how = {"where": "slurm", "at_once": 2, **SLOW}
    sweep = Sweep.new(slurm_cluster.folder / "work/array", slurm_cluster, **how)
    sweep.submit()
    sweep.wait_epoch(1, 3)
    array = json.loads((sweep.folder / "submitted/slurm.json").read_text())["array"]
    slurm_cluster.run("scancel", "--batch", "--signal=USR1", f"{array}_1")
    until(lambda: sweep.record(1).get("stopped") == "cancelled", "the run to save", timeout=60)
    until(
        lambda: sweep.says("status")["runs"][0]["state"] == "queued", "the run to queue", timeout=60
    )
    # Started within a second, the node refuses it: "Job credential revoked".
    slurm_cluster.run("scontrol", "update", f"JobId={array}_1", "StartTime=now+5")
    status = sweep.wait()
    assert status["done"], (status["failures"], status)
    sweep.check_best()
    first = sweep.record(1)
    assert first["attempts"] == 2 and len(first["epochs"]) == 12


def test_slurm_learns_through_the_study_and_reports_what_it_killed(
    slurm_cluster: SlurmCluster,
) -> None:
    require(slurm_cluster)
    stop = {"type": "hyperband", "min_iter": 1, "eta": 2}
    how = {"where": "slurm", "method": "bayes", "runs": 4, "at_once": 2, "early_terminate": stop}
    sweep = Sweep.new(slurm_cluster.folder / "work/learns", slurm_cluster, **how)
    sweep.submit()
    assert sweep.wait()["done"]
    sweep.check_best()
    with pytest.raises(AssertionError, match="nodes is written by jobsight"):
        Sweep.new(
            slurm_cluster.folder / "work/bad", slurm_cluster, where="slurm", slurm={"nodes": 2}
        ).says("plan")
    slow = Sweep.new(slurm_cluster.folder / "work/kills", slurm_cluster, where="slurm", **SLOW)
    slow.submit()
    slow.wait_epoch(1, 1)
    with open_umask():
        assert slow.says("cancel")["active"] is False
    status = slow.wait()
    assert not status["done"] and not status["states"].get("complete")
    slow.submit()
    assert slow.wait()["done"] and slow.record(1)["attempts"] == 2


@pytest.mark.usefixtures("apptainer")
@pytest.mark.parametrize("bed", ["condor_pool", "slurm_cluster"])
def test_runs_are_in_containers(bed: str, request: pytest.FixtureRequest) -> None:
    """The image is Debian 12 on machines that are Debian 13, and alone has `jobsight`."""
    there: HtcondorPool | SlurmCluster = request.getfixturevalue(bed)
    require(there)
    file = there.folder / "work/image.sif"
    pack_image(there.namespace, image(there.folder / "work/image"), file)
    with pytest.raises(BedError, match=r"127|No such file"):
        there.run("jobsight", "--version", user="alice")
    where = "dagman" if bed == "condor_pool" else "slurm"
    how: dict[str, Any] = {"where": where, "program": {"image": "../image.sif"}}
    if where == "slurm":
        how["program"] |= program(there)
    sweep = Sweep.new(there.folder / "work/contained", there, **{**how, "runs": 2})
    sweep.submit()
    status = sweep.wait()
    assert status["done"], (status["failures"], status)
    sweep.check_best()
    missing = Sweep.new(
        there.folder / "work/no-image", there, where=where, program={"image": "/no.sif"}, runs=1
    )
    if where == "slurm":
        missing.submit()
        status = missing.wait()
        causes = [failure["cause"] for failure in status["failures"]]
        assert not status["done"] and any("no.sif" in cause for cause in causes), causes
