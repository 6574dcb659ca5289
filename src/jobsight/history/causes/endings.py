"""The cause of an end, by what a scheduler records of it: state, exit code, signal, memory.

Signals and exit codes are those of POSIX shells (128 + n for signal n) and ``signal(7)``; what
``sacct`` writes of them is described in `jobsight.documents.states.end_of`.
"""

from __future__ import annotations

import signal as signals

from jobsight.codes import exit_meaning, exit_signal
from jobsight.documents import JobDocument, State
from jobsight.documents.spans import runs, spans
from jobsight.documents.states import (
    AT_LIMIT,
    end_of,
    removed_for,
    was_killed,
)
from jobsight.format import memory, span
from jobsight.history.causes.cause import Cause

__all__ = ["ending", "ending_of"]


def ending(
    state: State,
    code: int | None = None,
    signal: int | None = None,
    reason: str | None = None,
    *,
    used_mb: float | None = None,
    limit_mb: float | None = None,
    ran_s: float | None = None,
    limit_s: float | None = None,
    slurm: bool = True,
    before: State | None = None,
) -> Cause | None:
    """The cause of an end; None where the job completed, or has not ended.

    Args:
        state: that the scheduler reports.
        code: exit code.
        signal: that ended it.
        reason: that the scheduler reports. Hostile text: it is searched, never repeated.
        used_mb: the largest memory seen, of one task or node; None: it is not recorded.
        limit_mb: the memory asked for, for the same; None: it is not recorded.
        ran_s: seconds that the last run took.
        limit_s: its time limit in seconds; negative: unlimited.
        slurm: whether Slurm ran it; else HTCondor.
        before: the state in which it was then, which a policy's expression may name; None: unknown.
    """
    if not slurm and code is None and signal is None and state in _BY_POLICY:
        return _REMOVALS.get(removed_for(reason, before) or _BY_POLICY[state], _POLICY)
    state = end_of(state, code, signal, reason, used_mb=used_mb, limit_mb=limit_mb)
    seen = f"{memory(used_mb)} of {memory(limit_mb)}" if used_mb and limit_mb else ""
    if state is State.OUT_OF_MEMORY:
        return _out_of_memory(seen, used_mb, limit_mb, slurm=slurm)
    if state is State.TIMEOUT:
        return _out_of_time(ran_s, limit_s, slurm=slurm)
    if state is State.FAILED:
        return _failed(code, signal, seen, slurm=slurm)
    return _OTHERS.get(state)


def ending_of(document: JobDocument) -> Cause | None:
    """The cause of a job's end by its record alone; None where it completed, or has not ended."""
    outcome, asked, used = document.outcome, document.request, document.usage
    if outcome is None:
        return None
    nodes = max(used.nodes or asked.nodes or 1, 1)
    last = runs(document, outcome.ended or document.updated)[-1:]
    states = [span.state for span in spans(document)]
    return ending(
        outcome.state,
        outcome.exit_code,
        outcome.signal,
        outcome.reason,
        used_mb=used.memory_mb,
        limit_mb=None if asked.memory_mb is None else asked.memory_mb / nodes,
        ran_s=last[0].seconds if last else None,
        limit_s=asked.time_limit_s,
        slurm=document.id.startswith("slurm:"),
        before=states[-1] if states else None,
    )


def _out_of_memory(
    seen: str, used_mb: float | None, limit_mb: float | None, *, slurm: bool
) -> Cause:
    option = "--mem or --mem-per-cpu" if slurm else "request_memory"
    late = ""
    if used_mb and limit_mb and used_mb < AT_LIMIT * limit_mb:
        late = "; measured between two samples, so the true peak was higher"
    measured = f" ({seen} in use when last measured{late})" if seen else ""
    return Cause(
        "out-of-memory", "memory", f"it ran out of memory and was killed{measured}",
        f"ask for more memory ({option}), or let it use less: fewer processes at once, smaller "
        "pieces of data",
    )  # fmt: skip


def _out_of_time(ran_s: float | None, limit_s: float | None, *, slurm: bool) -> Cause:
    limit = f" of {span(limit_s)}" if limit_s and limit_s > 0 else ""
    ran = f" after {span(ran_s)}" if ran_s and not limit else ""
    option = "--time" if slurm else "the allowed duration or run-time limit of the job"
    return Cause(
        "time-limit", "time", f"it reached its time limit{limit}{ran} and was ended",
        f"ask for more time ({option}), save progress in a checkpoint and go on from it, or split "
        "the work",
    )  # fmt: skip


def _failed(code: int | None, signal: int | None, seen: str, *, slurm: bool) -> Cause:
    if was_killed(code, signal) or (slurm and code == signals.SIGKILL):
        how = "signal 9" if signal or code is None else f"exit code {code}"
        maybe = ", or it ended itself with exit code 9" if code == signals.SIGKILL else ""
        peak = f"; {seen} in use when last measured" if seen else ""
        return Cause(
            "killed", "killed",
            f"it was killed from outside ({how}), most often for its memory{peak}{maybe}",
            "look for oom-kill in its output; measure its memory, and ask for more if it grows "
            "quickly; else a person or another program ended it",
            sure=False,
        )  # fmt: skip
    number = signal or (None if code is None else exit_signal(code))
    if number is not None and number in _SIGNALS:
        name, kind, fix = _SIGNALS[number]
        return Cause(name, kind, f"the program ended by {exit_meaning(None, number)}", fix)
    if slurm and code is not None and code in _BEHIND_A_SHELL:
        name, kind, fix = _SIGNALS[code]
        return Cause(
            name, kind,
            f"it ended with exit code {code}: that of the program itself, or {128 + code} of its "
            f"shell, which sacct writes so ({exit_meaning(None, code)})", fix, sure=False,
        )  # fmt: skip
    if code in _CODES:
        name, kind, text, fix = _CODES[code]
        return Cause(name, kind, f"{text} (exit code {code})", fix, sure=False)
    meaning = exit_meaning(code or None, signal)
    how = f"exit code {code}" if code is not None else f"signal {signal}" if signal else "no code"
    return Cause(
        "failed", "program",
        f"the program ended with an error ({how}{f': {meaning}' if meaning else ''})",
        "read the first error in its output, and run it once by hand on its smallest input",
        sure=False,
    )  # fmt: skip


_SIGNALS: dict[int, tuple[str, str, str]] = {
    signals.SIGSEGV: (
        "segmentation-fault", "crash",
        "run it on a small input in a debugger, or with core files allowed (ulimit -c unlimited); "
        "check that its libraries belong together, and the stack limit (ulimit -s unlimited)"),
    signals.SIGBUS: (
        "bus-error", "space",
        "check that its disk and /dev/shm have space, and that no input was cut or removed while "
        "it ran"),
    signals.SIGILL: (
        "illegal-instruction", "software",
        "build it for the processors of these machines, or ask for the kind it was built for"),
    signals.SIGABRT: (
        "aborted", "crash",
        "the message of the assertion or exception stands in its output: read what precedes it"),
    signals.SIGFPE: (
        "arithmetic", "crash", "check its input for zeros and overflows"),
    signals.SIGTERM: (
        "terminated", "killed",
        "see whether it reached a time limit, was preempted or was cancelled"),
    signals.SIGXCPU: (
        "cpu-time-limit", "time",
        "its limit of processor time (ulimit -t) was reached: run it in a job, not on a login "
        "node, or raise the limit"),
    signals.SIGXFSZ: (
        "file-size-limit", "space",
        "raise the limit of file sizes (ulimit -f), or write smaller files"),
}  # fmt: skip
_BEHIND_A_SHELL = (signals.SIGABRT, signals.SIGBUS, signals.SIGSEGV, signals.SIGTERM)
"""Signals whose numbers few programs have as exit codes of their own."""
_CODES: dict[int | None, tuple[str, str, str, str]] = {
    126: ("not-executable", "permission", "a command could not be executed",
          "make it executable (chmod +x), and check its first line and its file format"),
    127: ("command-not-found", "software", "a command was not found",
          "load the module that has it, or give its full path; check for typing errors"),
}  # fmt: skip
_REMOVED = "a policy of the job or of its access point removed it"
_POLICY = Cause(
    "policy-removed", "request", _REMOVED,
    "its reason names the policy's expression: change what that forbids, or ask who runs the pool",
    "either")  # fmt: skip
_BY_POLICY = {State.FAILED: "", State.TIMEOUT: "time", State.OUT_OF_MEMORY: "memory"}
"""Ends that HTCondor records without an exit code or signal: only of jobs that a policy removed."""
_REMOVALS = {
    "time": Cause(
        "removed-for-time", "time", f"{_REMOVED}: it ran longer than that allows",
        "raise the limit if the policy reads it from the job (its reason names the expression), "
        "save progress in a checkpoint and go on from it, or split the work", "either"),
    "memory": Cause(
        "removed-for-memory", "memory", f"{_REMOVED}: it used more memory than that allows",
        "ask for more memory (request_memory) if the policy reads that from the job, or let it use "
        "less: fewer processes at once, smaller pieces of data", "either"),
    "disk": Cause(
        "removed-for-disk", "space", f"{_REMOVED}: it used more disk than that allows",
        "ask for more disk (request_disk) if the policy reads that from the job, or let it write "
        "less", "either"),
    "held": Cause(
        "removed-held", "request", f"{_REMOVED}: it was held too long",
        "fix what held it (the reason of its hold), and submit it again; ask about the next one "
        "while it is held (jobsight hold)", "either"),
    "starts": Cause(
        "removed-for-starts", "request", f"{_REMOVED}: it was started or held too often",
        "see what ended its runs before they were done, and submit it again when that is fixed",
        "either"),
    "queue": Cause(
        "removed-queued", "request", f"{_REMOVED}: it was too long in the queue",
        "see whether any machine fits it (jobsight start), and ask for less", "either"),
}  # fmt: skip
"""What policies of HTCondor remove jobs for, see `jobsight.documents.states.removed_for`."""
_OTHERS = {
    State.NODE_FAIL: Cause(
        "node-failure", "node", "its machine failed or was lost: the job itself is not at fault",
        "submit it again (Slurm requeues it by itself where --requeue is allowed); report the "
        "machine to its administrators if this comes again", "site"),
    State.DEADLINE: Cause(
        "deadline", "request", "its --deadline came before it could start, or end",
        "give a later --deadline or a shorter --time, so that it can start in time"),
    State.PREEMPTED: Cause(
        "preempted", "preempted", "a job of higher priority took its place",
        "submit it again with --requeue and checkpoints, or in a partition or QOS that is not "
        "preempted", "either"),
    State.CANCELLED: Cause(
        "cancelled", "cancelled", "it was cancelled, by its user, an administrator or a program",
        "submit it again if that was not meant"),
    State.UNKNOWN_END: Cause(
        "unknown-end", "unknown", "it left the queue, and no source says how it ended",
        "look at its output files, and at the accounting of its scheduler", sure=False),
}  # fmt: skip
