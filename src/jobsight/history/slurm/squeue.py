"""squeue's text → records, in a format of our own.

``squeue --Format`` takes any text behind each field, and prints it whole where its width is 0; ours
is a random delimiter, so that names with separators and line ends stay whole. Format: squeue(1).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from typing import Annotated, Any, get_type_hints

import msgspec

from jobsight.history.slurm.ids import SlurmId, parse_id
from jobsight.program.submission.sizes import Memory, known_text, parse_memory, parse_number
from jobsight.program.submission.times import parse_span, parse_time

__all__ = ["FIELDS", "Queued", "format_option", "read_queue"]


class Queued(msgspec.Struct, frozen=True):
    """One line of the queue, each field with squeue's name for it.

    Times are µs since 1970; "" and None: unknown.
    """

    id: Annotated[SlurmId, "JobArrayID"]
    raw_id: Annotated[str, "JobID"]
    state: Annotated[str, "State"]
    reason: Annotated[str, "Reason"]
    user: Annotated[str, "UserName"]
    group: Annotated[str, "GroupName"]
    account: Annotated[str, "Account"]
    partition: Annotated[str, "Partition"]
    qos: Annotated[str, "QOS"]
    submit: Annotated[int | None, "SubmitTime"]
    start: Annotated[int | None, "StartTime"]
    """While it is pending: the scheduler's estimate."""
    end: Annotated[int | None, "EndTime"]
    """While it runs: when its limit ends."""
    time_limit_s: Annotated[float | None, "TimeLimit"]
    cpus: Annotated[int | None, "NumCPUs"]
    nodes: Annotated[int | None, "NumNodes"]
    memory: Annotated[Memory | None, "MinMemory"]
    """For each CPU where it says so, else for each node."""
    priority: Annotated[int | None, "PriorityLong"]
    hosts: Annotated[str, "NodeList"]
    reservation: Annotated[str, "Reservation"]
    constraints: Annotated[str, "Feature"]
    dependency: Annotated[str, "Dependency"]
    directory: Annotated[str, "WorkDir"]
    command: Annotated[str, "Command"]
    name: Annotated[str, "Name"]
    comment: Annotated[str, "Comment"]
    restarts: Annotated[int | None, "RestartCnt"] = None
    """How often it was requeued."""
    tres: Annotated[str, "tres-alloc"] = ""
    """What it asks for, or was given."""
    admin_comment: Annotated[str, "admin_comment"] = ""
    """As it is; words for none, which others may write, are words here."""


FIELDS: dict[str, str] = {
    name: hint.__metadata__[0]
    for name, hint in get_type_hints(Queued, include_extras=True).items()
    if name in Queued.__struct_fields__
}
"""The fields of `Queued`, and squeue's names for them."""


def format_option(delimiter: str) -> str:
    """The value of ``--Format`` that `read_queue` reads."""
    return ",".join(f"{name}:0{delimiter}" for name in FIELDS.values())


def read_queue(
    text: str, delimiter: str, zone: dt.tzinfo, refused: Callable[[ValueError], None]
) -> Iterator[Queued]:
    """The lines of the queue; times without a zone are of `zone`.

    `refused` is called with each line that cannot be read: one with a bad value, a last one that is
    cut short.
    """
    values = text.split(delimiter)
    width = len(FIELDS)
    for start in range(0, len(values) - width, width):
        row = dict(zip(FIELDS, values[start : start + width], strict=True))
        row["id"] = row["id"].removeprefix("\n")
        try:
            times: dict[str, Any] = {
                name: parse_time(row.pop(name), zone) for name in ("submit", "start", "end")
            }
            yield Queued(
                **times, **{name: _READERS.get(name, known_text)(row[name]) for name in row}
            )
        except ValueError as error:
            refused(error)
    surplus = (len(values) - 1) % width
    if surplus or values[-1].strip("\n"):
        refused(ValueError(f"squeue's last line is cut short: {surplus} of {width} fields"))


_READERS: dict[str, Callable[[str], Any]] = {
    "id": parse_id,
    "name": str,
    "time_limit_s": lambda text: None if text.strip() == "NOT_SET" else parse_span(text),
    "cpus": parse_number,
    "nodes": lambda text: parse_number(text.strip().partition("-")[0]),  # of 2-4 the lower end
    "memory": parse_memory,
    "priority": parse_number,
    "restarts": parse_number,
    "admin_comment": lambda text: "" if text == "(null)" else text,
}
"""How cells are read; all others are times, or texts."""
