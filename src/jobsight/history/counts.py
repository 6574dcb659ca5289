"""Rows and outcomes counted and looked up as of a decision.

Keys and rows are sorted once, each pair as one number. A decision sees a prefix of each log
(`history.timelines`), so the count of its visible rows with a key is the difference of two binary
searches per log, and no row past a cut can change the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.history.timelines import History, Ints

__all__ = [
    "NEVER",
    "Count",
    "CountIndex",
    "Tally",
    "at",
    "batch_numbers",
    "factorize",
    "number_texts",
    "preceding",
    "preceding_in",
]

NEVER = int(np.iinfo(np.int64).min)
"""The clock of a row that does not exist."""
_NOWHERE = -(1 << 62)


class CountIndex:
    """Rows with keys, to be counted as of many decisions.

    Immutable after construction; may be used by several threads.

    Attributes:
        keys: number of distinct keys; queries use 0 … keys − 1, and −1 for "no such key".
    """

    def __init__(self, history: History, rows: Ints, keys: NDArray[np.integer[Any]]) -> None:
        """Index `rows` (n,) under `keys` (n,), whole numbers; rows with keys below 0 are left out.

        A row may be given several times, under one key or under several.
        """
        rows, keys = np.asarray(rows, np.int64), np.asarray(keys, np.int64)
        if (keys < 0).any():
            rows, keys = rows[keys >= 0], keys[keys >= 0]
        self.keys = int(keys.max()) + 1 if len(keys) else 0
        self._size = len(history) + 1
        # What `last_row` looks up where there is nothing before.
        self._padded = np.append(np.sort(keys * self._size + rows), _NOWHERE)
        self._places = self._padded[:-1]
        self._log_start = history.log_start
        self._clock = history.clock

    def count(self, keys: NDArray[np.integer[Any]], cuts: Ints, starts: Ints | None = None) -> Ints:
        """Rows with each key (n,) before the cuts and not before the starts: int64 (n,).

        Keys below 0, or not in the index, count nothing. Cuts are the first hidden row of each log
        (`History.cuts_many`), int64 (n, logs), as the starts are.
        """
        first = self._log_start[None, :-1]
        since = first if starts is None else np.maximum(starts, first)
        asked = np.asarray(keys, np.int64)[:, None] * self._size
        search = self._places.searchsorted
        number: Ints = np.maximum(search(asked + cuts) - search(asked + since), 0)
        return number[:, 0] if number.shape[1] == 1 else number.sum(axis=1)

    def rows(self, key: int) -> Ints:
        """All rows with a key, ascending: int64."""
        first, end = np.searchsorted(self._places, [key * self._size, (key + 1) * self._size])
        rows: Ints = self._places[first:end] - key * self._size
        return rows

    def last_row(self, keys: NDArray[np.integer[Any]], cuts: Ints) -> Ints:
        """The latest visible row by clock with each key: int64 (n,), −1 for none."""
        latest_row = np.full(len(keys), -1, np.int64)
        asked = np.asarray(keys, np.int64) * self._size
        for log, first in enumerate(self._log_start[:-1]):
            last = self._places.searchsorted(asked + cuts[:, log]) - 1
            # It may be of another key or log, or not be there.
            row = self._padded[last] - asked
            latest = row >= first
            rows, others = row[latest], latest_row[latest]
            latest[latest] = (others < 0) | (self._clock[rows] >= self._clock[others])
            latest_row[latest] = row[latest]
        return latest_row

    def last(self, keys: NDArray[np.integer[Any]], cuts: Ints) -> Ints:
        """The clock (µs) of `last_row`: int64 (n,), `NEVER` for none."""
        rows = self.last_row(keys, cuts)
        clock = np.full(len(rows), NEVER, np.int64)
        clock[rows >= 0] = self._clock[rows[rows >= 0]]
        return clock


def factorize(*columns: NDArray[Any]) -> Ints:
    """Number the distinct combinations of equally long columns, from 0, sorted: int64 (n,).

    A combination with a negative member has number −1.
    """
    whole = np.zeros(len(columns[0]), np.int64)
    unknown = np.zeros(len(whole), np.bool_)
    for column in columns:
        values, codes = np.unique(column, return_inverse=True)
        unknown |= np.asarray(column) < 0
        # Renumbered after every column, so that the product never overflows.
        whole = np.unique(whole * len(values) + codes, return_inverse=True)[1].astype(np.int64)
    whole[unknown] = -1
    return whole


def batch_numbers(family: Ints, time: Ints, span: int) -> Ints:
    """Number the batches: members of one family within `span` of the first: int64 (n,)."""
    by_time = np.argsort(time, kind="stable")
    order = by_time[np.argsort(family[by_time], kind="stable")]
    # Of each member, the place of the first that would be of the next batch: as ranks of times,
    # since families times microseconds are no whole numbers of 64 bits.
    times, rank = np.unique(time, return_inverse=True)
    late = np.searchsorted(times, time + span, side="right")
    places = family[order] * (len(times) + 1) + rank[order]
    following = np.searchsorted(places, family[order] * (len(times) + 1) + late[order]).tolist()
    first, place = np.zeros(len(time), np.bool_), 0
    while place < len(time):
        first[place] = True
        place = following[place]
    begun = np.empty(len(time), np.int64)
    begun[by_time] = np.arange(len(time))
    # Batches are numbered in the order in which they begin.
    number = np.argsort(np.argsort(begun[order[first]]))
    batch = np.empty(len(time), np.int64)
    batch[order] = number[np.cumsum(first) - 1]
    return batch


def at(values: NDArray[np.integer | np.bool_], places: Ints) -> Ints:
    """``values[places]``, and −1 where a place is below 0: int64 of the shape of `places`."""
    if not len(values):
        return np.full(len(places), -1, np.int64)
    return np.where(places >= 0, values[np.maximum(places, 0)], -1).astype(np.int64)


def preceding(history: History, among: Ints, rows: Ints) -> Ints:
    """The last row of `among` before each row and of the same job: int64 (n,) into `among`, or −1.

    Both are rows of jobs: int64 (k,), (n,).
    """
    return preceding_in(history.job[among], among, history.job[rows], rows)


def preceding_in(
    groups: NDArray[np.integer], among: Ints, asked: NDArray[np.integer], rows: Ints
) -> Ints:
    """As `preceding`, with any whole numbers for groups: of `among`, and of `rows`."""
    if not len(among) or not len(rows):
        return np.full(len(rows), -1, np.int64)
    size = int(max(among.max(), rows.max())) + 1
    places = groups.astype(np.int64) * size + among
    order = np.argsort(places, kind="stable")
    last = np.searchsorted(places[order], asked.astype(np.int64) * size + rows) - 1
    candidate = order[np.maximum(last, 0)]
    return np.where((last >= 0) & (groups[candidate] == asked), candidate, -1).astype(np.int64)


def number_texts(*columns: pl.Series) -> list[Ints]:
    """Equal texts of all columns as equal numbers from 0, null as −1: int64 per column."""
    texts = pl.concat([column.cast(pl.String).rename("text") for column in columns])
    numbers = texts.rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
    return np.split(numbers, np.cumsum([len(column) for column in columns])[:-1])


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
        # What each outcome adds to the number of batches, to their shares, and to those failed.
        batch, places = batch[order], np.arange(len(keys))
        first = np.ones(len(keys), np.bool_)
        first[1:] = (keys[1:] != keys[:-1]) | (batch[1:] != batch[:-1])
        start = np.maximum.accumulate(np.where(first, places, 0))
        running = np.cumsum(success)
        won: Ints = running - (running[start] - success[start])
        share: NDArray[np.float64] = won / (places - start + 1)
        failed: Ints = np.equal(won, 0).astype(np.int64)
        steps = (
            first.astype(np.int64),
            np.where(first, share, share - np.roll(share, 1)),
            np.where(first, failed, failed - np.roll(failed, 1)),
        )
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
