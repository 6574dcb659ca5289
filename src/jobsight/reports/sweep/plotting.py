"""What the pictures of a sweep share: colours by rank, links to runs, axes between 0 and 1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jobsight.reports.drawing import GREY
from jobsight.reports.sweep.data import SweepData
from jobsight.reports.sweep.scales import Axis, Column, Floats
from jobsight.reports.sweep.words import run_words
from jobsight.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BEST", "FAILED", "RANKS", "across", "add_dots", "colours", "heights", "links",
           "set_axes", "side_by_side", "titles"]  # fmt: skip

RANKS = ("#cfd6dc", "#aecdd3", "#83bcc4", "#4fa3b1", "#2d86a3", "#1d6391", "#1b3f7a")
"""Colours of runs, worst to best, numbered by `SweepData.shades`; ``sweep.css`` has them too."""
BEST, FAILED = "#d9480f", "#a3336b"

_MOST_TITLED = 400
"""Runs of one picture that show their parameters under the pointer; of more, the number alone."""

_SPREAD = 0.62
"""Share of a category's room over which its runs are spread, so that none lies on another."""

_MARGIN = 0.04


def links(data: SweepData, places: Iterable[int]) -> list[str]:
    """Where each run's row is on the page."""
    return [f"#r{data.runs[place].number}" for place in places]


def titles(data: SweepData, places: Sequence[int] | NDArray[np.int64]) -> dict[str, str]:
    """What each link of a picture shows under the pointer."""
    runs = [data.runs[place] for place in places]
    if len(runs) > _MOST_TITLED:
        return {f"#r{run.number}": f"run {run.number}" for run in runs}
    return {f"#r{run.number}": run_words(data, run) for run in runs}


def colours(data: SweepData, places: Iterable[int]) -> list[str]:
    """The colour of each run by its rank."""
    return [RANKS[data.shades[place]] for place in places]


def heights(data: SweepData, axis: Axis) -> Floats:
    """Places of the metric of all runs, the better the higher: float64 (n,), NaN where none."""
    places = axis.place(data.values)
    return places if data.maximize else 1.0 - places


def side_by_side(count: int) -> Floats:
    """Places between −0.5 and 0.5, evenly: float64 (count,)."""
    return np.asarray((np.arange(count) + 0.5) / max(count, 1) - 0.5, np.float64)


def across(column: Column) -> Floats:
    """Places of the runs on a parameter's axis, those of a category next to each other."""
    values = column.values.copy()
    if column.axis.kind == "category":
        for code in np.unique(values[np.isfinite(values)]):
            members = np.flatnonzero(column.values == code)
            values[members] += _SPREAD * side_by_side(len(members))
    return column.axis.place(values)


def set_axes(axes: Axes, across: Axis, down: Axis, *, flip: bool = False, most: int = 5) -> None:
    """Ticks and labels of two axes whose data are places between 0 and 1.

    Args:
        axes: drawn on.
        across: whose ticks the x axis gets.
        down: likewise the y axis.
        flip: whether low values are on top.
        most: ticks of each, about.
    """
    for ticks, one, turned in (
        (across.ticks(most), axes.xaxis, False),
        (down.ticks(most), axes.yaxis, flip),
    ):
        places = [1.0 - place if turned else place for place, _ in ticks]
        room = max(4, 44 // max(len(ticks), 1)) if one is axes.xaxis else 14
        one.set_ticks(places, [printable(text, room) for _, text in ticks])
    axes.set(xlim=(-_MARGIN, 1 + _MARGIN), ylim=(-_MARGIN, 1 + _MARGIN))


def add_dots(axes: Axes, data: SweepData, x: Floats, y: Floats) -> None:
    """One dot per drawn run, and a star for the best.

    Args:
        axes: drawn on.
        data: whose runs.
        x: float64 (n,), places of all runs; NaN where a run has none.
        y: likewise.
    """
    there = np.isfinite(x) & np.isfinite(y)
    shown = [int(place) for place in data.drawn if there[place]]
    if len(shown) <= _MOST_TITLED:
        axes.scatter(x[shown], y[shown], s=13, c=colours(data, shown), edgecolors="white",
                     linewidths=0.4, zorder=3, urls=links(data, shown))  # fmt: skip
    else:
        _add_cloud(axes, data, np.array(shown), x, y)
    best = data.best
    if best is not None and there[best]:
        axes.scatter(x[[best]], y[[best]], marker="*", s=110, c=BEST, edgecolors="white",
                     zorder=4, urls=links(data, [best]))  # fmt: skip
    axes.tick_params(color=GREY, labelsize=8.5)


def _add_cloud(
    axes: Axes, data: SweepData, places: NDArray[np.int64], x: Floats, y: Floats
) -> None:
    """Many dots in a small page: a path per colour, of lines without length and with round ends."""
    for shade in np.unique(data.shades[places]):
        inside = places[data.shades[places] == shade]
        ends = [np.stack([one[inside], one[inside], np.full(len(inside), np.nan)], axis=1).ravel()
                for one in (x, y)]  # fmt: skip
        axes.plot(*ends, color=RANKS[shade], lw=3.4, solid_capstyle="round", zorder=3)
