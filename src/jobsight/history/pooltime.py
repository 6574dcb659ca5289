"""What a pool did over time: its holds by cause and place, jobs held, and how jobs ended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from jobsight.codes import EventCode, hold_name
from jobsight.history import reasons
from jobsight.history.labels import RowLabels
from jobsight.history.timelines import History, Ints
from jobsight.text import printable

__all__ = ["PoolTimeline", "pool_timeline", "short_cause"]

_KINDS = 13
_WIDTH = 52
_INTERVALS = 120
_BY_HAND = 1


def short_cause(
    code: int | None, masked: str | None, origin: str | None = None, site: str | None = None
) -> str:
    """A hold's cause in a few words: what its masked reason says last, and the place it speaks of.

    That is the transfer origin, where the reason names one, or the site where the job ran, where
    the reason's own words blame it.
    """
    text = (masked or "").rpartition("Details: ")[2].partition("( URL")[0]
    text = text.rpartition("with arguments <arguments>: ")[2]
    place = site if "<site>" in text else origin if origin and "://" in origin else None
    for word in ("<path>", "<origin>", "<site>", "<slot>", "<host>", "()", "from origin"):
        text = text.replace(word, "")
    text = printable(text.replace("from :", ":").replace(" :", ":"))
    text = text.strip(" .:,(").removesuffix(" on").removesuffix(" for") or hold_name(code or 0)
    if not place:
        return printable(text, _WIDTH)
    place = printable(place, _WIDTH // 2)
    return f"{printable(text, _WIDTH - len(place) - 3)} · {place}"


@dataclass(frozen=True)
class PoolTimeline:
    """What a pool did, interval by interval.

    Attributes:
        edges: int64 (k + 1,), µs: borders of the intervals.
        holds: int64 (k,) by cause in words, the greatest burst first; at last ``other causes``.
        succeeded, failed: int64 (k,), jobs that ended with return value 0, and otherwise.
        held: int64 (k,), jobs held at the end of the interval, but for those held by their user.
    """

    edges: Ints
    holds: dict[str, Ints]
    succeeded: Ints
    failed: Ints
    held: Ints


def pool_timeline(history: History, labels: RowLabels) -> PoolTimeline:
    """Count a history's holds by cause and place, and its ends, over equal intervals."""
    first, last = int(history.clock.min()), int(history.clock.max())
    edges = np.linspace(first, max(last, first + _INTERVALS) + 1, _INTERVALS + 1).astype(np.int64)
    table = history.table
    mine = history.job >= 0
    by_hand = (table["hold_code"] == _BY_HAND).fill_null(value=False).to_numpy()
    stopped = history.begun & np.isin(history.code, (EventCode.HELD, EventCode.EVICTED))
    holds = np.flatnonzero(mine & stopped & ~by_hand)
    ends = np.flatnonzero(mine & (history.code == EventCode.TERMINATED))
    good = (table["return_value"].gather(ends) == 0).fill_null(value=False).to_numpy()
    return PoolTimeline(
        edges=edges,
        holds=_by_cause(history, labels, holds, edges),
        succeeded=np.histogram(history.clock[ends[good]], edges)[0],
        failed=np.histogram(history.clock[ends[~good]], edges)[0],
        held=_held_at(history, holds, edges[1:]),
    )


def _by_cause(history: History, labels: RowLabels, holds: Ints, edges: Ints) -> dict[str, Ints]:
    table = pl.DataFrame(
        {
            "code": history.table["hold_code"].gather(holds),
            "masked": labels.masked.gather(holds),
            "origin": reasons.origins(history.table["reason"].gather(holds)),
            "site": labels.site.gather(holds),
        }
    )
    unique = table.unique(maintain_order=True)
    names = [short_cause(*row) for row in unique.iter_rows()]
    kinds = table.join(
        unique.with_columns(kind=pl.Series(names, dtype=pl.String)),
        on=table.columns,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )["kind"]
    clock = history.clock[holds]
    counts = {
        kind: np.histogram(clock[(kinds == kind).to_numpy()], edges)[0]
        for kind in kinds.unique(maintain_order=True)
    }
    # What bursts is an outage; what trickles is not.
    order = sorted(counts, key=lambda kind: (-counts[kind].max(), -counts[kind].sum(), kind))
    shown = {kind: counts[kind] for kind in order[:_KINDS]}
    rest = [counts[kind] for kind in order[_KINDS:]]
    return shown | ({"other causes": np.sum(rest, axis=0)} if rest else {})


def _held_at(history: History, holds: Ints, moments: Ints) -> Ints:
    """How many of the holds are not over yet at each moment: int64 (k,)."""
    over = np.isin(history.code, (EventCode.TERMINATED, EventCode.ABORTED, EventCode.RELEASED))
    rows = np.flatnonzero((over | history.begun | history.resumed) & (history.job >= 0))
    order = rows[np.lexsort((rows, history.job[rows]))]
    following = np.append(order[1:], -1)
    same = np.append(history.job[order[1:]] == history.job[order[:-1]], False)
    ended = np.zeros(len(history), np.int64)
    ended[order] = np.where(same, history.clock[following], np.iinfo(np.int64).max)
    begun = np.searchsorted(np.sort(history.clock[holds]), moments, side="right")
    gone = np.searchsorted(np.sort(ended[holds]), moments, side="right")
    return (begun - gone).astype(np.int64)
