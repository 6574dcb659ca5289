"""What Slurm's tools report of jobs (squeue, scontrol, sacct) → partial job documents.

Entries of a timeline: ``PENDING`` at submission (``REQUEUED`` at a later one), ``ELIGIBLE``,
``RUNNING`` at the start, the ending word at the end, at the times that Slurm reports; changes seen
in the queue (reasons, suspensions) at the time of the poll, by the controller's clock.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from jobsight.documents import Event, JobDocument, Request, State, Submission, Usage, slurm_id
from jobsight.documents.identity import is_final, is_reused
from jobsight.documents.states import slurm_state
from jobsight.documents.timelines import GONE
from jobsight.history.slurm.ids import SlurmId, expand
from jobsight.history.slurm.sacct import Run
from jobsight.history.slurm.scontrol import Shown, leading_number
from jobsight.history.slurm.squeue import Queued
from jobsight.history.slurm.steps import used_by_steps
from jobsight.program.submission.batchscript import LONGEST_SCRIPT, directives
from jobsight.program.submission.sizes import gpus, parse_exit, parse_memory, parse_tres
from jobsight.program.submission.times import behind

__all__ = [
    "bounded",
    "exit_of",
    "goes_on",
    "group_runs",
    "life",
    "limit_of",
    "lives",
    "megabytes",
    "of_ended",
    "of_queue",
    "of_runs",
    "of_shown",
    "queue_end",
    "raw_of",
    "script_parts",
    "state_of",
    "texts",
    "with_submit",
]

_OUT_OF_MEMORY = 125
_MB = 1 << 20
_LONGEST = 4096
_WORD = 80
_HELD = frozenset({"JobHeldUser", "JobHeldAdmin", "JobHoldMaxRequeue"})

# --- what all sources of Slurm share ---

_GOES_ON = ("REQUEUE", "RESIZING")
"""Words of a run that ended although its job did not."""

_BY = re.compile(r"CANCELLED by (\d{1,10})", re.ASCII)


def bounded(text: str, most: int = _LONGEST) -> str | None:
    """Hostile text of bounded length; None where it is empty."""
    if not text:
        return None
    return text if len(text) <= most else text[: most - 1] + "…"


def texts(record: object, names: Iterable[str]) -> dict[str, Any]:
    """Texts of a record, which documents have under the same names."""
    return {name: bounded(getattr(record, name)) for name in names}


def raw_of(raw: str, job: SlurmId, *, several: bool = False) -> str | None:
    """Slurm's own number, where it differs from what users see and is this job's alone."""
    return raw if raw and raw != job.name and not several else None


def limit_of(seconds: float | None) -> int | None:
    """A time limit as it is in documents: -1 is unlimited."""
    if seconds is None:
        return None
    return -1 if math.isinf(seconds) else int(seconds)


def megabytes(size: int | None) -> int | None:
    """Whole MB of a size in bytes."""
    return None if size is None else size // _MB


def exit_of(code: tuple[int, int] | None) -> tuple[int | None, int | None]:
    """Exit code and signal; Slurm prints 0 for the code of what a signal ended.

    Out of memory it is 0:125, which is neither: the state says so (slurm.h, ``SIG_OOM``).
    """
    if code is None or code == (0, _OUT_OF_MEMORY):
        return None, None
    return (None if code[1] and not code[0] else code[0]), (code[1] or None)


def life(
    source: str,
    state: State | None,
    word: str,
    *,
    submit: int | None,
    eligible: int | None = None,
    start: int | None = None,
    hosts: str | None = None,
    end: int | None = None,
    again: bool = False,
    **ending: Any,
) -> Iterator[Event]:
    """The life of one run, at the times that a tool (`source`) reports: µs; None: not yet.

    It ended in `state`, for which Slurm has the `word`; `again`: it was submitted by a requeue;
    `ending` has other fields of the entry of the end.
    """
    requeued = submit if again else None
    if submit is not None:
        submission = "REQUEUED" if again else "PENDING"
        yield Event(time=submit, source=source, state=State.PENDING, word=submission)
    if eligible is not None:
        yield Event(time=eligible, source=source, word="ELIGIBLE")
    if start is not None:
        time = behind(start, requeued)
        yield Event(time=time, source=source, state=State.RUNNING, word="RUNNING", host=hosts)
    if end is not None:
        time = behind(end, requeued)
        yield Event(time=time, source=source, state=state, word=bounded(word, _WORD), **ending)


def script_parts(script: str) -> Submission:
    """A batch script and its options, as the part of a submission that they are.

    It ends with one line end, whatever the tool that printed it added (sacct of 22.05 adds one).
    """
    whole = script.rstrip("\n") + "\n"
    return Submission(script=bounded(whole, LONGEST_SCRIPT), directives=directives(whole))


def with_submit(document: JobDocument, submitted: int | None) -> JobDocument:
    """The document with the time of the job's first submission."""
    submission = msgspec.structs.replace(document.submission, submitted=submitted)
    return msgspec.structs.replace(document, submission=submission)


def queue_end(
    cluster: str, job: SlurmId, submitted: int | None, gone: int, now: int, *, unstarted: bool
) -> JobDocument:
    """A job that left the queue at about `gone`, and whose end no tool reports.

    When it was `submitted` distinguishes it from others of its number; times in µs since 1970. One
    that is `unstarted` is a task of an array that waited, so it was cancelled: Slurm keeps no
    account of such tasks (seen with 22.05 and 24.11).
    """
    reason = "it left the queue before it started, and Slurm keeps no account of it"
    event = Event(
        time=gone,
        source="squeue",
        state=State.CANCELLED if unstarted else State.UNKNOWN_END,
        word=GONE,
        reason=reason if unstarted else None,
    )
    document = JobDocument(id=slurm_id(cluster, job.name), updated=now, timeline=(event,))
    return with_submit(document, submitted)


# --- squeue ---


def state_of(word: str, reason: str) -> State | None:
    """The state of a word of squeue or scontrol: pending jobs that are held count as held."""
    state = slurm_state(word)
    if state is State.PENDING and (reason in _HELD or "held" in reason.lower()):
        return State.HELD
    return state


def of_queue(
    cluster: str, line: Queued, job: SlurmId, events: Sequence[Event], now: int
) -> JobDocument:
    """What a line of the queue reports of a job.

    The line may be of several tasks, of which `job` is one; `events` is what is new in its
    timeline; `now` in µs since 1970.
    """
    waiting = line.start is None or slurm_state(line.state) is State.PENDING
    tres: dict[str, int] = {}
    with contextlib.suppress(ValueError):
        tres = parse_tres(line.tres)
    memory = None
    if line.memory is not None and line.memory.size:
        count = line.cpus if line.memory.per == "cpu" else line.nodes
        memory = None if count is None else megabytes(line.memory.size * max(count, 1))
    request = Request(
        time_limit_s=limit_of(line.time_limit_s),
        memory_mb=memory,
        gpus=gpus(tres),
        **texts(line, ("partition", "qos", "account", "reservation", "constraints", "dependency")),
        priority=line.priority,
    )
    if waiting:  # of a running job the queue shows what it was given instead
        request = msgspec.structs.replace(request, cpus=line.cpus, nodes=line.nodes)
    submission = Submission(
        **texts(line, ("user", "group", "name", "directory", "comment", "command")),
        array=job.base if job.task is not None else None,
        raw_id=raw_of(line.raw_id, job, several=line.id.tasks is not None),
        sluid=job.sluid,
    )
    return JobDocument(
        id=slurm_id(cluster, job.name),
        updated=now,
        request=request,
        submission=submission,
        usage=Usage(requeues=line.restarts)
        if waiting
        else Usage(
            hosts=bounded(line.hosts), cpus=line.cpus, nodes=line.nodes, requeues=line.restarts
        ),
        timeline=tuple(events),
    )


def of_ended(cluster: str, line: Queued, job: SlurmId, now: int) -> JobDocument:
    """The whole life of an ended job, by its line of the queue."""
    events = life(
        "squeue",
        slurm_state(line.state),
        line.state,
        submit=line.submit,
        start=line.start if line.hosts else None,
        hosts=bounded(line.hosts),
        end=line.end or now,
        again=bool(line.restarts),
        reason=bounded(line.reason),
    )
    return of_queue(cluster, line, job, tuple(events), now)


# --- scontrol ---


def of_shown(cluster: str, job: SlurmId, shown: Shown, now: int) -> JobDocument:
    """What scontrol shows of a job, its end included where it has ended."""
    fields = shown.fields
    resources = fields.get("ReqTRES") or fields.get("TRES", "")
    tres: dict[str, int] = {}
    with contextlib.suppress(ValueError):
        tres = parse_tres(resources)
    disk = None
    with contextlib.suppress(ValueError):
        disk = parse_memory(fields.get("MinTmpDiskNode") or "")
    # Before it starts, and in newer versions, the resources are those that were asked for.
    asked = "ReqTRES" in fields or slurm_state(fields.get("JobState", "")) is State.PENDING
    request = Request(
        gpus=gpus(tres),
        memory_mb=megabytes(tres.get("mem")),
        cpus=tres.get("cpu"),
        nodes=tres.get("node"),
        tasks=leading_number(fields.get("NumTasks")),
        disk_mb=None if disk is None else megabytes(disk.size) or None,
        time_limit_s=limit_of(shown.time_limit_s),
        tres=bounded(resources) if asked else None,
        dependency=bounded(fields.get("Dependency", "")),
    )
    submission = Submission(
        command=bounded(fields.get("Command", "")),
        line=bounded(fields.get("SubmitLine", "")),
        directory=bounded(fields.get("WorkDir", "")),
        stdout=bounded(fields.get("StdOut", "")),
        stderr=bounded(fields.get("StdErr", "")),
        comment=bounded(fields.get("Comment", "")),
        host=bounded(fields.get("AllocNode:Sid", "").partition(":")[0]),
        array=job.base if job.task is not None else None,
        raw_id=raw_of(fields.get("JobId", ""), job, several=shown.id.tasks is not None),
    )
    return JobDocument(
        id=slurm_id(cluster, job.name),
        updated=now,
        request=request,
        submission=submission,
        timeline=tuple(_shown_events(shown, now)),
        usage=Usage(requeues=shown.restarts),
    )


def _shown_events(shown: Shown, now: int) -> Iterator[Event]:
    fields, times = shown.fields, shown.times
    word = fields.get("JobState", "").partition(" ")[0]
    state, hosts = slurm_state(word), bounded(fields.get("NodeList", ""))
    ended = state is not None and state.ended
    waits = state is None or state in (State.PENDING, State.HELD)
    code, signal = exit_of(parse_exit(fields.get("ExitCode", ""))) if hosts else (None, None)
    yield from life(
        "scontrol",
        state,
        word,
        submit=times["Submit"],
        eligible=times["Eligible"] if (times["Eligible"] or now) <= now else None,
        start=times["Start"] if hosts and not waits else None,
        hosts=hosts,
        end=times["End"] or now if ended else None,
        again=bool(shown.restarts),
        reason=bounded(fields.get("Reason", "").partition(" Dependency")[0]),
        return_value=code,
        signal=signal,
    )
    if state is State.SUSPENDED and times["Suspend"] is not None:
        yield Event(time=times["Suspend"], source="scontrol", state=state, word="SUSPENDED")


def group_runs(runs: Iterable[Run], most_tasks: int) -> Iterator[tuple[SlurmId, list[Run]]]:
    """Jobs and their runs, oldest run first; the pending tasks of an array one by one.

    Jobs to which Slurm gave one number come one after another, the first one first.

    Args:
        runs: of sacct, in any order.
        most_tasks: pending tasks of one array that get documents.
    """
    groups: dict[str, tuple[SlurmId, list[Run]]] = {}
    for run in runs:
        for job in expand(run.id, most_tasks)[0]:
            groups.setdefault(job.name, (job, []))[1].append(run)
    for job, found in groups.values():
        found.sort(key=lambda run: (run.submit or 0, run.start or 0, run.end or 0))
        begins = [at for at, run in enumerate(found) if not at or _is_another(found[at - 1], run)]
        for start, end in itertools.pairwise([*begins, len(found)]):
            yield job, found[start:end]


def _is_another(before: Run, run: Run) -> bool:
    """Whether a run is of another job than the run before it under its number."""
    if before.submit is None or run.submit is None or run.submit == before.submit:
        return False
    if before.state.startswith("RESIZING"):  # slurmdbd begins another row
        return False
    state = slurm_state(before.state)
    final = state is not None and is_final(state) and not before.unfinished
    requeues = run.restarts if run.restarts is not None or not final else 0
    return is_reused(before.user, before.submit, run.user, run.submit, requeues)


def goes_on(run: Run) -> bool:
    """Whether another run of the job follows, for which it waits or which runs already."""
    return run.state.startswith(_GOES_ON)


def lives(run: Run) -> bool:
    """Whether a run waits or runs, as far as slurmdbd knows."""
    state = slurm_state(run.state)
    return state is not None and not state.ended and not goes_on(run)


def of_runs(
    cluster: str,
    job: SlurmId,
    runs: Sequence[Run],
    now: int,
    *,
    submitted: int | None = None,
    source: str = "sacct",
    sampling: str | None = None,
) -> JobDocument:
    """What sacct reports of a job.

    The runs, at least one, are in order of time; `submitted` is when it was first submitted, where
    an earlier source knows; times in µs since 1970. `sampling` is what measured it, where the
    cluster's configuration is known.
    """
    last = runs[-1]
    tres = parse_tres(last.req_tres)
    memory, per = last.req_mem or (None, None)  # without a suffix (since 21.08) of the whole job
    if memory and per == "cpu":
        memory *= max(last.req_cpus or 1, 1)
    elif memory and per == "node":
        memory *= max(last.req_nodes or last.alloc_nodes or 1, 1)
    submits = [time for time in (submitted, *(run.submit for run in runs)) if time is not None]
    first = min(submits, default=None)
    events: list[Event] = []
    for at, run in enumerate(runs):
        again = at > 0 or bool(run.restarts) or (run.submit or 0) > (first or 0)
        events += _events(run, now, source, again=again)
    return JobDocument(
        id=slurm_id(cluster, job.name),
        updated=now,
        request=Request(
            cpus=last.req_cpus,
            nodes=last.req_nodes or tres.get("node"),
            gpus=gpus(tres),
            memory_mb=megabytes(tres.get("mem") or memory or None),
            time_limit_s=limit_of(last.time_limit_s),
            **texts(last, ("partition", "qos", "account", "reservation", "constraints")),
            tres=bounded(last.req_tres),
            priority=last.priority,
        ),
        submission=Submission(
            submitted=first,
            **texts(
                last,
                ("user", "group", "name", "directory", "comment", "line", "stdout", "stderr"),
            ),
            array=job.base if job.task is not None else None,
            raw_id=raw_of(last.raw_id, job, several=last.id.tasks is not None),
            sluid=last.sluid or None,
        ),
        timeline=tuple(events),
        usage=_usage(runs, sampling),
    )


def _events(run: Run, now: int, source: str, *, again: bool) -> Iterator[Event]:
    state, started = slurm_state(run.state), _started(run)
    ended = state is not None and (state.ended or goes_on(run))
    code, signal = exit_of(run.exit_code) if started else (None, None)
    reason = f"node {run.failed_node[:200]} failed" if run.failed_node else None
    if by := _BY.match(run.state):
        reason = f"cancelled by user id {by[1]}"
    return life(
        source,
        state,
        run.state,
        submit=run.submit,
        eligible=run.eligible if (run.eligible or 0) <= now else None,
        start=run.start if started else None,
        hosts=bounded(run.hosts),
        end=run.end or run.start or run.submit or now if ended and not run.unfinished else None,
        again=again,
        reason=reason,
        return_value=code,
        signal=signal,
        host=bounded(run.failed_node),
    )


def _started(run: Run) -> bool:
    """Whether it ran: what was cancelled while pending has a start in some versions."""
    if run.start is None:
        return False
    state = slurm_state(run.state)
    unsure = state is None or not state.ended or state is State.CANCELLED
    if not run.hosts and not run.elapsed_s and (unsure or run.alloc_nodes == 0):
        return False
    return bool(run.hosts or run.elapsed_s) or run.alloc_cpus is None or run.alloc_cpus > 0


def _usage(runs: Sequence[Run], sampling: str | None) -> Usage:
    last = runs[-1]
    starts = sum(map(_started, runs))
    requeues: int | None = max(len(runs) - 1, last.restarts or 0)
    if last.restarts is None and not requeues:
        requeues = None  # an older version does not count them
    if not _started(last):
        return Usage(starts=starts or None, requeues=requeues)
    read = [step.read for step in last.steps if step.read is not None]
    written = [step.written for step in last.steps if step.written is not None]
    state = slurm_state(last.state)
    return Usage(
        wall_s=last.elapsed_s if state and state.ended and not last.unfinished else None,
        **(used := used_by_steps(last)),
        memory_by=sampling if "memory_mb" in used else None,
        read_mb=round(sum(read) / _MB, 3) if read else None,
        written_mb=round(sum(written) / _MB, 3) if written else None,
        cpus=last.alloc_cpus,
        nodes=last.alloc_nodes,
        hosts=bounded(last.hosts),
        tres=bounded(last.alloc_tres),
        gpus=gpus(parse_tres(last.alloc_tres)),
        energy_j=None if last.energy_j is None else float(last.energy_j),
        starts=max(starts, (last.restarts or 0) + 1),
        requeues=requeues,
    )
