"""Slurm's records → partial job documents, with what happened at the times that Slurm tells.

Entries of the timeline: ``PENDING`` at submission (``REQUEUED`` at a later one), ``ELIGIBLE``,
``RUNNING`` at the start, the ending word at the end; changes seen in the queue (reasons,
suspensions) at the time of the poll, by the controller's clock.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from jobsight.documents import Event, JobDocument, Request, State, Submission, Usage, slurm_id
from jobsight.documents.states import slurm_state
from jobsight.documents.timelines import GONE
from jobsight.history.slurm.batchscript import LONGEST_SCRIPT, directives
from jobsight.history.slurm.ids import SlurmId, expand
from jobsight.history.slurm.sacct import Run
from jobsight.history.slurm.sizes import gpus, parse_tres
from jobsight.history.slurm.squeue import Queued
from jobsight.history.slurm.times import behind

__all__ = [
    "bounded",
    "ended_events",
    "exit_of",
    "group_runs",
    "limit_of",
    "of_one_job",
    "of_queue",
    "of_runs",
    "raw_of",
    "script_parts",
    "state_of",
    "unknown_end",
    "unstarted_end",
    "with_submit",
]

_OUT_OF_MEMORY = 125
_MB = 1 << 20
_LONGEST = 4096
_REMEMBERED = 7 * 86_400_000_000
"""No controller remembers a job that ended longer ago; µs."""

_BY = re.compile(r"CANCELLED by (\d{1,10})", re.ASCII)
_SUBMITTED = ("user", "group", "name", "directory", "comment")
_ASKED = ("partition", "qos", "account", "reservation", "constraints")
"""Texts that squeue's and sacct's records have under the names that documents give them."""

_HELD = frozenset({"JobHeldUser", "JobHeldAdmin", "JobHoldMaxRequeue"})


def bounded(text: str, most: int = _LONGEST) -> str | None:
    """Hostile text of bounded length; None where it is empty."""
    if not text:
        return None
    return text if len(text) <= most else text[: most - 1] + "…"


def _texts(record: Queued | Run, names: Iterable[str]) -> dict[str, Any]:
    return {name: bounded(getattr(record, name)) for name in names}


def state_of(word: str, reason: str) -> State | None:
    """The state of a word of squeue or scontrol: pending jobs that are held count as held."""
    state = slurm_state(word)
    if state is State.PENDING and (reason in _HELD or "held" in reason.lower()):
        return State.HELD
    return state


# --- squeue ---


def of_queue(
    cluster: str, line: Queued, job: SlurmId, events: Sequence[Event], now: int
) -> JobDocument:
    """What a line of the queue tells of a job.

    Args:
        cluster: its name.
        line: the line; of several tasks, of all of them.
        job: the one job meant.
        events: what is new in its timeline.
        now: µs since 1970.
    """
    waiting = line.start is None or slurm_state(line.state) is State.PENDING
    submission = Submission(
        **_texts(line, (*_SUBMITTED, "command")),
        array=job.base if job.task is not None else None,
        raw_id=raw_of(line.raw_id, job, several=line.id.tasks is not None),
        sluid=job.sluid,
    )
    return JobDocument(
        id=slurm_id(cluster, job.name),
        updated=now,
        request=_queued_request(line, waiting=waiting),
        submission=submission,
        usage=Usage() if waiting else Usage(hosts=bounded(line.hosts)),
        timeline=tuple(events),
    )


def _queued_request(line: Queued, *, waiting: bool) -> Request:
    """What is asked for; of a running job the queue tells what it was given instead."""
    return Request(
        cpus=line.cpus if waiting else None,
        nodes=line.nodes if waiting else None,
        memory_mb=_queued_memory(line) if waiting else None,
        time_limit_s=limit_of(line.time_limit_s),
        **_texts(line, (*_ASKED, "dependency")),
        priority=line.priority,
    )


def ended_events(line: Queued, now: int) -> list[Event]:
    """The life of an ended job, by its line of the queue: submission, start and end."""
    state = slurm_state(line.state)
    told: list[Event] = []
    if line.submit is not None:
        told.append(Event(time=line.submit, source="squeue", state=State.PENDING, word="PENDING"))
    if line.start is not None and line.hosts:
        host = bounded(line.hosts)
        told.append(
            Event(time=line.start, source="squeue", state=State.RUNNING, word="RUNNING", host=host)
        )
    told.append(
        Event(
            time=line.end or now,
            source="squeue",
            state=state,
            word=bounded(line.state, 80),
            reason=bounded(line.reason),
        )
    )
    return told


def with_submit(document: JobDocument, submitted: int | None) -> JobDocument:
    """The document with the time of the job's first submission."""
    submission = msgspec.structs.replace(document.submission, submitted=submitted)
    return msgspec.structs.replace(document, submission=submission)


def unknown_end(cluster: str, job: SlurmId, gone: int, now: int) -> JobDocument:
    """A job that left the queue at about `gone`, and of which nobody tells how it ended."""
    event = Event(time=gone, source="squeue", state=State.UNKNOWN_END, word=GONE)
    return JobDocument(id=slurm_id(cluster, job.name), updated=now, timeline=(event,))


def _queued_memory(line: Queued) -> int | None:
    if line.memory is None or not line.memory[0]:
        return None
    size, per = line.memory
    count = line.cpus if per == "cpu" else line.nodes
    return None if count is None else size * max(count, 1) // _MB


def raw_of(raw: str, job: SlurmId, *, several: bool = False) -> str | None:
    """Slurm's own number, where it differs from what users see and stands for this job alone."""
    return raw if raw and raw != job.name and not several else None


def limit_of(seconds: float | None) -> int | None:
    """A time limit as documents hold it: -1 is unlimited."""
    if seconds is None:
        return None
    return -1 if math.isinf(seconds) else int(seconds)


def unstarted_end(cluster: str, job: SlurmId, gone: int, now: int) -> JobDocument:
    """A task of an array that was taken out of the queue, at about `gone`, before it started.

    Slurm keeps no account of such tasks (seen with 22.05 and 24.11).
    """
    event = Event(
        time=gone,
        source="squeue",
        state=State.CANCELLED,
        word=GONE,
        reason="it left the queue before it started, and Slurm keeps no account of it",
    )
    return JobDocument(id=slurm_id(cluster, job.name), updated=now, timeline=(event,))


# --- sacct ---


def group_runs(runs: Iterable[Run], most_tasks: int) -> Iterator[tuple[SlurmId, list[Run]]]:
    """Jobs and their runs, oldest run first; the pending tasks of an array one by one.

    Args:
        runs: of sacct, in any order.
        most_tasks: pending tasks of one array that are told of.
    """
    groups: dict[str, tuple[SlurmId, list[Run]]] = {}
    for run in runs:
        for job in expand(run.id, most_tasks)[0]:
            groups.setdefault(job.name, (job, []))[1].append(run)
    for job, found in groups.values():
        yield job, sorted(found, key=lambda run: (run.submit or 0, run.start or 0, run.end or 0))


def of_one_job(runs: Sequence[Run], submit: int | None) -> list[Run]:
    """The last of these runs, and those before it that belong to the same job.

    Numbers are used again some day. Who is requeued is submitted again where its last run ended, or
    not much later: as long as the controller remembers it (MinJobAge).

    Args:
        runs: of one number, oldest first.
        submit: when the job of that number which lives now was submitted last; None: none lives.
    """
    kept: list[Run] = []
    following = submit
    for run in reversed(runs):
        if run.end is not None and following is not None and following - run.end > _REMEMBERED:
            break
        kept.append(run)
        following = run.submit
    return kept[::-1]


def of_runs(
    cluster: str, job: SlurmId, runs: Sequence[Run], now: int, *, submitted: int | None = None
) -> JobDocument:
    """What sacct tells of a job.

    Args:
        cluster: its name.
        job: the one job meant.
        runs: its runs, oldest first, at least one.
        now: µs since 1970.
        submitted: when it was first submitted, where an earlier source knows.
    """
    last = runs[-1]
    submits = [time for time in (submitted, *(run.submit for run in runs)) if time is not None]
    first = min(submits, default=None)
    events = [
        event
        for at, run in enumerate(runs)
        for event in _events(run, now, again=at > 0 or bool(run.restarts) or _later(run, first))
    ]
    return JobDocument(
        id=slurm_id(cluster, job.name),
        updated=now,
        request=_request(last),
        submission=_submission(job, last, first),
        timeline=tuple(events),
        usage=_usage(runs),
    )


def _submission(job: SlurmId, last: Run, first: int | None) -> Submission:
    return Submission(
        submitted=first,
        **_texts(last, (*_SUBMITTED, "line")),
        array=job.base if job.task is not None else None,
        raw_id=raw_of(last.raw_id, job, several=last.id.tasks is not None),
        sluid=last.sluid or None,
    )


def _later(run: Run, first: int | None) -> bool:
    return first is not None and run.submit is not None and run.submit > first


def _events(run: Run, now: int, *, again: bool) -> Iterator[Event]:
    """The life of one run, at the times that sacct tells."""
    state = slurm_state(run.state)
    requeued = run.submit if again else None
    if run.submit is not None:
        word = "REQUEUED" if again else "PENDING"
        yield Event(time=run.submit, source="sacct", state=State.PENDING, word=word)
    if run.eligible is not None and run.eligible <= now:
        yield Event(time=run.eligible, source="sacct", word="ELIGIBLE")
    started = _started(run)
    if started and run.start is not None:
        host, start = bounded(run.hosts), behind(run.start, requeued)
        yield Event(time=start, source="sacct", state=State.RUNNING, word="RUNNING", host=host)
    if run.unfinished or state is None or not (state.ended or run.state.startswith("REQUEUE")):
        return
    code, signal = exit_of(run.exit_code) if started else (None, None)
    yield Event(
        time=behind(run.end or run.start or run.submit or now, requeued),
        source="sacct",
        state=state,
        word=bounded(run.state, 80),
        reason=_end_reason(run),
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


def exit_of(code: tuple[int, int] | None) -> tuple[int | None, int | None]:
    """Exit code and signal; Slurm prints 0 for the code of what a signal ended.

    Out of memory it is 0:125, which is neither: the state says so (slurm.h, ``SIG_OOM``).
    """
    if code is None or code == (0, _OUT_OF_MEMORY):
        return None, None
    return (None if code[1] and not code[0] else code[0]), (code[1] or None)


def _end_reason(run: Run) -> str | None:
    if by := _BY.match(run.state):
        return f"cancelled by user id {by[1]}"
    return f"node {run.failed_node[:200]} failed" if run.failed_node else None


def _request(run: Run) -> Request:
    tres = parse_tres(run.req_tres)
    memory = tres.get("mem") or _requested_memory(run)
    return Request(
        cpus=run.req_cpus,
        nodes=run.req_nodes or tres.get("node"),
        gpus=gpus(tres),
        memory_mb=None if memory is None else memory // _MB,
        time_limit_s=limit_of(run.time_limit_s),
        **_texts(run, _ASKED),
        tres=bounded(run.req_tres),
        priority=run.priority,
    )


def _requested_memory(run: Run) -> int | None:
    """ReqMem for the whole job; without a letter (since 21.08) it is that already."""
    if run.req_mem is None or not run.req_mem[0]:
        return None
    size, per = run.req_mem
    if per == "cpu":
        return size * max(run.req_cpus or 1, 1)
    return size * max(run.req_nodes or run.alloc_nodes or 1, 1) if per == "node" else size


def _usage(runs: Sequence[Run]) -> Usage:
    last = runs[-1]
    starts = sum(map(_started, runs))
    requeues = max(len(runs) - 1, last.restarts or 0) or None
    if not _started(last):
        return Usage(starts=starts or None, requeues=requeues)
    memory = max((step.max_rss or 0 for step in last.steps), default=0)
    read = [step.read for step in last.steps if step.read is not None]
    written = [step.written for step in last.steps if step.written is not None]
    state = slurm_state(last.state)
    return Usage(
        wall_s=last.elapsed_s if state and state.ended and not last.unfinished else None,
        cpu_s=last.cpu_s,
        memory_mb=-(-memory // _MB) or None,
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


# --- scripts ---


def script_parts(script: str) -> Submission:
    """A batch script and its options, as the part of a submission that they are.

    It ends with one line end, whatever the tool that printed it added (sacct of 22.05 adds one).
    """
    whole = script.rstrip("\n") + "\n"
    return Submission(script=bounded(whole, LONGEST_SCRIPT), directives=directives(whole))
