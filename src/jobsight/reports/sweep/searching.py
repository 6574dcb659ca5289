"""The parts of the report that show what was searched and what mattered."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from jobsight.format import percent
from jobsight.reports.page import Markup, element, figure, join, section, table
from jobsight.reports.sweep.data import SweepData
from jobsight.reports.sweep.importance import FEW_RUNS, Importance, importance
from jobsight.reports.sweep.parallel import MOST_AXES, parallel_plot
from jobsight.reports.sweep.scales import Column, short
from jobsight.reports.sweep.scatter import scatter_plot
from jobsight.reports.sweep.words import correlation_words
from jobsight.text import counted, printable

__all__ = ["glance_part", "importances", "parameters_part"]

_MOST_PANELS = 18
_MOST_ROWS = 60
_BORDER = 0.04
"""Share of a searched range at whose end a best value is said to lie."""


def importances(data: SweepData) -> dict[str, Importance]:
    """What each parameter explains of the metric, by name."""
    return {
        column.name: importance(column, data.judged, data.values, maximize=data.maximize)
        for column in data.columns
    }


def glance_part(data: SweepData, importance: Mapping[str, Importance]) -> Markup | None:
    """Parallel coordinates of all runs, with what to show chosen by buttons."""
    if not data.columns or not (len(data.judged) or len(data.failed)):
        return None
    left_out = len(data.columns) - MOST_AXES
    more = f" The {left_out} least important parameters have no axis." if left_out > 0 else ""
    hidden = len(data.judged) - len(data.drawn)
    more += f" {hidden:,} of the weaker runs are not drawn." if hidden else ""
    few = len(data.judged) < FEW_RUNS
    order = "" if few else " The further right a parameter is, the more it says of the metric."
    return section(
        "All runs at a glance",
        _buttons(data),
        figure(
            parallel_plot(data, importance),
            join([_legend(data), f"{order}{more} Point at a line for its run; follow it to "
                  "the run's row in the table."]),
            class_="wide",
        ),
        lead="Each line is a run: it passes through its value of each parameter and ends at its "
        f"{printable(data.metric, 60)} on the validation block, the better the higher.",
    )  # fmt: skip


def _buttons(data: SweepData) -> Markup | None:
    """Which runs stand out; they need no script."""
    if len(data.judged) < 10:
        return None
    choices = [("all", "all runs"), ("top", "the best tenth"), ("one", "the best run")]
    if len(data.failed):
        choices.append(("bad", "failed runs"))
    inputs = [
        element(
            "label",
            element("input", type="radio", name="show", id=f"show-{key}",
                    checked="checked" if key == "all" else None),
            element("span", words),
        )
        for key, words in choices
    ]  # fmt: skip
    legend = element("legend", "Show")
    return element("fieldset", legend, *inputs, class_="choice")


def _legend(data: SweepData) -> Markup:
    scale = join(element("i", class_=f"key f{k}") for k in range(7))
    parts = [
        element("span", element("i", class_="key starkey"), "best run"),
        element("span", "worst ", scale, " best, by rank"),
    ]
    if len(data.failed):
        parts.append(element("span", element("i", class_="key badkey"), "failed"))
    return element("span", *parts, class_="legend")


def parameters_part(data: SweepData, importance: Mapping[str, Importance]) -> Markup | None:
    """The metric against each parameter, and what each explains."""
    if not data.columns or not len(data.judged):
        return None
    order = sorted(data.columns, key=lambda one: -(importance[one.name].share or 0.0))
    panels = [_panel(data, column, importance[column.name]) for column in order[:_MOST_PANELS]]
    more = len(order) - len(panels)
    rest = element("p", f"{more} parameters that say less have no picture.", class_="small")
    return section(
        "Which parameters matter",
        element("div", *panels, class_="panels"),
        rest if more > 0 else None,
        _table(data, order, importance),
        lead=_lead(data),
    )


def _lead(data: SweepData) -> str:
    words = (
        "Dots are runs, up is better; bars hold the middle half of runs with like values, the "
        "stroke is their median. Marks below are failed runs. The share is how much of the "
        "differences in rank the parameter explains alone, less what chance would; parameters that "
        "act only together show little here."
    )
    if len(data.judged) < FEW_RUNS:
        words += (
            f" With {counted(len(data.judged), 'run')} to judge by, take it as a hint: shares "
            "settle from some thirty runs on."
        )
    return words


def _panel(data: SweepData, column: Column, found: Importance) -> Markup:
    caption = element(
        "figcaption",
        element("b", printable(column.name, 60)),
        element("span", _verdict(found), class_="sure" if found.sure else "unsure"),
    )
    return element("figure", caption, scatter_plot(data, column), class_="panel")


def _verdict(found: Importance) -> str:
    if found.share is None:
        return "too few runs to say"
    if not found.sure:
        return "no more than chance"
    return f"explains {percent(found.share)}"


def _table(data: SweepData, order: list[Column], importance: Mapping[str, Importance]) -> Markup:
    rows = [
        [
            printable(column.name, 80),
            printable(column.search, 160) or "–",
            _best_value(data, column, importance[column.name]),
            _range_of_top(data, column),
            percent(importance[column.name].share),
            _verdict_row(importance[column.name]),
        ]
        for column in order[:_MOST_ROWS]
    ]
    more = len(order) - len(rows)
    return table(
        ["parameter", "searched", "best run", "best tenth", "share", "direction"],
        rows,
        caption="What was searched, where the best are, and what it says of the metric."
        + (f" {more} more parameters are not listed." if more > 0 else ""),
        text_columns=(0, 1, 2, 3, 5),
    )


def _verdict_row(found: Importance) -> str:
    if found.share is None:
        return "–"
    words = correlation_words(found.correlation)
    return words if found.sure else f"{words}; could be chance"


def _best_value(data: SweepData, column: Column, found: Importance) -> Markup | str:
    """The best run's value, and whether it lies at an end of what was searched and matters."""
    if data.best is None:
        return "–"
    text = column.shown[data.best] or "not set"
    end = _border(column, float(column.values[data.best])) if found.sure else None
    return join([text, element("span", f" {end}", class_="small")]) if end else text


def _border(column: Column, value: float) -> str | None:
    if column.bounds is None or not np.isfinite(value):
        return None
    low, high = column.bounds
    ends = np.array([low, value, high])
    if column.axis.kind == "log" and low > 0:
        ends = np.log(np.maximum(ends, low))
    place = (ends[1] - ends[0]) / (ends[2] - ends[0])
    if place < _BORDER:
        return "at the low end: search lower"
    return "at the high end: search higher" if place > 1.0 - _BORDER else None


def _range_of_top(data: SweepData, column: Column) -> str:
    top = data.judged[: max(3, len(data.judged) // 10)]
    values = column.values[top]
    values = values[np.isfinite(values)]
    if len(data.judged) < 10 or not len(values):
        return "–"
    if column.axis.kind == "category":
        counts = np.bincount(values.astype(np.int64), minlength=len(column.axis.labels))
        common = np.argsort(-counts, kind="stable")[:3]
        return ", ".join(
            f"{column.axis.labels[k]} ({percent(counts[k] / len(values))})"
            for k in common
            if counts[k]
        )
    low, high = short(float(values.min()), 3), short(float(values.max()), 3)
    return low if low == high else f"{low} to {high}"
