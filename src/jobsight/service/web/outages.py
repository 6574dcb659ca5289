"""Outages as they unfold: new holds over time by cause, by site and by origin of data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from jobsight.codes import hold_name
from jobsight.history.reasons import origins, sites

if TYPE_CHECKING:
    from jobsight.history.timelines import History

__all__ = ["outages"]

_STEPS = 48
_MOST_ROWS = 50


def outages(history: History | None, end: int, hours: int, owner: str | None) -> dict[str, Any]:
    """Count the holds of the hours before a moment, those by their user's own hand left out.

    Args:
        history: of all jobs; None: there is none.
        end: µs.
        hours: how many.
        owner: whose jobs alone; None: those of all.

    Returns:
        ``step_s``; ``times``, the beginning of each step, µs; ``causes``, ``sites`` and
        ``origins``: names with their ``counts`` per step, the busiest first.
    """
    step = hours * 3_600_000_000 // _STEPS
    start = (end // step - _STEPS + 1) * step
    times = [start + k * step for k in range(_STEPS)]
    if history is None:
        return {
            "step_s": step // 1_000_000,
            "times": times,
            "causes": [],
            "sites": [],
            "origins": [],
        }
    table = history.table
    chosen = history.held & (history.time >= start) & (history.time <= end)
    chosen &= (table["hold_code"] != 1).fill_null(value=True).to_numpy()
    if owner is not None:
        own = (table["owner"] == owner).fill_null(value=False).to_numpy()
        chosen &= np.isin(history.job, np.unique(history.job[own & (history.job >= 0)]))
    rows = np.flatnonzero(chosen)
    holds, at = table[rows], (history.time[rows] - start) // step
    codes = [None if one is None else hold_name(one) for one in holds["hold_code"]]
    places = sites(holds["attributes"], holds["slot"], holds["reason"])
    named = {
        "causes": pl.Series(codes, dtype=pl.String).fill_null("hold code unknown"),
        "sites": places,
        "origins": origins(holds["reason"]),
    }
    counted = {name: _counted(names, at) for name, names in named.items()}
    return {"step_s": step // 1_000_000, "times": times, **counted}


def _counted(names: pl.Series, at: np.ndarray[Any, np.dtype[np.int64]]) -> list[dict[str, Any]]:
    """Names with their counts per step; rows without a name are left out."""
    found = []
    for name in names.drop_nulls().unique(maintain_order=True):
        inside = (names == name).fill_null(value=False).to_numpy()
        counts = np.bincount(at[inside], minlength=_STEPS)
        found.append({"name": name, "counts": counts.tolist()})
    return sorted(found, key=lambda one: -sum(one["counts"]))[:_MOST_ROWS]
