"""A part of the archive as the store registers it, and which jobs may be in it.

A part's name has the fence of the prune that wrote it (see `jobsight.store.tiers`), so that nobody
takes the unfinished work of a later prune for what a kill left behind.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from jobsight.documents.keys import number_of
from jobsight.errors import StoreError
from jobsight.store.packing import cluster_of

__all__ = ["Part", "Zones", "fence_of", "name_of", "zones_among", "zones_of"]

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


@dataclass(frozen=True, slots=True)
class Part:
    """A file of the archive, as the store registers it.

    Attributes:
        name: of the file; later parts have greater names.
        rows: their number.
        size: of the file, bytes.
        sha256: of the file.
        first: least time in it.
        last: greatest time in it.
        again: rows of jobs that an earlier part has as well.
        zones: of the jobs in it; None where there are too many clusters.
        raws: the same of their raw numbers (`packing.raw_of`); None also where a version wrote it
            that did not tell.
    """

    name: str
    rows: int
    size: int
    sha256: str
    first: int
    last: int
    again: int
    zones: Zones | None
    raws: Zones | None = None

    def to_text(self) -> str:
        """As ASCII JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_text(cls, text: str | bytes) -> Part:
        """The part of its text.

        Raises:
            StoreError: the text is damaged, or names a file elsewhere.
        """
        try:
            told: dict[str, Any] = json.loads(text)
            zones, raws = _told_zones(told.pop("zones")), _told_zones(told.pop("raws", None))
            part = cls(**told, zones=zones, raws=raws)
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError):
            part = None
        if part is None or not isinstance(part.name, str) or fence_of(part.name) is None:
            raise StoreError("the store's list of archive files is damaged; bring back a backup")
        return part

    def may_hold_raw(self, number: int) -> bool:
        """Whether a job that has this raw number may be in it."""
        if self.raws is not None:
            return any(_overlap(zone, (number, number)) for zone in self.raws.values())
        # To look means to read every document; only Slurm has jobs under two numbers.
        return self.zones is None or any(name.startswith("slurm:") for name in self.zones)

    def may_hold(self, zones: Zones) -> bool:
        """Whether a job of these zones may be in it."""
        if self.zones is None:
            return True
        return any(
            name in self.zones and _overlap(self.zones[name], zone) for name, zone in zones.items()
        )


def _told_zones(told: Any) -> Zones | None:
    if told is None:
        return None
    return {name: pair and (int(pair[0]), int(pair[1])) for name, pair in told.items()}


def zones_of(ids: Collection[str]) -> Zones:
    """The zones of jobs."""
    return zones_among((cluster_of(id_), _number(id_)) for id_ in ids)


def zones_among(numbers: Iterable[tuple[str, int | None]]) -> Zones:
    """The zones of numbers, each with its cluster; None: it is no number."""
    zones: Zones = {}
    for cluster, number in numbers:
        known = zones.get(cluster, (number, number) if number is not None else None)
        if known is None or number is None:
            zones[cluster] = None
        else:
            zones[cluster] = (min(known[0], number), max(known[1], number))
    return zones


def _overlap(one: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    return one is None or other is None or (one[0] <= other[1] and other[0] <= one[1])


def _number(id_: str) -> int | None:
    number = number_of(id_)
    return int(number) if number.isdecimal() else None
