"""Ids of documents: ``htcondor:<access point>:<cluster>.<proc>``, ``slurm:<cluster>:<job id>``.

The second job to which a Slurm cluster gave one number is ``slurm:<cluster>:<job id>@2``
(`jobsight.documents.identity`).
Names of access points and clusters may hold any character; colons, percent signs, blanks and
control characters are written ``%XX``, so that an id is one word and can be cut at its colons.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, unquote

from jobsight.errors import UsageError

__all__ = [
    "JobKey",
    "clusters_named",
    "condor_id",
    "first_id",
    "number_of",
    "parse_key",
    "require_key",
    "slurm_id",
]

_SAFE = "@._-+[]#/"
_KEY = re.compile(
    r"htcondor:[^:]+:\d{1,18}\.\d{1,18}|slurm:[^:]+:"
    r"(?:\d{1,18}(?:_(?:\d{1,18}|\[[\d,\-:%]+\]))?(?:\+\d{1,9})?(?:@\d{1,6})?|s[0-9A-Za-z]{13})",
    re.ASCII,
)  # fmt: skip
_NUMBER = re.compile(r"[^:_+.@]*")
_AGAIN = re.compile(r"@\d+$")


class JobKey(NamedTuple):
    """An id in its parts: scheduler (``htcondor`` or ``slurm``), its name, and the job in it."""

    scheduler: str
    cluster: str
    """Access point, or name of the Slurm cluster."""
    job: str
    """As the scheduler has it; of a number used again with ``@2`` (`first_id` takes that off)."""

    def __str__(self) -> str:
        return f"{self.scheduler}:{_quoted(self.cluster)}:{self.job}"


def condor_id(access_point: str, cluster: int, proc: int) -> str:
    """The id of an HTCondor job."""
    return f"htcondor:{_quoted(access_point)}:{cluster}.{proc}"


def slurm_id(cluster: str, job: str) -> str:
    """The id of a Slurm job: ``123``, ``123_4``, ``123+1``, or a SLUID."""
    return f"slurm:{_quoted(cluster)}:{job}"


def parse_key(text: str) -> JobKey:
    """The parts of a document's id.

    Raises:
        UsageError: as by `require_key`.
    """
    require_key(text)
    scheduler, cluster, job = text.split(":")
    return JobKey(scheduler, _unquoted(cluster), job)


def require_key(text: str) -> None:
    """Refuse a text that is not a document's id.

    Raises:
        UsageError: says how ids are written.
    """
    if _KEY.fullmatch(text) is None:
        shown = text if len(text) <= 60 else text[:57] + "..."
        raise UsageError(
            f"{shown!r} is not a job document's id; write htcondor:<access point>:<cluster>.<proc> "
            "or slurm:<cluster>:<job>"
        )


def number_of(id_: str) -> str:
    """The number of a job: of ``slurm:c:12_3``, ``12_3`` or ``12@2`` ``12``.

    It names a job, a whole array or a whole cluster of procs.
    """
    found = _NUMBER.match(id_.rpartition(":")[2])
    return found[0] if found else ""


_unquoted = lru_cache(256)(unquote)


def first_id(text: str) -> str:
    """An id, or the job in it, as it is of the first job of its number: of ``12@2`` ``12``."""
    return _AGAIN.sub("", text)


@lru_cache(256)
def _quoted(name: str) -> str:
    return quote(name, safe=_SAFE, errors="replace")


def clusters_named(text: str) -> list[str]:
    """Ids up to the last colon that a user's word for a cluster may mean."""
    if text.startswith(("slurm:", "htcondor:")):
        return [text]
    return [str(JobKey(one, text, "")).removesuffix(":") for one in ("htcondor", "slurm")]
