"""Pictures of a pool: its outages, and the frames of one job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jobsight.clock import format_micros, format_span
from jobsight.codes import event_name
from jobsight.history.pooltime import PoolTimeline
from jobsight.history.timelines import SECOND
from jobsight.reports.drawing import BLACK, GREY, PALETTE, clock_axis, days, draw
from jobsight.reports.page import Markup
from jobsight.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["frames_plot", "timeline_plot"]

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

    Args:
        frames: uint8 (m, j), oldest frame first, slice 0 the job itself.
        state_events: event numbers in the order of the cells' values.
        timeframe: seconds a frame.
        job: its name.
    """
    there = [int(value) for value in np.unique(frames)]
    names = {k: f"{code:03d} {event_name(code)}" for k, code in enumerate(state_events, 1)}
    names[0] = "not there yet"
    colours = {value: _state_colour(value, state_events) for value in there}

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

    own = ", ".join(names[int(value)] for value in _runs(frames[:, 0]))
    words = f"Frames of job {job} and others. Its own states: {own}."
    return draw("frames", 11.2, 1.3 + 0.25 * frames.shape[1], words, paint)


def _runs(values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The values without those that repeat the one before."""
    begins: NDArray[np.bool_] = np.append(True, values[1:] != values[:-1])
    return values[begins]


_STATE_COLOURS = {
    0: "#dfe3e6", 1: "#56B4E9", 40: "#a6d5f2", 4: "#F0E442", 5: "#009E73", 7: "#8a5a00",
    9: "#1b2733", 12: "#D55E00", 13: "#CC79A7", 10: "#b9a5d6", 11: "#8fd0ff", 21: "#8c564b",
    22: "#b07a9e", 23: "#7fbf7f", 24: "#7a7a7a",
}  # fmt: skip


def _state_colour(value: int, state_events: Sequence[int]) -> str:
    if value == 0:
        return "#f7f9fa"
    code = state_events[value - 1]
    return _STATE_COLOURS.get(code, PALETTE[code % len(PALETTE)])
