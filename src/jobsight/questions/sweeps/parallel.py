"""Parallel coordinates: one axis a parameter, one line a run, coloured by how good it became."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from jobsight.questions.page import Markup, element
from jobsight.questions.sweeps.importance import Importance
from jobsight.questions.sweeps.material import Material
from jobsight.questions.sweeps.scales import Axis, Column, Floats, numeric_axis, short
from jobsight.questions.sweeps.svg import Box, curve, label, linked, picture, segment
from jobsight.questions.sweeps.words import run_words

__all__ = ["MOST_AXES", "crowding", "parallel_plot"]

MOST_AXES = 12
_SPREAD = 0.62
"""Share of a category's room over which its runs are spread, so that none lies on another."""

_GUTTER = 26
"""Pixels below the axes: where lines go that have no value there."""


def _shown_columns(columns: Sequence[Column], told: Mapping[str, Importance]) -> tuple[Column, ...]:
    """The columns with an axis, the more telling the further right, next to the metric."""
    order = sorted(columns, key=lambda one: -(told[one.name].share or 0.0))[:MOST_AXES]
    return tuple(reversed(order))


def parallel_plot(material: Material, told: Mapping[str, Importance]) -> Markup:
    """All runs as lines over the axes of what was searched, and of the metric."""
    columns = _shown_columns(material.columns, told)
    two_rows = len(columns) > 7
    left = 12 + min(92, _widest(columns[0]))
    top = 76 if two_rows else 58
    box = Box(1016, 404 + top, left=left, right=58, top=top, bottom=30 + _GUTTER)
    across = np.linspace(box.left, box.right, len(columns) + 1)
    axis = numeric_axis(material.values[material.judged])
    heights = [_heights(box, column) for column in columns]
    heights.append(_metric_heights(box, material, axis))
    return picture(
        box,
        f"Parallel coordinates of {len(material.runs):,} runs",
        _description(material, columns),
        _lines(material, across, np.stack(heights, axis=1)),
        *(
            _axis(
                box, float(x), column, float(across[1] - across[0]), raised=two_rows and k % 2 > 0
            )
            for k, (x, column) in enumerate(zip(across, columns, strict=False))
        ),
        _metric_axis(box, material, axis),
        class_="parallel",
    )


def _widest(column: Column) -> float:
    """Pixels that the labels of an axis take."""
    return max(40.0, *(7.0 * len(text) for _, text in column.axis.ticks(6)), 0.0)


def _description(material: Material, columns: Sequence[Column]) -> str:
    names = ", ".join(column.name for column in columns)
    return (
        f"One line a run through its values of {names}, ending at its {material.metric}. The "
        "same numbers stand in the table of all runs."
    )


def _heights(box: Box, column: Column) -> Floats:
    """Pixels from the top of each run on a parameter's axis: float64 (n,)."""
    values = column.values
    if column.axis.kind == "category":
        values = _spread(values)
    places = column.axis.place(values)
    return np.where(np.isfinite(places), box.ys(places), box.bottom + _GUTTER)


def _spread(codes: Floats) -> Floats:
    """Categories with their runs side by side, in the order of their numbers."""
    out = codes.copy()
    for code in np.unique(codes[np.isfinite(codes)]):
        members = np.flatnonzero(codes == code)
        out[members] = code + _SPREAD * _side_by_side(len(members))
    return out


def _side_by_side(count: int) -> Floats:
    """Places between −0.5 and 0.5, evenly: float64 (count,)."""
    return np.asarray((np.arange(count) + 0.5) / max(count, 1) - 0.5, np.float64)


def _metric_heights(box: Box, material: Material, axis: Axis) -> Floats:
    """The better the higher; runs that failed lie below the axis."""
    places = axis.place(material.values)
    places = places if material.maximize else 1.0 - places
    heights = box.ys(places)
    heights[~np.isfinite(heights)] = box.bottom + _GUTTER
    # Side by side, or their dashes would add up to one solid line.
    heights[material.failed] = box.bottom + _GUTTER + 16 * (_side_by_side(len(material.failed)))
    return heights


def _lines(material: Material, across: Floats, heights: Floats) -> Markup:
    """Failed runs first, then the others, the best on top."""
    parts = [_line(material, int(place), across, heights) for place in material.failed[:500]]
    parts += [_line(material, int(place), across, heights) for place in material.drawn]
    if material.best is not None:
        path = curve(across.tolist(), heights[material.best].tolist())
        run = material.runs[material.best]
        parts.append(
            linked(
                run.number,
                run_words(material, run),
                element("path", d=path, class_="halo"),
                element("path", d=path, class_="best"),
            )
        )
    return element("g", *parts, class_=crowding(len(material.drawn)))


def crowding(lines: int) -> str:
    """Classes of so many lines: the more there are, the fainter those that matter less."""
    return "lines" if lines <= 60 else "lines many" if lines <= 250 else "lines crowd"


def _line(material: Material, place: int, across: Floats, heights: Floats) -> Markup:
    run = material.runs[place]
    path = curve(across.tolist(), heights[place].tolist())
    shade = material.shades[place]
    kind = "bad" if run.status == "failed" else f"c{shade}{' top' if _top(material, place) else ''}"
    return linked(run.number, run_words(material, run), element("path", d=path, class_=kind))


def _top(material: Material, place: int) -> bool:
    """Whether a run is in the best tenth."""
    return bool(place in material.judged[: max(1, len(material.judged) // 10)])


def _axis(box: Box, x: float, column: Column, room: float, *, raised: bool) -> Markup:
    wide = room * (1.9 if box.top > 60 else 0.96)
    parts = [
        segment(x, box.top, x, box.bottom, "rod"),
        label(
            x,
            box.top - (32 if raised else 14),
            column.name,
            anchor="middle",
            class_="n",
            width=wide,
        ),
    ]
    first = x <= box.left
    for place, text in column.axis.ticks(6):
        y = box.y(place)
        parts.append(segment(x - 4, y, x, y, "rod"))
        side = label(x - 7, y + 4, text, anchor="end", width=box.left - 8 if first else room * 0.6)
        parts.append(side)
    if not np.isfinite(column.values).all():
        parts.append(label(x, box.bottom + _GUTTER + 14, "not set", anchor="middle"))
    return element("g", *parts, class_="axis over")


def _metric_axis(box: Box, material: Material, axis: Axis) -> Markup:
    x = box.right
    name = f"{material.metric} ↑ better"
    parts = [
        segment(x, box.top, x, box.bottom, "rod thick"),
        label(box.width - 2, box.top - 40, name, anchor="end", class_="n", width=170),
    ]
    best = None
    if material.best is not None:
        best = _metric_heights(box, material, axis)[material.best]
        value = short(float(material.values[material.best]), 3)
        parts.append(label(x + 8, best + 4, value, class_="n best"))
    for place, text in axis.ticks(7) if len(material.judged) else []:
        y = box.y(place if material.maximize else 1.0 - place)
        parts.append(segment(x, y, x + 4, y, "rod"))
        if best is None or abs(y - best) > 13:
            parts.append(label(x + 8, y + 4, text))
    if len(material.failed):
        parts.append(label(x + 8, box.bottom + _GUTTER + 4, "failed", class_="bad"))
    return element("g", *parts, class_="axis over")
