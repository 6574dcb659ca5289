"""The parts of the report that show how runs learned, what they cost and why some failed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from jobsight.format import memory, percent
from jobsight.learning.sweep.runrecord import Attempt
from jobsight.reports.page import Markup, element, figure, join, section, table
from jobsight.reports.sweep.curves import curves_plot
from jobsight.reports.sweep.data import Run, SweepData
from jobsight.reports.sweep.importance import contrast
from jobsight.reports.sweep.scales import Floats, column, short
from jobsight.reports.sweep.scatter import scatter_plot, search_plot
from jobsight.reports.sweep.timeline import NOWHERE, places_of, timeline_plot
from jobsight.reports.sweep.words import hours_words, parameter_words
from jobsight.text import counted, printable

__all__ = ["cost_part", "curves_part", "failures_part"]

_MOST_CAUSES = 40
_MOST_NUMBERS = 12


def curves_part(data: SweepData) -> Markup | None:
    """Learning curves, and the best so far."""
    if not any(len(run.epochs) for run in data.runs):
        return None
    legend = element(
        "span",
        element("span", element("i", class_="key starkey"), "best run"),
        element("span", element("i", class_="key stopkey"), "stopped early"),
        element("span", element("i", class_="key resumekey"), "evicted here, then resumed"),
        class_="legend",
    )
    found = element("p", _how_found(data)) if len(data.judged) else None
    return section(
        "How they learned",
        element(
            "div",
            figure(
                curves_plot(data, "select"),
                join([legend, "Loss on the rows held back to stop the training."]),
            ),
            figure(curves_plot(data, "train"), "Loss on the train part: where it falls while "
                   "the other rises, a run learns by heart."),
            class_="pair",
        ),
        element("h3", "How the search went") if found else None,
        element("div", figure(search_plot(data), "The best so far, as runs ended."), found,
                class_="pair") if found else None,
        lead="Colours are those of the first picture: the better a run became, the more it stands "
        "out.",
    )  # fmt: skip


def _how_found(data: SweepData) -> str:
    """When the best was found, and what more runs would likely bring."""
    ended = sorted(
        data.judged.tolist(),
        key=lambda place: (data.runs[place].ended or 0, data.runs[place].number),
    )
    assert data.best is not None  # there are judged runs
    at = ended.index(data.best) + 1
    words = f"The best run was number {at:,} of the {len(ended):,} that ended with a metric. "
    values = data.values[ended]
    half = values[: len(values) // 2]
    if len(half) < 10:
        return words + "So few runs say little about what more of them would bring."
    best = half.max() if data.maximize else half.min()
    gained = abs(float(data.values[data.best] - best))
    spread = float(np.subtract(*np.quantile(values, [0.75, 0.25])))
    gain = f"The second half of the search gained {short(gained, 2) if gained else 'nothing'}"
    gain += f" in {data.metric}"
    if spread > 0:
        gain += f", next to a middle half of runs that spans {short(spread, 2)}"
    return words + gain + "."


def cost_part(data: SweepData) -> Markup | None:
    """Time, memory, and where the runs worked."""
    if not any(run.attempts for run in data.runs):
        return None
    picture = timeline_plot(data)
    seconds = column("wall seconds", [run.seconds for run in data.runs])
    epochs = column("epochs", [len(run.epochs) or None for run in data.runs])
    panels = [
        element(
            "figure",
            element("figcaption", element("b", one.name), element("span", words, class_="unsure")),
            scatter_plot(data, one),
            class_="panel",
        )
        for one, words in (
            (seconds, "does longer training pay?"),
            (epochs, "do more epochs?"),
        )
        if len(data.judged) and one.varies
    ]
    return section(
        "Time and cost",
        element("dl", *_amounts(data)),
        None if picture is None else figure(
            picture, "A bar is an attempt, a row of bars a machine; colours as above, a stroke at "
            "the end where it was evicted or cut off. Times are UTC.", class_="wide",
        ),
        _places(data),
        element("div", *panels, class_="panels") if panels else None,
        lead="What the whole search took, whatever came of it.",
    )  # fmt: skip


def _amounts(data: SweepData) -> list[Markup]:
    runs = data.runs
    walls = np.array([run.seconds for run in runs if run.seconds], np.float64)
    cpus = np.array([run.cpu_seconds for run in runs if run.cpu_seconds is not None], np.float64)
    each = np.concatenate([np.zeros(0), *(run.epoch_seconds for run in runs)])
    each = each[np.isfinite(each)]
    peaks = np.array([run.peak_bytes for run in runs if run.peak_bytes], np.float64)
    done = sum(len(run.epochs) + run.repeated for run in runs)
    evicted = sum(run.evictions for run in runs)
    repeated = sum(run.repeated for run in runs)
    rows = [
        (
            "Training, in all",
            f"{hours_words(float(walls.sum()))} of wall time"
            + (f", {hours_words(float(cpus.sum()))} of processor time" if len(cpus) else ""),
        )
    ]
    if len(walls):
        rows.append(("A run", _spread(walls, hours_words)))
    if len(each):
        rows.append(("An epoch", _spread(each, hours_words)))
    if len(peaks):
        rows.append(("Peak memory of a run", _spread(peaks / 2**20, memory)))
    rows.append(("Evictions", f"{counted(evicted, 'attempt')} cut short; "
                 f"{counted(repeated, 'epoch')} of {done:,} trained again"
                 + (f" ({percent(repeated / done)})" if done and repeated else "")))  # fmt: skip
    return [part for name, words in rows for part in (element("dt", name), element("dd", words))]


def _spread(values: Floats, words: Callable[[float], str]) -> str:
    many = len(values) >= 20
    ends = [0.05, 0.5, 0.95] if many else [0.0, 0.5, 1.0]
    low, middle, high = (words(float(v)) for v in np.quantile(values, ends))
    return f"{middle} (median); {'nine of ten' if many else 'all'} between {low} and {high}"


def _places(data: SweepData) -> Markup:
    """Sums by machine: what the picture shows, as numbers."""
    named = places_of(data)
    there: dict[str, list[tuple[int, Attempt]]] = defaultdict(list)
    for run in data.runs:
        for attempt in run.attempts:
            there[named[attempt.host or NOWHERE]].append((run.number, attempt))
    spent = {name: sum(one.seconds for _, one in found) for name, found in there.items()}
    rows = [
        [
            printable(name, 80),
            f"{len({run for run, _ in there[name]}):,}",
            f"{len(there[name]):,}",
            f"{sum(one.cut_short for _, one in there[name]):,}",
            hours_words(spent[name]),
        ]
        for name in sorted(there, key=lambda name: (-spent[name], name))
    ]
    return table(
        ["machine", "runs", "attempts", "cut short", "trained"],
        rows,
        caption="Where the runs worked.",
    )


def failures_part(data: SweepData) -> Markup | None:
    """Why runs failed or were dropped, and what they had in common."""
    kinds = [
        ("failed", "Failed", "These ended by their own parameters. They took no other run with "
         "them, and count nowhere above."),
        ("dropped", "Dropped", "Hopeless next to the others at that time, so their machines went "
         "to better ones."),
    ]  # fmt: skip
    parts = [
        part
        for status, title, lead in kinds
        if (part := _failures(data, status, title, lead)) is not None
    ]
    return section("What failed, what was dropped", *parts) if parts else None


def _failures(data: SweepData, status: str, title: str, lead: str) -> Markup | None:
    causes: dict[str, list[Run]] = defaultdict(list)
    for run in data.runs:
        if run.status == status:
            causes[printable(run.cause or "no cause was recorded", 300)].append(run)
    if not causes:
        return None
    order = sorted(causes, key=lambda cause: (-len(causes[cause]), cause))
    rows = [
        [
            cause,
            f"{len(causes[cause]):,}",
            _numbers(causes[cause]),
            _common(data, causes[cause]),
        ]
        for cause in order[:_MOST_CAUSES]
    ]
    more = len(order) - len(rows)
    return join(
        [
            element("h3", f"{title}: {counted(sum(map(len, causes.values())), 'run')}"),
            table(
                ["cause", "runs", "which", "what sets them apart"],
                rows,
                caption=lead + (f" {more} more causes are not listed." if more > 0 else ""),
                text_columns=(0, 2, 3),
            ),
        ]
    )


def _numbers(runs: list[Run]) -> Markup:
    links = [element("a", str(run.number), href=f"#r{run.number}") for run in runs[:_MOST_NUMBERS]]
    more = len(runs) - len(links)
    return join([join(links, ", "), f" and {more:,} more" if more > 0 else None])


def _common(data: SweepData, runs: list[Run]) -> str:
    """The parameter in which these runs differ most from those that ended well."""
    if len(runs) == 1:
        return parameter_words(runs[0])
    numbers = {run.number for run in runs}
    inside = np.array([k for k, run in enumerate(data.runs) if run.number in numbers])
    clear, words = contrast(data.columns, inside, data.judged)
    return words if clear >= 0.75 else "no single parameter"
