"""Plans: what is refused, what edges there are, and that JSON keeps them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import jobsight.cluster
from jobsight.cluster import NAMES, Node, Plan, Program, Resources, Stage, create
from jobsight.errors import PlanError

PROGRAM = Program(("/usr/bin/python3", "-m", "jobsight"))


def plan(*nodes: Node, shared: bool = True, **more: Any) -> Plan:
    """A plan of one stage."""
    given: dict[str, Any] = {"program": PROGRAM, **more}
    return Plan("sweep", Path("/sweep"), (Stage("runs", nodes),), shared=shared, **given)


def node(name: str = "run-1", *arguments: str, **more: Any) -> Node:
    return Node(name, arguments, **more)


def test_json_keeps_a_plan() -> None:
    nodes = (
        node("a", "it's", '"$x"', inputs=("in", "/log"), outputs=("out",), retries=2),
        node("b", resources=Resources(2, 100, 200, 1, 3600), checkpoints=True),
        node("c", near=True),
    )
    program = Program(
        ("python3",), pack=Path("/pack.tar.gz"), environment={"A": "b"}, near=("jobsight",)
    )
    options = {"dagman": {"requirements": ["x", "y"], "rank": "z"}, "slurm": {"partition": "p"}}
    made = plan(*nodes, shared=False, program=program, options=options)
    assert Plan.from_json(json.loads(json.dumps(made.to_json()))) == made


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "jobsight.plan/9"},
        {"stages": 3},
        {"stages": [{"name": "runs", "nodes": [{"name": 5, "arguments": []}]}]},
        {"folder": 7},
        {"program": None},
    ],
)
def test_what_is_no_plan_is_one_error(change: dict[str, Any]) -> None:
    value = plan(node()).to_json() | change
    with pytest.raises(PlanError) as caught:
        Plan.from_json(value)
    assert str(caught.value).isprintable()


def test_other_json_is_one_error() -> None:
    values: tuple[Any, ...] = ([], None, 3, "plan", {})
    for value in values:
        with pytest.raises(PlanError, match="not a plan"):
            Plan.from_json(value)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"inputs": ("",)}, "neither empty nor hold control"),
        ({"inputs": ("a\nb",)}, "neither empty nor hold control"),
    ],
)
def test_a_wrong_node_is_named(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(PlanError, match=words) as caught:
        plan(node("wrong", **wrong))
    assert "wrong" in str(caught.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"inputs": ("a,b",)},
        {"outputs": (" a",)},
        {"inputs": ("/http://x",)},
        {"inputs": ("/a/EventLog", "/b/EventLog")},
    ],
)
def test_what_cannot_be_transferred_is_refused_where_nothing_is_shared(
    wrong: dict[str, Any],
) -> None:
    made = plan(node(**wrong))
    with pytest.raises(PlanError, match="transferred"):
        replace(made, shared=False)
    plan(node(near=True, **wrong), shared=False)


@pytest.mark.parametrize("program", [{"pack": Path("/a, b/env.tar")}, {"image": "/a, b/x.sif"}])
def test_a_pack_or_image_that_cannot_be_transferred_is_refused(program: dict[str, Any]) -> None:
    made = plan(node(), program=Program(("jobsight",), **program))
    with pytest.raises(PlanError, match=r"the (pack|container image) .*/a, b/.* transferred"):
        replace(made, shared=False)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (Program(("a",), pack=Path("/a\nqueue 9/p.tar")), "the pack is .* control"),
        (Program(("a",), environment={"A": "b\nc"}), "line break"),
    ],
)
def test_a_wrong_program_is_refused(program: Program, words: str) -> None:
    with pytest.raises(PlanError, match=words) as caught:
        plan(node(), program=program)
    assert "'x'" not in str(caught.value)


def test_schedulers_are_found_by_name() -> None:
    for name in NAMES:
        assert isinstance(create(name), jobsight.cluster.Scheduler)
