"""HTCondor's DAGMan runs the plan: one job of the queue that submits the nodes' jobs.

In the plan's folder, under `SUBMITTED`: ``plan.dag``, submit descriptions, DAGMan's own files, its
rescue files (what was done when it ended unfinished), ``events.log`` of all nodes and ``nodes/`` of
what they print. `dagfiles` says what is written and how nodes are started again.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from jobsight.cluster import dagfiles
from jobsight.cluster.base import SUBMITTED, NodeState, NodeStatus, PlanStatus, Scheduler, busy
from jobsight.cluster.dagoptions import options_of
from jobsight.cluster.nodelogs import follow_nodes, read_rows
from jobsight.cluster.plan import Plan
from jobsight.cluster.starting import write_start_script
from jobsight.cluster.states import explained, last_line, tail
from jobsight.commands import Ended, child_environment, find_tool, run_command
from jobsight.errors import ClusterError, OutputError
from jobsight.files import new_file
from jobsight.text import counted, printable

__all__ = ["Dagman", "Manager", "last_error", "manager_of", "run_tool"]

_CLUSTER = re.compile(r"submitted to cluster (\d+)", re.ASCII)
_RESCUE = re.compile(re.escape(dagfiles.DAG) + r"\.rescue(\d{3,})", re.ASCII)
_TOLD = re.compile(r'Node = "([^"]+)";\s*NodeStatus = (\d+);[^\]]*?StatusDetails = "([^"]*)"', re.S)
_UNUSED = re.compile(r"the line '(\S+) = .* was unused")
_MOST_BYTES = 64 << 20
"""Of a file of DAGMan's that are read: its log grows for as long as it runs, what else it writes
has a few hundred bytes a node."""
_ERROR = 6
"""DAGMan's number of the state of a node that failed for good."""


class Dagman(Scheduler):
    """Plans as DAGs; HTCondor's tools are found on the PATH.

    Nothing is kept in memory between calls.
    """

    def write(self, plan: Plan) -> list[Path]:
        """Write the DAG and its submit descriptions; see `Scheduler.write`."""
        manager = manager_of(_folder(plan) / dagfiles.DAG)
        if manager.active:
            raise busy(plan, str(manager.status))
        return _write_files(plan)

    def submit(self, plan: Plan) -> str:
        """Write, try the submit descriptions, submit; see `Scheduler.submit`.

        Where the plan ended unfinished, DAGMan learns from a rescue file what is done by the event
        log: its own is missing or lacks nodes where it was killed.

        Returns:
            The cluster of the DAGMan job.
        """
        status = self.status(plan)
        _require_unfinished(plan, status)
        files = _write_files(plan)
        for file in files:
            if file.suffix == ".sub":
                _try(plan, file)
        _clear(plan)
        _keep_done(plan, status)
        submitted = _folder(plan) / dagfiles.DAG
        said = run_tool(
            ("condor_submit_dag", "-batch-name", plan.name, "-autorescue", "1"),
            (submitted.relative_to(plan.folder).as_posix(),),
            folder=plan.folder,
        )
        found = _CLUSTER.search(said.stdout.decode("utf-8", "replace"))
        if found is None:
            raise ClusterError(f"condor_submit_dag named no cluster; read {submitted}.lib.err")
        return found[1]

    def status(self, plan: Plan) -> PlanStatus:
        """The status by events, DAGMan's own file and the queue."""
        folder = _folder(plan)
        manager = manager_of(folder / dagfiles.DAG)  # first: its nodes end before it
        names = [node.name for node in plan.nodes()]
        nodes = follow_nodes(read_rows(folder / dagfiles.EVENTS), names)
        for name, number, details in _TOLD.findall(_text(folder / dagfiles.STATUS)):
            waits = name in nodes and nodes[name].state is NodeState.WAITING
            if waits and int(number) == _ERROR:
                cause = printable(details, 200) or "DAGMan could not submit it"
                nodes[name] = replace(nodes[name], state=NodeState.FAILED, cause=cause)
        nodes = {name: _with_words(plan, node) for name, node in nodes.items()}
        line = manager.status
        if manager.failed and not any(node.cause for node in nodes.values()):
            words = last_error(_text(folder / f"{dagfiles.DAG}.dagman.out"))
            line = line if words is None else f"{line}: {words}"
        return PlanStatus(manager.active, nodes, line, manager.asked)

    def cancel(self, plan: Plan) -> None:
        """Remove the DAGMan job, which removes its nodes' and writes a rescue file."""
        manager = manager_of(_folder(plan) / dagfiles.DAG)
        if not manager.active or manager.job is None:
            raise ClusterError(f"plan {plan.name} is not active; there is nothing to cancel")
        run_tool(("condor_rm", str(manager.job)), folder=plan.folder)


def _folder(plan: Plan) -> Path:
    return plan.folder / SUBMITTED


def _require_unfinished(plan: Plan, status: PlanStatus) -> None:
    if status.active:
        raise busy(plan, str(status.manager))
    if all(node.state is NodeState.DONE for node in status.nodes.values()):
        raise ClusterError(
            f"all {counted(len(status.nodes), 'node')} of plan {plan.name} are done; to do them "
            f"again, remove {_folder(plan)}"
        )


def _write_files(plan: Plan) -> list[Path]:
    """Write all that DAGMan is given."""
    folder = _folder(plan)
    files: dict[str, Iterable[str]] = {dagfiles.DAG: dagfiles.dag_lines(plan)}
    for name, (kind, _) in dagfiles.kinds(plan).items():
        files[name] = dagfiles.submit_lines(plan, kind)
    if settings := options_of(plan).settings:
        files[dagfiles.CONFIG] = [f"{name} = {value}" for name, value in sorted(settings.items())]
    try:
        (folder / dagfiles.NODES).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror}") from error
    for name, lines in files.items():
        with new_file(folder / name) as temporary:
            temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return [*(folder / name for name in files), *write_start_script(plan)]


def _try(plan: Plan, file: Path) -> None:
    """Have condor_submit read a description, so that what is wrong with it is an error now.

    Raises:
        ClusterError: it cannot be submitted, or an option is no command that HTCondor knows.
    """
    said = run_tool(("condor_submit", "-dry-run", "/dev/null"), (str(file),), folder=plan.folder)
    given = options_of(plan).commands
    for name in _UNUSED.findall(said.stderr.decode("utf-8", "replace")):
        if name in given:
            raise ClusterError(
                f"option dagman.{name}: condor_submit knows no such command; fix its name, or "
                f"write MY.{name} where a job attribute is meant"
            )


def _clear(plan: Plan) -> None:
    """Remove what an earlier DAGMan, now gone, left that stops the next."""
    suffixes = ("condor.sub", "dagman.log", "lib.out", "lib.err", "lock")
    for name in (dagfiles.STATUS, *(f"{dagfiles.DAG}.{suffix}" for suffix in suffixes)):
        with contextlib.suppress(OSError):
            (_folder(plan) / name).unlink()


def _keep_done(plan: Plan, status: PlanStatus) -> None:
    """Write a rescue file that names the nodes that are done, which DAGMan does not run again."""
    done = [name for name, node in status.nodes.items() if node.state is NodeState.DONE]
    found = (_RESCUE.fullmatch(path.name) for path in _folder(plan).iterdir())
    number = 1 + max((int(one[1]) for one in found if one), default=0)
    if done or number > 1:
        with new_file(_folder(plan) / f"{dagfiles.DAG}.rescue{number:03d}") as temporary:
            temporary.write_text("".join(f"DONE {name}\n" for name in done))


def last_error(text: str) -> str | None:
    """The last error that DAGMan logged, with the line before it, which says what of; one line."""
    lines = [line.partition(" ")[2].partition(" ")[2] for line in text.splitlines()]
    for number in range(len(lines) - 1, -1, -1):
        if "ERROR" in lines[number]:
            return printable("; ".join(lines[max(0, number - 1) : number + 1]), 400)
    return None


def _text(path: Path) -> str:
    """A file's text, of a long one its end; empty where there is none."""
    return tail(path, _MOST_BYTES).decode("utf-8", "replace")


def _with_words(plan: Plan, node: NodeStatus) -> NodeStatus:
    """With the last line that a node which ended badly wrote to standard error, and its log."""
    if node.cause is None:
        return node
    folder = _folder(plan)
    if not node.cause.startswith(("exit status", "killed by")):
        return replace(node, log=f"{SUBMITTED}/{dagfiles.EVENTS}") if node.attempts else node
    line, log = last_line(plan.folder, folder / dagfiles.NODES / f"{node.name}.err")
    cause = explained(node.cause, line, 127 if node.cause == "exit status 127" else None)
    return replace(node, cause=cause, log=log)


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
