"""Where in a part of the archive a job may be: an index made when the part is first asked."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["PartIndex"]


class PartIndex:
    """Which row group of a part a job may be in, by 64 bits of its id's hash.

    Args:
        groups: the ids of each row group.
    """

    def __init__(self, groups: Sequence[Sequence[str]]) -> None:
        hashes = np.array([_hash(id_) for ids in groups for id_ in ids], dtype=np.uint64)
        group = np.repeat(
            np.arange(len(groups), dtype=np.int32), np.array([len(ids) for ids in groups], int)
        )
        order = np.argsort(hashes, kind="stable")
        self._hashes: npt.NDArray[np.uint64] = hashes[order]
        self._groups: npt.NDArray[np.int32] = group[order]

    def places(self, ids: Collection[str]) -> dict[int, set[str]]:
        """Row groups, with the ids that seem to be there."""
        places: dict[int, set[str]] = {}
        asked = list(ids)
        hashes = np.array([_hash(id_) for id_ in asked], dtype=np.uint64)
        first = np.searchsorted(self._hashes, hashes, side="left")
        last = np.searchsorted(self._hashes, hashes, side="right")
        for at in np.flatnonzero(first < last):
            for group in self._groups[first[at] : last[at]]:
                places.setdefault(int(group), set()).add(asked[at])
        return places


def _hash(id_: str) -> int:
    return hash(id_) & 0xFFFF_FFFF_FFFF_FFFF
