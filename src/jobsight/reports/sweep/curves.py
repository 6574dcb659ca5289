"""Learning curves: loss of every run by epoch, the best ones in front."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from jobsight.reports.drawing import BLACK, draw
from jobsight.reports.page import Markup
from jobsight.reports.sweep.data import Run, SweepData
from jobsight.reports.sweep.parallel import add_lines
from jobsight.reports.sweep.plotting import BEST, FAILED, set_axes, titles
from jobsight.reports.sweep.scales import Axis, Floats, numeric_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["curves_plot"]

Part = Literal["train", "select"]

_POINTS = 40_000
"""Points of one picture; longer curves are drawn through every so-many-th epoch and their best."""

_MOST_MARKED = 120
"""Runs whose stops and evictions are marked, the best first."""


def curves_plot(data: SweepData, part: Part) -> Markup:
    """The loss on a part after each epoch, one line per run.

    Discs: where patience ended a run. Diamonds: where a run went on after an eviction. Ring: the
    epoch whose weights the best run kept.
    """
    places = [int(place) for place in data.drawn if len(data.runs[place].epochs)]
    runs = [data.runs[place] for place in places]
    down = _loss_axis([getattr(run, part) for run in runs])
    last = max((int(run.epochs[-1]) for run in runs), default=1)
    across = Axis("linear", 1.0, max(last, 2), whole=True)
    step = 1 + sum(len(run.epochs) for run in runs) // _POINTS

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        set_axes(axes, across, down, most=7)
        axes.set_xlabel("epoch")
        curves = {place: _curve(data.runs[place], part, across, down, step) for place in places}
        add_lines(axes, data, curves)
        _add_marks(axes, runs, part, across, down)
        _add_best(axes, data, part, across, down)

    words = (
        f"Loss on the {part} part by epoch: one line for each of {len(runs):,} runs over up to "
        f"{last:,} epochs; the best run is thick. The last losses are in the table of all runs."
    )
    return draw(f"curves {part}", 5.2, 3.5, words, paint, titles=titles(data, places))


def _loss_axis(losses: list[Floats]) -> Axis:
    """Logarithmic where losses lie far apart; the highest hundredth may lie at its edge."""
    values = np.concatenate([np.zeros(0), *losses])
    values = values[np.isfinite(values)]
    if len(values) > 100:
        values = values[values <= np.quantile(values, 0.99)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    return numeric_axis(values, log=low > 0 and high > 20 * low)


def _curve(run: Run, part: Part, across: Axis, down: Axis, step: int) -> Floats:
    """Points of a run's curve: float64 (e, 2), places."""
    kept = np.arange(len(run.epochs)) % step == 0
    kept[-1] = True
    kept |= run.epochs == run.best_epoch
    epochs = run.epochs[kept].astype(np.float64)
    return np.stack([across.place(epochs), down.place(getattr(run, part)[kept])], axis=1)


def _add_marks(axes: Axes, runs: list[Run], part: Part, across: Axis, down: Axis) -> None:
    """Where patience ended a run, and where one went on after an eviction."""
    stops, resumes = [], []
    for run in runs[::-1][:_MOST_MARKED]:
        if run.status == "early":
            stops.append(_at(run, int(run.epochs[-1]), part, across, down))
        cut = [one.epoch for one in run.attempts if one.cut_short]
        resumes += [_at(run, epoch, part, across, down) for epoch in cut]
    for places, marker, size, inside, edge in (
        (stops, "o", 9, BLACK, BLACK),
        (resumes, "D", 26, "white", FAILED),
    ):
        x, y = np.concatenate([np.zeros((0, 2)), *places]).T
        axes.scatter(x, y, s=size, c=inside, marker=marker, edgecolors=edge, lw=1.4, zorder=4)


def _at(run: Run, epoch: int, part: Part, across: Axis, down: Axis) -> Floats:
    """Where a run's curve is after an epoch: float64 (1, 2); (0, 2) where it has no loss there."""
    found = np.flatnonzero((run.epochs == epoch) & np.isfinite(getattr(run, part)))[:1]
    x = across.place(np.full(len(found), float(epoch)))
    return np.stack([x, down.place(getattr(run, part)[found])], axis=1)


def _add_best(axes: Axes, data: SweepData, part: Part, across: Axis, down: Axis) -> None:
    """A ring at the epoch whose weights the best run kept, and the run's number."""
    if data.best is None or data.runs[data.best].best_epoch is None:
        return
    run = data.runs[data.best]
    for x, y in _at(run, run.best_epoch or 0, part, across, down):
        axes.plot(x, y, "o", ms=9, mfc="white", mec=BEST, mew=2.4, zorder=6)
        axes.annotate(
            f"run {run.number}", (x, y), (-9 if x > 0.5 else 9, 9), textcoords="offset points",
            ha="right" if x > 0.5 else "left", color=BEST, fontweight="bold", zorder=6,
            bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.6},
        )  # fmt: skip
