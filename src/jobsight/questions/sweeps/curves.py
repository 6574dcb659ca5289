"""Learning curves: loss of every run by epoch, the best ones in front."""

from __future__ import annotations

from typing import Literal

import numpy as np

from jobsight.questions.page import Markup, element
from jobsight.questions.sweeps.material import Material, Run
from jobsight.questions.sweeps.parallel import crowding
from jobsight.questions.sweeps.scales import Axis, Floats, numeric_axis, widened
from jobsight.questions.sweeps.svg import (
    Box,
    dot,
    label,
    linked,
    picture,
    polyline,
    x_axis,
    y_axis,
)
from jobsight.questions.sweeps.words import run_words

__all__ = ["curves_plot"]

_POINTS = 60_000
"""Points of one picture; longer curves are drawn through every so-many-th epoch and their best."""

_MOST_TOLD = 400
"""Lines of one picture that say all words of their run; of more they say its number."""

_MOST_MARKED = 120
"""Runs whose stops and evictions are marked, the best first."""


def curves_plot(material: Material, part: Literal["train", "select"]) -> Markup:
    """The loss on a part after each epoch, one line a run.

    Discs: where patience ended a run. Diamonds: where a run went on after an eviction. Ring: the
    epoch whose weights the best run kept.
    """
    box = Box(500, 330, left=52, right=16, top=14, bottom=44)
    runs = [material.runs[place] for place in material.drawn if len(material.runs[place].epochs)]
    losses = [getattr(run, part) for run in runs]
    down = _loss_axis(losses)
    last = max((int(run.epochs[-1]) for run in runs), default=1)
    across = Axis("linear", 1.0, max(last, 2), whole=True)
    return picture(
        box,
        f"Loss on the {part} part by epoch",
        f"One line for each of {len(runs):,} runs over up to {last:,} epochs; the best run is "
        "thick. The last losses stand in the table of all runs.",
        y_axis(box, down),
        x_axis(box, across, name="epoch", most=8),
        _lines(material, runs, part, box, across, down),
        _marks(runs, part, box, across, down),
        _best(material, part, box, across, down),
    )


def _loss_axis(losses: list[Floats]) -> Axis:
    """Logarithmic where losses lie far apart; the highest hundredth may lie at its edge."""
    values = np.concatenate([np.zeros(0), *losses])
    values = values[np.isfinite(values)]
    if len(values) > 100:
        values = values[values <= np.quantile(values, 0.99)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    axis = numeric_axis(values, log=low > 0 and high > 20 * low)
    return widened(axis, 0.03)


def _path(run: Run, part: str, box: Box, across: Axis, down: Axis, step: int) -> str:
    epochs, losses = run.epochs, getattr(run, part)
    if step > 1:
        kept = np.arange(len(epochs)) % step == 0
        kept[-1] = True
        kept |= epochs == run.best_epoch
        epochs, losses = epochs[kept], losses[kept]
    x = box.xs(across.place(epochs.astype(np.float64)))
    return polyline(x, box.ys(down.place(losses)))


def _lines(
    material: Material, runs: list[Run], part: str, box: Box, across: Axis, down: Axis
) -> Markup:
    step = 1 + sum(len(run.epochs) for run in runs) // _POINTS
    leading = {material.runs[place].number for place in material.judged[: len(runs) // 10]}
    shade = dict(zip((run.number for run in material.runs), material.shades, strict=True))
    parts = []
    for run in runs:
        path = _path(run, part, box, across, down, step)
        if path.count("l"):
            kind = f"c{shade[run.number]}" + (" top" if run.number in leading else "")
            line = element("path", d=path, class_=kind)
            words = run_words(material, run) if len(runs) <= _MOST_TOLD else f"run {run.number}"
            parts.append(linked(run.number, words, line))
        elif path:
            parts.append(element("path", d=f"{path}h0", class_=f"cloud c{shade[run.number]}"))
    return element("g", *parts, class_=crowding(len(runs)))


def _marks(runs: list[Run], part: str, box: Box, across: Axis, down: Axis) -> Markup:
    """Where patience ended a run, and where one went on after an eviction."""
    stops, resumes = [], []
    for run in runs[::-1][:_MOST_MARKED]:
        losses = getattr(run, part)
        if run.status == "early":
            stops.append(_at(run, int(run.epochs[-1]), losses, box, across, down))
        cut = [one.epoch for one in run.attempts if one.ending in ("evicted", "lost")]
        resumes += [_at(run, epoch, losses, box, across, down) for epoch in cut]
    discs = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in filter(None, stops))
    diamonds = "".join(f"M{x:.1f} {y - 4:.1f}l4 4-4 4-4-4z" for x, y in filter(None, resumes))
    return element(
        "g",
        element("path", d=discs, class_="stops") if discs else None,
        element("path", d=diamonds, class_="resumes") if diamonds else None,
    )


def _at(
    run: Run, epoch: int, losses: Floats, box: Box, across: Axis, down: Axis
) -> tuple[float, float] | None:
    """Where a run's curve is after an epoch; None where it has no loss there."""
    found = np.flatnonzero(run.epochs == epoch)
    if not len(found) or not np.isfinite(losses[found[0]]):
        return None
    x = box.x(float(across.place(np.array([float(epoch)]))[0]))
    return x, box.y(float(down.place(losses[found[:1]])[0]))


def _best(material: Material, part: str, box: Box, across: Axis, down: Axis) -> Markup | None:
    if material.best is None or not len(material.runs[material.best].epochs):
        return None
    run = material.runs[material.best]
    path = _path(run, part, box, across, down, 1)
    parts = [
        element("path", d=path, class_="halo"),
        element("path", d=path, class_="best"),
    ]
    at = None
    if run.best_epoch is not None:
        at = _at(run, run.best_epoch, getattr(run, part), box, across, down)
    if at is not None:
        parts.append(dot(*at, 5.5, "ring"))
        right = at[0] > (box.left + box.right) / 2
        parts.append(
            label(
                at[0] + (-10 if right else 10), at[1] - 10, f"run {run.number}",
                anchor="end" if right else None, class_="n best",
            )
        )  # fmt: skip
    return linked(run.number, run_words(material, run), element("g", *parts, class_="lines"))
