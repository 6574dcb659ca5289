"""What happened to each node, from the event log of the plan's jobs.

The log is read by `jobsight.history`; a submission's event names its node (``DAG Node: …``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from jobsight.cluster.base import NO_PROGRAM, NodeState, NodeStatus
from jobsight.codes import HOLD_CODES, EventCode
from jobsight.text import abridged, printable

__all__ = ["COLUMNS", "follow_nodes", "read_rows"]

COLUMNS = (
    "cluster", "proc", "code", "hold_code", "reason", "return_value", "signal",
    "host", "slot", "dag_node",
)  # fmt: skip
"""Columns of the event table that `follow_nodes` reads."""

_NOT_STARTED = 6
"""Hold code of a job whose process could not be made; with errno 2: there is no such file."""
_WIDTH = 400
_ALIAS = re.compile(r"[?&]alias=([^&>]+)")


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The events of a log as rows with `COLUMNS`; none where there is none.

    Raises:
        SourceError: it is there and cannot be read.
    """
    from jobsight.history.events import read_events

    if not path.exists() or path.stat().st_size == 0:
        return []
    return read_events([str(path)]).table.select(COLUMNS).to_dicts()


def follow_nodes(rows: Iterable[Mapping[str, Any]], names: Iterable[str]) -> dict[str, NodeStatus]:
    """The status of each node after these events; nodes without any are waiting.

    Args:
        rows: in the order of the log, with `COLUMNS`.
        names: the nodes; events of others are skipped.
    """
    nodes = {name: NodeStatus(name, NodeState.WAITING) for name in names}
    jobs: dict[tuple[int, int], str] = {}
    for row in rows:
        job = (row["cluster"], row["proc"])
        if row["code"] == 0 and row["dag_node"] in nodes:
            jobs[job] = row["dag_node"]
        if job in jobs and (changes := _changes(nodes[jobs[job]], row)):
            nodes[jobs[job]] = replace(nodes[jobs[job]], **changes)
    return nodes


def _changes(node: NodeStatus, row: Mapping[str, Any]) -> dict[str, Any]:
    """What an event changes; all events but these leave a node as it is."""
    queued: dict[str, Any] = {"state": NodeState.QUEUED}
    match row["code"]:
        case EventCode.SUBMIT:
            return {"state": NodeState.QUEUED, "job": f"{row['cluster']}.{row['proc']}"}
        case EventCode.EXECUTE:
            begun = {"attempts": node.attempts + 1, "where": _machine(row) or node.where}
            return {"state": NodeState.RUNNING, "cause": None, **begun}
        case EventCode.EVICTED:
            return queued | {"cause": _failure(row) or node.cause}
        case EventCode.TERMINATED:
            cause = _failure(row)
            state = NodeState.FAILED if cause else NodeState.DONE
            return {"state": state, "cause": cause}
        case EventCode.SHADOW_EXCEPTION | EventCode.RECONNECT_FAILED:
            return queued | {"cause": _reason(row) or node.cause}
        case EventCode.ABORTED:
            # By the description's own policy, after a hold, it failed; else it was removed.
            if node.state is NodeState.HELD and "PeriodicRemove" in (row["reason"] or ""):
                return {"state": NodeState.FAILED}
            cause = f"removed: {_reason(row) or 'no reason given'}"
            return {"state": NodeState.REMOVED, "cause": cause}
        case EventCode.HELD:
            return {"state": NodeState.HELD, "cause": _hold(row)}
        case EventCode.RELEASED:
            return queued
        case EventCode.REMOTE_ERROR:  # which it may get over, such as output that is not fetched
            return {"cause": _reason(row) or node.cause}
        case _:
            return {}


def _hold(row: Mapping[str, Any]) -> str:
    name = HOLD_CODES.get(row["hold_code"], f"code {row['hold_code']}")
    cause = f"held ({name}): {_reason(row) or 'no reason given'}"
    missing = row["hold_code"] == _NOT_STARTED and "errno=2" in (row["reason"] or "")
    return f"{cause}; {NO_PROGRAM}" if missing else cause


def _reason(row: Mapping[str, Any]) -> str | None:
    return abridged(row["reason"], _WIDTH) if row["reason"] else None


def _failure(row: Mapping[str, Any]) -> str | None:
    if row["signal"] is not None:
        return f"killed by signal {row['signal']}"
    if row["return_value"] not in (None, 0):
        return f"exit status {row['return_value']}"
    return None


def _machine(row: Mapping[str, Any]) -> str | None:
    """The machine: after the last ``@`` of the slot's name, else from the host's address."""
    if row["slot"] and "@" in row["slot"]:
        return printable(row["slot"].rpartition("@")[2], _WIDTH)
    alias = _ALIAS.search(row["host"] or "")
    return printable(alias[1] if alias else row["host"], _WIDTH) if row["host"] else None
