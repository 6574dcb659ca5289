"""How releases ended, counted as of any moment.

An outcome counts from the moment it was written. A batch of releases counts from the first known
outcome of its members, with the share of its known members that succeeded; it has failed while none
of them did.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jobsight.history.timelines import Ints

__all__ = ["Count", "Tally"]


@dataclass(frozen=True)
class Count:
    """Releases under one key that had ended by a moment.

    Attributes:
        releases: how many.
        succeeded: how many of them succeeded.
        batches: how many batches they belong to.
        batch_successes: the batches' shares of success, summed.
        failed_batches: batches of which no member succeeded.
    """

    releases: int
    succeeded: int
    batches: int
    batch_successes: float
    failed_batches: int


class Tally:
    """Ended releases under whole-number keys; immutable after construction."""

    def __init__(
        self, keys: Ints, ended: Ints, success: NDArray[np.bool_], batch: NDArray[np.integer]
    ) -> None:
        """Index n releases by key (int64; below 0: left out) and by the time they ended (µs)."""
        kept = keys >= 0
        keys, ended, success, batch = keys[kept], ended[kept], success[kept], batch[kept]
        order = np.lexsort((ended, batch, keys))
        keys, ended, success = keys[order], ended[order], success[order]
        steps = _batch_steps(keys, batch[order], success)
        order = np.lexsort((ended, keys))
        self._start = np.searchsorted(keys[order], np.arange(int(keys.max(initial=-1)) + 2))
        self._ended = ended[order]
        self._success = success[order]
        self._first, self._share, self._failed = (step[order] for step in steps)

    def count(self, key: int, until: int) -> Count:
        """Everything under `key` that had ended at `until` (µs)."""
        # Summed anew each time: a running sum over all keys would differ in its last bits once
        # later rows of other keys are cut off.
        rows = self._rows(key, until)
        return Count(
            releases=rows.stop - rows.start,
            succeeded=int(self._success[rows].sum()),
            batches=int(self._first[rows].sum()),
            batch_successes=float(self._share[rows].sum()),
            failed_batches=int(self._failed[rows].sum()),
        )

    def recent(self, key: int, since: int, until: int) -> tuple[int, int]:
        """Releases and successes under `key` that ended after `since` and by `until` (µs)."""
        start, stop = self._rows(key, since).stop, self._rows(key, until).stop
        return stop - start, int(self._success[start:stop].sum())

    def _rows(self, key: int, until: int) -> slice:
        if not 0 <= key < len(self._start) - 1:
            return slice(0, 0)
        start, stop = int(self._start[key]), int(self._start[key + 1])
        seen = int(np.searchsorted(self._ended[start:stop], until, side="right"))
        return slice(start, start + seen)


def _batch_steps(
    keys: Ints, batch: NDArray[np.integer], success: NDArray[np.bool_]
) -> tuple[Ints, NDArray[np.float64], Ints]:
    """What each outcome adds to the number of batches, to their shares, and to those failed."""
    places = np.arange(len(keys))
    first = np.ones(len(keys), np.bool_)
    first[1:] = (keys[1:] != keys[:-1]) | (batch[1:] != batch[:-1])
    start = np.maximum.accumulate(np.where(first, places, 0))
    running = np.cumsum(success)
    won: Ints = running - (running[start] - success[start])
    share: NDArray[np.float64] = won / (places - start + 1)
    failed: Ints = np.equal(won, 0).astype(np.int64)
    return (
        first.astype(np.int64),
        np.where(first, share, share - np.roll(share, 1)),
        np.where(first, failed, failed - np.roll(failed, 1)),
    )
