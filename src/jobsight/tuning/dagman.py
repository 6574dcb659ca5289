"""A sweep on HTCondor: a DAG of a job per run, then ``best``, then ``register``.

DAGMan runs it, one job of the queue. In the sweep's folder, under ``submitted/``: ``sweep.dag``,
submit descriptions, DAGMan's own files, ``events.log`` of all jobs and ``logs/`` of their output.
`dagfiles` has what is written. Every submission is of the runs that have not ended, so no rescue
file is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jobsight.codes import HOLD_CODES, EventCode
from jobsight.commands import Ended, child_environment, find_tool, run_command
from jobsight.errors import ClusterError
from jobsight.files import new_file, write_json
from jobsight.text import abridged, printable
from jobsight.tuning import dagfiles
from jobsight.tuning.folder import Sweep, saved
from jobsight.tuning.scheduler import NO_PROGRAM, NodeStatus, Status, last_line

__all__ = ["Dagman", "follow_nodes"]

_CLUSTER = re.compile(r"submitted to cluster (\d+)", re.ASCII)
_UNUSED = re.compile(r"the line '(\S+) = .* was unused")
_TIMEOUT = 60.0
_MOST_OUTPUT = 1 << 20
_WIDTH = 400
_COLUMNS = (
    *("cluster", "proc", "code", "hold_code", "reason", "return_value", "signal"),
    *("host", "slot", "dag_node"),
)
_NOT_STARTED = 6
"""Hold code of a job whose process could not be made; with errno 2: there is no such file."""
_ALIAS = re.compile(r"[?&]alias=([^&>]+)")


class Dagman:
    """HTCondor; its tools are found on the PATH."""

    def write(self, sweep: Sweep, runs: Sequence[int]) -> list[Path]:
        """Write the DAG and its submit descriptions; see `Scheduler.write`."""
        texts = dagfiles.files_of(sweep, runs)
        (sweep.submitted / "logs").mkdir(parents=True, exist_ok=True)
        for name, lines in texts.items():
            with new_file(sweep.submitted / name) as temporary:
                temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            if name.endswith(".sh"):
                (sweep.submitted / name).chmod(0o755)
        return [sweep.submitted / name for name in texts]

    def submit(self, sweep: Sweep, runs: Sequence[int]) -> str:
        """Write, try the submit descriptions, submit; the cluster of the DAGMan job."""
        if self.status(sweep).active:
            raise ClusterError("the sweep is active; wait for it, or cancel it")
        for file in self.write(sweep, runs):
            if file.suffix == ".sub":
                _try(sweep, file)
        for old in sweep.submitted.glob(f"{dagfiles.DAG}.*"):
            old.unlink()
        printed = _run(
            sweep,
            *("condor_submit_dag", "-batch-name", f"sweep {sweep.name}", "-autorescue", "0"),
            f"submitted/{dagfiles.DAG}",
        )
        match = _CLUSTER.search(printed.stdout.decode("utf-8", "replace"))
        if match is None:
            raise ClusterError("condor_submit_dag named no cluster; see submitted/*.lib.err")
        write_json(sweep.submitted / "dagman.json", {"cluster": int(match[1])})
        return match[1]

    def status(self, sweep: Sweep) -> Status:
        """The status by the queue, and by the event log of the sweep's jobs."""
        path = sweep.submitted / "dagman.json"
        if not path.exists():
            return Status(active=False)
        job = int(saved(path, "")["cluster"])
        manager, active, asked = self._manager(sweep, job)
        nodes = {
            name: _with_log(sweep, name, node)
            for name, node in follow_nodes(_events(sweep.submitted / dagfiles.EVENTS)).items()
        }
        if not active:
            nodes = {
                name: replace(node, state="removed")
                if node.state in ("queued", "running")
                else node
                for name, node in nodes.items()
            }
        return Status(active, manager, nodes, asked)

    def cancel(self, sweep: Sweep) -> None:
        """Remove the DAGMan job, which removes its jobs."""
        if not self.status(sweep).active:
            raise ClusterError("the sweep is not active; there is nothing to cancel")
        _run(sweep, "condor_rm", str(saved(sweep.submitted / "dagman.json", "")["cluster"]))

    def _manager(self, sweep: Sweep, job: int) -> tuple[str, bool, bool]:
        """One line about the DAGMan job; whether it is active; whether the queue answered."""
        try:
            queue = _run(
                sweep,
                *("condor_q", "-allusers", "-constraint"),
                f"ClusterId == {job} || DAGManJobId == {job}",
                *("-af:t", "ClusterId", "JobStatus", "HoldReason"),
            )
        except ClusterError as error:
            return f"DAGMan job {job}, of unknown state: {error}", True, False
        lines = queue.stdout.decode("utf-8", "replace").splitlines()
        jobs = {line.split("\t")[0]: line.split("\t")[1:] for line in lines if line.count("\t") > 1}
        if not jobs:
            log = f"submitted/{dagfiles.DAG}.dagman.out"
            return f"DAGMan job {job} ended; its log is {log}", False, True
        status, reason = jobs.get(str(job), ["0", ""])[:2]
        words = {"1": "waits to start", "2": "runs", "5": f"is held: {printable(reason, 200)}"}
        return f"DAGMan job {job} {words.get(status, 'is being removed')}", True, True


def _try(sweep: Sweep, file: Path) -> None:
    """Have condor_submit read a description, so that what is wrong with it is an error now.

    Raises:
        ClusterError: it cannot be submitted, or an option is not a command that HTCondor knows.
    """
    printed = _run(sweep, "condor_submit", "-dry-run", "/dev/null", str(file))
    for name in _UNUSED.findall(printed.stderr.decode("utf-8", "replace")):
        if name in sweep.config.dagman:
            raise ClusterError(
                f"option dagman.{name}: condor_submit knows no such command; fix its name, or "
                f"write MY.{name} where a job attribute is meant"
            )


def _run(sweep: Sweep, *words: str) -> Ended:
    """Run one of HTCondor's tools, found on the PATH, to its end, in the sweep's folder.

    Raises:
        ClusterError: it is missing, took too long or ended with another status than 0.
    """
    name, *arguments = words
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
            folder=Path(sweep.planned.folder),
        )
    except OSError as error:
        raise ClusterError(f"{name} cannot be run: {error.strerror}") from error
    if ended.status is None:
        raise ClusterError(f"{name} did not answer within {_TIMEOUT:g} s; is the schedd busy?")
    if ended.status != 0:
        printed = (ended.stderr or ended.stdout).decode("utf-8", "replace")
        lines = [line.strip() for line in printed.splitlines() if line.strip()]
        errors = [line for line in lines if "ERROR" in line or "rror:" in line] or lines[-3:]
        raise ClusterError(
            f"{name} refused: {printable(' '.join(errors), 400) or f'status {ended.status}'}"
        )
    return ended


def _events(path: Path) -> list[dict[str, Any]]:
    """The events of all jobs of all submissions, in order."""
    from jobsight.history.events import read_events

    if not path.exists() or path.stat().st_size == 0:
        return []
    return read_events([str(path)]).table.select(_COLUMNS).to_dicts()


def follow_nodes(rows: Iterable[Mapping[str, Any]]) -> dict[str, NodeStatus]:
    """The status of each node of the DAG after these events, by its name.

    Args:
        rows: of the event table, in the order of the log.
    """
    nodes: dict[str, NodeStatus] = {}
    jobs: dict[tuple[int, int], str] = {}
    for row in rows:
        job = (row["cluster"], row["proc"])
        if row["code"] == EventCode.SUBMIT and row["dag_node"]:
            jobs[job] = row["dag_node"]
            nodes[row["dag_node"]] = NodeStatus("queued")
        elif job in jobs:
            nodes[jobs[job]] = _after(nodes[jobs[job]], row)
    return nodes


def _after(node: NodeStatus, row: Mapping[str, Any]) -> NodeStatus:
    """A node after an event; all events but these leave it as it is."""
    reason = abridged(row["reason"], _WIDTH) if row["reason"] else "no reason given"
    failure = None
    if row["signal"] is not None:
        failure = f"killed by signal {row['signal']}"
    elif row["return_value"] not in (None, 0):
        failure = f"exit status {row['return_value']}"
    match row["code"]:
        case EventCode.EXECUTE:
            return NodeStatus("running", where=_machine(row) or node.where)
        case EventCode.EVICTED | EventCode.SHADOW_EXCEPTION | EventCode.RECONNECT_FAILED:
            return replace(node, state="queued", cause=failure or node.cause)
        case EventCode.TERMINATED:
            return replace(node, state="failed" if failure else "done", cause=failure)
        case EventCode.ABORTED:
            # By the description's own policy, after a hold, it failed; else it was removed.
            if node.state == "held" and "PeriodicRemove" in (row["reason"] or ""):
                return replace(node, state="failed")
            return replace(node, state="removed", cause=f"removed: {reason}")
        case EventCode.HELD:
            name = HOLD_CODES.get(row["hold_code"], f"code {row['hold_code']}")
            cause = f"held ({name}): {reason}"
            if row["hold_code"] == _NOT_STARTED and "errno=2" in reason:
                cause = f"{cause}; {NO_PROGRAM}"
            return replace(node, state="held", cause=cause)
        case EventCode.RELEASED:
            return replace(node, state="queued")
        case _:
            return node


def _machine(row: Mapping[str, Any]) -> str | None:
    """The machine: after the last ``@`` of the slot's name, else from the host's address."""
    if row["slot"] and "@" in row["slot"]:
        return printable(row["slot"].rpartition("@")[2], _WIDTH)
    alias = _ALIAS.search(row["host"] or "")
    return printable(alias[1] if alias else row["host"], _WIDTH) if row["host"] else None


def _with_log(sweep: Sweep, name: str, node: NodeStatus) -> NodeStatus:
    """With the last line that a job which failed wrote to standard error."""
    if node.cause is None or not node.cause.startswith(("exit status", "killed by")):
        return node
    log = f"submitted/logs/{name}.err"
    line = last_line(sweep.folder / log)
    return replace(node, cause=f"{node.cause}: {line}" if line else node.cause, log=log)
