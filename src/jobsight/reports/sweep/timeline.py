"""Where and when runs worked: a lane a slot, a bar an attempt, machine by machine."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jobsight.reports.drawing import BLACK, GREY, GRID, clock_axis, days, draw
from jobsight.reports.page import Markup
from jobsight.reports.sweep.data import SweepData
from jobsight.reports.sweep.plotting import BEST, FAILED, RANKS, links, titles
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["NOWHERE", "places_of", "timeline_plot"]

NOWHERE = "unknown"
_OTHERS = "other machines"
_MOST_PLACES = 14
_HEIGHT = 420.0
"""Points that all lanes share; a lane has at least `_THINNEST`."""

_LAST = 253_402_300_799_000_000
"""µs; the end of the year 9999: what is dated later was not dated by a clock."""

_THICKEST, _THINNEST = 12.0, 1.2
_GAP = 9.0


@dataclass
class _Bar:
    place: int
    start: int
    end: int
    cut_short: bool
    lane: int = 0


def places_of(data: SweepData) -> dict[str, str]:
    """What each machine is shown as: itself, or its domain where machines are many."""
    hosts = Counter(a.host or NOWHERE for run in data.runs for a in run.attempts)
    if len(hosts) <= _MOST_PLACES:
        return {host: host for host in hosts}
    domains = {host: host.partition(".")[2] or host for host in hosts}
    counts: Counter[str] = Counter()
    for host, number in hosts.items():
        counts[domains[host]] += number
    kept = {name for name, _ in counts.most_common(_MOST_PLACES - 1)}
    return {host: name if name in kept else _OTHERS for host, name in domains.items()}


def timeline_plot(data: SweepData) -> Markup | None:
    """One bar per attempt over time; None where no attempt has both its start and its end."""
    named = places_of(data)
    rows: dict[str, list[_Bar]] = {}
    for place, run in enumerate(data.runs):
        for attempt in run.attempts:
            start, end = attempt.started or 0, attempt.last or 0
            if _LAST >= end >= start > 0:
                bar = _Bar(place, start, end, attempt.cut_short)
                rows.setdefault(named[attempt.host or NOWHERE], []).append(bar)
    if not rows:
        return None
    lanes = {name: _pack(bars) for name, bars in sorted(rows.items())}
    thick = min(_THICKEST, max(_THINNEST, _HEIGHT / sum(lanes.values())))
    rooms = {name: max(number * thick, _THICKEST) for name, number in lanes.items()}

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        top, middles = 0.0, []
        for name, room in rooms.items():
            _add_bars(axes, data, rows[name], top, thick)
            middles.append(top + room / 2)
            top += room + _GAP
            axes.axhline(top - _GAP / 2, color=GRID, lw=0.8)
        axes.set_yticks(middles, [printable(name, 24) for name in rooms])
        axes.set_ylim(top - _GAP / 2, -_GAP / 2)
        axes.grid(visible=False, axis="y")
        bars = [bar for row in rows.values() for bar in row]
        first, last = min(bar.start for bar in bars), max(bar.end for bar in bars)
        axes.set_xlim(*days([first, max(last, first + 1)]))
        clock_axis(axes)

    words = (
        f"When and where the runs worked: {counted(sum(map(len, rows.values())), 'attempt')} on "
        f"{counted(len(lanes), 'machine')} or groups of these. The table below has their sums."
    )
    height = 0.7 + (sum(rooms.values()) + _GAP * len(rooms)) / 72
    there = sorted({bar.place for bars in rows.values() for bar in bars})
    return draw("timeline", 10.6, height, words, paint, titles=titles(data, there))


def _pack(bars: list[_Bar]) -> int:
    """Give each bar the first lane that is free; the number of lanes."""
    free: list[int] = []
    for bar in sorted(bars, key=lambda one: (one.start, one.place)):
        for lane, until in enumerate(free):
            if until <= bar.start:
                bar.lane = lane
                free[lane] = bar.end
                break
        else:
            bar.lane = len(free)
            free.append(bar.end)
    return len(free)


def _add_bars(axes: Axes, data: SweepData, bars: list[_Bar], top: float, thick: float) -> None:
    """The attempts of one machine, each a link to its run; a stroke where one was cut short."""
    from matplotlib.collections import PolyCollection

    air = 1.5 if thick > 6 else 0.3
    start, end = (days([getattr(bar, name) for bar in bars]) for name in ("start", "end"))
    high = top + thick * np.array([bar.lane for bar in bars])
    low = high + thick - air
    corners = [(start, high), (end, high), (end, low), (start, low)]
    shapes = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)  # (bars, 4, 2)
    filled = PolyCollection(
        list(shapes), facecolors=[_colour(data, bar) for bar in bars], linewidths=0.4,
        edgecolors="face", urls=links(data, (bar.place for bar in bars)),
    )  # fmt: skip
    axes.add_collection(filled, autolim=False)
    cut = [bar.cut_short for bar in bars]
    axes.vlines(end[cut], high[cut], low[cut], color=BLACK, lw=1.6)


def _colour(data: SweepData, bar: _Bar) -> str:
    if bar.place == data.best:
        return BEST
    run, shade = data.runs[bar.place], data.shades[bar.place]
    return FAILED if run.status == "failed" else RANKS[shade] if shade >= 0 else GREY
