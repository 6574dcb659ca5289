"""squeue's text → records, in a format of our own.

``squeue --format`` takes any text between its fields; ours is a delimiter that nobody can foresee,
so that names with separators and line ends stay whole. Format: squeue(1).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from jobsight.history.slurm.ids import SlurmId, parse_id
from jobsight.history.slurm.sizes import parse_memory, parse_number
from jobsight.history.slurm.times import parse_span, parse_time

__all__ = ["FIELDS", "Queued", "format_option", "read_queue"]

FIELDS = {
    "id": "%i",
    "raw_id": "%A",
    "state": "%T",
    "reason": "%r",
    "user": "%u",
    "group": "%g",
    "account": "%a",
    "partition": "%P",
    "qos": "%q",
    "submit": "%V",
    "start": "%S",
    "end": "%e",
    "limit": "%l",
    "cpus": "%C",
    "nodes": "%D",
    "memory": "%m",
    "priority": "%Q",
    "hosts": "%N",
    "reservation": "%v",
    "constraints": "%f",
    "dependency": "%E",
    "directory": "%Z",
    "command": "%o",
    "name": "%j",
    "comment": "%k",
}
"""Our fields and squeue's letters for them."""

_NOTHING = frozenset({"", "(null)", "n/a", "null", "none"})


@dataclass(frozen=True, slots=True)
class Queued:
    """One line of the queue. Times are µs since 1970; "" and None where squeue tells nothing."""

    id: SlurmId
    raw_id: str
    state: str
    reason: str
    user: str
    group: str
    account: str
    partition: str
    qos: str
    submit: int | None
    start: int | None
    """While it is pending: the scheduler's estimate."""
    end: int | None
    """While it runs: when its limit ends."""
    time_limit_s: float | None
    cpus: int | None
    nodes: int | None
    memory: tuple[int, str | None] | None
    """Bytes, and "cpu" where it is meant for each of these, else for each node."""
    priority: int | None
    hosts: str
    reservation: str
    constraints: str
    dependency: str
    directory: str
    command: str
    name: str
    comment: str


def format_option(delimiter: str) -> str:
    """The value of ``--format`` that `read_queue` reads."""
    return delimiter.join((*FIELDS.values(), ""))


def read_queue(
    text: str, delimiter: str, zone: dt.tzinfo, refused: Callable[[ValueError], None]
) -> Iterator[Queued]:
    """The lines of the queue. A last line cut short is refused, as is one with a bad value.

    Args:
        text: what squeue printed, without a header.
        delimiter: as in `format_option`.
        zone: of times without one.
        refused: is told of each line that cannot be read.
    """
    values = text.split(delimiter)
    width = len(FIELDS)
    for start in range(0, len(values) - width, width):
        row = dict(zip(FIELDS, values[start : start + width], strict=True))
        row["id"] = row["id"].removeprefix("\n")
        try:
            yield _queued(row, zone)
        except ValueError as error:
            refused(error)
    surplus = (len(values) - 1) % width
    if surplus or values[-1].strip("\n"):
        refused(ValueError(f"squeue's last line is cut short: {surplus} of {width} fields"))


def _queued(row: dict[str, str], zone: dt.tzinfo) -> Queued:
    memory = parse_memory(row["memory"])
    return Queued(
        id=parse_id(row["id"]),
        raw_id=row["raw_id"].strip(),
        state=row["state"].strip(),
        reason=_told(row["reason"]),
        user=row["user"].strip(),
        group=row["group"].strip(),
        account=_told(row["account"]),
        partition=_told(row["partition"]),
        qos=_told(row["qos"]),
        submit=parse_time(row["submit"], zone),
        start=parse_time(row["start"], zone),
        end=parse_time(row["end"], zone),
        time_limit_s=_limit(row["limit"]),
        cpus=parse_number(row["cpus"]),
        nodes=_nodes(row["nodes"]),
        memory=None if memory is None else (memory.size, memory.per),
        priority=parse_number(row["priority"]),
        hosts=_told(row["hosts"]),
        reservation=_told(row["reservation"]),
        constraints=_told(row["constraints"]),
        dependency=_told(row["dependency"]),
        directory=_told(row["directory"]),
        command=_told(row["command"]),
        name=row["name"],
        comment=_told(row["comment"]),
    )


def _told(text: str) -> str:
    word = text.strip()
    return "" if word.lower() in _NOTHING else word


def _limit(text: str) -> float | None:
    return None if text.strip() == "NOT_SET" else parse_span(text)


def _nodes(text: str) -> int | None:
    """A count of nodes; of a range (``2-4``), the lower end."""
    return parse_number(text.strip().partition("-")[0])
