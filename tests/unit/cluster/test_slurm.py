import dataclasses
import json
from pathlib import Path

import pytest

from jobsight.cluster import Node, NodeState, Plan, Program, Stage
from jobsight.cluster.slurm import Slurm
from jobsight.cluster.slurmstatus import Record
from jobsight.cluster.states import append, make_folders, plan_digest, state_file
from jobsight.errors import ClusterError, OutputError
from jobsight.settings import SlurmSettings


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return Plan(
        "p", tmp_path, (Stage("s", (Node("a", ("x",)),)),), Program(("jobsight",)), shared=True
    )


@pytest.fixture
def scheduler(tmp_path: Path) -> Slurm:
    return Slurm(SlurmSettings(bin=tmp_path / "none"))


def test_without_slurm_there_is_one_clear_error(plan: Plan, scheduler: Slurm) -> None:
    assert scheduler.status(plan).nodes["a"].state is NodeState.WAITING
    with pytest.raises(ClusterError, match=r"scontrol is not in .*none; name its folder"):
        scheduler.submit(plan)
    with pytest.raises(ClusterError, match="squeue is not in"):  # did sbatch take something?
        scheduler.submit(plan)


def test_without_squeue_a_plan_is_told_by_what_its_nodes_wrote(
    plan: Plan, scheduler: Slurm
) -> None:
    two = dataclasses.replace(
        plan, stages=(Stage("s", (Node("a", ("x",)), Node("b", ("y",)), Node("c", ("z",)))),)
    )
    digest = plan_digest(two)
    (two.folder / "submitted/slurm").mkdir(parents=True)
    Record(digest, 1, {"12": {0: "a", 1: "b", 2: "c"}}).write(two.folder)
    make_folders(two.folder)
    for name in ("a", "b"):
        start = {"event": "start", "plan": digest, "submission": 1, "time": 5, "host": "n1"}
        append(state_file(two.folder, name), start)
    end = {"event": "end", "plan": digest, "submission": 1, "time": 9, "status": 0}
    append(state_file(two.folder, "a"), end)
    status = scheduler.status(two)
    assert status.active and not status.asked
    states = {name: node.state.value for name, node in status.nodes.items()}
    assert states == {"a": "done", "b": "running", "c": "queued"}
    assert (status.manager or "").startswith("Slurm: job 12, of unknown state: squeue is")
    for name in ("b", "c"):
        append(state_file(two.folder, name), start)
        append(state_file(two.folder, name), end)
    status = scheduler.status(two)
    assert (status.active, status.asked) == (False, True), "all is done; nobody need be asked"


def test_nothing_is_transferred(plan: Plan, scheduler: Slurm) -> None:
    with pytest.raises(ClusterError, match="Slurm transfers no files"):
        scheduler.write(dataclasses.replace(plan, shared=False))
    assert list(plan.folder.iterdir()) == []


def test_a_folder_that_is_not_there_or_not_ours(plan: Plan, scheduler: Slurm) -> None:
    with pytest.raises(ClusterError, match=r"there is no folder .*none; plan again"):
        scheduler.submit(dataclasses.replace(plan, folder=plan.folder / "none"))
    (plan.folder / "submitted").write_text("")
    with pytest.raises(OutputError):
        scheduler.submit(plan)


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    record = Record("abc", 3, {"12": {0: "a", 5: "b"}}, complete=False)
    (tmp_path / "submitted/slurm").mkdir(parents=True)
    record.write(tmp_path)
    assert Record.read(tmp_path) == record
    assert record.tasks == {"a": ("12", 0), "b": ("12", 5)}
    assert Record.read(tmp_path / "none") == Record()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"digest": "x", "submission": "y", "arrays": {}, "complete": true}',
        '{"digest": "x", "submission": 1, "arrays": [], "complete": true}',
        json.dumps({"digest": "", "submission": 1, "arrays": {"--help": {}}, "complete": True}),
        json.dumps({"digest": "", "submission": 1, "arrays": {"1": {"a": "b"}}, "complete": True}),
    ],
)
def test_a_damaged_record_is_told_of(tmp_path: Path, text: str) -> None:
    path = tmp_path / "submitted/slurm/jobs.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(ClusterError, match=r"jobs\.json is damaged"):
        Record.read(tmp_path)
