"""What a log records about holds: which rows carry evidence, and under which keys.

Every key stands in a row and rests on that row and earlier ones of its log, never on a release
(013) that a decision of the same second would not see. So whatever sees the row knows the key, and
counting keyed rows before a cut (`jobsight.history.counts`) is all that features do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.history.counts import CountIndex, at, factorize, number_texts, preceding, preceding_in
from jobsight.history.duplicates import first_recorded
from jobsight.history.held import LIFE
from jobsight.history.labels import RowLabels, row_owners, start_sites
from jobsight.history.outcomes import held_by_hand
from jobsight.history.reasons import origins
from jobsight.history.timelines import History, Ints

__all__ = ["FAMILIES", "Evidence", "Stream", "gather_evidence"]

FAMILIES: dict[str, tuple[str, ...]] = {
    "code": ("code",),
    "cause": ("cause",),
    "cause at site": ("cause", "site"),
    "origin": ("origin",),
    "origin at site": ("origin", "site"),
    "site": ("site",),
    "owner": ("owner",),
    "owner and cause": ("owner", "cause"),
    "cluster": ("cluster",),
    "cluster and cause": ("cluster", "cause"),
    "job": ("job",),
    "job and cause": ("job", "cause"),
}
"""Families of like holds, by what their members have in common."""


Parts = dict[str, Ints]


@dataclass(frozen=True)
class Stream:
    """Rows of one kind, each with the hold that it is about.

    Attributes:
        rows: int64 (r,).
        holds: int64 (r,), indices into `Evidence.holds`.
    """

    rows: Ints
    holds: Ints


@dataclass(frozen=True)
class Evidence:
    """All evidence of one history.

    `good`, `bad` and `left` rest on releases, so they must be asked with cuts before which no
    release is hidden (`History.release_cuts_many`).

    Attributes:
        history: the indexed log.
        holds: int64 (h,), rows of the holds (012) of jobs, ascending.
        keys: by family, int64 (h,): equal where two holds share the family; −1 where unknown.
            ``all`` is one key. ``likely origin`` is that of the hold, else of its job's or its
            cluster's last hold that named one, under the keys of ``origin``.
        held_by_others: bool (h,), whether something other than the user's hand held the job.
        held: those holds; of a job that two logs record, and so in all that follows, only what
            the log that recorded it first.
        good, bad: what resolved earlier releases of such holds, well or badly, where the job was
            released as it had been held.
        first_good, first_bad: of these, the first outcome of each batch.
        left: what ended such holds: a release, a removal, or the next hold.
        started, ended_well: by family of one part (``site``, …): starts (001), and ends (005) with
            return value 0, under the family's keys; of starts, ``all`` too, under key 0.
    """

    history: History
    holds: Ints
    keys: Parts
    held_by_others: NDArray[np.bool_]
    held: Stream
    good: Stream
    bad: Stream
    first_good: Stream
    first_bad: Stream
    left: Stream
    started: dict[str, CountIndex]
    ended_well: dict[str, CountIndex]

    def hold_numbers(self, hold_rows: Ints) -> Ints:
        """Index into `holds` of each row of a hold: int64 (n,)."""
        return np.searchsorted(self.holds, hold_rows).astype(np.int64)

    def index(self, stream: Stream, family: str) -> CountIndex:
        """The rows of a stream under the family's keys."""
        return CountIndex(self.history, stream.rows, self.keys[family][stream.holds])


def gather_evidence(history: History, labels: RowLabels, releases: pl.DataFrame) -> Evidence:
    """Find all evidence in a history.

    Args:
        history: the indexed log.
        labels: of its rows.
        releases: what became of its releases, as `decisions.resolved_releases` gives it.
    """
    holds = np.flatnonzero(history.held & (history.job >= 0))
    first = first_recorded(history)
    starts = _rows_of(history, EventCode.EXECUTE)
    starts = starts[_once(history, first, starts)]
    ends = _rows_of(history, EventCode.TERMINATED)
    ends = ends[_once(history, first, ends)]
    ends = ends[(history.table["return_value"].gather(ends) == 0).fill_null(value=False).to_numpy()]
    parts, of_starts = _parts(history, labels, holds, starts, first)
    likely = partial(_likely_origins, history, holds, parts["origin"])
    every_start = {"all": np.zeros(len(starts), np.int64)}
    before = preceding(history, starts, ends)
    by_hand = history.table[holds].select(held_by_hand()).to_series()
    ours = ~by_hand.to_numpy() & _once(history, first, holds)
    # Jobs that were edited while they were held were not released as they were: what became of
    # them says nothing of a job that is.
    resolved = releases.filter(~pl.col("edited"), pl.col("outcome").is_not_null())
    resolved = resolved.sort("resolved_row")
    of_batch = resolved.filter("kept").unique("batch", keep="first", maintain_order=True)
    return Evidence(
        history=history,
        holds=holds,
        keys={name: _keys([parts[part] for part in of]) for name, of in FAMILIES.items()}
        | {"likely origin": likely(holds), "all": np.zeros(len(holds), np.int64)},
        held_by_others=~by_hand.to_numpy(),
        held=Stream(holds[ours], np.flatnonzero(ours)),
        good=_resolved(holds, resolved, good=True),
        bad=_resolved(holds, resolved, good=False),
        first_good=_resolved(holds, of_batch, good=True),
        first_bad=_resolved(holds, of_batch, good=False),
        left=_left(history, holds, ours),
        started={
            name: CountIndex(history, starts, keys)
            for name, keys in (of_starts | every_start).items()
        },
        ended_well={
            name: CountIndex(history, ends, at(keys, before)) for name, keys in of_starts.items()
        }
        | {"likely origin": CountIndex(history, ends, likely(ends))},
    )


def _rows_of(history: History, *codes: int) -> Ints:
    return np.flatnonzero(np.isin(history.code, codes) & (history.job >= 0))


def _keys(parts: list[Ints]) -> Ints:
    """One part is its own key, so that starts, which have no cause, share it."""
    return parts[0] if len(parts) == 1 else factorize(*parts)


def _once(history: History, first: Ints, rows: Ints) -> NDArray[np.bool_]:
    """Which rows are of the log that recorded their job first: bool (n,)."""
    jobs = history.job[rows]
    once: NDArray[np.bool_] = first[jobs] == jobs
    return once


def _parts(
    history: History, labels: RowLabels, holds: Ints, starts: Ints, first: Ints
) -> tuple[Parts, Parts]:
    """What families are made of: of each hold (h,), and of each start (s,)."""
    hold_site, start_site = number_texts(
        labels.site.gather(holds), start_sites(history, labels, holds, starts)
    )
    (origin,) = number_texts(origins(history.table["reason"].gather(holds)))
    # A start says nothing of what it read; but the job's last failure named its origin.
    naming = np.flatnonzero(origin >= 0)
    named = at(naming, preceding(history, holds[naming], starts))
    owner = row_owners(history, np.concatenate([holds, starts]))
    cluster = history.clusters
    codes = history.table.select("hold_code", "hold_subcode")[holds]
    of_holds = {
        "code": codes.select(pl.struct(pl.all()).rank("dense")).to_series().to_numpy() - 1,
        "cause": labels.cause[holds],
        "site": hold_site,
        "origin": origin,
        "owner": owner[: len(holds)],
        "cluster": cluster[first[history.job[holds]]],
        "job": first[history.job[holds]],
    }
    of_starts = {
        "site": start_site,
        "origin": at(origin, named),
        "owner": owner[len(holds) :],
        "cluster": cluster[history.job[starts]],
    }
    return {name: part.astype(np.int64) for name, part in of_holds.items()}, of_starts


def _likely_origins(history: History, holds: Ints, origin: Ints, rows: Ints) -> Ints:
    """The origin that each row's job, else its cluster, named last up to it: int64 (n,), or −1."""
    naming = origin >= 0
    found = np.full(len(rows), -1, np.int64)
    # Clusters of several logs are several, so no row of another log counts as earlier.
    for groups in (history.job, history.clusters[history.job]):
        last = preceding_in(groups[holds[naming]], holds[naming], groups[rows], rows + 1)
        found = np.where(found >= 0, found, at(origin[naming], last))
    return found


def _resolved(holds: Ints, resolved: pl.DataFrame, *, good: bool) -> Stream:
    """The rows that resolved releases well, or badly, each with the hold that was released."""
    ended = resolved.filter(pl.col("outcome") == good)
    rows, hold_rows = ended["resolved_row"].to_numpy(), ended["hold_row"].to_numpy()
    return Stream(rows.astype(np.int64), np.searchsorted(holds, hold_rows).astype(np.int64))


def _left(history: History, holds: Ints, ours: NDArray[np.bool_]) -> Stream:
    life = _rows_of(history, *LIFE)
    number = _hold_at(holds, ours, at(life, preceding(history, life, life)))
    return Stream(life[number >= 0], number[number >= 0])


def _hold_at(holds: Ints, ours: NDArray[np.bool_], rows: Ints) -> Ints:
    """Index into `holds` of each row that is a hold of ours, else −1: int64 (n,)."""
    place = np.searchsorted(holds, rows)
    inside = np.where(place < len(holds), place, -1)
    return np.where(
        (at(holds, inside) == rows) & (rows >= 0) & (at(ours, inside) > 0),
        inside,
        -1,
    )
