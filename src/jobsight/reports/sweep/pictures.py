"""The pictures of a sweep: learning curves, the metric against parameters, the search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from jobsight.reports.drawing import GREY, draw
from jobsight.reports.page import Markup
from jobsight.reports.sweep.importance import groups
from jobsight.reports.sweep.material import Material, Run
from jobsight.reports.sweep.scales import Column, Floats, in_words, is_wide, short
from jobsight.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["BEST", "curves_plot", "parameter_words", "scatter_plot", "search_plot"]

RANKS = ("#cfd6dc", "#aecdd3", "#83bcc4", "#4fa3b1", "#2d86a3", "#1d6391", "#1b3f7a")
"""Colours of runs, worst to best, as `Material.shades` numbers them; ``sweep.css`` has them too."""
BEST, FAILED = "#d9480f", "#a3336b"

_MOST_TITLED = 400
"""Runs of one picture that show their parameters under the pointer; of more, the number alone."""
_POINTS = 40_000
"""Points of one picture; longer curves are drawn through every so-many-th epoch and their best."""
_LEAST_BARRED = 4
"""Fewer runs have no quartiles worth a bar."""


def parameter_words(run: Run, most: int = 6) -> str:
    """The first parameters of a run: ``m=14, j=20 …``."""
    shown = [
        f"{printable(name, 24)}={in_words(value, 24)}"
        for name, value in list(run.parameters.items())[:most]
    ]
    return ", ".join(shown) + (" …" if len(run.parameters) > most else "")


def _titles(material: Material, places: Sequence[int] | NDArray[np.int64]) -> dict[str, str]:
    """What each link of a picture shows under the pointer: number, metric, parameters."""
    runs = [material.runs[place] for place in places]
    if len(runs) > _MOST_TITLED:
        return {f"#r{run.number}": f"run {run.number}" for run in runs}
    return {
        f"#r{run.number}": f"run {run.number}"
        + ("" if run.metric is None else f" · {material.metric} {short(run.metric)}")
        + f" · {run.status}\n{parameter_words(run)}"
        for run in runs
    }


def _links(material: Material, places: Iterable[int]) -> list[str]:
    """Where each run's row is on the page."""
    return [f"#r{material.runs[place].number}" for place in places]


def _colours(material: Material, places: Iterable[int]) -> list[str]:
    """The colour of each run by its rank."""
    return [RANKS[material.shades[place]] for place in places]


def curves_plot(material: Material, part: Literal["train", "select"]) -> Markup:
    """The loss on a part after each epoch, one line per run.

    A ring marks the epoch whose weights the best run kept.
    """
    places = [int(place) for place in material.drawn if len(material.runs[place].epochs)]
    runs = [material.runs[place] for place in places]
    losses = np.concatenate([np.zeros(0), *(getattr(run, part) for run in runs)])
    losses = losses[np.isfinite(losses)]
    step = 1 + sum(len(run.epochs) for run in runs) // _POINTS

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        if len(losses) > 100:  # the highest hundredth is beyond the edge
            axes.set_ylim(losses.min(), np.quantile(losses, 0.99))
        if is_wide(losses, 20.0):
            axes.set_yscale("log")
        for place, run in zip(places, runs, strict=True):
            kept = (np.arange(len(run.epochs)) % step == 0) | (run.epochs == run.best_epoch)
            kept[-1] = True
            best = place == material.best
            axes.plot(
                run.epochs[kept], getattr(run, part)[kept], lw=3.0 if best else 1.0,
                color=BEST if best else RANKS[material.shades[place]],
                alpha=1.0 if best or len(runs) <= 60 else 0.5, url=f"#r{run.number}",
                zorder=5 if best else 2,
            )  # fmt: skip
        _add_ring(axes, material, part)
        axes.set_xlabel("epoch")

    words = (
        f"Loss on the {part} part by epoch: one line for each of {len(runs):,} runs; the best run "
        "is thick. The last losses are in the table of all runs."
    )
    titles = _titles(material, places)
    return draw(f"curves {part}", 5.2, 3.5, words, paint, titles=titles)


def _add_ring(axes: Axes, material: Material, part: str) -> None:
    """A ring at the epoch whose weights the best run kept."""
    if material.best is not None:
        run = material.runs[material.best]
        kept = run.epochs == run.best_epoch
        axes.plot(run.epochs[kept], getattr(run, part)[kept], "o", ms=9, mfc="white", mec=BEST,
                  mew=2.4, zorder=6, clip_on=False)  # fmt: skip


def _heights(material: Material) -> Floats:
    """The metric of all runs, the worst twentieth of many at the edge: float64 (n,)."""
    values = material.values[material.judged]
    if len(values) < 40:
        return material.values
    worst = np.quantile(values, 0.04 if material.maximize else 0.96)
    return (np.maximum if material.maximize else np.minimum)(material.values, worst)


def scatter_plot(material: Material, column: Column) -> Markup:
    """One dot per run over a parameter; bars: quartiles and median of runs with like values."""
    x, y = column.values.copy(), _heights(material)
    if column.kind == "category":
        # A golden ratio's multiples fill a stretch evenly, whatever the number of runs.
        x += (np.modf(np.arange(len(x)) * 0.618034)[0] - 0.5) * 0.66

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        if column.kind == "category":
            room = max(4, 44 // max(len(column.labels), 1))
            labels = [printable(label, room) for label in column.labels]
            axes.set_xticks(range(len(labels)), labels)
        elif column.kind == "log":
            axes.set_xscale("log")
        _add_bars(axes, material, column, x, y)
        failed = material.failed[:1000]
        axes.plot(x[failed], np.full(len(failed), -0.03), "|", color=FAILED, ms=5, clip_on=False,
                  transform=axes.get_xaxis_transform())  # fmt: skip
        _add_dots(axes, material, x, y)

    words = (
        f"{material.metric} against {column.name}: one dot for each of {len(material.judged):,} "
        f"runs, bars for the quartiles of runs with like values, and {len(material.failed):,} "
        "failed runs marked below."
    )
    titles = _titles(material, material.drawn)
    return draw(f"scatter {column.name}", 3.5, 2.4, words, paint, titles=titles)


def _add_bars(axes: Axes, material: Material, column: Column, x: Floats, y: Floats) -> None:
    """Middle half and median of the metric of runs with like values."""
    judged = material.judged
    member = groups(column, judged)
    for one in np.unique(member[member >= 0]):
        inside = judged[member == one]
        if len(inside) >= _LEAST_BARRED:
            ends = [float(x[inside].min()), float(x[inside].max())]
            lower, median, upper = np.quantile(y[inside], [0.25, 0.5, 0.75])
            axes.fill_between(ends, lower, upper, color="#1d6391", alpha=0.13)
            axes.plot(ends, [median, median], color="#33424f", lw=1.6, zorder=2)


def search_plot(material: Material) -> Markup:
    """Runs in the order in which they ended, and the best that was known after each."""
    order = material.in_order
    y = _heights(material)
    x = np.full(len(material.runs), np.nan)
    x[order] = np.arange(1, len(order) + 1)
    best = np.maximum.accumulate if material.maximize else np.minimum.accumulate

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        axes.step(x[order], best(y[order]), where="post", color=BEST, lw=1.6)
        axes.set_xlabel("runs ended")
        _add_dots(axes, material, x, y)

    words = (
        f"The best {material.metric} so far, as runs ended: one dot per run in the order in which "
        "they ended; the line is the best so far."
    )
    titles = _titles(material, material.drawn)
    return draw("search", 5.2, 3.1, words, paint, titles=titles)


def _add_dots(axes: Axes, material: Material, x: Floats, y: Floats) -> None:
    """One dot per drawn run, the better the higher, and a star for the best.

    Args:
        axes: drawn on.
        material: whose runs.
        x: float64 (n,), of all runs; NaN where a run has none.
        y: likewise.
    """
    there = np.isfinite(x) & np.isfinite(y)
    shown = [int(place) for place in material.drawn if there[place]]
    urls = _links(material, shown) if len(shown) <= _MOST_TITLED else None
    axes.scatter(x[shown], y[shown], s=13, c=_colours(material, shown), edgecolors="white",
                 linewidths=0.4, zorder=3, urls=urls)  # fmt: skip
    best = material.best
    if best is not None and there[best]:
        axes.scatter(x[[best]], y[[best]], marker="*", s=110, c=BEST, edgecolors="white",
                     zorder=4, urls=_links(material, [best]))  # fmt: skip
    if not material.maximize:
        axes.invert_yaxis()
    axes.tick_params(color=GREY, labelsize=8.5)
