"""Messages of Kafka → notices: which job is told of, and what the message itself tells.

Two forms, told apart by their fields. *Job notices*, our own: ``{"cluster": …, "job_id": …,
"state": …, "time": …}``; `cluster` is a Slurm cluster or an HTCondor access point, `job_id` a text
or number (``123``, ``123_4``, ``123+1`` are Slurm's, ``123.4`` HTCondor's), `state` the scheduler's
word and `time` seconds since 1970 or ISO 8601 with an offset; the last two may be left out.
*Slurm's jobcomp/kafka* messages (`jobsight.history.slurm.jobcomp`), known by their ``jobid``.

A message that is neither is poison: the reason says why. So is one of ours that is no UTF-8; Slurm
hands on whatever bytes a script or a name holds. No I/O here.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import math
import re
from dataclasses import dataclass
from typing import Any

from jobsight.clock import micros
from jobsight.documents import Event, JobDocument, JobKey
from jobsight.history.slurm.ids import parse_id
from jobsight.history.slurm.jobcomp import document_from_message, job_of_message
from jobsight.text import printable

__all__ = ["Notice", "PoisonError", "read_notice"]

_CLUSTER_WIDTH = 255
_STATE_WIDTH = 64
_SHOWN = 60
_CONDOR = re.compile(r"(\d{1,10})\.(\d{1,10})", re.ASCII)
_JOB_START = "-job-start"
_EARLIEST = 631_152_000_000_000  # 1990
_TOO_LATE = 86_400_000_000  # a clock may be wrong, by no more than a day


class PoisonError(Exception):
    """A message tells of no job; its text is the reason."""


@dataclass(frozen=True)
class Notice:
    """What a message tells.

    Attributes:
        key: the job; of a Slurm array, perhaps the whole of it.
        event: an entry of the timeline that says who told; it has no state of its own, since a
            message may be late. None: the document's own entries say so.
        document: what the message tells of the job by itself; None: nothing.
        sent: when the message was, µs since 1970.
    """

    key: JobKey
    sent: int
    event: Event | None = None
    document: JobDocument | None = None


def read_notice(value: bytes | None, topic: str, now: int, *, most_bytes: int) -> Notice:
    """The notice of a message.

    Args:
        value: the message's value.
        topic: where it stood; names the cluster where the message does not.
        now: µs since 1970 when it was sent, for messages without a time.
        most_bytes: longer ones are refused unread.

    Raises:
        PoisonError: it is too long, no UTF-8, no JSON, of other fields or types, or of an id or
            time that no scheduler has.
    """
    if value is None:
        raise PoisonError("no value")
    if len(value) > most_bytes:
        raise PoisonError(f"{len(value)} bytes are more than {most_bytes}")
    try:
        told = _object(value.decode("utf-8"))
    except UnicodeDecodeError:
        told = _object_of_slurm(value)
    if "jobid" in told:
        return _of_jobcomp(told, topic, now)
    return _of_ours(told, now)


def _object(text: str) -> dict[str, Any]:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        raise PoisonError("no JSON") from None
    if not isinstance(told, dict):
        raise PoisonError("no JSON object")
    return told


def _object_of_slurm(value: bytes) -> dict[str, Any]:
    """A message with the bytes of a script in it, those that are no UTF-8 replaced."""
    with contextlib.suppress(PoisonError):
        told = _object(value.decode("utf-8", "replace"))
        if "jobid" in told:
            return told
    raise PoisonError("no UTF-8")


def _of_ours(told: dict[str, Any], now: int) -> Notice:
    cluster = _name(told.get("cluster"))
    key = _key(cluster, told.get("job_id"))
    word = told.get("state")
    if word is not None and (not isinstance(word, str) or len(word) > _STATE_WIDTH):
        raise PoisonError("state: no text of at most 64 characters")
    time = _time(told.get("time"), now)
    said = printable(word or "", _STATE_WIDTH) or None
    return Notice(key, now, Event(time=time, source="notice", word=said))


def _of_jobcomp(told: dict[str, Any], topic: str, now: int) -> Notice:
    cluster = _name(told.get("cluster") or topic.removesuffix(_JOB_START)).lower()
    try:
        job, document = job_of_message(told).name, document_from_message(told, cluster)
    except (ValueError, RecursionError) as error:
        raise PoisonError(f"jobcomp: {printable(error, 200)}") from None
    if not all(_EARLIEST <= event.time <= now + _TOO_LATE for event in document.timeline):
        raise PoisonError("jobcomp: a time that cannot be")
    return Notice(JobKey("slurm", cluster, job), now, document=document)


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _CLUSTER_WIDTH:
        raise PoisonError("cluster: no name")
    if not value.isprintable() or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise PoisonError("cluster: a name with control characters")
    return value.strip()


def _key(cluster: str, value: Any) -> JobKey:
    if type(value) is int:
        value = str(value)
    if not isinstance(value, str):
        raise PoisonError("job_id: no text and no number")
    text = value.strip()
    if condor := _CONDOR.fullmatch(text):
        number, proc = int(condor[1]), int(condor[2])
        if not 0 < number < 2**31 or proc >= 2**31:
            raise PoisonError("job_id: out of range")
        return JobKey("htcondor", cluster, f"{number}.{proc}")
    try:
        job = parse_id(text)
    except ValueError as error:
        raise PoisonError(f"job_id: {printable(error, _SHOWN)}") from None
    if job.tasks is not None or job.step is not None:
        raise PoisonError("job_id: a step, or several tasks")
    return JobKey("slurm", cluster.lower(), job.name)  # as Slurm itself calls it


def _time(value: Any, now: int) -> int:
    if value is None:
        return now
    if isinstance(value, str):
        try:
            moment = dt.datetime.fromisoformat(value.strip()[:40])
            told = micros(moment) if moment.tzinfo else None
        except (ValueError, OverflowError):
            told = None
    elif type(value) in (int, float) and math.isfinite(value) and abs(value) < 2**40:
        told = round(value * 1_000_000)
    else:
        told = None
    if told is None:
        raise PoisonError("time: neither seconds since 1970 nor ISO 8601 with an offset")
    if not _EARLIEST <= told <= now + _TOO_LATE:
        raise PoisonError("time: cannot be")
    return told
