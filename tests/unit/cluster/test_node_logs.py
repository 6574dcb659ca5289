"""Where nodes stand after what their event log tells."""

from pathlib import Path

import pytest
from tests.support.logtext import (
    ABORTED,
    EXECUTE,
    HELD,
    RELEASED,
    SUBMIT,
    TERMINATED,
    USAGE,
    record,
)

from jobsight.cluster import NodeState, NodeStatus
from jobsight.cluster.nodelogs import follow_nodes, read_rows

REQUEUED = (
    "Job was evicted.\n\t(0) Job terminated and was requeued\n" + USAGE +
    "\t(1) Normal termination (return value 3)\n"
)  # fmt: skip
EVICTED = "Job was evicted.\n\t(0) CPU times\n" + USAGE
BY_POLICY = (
    "Job was aborted.\n\tThe job attribute PeriodicRemove expression 'JobStatus == 5' evaluated to "
    "TRUE\n"
)


def submitted(node: str, job: str = "123.000.000") -> bytes:
    return record(0, f"{SUBMIT}    DAG Node: {node}\n", job)


def followed(tmp_path: Path, *records: bytes, names: tuple[str, ...] = ("run",)) -> NodeStatus:
    """The first node's status after these records."""
    log = tmp_path / "events.log"
    log.write_bytes(b"".join(records))
    return follow_nodes(read_rows(log), names)[names[0]]


FAILED = TERMINATED.replace("(1) Normal termination (return value 0)",
                            "(1) Normal termination (return value 9)")  # fmt: skip
KILLED = TERMINATED.replace("(1) Normal termination (return value 0)",
                            "(0) Abnormal termination (signal 11)\n\t(0) No core file")  # fmt: skip
WHY_HELD = "held (TransferInputError): Error from slot1_1@site-a: no such file"


NO_PYTHON = (
    "Job was held.\n\tError from slot1_1@a: Failed to execute '/p/python' with arguments -m j: "
    "(errno=2: 'No such file or directory')\n\tCode 6 Subcode 2\n"
)


def test_what_to_do_is_said_where_the_program_is_not_there(tmp_path: Path) -> None:
    status = followed(tmp_path, submitted("run"), record(12, NO_PYTHON))
    assert status.cause is not None
    assert "'No such file or directory'); the program is not there under that path" in status.cause


def test_an_error_that_a_job_may_get_over_is_told_while_it_runs(tmp_path: Path) -> None:
    error = "Error from starter on slot1_1@a:\n\tRepeated attempts to transfer output failed\n"
    status = followed(tmp_path, submitted("run"), record(1, EXECUTE), record(21, error))
    assert status.state is NodeState.RUNNING
    assert "Repeated attempts to transfer output failed" in (status.cause or "")


@pytest.mark.parametrize(
    ("events", "state", "cause", "attempts"),
    [
        ([], "queued", None, 0),
        ([(1, EXECUTE)], "running", None, 1),
        ([(1, EXECUTE), (5, TERMINATED)], "done", None, 1),
        ([(1, EXECUTE), (5, FAILED)], "failed", "exit status 9", 1),
        ([(1, EXECUTE), (5, KILLED)], "failed", "killed by signal 11", 1),
        ([(1, EXECUTE), (4, EVICTED)], "queued", None, 1),
        ([(1, EXECUTE), (4, REQUEUED)], "queued", "exit status 3", 1),
        ([(1, EXECUTE), (4, REQUEUED), (1, EXECUTE)], "running", None, 2),
        ([(1, EXECUTE), (4, EVICTED), (1, EXECUTE), (5, TERMINATED)], "done", None, 2),
        ([(1, EXECUTE), (12, HELD)], "held", WHY_HELD, 1),
        ([(12, HELD), (13, RELEASED)], "queued", WHY_HELD, 0),
        ([(12, HELD), (9, BY_POLICY)], "failed", WHY_HELD, 0),
        ([(12, HELD), (9, ABORTED)], "removed", "removed: via condor_rm (by user u01)", 0),
        ([(1, EXECUTE), (9, ABORTED)], "removed", "removed: via condor_rm (by user u01)", 1),
    ],
)
def test_a_node_after_its_events(
    tmp_path: Path, events: list[tuple[int, str]], state: str, cause: str | None, attempts: int
) -> None:
    status = followed(tmp_path, submitted("run"), *(record(code, body) for code, body in events))
    assert (status.state.value, status.cause, status.attempts) == (state, cause, attempts)
    assert status.job == "123.0"
    assert status.where == ("site-a" if attempts else None)


def test_a_new_job_of_a_node_takes_the_place_of_the_last(tmp_path: Path) -> None:
    status = followed(
        tmp_path, submitted("run"), record(1, EXECUTE), record(5, FAILED),
        submitted("run", "124.000.000"), record(1, EXECUTE, "124.000.000"),
        record(5, TERMINATED, "124.000.000"),
    )  # fmt: skip
    assert (status.state, status.attempts, status.job) == (NodeState.DONE, 2, "124.0")


def test_nodes_and_jobs_that_nobody_asked_for_are_passed_over(tmp_path: Path) -> None:
    status = followed(
        tmp_path, submitted("other"), record(5, TERMINATED), record(5, FAILED, "9.000.000"),
    )  # fmt: skip
    assert status == NodeStatus("run", NodeState.WAITING)


def test_hosts_without_a_slot(tmp_path: Path) -> None:
    host = "Job executing on host: <192.0.2.7:9618?addrs=192.0.2.7-9618&alias=node7.example>\n"
    status = followed(tmp_path, submitted("run"), record(1, host), record(5, TERMINATED))
    assert status.where == "node7.example"


def test_hostile_reasons_are_plain(tmp_path: Path) -> None:
    held = f"Job was held.\n\t\x1b[31m{'x' * 5000}\n\tCode 13 Subcode 2\n"
    status = followed(tmp_path, submitted("run"), record(12, held))
    assert status.cause is not None
    assert status.cause.isprintable()
    assert len(status.cause) < 500


def test_no_log_tells_nothing(tmp_path: Path) -> None:
    assert read_rows(tmp_path / "none") == []
    (tmp_path / "empty").touch()
    assert read_rows(tmp_path / "empty") == []
