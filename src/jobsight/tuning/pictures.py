"""The pictures of a sweep's report: Optuna's plots in the style of our pages, as inline SVG."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from optuna.exceptions import ExperimentalWarning
from optuna.trial import FrozenTrial

from jobsight.format import percent, short
from jobsight.reports.drawing import (
    BLACK,
    BLUE,
    GREY,
    GRID,
    ORANGE,
    clock_axis,
    days,
    draw,
    styled,
    to_svg,
)
from jobsight.reports.page import Markup
from jobsight.text import counted, printable
from jobsight.tuning.sweepdata import (
    FEW_RUNS,
    STATUSES,
    SweepData,
    evenly,
    study_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

__all__ = ["MOST_DRAWN", "MOST_LINES", "contour_plot", "curves_plot", "history_plot",
           "importances_plot", "parallel_plot", "slice_plot", "timeline_plot"]  # fmt: skip

MOST_DRAWN = 400
"""Runs in one picture; of more, the best half as many and an even choice of the others."""
MOST_LINES = 80
"""Runs drawn as lines, chosen likewise."""
_FEWEST_DRAWN = 5
MOST_AXES = 9
_MOST_VECTORS = 400
"""Marks in one picture that are drawn as such; of more, as an image."""

BEST, FAILED, PRUNED = "#d9480f", "#a3336b", "#b08a3e"
_STATUS_COLOURS = {
    "finished": BLUE,
    "early": "#56a5b9",
    "pruned": PRUNED,
    "failed": FAILED,
    "cancelled": GREY,
    "running": ORANGE,
}
_SHADES = ("#cfd6dc", "#83bcc4", "#2d86a3", "#1b3f7a")
"""From the worst to the best."""
_SOFT, _EDGE = "#37444f", "#a7b2bb"


def _by_optuna(
    name: str,
    size: tuple[float, float],
    words: str,
    plot: Callable[[Any], Any],
    finish: Callable[[Axes], None],
) -> Markup:
    """A plot of Optuna's as an inline SVG.

    Args:
        name: of the figure on its page.
        size: width and height in inches.
        words: what it shows, for readers who do not see it.
        plot: calls the function of the module that it is given, `optuna.visualization.matplotlib`.
        finish: changes what that function draws.
    """
    with styled(name), warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        from matplotlib import pyplot
        from optuna.visualization import matplotlib as plots

        pyplot.switch_backend("agg")  # opens no window, whatever display there is
        axes = plot(plots)
        figure = axes.figure
        try:
            figure.set_size_inches(*size)
            figure.set_layout_engine("constrained")
            figure.set(facecolor="none", dpi=144)
            axes.set(title="", facecolor="none")
            axes.grid(color=GRID, linewidth=0.8)
            for each in figure.axes:
                each.tick_params(colors=_SOFT, labelsize=8.5)
                for axis in (each.xaxis, each.yaxis):
                    axis.label.set(color=_SOFT, fontsize=9.5)
                    if axis.get_scale() == "log":  # its own labels are formulas
                        axis.set_major_formatter(lambda value, _: f"{value:g}")
                        axis.set_minor_formatter("")
            for side, spine in axes.spines.items():
                spine.set(color=_EDGE, visible=side in ("left", "bottom"))
            finish(axes)
            return to_svg(figure, words)
        finally:
            pyplot.close(figure)


def _shades(data: SweepData) -> Colormap:
    """Colours of metrics: the better, the darker."""
    from matplotlib.colors import LinearSegmentedColormap

    shades = _SHADES if data.maximize else _SHADES[::-1]
    return LinearSegmentedColormap.from_list("shades", shades)


def _limited(data: SweepData, axes: Axes) -> None:
    """Leave a few runs far worse than all others out of an axis of the metric."""
    values = [trial.value or 0.0 for trial in data.judged]
    if len(values) >= FEW_RUNS:
        best, most, worst = values[0], values[int(0.9 * (len(values) - 1))], values[-1]
        if abs(worst - best) > 3 * abs(most - best) > 0:
            low, high = sorted((best + 0.1 * (best - most), most - 0.3 * (best - most)))
            axes.set_ylim(low, high)


def _count_on(axis: Axis) -> None:
    """Label an axis with whole numbers alone."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True))


def _add_best(axes: Axes, x: Any, y: float) -> None:
    axes.scatter([x], [y], marker="*", s=150, c=BEST, edgecolors="white", zorder=5)


def history_plot(data: SweepData) -> Markup:
    """The metric of each run and the best so far, by run."""
    best = data.best

    def finish(axes: Axes) -> None:
        dots, line = axes.collections[0], axes.lines[0]
        dots.set(color=_SHADES[2], alpha=0.75, sizes=[18])
        dots.set_rasterized(len(data.judged) > _MOST_VECTORS)
        steps = np.asarray(line.get_xydata(), np.float64)
        steps = steps[np.isfinite(steps[:, 1])]
        kept = [0, *(k for k in range(1, len(steps)) if steps[k, 1] != steps[k - 1, 1]), -1]
        line.set_data(steps[kept, 0], steps[kept, 1])
        line.set(color=BEST, alpha=1.0, linewidth=1.6, drawstyle="steps-post")
        if best is not None and best.value is not None:
            _add_best(axes, best.number, best.value)
        _count_on(axes.xaxis)
        axes.xaxis.set_major_formatter(lambda place, _: f"{place + 1:.0f}")
        axes.set(xlabel="run", ylabel=data.metric)
        legend = axes.legend(handles=[dots, line], labels=["a run", "best so far"], ncols=2,
                             loc="lower left", bbox_to_anchor=(0.0, 1.0))  # fmt: skip
        legend.set_frame_on(False)
        _limited(data, axes)

    words = f"{data.metric} of {counted(len(data.judged), 'run')}, in order"
    if best is not None and best.value is not None:
        words += f"; the best, {short(best.value)}, is run {data.run(best)}"
    return _by_optuna(
        "history", (5.6, 3.5), f"{words}.",
        lambda plots: plots.plot_optimization_history(data.study), finish,
    )  # fmt: skip


def curves_plot(data: SweepData) -> Markup | None:
    """The metric after each epoch, a line per run; None where no run has two epochs."""
    ranks = {trial.number: rank for rank, trial in enumerate(data.judged)}
    there = [trial for trial in data.trials if len(trial.intermediate_values) > 1]
    there.sort(key=lambda trial: ranks.get(trial.number, len(ranks)))
    shown = evenly(there, MOST_LINES)
    if not shown:
        return None
    best = data.best

    def finish(axes: Axes) -> None:
        shades = _shades(data) if data.maximize else _shades(data).reversed()
        for line, trial in zip(axes.lines, shown, strict=True):
            rank = ranks.get(trial.number)
            place = 0.0 if rank is None else 1.0 - rank / max(len(ranks) - 1, 1)
            line.set(color=shades(place), alpha=0.9, marker="", linewidth=1.1, zorder=2 + place)
            if data.status(trial) == "pruned":
                line.set(color=PRUNED, linestyle="--")
            if best is not None and trial.number == best.number:
                line.set(color=BEST, alpha=1.0, linewidth=2.4, zorder=4)
        if (legend := axes.get_legend()) is not None:
            legend.remove()
        _count_on(axes.xaxis)
        axes.set(xlabel="epoch", ylabel=data.metric)

    words = (
        f"{data.metric} on the validation block after each epoch of {counted(len(shown), 'run')}."
    )
    study = study_of(data.study, shown)
    return _by_optuna("curves", (5.6, 3.5), words,
                      lambda plots: plots.plot_intermediate_values(study), finish)  # fmt: skip


def importances_plot(data: SweepData) -> Markup | None:
    """Bars of what each parameter says of the metric; None where runs are too few to say."""
    largest = list(data.importances.items())[:20]
    if not largest:
        return None

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        bars = axes.barh([name for name, _ in largest], [share for _, share in largest],
                         color=_SHADES[2], height=0.62)  # fmt: skip
        axes.bar_label(bars, [percent(share) for _, share in largest], padding=4, color=_SOFT)
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.margins(x=0.16)
        axes.xaxis.set_major_formatter(lambda share, _: percent(share))
        axes.set_xlabel("share of the importance of all parameters")

    words = ", ".join(f"{name} {percent(share)}" for name, share in largest)
    return draw("importances", 5.6, 0.9 + 0.3 * len(largest), f"Importances: {words}.", paint)


def _drawn(data: SweepData, names: Sequence[str], most: int = MOST_DRAWN) -> list[FrozenTrial]:
    """The judged runs with these parameters that a picture shows, worst first: the best on top.

    None where they are few, or do not differ in each of the parameters.
    """
    there = [trial for trial in evenly(data.judged, most) if set(names) <= set(trial.params)]
    differ = all(len({repr(trial.params[name]) for trial in there}) > 1 for name in names)
    return there[::-1] if differ and len(there) >= _FEWEST_DRAWN else []


def slice_plot(data: SweepData, name: str, number: int) -> Markup | None:
    """The metric against one parameter; None where runs are few or do not differ in it.

    Args:
        data: of the sweep.
        name: of the parameter.
        number: of the picture on its page.
    """
    there = _drawn(data, [name])
    if not there:
        return None
    best = data.best

    def finish(axes: Axes) -> None:
        figure = axes.figure
        for other in figure.axes[1:]:  # the colours of numbers, which say nothing here
            other.remove()
        dots = axes.collections[0]
        dots.set_array(None)
        dots.set(color=_SHADES[2], alpha=0.6, sizes=[14], edgecolors="none")
        dots.set_rasterized(len(there) > _MOST_VECTORS // 2)
        used = {trial.params[name] for trial in there}
        labels = [one for one in getattr(data.searched[name], "choices", ()) if one in used]
        if labels:  # Optuna's have quotation marks
            axes.set_xticks(range(len(labels)), [printable(label, 16) for label in labels])
        if best is not None and name in best.params and best.value is not None:
            value = best.params[name]
            _add_best(axes, labels.index(value) if value in labels else value, best.value)
        axes.set(xlabel="", ylabel=data.metric)
        _limited(data, axes)

    words = f"{data.metric} of {counted(len(there), 'run')} by {name}."
    study = study_of(data.study, there)
    return _by_optuna(
        f"slice {number}", (3.5, 2.3), words,
        lambda plots: plots.plot_slice(study, params=[name]), finish,
    )  # fmt: skip


def parallel_plot(data: SweepData) -> Markup | None:
    """One line per run through its parameters; None with one parameter or few runs."""
    names = data.ordered[:MOST_AXES]
    there = _drawn(data, names, MOST_LINES)
    if len(names) < 2 or not there:
        return None

    def finish(axes: Axes) -> None:
        (lines,) = (one for one in axes.collections if one.get_array() is not None)
        lines.set(cmap=_shades(data), linewidth=1.0, alpha=0.85)
        axes.grid(visible=False)
        for each in axes.figure.axes[1:]:
            each.grid(visible=False)
            each.set_facecolor("none")
            for spine in each.spines.values():
                spine.set_color(_EDGE)
            for tick in each.get_yticklabels():
                tick.set_bbox({"facecolor": "white", "alpha": 0.75, "pad": 0.5, "lw": 0})
        for tick in axes.get_xticklabels():
            tick.set(rotation=14, ha="right", fontsize=9.5, color=BLACK)

    words = (
        f"Each of {counted(len(there), 'run')} as a line from its {data.metric} through its values "
        f"of {', '.join(names)}."
    )
    study = study_of(data.study, there)
    return _by_optuna(
        "parallel", (10.6, 4.6), words,
        lambda plots: plots.plot_parallel_coordinate(
            study, params=names, target_name=data.metric),
        finish,
    )  # fmt: skip


def contour_plot(data: SweepData) -> Markup | None:
    """The metric over the two most important parameters, interpolated; None where runs are few."""
    names = data.ordered[:2]
    there = _drawn(data, names)
    if len(names) < 2 or len(there) < FEW_RUNS:
        return None
    first, second = names

    def finish(axes: Axes) -> None:
        for drawn in axes.collections:
            if drawn.get_array() is None:
                drawn.set(sizes=[7], alpha=0.6, linewidth=0.0)
            elif not getattr(drawn, "filled", True):
                drawn.set(linewidth=0.3, alpha=0.4)
            drawn.set_rasterized(True)
        axes.grid(visible=False)
        axes.figure.axes[1].set_ylabel(data.metric)

    words = f"{data.metric} over {first} and {second}, interpolated between {len(there)} runs."
    study = study_of(data.study, there)
    return _by_optuna("contour", (5.6, 3.9), words,
                      lambda plots: plots.plot_contour(study, params=[first, second],
                                                       target_name=data.metric),
                      finish)  # fmt: skip


def timeline_plot(data: SweepData) -> Markup | None:
    """When each run trained and how it ended; None where no run says when it started."""
    begun = [trial for trial in data.trials if data.status(trial) != "waiting"]
    spans = [(trial, span) for trial in begun if (span := data.span(trial)) is not None]
    if not spans:
        return None

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        runs = np.array([data.run(trial) for trial, _ in spans])
        statuses = np.array([data.status(trial) for trial, _ in spans])
        starts, ends = (
            days([round(span[k].timestamp() * 1e6) for _, span in spans]) for k in (0, 1)
        )
        ends = np.where(statuses == "running", ends.max(), ends)
        width = float(np.clip(200 / len(spans), 0.7, 5.0))
        for status, colour in _STATUS_COLOURS.items():
            those = np.flatnonzero(statuses == status)
            if len(those):
                bars = axes.hlines(runs[those], starts[those], ends[those], color=colour, lw=width,
                                   label=f"{STATUSES[status]} ({len(those):,})")  # fmt: skip
                bars.set_capstyle("butt")
                bars.set_rasterized(len(spans) > _MOST_VECTORS)
        clock_axis(axes)
        _count_on(axes.yaxis)
        axes.set(xlabel="time (UTC)", ylabel="run")
        axes.invert_yaxis()
        for handle in axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=6).get_lines():
            handle.set_linewidth(5)

    first, last = min(span[0] for _, span in spans), max(span[1] for _, span in spans)
    words = f"When {counted(len(spans), 'run')} trained, from {first:%Y-%m-%d %H:%M} to "
    return draw("timeline", 10.6, 3.8, f"{words}{last:%Y-%m-%d %H:%M} UTC.", paint)
