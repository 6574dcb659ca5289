"""The life cycle of a job: one table from every scheduler's words to one set of states.

HTCondor's words are event numbers and the ad's ``JobStatus``; Slurm's are the words of ``sacct``
and ``squeue``, whole or as ``squeue``'s two characters; SWF's are the numbers of its status field.
"""

from __future__ import annotations

import enum
import re
import signal as signals

from jobsight.codes import EventCode, exit_signal
from jobsight.errors import UsageError
from jobsight.text import printable

__all__ = [
    "CONDOR_EVENTS",
    "CONDOR_STATUS",
    "REMOVED_BY_DAG",
    "REMOVED_BY_PERSON",
    "SLURM_STATES",
    "SWF_STATUS",
    "State",
    "condor_state",
    "end_of",
    "parse_states",
    "removed_by_policy",
    "removed_for",
    "slurm_state",
    "was_killed",
]


class State(enum.StrEnum):
    """State of a job. The last nine are ends; all others may still change."""

    PENDING = "pending"
    HELD = "held"
    RUNNING = "running"
    SUSPENDED = "suspended"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMEOUT = "timeout"
    DEADLINE = "deadline"
    """The moment of Slurm's ``--deadline`` came before it ended, or before it could start."""
    OUT_OF_MEMORY = "out_of_memory"
    NODE_FAIL = "node_fail"
    PREEMPTED = "preempted"
    UNKNOWN_END = "unknown_end"
    """It left the queue, and no source reports how."""

    ended: bool
    """Whether this state is an end."""

    def __init__(self, word: str) -> None:
        # An attribute, for speed: stores read it for each event of each document.
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
"""State after an event of an HTCondor log, by event number. 005 depends on how the job terminated,
009 on who removed it; all others leave the state as it was."""

REMOVED_BY_PERSON = r"\(by user [^)]*\)|^\s*via condor_rm"
"""Pattern of the reasons of removals by a person: the schedd adds the user to any words of theirs
(``condor_rm -reason``)."""
REMOVED_BY_DAG = r"\bDAG\b|(?i:dagman)|OtherJobRemoveRequirements"
"""Pattern of the reasons that DAGMan gives, and of removals of a DAG's jobs with it."""
_LONGEST = 2000
_BY_PERSON, _BY_DAG = re.compile(REMOVED_BY_PERSON), re.compile(REMOVED_BY_DAG)
_EXPRESSION = re.compile(r"(?i)periodic_?remove|\bexpression\b.*\bevaluated to\b")


def removed_by_policy(reason: str | None) -> bool:
    """Whether the reason of a removal (009) is a policy's: of the job, or of its access point.

    A policy always gives a reason: its expression (*The job attribute PeriodicRemove expression*),
    or words of its own (``SYSTEM_PERIODIC_REMOVE_REASON``), to which no user is added.
    """
    if not reason or not reason.strip() or _BY_PERSON.search(reason):
        return False
    # A policy's expression may name attributes of DAGMan, such as DAGManJobId.
    return _EXPRESSION.search(reason) is not None or not _BY_DAG.search(reason)


_STATUS = r"\bJobStatus\s*(?:==|=\?=|is)\s*"
_REMOVED_FOR = {
    "time": re.compile(
        r"(?i)run[_ ]?time|wall[_ ]?(?:clock)?[_ ]?time|allowed (?:job|execute) duration|"
        r"\bran (?:for )?(?:too )?long|JobCurrentStart\w{0,20}Date|"
        rf"{_STATUS}2\b[^|]*EnteredCurrentStatus"
    ),
    "memory": re.compile(r"(?i)memory|ResidentSetSize|ImageSize"),
    "disk": re.compile(r"(?i)\bdisk|DiskUsage|scratch"),
    "held": re.compile(rf"(?i){_STATUS}5\b|HoldReason|\b(?:held|(?:on|in) hold)\b"),
    "starts": re.compile(
        r"(?i)NumJobStarts|NumShadowStarts|JobRunCount|NumRestarts|NumHolds|"
        r"too many (?:re)?(?:starts|runs|tries|holds)"
    ),
    "queue": re.compile(rf"(?i){_STATUS}1\b|\bQDate\b|\bidle\b|TimerRemove"),
}
"""The words by which reasons and expressions say what a policy removes jobs for."""
_NEVER_THEN = {
    State.HELD: ("time", "memory", "disk", "queue"),
    State.RUNNING: ("held",),
    State.PENDING: ("time", "memory", "disk"),  # a user's log lacks a submission on hold
}
"""What a policy does not remove a job for in a state, where its expression names that too."""


def removed_for(reason: str | None, before: State | None = None) -> str | None:
    """What a policy removed a job for; None where its reason names nothing known, or several.

    Args:
        reason: of the removal (009) by a policy.
        before: the state in which the job was, which decides between several; None: unknown.

    Returns:
        ``time``, ``memory``, ``disk``, ``held`` (for too long), ``starts`` (too many) or ``queue``
        (for too long in it).
    """
    text = (reason or "")[:_LONGEST]
    named = [what for what, words in _REMOVED_FOR.items() if words.search(text)]
    if len(named) > 1 and before is not None:
        named = [what for what in named if what not in _NEVER_THEN.get(before, ())]
    return named[0] if len(named) == 1 else None


def condor_state(code: int, return_value: int | None, reason: str | None) -> State | None:
    """The state after an event of an HTCondor log; None: it leaves the state as it was.

    Args:
        code: number of the event.
        return_value: of a 005, None where a signal ended the job.
        reason: of a 009.
    """
    if code == EventCode.TERMINATED:
        return State.COMPLETED if return_value == 0 else State.FAILED
    if code == EventCode.ABORTED and reason and removed_by_policy(reason):
        what = removed_for(reason)
        ends = {"time": State.TIMEOUT, "memory": State.OUT_OF_MEMORY}
        return State.FAILED if what is None else ends.get(what, State.FAILED)
    return CONDOR_EVENTS.get(code)


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

_SLURM: dict[State, str] = {
    State.PENDING: "EXPEDITING EX PENDING PD REQUEUED RQ REQUEUE_FED RF",
    State.HELD: "REQUEUE_HOLD RH RESV_DEL_HOLD RD SPECIAL_EXIT SE",
    State.RUNNING: "COMPLETING CG CONFIGURING CF POWER_UP_NODE PU RESIZING RS RUNNING R "
    "SIGNALING SI STAGE_OUT SO UPDATE_DB UD",
    State.SUSPENDED: "STOPPED ST SUSPENDED S",
    State.COMPLETED: "COMPLETED CD",
    State.FAILED: "FAILED F LAUNCH_FAILED LF RECONFIG_FAIL",
    State.CANCELLED: "CANCELLED CA REVOKED RV",
    State.TIMEOUT: "TIMEOUT TO",
    State.DEADLINE: "DEADLINE DL",
    State.OUT_OF_MEMORY: "OUT_OF_MEMORY OOM",
    State.NODE_FAIL: "BOOT_FAIL BF NODE_FAIL NF",
    State.PREEMPTED: "PREEMPTED PR",
}
SLURM_STATES = {word: state for state, words in _SLURM.items() for word in words.split()}
"""State by Slurm's word, whole or in two characters (slurm.h, ``enum job_states``, flags)."""

_WORD = re.compile(r"[A-Z_]+", re.ASCII)
_MEMORY_WORDS = re.compile(r"\boom\b|oom[-_ ]?kill|out[-_ ]?of[-_ ]?memory", re.IGNORECASE)
AT_LIMIT = 0.9
"""Share of the memory asked for from which on it counts as used up: the use is measured every half
minute or so, hence a little before the kill."""

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
    (a flag next to the state: the first word counts) and two-character words are understood.
    """
    found = _WORD.match(text.strip().upper())
    if found is None:
        return None
    state = SLURM_STATES.get(found[0])
    if state is None and text.strip().endswith("+"):
        longer = {SLURM_STATES[name] for name in SLURM_STATES if name.startswith(found[0])}
        state = longer.pop() if len(longer) == 1 else None
    return state


def end_of(
    state: State, code: int | None, signal: int | None, reason: str | None = None, *,
    used_mb: float | None, limit_mb: float | None,
) -> State:  # fmt: skip
    """What an end was, by all that the record of a job says of it.

    Where Slurm does not see the kernel's kill, a job that ran out of memory is FAILED: by signal 9,
    by exit code 137 of the shell that ran the killed program (which sacct writes as 9, as it takes
    128 from codes of signals), or with a reason that says so. With its memory used up that is an
    end out of memory. Otherwise a kill stays a failure: its memory may have grown between two
    measurements, or a person or a program may have killed it.

    Args:
        state: that the scheduler reports.
        code: exit code.
        signal: that ended it.
        reason: that the scheduler reports.
        used_mb: the largest memory seen of one task; None: it is not recorded.
        limit_mb: the memory asked for on one node; None: it is not recorded.
    """
    if state is not State.FAILED:
        return state
    says = _MEMORY_WORDS.search(reason or "") is not None
    if used_mb is None or not limit_mb:
        return State.OUT_OF_MEMORY if says else state
    killed = says or was_killed(code, signal) or code == signals.SIGKILL
    return State.OUT_OF_MEMORY if killed and used_mb >= AT_LIMIT * limit_mb else state


def was_killed(code: int | None, signal: int | None) -> bool:
    """Whether signal 9 ended it, or a program that its shell ran (exit code 137)."""
    number = signal or (None if code is None else exit_signal(code))
    return number == signals.SIGKILL


def parse_states(words: list[str] | None) -> frozenset[State] | None:
    """The states that words mean; None: any.

    Raises:
        UsageError: a word is not a state; lists those that there are.
    """
    found: set[State] = set()
    for word in words or ():
        plain = word.strip().lower().replace("-", "_")
        slurm = slurm_state(word)
        if plain in ("active", "ended"):
            found |= {state for state in State if state.ended == (plain == "ended")}
        elif plain in tuple(State):
            found.add(State(plain))
        elif slurm is not None:
            found.add(slurm)
        else:
            raise UsageError(
                f"{printable(word, 30)!r} is not a state; there are {', '.join(State)}, active, "
                "ended, and Slurm's own words"
            )
    return frozenset(found) if words else None
