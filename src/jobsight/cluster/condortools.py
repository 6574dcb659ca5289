"""HTCondor's tools run as children, and the state of a DAGMan job by them and its log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from jobsight.cluster.nodelogs import read_rows
from jobsight.errors import ClusterError
from jobsight.history.commands import Ended, child_environment, find_tool, run_command
from jobsight.text import counted, printable

__all__ = ["Manager", "manager_of", "run_tool"]

_TIMEOUT = 60.0
_MOST_OUTPUT = 1 << 20


@dataclass(frozen=True)
class Manager:
    """The DAGMan job of the last submission, by its log and the queue.

    Attributes:
        job: its cluster; None: never submitted.
        active: it, or a job of it, is in the queue, or the queue does not answer.
        failed: it ended by itself with an error.
        asked: False where the queue had to be asked, and does not answer.
    """

    job: int | None
    active: bool
    status: str | None
    failed: bool = False
    asked: bool = True


def manager_of(dag: Path) -> Manager:
    """The DAGMan job of a DAG file.

    Raises:
        SourceError: its log is there and cannot be read.
    """
    log = dag.with_name(f"{dag.name}.dagman.log")
    logged = _logged(log)
    if not logged.active or logged.job is None:
        return logged
    queued = _queued(logged.job)
    if queued.active:
        return queued
    logged = _logged(log)  # it may have ended since
    return queued if logged.active else logged


def _logged(log: Path) -> Manager:
    """By its log; what has no end there is active."""
    rows = read_rows(log)
    jobs = [row["cluster"] for row in rows if row["code"] == 0]
    if not jobs:
        return Manager(None, False, None)
    job = jobs[-1]
    ends = [row for row in rows if row["cluster"] == job and row["code"] in (5, 9)]
    if not ends:
        return Manager(job, True, f"DAGMan job {job}")
    if ends[-1]["code"] == 9:
        return Manager(job, False, f"DAGMan job {job} was removed")
    status = ends[-1]["return_value"]
    return Manager(job, False, f"DAGMan job {job} ended with status {status}", failed=status != 0)


def _queued(job: int) -> Manager:
    """By the queue, where its log has no end."""
    try:
        queue = run_tool(
            ("condor_q", "-allusers"),
            ("-constraint", f"ClusterId == {job} || DAGManJobId == {job}"),
            ("-af:t", "ClusterId", "JobStatus", "HoldReason"),
        )
    except ClusterError as error:
        status = f"DAGMan job {job}, of unknown state: {error}"
        return Manager(job, True, status, asked=False)
    lines = queue.stdout.decode("utf-8", "replace").splitlines()
    jobs = {line.split("\t")[0]: line.split("\t")[1:] for line in lines if line.count("\t") >= 2}
    if not jobs:
        status = f"DAGMan job {job} left the queue without an end in its log"
        return Manager(job, False, status, failed=True)
    state, reason = jobs.get(str(job), ["0", ""])[:2]
    words = {
        "1": "waits to start",
        "2": "runs",
        "3": "is being removed",
        "5": f"is held: {printable(reason, 200)}",
    }
    gone = f"is gone, but {counted(len(jobs), 'job')} of it are in the queue"
    return Manager(job, True, f"DAGMan job {job} {words.get(state, gone)}")


def run_tool(*parts: Iterable[str], folder: Path | None = None) -> Ended:
    """Run one of HTCondor's tools, found on the PATH, to its end; its words come in `parts`.

    Raises:
        ClusterError: it is missing, took too long or ended with another status than 0.
    """
    name, *arguments = [word for part in parts for word in part]
    tool = find_tool(name, None, ())
    if tool is None:
        raise ClusterError(
            f"{name} is not on the PATH; run this on an access point of HTCondor, or name another "
            "scheduler"
        )
    try:
        ended = run_command(
            [tool, *arguments],
            env=child_environment(),
            timeout=_TIMEOUT,
            most_output=_MOST_OUTPUT,
            folder=folder,
        )
    except OSError as error:
        raise ClusterError(f"{name} cannot be run: {error.strerror}") from error
    if ended.status is None:
        raise ClusterError(f"{name} did not answer within {_TIMEOUT:g} s; is the schedd busy?")
    if ended.status != 0:
        raise ClusterError(f"{name} refused: {_complaint(ended)}")
    return ended


def _complaint(ended: Ended) -> str:
    """What a failed tool printed: its lines of error, or the last ones."""
    printed = (ended.stderr or ended.stdout).decode("utf-8", "replace")
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    errors = [line for line in lines if "ERROR" in line or "rror:" in line] or lines[-3:]
    return printable(" ".join(errors), 400) or f"status {ended.status}, and said nothing"
