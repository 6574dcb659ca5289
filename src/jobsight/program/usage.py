"""What a job used of what it asked for, and the request that would have fitted.

A request is proposed above the largest use of the runs that are known, and never below what did not
suffice. Only runs that completed say how much less would do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from jobsight.documents import JobDocument, State
from jobsight.documents.spans import ran, runs
from jobsight.format import UNKNOWN, memory, number, span
from jobsight.program.submission.job import Submission
from jobsight.program.submission.proposals import proposed
from jobsight.program.submission.sbatch import read_submitted
from jobsight.text import counted

__all__ = ["Amount", "Fit", "amounts", "fitted", "measured", "usage_fields"]

MARGIN = 1.2
"""Of memory and time above the largest use."""
_KILLED = 1.5
"""Of memory and time above what did not suffice, where more is not known."""
_ROUNDED = 0.05
"""CPUs above a whole number that do not count: times are in whole seconds."""


class Amount(NamedTuple):
    """One resource, as texts."""

    name: str
    asked: str
    used: str
    share: str


def amounts(document: JobDocument, now: int) -> list[Amount]:
    """What was asked for next to what was used, of what either is known of.

    A time limit is for each run, so the last of several has a row of its own.

    Args:
        document: of the job.
        now: µs since 1970, until when a present run counts.
    """
    asked, used = document.request, document.usage
    limit = None if asked.time_limit_s == -1 else asked.time_limit_s
    longest = "unlimited" if asked.time_limit_s == -1 else span(limit)
    each, seconds, shares = runs(document, now), ran(document, now), _shares(document, now)
    lasts = bool(each) and each[-1].lasts
    rows = [("ran", longest, span(seconds, lasts=lasts), _text(shares["time"]))]
    if len(each) > 1:
        last = span(each[-1].seconds, lasts=lasts)
        rows = [("ran", UNKNOWN, span(seconds, lasts=lasts), ""),
                ("last run", longest, last, _text(shares["time"]))]  # fmt: skip
    nodes, gpus = _nodes(document), used.gpus or asked.gpus
    whole = memory(_whole_memory(document))
    rows.append(("memory", memory(asked.memory_mb), whole, _text(shares["memory"])))
    if nodes > 1 and used.memory_mb is not None and asked.memory_mb is not None:
        each_node = asked.memory_mb / nodes
        share = _text(used.memory_mb / each_node if each_node else None)
        rows.append(("memory of a node", memory(each_node), memory(used.memory_mb), share))
    cpus = used.cpus or asked.cpus
    of_cpus = f"{_text(shares['cpu'])} of {counted(cpus or 0, 'cpu')}"
    disk = _text(used.disk_mb / asked.disk_mb if used.disk_mb and asked.disk_mb else None)
    rows += [
        ("cpus", number(asked.cpus, 0), number(used.cpus, 0), ""),
        ("cpu time", UNKNOWN, span(used.cpu_s), "" if shares["cpu"] is None else of_cpus),
        ("disk", memory(asked.disk_mb), memory(used.disk_mb), disk),
        ("nodes", number(asked.nodes, 0), number(used.nodes, 0), ""),
        ("gpus", number(asked.gpus, 0), number(used.gpus, 0), ""),
    ]
    if gpus and used.wall_s:
        busy = "not measured" if used.gpus_busy is None else number(used.gpus_busy, 2)
        rows += [("gpus busy", number(gpus, 0), busy, _text(shares["gpu"])),
                 ("gpu memory", UNKNOWN, memory(used.gpu_memory_mb), "")]  # fmt: skip
    return [Amount(*row) for row in rows if row[1:3] != (UNKNOWN, UNKNOWN)]


def _text(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def _shares(document: JobDocument, now: int) -> dict[str, float | None]:
    """The parts that were used of the time, of the CPUs over the time, of memory and GPUs."""
    asked, used = document.request, document.usage
    last, wall = _last_run(document, now), used.wall_s or ran(document, now)
    parts = {
        "time": (last, asked.time_limit_s if asked.time_limit_s != -1 else None),
        "cpu": (used.cpu_s, (used.cpus or asked.cpus or 0) * (wall or 0.0)),
        "memory": (_whole_memory(document), asked.memory_mb),
        "gpu": (used.gpus_busy, used.gpus or asked.gpus),
    }
    return {
        name: part / whole if part is not None and whole else None
        for name, (part, whole) in parts.items()
    }


def _whole_memory(document: JobDocument) -> int | None:
    """MB of all nodes together, at most."""
    used = document.usage
    total = used.total_memory_mb if _nodes(document) > 1 else None
    return max(total or 0, used.memory_mb or 0) or None


def _last_run(document: JobDocument, now: int) -> float | None:
    """Seconds of the last run: from its timeline, else as reported."""
    each = runs(document, now)
    return document.usage.wall_s if not each or each[-1].seconds is None else each[-1].seconds


def measured(document: JobDocument) -> str | None:
    """How the use of an ended job was measured, in words; None: nothing is known of it."""
    asked, used = document.request, document.usage
    notes = []
    if used.memory_mb is not None and document.id.startswith("htcondor:"):
        notes.append("memory sampled by HTCondor's starter")
    elif used.memory_mb is not None:
        notes.append("memory sampled by Slurm's accounting")
        notes[0] += f" ({used.memory_by})" if used.memory_by else ""
        if (used.tasks or 0) > 1:
            notes.append(
                f"{used.tasks} tasks, each at its own peak: together they used at most that"
            )
    if used.cpus and asked.cpus and used.cpus > asked.cpus:
        notes.append(
            f"{used.cpus} CPUs for {asked.cpus}: each thread of a whole core counts, or it got a "
            "whole node, or CPUs for its memory"
        )
    return "; ".join(notes) or None


@dataclass(frozen=True)
class Fit:
    """The request that would have fitted.

    Attributes:
        options: of sbatch, or commands of a submit file, with their values.
        runs: how many completed runs it rests on.
        reasons: of what does not follow from the largest use and `MARGIN`.
    """

    options: Mapping[str, str]
    runs: int
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        slurm = next(iter(self.options)).startswith("--")
        asked = [f"{name}{'=' if slurm else ' = '}{text}" for name, text in self.options.items()]
        reasons = list(self.reasons)
        if self.runs:
            rests = "one run" if self.runs == 1 else f"the largest of {self.runs} runs of its name"
            reasons.insert(0, f"from {rests}, with up to {100 * MARGIN - 100:.0f} % more than used")
        return f"{(' ' if slurm else ', ').join(asked)} ({'; '.join(reasons)})"


def fitted(document: JobDocument, like: Iterable[JobDocument], now: int) -> Fit | None:
    """The request that would have fitted an ended job; None: what is known does not say it.

    Args:
        document: of the job.
        like: ended runs of the same name and user; the job may be one of them.
        now: µs since 1970.
    """
    if document.state is None or not document.state.ended:
        return None
    runs_ = [document, *(one for one in like if one.id != document.id)]
    done = [one for one in runs_ if one.state is State.COMPLETED]
    slurm = document.id.startswith("slurm:")
    submission = read_submitted(document.submission) if slurm else Submission("htcondor")
    reasons: list[str] = []
    cpus = _cpus(document, done, submission) if document.state is State.COMPLETED else None
    options: dict[str, str] = {}
    size = _sized(runs_, _node_memory, State.OUT_OF_MEMORY, _step, memory, reasons)
    if size is not None:
        options |= _memory_option(document, size, submission, cpus.part if cpus else 1.0)
    limited = slurm or document.request.time_limit_s is not None
    # On fewer CPUs, of which several are busy, it takes longer: how much is not known.
    if limited and (cpus is None or cpus.value == 1):
        times = partial(_times, now=now)
        seconds = _sized(runs_, times, State.TIMEOUT, _step_s, span, reasons)
        if seconds is not None:
            hours, minutes = divmod(-(-seconds // 60), 60)
            limit = {"--time": f"{hours:02d}:{minutes:02d}:00"}
            options |= limit if slurm else {"allowed_job_duration": str(seconds)}
    if cpus is not None:
        options[cpus.name] = str(cpus.value)
        reasons.append(cpus.reason)
    return Fit(options, len(done), tuple(reasons)) if options else None


class _Cpus(NamedTuple):
    name: str
    value: int
    part: float
    """Of the CPUs asked for."""
    reason: str


def _cpus(
    document: JobDocument, done: Sequence[JobDocument], submission: Submission
) -> _Cpus | None:
    """The CPUs that would have done: as many as the busiest task used; None: all, or unknown."""
    name, had = "request_cpus", document.request.cpus
    if submission.scheduler == "slurm":
        request, by_srun = submission.request, any(one.usage.tasks for one in done)
        name, had = "--cpus-per-task", request.cpus_per_task
        if had == 1 and request.nodes == 1 and not by_srun:
            given = "ntasks" if "ntasks" in submission.settings else "ntasks-per-node"
            name, had = f"--{given}", request.tasks
    known = [one.usage.task_cpus for one in done if one.usage.task_cpus is not None]
    if not had or len(known) < len(done):
        return None
    least = max(math.ceil(max(known) - _ROUNDED), 1)
    reason = f"its busiest task kept {max(known):.2f} of {had} CPUs busy in the mean"
    return _Cpus(name, least, least / had, reason) if least < had else None


def _memory_option(
    document: JobDocument, size: int, submission: Submission, part: float
) -> dict[str, str]:
    """The option for MB of one node, in the form in which it was asked for.

    Args:
        document: of the job.
        size: MB of a node.
        submission: what was asked for.
        part: of the CPUs that it is to ask for.
    """
    if submission.scheduler == "htcondor":
        return {"request_memory": str(size)}
    asked, used = document.request, document.usage
    counts = {
        "mem-per-cpu": part * -(-(used.cpus or asked.cpus or 1) // _nodes(document)),
        "mem-per-gpu": -(-(used.gpus or asked.gpus or 1) // _nodes(document)),
    }
    for name, count in counts.items():
        if name in submission.settings:
            return {f"--{name}": f"{math.ceil(size / max(count, 1))}M"}
    return {"--mem": f"{size}M" if size % 1024 else f"{size // 1024}G"}


def _sized(
    runs_: Sequence[JobDocument], amounts_: Callable[[JobDocument], tuple[float | None, ...]],
    killed: State, step: Callable[[float], int], text: Callable[[float], str],
    reasons: list[str],
) -> int | None:  # fmt: skip
    """An amount above what completed runs used and above what did not suffice; None: unknown.

    Not more than was asked for, where that sufficed in every run.

    Args:
        runs_: ended runs, that of the job first.
        amounts_: what a run asked for and what it used.
        killed: the state of runs to which it did not suffice.
        step: the amount is a multiple of this.
        text: for people.
        reasons: get one where it did not suffice.
    """
    asked, used = zip(*map(amounts_, runs_), strict=True)
    states = [one.state for one in runs_]
    done = [at for at, state in enumerate(states) if state is State.COMPLETED]
    limits = [asked[at] or 0.0 for at, state in enumerate(states) if state is killed]
    too_small = max(limits, default=0.0)
    peaks = [used[at] for at in done if used[at] is not None]
    most, largest = max(peaks, default=0.0), max((size or 0.0 for size in used), default=0.0)
    if limits and most <= too_small:
        if not too_small:
            return None
        reasons.append(f"{text(too_small)} did not suffice, and what would is not known")
        wanted = max(too_small, largest) * _KILLED
    elif peaks and len(peaks) == len(done):
        wanted = most * MARGIN
    else:
        return None
    if states[0] in (State.OUT_OF_MEMORY, State.TIMEOUT):  # how much less would do is not known
        largest = max(largest, asked[0] or 0.0)
    size = proposed(wanted, had=[too_small], used=largest, step=step(wanted))
    enough = [asked[at] for at in done]
    if size is not None and not limits and all(enough):
        size = min(size, max(math.ceil(max(enough)), math.ceil(largest)))
    return size


def _nodes(document: JobDocument) -> int:
    return max(document.usage.nodes or document.request.nodes or 1, 1)


def _node_memory(document: JobDocument) -> tuple[float | None, float | None]:
    asked = document.request.memory_mb
    return None if asked is None else asked / _nodes(document), document.usage.memory_mb


def _times(document: JobDocument, now: int) -> tuple[float | None, float | None]:
    limit = document.request.time_limit_s
    return None if limit is None or limit < 0 else limit, _last_run(document, now)


def _step(megabytes: float) -> int:
    return 10 if megabytes < 1000 else 100 if megabytes < 10_000 else 1024


def _step_s(seconds: float) -> int:
    return 60 if seconds < 3600 else 600


def usage_fields(document: JobDocument, fit: Fit | None, now: int) -> dict[str, Any]:
    """The same for JSON: shares of what was asked for, and the request that would have fitted."""
    found: dict[str, Any] = {
        f"{name}_share": round(share, 4)
        for name, share in _shares(document, now).items()
        if share is not None
    }
    if how := measured(document):
        found["measured"] = how
    if fit is not None:
        found["would_fit"] = {"request": fit.options, "runs": fit.runs, "reasons": fit.reasons}
    return found
