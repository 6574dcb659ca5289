"""The life cycle of a job: one table from every scheduler's words to one set of states.

HTCondor's words are event numbers and the ad's ``JobStatus``; Slurm's are the words of ``sacct``
and ``squeue``, whole or as ``squeue``'s two letters; SWF's are the numbers of its status field.
"""

from __future__ import annotations

import enum
import re

from jobsight.codes import EventCode

__all__ = [
    "CONDOR_EVENTS",
    "CONDOR_STATUS",
    "SLURM_STATES",
    "SWF_STATUS",
    "State",
    "slurm_state",
]


class State(enum.StrEnum):
    """Where a job stands. The last seven are ends; all others may still change."""

    PENDING = "pending"
    HELD = "held"
    RUNNING = "running"
    SUSPENDED = "suspended"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    NODE_FAIL = "node_fail"
    PREEMPTED = "preempted"
    UNKNOWN_END = "unknown_end"
    """It left the queue, and nobody tells how."""

    ended: bool
    """Whether this state is an end."""

    def __init__(self, word: str) -> None:
        # An attribute: stores ask each event of each document.
        self.ended = word not in ("pending", "held", "running", "suspended")


CONDOR_EVENTS: dict[int, State] = {
    EventCode.SUBMIT: State.PENDING,
    EventCode.EXECUTE: State.RUNNING,
    EventCode.EVICTED: State.PENDING,  # idle again
    EventCode.SHADOW_EXCEPTION: State.PENDING,  # idle again
    EventCode.ABORTED: State.CANCELLED,
    EventCode.SUSPENDED: State.SUSPENDED,
    EventCode.UNSUSPENDED: State.RUNNING,
    EventCode.HELD: State.HELD,
    EventCode.RELEASED: State.PENDING,
    EventCode.RECONNECTED: State.RUNNING,
    EventCode.RECONNECT_FAILED: State.PENDING,  # idle again
}
"""State after an event of an HTCondor log, by event number. 005 depends on how the job terminated;
all others leave the state as it was."""

CONDOR_STATUS: dict[int, State] = {
    1: State.PENDING,
    2: State.RUNNING,
    3: State.CANCELLED,
    4: State.COMPLETED,  # or failed, by the exit code
    5: State.HELD,
    6: State.RUNNING,  # transferring output
    7: State.SUSPENDED,
}
"""State by ``JobStatus`` of an HTCondor ad."""

SLURM_STATES: dict[str, State] = {
    "BOOT_FAIL": State.NODE_FAIL,
    "CANCELLED": State.CANCELLED,
    "COMPLETED": State.COMPLETED,
    "COMPLETING": State.RUNNING,
    "CONFIGURING": State.RUNNING,
    "DEADLINE": State.TIMEOUT,
    "EXPEDITING": State.PENDING,
    "FAILED": State.FAILED,
    "LAUNCH_FAILED": State.FAILED,
    "NODE_FAIL": State.NODE_FAIL,
    "OUT_OF_MEMORY": State.OUT_OF_MEMORY,
    "PENDING": State.PENDING,
    "POWER_UP_NODE": State.RUNNING,
    "PREEMPTED": State.PREEMPTED,
    "RECONFIG_FAIL": State.FAILED,
    "REQUEUED": State.PENDING,
    "REQUEUE_FED": State.PENDING,
    "REQUEUE_HOLD": State.HELD,
    "RESIZING": State.RUNNING,
    "RESV_DEL_HOLD": State.HELD,
    "REVOKED": State.CANCELLED,
    "RUNNING": State.RUNNING,
    "SIGNALING": State.RUNNING,
    "SPECIAL_EXIT": State.HELD,
    "STAGE_OUT": State.RUNNING,
    "STOPPED": State.SUSPENDED,
    "SUSPENDED": State.SUSPENDED,
    "TIMEOUT": State.TIMEOUT,
    "UPDATE_DB": State.RUNNING,
}
"""State by Slurm's word (slurm.h, ``enum job_states`` and the flags beside it)."""

_SLURM_SHORT = {
    "BF": "BOOT_FAIL",
    "CA": "CANCELLED",
    "CD": "COMPLETED",
    "CF": "CONFIGURING",
    "CG": "COMPLETING",
    "DL": "DEADLINE",
    "EX": "EXPEDITING",
    "F": "FAILED",
    "LF": "LAUNCH_FAILED",
    "NF": "NODE_FAIL",
    "OOM": "OUT_OF_MEMORY",
    "PD": "PENDING",
    "PR": "PREEMPTED",
    "PU": "POWER_UP_NODE",
    "R": "RUNNING",
    "RD": "RESV_DEL_HOLD",
    "RF": "REQUEUE_FED",
    "RH": "REQUEUE_HOLD",
    "RQ": "REQUEUED",
    "RS": "RESIZING",
    "RV": "REVOKED",
    "S": "SUSPENDED",
    "SE": "SPECIAL_EXIT",
    "SI": "SIGNALING",
    "SO": "STAGE_OUT",
    "ST": "STOPPED",
    "TO": "TIMEOUT",
    "UD": "UPDATE_DB",
}

_WORD = re.compile(r"[A-Z_]+", re.ASCII)

SWF_STATUS: dict[int, State] = {
    0: State.FAILED,
    1: State.COMPLETED,
    5: State.CANCELLED,
    -1: State.UNKNOWN_END,
}
"""State by status of the Standard Workload Format; 2, 3 and 4 are parts of a checkpointed job."""


def slurm_state(text: str) -> State | None:
    """The state of Slurm's word, with its suffixes; None where Slurm has no such word.

    ``CANCELLED by 1000``, ``CANCELLED+`` (cut by the column's width), ``NODE_FAIL,REQUEUED``
    (a flag beside the state: the first word counts) and two-letter words are understood.
    """
    found = _WORD.match(text.strip().upper())
    if found is None:
        return None
    word = _SLURM_SHORT.get(found[0], found[0])
    state = SLURM_STATES.get(word)
    if state is None and text.strip().endswith("+"):
        longer = {SLURM_STATES[name] for name in SLURM_STATES if name.startswith(word)}
        state = longer.pop() if len(longer) == 1 else None
    return state
