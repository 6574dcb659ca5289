"""Which jobs were seen already, in little memory."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from jobsight.store.rows import Row

__all__ = ["Seen"]


class Seen:
    """Which jobs a scan of an unsettled view has given, by 64 bits of the hash of their ids.

    Eight bytes a job, up to twice that while sorting: a server keeps hundreds for each in memory.
    """

    def __init__(self, revision: int) -> None:
        self._revision = revision
        self._sorted: npt.NDArray[np.uint64] = np.zeros(0, dtype=np.uint64)
        self._recent: set[int] = set()

    def is_first(self, row: Row) -> bool:
        """Whether the job was not given before; from now on it was."""
        key = hash(row.keys.id) & 0xFFFF_FFFF_FFFF_FFFF
        # What was not written since the scan began has one place in its order.
        if row.revision > self._revision and self._has(key):
            return False
        self._recent.add(key)
        if len(self._recent) >= max(4096, len(self._sorted) // 8):
            recent = np.fromiter(self._recent, np.uint64, len(self._recent))
            self._sorted = np.sort(np.concatenate([self._sorted, recent]))
            self._recent.clear()
        return True

    def _has(self, key: int) -> bool:
        if key in self._recent:
            return True
        at = int(np.searchsorted(self._sorted, np.uint64(key)))
        return at < len(self._sorted) and int(self._sorted[at]) == key
