"""What scontrol shows of a job → a partial job document."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from jobsight.documents import Event, JobDocument, Request, State, Submission, Usage, slurm_id
from jobsight.documents.states import slurm_state
from jobsight.history.slurm.documents import bounded, exit_of, limit_of, raw_of
from jobsight.history.slurm.ids import SlurmId
from jobsight.history.slurm.scontrol import Shown
from jobsight.history.slurm.sizes import gpus, parse_memory, parse_tres
from jobsight.history.slurm.times import behind

__all__ = ["of_shown"]

_MB = 1 << 20


def of_shown(cluster: str, job: SlurmId, shown: Shown, now: int) -> JobDocument:
    """What scontrol tells of a job, its end included where it has ended."""
    fields = shown.fields
    tres = _tres(shown.tres)
    memory = tres.get("mem")
    request = Request(
        gpus=gpus(tres),
        memory_mb=None if memory is None else memory // _MB,
        cpus=tres.get("cpu"),
        nodes=tres.get("node"),
        tasks=_number(fields.get("NumTasks")),
        disk_mb=_disk(fields.get("MinTmpDiskNode")),
        time_limit_s=limit_of(shown.time_limit_s),
        tres=bounded(shown.tres),
        dependency=bounded(fields.get("Dependency", "")),
    )
    submission = Submission(
        command=bounded(fields.get("Command", "")),
        line=bounded(fields.get("SubmitLine", "")),
        directory=bounded(fields.get("WorkDir", "")),
        comment=bounded(fields.get("Comment", "")),
        host=bounded(fields.get("AllocNode:Sid", "").partition(":")[0]),
        array=job.base if job.task is not None else None,
        raw_id=raw_of(shown.raw_id, job, several=shown.id.tasks is not None),
    )
    return JobDocument(
        id=slurm_id(cluster, job.name),
        updated=now,
        request=request if _waiting(shown) else msgspec.structs.replace(request, tres=None),
        submission=submission,
        timeline=tuple(_shown_events(shown, now)),
        usage=Usage(requeues=shown.restarts or None),
    )


def _waiting(shown: Shown) -> bool:
    """Whether its resources are those that were asked for: older versions then tell the given."""
    return "ReqTRES" in shown.fields or slurm_state(shown.state) is State.PENDING


def _shown_events(shown: Shown, now: int) -> Iterator[Event]:
    state = slurm_state(shown.state)
    source = "scontrol"
    requeued = shown.submit if shown.restarts else None
    if shown.submit is not None:
        word = "REQUEUED" if shown.restarts else "PENDING"
        yield Event(time=shown.submit, source=source, state=State.PENDING, word=word)
    if shown.eligible is not None and shown.eligible <= now:
        yield Event(time=shown.eligible, source=source, word="ELIGIBLE")
    if state is None or state in (State.PENDING, State.HELD):
        return
    hosts = bounded(shown.fields.get("NodeList", ""))
    if shown.start is not None and hosts:
        start = behind(shown.start, requeued)
        yield Event(time=start, source=source, state=State.RUNNING, word="RUNNING", host=hosts)
    if state is State.SUSPENDED and shown.suspended is not None:
        yield Event(time=shown.suspended, source=source, state=state, word="SUSPENDED")
    if state.ended:
        code, signal = exit_of(shown.exit_code) if hosts else (None, None)
        yield Event(
            time=behind(shown.end or now, requeued),
            source=source,
            state=state,
            word=bounded(shown.state, 80),
            reason=bounded(shown.reason),
            return_value=code,
            signal=signal,
        )


def _tres(text: str) -> dict[str, int]:
    try:
        return parse_tres(text)
    except ValueError:
        return {}


def _number(text: str | None) -> int | None:
    found = re.match(r"\d{1,9}(?!\d)", text or "", re.ASCII)
    return int(found[0]) if found else None


def _disk(text: str | None) -> int | None:
    try:
        size = parse_memory(text or "")
    except ValueError:
        return None
    return None if size is None else size.size // _MB or None
