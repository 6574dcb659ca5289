"""The states of nodes, in files of the plan's folder: a line where a node starts and ends.

``submitted/state/NODE.jsonl`` is only ever appended to, by one writer at a time: the script of a
Slurm job, or the manager here. A line that was cut short (killed, disk full) is skipped. So it is
known what is done without any accounting, and a later submission starts what is not.

A line is ``{"event":"start","plan":…,"submission":…,"time":…,"host":…,"job":…}`` or
``{"event":"end","plan":…,"submission":…,"time":…,"status":…}``. `plan` is the plan's digest, so
another plan in the same folder starts anew; `submission` counts the submissions; `time` is in µs
since 1970; `status` as the shell has it: 0–255, 128 + n after signal n; an end may have a `cause`,
and ``"final":true`` where the node is not started again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jobsight.cluster.base import NO_PROGRAM, SUBMITTED, NodeState, NodeStatus
from jobsight.cluster.plan import Plan
from jobsight.errors import ClusterError, OutputError
from jobsight.text import abridged, printable

__all__ = [
    "Attempt",
    "append",
    "done",
    "explained",
    "how_ended",
    "last_line",
    "logs",
    "make_folders",
    "node_status",
    "plan_digest",
    "read_states",
    "require_undone",
    "state_file",
    "tail",
    "take",
]

_MOST_BYTES = 4 << 20
"""Of a state file that are read, from its end; a line has about 150."""
_TAIL_BYTES = 8192
_NOT_FOUND = 127
"""Status of a shell that did not find the program."""


@dataclass(frozen=True)
class Attempt:
    """One start of a node; times in µs since 1970.

    Attributes:
        submission: of the plan, its number.
        job: the scheduler's id, or the process.
        ended: None: it runs, or was ended with what watched it.
        status: as the shell has it, None as for `ended`.
        cause: why it was ended from outside.
        final: it is not started again in this submission.
    """

    submission: int
    started: int
    host: str | None = None
    job: str | None = None
    ended: int | None = None
    status: int | None = None
    cause: str | None = None
    final: bool = False


def plan_digest(plan: Plan) -> str:
    """Eight hexadecimal digits of what there is to do: names and arguments, in their stages.

    Resources, options and the program may change, and what is done stays done.
    """
    work = [
        [stage.name, [[node.name, *node.arguments] for node in stage.nodes]]
        for stage in plan.stages
    ]
    return hashlib.sha256(json.dumps(work).encode()).hexdigest()[:8]


def state_file(folder: Path, node: str) -> Path:
    """The state file of a node; `folder` is the plan's."""
    return folder / SUBMITTED / "state" / f"{node}.jsonl"


def logs(folder: Path, node: str) -> tuple[Path, Path]:
    """Where a node's standard output and standard error go."""
    place = folder / SUBMITTED / "logs"
    return place / f"{node}.out", place / f"{node}.err"


def make_folders(folder: Path) -> None:
    """Make the folders of states and logs of a plan in `folder`.

    Raises:
        OutputError: they cannot be made.
    """
    for name in ("state", "logs"):
        place = folder / SUBMITTED / name
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot make {place}: {error.strerror}") from None


def append(path: Path, line: dict[str, Any]) -> None:
    """Append one line. It begins on a new line, whatever was left by one that was cut short.

    Raises:
        OutputError: it cannot be written.
    """
    data = f"\n{json.dumps(line, separators=(',', ':'))}\n".encode()
    try:
        with path.open("ab", buffering=0) as stream:
            if stream.write(data) < len(data):
                raise OutputError(f"cannot write {path}: the disk is full")
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from None


def read_states(plan: Plan) -> dict[str, list[Attempt]]:
    """The attempts of all nodes of this very plan, oldest first; of nodes never started, none."""
    digest = plan_digest(plan)
    found = {}
    for node in plan.nodes():
        attempts: list[Attempt] = []
        for line in tail(state_file(plan.folder, node.name), _MOST_BYTES).splitlines():
            with contextlib.suppress(ValueError, RecursionError):
                take(attempts, json.loads(line), digest)
        found[node.name] = attempts
    return found


def take(attempts: list[Attempt], line: Any, digest: str) -> None:
    """Add what one line reports; one that makes no sense, or is of another plan, adds nothing."""
    try:
        if line["plan"] != digest:
            return
        time, submission = int(line["time"]), int(line["submission"])
        if line["event"] == "start":
            host, job = (printable(line.get(key) or "", 200) or None for key in ("host", "job"))
            attempts.append(Attempt(submission, time, host, job))
        elif line["event"] == "end" and attempts and attempts[-1].ended is None:
            attempts[-1] = replace(
                attempts[-1],
                ended=time,
                status=int(line["status"]),
                cause=printable(line.get("cause") or "", 200) or None,
                final=line.get("final") is True,
            )
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError):
        return


def done(attempts: Iterable[Attempt]) -> bool:
    """Whether one of the attempts succeeded."""
    return any(attempt.status == 0 for attempt in attempts)


def require_undone(plan: Plan, states: Mapping[str, Sequence[Attempt]]) -> None:
    """Refuse a plan of which every node is done."""
    if all(map(done, states.values())):
        raise ClusterError(f"plan {plan.name} is all done; there is nothing to go on with")


def node_status(
    name: str,
    state: NodeState,
    cause: str | None,
    attempts: Sequence[Attempt],
    log: str | None = None,
) -> NodeStatus:
    """A node's status; all but state, cause and log are those of the last attempt."""
    if not attempts:
        return NodeStatus(name, state, cause, log=log)
    last = attempts[-1]
    return NodeStatus(name, state, cause, len(attempts), last.host, last.job, log)


def how_ended(last: Attempt) -> str:
    """How an attempt ended, in words."""
    status = last.status
    if status is None:
        return "it was ended from outside"
    words = f"ended with status {status}"
    with contextlib.suppress(ValueError):
        if status > 128:
            words = f"ended by signal {status - 128} ({signal.Signals(status - 128).name})"
    return f"{last.cause}; {words}" if last.cause else words


def explained(how: str, wrote: str, status: int | None) -> str:
    """How a node ended, what it wrote last, and what to do where its program was not found."""
    cause = f"{how}: {wrote}" if wrote else how
    return f"{cause}; {NO_PROGRAM}" if status == _NOT_FOUND else cause


def last_line(folder: Path, *files: Path) -> tuple[str, str | None]:
    """The last line, printable, of the first of these files that has one.

    Returns:
        The line, and its file, relative to `folder`; "" and None where there is none.
    """
    for file in files:
        lines = tail(file, _TAIL_BYTES).decode("utf-8", "replace").splitlines()
        for line in filter(None, (abridged(line, 300) for line in reversed(lines))):
            return line, file.relative_to(folder).as_posix()
    return "", None


def tail(path: Path, most: int) -> bytes:
    """The last bytes of a file, `most` at most; none where it cannot be read."""
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - most))
            return stream.read(most)
    except OSError:
        return b""
