"""The conformance suite of schedulers: what `jobsight.cluster.Scheduler` promises."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import pytest

from jobsight.cluster import (
    Node,
    NodeState,
    Option,
    Plan,
    PlanStatus,
    Program,
    Resources,
    Scheduler,
    Stage,
)
from jobsight.errors import ClusterError

__all__ = ["SchedulerContract", "made_plan"]

HOSTILE = ("it's", '"quoted" $(id) `id`', "a,b;c|d&e", "%d #x \\n", "é ∑", "", "--help", "*")
"""Words of a command that must arrive as they are."""

PROGRAM = r"""#!/bin/sh
# The node of made plans: what it does is its first word.
verb=$1
shift
printf '%s\n' "$verb" "$#" "$@" > "words.$verb"
echo "$verb" >> order
case $verb in
    value) printf '%s' "$MADE_VALUE" > value ;;
    once) [ -e once ] || { : > once; exit 1; } ;;
    fail) [ -e mended ] || { echo "it broke <b>" >&2; exit 3; } ;;
    again) [ "$(grep -c again order)" -ge 3 ] || exit 85 ;;
    wrong) [ -e mended ] || exit 85 ;;
    stay) [ -e stayed ] || { : > stayed; exec sleep 300; } ;;
esac
"""


def made_plan(
    folder: Path, *stages: tuple[Node, ...], options: Mapping[str, Mapping[str, Option]] | None
) -> Plan:
    """A plan whose nodes are small shell scripts in `folder`."""
    program = folder / "program.sh"
    program.write_text(PROGRAM)
    return Plan(
        "made",
        folder,
        tuple(Stage(f"stage-{number}", nodes) for number, nodes in enumerate(stages)),
        Program(("/bin/sh", str(program)), environment={"MADE_VALUE": "it's $HOME"}),
        shared=True,
        options=options or {},
    )


def _node(verb: str, *words: str, retries: int = 0, checkpoints: bool = False) -> Node:
    asks = Resources(memory_mb=64, disk_mb=64)
    return Node(verb, (verb, *words), (), (), asks, retries, checkpoints)


class SchedulerContract:
    """What `jobsight.cluster.Scheduler` promises. Subclasses give `new_scheduler`, `new_folder`.

    Attributes:
        seconds: in which a small plan must be over.
        options: of all plans.
    """

    seconds: float = 60.0
    options: ClassVar[Mapping[str, Mapping[str, Option]] | None] = None

    def new_scheduler(self) -> Scheduler:
        """The scheduler, as a new process would make it."""
        raise NotImplementedError

    def new_folder(self) -> Path:
        """An empty folder that the nodes see and write to, better with a hostile name."""
        raise NotImplementedError

    def plan(self, *stages: tuple[Node, ...]) -> Plan:
        """A plan in a new folder."""
        return made_plan(self.new_folder(), *stages, options=self.options)

    @contextlib.contextmanager
    def submitted(self, plan: Plan) -> Iterator[list[object]]:
        """Submit in a thread, since some schedulers come back only when all is done.

        What came of it is in the list at the end: the id or the error.
        """
        outcomes: list[object] = []

        def submit() -> None:
            try:
                outcomes.append(self.new_scheduler().submit(plan))
            except ClusterError as error:
                outcomes.append(error)

        thread = threading.Thread(target=submit)
        thread.start()
        try:
            yield outcomes
        finally:
            if self.new_scheduler().status(plan).active:
                with contextlib.suppress(ClusterError):  # it ended meanwhile
                    self.new_scheduler().cancel(plan)
            thread.join()

    def until(self, plan: Plan, true: Callable[[PlanStatus], bool]) -> PlanStatus:
        """Ask until it is so."""
        end = time.monotonic() + self.seconds
        while not true(status := self.new_scheduler().status(plan)):
            assert time.monotonic() < end, status
            time.sleep(0.2)
        return status

    def over(self, plan: Plan) -> PlanStatus:
        """Submit, and wait for the end."""
        with self.submitted(plan) as outcomes:
            self.until(plan, lambda status: status.active or bool(outcomes))
            status = self.until(plan, lambda status: bool(outcomes) and not status.active)
        assert isinstance(outcomes[0], str), outcomes
        assert outcomes[0]
        return status

    def test_stages_run_in_order_and_words_arrive(self) -> None:
        plan = self.plan(
            (_node("first", *HOSTILE), _node("value")), (_node("second"),), (_node("third"),)
        )
        scheduler = self.new_scheduler()
        before = scheduler.status(plan)
        assert not before.active
        assert before.manager is None
        assert [one.name for one in before.nodes.values()] == [one.name for one in plan.nodes()]
        assert {one.state for one in before.nodes.values()} == {NodeState.WAITING}
        for path in scheduler.write(plan):
            assert path.is_relative_to(plan.folder / "submitted")
            assert path.is_file()
        assert not scheduler.status(plan).active
        status = self.over(plan)
        for one in status.nodes.values():
            assert (one.state, one.cause, one.attempts) == (NodeState.DONE, None, 1), one
            assert one.where
            assert one.job
        assert list(status.nodes) == [one.name for one in plan.nodes()]
        words = (plan.folder / "words.first").read_text()
        assert words == "\n".join(("first", str(len(HOSTILE)), *HOSTILE, ""))
        assert (plan.folder / "value").read_text() == "it's $HOME"
        order = (plan.folder / "order").read_text().split()
        assert (sorted(order[:2]), order[2:]) == (["first", "value"], ["second", "third"])
        _refused(scheduler.submit, plan)
        _refused(scheduler.cancel, plan)
        assert (plan.folder / "order").read_text().split() == order

    def test_failures_are_reported_and_what_is_left_goes_on(self) -> None:
        plan = self.plan(
            (
                _node("good"),
                _node("once", retries=1),
                _node("fail"),
                _node("again", checkpoints=True),
                _node("wrong"),
            ),
            (_node("last"),),
        )
        status = self.over(plan)
        nodes = status.nodes
        states = {name: one.state for name, one in nodes.items()}
        assert states == {
            "good": NodeState.DONE,
            "once": NodeState.DONE,
            "fail": NodeState.FAILED,
            "again": NodeState.DONE,
            "wrong": NodeState.FAILED,
            "last": NodeState.WAITING,
        }, nodes
        assert (nodes["once"].attempts, nodes["again"].attempts) == (2, 3)
        cause = nodes["fail"].cause or ""
        assert "3" in cause
        assert "it broke <b>" in cause
        assert "85" in (nodes["wrong"].cause or "")
        assert nodes["last"].attempts == 0
        (plan.folder / "mended").touch()
        (plan.folder / "order").rename(plan.folder / "order.before")
        status = self.over(plan)
        assert {one.state for one in status.nodes.values()} == {NodeState.DONE}, status
        order = (plan.folder / "order").read_text().split()
        assert (sorted(order[:2]), order[2:]) == (["fail", "wrong"], ["last"])

    def test_an_active_plan_is_left_alone_and_a_cancelled_one_goes_on(self) -> None:
        plan = self.plan((_node("first"),), (_node("stay"),), (_node("last"),))
        scheduler = self.new_scheduler()
        with self.submitted(plan):
            status = self.until(
                plan,
                lambda status: (
                    status.nodes["stay"].state is NodeState.RUNNING
                    and (plan.folder / "stayed").exists()
                ),
            )
            assert status.active
            assert status.manager
            states = [one.state for one in status.nodes.values()]
            assert states == [NodeState.DONE, NodeState.RUNNING, NodeState.WAITING]
            _refused(scheduler.submit, plan)
            _refused(scheduler.write, plan)
            scheduler.cancel(plan)
            status = self.until(plan, lambda status: not status.active)
        assert status.nodes["first"].state is NodeState.DONE
        assert status.nodes["stay"].state is NodeState.REMOVED
        assert status.nodes["last"].state in (NodeState.WAITING, NodeState.REMOVED)
        status = self.over(plan)
        assert {one.state for one in status.nodes.values()} == {NodeState.DONE}, status
        assert (plan.folder / "order").read_text().split() == ["first", "stay", "stay", "last"]


def _refused(call: Callable[[Plan], object], plan: Plan) -> None:
    with pytest.raises(ClusterError) as refusal:
        call(plan)
    assert "\n" not in str(refusal.value)
