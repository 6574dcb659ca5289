"""Messages of Kafka → notices: which job a message names, and what may be believed of it.

The topic that a message came from decides, as configured. In a topic of job notices a message names
a job to look at, and nothing else of it is read: ``{"cluster": …, "job_id": …}``; `cluster` is a
Slurm cluster or an HTCondor access point, `job_id` a text or number (``123``, ``123_4``, ``123+1``
are Slurm's, ``123.4`` HTCondor's). Only in a topic that is configured as one of Slurm's
jobcomp/kafka does a message report the job (`jobsight.history.slurm.jobcomp`), and only of the
cluster that the topic is configured for.

Anything else is poison: the reason says why. So is a notice that is not UTF-8; Slurm sends whatever
bytes a script or a name holds. No I/O here.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from jobsight.documents import JobDocument, JobKey
from jobsight.history.slurm.ids import parse_id
from jobsight.history.slurm.jobcomp import document_from_message, job_of_message
from jobsight.settings import KafkaSettings
from jobsight.text import printable

__all__ = ["Notice", "PoisonError", "read_notice"]

_CLUSTER_WIDTH = 255
_SHOWN = 60
_CONDOR = re.compile(r"(\d{1,10})\.(\d{1,10})", re.ASCII)
_EARLIEST = 631_152_000_000_000  # 1990


class PoisonError(Exception):
    """A message names no job, or is not believed; its text is the reason."""


@dataclass(frozen=True)
class Notice:
    """What a message says.

    Attributes:
        key: the job; of a Slurm array, perhaps the whole of it.
        sent: when the message was, µs since 1970.
        document: what a message of jobcomp reports of the job; None: it is a notice.
    """

    key: JobKey
    sent: int
    document: JobDocument | None = None


def read_notice(
    value: bytes | None, topic: str, settings: KafkaSettings, *, sent: int, now: int
) -> Notice:
    """The notice of a message.

    Raises:
        PoisonError: it is too long, not UTF-8, not JSON, of other fields or types than those of its
            topic, of another cluster, or of an id or time that no scheduler has.
    """
    if value is None:
        raise PoisonError("no value")
    if len(value) > settings.message_bytes:
        raise PoisonError(f"{len(value)} bytes are more than {settings.message_bytes}")
    cluster = settings.jobcomp.get(topic)
    try:
        said = json.loads(value.decode("utf-8", "strict" if cluster is None else "replace"))
    except UnicodeDecodeError:
        raise PoisonError("no UTF-8") from None
    except (ValueError, RecursionError):
        raise PoisonError("no JSON") from None
    if not isinstance(said, dict):
        raise PoisonError("no JSON object")
    if cluster is not None:
        latest = now + round(settings.clock_skew_seconds * 1e6)
        named = _name(said.get("cluster") or cluster).lower()
        if cluster.lower() not in ("*", named) or named == "*":
            raise PoisonError("jobcomp: not of the cluster that kafka.jobcomp names for its topic")
        try:
            job, document = job_of_message(said).name, document_from_message(said, named)
        except (ValueError, RecursionError) as error:
            raise PoisonError(f"jobcomp: {printable(error, 200)}") from None
        if any(event.time > latest for event in document.timeline):
            raise PoisonError("jobcomp: a time in the future; see that the clocks agree")
        if any(event.time < _EARLIEST for event in document.timeline):
            raise PoisonError("jobcomp: a time that cannot be")
        return Notice(JobKey("slurm", named, job), sent, document)
    if "jobid" in said and "job_id" not in said:
        raise PoisonError("a message of jobcomp; its topic is not one of kafka.jobcomp")
    cluster, job_id = _name(said.get("cluster")), said.get("job_id")
    if type(job_id) is int:
        job_id = str(job_id)
    if not isinstance(job_id, str):
        raise PoisonError("job_id: no text and no number")
    text = job_id.strip()
    if condor := _CONDOR.fullmatch(text):
        number, proc = int(condor[1]), int(condor[2])
        if not 0 < number < 2**31 or proc >= 2**31:
            raise PoisonError("job_id: out of range")
        return Notice(JobKey("htcondor", cluster, f"{number}.{proc}"), sent)
    try:
        parsed = parse_id(text)
    except ValueError as error:
        raise PoisonError(f"job_id: {printable(error, _SHOWN)}") from None
    if parsed.tasks is not None or parsed.step is not None:
        raise PoisonError("job_id: a step, or several tasks")
    # By the name that Slurm itself gives it.
    return Notice(JobKey("slurm", cluster.lower(), parsed.name), sent)


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _CLUSTER_WIDTH:
        raise PoisonError("cluster: no name")
    if not value.isprintable() or any("\ud800" <= one <= "\udfff" for one in value):
        raise PoisonError("cluster: a name with control characters")
    return value.strip()
