"""Which jobs of the store an id means."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jobsight.documents import number_of, parse_key
from jobsight.documents.keys import first_id
from jobsight.errors import JobError
from jobsight.store.packing import cluster_of
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.ids import JobName
    from jobsight.store.store import Store

__all__ = ["find_ids", "other_jobs"]

_SHOWN = 6


def find_ids(store: Store, name: JobName, cluster: str | None = None) -> list[str]:
    """The ids of the documents that a job's name means, in order.

    A bare number means the job, all tasks, components or procs of it, and what Slurm itself has
    under it (``1237`` is ``1234_5``), as does a whole id that ends with one, where it is not the id
    of a document. Of several jobs to which Slurm gave one number it means the newest.

    Args:
        store: where they must be.
        name: of the job, or of all jobs of a number.
        cluster: name of a Slurm cluster or access point that the job must be of.

    Raises:
        JobError: there is none, or jobs of several clusters are meant.
    """
    if name.place and store.get([str(name)]):
        found = [str(name)]
    else:
        found = store.numbered(name.number)
        if name.job != name.number:
            jobs = {one: parse_key(one).job for one in found}
            found = [one for one in found if name.job in (jobs[one], first_id(jobs[one]))]
        if name.place:
            found = [one for one in found if cluster_of(one) == name.place]
    if cluster is not None:
        found = [one for one in found if cluster in (parse_key(one).cluster, cluster_of(one))]
    if not found:
        where = "" if cluster is None else f" of {printable(cluster, 60)}"
        raise JobError(f"the store has no job {name}{where}; `jobsight jobs` lists what it has")
    places = sorted(set(map(cluster_of, found)))
    if len(places) > 1:
        shown = ", ".join(f"{place}:{name.job}" for place in places[:_SHOWN])
        more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
        raise JobError(
            f"{name} is a job of several clusters: {shown}{more}; name the cluster with --cluster, "
            "or write the whole id"
        )
    found.sort(key=lambda one: [int(part) for part in re.findall(r"\d+", one)])
    return list({first_id(one): one for one in found}.values())


def other_jobs(store: Store, id_: str) -> tuple[list[str], list[str]]:
    """Siblings of a job, which share its number; and the other jobs to which Slurm gave its id.

    Args:
        store: where they are.
        id_: of the job's document.
    """
    like = (one for one in store.numbered(number_of(id_)) if cluster_of(one) == cluster_of(id_))
    others = [one for one in like if one != id_]
    again = [one for one in others if first_id(one) == first_id(id_)]
    return sorted({first_id(one) for one in others} - {first_id(id_)}), again
