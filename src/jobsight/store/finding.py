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

    `cluster` names a Slurm cluster or access point that the job must be of.

    Raises:
        JobError: there is none, or jobs of several clusters are meant.
    """
    if name.place and store.get([str(name)]):
        ids = [str(name)]
    else:
        ids = store.numbered(name.number)
        if name.job != name.number:
            jobs = {id_: parse_key(id_).job for id_ in ids}
            ids = [id_ for id_ in ids if name.job in (jobs[id_], first_id(jobs[id_]))]
        if name.place:
            ids = [id_ for id_ in ids if cluster_of(id_) == name.place]
    if cluster is not None:
        ids = [id_ for id_ in ids if cluster in (parse_key(id_).cluster, cluster_of(id_))]
    if not ids:
        where = "" if cluster is None else f" of {printable(cluster, 60)}"
        raise JobError(f"the store has no job {name}{where}; `jobsight jobs` lists what it has")
    places = sorted(set(map(cluster_of, ids)))
    if len(places) > 1:
        shown = ", ".join(f"{place}:{name.job}" for place in places[:_SHOWN])
        more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
        raise JobError(
            f"{name} is a job of several clusters: {shown}{more}; name the cluster with --cluster, "
            "or write the whole id"
        )
    ids.sort(key=lambda id_: [int(part) for part in re.findall(r"\d+", id_)])
    return list({first_id(id_): id_ for id_ in ids}.values())


def other_jobs(store: Store, id_: str) -> tuple[list[str], list[str]]:
    """Siblings of a job, which share its number; and the other jobs to which Slurm gave its id."""
    others = [
        other
        for other in store.numbered(number_of(id_))
        if other != id_ and cluster_of(other) == cluster_of(id_)
    ]
    again = [other for other in others if first_id(other) == first_id(id_)]
    return sorted({first_id(other) for other in others} - {first_id(id_)}), again
