from pathlib import Path
from typing import Any

import pytest
from tests.support.small_sweeps import SPACE, Planned

from jobsight.cluster import Plan
from jobsight.errors import OutputError, SweepError
from jobsight.files import write_json
from jobsight.learning.sweep import planning
from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.layout import Frozen, Layout, Shard, read_frozen, read_point
from jobsight.learning.sweep.planning import freeze, lay_out, read_plan
from jobsight.learning.sweep.stages import rounds_of, run_of

COMMAND = ("python3", "-m", "jobsight")
LOG = Shard("s01", ("/logs/EventLog", "/logs/EventLog.1"), modified=(1.0, 2.0))


def frozen(*shards: Shard, **changed: Any) -> Frozen:
    told: dict[str, Any] = {"data": ["EventLog"], "runs": 5, "epochs": 9, "parameters": SPACE}
    config = SweepConfig.model_validate(told | changed)
    return freeze(config, {"timezone": "UTC"}, shards or (LOG,), base=Path("/base"))


def planned(folder: Path, *shards: Shard, **changed: Any) -> Planned:
    layout = Layout(folder)
    return Planned(layout, *lay_out(frozen(*shards, **changed), layout, COMMAND))


def names(plan: Plan) -> dict[str, list[str]]:
    return {stage.name: [node.name for node in stage.nodes] for stage in plan.stages}


def end(layout: Layout, *runs: int) -> None:
    """As runs that ended leave their folders."""
    for run in runs:
        layout.record(run).write_text("{}\n")
        write_json(layout.result(run), {"status": "finished"})


def test_nodes_read_and_write_what_they_must(tmp_path: Path) -> None:
    plan = planned(tmp_path / "a", where="dagman").plan
    assert not plan.shared
    assert names(plan)["runs"] == [f"run-{run:04d}" for run in range(1, 6)]
    nodes = {node.name: node for node in plan.nodes()}
    assert nodes["parse-s01"].inputs == ("sweep.json", *LOG.inputs)
    assert nodes["parse-s01"].outputs == ("history/s01",) and not nodes["parse-s01"].near
    run = nodes["run-0003"]
    assert run.arguments == ("sweep", "node", "run", "3", ".", "--save-every", "auto")
    assert (run.inputs, run.outputs, run.checkpoints) == (
        ("sweep.json", "history"), ("runs/0003",), True
    )  # fmt: skip
    assert nodes["best"].outputs == ("best",) and "runs" in nodes["best"].inputs
    assert nodes["register"].near
    for node in plan.nodes():
        assert all((tmp_path / "a" / path).is_dir() for path in node.outputs)


def test_an_image_is_a_file_a_folder_or_an_address(tmp_path: Path) -> None:
    (tmp_path / "x.sif").touch()
    (tmp_path / "box").mkdir()

    def image(told: str) -> Any:
        given = {"data": ["EventLog"], "runs": 1, "epochs": 1, "parameters": SPACE}
        config = SweepConfig.model_validate({**given, "program": {"image": told}})
        return freeze(config, {}, (LOG,), base=tmp_path / "configs").config["program"]["image"]

    (tmp_path / "configs").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    assert image(str(tmp_path / "loop")) == str(tmp_path / "loop")
    assert image("../x.sif") == str(tmp_path / "x.sif")
    assert image("../box") == str(tmp_path / "box")
    assert image("~/no.sif") == str(Path.home() / "no.sif")
    unseen = f"/{'x' * 300}/y.sif"  # as a folder that only nodes may enter: no answer, no file
    for there in ("/cvmfs/images/box", unseen, "docker://a/b:1", "docker-archive:/box.tar"):
        assert image(there) == there
    with pytest.raises(SweepError, match=r"no .*/configs/x\.sif; name a file or a folder"):
        image("x.sif")
    with pytest.raises(SweepError, match=r"~no-such-user/x\.sif: there is no such home folder"):
        image("~no-such-user/x.sif")


def test_files_of_one_name_and_stores_are_parsed_near(tmp_path: Path) -> None:
    store = Shard("s02", ("sqlite:///jobs.db",), documents=True)
    alike = Shard("s01", ("/a/EventLog", "/b/EventLog"), modified=(1.0, 2.0))
    sent = {
        node.name: node
        for node in planned(tmp_path / "a", alike, store, where="dagman").plan.nodes()
    }
    assert sent["parse-s01"].near and sent["parse-s02"].near
    assert sent["parse-s02"].inputs == ("sweep.json",)
    seen = {node.name: node for node in planned(tmp_path / "b", alike, store).plan.nodes()}
    assert not seen["parse-s01"].near and seen["parse-s02"].near


def test_rounds_wait_for_each_other(tmp_path: Path) -> None:
    made = planned(tmp_path / "a", method="bayes", round=2)
    assert list(names(made.plan)) == [
        *("parse", "runs-1", "plan-2", "runs-2", "plan-3", "runs-3", "best", "register"),
    ]
    assert [list(one) for one in rounds_of(made.frozen)] == [[1, 2], [3, 4], [5]]
    assert sorted(path.parent.name for path in tmp_path.rglob("point.json")) == ["0001", "0002"]


def test_the_hopeless_are_dropped_between_two_parts_of_a_run(tmp_path: Path) -> None:
    plan = planned(tmp_path / "a", drop={"after": 3, "keep": 0.5}).plan
    assert list(names(plan)) == ["parse", "runs-1", "drop-1", "runs-1b", "best", "register"]
    nodes = {node.name: node for node in plan.nodes()}
    assert nodes["run-0001"].arguments[-2:] == ("--until", "3")
    assert nodes["run-0001b"].arguments == ("sweep", "node", "run", "1", ".")
    assert [run_of(name) for name in ("run-0001", "run-0001b", "drop-1", "best")] == [
        1,
        1,
        None,
        None,
    ]


def test_runs_that_are_sent_files_save_and_others_need_not(tmp_path: Path) -> None:
    def told(name: str, **changed: Any) -> tuple[str, ...]:
        plan = planned(tmp_path / name, **changed).plan
        return next(node for node in plan.nodes() if node.name == "run-0001").arguments[5:]

    assert told("a", where="dagman") == ("--save-every", "auto")
    assert told("b", where="dagman", save_every="5 min") == ("--save-every", "300")
    assert told("c", where="dagman", save_every="off") == ()
    assert told("d", where="dagman", save_every=5, shared=True) == ()
    assert told("e", where="slurm", save_every=5) == told("f") == ()


def test_more_runs_of_a_finished_random_search_keep_those_before(tmp_path: Path) -> None:
    first = planned(tmp_path / "a")
    before = {run: read_point(tmp_path / "a", run) for run in range(1, 6)}
    end(first.layout, 1, 2, 3, 4)
    with pytest.raises(SweepError, match=r"1 run of 5 in .* have not ended, the first is run 5"):
        planned(tmp_path / "a", runs=8)
    end(first.layout, 5)
    write_json(first.layout.read("s01"), {})
    more = planned(tmp_path / "a", runs=8)
    assert list(names(more.plan)) == ["runs", "best", "register"]
    assert names(more.plan)["runs"] == ["run-0006", "run-0007", "run-0008"]
    assert {run: read_point(tmp_path / "a", run) for run in range(1, 6)} == before
    assert not planned(tmp_path / "a", runs=8).changed
    with pytest.raises(SweepError, match="none can be given fewer"):
        planned(tmp_path / "a", runs=7)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 1}, "seed was 0 and is 1"),
        (
            {"parameters": SPACE | {"m": {"value": 4}}},
            "parameters.m.distribution was 'int_uniform'",
        ),
        ({"metric": {"name": "brier"}}, "metric.goal was 'maximize' and is 'minimize'"),
        ({"settings": {"success": "terminated"}}, "settings.success was None and is 'terminated'"),
    ],
)
def test_another_search_is_refused_by_name(
    tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    first = planned(tmp_path / "a")
    end(first.layout, 1)
    with pytest.raises(SweepError) as refused:
        planned(tmp_path / "a", **changed)
    assert message in str(refused.value)


def test_how_it_runs_may_change_until_it_runs(tmp_path: Path) -> None:
    first = planned(tmp_path / "a")
    end(first.layout, 1)
    (first.layout.submitted / "state").mkdir(parents=True)
    more = planned(tmp_path / "a", resources={"memory": "3 GB"})
    assert next(iter(more.plan.stages[1].nodes)).resources.memory_mb == 3072
    assert first.layout.submitted.exists()
    assert more.frozen.digest == first.frozen.digest
    planned(tmp_path / "a", where="slurm")
    assert not first.layout.submitted.exists() and (tmp_path / "a/submitted-here-1/state").exists()
    with pytest.raises(SweepError, match="is being worked on"):
        lay_out(frozen(resources={"cpus": 2}), first.layout, COMMAND, active=True)


def test_what_is_frozen_is_read_back(tmp_path: Path) -> None:
    made = planned(tmp_path / "a")
    assert read_frozen(tmp_path / "a") == made.frozen
    assert read_plan(made.layout) == made.plan


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises((OutputError, SweepError), match="file"):
        planned(tmp_path / "file/a")


def test_a_project_that_was_moved_goes_on_where_it_is(tmp_path: Path) -> None:
    end(planned(tmp_path / "a").layout, 1, 2)
    (tmp_path / "a").rename(tmp_path / "b")
    moved = Shard("s01", ("/there/EventLog", "/there/EventLog.1"), modified=(8.0, 9.0))
    made = planned(tmp_path / "b", moved)
    assert made.frozen.shards == (Shard("s01", moved.inputs, modified=LOG.modified),)
    assert made.frozen.digest == frozen().digest
    assert read_plan(made.layout).folder == tmp_path / "b"
    with pytest.raises(SweepError, match="has runs of another sweep: data was"):
        planned(tmp_path / "b", Shard("s01", ("/there/Other",), modified=(8.0,)))


def test_planning_that_failed_is_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = 0

    def write(path: Path, value: object) -> None:
        nonlocal room
        room -= 1
        if room < 0:
            raise OutputError(f"cannot write {path}: No space left on device")
        write_json(path, value)

    with monkeypatch.context() as patch:
        patch.setattr(planning, "write_json", write)
        for files in range(3):
            room = files
            with pytest.raises(OutputError, match="No space"):
                planned(tmp_path / "a")
    assert planned(tmp_path / "a").plan.shared


def test_a_damaged_config_of_a_sweep_is_told_with_a_way_out(tmp_path: Path) -> None:
    made = planned(tmp_path / "a")
    made.layout.frozen.write_text("{")
    with pytest.raises(SweepError, match=r"sweep\.json is damaged .*; put it back .* or remove"):
        planned(tmp_path / "a")


def test_planning_tells_how_far_it_is(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    layout = Layout(tmp_path / "a")
    lay_out(frozen(), layout, COMMAND, progress=lambda done, total: told.append((done, total)))
    assert told == [(run, 5) for run in range(1, 6)]


def installed(monkeypatch: pytest.MonkeyPatch, **versions: str) -> None:
    monkeypatch.setattr(planning, "package_versions", lambda: versions)


def test_runs_of_two_versions_are_not_mixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, python="3.11.7", torch="2.13.0")
    layout = planned(tmp_path / "a").layout
    installed(monkeypatch, python="3.11.7", torch="2.12.0")
    assert planned(tmp_path / "a").frozen.versions["torch"] == "2.12.0"  # nothing has begun
    layout.record(1).write_text("{}\n")
    installed(monkeypatch, python="3.11.8", torch="2.12.0")
    assert planned(tmp_path / "a").frozen.versions["python"] == "3.11.8"
    for python, torch, why in (
        ("3.11.8", "2.13.0", "made with torch 2.12.0, and here is 2.13.0.* install torch 2.12.0"),
        ("3.12.0", "2.12.0", "made with python 3.11, and here is 3.12.* another `folder`"),
    ):
        installed(monkeypatch, python=python, torch=torch)
        with pytest.raises(SweepError, match=why):
            planned(tmp_path / "a")
    installed(monkeypatch, python="3.11.8", torch="2.12.0", numba="1.0")
    with pytest.raises(SweepError, match=r"made with numba \(none\).*; uninstall numba"):
        planned(tmp_path / "a")


def test_a_sweep_that_ended_stays_whatever_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, torch="2.12.0")
    layout = planned(tmp_path / "a").layout
    end(layout, 1, 2, 3, 4, 5)
    installed(monkeypatch, torch="2.13.0")
    again = planned(tmp_path / "a")
    assert not again.changed and again.frozen.versions == {"torch": "2.12.0"}
    with pytest.raises(SweepError, match="results of the two do not compare"):
        planned(tmp_path / "a", runs=7)


def test_an_image_has_versions_of_its_own_but_for_jobsight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = {"program": {"image": "docker://x/y"}}
    installed(monkeypatch, jobsight="1.0", torch="2.12.0")
    layout = planned(tmp_path / "a", **image).layout
    layout.record(1).write_text("{}\n")
    installed(monkeypatch, jobsight="1.0", torch="2.13.0")
    assert planned(tmp_path / "a", **image).changed
    installed(monkeypatch, jobsight="1.1", torch="2.13.0")
    with pytest.raises(SweepError, match=r"made with jobsight 1\.0, and here is 1\.1"):
        planned(tmp_path / "a", **image)


@pytest.mark.parametrize(("first", "then"), [({}, {"pack": "env.tar"}), ({"pack": "env.tar"}, {})])
def test_what_nodes_are_started_by_may_change_while_jobsight_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: Any, then: Any
) -> None:
    installed(monkeypatch, jobsight="1.0", torch="2.12.0")
    layout = planned(tmp_path / "a", program=first).layout
    layout.record(1).write_text("{}\n")
    assert planned(tmp_path / "a", program=then).changed
    installed(monkeypatch, jobsight="1.1", torch="2.12.0")
    with pytest.raises(SweepError, match=r"made with jobsight 1\.0, and here is 1\.1"):
        planned(tmp_path / "a", program=first)
