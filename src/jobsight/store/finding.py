"""Which jobs of the store an id means."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jobsight.documents import parse_key
from jobsight.errors import JobError
from jobsight.store.packing import cluster_of
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.ids import JobName
    from jobsight.store.base import Store

__all__ = ["find_ids"]

_SHOWN = 6


def find_ids(store: Store, name: JobName, cluster: str | None = None) -> list[str]:
    """The ids of the documents that a job's name means, in order.

    A bare number means the job, all tasks, components or procs of it, and what Slurm itself has
    under it (``1237`` is ``1234_5``), as does a whole id that ends with one, where it is not the id
    of a document.

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
            found = [one for one in found if parse_key(one).job == name.job]
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
    return sorted(found, key=lambda one: [int(part) for part in re.findall(r"\d+", one)])
