"""The scheduler of DAGMan, with stand-ins for HTCondor's tools that answer what is asked of them.

What the real ones do is in tests/integration/test_dagman.py; here they are missing, silent, or
answer what a test bed cannot be made to.
"""

import stat
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.logtext import ABORTED, SUBMIT, TERMINATED, record

from jobsight.cluster import Node, NodeState, Plan, Program, Stage
from jobsight.cluster.dagman import Dagman, last_error, manager_of, run_tool
from jobsight.errors import ClusterError, OutputError


class Tools:
    """A folder of tools, first on the PATH; each notes how it was called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.tool("condor_submit", "")
        self.tool("condor_submit_dag", "echo '1 job(s) submitted to cluster 12.'")
        self.tool("condor_q", "")
        self.tool("condor_rm", "")

    def tool(self, name: str, script: str) -> None:
        path = self.folder / name
        path.write_text(f'#!/bin/sh\necho "$0" "$@" >> {self.folder}/calls\n{script}\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def calls(self, name: str) -> list[str]:
        lines = (self.folder / "calls").read_text().splitlines()
        mine = f"{self.folder / name} "
        return [line.removeprefix(mine) for line in lines if line.startswith(mine)]


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tools:
    made = Tools(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{made.folder}:/usr/bin:/bin")
    return made


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    (tmp_path / "sweep").mkdir()
    stages = (
        Stage("parse", (Node("parse", ("parse",)),)),
        Stage("runs", (Node("run-1", ("run", "1")), Node("run-2", ("run", "2")))),
    )
    return Plan("sweep", tmp_path / "sweep", stages, Program(("jobsight",)), shared=True)


def submitted(plan: Plan) -> Path:
    return plan.folder / "submitted"


def log(plan: Plan, *records: bytes) -> None:
    """What the log of the DAGMan job tells."""
    (submitted(plan) / "plan.dag.dagman.log").write_bytes(b"".join(records))


def events(plan: Plan, **ended: str) -> None:
    """The nodes' log: each was submitted and ended so."""
    told = b""
    for number, (name, body) in enumerate(ended.items(), 100):
        job = f"{number}.000.000"
        told += record(0, f"{SUBMIT}    DAG Node: {name.replace('_', '-')}\n", job)
        told += record(5, body, job)
    (submitted(plan) / "events.log").write_bytes(told)


def test_a_plan_that_was_never_handed_over_waits(plan: Plan, tools: Tools) -> None:
    status = Dagman().status(plan)
    assert not status.active
    assert status.manager is None
    assert {node.state for node in status.nodes.values()} == {NodeState.WAITING}
    with pytest.raises(ClusterError, match="nothing to cancel"):
        Dagman().cancel(plan)
    assert not (tools.folder / "calls").exists()


def test_submitting_tries_the_descriptions_first(plan: Plan, tools: Tools) -> None:
    assert Dagman().submit(plan) == "12"
    dry = [f"-dry-run /dev/null {submitted(plan)}/{name}.sub" for name in ("parse",)]
    assert tools.calls("condor_submit") == dry  # all nodes ask for the same
    assert tools.calls("condor_submit_dag") == [
        "-batch-name sweep -autorescue 1 submitted/plan.dag"
    ]


def test_what_condor_submit_says_is_told(plan: Plan, tools: Tools) -> None:
    tools.tool("condor_submit", "echo 'noise'; echo 'ERROR: bad\x1b[31m line 3' >&2; exit 1")
    with pytest.raises(ClusterError, match="condor_submit refused: ERROR: bad \\[31m line 3"):
        Dagman().submit(plan)
    assert not (submitted(plan) / "plan.dag.dagman.log").exists()
    tools.tool("condor_submit", "")
    tools.tool("condor_submit_dag", "echo 'nothing of use'")
    with pytest.raises(ClusterError, match="named no cluster"):
        Dagman().submit(plan)


def test_a_misspelt_command_is_told_and_one_of_ours_that_is_too_new_is_not(
    plan: Plan, tools: Tools
) -> None:
    tools.tool("condor_submit", "echo \"WARNING: the line 'rnak = 1' was unused by\" >&2")
    misspelt = replace(plan, options={"dagman": {"rnak": "1"}})
    with pytest.raises(ClusterError, match=r"dagman\.rnak: condor_submit knows no such command"):
        Dagman().submit(misspelt)
    assert Dagman().submit(plan) == "12"


def test_a_missing_tool_is_named(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ClusterError, match="condor_submit is not on the PATH"):
        Dagman().submit(plan)


def test_a_tool_that_cannot_be_run_is_named(tools: Tools) -> None:
    (tools.folder / "condor_q").write_bytes(b"\x7fELF no program")
    with pytest.raises(ClusterError, match="condor_q cannot be run: Exec format error"):
        run_tool(("condor_q",))
    tools.tool("condor_q", "exit 4")
    with pytest.raises(ClusterError, match="status 4, and said nothing"):
        run_tool(("condor_q",))


@pytest.mark.parametrize(
    ("queue", "active", "words"),
    [
        ("printf '12\\t2\\tundefined\\n'", True, "DAGMan job 12 runs"),
        ("printf '12\\t1\\tundefined\\n'", True, "DAGMan job 12 waits to start"),
        ("printf '12\\t5\\tno \\033[3m disk\\n13\\t2\\t\\n'", True, "12 is held: no [3m disk"),
        ("printf '13\\t2\\tundefined\\n'", True, "is gone, but 1 job of it are in the queue"),
        ("true", False, "left the queue without an end"),
        ("echo 'Error: no schedd' >&2; exit 1", True, "unknown state: condor_q refused: Error:"),
    ],
)  # fmt: skip
def test_what_the_queue_tells(
    plan: Plan, tools: Tools, queue: str, active: bool, words: str
) -> None:
    Dagman().write(plan)
    log(plan, record(0, SUBMIT, "11.000.000"), record(5, TERMINATED, "11.000.000"),
        record(0, SUBMIT, "12.000.000"))  # fmt: skip
    tools.tool("condor_q", queue)
    status = Dagman().status(plan)
    assert status.active is active
    assert words in (status.manager or "")
    if active:
        for refused in (Dagman().write, Dagman().submit):
            with pytest.raises(ClusterError, match="plan sweep is active"):
                refused(plan)
        Dagman().cancel(plan)
        assert tools.calls("condor_rm") == ["12"]


def test_an_end_in_the_log_needs_no_queue(plan: Plan, tools: Tools) -> None:
    Dagman().write(plan)
    log(plan, record(0, SUBMIT, "12.000.000"), record(9, ABORTED, "12.000.000"))
    assert manager_of(submitted(plan) / "plan.dag").status == "DAGMan job 12 was removed"
    assert not (tools.folder / "calls").exists()


def test_going_on_tells_dagman_what_is_done(plan: Plan, tools: Tools) -> None:
    Dagman().write(plan)
    failed = TERMINATED.replace("value 0", "value 1")
    events(plan, parse=TERMINATED, run_1=TERMINATED, run_2=failed)
    (submitted(plan) / "nodes/run-2.err").write_text("a\nlast words\n")
    log(plan, record(0, SUBMIT, "12.000.000"), record(9, ABORTED, "12.000.000"))
    for left in ("plan.dag.condor.sub", "plan.dag.lock"):
        (submitted(plan) / left).touch()
    (submitted(plan) / "plan.dag.rescue009").write_text("# old\nDONE parse\n\nRETRY run-1 1\n")
    assert Dagman().status(plan).nodes["run-2"].cause == "exit status 1: last words"
    Dagman().submit(plan)
    newest = (submitted(plan) / "plan.dag.rescue010").read_text()
    assert newest == "DONE parse\nDONE run-1\n"
    names = {path.name for path in submitted(plan).iterdir()}
    assert not names & {"plan.dag.condor.sub", "plan.dag.lock", "plan.dag.dagman.log"}


def test_what_is_done_is_not_submitted_again(plan: Plan, tools: Tools) -> None:
    Dagman().write(plan)
    events(plan, parse=TERMINATED, run_1=TERMINATED, run_2=TERMINATED)
    with pytest.raises(ClusterError, match="all 3 nodes of plan sweep are done"):
        Dagman().submit(plan)


def test_a_node_that_could_not_be_submitted_is_a_failure(plan: Plan, tools: Tools) -> None:
    Dagman().write(plan)
    (submitted(plan) / "plan.status").write_text(
        '[\n  Type = "NodeStatus";\n  Node = "parse";\n  NodeStatus = 6; /* "STATUS_ERROR" */\n'
        '  StatusDetails = "Job submit failed";\n  RetryCount = 0;\n]\n'
        '[\n  Type = "NodeStatus";\n  Node = "run-1";\n  NodeStatus = 1;\n'
        '  StatusDetails = "";\n]\n'
    )
    nodes = Dagman().status(plan).nodes
    assert (nodes["parse"].state, nodes["parse"].cause) == (NodeState.FAILED, "Job submit failed")
    assert nodes["run-1"].state is NodeState.WAITING


def test_of_a_long_log_of_dagmans_the_end_is_read(
    plan: Plan, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobsight.cluster.dagman._MOST_BYTES", 1000)
    Dagman().write(plan)
    failed = TERMINATED.replace("value 0", "value 2")
    log(plan, record(0, SUBMIT, "12.000.000"), record(5, failed, "12.000.000"))
    (submitted(plan) / "plan.dag.dagman.out").write_text(
        "11/21/26 09:00:00 ERROR: old\n" * 1000 + "11/21/26 09:00:01 ERROR: new\n"
    )
    told = Dagman().status(plan).manager
    assert told == "DAGMan job 12 ended with status 2: ERROR: old; ERROR: new"


def test_a_folder_that_cannot_be_written_is_one_error(plan: Plan, tools: Tools) -> None:
    submitted(plan).write_text("no folder")
    with pytest.raises(OutputError, match="cannot write"):
        Dagman().write(plan)


def test_the_script_that_unpacks_can_be_run(plan: Plan, tools: Tools) -> None:
    program = Program(("jobsight",), pack=Path("/pack.tar.gz"))
    packed = Plan("sweep", plan.folder, plan.stages, program, shared=False)
    script = next(path for path in Dagman().write(packed) if path.name == "start.sh")
    assert script.stat().st_mode & 0o555 == 0o555


def test_errors_are_read_as_written() -> None:
    assert last_error("") is None
    assert last_error("11/21/26 09:00:00 ERROR: alone") == "ERROR: alone"
    said = "11/21/26 09:00:00 Warning: x\n11/21/26 09:00:00 ERROR: y\n11/21/26 09:00:01 bye\n"
    assert last_error(said) == "Warning: x; ERROR: y"
