"""Plots of reports, each an inline SVG: how good models are, what a pool and a program did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jobsight.clock import format_micros, format_span
from jobsight.codes import event_name
from jobsight.history.pooltime import PoolTimeline
from jobsight.history.timelines import SECOND
from jobsight.learning import metrics
from jobsight.learning.evaluation import Evaluation
from jobsight.learning.targets import Binary, Quantiles
from jobsight.models import is_baseline
from jobsight.program.profile import Window, window_shares
from jobsight.reports.drawing import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    GRID,
    ORANGE,
    PALETTE,
    RED,
    clock_axis,
    days,
    draw,
)
from jobsight.reports.page import Markup
from jobsight.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["cost_plot", "curves_plot", "frames_plot", "importance_plot",
           "observed_plot", "profile_plot", "reliability_plot", "slices_plot",
           "timeline_plot"]  # fmt: skip

_KINDS = {
    "on_cpu": ("cpu (and memory)", BLUE),
    "capacity": ("memory: swapped out", RED),
    "io": ("io", ORANGE),
    "network": ("network", GREEN),
    "waiting": ("waiting", GRID),
}


def profile_plot(windows: Sequence[Window], title: str) -> Markup:
    """Shares of each window, stacked, over CPU cores and resident memory."""
    shares = window_shares(windows)
    walls = np.array([window.seconds for window in windows])
    edges = np.concatenate([[0.0], np.cumsum(walls)])
    stacks = {kind: np.array([share[kind] for share in shares]) / walls for kind in _KINDS}
    stacks["queued"] = 1 - sum(stacks.values())

    def paint(figure: Figure) -> None:
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        below = np.zeros(len(windows))
        for kind, part in stacks.items():
            label, colour = _KINDS.get(kind, (kind, GREY))
            upper.stairs(below + part, edges, baseline=below, fill=True, color=colour, label=label)
            below = below + part
        upper.set(ylim=(0, 1), ylabel="share of wall time", title=title)
        upper.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        lower.stairs([window.cpu_s / window.seconds for window in windows], edges, color=BLUE)
        lower.set(xlabel="seconds", xlim=(0, edges[-1]))
        lower.set_ylabel("cores", color=BLUE)
        memory = lower.twinx()
        memory.stairs([window.resident / (1 << 20) for window in windows], edges, color=RED)
        memory.set_ylabel("MB resident", color=RED)
        memory.set(ylim=(0, None))

    return draw("profile", 9.0, 4.2, title, paint)


_DASHES = ((1, 1), (4, 2), (6, 2, 1, 2), (3, 1, 1, 1, 1, 1), (8, 3), (2, 2))


def _styles(evaluation: Evaluation) -> dict[str, dict[str, Any]]:
    """Line style by model: the chosen one thick, learned ones in colour, the baselines dashed."""
    learned = [name for name in evaluation.predictions if not is_baseline(name)]
    baselines = [name for name in evaluation.predictions if is_baseline(name)]
    styles: dict[str, dict[str, Any]] = {
        name: {"color": PALETTE[1 + k % (len(PALETTE) - 1)], "lw": 1.7}
        for k, name in enumerate(learned)
    }
    for k, name in enumerate(baselines):
        styles[name] = {"color": GREY, "lw": 1.3, "ls": (0, _DASHES[k % len(_DASHES)])}
    styles[evaluation.chosen] = {"color": BLUE, "lw": 3.0, "zorder": 5}
    return styles


_CURVES = {
    "roc_auc": ("roc", "ROC curves; area by model", "{false} taken for {true}", "{true} found",
                "area under the curve"),
    "average_precision": ("precision-recall", "Precision and recall; average precision by model",
                          "{true} found (recall)", "share of them right (precision)",
                          "average precision"),
}  # fmt: skip
"""By metric: the name and words of its plot, what its axes show of `Binary.found`, the title of its
legend."""


def curves_plot(evaluation: Evaluation, kind: str) -> Markup:
    """Curves of all models, batches weighing 1."""
    success, weight = evaluation.labelled.success, evaluation.labelled.weight
    is_roc = kind == "roc_auc"
    curve_of = metrics.roc_curve if is_roc else metrics.precision_recall_curve
    assert isinstance(evaluation.goal, Binary)
    true, false = evaluation.goal.found
    name, what, *axes_names, title = _CURVES[kind]
    across, up = (words.format(true=true, false=false) for words in axes_names)
    styles = _styles(evaluation)
    aucs = {model: evaluation.scores[model]["roc_auc"] or 0.0 for model in evaluation.predictions}
    ordered = sorted(aucs, key=lambda model: (-aucs[model], model))
    values = {
        model: (
            "undefined"
            if evaluation.scores[model][kind] is None
            else f"{evaluation.scores[model][kind]:.2f}"
        )
        for model in ordered
    }

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        if is_roc:
            axes.plot([0, 1], [0, 1], color="#c3ccd3", lw=1, zorder=1)
        else:
            axes.axhline(np.average(success, weights=weight), color="#c3ccd3", lw=1, zorder=1)
        for model in ordered:
            curve = curve_of(evaluation.predictions[model], success, weight)
            if not len(curve.x):
                continue
            # Precision says nothing before the first success is found.
            first = 0 if is_roc else int(np.argmax(curve.x > 0))
            axes.plot(
                curve.x[first:], curve.y[first:], label=f"{printable(model, 24)}  {values[model]}",
                drawstyle="default" if is_roc else "steps-pre", **styles[model],
            )  # fmt: skip
        axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.02), xlabel=across, ylabel=up)
        axes.set_aspect("equal")
        axes.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, title=title,
            title_fontsize=9.5,
        )  # fmt: skip

    words = ", ".join(f"{model} {value}" for model, value in values.items())
    return draw(name, 5.6, 6.6, f"{what}: {words}.", paint)


def reliability_plot(evaluation: Evaluation) -> Markup:
    """Observed share over the probability predicted, with 90 % intervals.

    Of kinds, how often the likeliest one was observed.
    """
    chosen, labelled = evaluation.chosen, evaluation.labelled
    events = evaluation.goal.events(evaluation.predictions[chosen], labelled.values)
    assert events is not None
    predicted, happened = events
    points = metrics.reliability(predicted, happened, labelled.weight)

    def paint(figure: Figure) -> None:
        axes, below = figure.subplots(2, 1, height_ratios=[5, 1], sharex=True)
        axes.plot([0, 1], [0, 1], color="#c3ccd3", lw=1.2, zorder=1, label="perfectly calibrated")
        middle = np.clip(points.observed, points.low, points.high)
        errors = np.stack([middle - points.low, points.high - middle])
        axes.errorbar(
            points.predicted, middle, yerr=errors, fmt="o", color=BLUE, ecolor="#7fb2d4",
            elinewidth=1.6, capsize=3, ms=6, label=f"{printable(chosen, 24)}, with 90 % interval",
        )  # fmt: skip
        axes.set(ylabel="share observed", ylim=(-0.03, 1.03), xlim=(-0.02, 1.02))
        axes.legend(loc="upper left")
        bins = np.linspace(0, 1, 21).tolist()
        below.hist(predicted, bins=bins, weights=labelled.weight, color="#7fb2d4")
        below.set(xlabel="probability predicted", ylabel="batches")

    pairs = zip(points.predicted, points.observed, strict=True)
    words = "; ".join(f"predicted {p:.0%}, observed {o:.0%}" for p, o in pairs)
    return draw("reliability", 5.6, 5.3, f"Reliability of {chosen}: {words}.", paint)


def observed_plot(evaluation: Evaluation) -> Markup:
    """Observed over predicted: the median of quantiles, or each share."""
    goal, chosen = evaluation.goal, evaluation.chosen
    values = evaluation.labelled.values.reshape(len(evaluation.labelled), -1)
    ranks = goal.ranks(evaluation.predictions[chosen])
    names = goal.output.columns if values.shape[1] > 1 else ("median",)

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for k, (name, predicted) in enumerate(zip(names, ranks, strict=True)):
            axes.scatter(
                predicted, values[:, k], s=8, alpha=0.4, color=PALETTE[k % len(PALETTE)],
                label=printable(name, 24), rasterized=True,
            )  # fmt: skip
        ends = [float(min(values.min(), *(one.min() for one in ranks))),
                float(max(values.max(), *(one.max() for one in ranks)))]  # fmt: skip
        axes.plot(ends, ends, color="#c3ccd3", lw=1.2, zorder=1)
        scale = f", ln(1 + {goal.unit})" if isinstance(goal, Quantiles) and goal.log else ""
        axes.set(xlabel=f"predicted{scale}", ylabel=f"observed{scale}")
        axes.legend(loc="upper left")

    words = f"Observed over predicted by {chosen}, {len(values)} decisions."
    return draw("observed", 5.6, 5.3, words, paint)


def cost_plot(evaluation: Evaluation, wasted_run: float, lost_job: float) -> Markup:
    """Cost per decision of each way to decide, split into wasted runs and lost jobs."""
    names = sorted(evaluation.costs, key=lambda name: (-evaluation.costs[name].cost, name))
    wasted = np.array([evaluation.costs[name].wasted * wasted_run for name in names])
    lost = np.array([evaluation.costs[name].lost * lost_job for name in names])

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        places = np.arange(len(names))
        axes.barh(places, wasted, color=ORANGE, label="runs wasted", height=0.66)
        axes.barh(places, lost, left=wasted, color=BLUE, label="jobs lost", height=0.66)
        for place, total in zip(places, wasted + lost, strict=True):
            axes.text(float(total), float(place), f" {total:.2f}", va="center", color=BLACK)
        labels = [printable(name.replace("_", " "), 26) for name in names]
        axes.set_yticks(places, labels)
        for label, name in zip(axes.get_yticklabels(), names, strict=True):
            label.set_fontweight("bold" if name == evaluation.chosen else "normal")
        axes.grid(visible=False, axis="y")
        axes.set(xlabel="cost per decision, in wasted runs", xlim=(0, 1.12 * max(wasted + lost)))
        axes.legend(loc="upper right", framealpha=0.9, frameon=True, edgecolor="none")

    words = ", ".join(f"{n} {w + x:.2f}" for n, w, x in zip(names, wasted, lost, strict=True))
    height = 1.1 + 0.3 * len(names)
    return draw("costs", 5.6, height, f"Cost per decision, worst first: {words}.", paint)


def slices_plot(rows: Sequence[Mapping[str, Any]]) -> Markup:
    """What was predicted and observed, over slices of time."""

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        places = np.arange(len(rows))
        observed = [row["base_rate"] or 0.0 for row in rows]
        predicted = [row["predicted"] or 0.0 for row in rows]
        axes.bar(places - 0.19, predicted, 0.36, color=BLUE, label="predicted")
        axes.bar(places + 0.19, observed, 0.36, color=GREEN, label="observed")
        labels = [printable(row["value"], 30) for row in rows]
        axes.set_xticks(places, labels, rotation=30, ha="right")
        axes.grid(visible=False, axis="x")
        axes.set(ylabel="share", ylim=(0, max([0.5, *observed, *predicted]) * 1.15))
        axes.legend(loc="upper right", ncols=2)

    words = "; ".join(
        f"{row['value']}: predicted {row['predicted'] or 0:.0%}, "
        f"observed {row['base_rate'] or 0:.0%}"
        for row in rows
    )
    return draw("slices", 5.6, 3.3, f"Shares by time: {words}.", paint)


def importance_plot(
    rows: Sequence[tuple[str, float, float | None, float | None]], axis: str, name: str
) -> Markup:
    """What the model loses without each feature, or family of features."""

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        places = np.arange(len(rows))[::-1]
        for place, (_, loss, low, high) in zip(places, rows, strict=True):
            axes.barh(place, loss, color=BLUE if loss >= 0 else RED, height=0.64)
            if low is not None and high is not None:
                axes.plot([low, high], [place, place], color=BLACK, lw=1.1)
        axes.set_yticks(places, [printable(row[0], 44) for row in rows])
        axes.axvline(0, color=BLACK, lw=0.8)
        axes.grid(visible=False, axis="y")
        axes.set(xlabel=axis)

    words = ", ".join(f"{row[0]} {row[1]:.3f}" for row in rows)
    height = 1.0 + 0.27 * len(rows)
    return draw(name, 5.6, height, f"Most important first, {axis}: {words}.", paint)


_SHADES = ["#ffffff", "#f6b26b", "#c2410c", "#5b1a05"]


def timeline_plot(
    timeline: PoolTimeline, moment: int | None, borders: Sequence[int] = ()
) -> Markup:
    """Three strips over one axis of time: holds by cause, jobs held, and how jobs ended.

    `moment`, of the answers, and `borders`, where parts of the training end, are marked (µs).
    """

    def paint(figure: Figure) -> None:
        rows = len(timeline.holds)
        strips = figure.subplots(3, 1, height_ratios=[0.36 * rows, 1.2, 1.4], sharex=True)
        _paint_holds(strips[0], timeline)
        strips[1].fill_between(
            days(timeline.edges[1:]), timeline.held, color="#c9b3d6", step="pre", lw=0
        )
        strips[1].set(ylabel="jobs held", ylim=(0, None))
        _paint_ends(strips[2], timeline)
        for strip in strips:
            _mark(strip, moment, borders, named=strip is strips[0])
        strips[2].set_xlim(*days(timeline.edges[[0, -1]]))
        strips[2].set_xlabel("time in the log (UTC)")
        clock_axis(strips[2])

    total = {kind: int(count.sum()) for kind, count in timeline.holds.items()}
    counts = ", ".join(f"{kind} {count}" for kind, count in total.items())
    peak = format_micros(int(timeline.edges[int(np.argmax(timeline.held)) + 1]))[11:19]
    words = f"The pool over time. Holds by cause: {counts}. Most jobs were held at {peak}."
    height = 3.6 + 0.33 * len(timeline.holds)
    return draw("timeline", 11.2, height, words, paint)


def _paint_holds(axes: Axes, timeline: PoolTimeline) -> None:
    """One row per cause, the deeper the colour the more: an outage is a stretch of deep colour."""
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm

    names = list(timeline.holds)
    counts = np.array([timeline.holds[name] for name in names], np.float64).reshape(len(names), -1)
    most = counts.max(initial=1.0)
    shades = LinearSegmentedColormap.from_list("holds", _SHADES)
    ends = days(timeline.edges[[0, -1]])
    axes.imshow(
        counts, cmap=shades, norm=PowerNorm(0.6, 0.0, most), aspect="auto", interpolation="none",
        extent=(ends[0], ends[1], len(names) - 0.5, -0.5),
    )  # fmt: skip
    axes.set_yticks(np.arange(len(names)), names)
    axes.grid(visible=False)
    for border in range(1, len(names)):
        axes.axhline(border - 0.5, color="white", lw=3)
    for place, total in enumerate(counts.sum(axis=1)):
        axes.text(
            1.008, place, f"{total:.0f}", va="center", transform=axes.get_yaxis_transform(),
            color="#52606d",
        )  # fmt: skip
    span = format_span((timeline.edges[1] - timeline.edges[0]) / SECOND)
    words = f"holds by cause, per {span}: the deeper the colour the more, at most {most:.0f}"
    axes.set_title(words, pad=20)


def _paint_ends(axes: Axes, timeline: PoolTimeline) -> None:
    edges = days(timeline.edges)
    width = np.diff(edges)
    axes.bar(
        edges[:-1], timeline.succeeded, width=width, align="edge", color="#7cc4ae", lw=0,
        label="ended with return value 0",
    )  # fmt: skip
    if timeline.failed.any():
        axes.bar(
            edges[:-1], -timeline.failed, width=width, align="edge", color="#e08a4f", lw=0,
            label="ended otherwise (below)",
        )  # fmt: skip
    axes.axhline(0, color=BLACK, lw=0.6)
    top = max(1.0, 1.55 * timeline.succeeded.max(initial=0))
    axes.set(ylabel="jobs ended", ylim=(-1.1 * timeline.failed.max(initial=0) - 0.05 * top, top))
    axes.legend(loc="upper left", ncols=2)


def _mark(axes: Axes, moment: int | None, borders: Sequence[int], *, named: bool) -> None:
    for border in borders:
        axes.axvline(days([border])[0], color=GREY, lw=0.9, ls=(0, (4, 3)))
    if borders and named:
        place = days(borders[-1:])[0]
        axes.annotate(
            "◂ trained on what is before  ", (place, 1.015), xycoords=("data", "axes fraction"),
            ha="right", color="#52606d", fontsize=9,
        )  # fmt: skip
    if moment is not None:
        place = days([moment])[0]
        axes.axvline(place, color=BLACK, lw=1.8)
        if named:
            axes.annotate(
                "▸ the moment asked about", (place, 1.015), xycoords=("data", "axes fraction"),
                ha="left", color=BLACK, fontsize=9, fontweight="bold",
            )  # fmt: skip


def frames_plot(
    frames: NDArray[np.uint8], state_events: Sequence[int], timeframe: float, job: str
) -> Markup:
    """The frames of one held job and the jobs next to it, oldest to the left.

    Frames are uint8 (m, j), oldest first, slice 0 the job itself; `timeframe` is seconds per frame.
    """
    there = [int(value) for value in np.unique(frames)]
    names = {k: f"{code:03d} {event_name(code)}" for k, code in enumerate(state_events, 1)}
    names[0] = "not there yet"
    colours = {0: "#f7f9fa"}
    for value, code in enumerate(state_events, 1):
        colours[value] = _STATE_COLOURS.get(code, PALETTE[code % len(PALETTE)])

    def paint(figure: Figure) -> None:
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Patch

        axes = figure.subplots()
        places = np.searchsorted(there, frames)
        axes.pcolormesh(
            places.T, cmap=ListedColormap([colours[value] for value in there]),
            vmin=-0.5, vmax=len(there) - 0.5, edgecolors="white", linewidth=1.2,
        )  # fmt: skip
        axes.invert_yaxis()
        axes.grid(visible=False)
        rows = [printable(job, 24), *(f"other {k}" for k in range(1, frames.shape[1]))]
        axes.set_yticks(np.arange(len(rows)) + 0.5, rows)
        axes.get_yticklabels()[0].set_fontweight("bold")
        axes.axhline(1, color=BLACK, lw=1.4)
        m = len(frames)
        shown = np.unique(np.linspace(0, m - 1, 7).round().astype(int))
        labels = [
            "now" if k == m - 1 else f"{format_span((m - 1 - k) * timeframe)} before" for k in shown
        ]
        axes.set_xticks(shown + 0.5, labels)
        patches: list[Any] = [Patch(color=colours[value], label=names[value]) for value in there]
        axes.legend(handles=patches, loc="upper left", bbox_to_anchor=(1.01, 1.0))

    states = frames[:, 0]
    begins = np.append(True, states[1:] != states[:-1])
    own = ", ".join(names[int(value)] for value in states[begins])
    words = f"Frames of job {job} and others. Its own states: {own}."
    return draw("frames", 11.2, 1.3 + 0.25 * frames.shape[1], words, paint)


_STATE_COLOURS = {
    0: "#dfe3e6", 1: "#56B4E9", 40: "#a6d5f2", 4: "#F0E442", 5: "#009E73", 7: "#8a5a00",
    9: "#1b2733", 12: "#D55E00", 13: "#CC79A7", 10: "#b9a5d6", 11: "#8fd0ff", 21: "#8c564b",
    22: "#b07a9e", 23: "#7fbf7f", 24: "#7a7a7a",
}  # fmt: skip
