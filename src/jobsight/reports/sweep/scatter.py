"""The metric against each parameter, and against the order in which runs ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jobsight.reports.drawing import draw
from jobsight.reports.page import Markup
from jobsight.reports.sweep.data import SweepData
from jobsight.reports.sweep.importance import groups
from jobsight.reports.sweep.plotting import (
    BEST,
    FAILED,
    across,
    add_dots,
    heights,
    set_axes,
    titles,
)
from jobsight.reports.sweep.scales import Axis, Column, Floats, numeric_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["scatter_plot", "search_plot"]

_LEAST_BARRED = 4
"""Fewer runs have no quartiles worth a bar."""


def _metric_axis(data: SweepData) -> Axis:
    """The axis of the metric, the same in all pictures; the worst twentieth may lie at its edge."""
    values = data.values[data.judged]
    if len(values) >= 40:
        worst = np.quantile(values, 0.04 if data.maximize else 0.96)
        values = np.maximum(values, worst) if data.maximize else np.minimum(values, worst)
    return numeric_axis(values)


def scatter_plot(data: SweepData, column: Column) -> Markup:
    """One dot per run over a parameter; bars: quartiles and median of runs with like values."""
    axis = _metric_axis(data)
    x, y = across(column), heights(data, axis)

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        set_axes(axes, column.axis, axis, flip=not data.maximize, most=4)
        _add_bars(axes, data, column, x, y)
        failed = data.failed[:1000]
        axes.plot(x[failed], np.full(len(failed), -0.07), "|", color=FAILED, ms=5, clip_on=False)
        axes.set_ylim(bottom=-0.12)
        add_dots(axes, data, x, y)

    words = (
        f"{data.metric} against {column.name}: one dot for each of {len(data.judged):,} "
        f"runs, bars for the quartiles of runs with like values, and {len(data.failed):,} "
        "failed runs marked below."
    )
    name = f"scatter {column.name}"
    return draw(name, 3.5, 2.4, words, paint, titles=titles(data, data.drawn))


def _add_bars(axes: Axes, data: SweepData, column: Column, x: Floats, y: Floats) -> None:
    """Middle half and median of the metric of runs with like values."""
    judged = data.judged
    member = groups(column, judged)
    for one in np.unique(member[member >= 0]):
        inside = judged[member == one]
        if len(inside) < _LEAST_BARRED:
            continue
        left, right = float(x[inside].min()), float(x[inside].max())
        lower, median, upper = np.quantile(y[inside], [0.25, 0.5, 0.75])
        axes.bar(left, upper - lower, max(right - left, 0.01), lower, align="edge",
                 color="#1d6391", alpha=0.13, lw=0)  # fmt: skip
        axes.hlines(median, left, max(right, left + 0.01), color="#33424f", lw=1.6, zorder=2)


def search_plot(data: SweepData) -> Markup:
    """Runs in the order in which they ended, and the best that was known after each."""
    ended = [(run.ended or 0, run.number) for run in data.runs]
    order = sorted(data.judged.tolist(), key=lambda place: ended[place])
    axis = _metric_axis(data)
    order_axis = Axis("linear", 0.0, max(len(order), 2), whole=True)
    x, y = np.full(len(data.runs), np.nan), heights(data, axis)
    x[order] = order_axis.place(np.arange(1, len(order) + 1, dtype=np.float64))

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        set_axes(axes, order_axis, axis, flip=not data.maximize)
        axes.step(x[order], np.maximum.accumulate(y[order]), where="post", color=BEST, lw=1.6)
        axes.set_xlabel("runs ended")
        add_dots(axes, data, x, y)

    words = (
        f"The best {data.metric} so far, as runs ended: one dot per run in the order in which "
        "they ended; the line is the best so far."
    )
    return draw("search", 5.2, 3.1, words, paint, titles=titles(data, data.drawn))
