"""Slurm's accounting (sacct's runs) → partial job documents."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from jobsight.documents import Event, JobDocument, Request, State, Submission, Usage, slurm_id
from jobsight.documents.identity import is_final, is_reused
from jobsight.documents.states import slurm_state
from jobsight.history.slurm.documents import (
    bounded,
    exit_of,
    life,
    limit_of,
    megabytes,
    raw_of,
    texts,
)
from jobsight.history.slurm.ids import SlurmId, expand
from jobsight.history.slurm.sacct import Run
from jobsight.program.submission.sizes import gpus, parse_tres

__all__ = ["goes_on", "group_runs", "lives", "of_runs"]

_MB = 1 << 20
_GOES_ON = ("REQUEUE", "RESIZING")
"""Words of a run that ended although its job did not."""
_BY = re.compile(r"CANCELLED by (\d{1,10})", re.ASCII)


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
) -> JobDocument:
    """What sacct reports of a job.

    Args:
        cluster: its name.
        job: the one job meant.
        runs: its runs, oldest first, at least one.
        now: µs since 1970.
        submitted: when it was first submitted, where an earlier source knows.
        source: of the entries of the timeline.
    """
    last = runs[-1]
    submits = [time for time in (submitted, *(run.submit for run in runs)) if time is not None]
    first = min(submits, default=None)
    events: list[Event] = []
    for at, run in enumerate(runs):
        again = at > 0 or bool(run.restarts) or (run.submit or 0) > (first or 0)
        events += _events(run, now, source, again=again)
    return JobDocument(
        id=slurm_id(cluster, job.name),
        updated=now,
        request=_request(last),
        submission=Submission(
            submitted=first,
            **texts(last, ("user", "group", "name", "directory", "comment", "line")),
            array=job.base if job.task is not None else None,
            raw_id=raw_of(last.raw_id, job, several=last.id.tasks is not None),
            sluid=last.sluid or None,
        ),
        timeline=tuple(events),
        usage=_usage(runs),
    )


def _events(run: Run, now: int, source: str, *, again: bool) -> Iterator[Event]:
    state, started = slurm_state(run.state), _started(run)
    ended = state is not None and (state.ended or goes_on(run))
    code, signal = exit_of(run.exit_code) if started else (None, None)
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


def _end_reason(run: Run) -> str | None:
    if by := _BY.match(run.state):
        return f"cancelled by user id {by[1]}"
    return f"node {run.failed_node[:200]} failed" if run.failed_node else None


def _request(run: Run) -> Request:
    tres = parse_tres(run.req_tres)
    return Request(
        cpus=run.req_cpus,
        nodes=run.req_nodes or tres.get("node"),
        gpus=gpus(tres),
        memory_mb=megabytes(tres.get("mem") or _requested_memory(run)),
        time_limit_s=limit_of(run.time_limit_s),
        **texts(run, ("partition", "qos", "account", "reservation", "constraints")),
        tres=bounded(run.req_tres),
        priority=run.priority,
    )


def _requested_memory(run: Run) -> int | None:
    """ReqMem for the whole job; without a suffix (since 21.08) it is that already."""
    if run.req_mem is None or not run.req_mem.size:
        return None
    size, per = run.req_mem
    if per == "cpu":
        return size * max(run.req_cpus or 1, 1)
    return size * max(run.req_nodes or run.alloc_nodes or 1, 1) if per == "node" else size


def _usage(runs: Sequence[Run]) -> Usage:
    last = runs[-1]
    starts = sum(map(_started, runs))
    requeues: int | None = max(len(runs) - 1, last.restarts or 0)
    if last.restarts is None and not requeues:
        requeues = None  # an older version does not count them
    if not _started(last):
        return Usage(starts=starts or None, requeues=requeues)
    memory = max((step.max_rss or 0 for step in last.steps), default=0)
    read = [step.read for step in last.steps if step.read is not None]
    written = [step.written for step in last.steps if step.written is not None]
    state = slurm_state(last.state)
    return Usage(
        wall_s=last.elapsed_s if state and state.ended and not last.unfinished else None,
        cpu_s=last.cpu_s or None,  # 0: it was not measured, for what ran used milliseconds
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
