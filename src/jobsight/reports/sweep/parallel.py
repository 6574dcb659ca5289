"""Parallel coordinates: one axis per parameter, one line per run, coloured by its rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jobsight.reports.drawing import BLACK, GREY, draw
from jobsight.reports.page import Markup
from jobsight.reports.sweep.data import SweepData
from jobsight.reports.sweep.importance import Importance
from jobsight.reports.sweep.plotting import (
    BEST,
    FAILED,
    across,
    colours,
    heights,
    links,
    side_by_side,
    titles,
)
from jobsight.reports.sweep.scales import Axis, Column, Floats, numeric_axis, short
from jobsight.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["MOST_AXES", "add_lines", "parallel_plot"]

MOST_AXES = 12
_MOST_FAILED = 500
_GUTTER = -0.08
"""Place below the axes where lines go that have no value there."""


def parallel_plot(data: SweepData, importance: Mapping[str, Importance]) -> Markup:
    """All runs as lines over the axes of what was searched, and of the metric.

    The more important a parameter is, the further right its axis, next to the metric.
    """
    order = sorted(data.columns, key=lambda one: -(importance[one.name].share or 0.0))[:MOST_AXES]
    columns = order[::-1]
    axis = numeric_axis(data.values[data.judged])
    places = [np.nan_to_num(across(column), nan=_GUTTER) for column in columns]
    points = np.stack([*places, _metric_places(data, axis)], axis=1)
    failed = data.failed[:_MOST_FAILED]
    shown = [*failed, *data.drawn]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        axes.set_axis_off()
        axes.set(xlim=(-0.35, len(columns) + 0.3), ylim=(_GUTTER - 0.06, 1.16))
        add_lines(axes, data, {int(place): points[place] for place in shown}, curved=True)
        for k, column in enumerate(columns):
            _add_axis(axes, k, column, raised=len(columns) > 7 and k % 2 > 0)
        _add_metric_axis(axes, len(columns), data, axis)

    names = ", ".join(column.name for column in columns)
    words = (
        f"Parallel coordinates of {len(data.runs):,} runs: one line per run through its values "
        f"of {names}, ending at its {data.metric}. The same numbers are in the table of all "
        "runs."
    )
    return draw("parallel", 10.6, 4.8, words, paint, titles=titles(data, shown))


def _metric_places(data: SweepData, axis: Axis) -> Floats:
    """The better the higher; runs that failed lie below the axis."""
    places = heights(data, axis)
    places[~np.isfinite(places)] = _GUTTER
    # Next to each other, or their dashes would add up to one solid line.
    places[data.failed] = _GUTTER + 0.05 * side_by_side(len(data.failed))
    return places


def add_lines(
    axes: Axes, data: SweepData, points: Mapping[int, Floats], *, curved: bool = False
) -> None:
    """One line per run, each a link: failed ones dashed, the best run on top of all.

    The groups are named for the buttons of the page: ``bad``, ``rest``, ``top``, ``best``.

    Args:
        axes: drawn on.
        data: whose runs.
        points: by place of the run, in the order of drawing: float64 (k,), heights over 0, 1 … of
            curved lines, else float64 (k, 2).
        curved: whether lines are level where they cross an axis, so that they can be distinguished.
    """
    from matplotlib.collections import PathCollection

    top = set(data.judged[: max(1, len(data.judged) // 10)].tolist())
    failed = set(data.failed.tolist())
    crowd = 0.8 if len(points) <= 60 else 0.6 if len(points) <= 250 else 0.3
    looks: dict[str, dict[str, Any]] = {
        "bad": {"linestyle": (0, (4, 4)), "linewidth": 0.9, "alpha": 0.5},
        "rest": {"linewidth": 1.5 if crowd > 0.5 else 0.8, "alpha": crowd},
        "top": {"linewidth": 1.5, "alpha": 0.9},
        "best": {"linewidth": 3.0},
    }
    kinds: dict[str, list[int]] = {name: [] for name in looks}
    for place in points:
        kind = "bad" if place in failed else "top" if place in top else "rest"
        kinds["best" if place == data.best else kind].append(place)
    for order, (kind, places) in enumerate(kinds.items()):
        if not places:
            continue
        colour: Any = {"bad": FAILED, "best": BEST}.get(kind) or colours(data, places)
        lines = PathCollection(
            [_path(points[place], curved=curved) for place in places], facecolors="none",
            edgecolors=colour, urls=links(data, places), transform=axes.transData,
            gid=f"class:{kind}", zorder=2 + 0.1 * order, **looks[kind],
        )  # fmt: skip
        axes.add_collection(lines, autolim=False)


def _path(points: Floats, *, curved: bool) -> Any:
    from matplotlib.path import Path

    if not curved:
        return Path(points)
    x = np.arange(len(points), dtype=np.float64)
    # Three points of each Bézier curve: two that hold it level at its ends, and its end.
    after = np.stack([x[:-1] + 0.4, x[1:] - 0.4, x[1:]], axis=1).ravel()
    level = np.stack([points[:-1], points[1:], points[1:]], axis=1).ravel()
    vertices = np.stack([np.append(x[0], after), np.append(points[0], level)], axis=1)
    codes = np.full(len(vertices), Path.CURVE4)
    codes[0] = Path.MOVETO
    return Path(vertices, codes)


def _add_axis(axes: Axes, x: int, column: Column, *, raised: bool) -> None:
    _rod(axes, x, column.axis.ticks(6), side=-1)
    name = printable(column.name, 22 if raised else 16)
    axes.text(x, 1.1 if raised else 1.04, name, ha="center", color=BLACK, fontweight="bold")
    if not np.isfinite(column.values).all():
        axes.text(x, _GUTTER - 0.05, "not set", ha="center", fontsize=8.5, color=GREY)


def _add_metric_axis(axes: Axes, x: int, data: SweepData, axis: Axis) -> None:
    ticks = [(place if data.maximize else 1.0 - place, text) for place, text in axis.ticks(7)]
    best = None
    if data.best is not None:
        best = float(_metric_places(data, axis)[data.best])
        value = short(float(data.values[data.best]), 3)
        axes.text(x + 0.06, best, value, va="center", color=BEST, fontweight="bold")
        ticks = [(place, text) for place, text in ticks if abs(place - best) > 0.04]
    _rod(axes, x, ticks if len(data.judged) else [], side=1)
    name = f"{printable(data.metric, 24)} ↑ better"
    axes.text(x + 0.28, 1.1, name, ha="right", color=BLACK, fontweight="bold")
    if len(data.failed):
        axes.text(x + 0.06, _GUTTER, "failed", va="center", color=FAILED, fontweight="bold")


def _rod(axes: Axes, x: int, ticks: Sequence[tuple[float, str]], *, side: int) -> None:
    """An upright axis with its ticks left (−1) or right (1) of it."""
    axes.plot([x, x], [0, 1], color=GREY, lw=1.2, zorder=3)
    clear = {"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.6}
    for place, text in ticks:
        axes.plot([x, x + 0.03 * side], [place, place], color=GREY, lw=1, zorder=3)
        axes.text(
            x + 0.06 * side, place, printable(text, 14), ha="right" if side < 0 else "left",
            va="center", fontsize=8.5, color="#52606d", bbox=clear, zorder=4,
        )  # fmt: skip
