"""What a log records about holds: which rows carry evidence, and under which keys.

Every key stands in a row and rests on that row and earlier ones of its log, never on a release
(013) that a decision of the same second would not see. So whatever sees the row knows the key, and
counting keyed rows before a cut (`jobsight.history.counts`) is all that features do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.history.counts import CountIndex, at, factorize, number_texts, preceding, preceding_in
from jobsight.history.labels import RowLabels, start_sites
from jobsight.history.reasons import origins
from jobsight.history.timelines import History, Ints

__all__ = ["FAMILIES", "Evidence", "Stream", "gather_evidence"]

FAMILIES: dict[str, tuple[str, ...]] = {
    "code": ("code",), "cause": ("cause",), "cause at site": ("cause", "site"),
    "origin": ("origin",), "origin at site": ("origin", "site"), "site": ("site",),
    "owner": ("owner",), "owner and cause": ("owner", "cause"),
    "cluster": ("cluster",), "cluster and cause": ("cluster", "cause"),
    "job": ("job",), "job and cause": ("job", "cause"),
}  # fmt: skip
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
        holds: int64 (h,), rows of the holds (012) and vacates by a fault (004) of jobs, ascending.
        keys: by family, int64 (h,): equal where two holds share the family; −1 where unknown.
            ``all`` is one key. ``likely origin`` is that of the hold, else of its job's or its
            cluster's last hold that named one, under the keys of ``origin``. ``class`` is the hold
            code alone.
        held_by_others: bool (h,), whether something other than the user's hand held the job.
        held: those holds; of a job that two logs record, and so in all that follows, only what
            the log that recorded it first; of a 004 and the 012 of the same hold only the 004.
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

    def indexes(
        self, stream: Stream, families: Iterable[str] = ("all", *FAMILIES)
    ) -> dict[str, CountIndex]:
        """The rows of a stream under the keys of each family."""
        return {
            family: CountIndex(self.history, stream.rows, self.keys[family][stream.holds])
            for family in families
        }


def gather_evidence(history: History, labels: RowLabels, releases: pl.DataFrame) -> Evidence:
    """Find all evidence in a history.

    Args:
        history: the indexed log.
        labels: of its rows.
        releases: what became of its releases, as `decisions.resolved_releases` gives it.
    """
    job, code = history.job, history.code
    # Rows of the log that recorded their job first.
    once = (job >= 0) & (np.append(labels.first, -1)[job] == job)
    succeeded = (history.table["return_value"] == 0).fill_null(value=False).to_numpy()
    holds = np.flatnonzero((history.held | history.vacated) & (job >= 0))
    starts = np.flatnonzero(once & (code == EventCode.EXECUTE))
    ends = np.flatnonzero(once & (code == EventCode.TERMINATED) & succeeded)
    others = ~labels.by_hand[holds]
    ours = np.flatnonzero(others & (once & history.begun)[holds])
    # Jobs that were edited while they were held were not released as they were: what became of
    # them says nothing of a job that is.
    resolved = releases.filter(~pl.col("edited"), pl.col("outcome").is_not_null())
    resolved = resolved.sort("resolved_row")
    of_batch = resolved.filter("kept").unique("batch", keep="first", maintain_order=True)
    good, bad, first_good, first_bad = (
        _resolved(holds, of, good=good) for of in (resolved, of_batch) for good in (True, False)
    )
    parts, of_starts = _parts(history, labels, holds, starts)
    # One part is its own key, so that starts, which have no cause, share it.
    keys = {
        family: factorize(*(parts[part] for part in of)) if len(of) > 1 else parts[of[0]]
        for family, of in FAMILIES.items()
    }
    # The origin that a hold's or an end's job, else its cluster, named last up to it.
    naming = np.flatnonzero((parts["origin"] >= 0) & history.begun[holds])
    asked = np.concatenate([holds, ends])
    likely = np.concatenate([parts["origin"], np.full(len(ends), -1, np.int64)])
    # Clusters of several logs are several, so no row of another log counts as earlier.
    for group in (np.arange(len(history.jobs)), history.clusters):
        among = holds[naming]
        last = preceding_in(group[job[among]], among, group[job[asked]], asked + 1)
        likely = np.where(likely >= 0, likely, at(parts["origin"][naming], last))
    before = preceding(history, starts, ends)
    of_ends = {name: at(part, before) for name, part in of_starts.items()}
    of_ends["likely origin"] = likely[len(holds) :]
    of_starts["all"] = np.zeros(len(starts), np.int64)
    # The holds of ours that the next row which shows whether the job is held ended; else −1.
    life = np.flatnonzero(history.life & (history.begun | ~history.held))
    number = np.full(len(history) + 1, -1, np.int64)
    number[holds[ours]] = ours
    ended = number[at(life, preceding(history, life, life))]
    return Evidence(
        history=history, holds=holds,
        keys=keys | {"likely origin": likely[: len(holds)], "all": np.zeros(len(holds), np.int64),
                     "class": parts["class"]},
        held_by_others=others, held=Stream(holds[ours], ours), good=good, bad=bad,
        first_good=first_good, first_bad=first_bad,
        left=Stream(life[ended >= 0], ended[ended >= 0]),
        started={name: CountIndex(history, starts, part) for name, part in of_starts.items()},
        ended_well={name: CountIndex(history, ends, part) for name, part in of_ends.items()},
    )  # fmt: skip


def _parts(history: History, labels: RowLabels, holds: Ints, starts: Ints) -> tuple[Parts, Parts]:
    """What families are made of: of each hold (h,), and of each start (s,)."""
    begun = history.begun[holds]
    hold_site, start_site = number_texts(
        labels.site.gather(holds), start_sites(history, labels, holds[begun], starts)
    )
    (origin,) = number_texts(origins(history.table["reason"].gather(holds)))
    # A start says nothing of what it read; but the job's last failure named its origin.
    naming = np.flatnonzero((origin >= 0) & begun)
    named = at(naming, preceding(history, holds[naming], starts))
    first = labels.first[history.job[holds]]
    codes = history.table.select("hold_code", "hold_subcode")[holds]
    of_holds = {
        "class": codes["hold_code"].rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1,
        "code": codes.select(pl.struct(pl.all()).rank("dense")).to_series().to_numpy() - 1,
        "cause": labels.cause[holds],
        "site": hold_site,
        "origin": origin,
        "owner": labels.owner[holds],
        "cluster": history.clusters[first],
        "job": first,
    }
    of_starts = {
        "site": start_site,
        "origin": at(origin, named),
        "owner": labels.owner[starts],
        "cluster": history.clusters[history.job[starts]],
    }
    return {name: part.astype(np.int64) for name, part in of_holds.items()}, of_starts


def _resolved(holds: Ints, resolved: pl.DataFrame, *, good: bool) -> Stream:
    """The rows that resolved releases well, or badly, each with the hold that was released."""
    ended = resolved.filter(pl.col("outcome") == good)
    rows, hold_rows = ended["resolved_row"].to_numpy(), ended["hold_row"].to_numpy()
    return Stream(rows.astype(np.int64), np.searchsorted(holds, hold_rows).astype(np.int64))
