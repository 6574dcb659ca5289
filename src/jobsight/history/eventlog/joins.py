"""Giving events the ads of their 028 records where a batch ends between the two.

Within a batch `texts` does it; by the same rules here, so that the event table is the same wherever
batches end.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jobsight.history.eventlog.columns import Batch
from jobsight.history.eventlog.terms import LOOK_BACK

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["AdJoiner"]

_AD_EVENT = 28
_NUMBER = re.compile(r"-?\d{1,18}(?!\d)", re.ASCII)


class _Held:
    """A batch that may yet get ads: its keys at hand, and the texts to put into its rows."""

    def __init__(self, batch: Batch, time: NDArray[np.int64]) -> None:
        self.batch = batch
        self.time = time
        columns = batch.columns
        self.rows = len(time)
        self.code, self.cluster, self.proc = (
            columns[name].to_numpy() for name in ("code", "cluster", "proc")
        )
        self.changes: dict[str, dict[int, str | None]] = {"attributes": {}, "owner": {}}

    def text(self, name: str, row: int) -> str | None:
        changed = self.changes[name]
        if row in changed:
            return changed[row]
        value: str | None = self.batch.columns[name][row].as_py()
        return value

    def find(self, key: tuple[int, int, int], before: int, down_to: int) -> int | None:
        """The last row in ``down_to … before − 1`` of that code, cluster and proc."""
        rows = slice(max(down_to, 0), before)
        same = (self.code[rows] == key[0]) & (self.cluster[rows] == key[1])
        found = np.flatnonzero(same & (self.proc[rows] == key[2]))
        return int(found[-1]) + rows.start if len(found) else None

    def table(self) -> pa.RecordBatch:
        for name, changes in self.changes.items():
            if changes:
                self.batch.columns[name] = _changed(self.batch.columns[name], changes)
        return self.batch.table(self.time)


def _changed(column: pa.Array, changes: dict[int, str | None]) -> pa.Array:
    import pyarrow as pa

    parts, done = [], 0
    for row in sorted(changes):
        parts += [column[done:row], pa.array([changes[row]], column.type)]
        done = row + 1
    return pa.concat_arrays([*parts, column[done:]])


def _trigger(ad: str) -> int | None:
    value = json.loads(ad).get("TriggerEventTypeNumber")
    found = _NUMBER.match(str(value))
    return int(found[0]) if found else None


class AdJoiner:
    """Takes the batches of one log in order, gives them back in order. Not thread-safe.

    Holds a batch back until `LOOK_BACK` rows have followed it.
    """

    def __init__(self) -> None:
        self._held: deque[_Held] = deque()

    def push(self, batch: Batch, time: NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
        """Take the next batch, with its times (int64 (n,), µs); those that are ready by now."""
        held = _Held(batch, time)
        self._join(held)
        self._held.append(held)
        behind = sum(one.rows for one in self._held)
        while (behind := behind - self._held[0].rows) >= LOOK_BACK:
            yield self._held.popleft().table()

    def flush(self) -> Iterator[pa.RecordBatch]:
        """The log has ended: the batches still held."""
        while self._held:
            yield self._held.popleft().table()

    def _join(self, held: _Held) -> None:
        """Give away the ads of 028 records near the start that found no trigger in their batch."""
        attributes = held.batch.columns["attributes"]
        for row in np.flatnonzero(held.code[:LOOK_BACK] == _AD_EVENT).tolist():
            if not attributes[row].is_valid:
                continue
            trigger = _trigger(attributes[row].as_py())
            if trigger is not None:
                key = trigger, int(held.cluster[row]), int(held.proc[row])
                if held.find(key, row, 0) is None:
                    self._give(key, held, row)

    def _give(self, key: tuple[int, int, int], held: _Held, row: int) -> None:
        left = LOOK_BACK - row
        for earlier in reversed(self._held):
            found = earlier.find(key, earlier.rows, earlier.rows - left)
            if found is not None:
                if earlier.text("attributes", found) is None:
                    earlier.changes["attributes"][found] = held.text("attributes", row)
                    earlier.changes["owner"][found] = held.text("owner", row)
                    held.changes["attributes"][row] = None
                return
            left -= earlier.rows
            if left <= 0:
                return
