"""Which jobs of the store an id means that somebody typed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jobsight.documents import parse_key
from jobsight.errors import JobError, UsageError
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.store import Store

__all__ = ["find_ids", "is_whole", "plain_id"]

_SHORT = re.compile(
    r"(?P<number>\d{1,18}|s[0-9A-Za-z]{13})(?P<rest>(?:_\d{1,18})?(?:\+\d{1,9})?|\.\d{1,18})",
    re.ASCII,
)
_LOGGED = re.compile(r"\((\d{1,18})\.(\d{1,18})\.\d{1,18}\)", re.ASCII)
_STEP = re.compile(r"(?P<job>\d{1,18}(?:_\d{1,18})?(?:\+\d{1,9})?)\.(?:batch|extern|interactive)")
_SHOWN = 6


def plain_id(text: str) -> str:
    """The id without what logs and Slurm's steps put around it, or UsageError.

    ``(123.004.000)`` of an event log is ``123.4``, ``123_4.batch`` is ``123_4``.

    Raises:
        UsageError: the text is no id of any form.
    """
    text = text.strip()
    if ":" in text:
        place, _, job = text.rpartition(":")
        if place.startswith("htcondor:") and re.fullmatch(r"\d{1,18}", job, re.ASCII):
            # All procs of a cluster: no document's id, but the start of theirs.
            return str(parse_key(f"{text}.0")).removesuffix(".0")
        return str(parse_key(text))
    if logged := _LOGGED.fullmatch(text):
        return f"{int(logged[1])}.{int(logged[2])}"
    if step := _STEP.fullmatch(text):
        return step["job"]
    if _SHORT.fullmatch(text):
        return text
    raise UsageError(
        f"{printable(text, 40)!r} is no job id; write 123.4, 123_4, 123, or a whole one such as "
        "slurm:mycluster:123"
    )


def is_whole(text: str) -> bool:
    """Whether an id (see `plain_id`) names one job of a cluster: more than a bare number."""
    found = _SHORT.fullmatch(text)
    return found is None or bool(found["rest"])


def find_ids(store: Store, text: str, cluster: str | None = None) -> list[str]:
    """The ids of documents that an id (see `plain_id`) means, in order.

    Args:
        store: where they must be.
        text: an id; a bare number means the job, all tasks, components or procs of it, and what
            Slurm itself has under it (``1237`` is ``1234_5``), as does a whole id that ends with
            one, where it is no job's own.
        cluster: name of a Slurm cluster or access point that the job must be of.

    Raises:
        JobError: there is none, or jobs of several clusters are meant.
    """
    place, _, job = text.rpartition(":")
    if place and store.get([text]):
        found = [text]
    else:
        short = _SHORT.fullmatch(job)
        number = short["number"] if short else job
        found = store.numbered(number)
        if is_whole(job):
            found = [one for one in found if parse_key(one).job == job]
        if place:
            found = [one for one in found if one.rpartition(":")[0] == place]
    if cluster is not None:
        found = [
            one for one in found if cluster in (parse_key(one).cluster, one.rpartition(":")[0])
        ]
    _require_one_place(text, found, cluster)
    return sorted(found, key=_in_order)


def _require_one_place(text: str, found: list[str], cluster: str | None) -> None:
    """Refuse ids that no document has, or that documents of several clusters have."""
    if not found:
        where = "" if cluster is None else f" of {printable(cluster, 60)}"
        raise JobError(f"the store knows no job {text}{where}; `jobsight jobs` lists what it knows")
    places = sorted({one.rpartition(":")[0] for one in found})
    if len(places) > 1:
        shown = ", ".join(f"{place}:{text}" for place in places[:_SHOWN])
        more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
        raise JobError(
            f"{text} is a job of several clusters: {shown}{more}; name the cluster with --cluster, "
            "or write the whole id"
        )


def _in_order(id_: str) -> tuple[list[int], str]:
    """By the numbers in the job's id, not by their letters."""
    return [int(part) for part in re.findall(r"\d+", id_.rpartition(":")[2])], id_
