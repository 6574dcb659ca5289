"""Messages of Slurm's jobcomp/kafka (and jobcomp/elasticsearch) plug-in → partial job documents.

Flat JSON, one object a job that ended, since 25.05 also one that started (``enable_job_start``).
Format: Slurm's src/plugins/jobcomp/common/jobcomp_common.c, 23.02 to 25.11. Times are UTC without
saying so; ``Unknown`` and null stand for what is not known; ``time_limit`` is in seconds, and left
out where there is none.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping

import msgspec

from jobsight.documents import JSON, Event, JobDocument, Request, State, Submission, Usage, slurm_id
from jobsight.documents.states import slurm_state
from jobsight.history.slurm.documents import bounded, exit_of, life, megabytes, raw_of, script_parts
from jobsight.history.slurm.ids import SlurmId
from jobsight.history.slurm.sizes import gpus, parse_exit, parse_tres
from jobsight.history.slurm.times import parse_time

__all__ = ["document_from_message", "job_of_message"]

_MOST = 2**32

Message = Mapping[str, JSON]


def job_of_message(message: Message) -> SlurmId:
    """The job that a message tells of, as users see it.

    Raises:
        ValueError: its numbers are missing, of another type, or out of range.
    """
    job = _required(message, "jobid")
    array, task = _number(message, "array_job_id"), _number(message, "array_task_id")
    if array and task is not None:
        return SlurmId(job=array, task=task)
    het, offset = _number(message, "het_job_id"), _number(message, "het_job_offset")
    if het and offset is not None:
        return SlurmId(job=het, component=offset)
    return SlurmId(job=job)


def document_from_message(message: Message, cluster: str) -> JobDocument:
    """What a message tells of its job.

    Args:
        message: the JSON object.
        cluster: name of the cluster in the job's id.

    Raises:
        ValueError: it tells of no job, or a field is of another type than Slurm's.
    """
    job = job_of_message(message)
    state = slurm_state(_text(message, "state") or "")
    if state is None:
        raise ValueError("state: none of Slurm's states")
    timeline = tuple(_events(message, state))
    if not timeline:
        raise ValueError("no time is told")
    return JobDocument(
        id=slurm_id(cluster, job.name),
        updated=timeline[0].time,  # whatever its clock shows, a later look at the job is later
        request=_request(message),
        submission=_submission(message, job),
        timeline=timeline,
        usage=_usage(message, state),
    )


def _submission(message: Message, job: SlurmId) -> Submission:
    script = message.get("script")
    parts = Submission()
    if isinstance(script, str) and script.strip():
        parts = script_parts(_sound(script))
    return msgspec.structs.replace(
        parts,
        submitted=_time(message, "@submit"),
        user=_text(message, "username"),
        group=_text(message, "groupname"),
        name=_text(message, "job_name"),
        directory=_text(message, "work_dir"),
        host=_text(message, "alloc_node"),
        array=job.base if job.task is not None else None,
        raw_id=raw_of(str(message["jobid"]), job),
    )


def _events(message: Message, state: State) -> Iterator[Event]:
    submit, eligible, start, end = (
        _time(message, f"@{name}") for name in ("submit", "eligible", "start", "end")
    )
    hosts, failed = _text(message, "nodes"), _text(message, "failed_node")
    told = parse_exit(_text(message, "exit_code") or "") if hosts and start else None
    code, signal = exit_of(told)
    return life(
        "jobcomp",
        state,
        _text(message, "state") or "",
        submit=submit,
        eligible=None if end is not None and (eligible or end) > end else eligible,
        start=start if hosts else None,
        hosts=hosts,
        end=end if state.ended else None,
        reason=f"node {failed[:200]} failed" if failed else None,
        return_value=code,
        signal=signal,
        host=failed,
    )


def _request(message: Message) -> Request:
    told = _text(message, "tres_req")
    tres = parse_tres(told or "")
    return Request(
        cpus=tres.get("cpu"),
        nodes=tres.get("node"),
        gpus=gpus(tres),
        memory_mb=megabytes(tres.get("mem")),
        tasks=_number(message, "ntasks"),
        time_limit_s=_number(message, "time_limit"),
        partition=_text(message, "partition"),
        qos=_text(message, "qos"),
        account=_text(message, "account"),
        reservation=_text(message, "reservation_name"),
        constraints=_text(message, "features"),
        dependency=_text(message, "orig_dependency"),
        tres=told,
    )


def _usage(message: Message, state: State) -> Usage:
    hosts = _text(message, "nodes")
    if hosts is None:
        return Usage()
    elapsed = _number(message, "elapsed") if state.ended else None
    return Usage(
        wall_s=None if elapsed is None else float(elapsed),
        cpus=_number(message, "total_cpus"),
        nodes=_number(message, "total_nodes"),
        hosts=hosts,
        tres=(allocated := _text(message, "tres_alloc")),
        gpus=gpus(parse_tres(allocated or "")),
    )


def _text(message: Message, name: str) -> str | None:
    value = message.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError(f"{name}: no text")
    return None if value.strip() in ("", "(null)") else bounded(_sound(value))


def _sound(text: str) -> str:
    """Without halves of characters, which JSON can spell out and no store can keep."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _number(message: Message, name: str) -> int | None:
    value = message.get(name)
    if value is None:
        return None
    if type(value) is not int or not -1 <= value < _MOST:
        raise ValueError(f"{name}: no number in range")
    return None if value < 0 else value


def _required(message: Message, name: str) -> int:
    value = _number(message, name)
    if not value:
        raise ValueError(f"{name}: missing or zero")
    return value


def _time(message: Message, name: str) -> int | None:
    text = _text(message, name)
    # Without a start or end, Slurm writes the zero of its clock.
    return None if text is None else parse_time(text, dt.UTC)
