from pathlib import Path
from typing import Any

from tests.support.small_sweeps import Planned, planned

from jobsight.cli.sweepstatus import progress_lines
from jobsight.cluster import NodeState, NodeStatus, PlanStatus
from jobsight.files import write_json
from jobsight.learning.sweep.layout import Layout, read_point
from jobsight.learning.sweep.progress import Progress, progress_of
from jobsight.learning.sweep.tidying import leftovers, remove
from jobsight.learning.tracking import RunEnd, Tracker


def tell(layout: Layout, run: int, *epochs: float, end: RunEnd | None = None) -> None:
    with Tracker(layout.run(run)) as tracker:
        tracker.start(run=run, parameters=read_point(layout.folder, run))
        for number, value in enumerate(epochs, start=1):
            tracker.epoch(number, {"f1": value, "seconds": 2.0})
        if end is not None:
            tracker.end(end)
            layout.result(run).write_text("{}")


def looked(made: Planned, active: bool = True, **states: NodeStatus) -> Progress:
    nodes = {
        node.name: states.get(node.name.replace("-", "_"), NodeStatus(node.name, NodeState.WAITING))
        for node in made.plan.nodes()
    }
    return progress_of(made.frozen, made.layout, made.plan, PlanStatus(active, nodes, "job 7"))


def node(name: str, state: NodeState, cause: str | None = None) -> NodeStatus:
    return NodeStatus(name, state, cause, attempts=2, where="site-a")


def test_what_runs_tell_is_joined_with_what_the_scheduler_tells(tmp_path: Path) -> None:
    made = planned(tmp_path, runs=4, epochs=10)
    ended = RunEnd("early", epochs=3, best_epoch=2, metrics={"f1": 0.6})
    tell(made.layout, 1, 0.5, 0.6, 0.4, end=ended)
    tell(made.layout, 2, 0.3, 0.7)
    tell(made.layout, 4, end=RunEnd("failed", cause="its loss became NaN"))
    told = looked(
        made,
        parse_s01=node("parse-s01", NodeState.DONE),
        run_0001=node("run-0001", NodeState.DONE),
        run_0002=node("run-0002", NodeState.RUNNING),
        run_0003=node("run-0003", NodeState.HELD, "no memory"),
        run_0004=node("run-0004", NodeState.DONE),
    )
    assert [one.state for one in told.runs] == ["early", "running", "held", "failed"]
    assert [one.epochs for one in told.runs] == [3, 2, 0, 0]
    assert (told.epochs, told.epochs_most, told.ended) == (5, 40, 2)
    assert told.best is not None
    assert (told.best.run, told.best.value, told.best.ended) == (2, 0.7, False)
    assert [(one.name, one.done, one.running, one.failed) for one in told.stages] == [
        ("parse", 1, 0, 0), ("runs", 2, 1, 1), ("best", 0, 0, 0), ("register", 0, 0, 0),
    ]  # fmt: skip
    assert [(one.what, one.cause) for one in told.failures] == [
        ("run-0003", "no memory"), ("run 4", "its loss became NaN"),
    ]  # fmt: skip
    assert told.spent == 4.0 and told.active and not told.done


def test_a_run_whose_node_failed_for_good_is_broken(tmp_path: Path) -> None:
    made = planned(tmp_path, runs=4, epochs=10)
    tell(made.layout, 1, 0.5)
    told = looked(made, False, run_0001=node("run-0001", NodeState.FAILED, "signal 9"))
    assert (told.runs[0].state, told.runs[0].cause) == ("broken", "signal 9")
    assert told.states == {"broken": 1, "waiting": 3}
    assert told.best is not None and not told.best.ended


def test_of_a_run_in_two_parts_the_one_at_work_counts(tmp_path: Path) -> None:
    made = planned(tmp_path, runs=4, epochs=10, drop={"after": 2, "keep": 0.5})
    tell(made.layout, 1, 0.5, 0.6)
    first = node("run-0001", NodeState.DONE)
    assert looked(made, run_0001=first).runs[0].state == "waiting"
    later = looked(made, run_0001=first, run_0001b=node("run-0001b", NodeState.RUNNING))
    assert later.runs[0].state == "running"


def test_what_is_tested_and_not_registered_is_not_done(tmp_path: Path) -> None:
    made = planned(tmp_path, epochs=10, runs=1)
    tell(made.layout, 1, 0.5, end=RunEnd("finished", metrics={"f1": 0.5}))
    facts: dict[str, Any] = {
        "schema": "jobsight.best/1", "sweep": made.frozen.digest, "runs": {"finished": 1},
        "registry": None,
    }  # fmt: skip
    states = dict.fromkeys(("parse-s01", "run-0001", "best"), NodeState.DONE)
    states["register"] = NodeState.FAILED
    nodes = {name.replace("-", "_"): node(name, state, "full") for name, state in states.items()}
    write_json(made.layout.best / "bestmodel.json", facts)
    stopped = looked(made, False, **nodes)
    assert not stopped.done
    assert next(progress_lines(stopped, "slurm")) == (
        "stopped with 1 node not done; submit again to continue (slurm, job 7)"
    )
    assert [(one.what, one.cause) for one in stopped.failures] == [("register", "full")]
    write_json(made.layout.best / "bestmodel.json", facts | {"registry": {}})
    nodes["register"] = node("register", NodeState.DONE)
    lost = looked(made, False, **nodes)
    assert not lost.done and next(progress_lines(lost, "slurm")) == (  # its report is missing
        "not done, though all nodes are; finish it with: jobsight sweep collect (slurm, job 7)"
    )
    made.layout.report.write_text("")
    by_hand = looked(made, False, **nodes)
    assert by_hand.done and next(progress_lines(by_hand, "slurm")) == "done (slurm, job 7)"


def test_without_a_scheduler_records_tell(tmp_path: Path) -> None:
    made = planned(tmp_path, epochs=10, runs=1)
    assert progress_of(made.frozen, made.layout, made.plan, None).stages == ()
    tell(made.layout, 1, 0.5)
    told = progress_of(made.frozen, made.layout, made.plan, None)
    assert (told.manager, told.states, told.stages) == (None, {"running": 1}, ())
    assert next(progress_lines(told, "here")) == "not done; submit again to continue (here)"


def test_nothing_told_yet(tmp_path: Path) -> None:
    told = looked(planned(tmp_path, runs=4, epochs=10))
    assert told.best is None and told.updated is None and told.states == {"waiting": 4}


def test_only_what_is_needed_no_more_may_go(tmp_path: Path) -> None:
    made = planned(tmp_path, runs=4, epochs=10)
    layout = made.layout
    for run in (1, 2, 3):
        for part in ("checkpoint", "model", "wandb"):
            (layout.run(run) / part).mkdir()
            (layout.run(run) / part / "file").write_bytes(b"12345")
    tell(layout, 1, end=RunEnd("finished", metrics={"f1": 0.5}))
    tell(layout, 2, end=RunEnd("finished", metrics={"f1": 0.6}))
    layout.submitted.mkdir()
    assert {path.relative_to(layout.folder).as_posix(): size for path, size in
            leftovers(made.frozen, layout).items()} == {
        "runs/0001/checkpoint": 5, "runs/0002/checkpoint": 5,
    }  # fmt: skip
    facts = {"schema": "jobsight.best/1", "run": 2, "registry": None}
    write_json(layout.best / "bestmodel.json", facts)
    assert len(leftovers(made.frozen, layout)) == 2  # its model is in no registry yet
    write_json(layout.best / "bestmodel.json", facts | {"registry": {}})
    found = leftovers(made.frozen, layout)
    assert [path.relative_to(layout.folder).as_posix() for path in found] == [
        *("runs/0001/checkpoint", "runs/0001/model", "runs/0002/checkpoint", "submitted"),
    ]
    remove(found)
    assert (layout.run(2) / "model/file").exists() and (layout.run(3) / "checkpoint/file").exists()
    assert (layout.run(1) / "wandb/file").exists() and layout.record(1).exists()
    assert leftovers(made.frozen, layout) == {}
