"""The lines that DAGMan is given. tests/integration/test_dagman.py shows them to it."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jobsight.cluster import Node, Plan, Program, Resources, Stage
from jobsight.cluster.dagfiles import dag_lines, kinds, submit_lines
from jobsight.cluster.dagoptions import options_of
from jobsight.errors import ClusterError

FOLDER = Path("/data/my $sweep")
HISTORY = "history/1"


def plan(**more: Any) -> Plan:
    """Two stages and a last node near."""
    stages = (
        Stage("parse", (Node("parse-1", ("parse", "one shard"), ("/logs/EventLog",), (HISTORY,)),)),
        Stage(
            "runs",
            tuple(
                Node(
                    f"run-{number}", ("run", str(number)), ("sweep.json", "history/1/"),
                    (f"runs/{number}",), Resources(2, 512, 1024, gpu, 3600), 2, checkpoints=True,
                )
                for number, gpu in ((1, 0), (2, 0), (3, 1))
            ),
        ),
        Stage("best", (Node("best", ("best",), ("runs",), ("best",), near=True),)),
    )  # fmt: skip
    given: dict[str, Any] = {
        "program": Program(("/venv/bin/python3", "-m", "jobsight"), environment={"A": "b c"}),
        "shared": False,
    }
    return Plan("sweep", FOLDER, stages, **(given | more))


def submit(made: Plan, name: str) -> list[str]:
    return list(submit_lines(made, kinds(made)[name][0]))


def value(lines: list[str], name: str) -> str | None:
    """Of the one line that sets a submit command."""
    found = [line.partition(" = ")[2] for line in lines if line.startswith(f"{name} = ")]
    assert len(found) <= 1
    return found[0] if found else None


def test_the_dag_has_a_line_of_each_kind_for_each_node() -> None:
    assert list(dag_lines(plan()))[1:] == [
        "NODE_STATUS_FILE submitted/plan.status 30 ALWAYS-UPDATE",
        "JOB parse-1 submitted/parse.sub",
        "VARS parse-1 node_arguments=\"parse 'one shard'\" "
        'node_inputs="/logs/EventLog, history/1" node_outputs="history/1"',
        "JOB run-1 submitted/runs.sub",
        'VARS run-1 node_arguments="run 1" '
        'node_inputs="sweep.json, history/1, runs/1" node_outputs="runs/1"',
        "RETRY run-1 1",
        "JOB run-2 submitted/runs.sub",
        'VARS run-2 node_arguments="run 2" '
        'node_inputs="sweep.json, history/1, runs/2" node_outputs="runs/2"',
        "RETRY run-2 1",
        "JOB run-3 submitted/runs.2.sub",
        'VARS run-3 node_arguments="run 3" '
        'node_inputs="sweep.json, history/1, runs/3" node_outputs="runs/3"',
        "RETRY run-3 1",
        "JOB best submitted/best.sub",
        'VARS best node_arguments="best"',
        "PARENT parse-1 CHILD run-1 run-2 run-3",
        "PARENT run-1 run-2 run-3 CHILD best",
    ]


def test_a_shared_file_system_needs_no_transfer() -> None:
    made = plan(shared=True)
    assert 'VARS run-1 node_arguments="run 1"' in list(dag_lines(made))
    lines = submit(made, "runs.sub")
    assert value(lines, "should_transfer_files") == "NO"
    assert not [line for line in lines if line.startswith(("transfer_input", "transfer_output"))]
    assert value(lines, "checkpoint_exit_code") == "85"
    assert value(lines, "initialdir") == "/data/my $(DOLLAR)sweep"


def test_a_node_that_checkpoints_is_told_to_go_and_keeps_its_outputs() -> None:
    lines = submit(plan(), "runs.sub")
    assert value(lines, "when_to_transfer_output") == "ON_EXIT_OR_EVICT"
    assert value(lines, "transfer_checkpoint_files") == "$(node_outputs)"
    assert value(lines, "kill_sig") == "SIGTERM"
    assert int(value(lines, "job_max_vacate_time") or 0) >= 60
    assert (
        value(lines, "periodic_vacate") == "JobStatus == 2 && time() - JobCurrentStartDate > 3600"
    )
    parse = submit(plan(), "parse.sub")
    assert value(parse, "checkpoint_exit_code") is None
    assert value(parse, "transfer_checkpoint_files") is None


def test_what_is_started_and_asked_for() -> None:
    lines = submit(plan(), "runs.2.sub")
    assert lines[0] == "universe = vanilla"
    assert value(lines, "executable") == "/venv/bin/python3"
    assert value(lines, "transfer_executable") == "False"
    assert value(lines, "arguments") == '"-m jobsight $(node_arguments)"'
    assert value(lines, "environment") == "\"A='b c'\""
    assert value(lines, "request_cpus") == "2"
    assert value(lines, "request_memory") == "512MB"
    assert value(lines, "request_disk") == "1024MB"
    assert value(lines, "request_gpus") == "1"
    assert value(lines, "max_retries") == "2"
    assert lines[-1] == "queue"
    assert value(submit(plan(), "runs.sub"), "request_gpus") is None


def test_a_name_without_a_folder_is_looked_for_on_the_path() -> None:
    lines = submit(plan(program=Program(("jobsight",))), "runs.sub")
    assert value(lines, "executable") == "/usr/bin/env"
    assert value(lines, "arguments") == '"jobsight $(node_arguments)"'


def test_a_near_node_is_a_job_of_the_submitting_machine() -> None:
    program = Program(("jobsight",), image="x.sif", near=("/venv/bin/jobsight",))
    options = {"dagman": {"requirements": "x", "rank": "y", "MY.Project": '"z"', "Priority": "3"}}
    lines = submit(plan(program=program, options=options), "best.sub")
    assert lines[0] == "universe = local"
    assert value(lines, "executable") == "/venv/bin/jobsight"
    assert value(lines, "MY.Project") == '"z"'
    assert value(lines, "Priority") == "3"
    unwanted = ("requirements", "rank", "container_image", "should_transfer_files")
    assert not [line for line in lines if line.startswith(unwanted)]


def test_a_near_node_that_fails_is_submitted_anew() -> None:
    node = Node("only", ("x",), retries=2, near=True)
    made = Plan("near", FOLDER, (Stage("last", (node,)),), Program(("x",)), shared=False)
    assert "RETRY only 2" in list(dag_lines(made))
    assert value(submit(made, "last.sub"), "max_retries") is None


def test_a_container_image_is_the_pools_business() -> None:
    lines = submit(plan(program=Program(("python3",), image="docker://a/b:1")), "runs.sub")
    assert lines[0] == "universe = container"
    assert value(lines, "container_image") == "docker://a/b:1"
    assert value(lines, "transfer_executable") == "False"
    assert value(lines, "transfer_container") is None, "a file of here is sent along"


def test_a_container_image_is_not_sent_where_folders_are_shared() -> None:
    """HTCondor refuses a job that is sent an image but no files."""
    image = Program(("python3",), image="/shared/x.sif")
    lines = submit(replace(plan(program=image), shared=True), "runs.sub")
    assert value(lines, "transfer_container") == "False"
    assert value(lines, "should_transfer_files") == "NO"


def test_a_pack_goes_with_the_script_that_unpacks_it() -> None:
    made = plan(program=Program(("jobsight",), pack=Path("/packs/my pack.tar.gz")))
    lines = submit(made, "runs.sub")
    assert value(lines, "executable") == "submitted/start.sh"
    assert value(lines, "transfer_executable") == "True"
    assert value(lines, "transfer_input_files") == "/packs/my pack.tar.gz, $(node_inputs)"
    assert value(lines, "arguments") == (
        "\"'my pack.tar.gz' jobsight-environment jobsight $(node_arguments)\""
    )
    shared = submit(replace(made, shared=True), "runs.sub")
    assert value(shared, "executable") == "/usr/bin/env"
    assert value(shared, "arguments") == (
        "\"sh submitted/start.sh '/packs/my pack.tar.gz' submitted/jobsight-environment jobsight "
        '$(node_arguments)"'
    )


def test_the_users_requirements_hold_beside_ours() -> None:
    options = {"dagman": {"requirements": ['GLIDEIN_Site == "X"', "HasGpu"], "elsewhere": "5"}}
    told = value(submit(plan(options=options), "runs.sub"), "requirements") or ""
    assert told.startswith('((GLIDEIN_Site == "X") && (HasGpu)) && (')
    assert "time() - EnteredCurrentStatus > 5" in told
    nowhere = {"dagman": {"elsewhere": 0}}
    assert value(submit(plan(options=nowhere), "runs.sub"), "requirements") is None


def test_no_job_is_left_held_but_by_a_person() -> None:
    lines = submit(plan(options={"dagman": {"releases": "2", "release_after": "9"}}), "runs.sub")
    release, remove = value(lines, "periodic_release"), value(lines, "periodic_remove")
    assert release and release.endswith("NumHolds <= 2 && time() - EnteredCurrentStatus >= 9")
    assert remove and remove.startswith("JobStatus == 5 && !(member(HoldReasonCode")
    assert remove.endswith("!member(HoldReasonCode, {1, 15, 16})")


def test_a_job_that_is_started_ever_again_is_held_and_so_removed() -> None:
    lines = submit(plan(), "runs.sub")
    worn = "((NumShadowStarts ?: 0) > 50 + (CheckpointNumber ?: -1) + "
    assert (value(lines, "periodic_hold") or "").startswith(worn)
    assert "VacateReason" in (value(lines, "periodic_hold_reason") or "")
    fewer = {"options": {"dagman": {"starts": "7"}}}
    assert "> 7 + " in (value(submit(plan(**fewer), "parse.sub"), "periodic_hold") or "")
    for more in ({"shared": True}, {"options": {"dagman": {"starts": "0"}}}):
        assert value(submit(plan(**more), "runs.sub"), "periodic_hold") is None
    assert value(submit(plan(), "best.sub"), "periodic_hold") is None


def test_a_job_with_a_limit_of_time_has_both_reasons_to_be_held() -> None:
    kind = replace(kinds(plan())["runs.sub"][0], checkpoints=False)
    lines = list(submit_lines(plan(), kind))
    hold, reason = value(lines, "periodic_hold"), value(lines, "periodic_hold_reason")
    assert hold and hold.startswith("(JobStatus == 2 && time() - JobCurrentStartDate > 3600) || (")
    assert reason and reason.startswith("ifThenElse((NumShadowStarts ?: 0) > 50")
    assert "ifThenElse(JobStatus == 2 && " in reason


def test_a_machine_that_is_out_of_touch_is_given_up_sooner_than_by_default() -> None:
    assert value(submit(plan(), "runs.sub"), "job_lease_duration") == "600"
    options = {"dagman": {"Job_Lease_Duration": "20"}}
    lines = submit(plan(options=options), "runs.sub")
    assert value(lines, "job_lease_duration") is None
    assert value(lines, "Job_Lease_Duration") == "20"
    assert value(submit(plan(), "best.sub"), "job_lease_duration") is None


def test_dagmans_own_settings_have_a_file() -> None:
    made = plan(options={"dagman": {"DAGMAN_MAX_JOBS_IDLE": "50"}})
    assert options_of(made).settings == {"DAGMAN_MAX_JOBS_IDLE": "50"}
    assert "CONFIG submitted/dagman.config" in list(dag_lines(made))


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("executable", "/bin/sh", "written by jobsight"),
        ("GetEnv", "True", "written by jobsight"),
        ("periodic_hold_reason", '"x"', "written by jobsight"),
        ("queue", "5", "written by jobsight"),
        ("two words", "1", "not a submit command"),
        ("queue 5 #", "1", "not a submit command"),
        ("+A\nqueue", "1", "not a submit command"),
        ("rank", "1\nqueue 5", "line breaks"),
        ("rank", "", "is empty"),
        ("rank", [], "is empty"),
        ("releases", "many", "whole number"),
        ("elsewhere", "-1", "whole number"),
    ],
)
def test_options_that_would_break_out_are_refused(name: str, given: Any, words: str) -> None:
    with pytest.raises(ClusterError, match=words) as caught:
        options_of(plan(options={"dagman": {name: given}}))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "more",
    [
        {"program": Program(("/bin/odd\\",))},
        {"program": Program(("x",), image="image ")},
        {"options": {"dagman": {"rank": "1 \\"}}},
    ],
)
def test_a_line_that_would_join_the_next_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(ClusterError, match="cannot be in a submit description"):
        submit(plan(**more), "runs.sub")
    with pytest.raises(ClusterError, match="cannot be in a submit description"):
        submit(replace(plan(), folder=Path("/odd\\")), "runs.sub")


def test_nodes_that_ask_for_the_same_share_a_description() -> None:
    made = plan()
    named = {name: [node.name for node in nodes] for name, (_, nodes) in kinds(made).items()}
    assert named == {
        "parse.sub": ["parse-1"], "runs.sub": ["run-1", "run-2"],
        "runs.2.sub": ["run-3"], "best.sub": ["best"],
    }  # fmt: skip


def test_a_thousand_nodes_take_no_time() -> None:
    nodes = tuple(
        Node(f"run-{number}", ("run", str(number)), ("history",), (f"runs/{number}",))
        for number in range(1000)
    )
    started = time.process_time()
    made = Plan("sweep", FOLDER, (Stage("runs", nodes),), Program(("jobsight",)), shared=False)
    lines = list(dag_lines(made))
    assert len(lines) == 2002
    assert time.process_time() - started < 1
