"""Messages of Slurm's jobcomp/kafka (and jobcomp/elasticsearch) plug-in → partial job documents.

Flat JSON, one object a job that ended, since 25.05 also one that started (``enable_job_start``).
Format: Slurm's src/plugins/jobcomp/common/jobcomp_common.c, 23.02 to 25.11. Times are UTC without
saying so; ``Unknown`` and null mean not known; ``time_limit`` is in seconds, and left
out where there is none.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import msgspec

from jobsight.documents import JSON, JobDocument, Submission
from jobsight.documents.states import slurm_state
from jobsight.history.slurm.documents import bounded, of_runs, script_parts
from jobsight.history.slurm.ids import SlurmId
from jobsight.history.slurm.sacct import Run
from jobsight.program.submission.sizes import parse_exit, parse_tres
from jobsight.program.submission.times import parse_time

__all__ = ["document_from_message", "job_of_message"]

_MOST = 2**32

_TEXTS = {
    "state": "state",
    "name": "job_name",
    "user": "username",
    "group": "groupname",
    "account": "account",
    "partition": "partition",
    "qos": "qos",
    "reservation": "reservation_name",
    "constraints": "features",
    "directory": "work_dir",
    "hosts": "nodes",
    "failed_node": "failed_node",
    "req_tres": "tres_req",
    "alloc_tres": "tres_alloc",
}
_NUMBERS = {
    "alloc_cpus": "total_cpus",
    "alloc_nodes": "total_nodes",
    "elapsed_s": "elapsed",
    "time_limit_s": "time_limit",
}
"""Fields of `Run`, and of messages."""

Message = Mapping[str, JSON]


def job_of_message(message: Message) -> SlurmId:
    """The job that a message is of, as users see it.

    Raises:
        ValueError: its numbers are missing, of another type, or out of range.
    """
    job = _number(message, "jobid")
    if not job:
        raise ValueError("jobid: missing or zero")
    array, task = _number(message, "array_job_id"), _number(message, "array_task_id")
    if array and task is not None:
        return SlurmId(job=array, task=task)
    het, offset = _number(message, "het_job_id"), _number(message, "het_job_offset")
    if het and offset is not None:
        return SlurmId(job=het, component=offset)
    return SlurmId(job=job)


def document_from_message(message: Message, cluster: str) -> JobDocument:
    """What a message reports of its job; `cluster` is in the job's id.

    Raises:
        ValueError: it is of no job, or a field is of another type than Slurm's.
    """
    job = job_of_message(message)
    run = _run(message)
    if slurm_state(run.state) is None:
        raise ValueError("state: none of Slurm's states")
    document = of_runs(cluster, job, [run], _MOST * 1_000_000, source="jobcomp")
    if not document.timeline:
        raise ValueError("no time is reported")
    script = message.get("script")
    written = isinstance(script, str) and bool(script.strip())
    parts = script_parts(_sound(str(script))) if written else Submission()
    return msgspec.structs.replace(
        document,
        updated=document.timeline[0].time,  # a later look at the job is later, whatever its clock
        request=msgspec.structs.replace(
            document.request,
            tasks=_number(message, "ntasks"),
            dependency=_text(message, "orig_dependency"),
        ),
        submission=msgspec.structs.replace(
            document.submission,
            host=_text(message, "alloc_node"),
            script=parts.script,
            directives=parts.directives,
        ),
        usage=msgspec.structs.replace(document.usage, starts=None),
    )


def _run(message: Message) -> Run:
    """The message as the run of a job that sacct would report."""
    texts: dict[str, Any] = {name: _text(message, key) or "" for name, key in _TEXTS.items()}
    numbers: dict[str, Any] = {name: _number(message, key) for name, key in _NUMBERS.items()}
    times: dict[str, Any] = {
        name: _time(message, f"@{name}") for name in ("submit", "eligible", "start", "end")
    }
    if times["end"] is not None and (times["eligible"] or 0) > times["end"]:
        times["eligible"] = None  # it never was
    if not texts["hosts"]:
        times["start"] = None
    elapsed = numbers.pop("elapsed_s")
    tres = parse_tres(texts["req_tres"])
    return Run(
        id=job_of_message(message),
        raw_id=str(message["jobid"]),
        exit_code=parse_exit(_text(message, "exit_code") or ""),
        unfinished=times["end"] is None,
        elapsed_s=None if elapsed is None else float(elapsed),
        req_cpus=tres.get("cpu"),
        req_nodes=tres.get("node"),
        **texts,
        **numbers,
        **times,
    )


def _text(message: Message, name: str) -> str | None:
    value = message.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError(f"{name}: not text")
    return None if value.strip() in ("", "(null)") else bounded(_sound(value))


def _sound(text: str) -> str:
    """Without halves of characters, which JSON can spell out and no store can keep."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _number(message: Message, name: str) -> int | None:
    value = message.get(name)
    if value is None:
        return None
    if type(value) is not int or not -1 <= value < _MOST:
        raise ValueError(f"{name}: not a number in range")
    return None if value < 0 else value


def _time(message: Message, name: str) -> int | None:
    text = _text(message, name)
    # Without a start or end, Slurm writes the zero of its clock.
    return None if text is None else parse_time(text, dt.UTC)
