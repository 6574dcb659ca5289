"""A part of the archive as the store registers it, and which jobs may be in it.

A part's name has the fence of the prune that wrote it (see `jobsight.store.pruning`), so that
nothing takes the unfinished work of a later prune for what a kill left behind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress

import msgspec

from jobsight.documents import number_of
from jobsight.errors import StoreError
from jobsight.store.packing import Keys, cluster_of, sealed, unsealed

__all__ = ["Part", "Zones", "fence_of", "name_of", "zones_of", "zones_of_rows"]

Zones = dict[str, tuple[int, int] | None]
"""By cluster, least and greatest number of jobs; None where an id has no number."""

_NAME = re.compile(r"part-(\d{8})-\d{6}\.parquet", re.ASCII)


def name_of(fence: int, number: int) -> str:
    """The name of a part's file: `fence` is the prune's, `number` the part's in it."""
    return f"part-{fence:08d}-{number:06d}.parquet"


def fence_of(name: str) -> int | None:
    """The fence in the name of a part's file; None: no part has this name."""
    found = _NAME.fullmatch(name)
    return int(found[1]) if found else None


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of the archive, as the store registers it.

    Attributes:
        name: of the file; later parts have greater names.
        rows: their number.
        size: of the file, bytes.
        sha256: of the file.
        first: least time in it.
        last: greatest time in it.
        again: rows of jobs that an earlier part has as well.
        zones: of the jobs in it, also by Slurm's raw numbers; None: there are too many clusters.
    """

    name: str
    rows: int
    size: int
    sha256: str
    first: int
    last: int
    again: int
    zones: Zones | None

    def to_text(self) -> str:
        """As JSON, `sealed`."""
        return sealed(msgspec.json.encode(self).decode())

    @classmethod
    def from_text(cls, text: str | bytes) -> Part:
        """The part of its text.

        Raises:
            StoreError: the text is damaged, or names a file elsewhere.
        """
        with suppress(msgspec.DecodeError, ValueError):
            part = msgspec.json.decode(unsealed(text), type=cls)
            if fence_of(part.name) is not None:
                return part
        raise StoreError("the store's list of archive files is damaged; restore a backup")

    def may_hold(self, zones: Zones) -> bool:
        """Whether a job of these zones may be in it."""
        if self.zones is None:
            return True
        return any(
            name in self.zones and _overlap(self.zones[name], zone) for name, zone in zones.items()
        )


def zones_of(ids: Iterable[str]) -> Zones:
    """The zones of jobs."""
    return _zones((cluster_of(id_), number_of(id_)) for id_ in ids)


def zones_of_rows(all_keys: Iterable[Keys]) -> Zones:
    """The zones of rows, by the numbers in their ids and by their raw numbers."""
    return _zones(
        (keys.cluster, number)
        for keys in all_keys
        for number in (number_of(keys.id), keys.raw)
        if number is not None
    )


def _zones(numbers: Iterable[tuple[str, str]]) -> Zones:
    zones: Zones = {}
    for cluster, text in numbers:
        number = int(text) if text.isdecimal() else None
        known = zones.get(cluster, (number, number) if number is not None else None)
        if known is None or number is None:
            zones[cluster] = None
        else:
            zones[cluster] = (min(known[0], number), max(known[1], number))
    return zones


def _overlap(one: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    return one is None or other is None or (one[0] <= other[1] and other[0] <= one[1])
