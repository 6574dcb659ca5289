"""What happened to each node, from the event log of the plan's jobs.

The log is read by `jobsight.history`; a submission's event names its node (``DAG Node: …``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jobsight.cluster.base import NO_PROGRAM, NodeState, NodeStatus
from jobsight.codes import HOLD_CODES
from jobsight.text import abridged, printable

__all__ = ["COLUMNS", "follow_nodes", "read_rows"]

COLUMNS = (
    "cluster", "proc", "time", "code", "hold_code", "reason", "return_value", "signal",
    "host", "slot", "dag_node",
)  # fmt: skip
"""Columns of the event table that `follow_nodes` looks at."""

_NOT_STARTED = 6
"""Hold code of a job whose process could not be made; with errno 2: there is no such file."""
_WIDTH = 400
_ALIAS = re.compile(r"[?&]alias=([^&>]+)")


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The events of a log as rows with `COLUMNS`, times in µs since 1970; none where it is none.

    Raises:
        SourceError: it is there and cannot be read.
    """
    from jobsight.history.events import read_events

    if not path.exists() or path.stat().st_size == 0:
        return []
    import polars as pl

    table = read_events([str(path)]).table.select(COLUMNS)
    return table.with_columns(pl.col("time").dt.epoch("us")).to_dicts()


def follow_nodes(rows: Iterable[Mapping[str, Any]], names: Iterable[str]) -> dict[str, NodeStatus]:
    """Where each node stands after these events; nodes of whom none tells are waiting.

    Args:
        rows: in the order of the log, with `COLUMNS`.
        names: the nodes; events of others are passed over.
    """
    known = {name: _Followed(NodeStatus(name, NodeState.WAITING)) for name in names}
    jobs: dict[tuple[int, int], _Followed] = {}
    for row in rows:
        job = (row["cluster"], row["proc"])
        if row["code"] == 0 and row["dag_node"] in known:
            jobs[job] = known[row["dag_node"]]
        if job in jobs:
            jobs[job].take(row)
    return {name: followed.status for name, followed in known.items()}


@dataclass
class _Followed:
    """A node, event after event."""

    status: NodeStatus
    trouble: str | None = None
    """Why its job was held last, if it was."""

    def take(self, row: Mapping[str, Any]) -> None:
        change = _CHANGES.get(row["code"])
        if change is not None:
            self.status = change(self, row)

    def submitted(self, row: Mapping[str, Any]) -> NodeStatus:
        self.trouble = None
        job = f"{row['cluster']}.{row['proc']}"
        return replace(self.status, state=NodeState.QUEUED, job=job)

    def started(self, row: Mapping[str, Any]) -> NodeStatus:
        return replace(
            self.status,
            state=NodeState.RUNNING,
            attempts=self.status.attempts + 1,
            where=_place(row) or self.status.where,
            started=row["time"],
            ended=None,
            cause=None,
        )

    def evicted(self, row: Mapping[str, Any]) -> NodeStatus:
        """It is queued again; where it ended by itself, that was a failure."""
        cause = _ended_badly(row) or self.status.cause
        return replace(self.status, state=NodeState.QUEUED, ended=row["time"], cause=cause)

    def ended(self, row: Mapping[str, Any]) -> NodeStatus:
        cause = _ended_badly(row)
        state = NodeState.FAILED if cause else NodeState.DONE
        return replace(self.status, state=state, ended=row["time"], cause=cause)

    def held(self, row: Mapping[str, Any]) -> NodeStatus:
        name = HOLD_CODES.get(row["hold_code"], f"code {row['hold_code']}")
        self.trouble = f"held ({name}): {abridged(row['reason'] or 'no reason told', _WIDTH)}"
        if row["hold_code"] == _NOT_STARTED and "errno=2" in (row["reason"] or ""):
            self.trouble += f"; {NO_PROGRAM}"
        return replace(
            self.status, state=NodeState.HELD, cause=self.trouble, ended=self.status.ended
        )

    def released(self, _row: Mapping[str, Any]) -> NodeStatus:
        return replace(self.status, state=NodeState.QUEUED)

    def removed(self, row: Mapping[str, Any]) -> NodeStatus:
        """By the description's own policy, after a hold: a failure; else by somebody."""
        if self.status.state is NodeState.HELD and "PeriodicRemove" in (row["reason"] or ""):
            return replace(self.status, state=NodeState.FAILED, ended=row["time"])
        cause = f"removed: {abridged(row['reason'] or 'no reason told', _WIDTH)}"
        return replace(self.status, state=NodeState.REMOVED, ended=row["time"], cause=cause)

    def warned(self, row: Mapping[str, Any]) -> NodeStatus:
        """A daemon told of an error that it may get over, such as output that cannot be fetched."""
        cause = abridged(row["reason"], _WIDTH) if row["reason"] else self.status.cause
        return replace(self.status, cause=cause)

    def troubled(self, row: Mapping[str, Any]) -> NodeStatus:
        """The shadow or the starter told of an error, or lost the other: it is queued again."""
        cause = abridged(row["reason"], _WIDTH) if row["reason"] else self.status.cause
        return replace(self.status, state=NodeState.QUEUED, ended=row["time"], cause=cause)


_CHANGES = {
    0: _Followed.submitted,
    1: _Followed.started,
    4: _Followed.evicted,
    5: _Followed.ended,
    7: _Followed.troubled,
    9: _Followed.removed,
    12: _Followed.held,
    13: _Followed.released,
    21: _Followed.warned,
    24: _Followed.troubled,
}
"""By event number; all others leave a node where it stands."""


def _ended_badly(row: Mapping[str, Any]) -> str | None:
    if row["signal"] is not None:
        return f"killed by signal {row['signal']}"
    if row["return_value"] not in (None, 0):
        return f"exit status {row['return_value']}"
    return None


def _place(row: Mapping[str, Any]) -> str | None:
    """The machine: behind the last ``@`` of the slot's name, else as the host's address tells."""
    if row["slot"] and "@" in row["slot"]:
        return printable(row["slot"].rpartition("@")[2], _WIDTH)
    alias = _ALIAS.search(row["host"] or "")
    return printable(alias[1] if alias else row["host"], _WIDTH) if row["host"] else None
