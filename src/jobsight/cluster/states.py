"""What became of each node, kept in files of the plan's folder: a line where it starts and ends.

``submitted/state/NODE.jsonl`` is only ever appended to, by one writer at a time: the script of a
Slurm job, or the manager here. A line that was cut short (killed, disk full) is passed over. So it
is known what is done without any accounting, and whoever goes on with a plan starts what is not.

A line is ``{"event":"start","plan":…,"submission":…,"time":…,"host":…,"job":…}`` or
``{"event":"end","plan":…,"submission":…,"time":…,"status":…}``. `plan` is the plan's digest, so
another plan in the same folder starts anew; `submission` counts how often it was handed over;
`time` is in µs since 1970; `status` as the shell has it: 0–255, 128 + n after signal n; an end may
have a `cause`, and says with ``"final":true`` that the node is not started again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jobsight.cluster.base import NO_PROGRAM, SUBMITTED, NodeState, NodeStatus
from jobsight.cluster.plan import Plan
from jobsight.errors import OutputError
from jobsight.text import abridged, printable

__all__ = [
    "Attempt",
    "append",
    "done",
    "explained",
    "last_words",
    "logs",
    "make_folders",
    "node_status",
    "plan_digest",
    "read_states",
    "state_file",
    "tail",
    "take",
    "words",
    "words_of",
]

_MOST_BYTES = 4 << 20
"""Of a state file that are read, from its end; a line has about 150."""
_TAIL_BYTES = 8192
_NOT_FOUND = 127
"""Status of a shell that did not find the program."""


@dataclass(frozen=True)
class Attempt:
    """One start of a node.

    Attributes:
        submission: in which handing over of the plan it was.
        started: µs since 1970.
        host: machine.
        job: the scheduler's id, or the process.
        ended: µs since 1970; None: it runs, or was ended with whoever watched it.
        status: as the shell has it, None as for `ended`.
        cause: why it was ended, where somebody did that.
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
    text = json.dumps(line, separators=(",", ":"))
    try:
        number = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            data = f"\n{text}\n".encode()
            if os.write(number, data) < len(data):
                raise OutputError(f"cannot write {path}: the disk is full")
        finally:
            os.close(number)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from None


def read_states(folder: Path, nodes: Iterable[str], digest: str) -> dict[str, list[Attempt]]:
    """The attempts of nodes, oldest first; of nodes never started, none.

    Args:
        folder: the plan's.
        nodes: names.
        digest: of the plan; what was done for another does not count.
    """
    found = {}
    for name in nodes:
        attempts: list[Attempt] = []
        for line in tail(state_file(folder, name), _MOST_BYTES).splitlines():
            with contextlib.suppress(ValueError, RecursionError):
                take(attempts, json.loads(line), digest)
        found[name] = attempts
    return found


def take(attempts: list[Attempt], told: Any, digest: str) -> None:
    """Add what one line tells; one that makes no sense, or is of another plan, adds nothing."""
    try:
        if told["plan"] != digest:
            return
        time, submission = int(told["time"]), int(told["submission"])
        if told["event"] == "start":
            host, job = (_short(told.get(key)) for key in ("host", "job"))
            attempts.append(Attempt(submission, time, host, job))
        elif told["event"] == "end" and attempts and attempts[-1].ended is None:
            attempts[-1] = replace(
                attempts[-1],
                ended=time,
                status=int(told["status"]),
                cause=_short(told.get("cause")),
                final=told.get("final") is True,
            )
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError):
        return


def _short(value: object) -> str | None:
    return printable(value, 200) or None if isinstance(value, str | int) else None


def done(attempts: Iterable[Attempt]) -> bool:
    """Whether one of the attempts ended well."""
    return any(attempt.status == 0 for attempt in attempts)


def node_status(
    name: str,
    state: NodeState,
    cause: str | None,
    attempts: Sequence[Attempt],
    log: str | None = None,
) -> NodeStatus:
    """A node's status, of which the attempts tell all but state, cause and where more of it is."""
    if not attempts:
        return NodeStatus(name, state, cause, log=log)
    last = attempts[-1]
    return NodeStatus(
        *(name, state, cause, len(attempts)),
        where=last.host,
        started=last.started,
        ended=last.ended,
        job=last.job,
        log=log,
    )


def words(status: int) -> str:
    """How a process ended, in words."""
    if status > 128:
        try:
            return f"ended by signal {status - 128} ({signal.Signals(status - 128).name})"
        except ValueError:
            pass
    return f"ended with status {status}"


def explained(how: str, told: str, status: int | None) -> str:
    """How a node ended, what it told, and what to do where its program was not found."""
    cause = f"{how}: {told}" if told else how
    return f"{cause}; {NO_PROGRAM}" if status == _NOT_FOUND else cause


def last_words(folder: Path, node: str) -> tuple[str, str | None]:
    """What a node wrote last to its standard error, else to its output: one line, or none.

    Returns:
        the line, and its file, relative to the plan's folder; None without a line.
    """
    out, err = logs(folder, node)
    return words_of(folder, err, out)


def words_of(folder: Path, *files: Path) -> tuple[str, str | None]:
    """The last line of the first of these files that has one; see `last_words`."""
    for file in files:
        if line := _last_line(file):
            return line, file.relative_to(folder).as_posix()
    return "", None


def _last_line(path: Path) -> str:
    """The last line of a file that is not blank, to be shown; "" where there is none."""
    lines = tail(path, _TAIL_BYTES).decode("utf-8", "replace").splitlines()
    shown = (abridged(line, 300) for line in reversed(lines))
    return next(filter(None, shown), "")


def tail(path: Path, most: int) -> bytes:
    """The last bytes of a file, `most` at most; nothing where it cannot be read or is no file."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        with os.fdopen(number, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            stream.seek(max(0, size - most))
            return stream.read(most)
    except OSError:
        return b""
