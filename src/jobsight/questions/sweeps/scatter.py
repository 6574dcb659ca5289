"""The metric against each parameter, and against what a run cost."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jobsight.questions.page import Markup, element, join
from jobsight.questions.sweeps.importance import groups
from jobsight.questions.sweeps.material import Material
from jobsight.questions.sweeps.scales import Axis, Column, Floats, numeric_axis, widened
from jobsight.questions.sweeps.svg import (
    Box,
    dot,
    linked,
    picture,
    polyline,
    segment,
    x_axis,
    y_axis,
)
from jobsight.questions.sweeps.words import run_words

__all__ = ["scatter_plot", "search_plot"]

_RUG = 12
"""Pixels below the points: where failed runs are marked."""

_LEAST_BARRED = 4
"""Fewer runs have no quartiles worth a bar."""

_MOST_LINKED = 400
"""Points of one picture that lead to their run; more would fill the page with their words."""


def _metric_axis(material: Material) -> Axis:
    """The axis of the metric, the same in all pictures; the worst twentieth may lie at its edge."""
    values = material.values[material.judged]
    if len(values) >= 40:
        worst = np.quantile(values, 0.04 if material.maximize else 0.96)
        values = np.maximum(values, worst) if material.maximize else np.minimum(values, worst)
    axis = numeric_axis(values)
    return widened(axis)


def scatter_plot(material: Material, column: Column) -> Markup:
    """One dot a run over a parameter; bars: quartiles and median of runs with like values."""
    box = Box(330, 218, left=46, right=10, top=8, bottom=26 + _RUG)
    axis = _metric_axis(material)
    if column.axis.kind == "category":
        across, wide = column.axis, (box.right - box.left) / max(len(column.axis.labels), 1)
    else:
        across = widened(column.axis)
        wide = 1.0
    x = _across(box, across, column, wide)
    y = box.ys(_up(material, axis, material.values))
    return picture(
        box,
        f"{material.metric} against {column.name}",
        f"One dot for each of {len(material.judged):,} runs, bars for the quartiles of runs with "
        f"like values, and {len(material.failed):,} failed runs marked below.",
        _rods(box, across, axis, material),
        _bars(material, column, x, y, wide if column.axis.kind == "category" else None),
        _rug(material, box, x),
        _dots(material, x, y),
    )


def _rods(box: Box, across: Axis, axis: Axis, material: Material) -> Markup:
    low = Box(box.width, box.height, left=box.left, right=box.width - box.right, top=box.top,
              bottom=box.height - box.bottom - _RUG)  # fmt: skip
    return join(
        [
            y_axis(box, axis, flip=not material.maximize, most=4),
            x_axis(low, across, most=5),
            segment(box.left, box.bottom, box.right, box.bottom, "rod"),
        ]
    )


def _across(box: Box, axis: Axis, column: Column, wide: float) -> Floats:
    """Pixels from the left of each run, categories with their runs side by side."""
    x = box.xs(axis.place(column.values))
    if column.axis.kind == "category":
        for code in np.unique(column.values[np.isfinite(column.values)]):
            members = np.flatnonzero(column.values == code)
            # A golden ratio's multiples fill a stretch evenly, whatever the number of runs.
            x[members] += (np.modf(members * 0.618034)[0] - 0.5) * 0.66 * wide
    return x


def _up(material: Material, axis: Axis, values: Floats) -> Floats:
    places = axis.place(values)
    return places if material.maximize else 1.0 - places


def _bars(material: Material, column: Column, x: Floats, y: Floats, wide: float | None) -> Markup:
    """Middle half and median of the metric of runs with like values."""
    judged = material.judged
    member = groups(column, judged)
    parts: list[Markup] = []
    for one in np.unique(member[member >= 0]):
        inside = judged[member == one]
        if len(inside) < _LEAST_BARRED:
            continue
        if wide is None:
            left, right = float(x[inside].min()), float(x[inside].max())
        else:
            middle = float((x[inside].min() + x[inside].max()) / 2)
            left, right = middle - 0.4 * wide, middle + 0.4 * wide
        upper, median, lower = np.quantile(y[inside], [0.25, 0.5, 0.75])
        parts.append(_rectangle(left, float(upper), right - left, float(lower - upper)))
        parts.append(segment(left, float(median), right, float(median), "median"))
    return element("g", *parts)


def _rectangle(left: float, top: float, width: float, height: float) -> Markup:
    return element(
        "rect", x=f"{left:.1f}", y=f"{top:.1f}", width=f"{max(width, 1):.1f}",
        height=f"{max(height, 1):.1f}", class_="iqr",
    )  # fmt: skip


def _rug(material: Material, box: Box, x: Floats) -> Markup | None:
    """A mark below for each failed run."""
    ends = [
        f"M{x[place]:.1f} {box.bottom + 3}v{_RUG - 4}"
        for place in material.failed[:1000]
        if np.isfinite(x[place])
    ]
    return element("path", d="".join(ends), class_="bad rug") if ends else None


def _dots(material: Material, x: Floats, y: Floats) -> Markup:
    """All runs by colour; few enough are also links, with their words."""
    there = np.isfinite(x) & np.isfinite(y)
    places = [int(place) for place in material.drawn if there[place]]
    if len(places) <= _MOST_LINKED:
        drawn = [
            linked(
                material.runs[place].number,
                run_words(material, material.runs[place]),
                dot(x[place], y[place], 3.2, f"d{material.shades[place]}"),
            )
            for place in places
        ]
    else:
        drawn = _clouds(material, np.array(places), x, y)
    best = material.best
    if best is not None and there[best]:
        run = material.runs[best]
        mark = dot(x[best], y[best], 6, "star")
        drawn.append(linked(run.number, run_words(material, run), mark))
    return element("g", *drawn, class_="dots")


def _clouds(material: Material, places: NDArray[np.int64], x: Floats, y: Floats) -> list[Markup]:
    """One path a colour: dots are lines without length and with round ends."""
    drawn = []
    for shade in np.unique(material.shades[places]):
        inside = places[material.shades[places] == shade]
        path = "".join(f"M{x[p]:.0f} {y[p]:.1f}h0" for p in inside)
        drawn.append(element("path", d=path, class_=f"cloud c{shade}"))
    return drawn


def search_plot(material: Material) -> Markup:
    """Runs in the order in which they ended, and the best that was known after each."""
    ended = [(run.ended or 0, run.number) for run in material.runs]
    order = sorted(material.judged.tolist(), key=lambda place: ended[place])
    box = Box(500, 300, left=52, right=14, top=12, bottom=42)
    axis = _metric_axis(material)
    x = np.full(len(material.runs), np.nan)
    across = Axis("linear", 0.0, max(len(order), 2), whole=True)
    x[order] = box.xs(across.place(np.arange(1, len(order) + 1, dtype=np.float64)))
    y = box.ys(_up(material, axis, material.values))
    so_far = np.minimum.accumulate(y[order]) if order else np.zeros(0)
    steps = polyline(np.repeat(x[order], 2)[1:], np.repeat(so_far, 2)[:-1])
    return picture(
        box,
        f"The best {material.metric} so far, as runs ended",
        "One dot a run in the order in which they ended; the line is the best so far.",
        y_axis(box, axis, flip=not material.maximize),
        x_axis(box, across, name="runs ended"),
        _dots(material, x, y),
        element("path", d=steps, class_="steps") if steps else None,
    )
