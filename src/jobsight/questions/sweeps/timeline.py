"""Where and when runs worked: a lane a slot, a bar an attempt, machine by machine."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import dataclass

from jobsight.questions.page import Markup, element
from jobsight.questions.sweeps.material import Attempt, Material
from jobsight.questions.sweeps.svg import Box, label, linked, picture, segment
from jobsight.questions.sweeps.words import run_words
from jobsight.text import counted

__all__ = ["NOWHERE", "places_of", "timeline_plot"]

NOWHERE = "not told"
_OTHERS = "other machines"
_MOST_PLACES = 14
_HEIGHT = 560.0
"""Pixels that all lanes share; a lane has at least `_THINNEST`."""

_LAST = 253_402_300_799_000_000
"""µs; the end of the year 9999: what is dated later was not dated by a clock."""

_THICKEST, _THINNEST = 15.0, 1.5
_GAP = 12.0


@dataclass
class _Bar:
    place: int
    attempt: Attempt
    start: int
    end: int
    lane: int = 0


def places_of(material: Material) -> dict[str, str]:
    """What each machine is shown as: itself, or its domain where machines are many."""
    hosts = Counter(a.host or NOWHERE for run in material.runs for a in run.attempts)
    if len(hosts) <= _MOST_PLACES:
        return {host: host for host in hosts}
    domains = {host: host.partition(".")[2] or host for host in hosts}
    counts: Counter[str] = Counter()
    for host, number in hosts.items():
        counts[domains[host]] += number
    kept = {name for name, _ in counts.most_common(_MOST_PLACES - 1)}
    return {host: name if name in kept else _OTHERS for host, name in domains.items()}


def timeline_plot(material: Material) -> Markup | None:
    """One bar an attempt over time; None where no attempt tells both its start and its end."""
    named = places_of(material)
    rows: dict[str, list[_Bar]] = {}
    for place, run in enumerate(material.runs):
        for attempt in run.attempts:
            if attempt.end is not None and _LAST >= attempt.end >= attempt.start > 0:
                bar = _Bar(place, attempt, attempt.start, attempt.end)
                rows.setdefault(named[attempt.host or NOWHERE], []).append(bar)
    if not rows:
        return None
    lanes = {name: _pack(bars) for name, bars in sorted(rows.items())}
    thick = min(_THICKEST, max(_THINNEST, _HEIGHT / sum(lanes.values())))
    least = max(thick, 16.0)
    heights = {name: max(number * thick, least) for name, number in lanes.items()}
    box = Box(
        1016, sum(heights.values()) + _GAP * len(heights) + 40,
        left=150, right=14, top=8, bottom=32,
    )  # fmt: skip
    first = min(bar.start for bars in rows.values() for bar in bars)
    last = max(bar.end for bars in rows.values() for bar in bars)
    top, parts = box.top, []
    for name in lanes:
        parts.append(
            _row(material, box, name, rows[name], top, thick, (first, max(last, first + 1)))
        )
        top += heights[name] + _GAP
    return picture(
        box,
        "When and where the runs worked",
        f"{counted(sum(map(len, rows.values())), 'attempt')} on "
        f"{counted(len(lanes), 'machine')} or groups of these. The table below has their sums.",
        _clock(box, first, max(last, first + 1)),
        *parts,
        class_="gantt",
    )


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


def _row(
    material: Material, box: Box, name: str, bars: list[_Bar], top: float, thick: float,
    span: tuple[int, int],
) -> Markup:  # fmt: skip
    scale = (box.right - box.left) / (span[1] - span[0])
    air = 1.5 if thick > 6 else 0.3
    parts = [label(box.left - 10, top + 12, name, anchor="end", class_="n", width=box.left - 12)]
    bottom = top + thick * (1 + max(bar.lane for bar in bars))
    parts.append(segment(box.left, max(bottom, top + 16) + 5, box.right, max(bottom, top + 16) + 5,
                         "g"))  # fmt: skip
    for bar in bars:
        left = box.left + (bar.start - span[0]) * scale
        wide = max((bar.end - bar.start) * scale, 1.0)
        y = top + bar.lane * thick
        parts.append(_bar(material, bar, (left, y, wide, max(thick - air, 1.0))))
    return element("g", *parts)


def _bar(material: Material, bar: _Bar, at: tuple[float, float, float, float]) -> Markup:
    run = material.runs[bar.place]
    left, top, wide, high = at
    cut = bar.attempt.ending in ("evicted", "lost")
    failed = run.status == "failed"
    best = bar.place == material.best
    kind = "bad" if failed else f"f{material.shades[bar.place]}"
    shape = element(
        "rect", x=f"{left:.1f}", y=f"{top:.1f}", width=f"{wide:.1f}", height=f"{high:.1f}",
        class_="starbar" if best else kind,
    )  # fmt: skip
    ending = {"evicted": ", evicted", "lost": ", cut off", "open": ", going on"}
    words = run_words(material, run) + ending.get(bar.attempt.ending, "")
    right = left + wide
    mark = element("path", d=f"M{right:.1f} {top:.1f}v{high:.1f}", class_="cut") if cut else None
    return linked(run.number, words, *([shape] if mark is None else [shape, mark]))


def _clock(box: Box, first: int, last: int) -> Markup:
    """Ticks of time in UTC, dates where days change."""
    seconds = (last - first) / 1e6
    steps = (
        1,
        2,
        5,
        10,
        20,
        30,
        60,
        120,
        300,
        600,
        1200,
        1800,
        3600,
        7200,
        14400,
        21600,
        43200,
        86400,
    )
    step = next((one for one in steps if seconds / one <= 9), 86400 * int(1 + seconds / 6e5))
    parts, day = [], ""
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    at = (first // 1_000_000 // step + 1) * step
    while at * 1_000_000 <= last:
        x = box.left + (at * 1e6 - first) / (last - first) * (box.right - box.left)
        moment = epoch + dt.timedelta(seconds=at)
        text = f"{moment:%H:%M}" if step >= 60 else f"{moment:%H:%M:%S}"
        if f"{moment:%d %b}" != day:
            day = f"{moment:%d %b}"
            text = f"{day} {text}" if step < 86400 else day
        parts += [segment(x, box.top, x, box.bottom, "g"),
                  label(x, box.bottom + 18, text, anchor="middle")]  # fmt: skip
        at += step
    return element("g", *parts, class_="axis")
