"""Owners and sites of rows, as known at the row.

Each value depends on its row and earlier rows of the same log, and on no release (013), since a
decision does not see those of its own second.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.history.counts import factorize
from jobsight.history.labels import RowLabels
from jobsight.history.timelines import History, Ints

__all__ = [
    "at",
    "number_texts",
    "preceding",
    "preceding_in",
    "row_owners",
    "start_sites",
]


def at(values: NDArray[np.integer | np.bool_], places: Ints) -> Ints:
    """``values[places]``, and −1 where a place is below 0: int64 of the shape of `places`."""
    if not len(values):
        return np.full(len(places), -1, np.int64)
    return np.where(places >= 0, values[np.maximum(places, 0)], -1).astype(np.int64)


def preceding(history: History, among: Ints, rows: Ints) -> Ints:
    """The last row of `among` before each row and of the same job: int64 (n,) into `among`, or −1.

    Args:
        history: the indexed log.
        among: int64 (k,), rows of jobs.
        rows: int64 (n,), rows of jobs.
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
    found = np.searchsorted(places[order], asked.astype(np.int64) * size + rows) - 1
    candidate = order[np.maximum(found, 0)]
    return np.where((found >= 0) & (groups[candidate] == asked), candidate, -1).astype(np.int64)


def number_texts(*columns: pl.Series) -> list[Ints]:
    """Equal texts of all columns as equal numbers from 0, null as −1: int64 per column."""
    texts = pl.concat([column.cast(pl.String).rename("text") for column in columns])
    numbers = texts.rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
    return np.split(numbers, np.cumsum([len(column) for column in columns])[:-1])


def row_owners(history: History, rows: Ints) -> Ints:
    """Number of the owner of each row's job: int64 (n,), −1 where unknown at that row."""
    owner = history.table["owner"]
    # A 028 only repeats the owner of the record before it.
    silent = np.isin(history.code, (EventCode.RELEASED, EventCode.AD)) | (history.job < 0)
    known = np.flatnonzero(owner.is_not_null().to_numpy() & ~silent)
    # A row knows its own owner, so rows up to and with it count.
    last = preceding_in(history.job[known], known, history.job[rows], rows + 1)
    return at(number_texts(owner.gather(known))[0], last)


def start_sites(history: History, labels: RowLabels, holds: Ints, starts: Ints) -> pl.Series:
    """The site of each start (001), in lower case, null where unknown: strings (s,).

    That of the last hold (012) before it of a job started at the same address; else that of the
    start itself, which may be the site of the attempt before.

    Args:
        history: the indexed log.
        labels: of its rows.
        holds: int64 (h,), rows of holds of jobs.
        starts: int64 (s,), rows of starts of jobs.
    """
    own = labels.site.gather(starts)
    # The address of the startd: a starter's adds the slot before and a running number after.
    daemon = history.table["host"][starts].str.replace(
        r"\bsock=(?:slot\d+(?:_\d+)?_)?([^>&]*?)(?:_\d+)?([>&])", "sock=$1$2"
    )
    place = factorize(history.log[starts], number_texts(daemon)[0])
    site = labels.site.gather(holds)
    ran = preceding(history, starts, holds)
    before = np.flatnonzero(
        np.isin(history.code, (EventCode.SUBMIT, EventCode.HELD)) & (history.job >= 0)
    )
    attempt = at(before, preceding(history, before, holds))
    ran_place = at(place, ran)
    has_site = (at(starts, ran) > attempt) & (ran_place >= 0) & site.is_not_null().to_numpy()
    sources = np.flatnonzero(has_site)
    learned = preceding_in(ran_place[sources], holds[sources], place, starts)
    known = pl.Series(at(sources, learned), dtype=pl.Int64)
    known = known.set(pl.Series((learned < 0) | (place < 0)), None)
    return site.gather(known).fill_null(own) if len(site) else own
