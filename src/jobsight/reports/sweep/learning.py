"""The parts of the report that show how runs learned, what they cost and why some failed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from jobsight.format import memory, percent, span
from jobsight.reports.page import Markup, element, figure, join, section, table
from jobsight.reports.sweep.material import Material, Run
from jobsight.reports.sweep.pictures import curves_plot, parameter_words, search_plot
from jobsight.reports.sweep.scales import Floats, short
from jobsight.text import counted, printable

__all__ = ["cost_part", "curves_part", "failures_part"]

_MOST_CAUSES = 40
_MOST_NUMBERS = 12


def curves_part(material: Material) -> Markup | None:
    """Learning curves, and the best so far."""
    if not any(len(run.epochs) for run in material.runs):
        return None
    found = element("p", _how_found(material)) if len(material.judged) else None
    hidden = len(material.judged) - len(material.drawn)
    return section(
        "How they learned",
        element(
            "div",
            figure(curves_plot(material, "select"), "Loss on the select part."),
            figure(curves_plot(material, "train"), "Loss on the train part: where it falls while "
                   "the other rises, a run learns by heart."),
            class_="pair",
        ),
        element("h3", "How the search went") if found else None,
        element("div", figure(search_plot(material), "The best so far, as runs ended."), found,
                class_="pair") if found else None,
        lead="The better a run became, the darker it is; the best run is orange."
        + (f" {hidden:,} of the weaker runs are not drawn." if hidden else ""),
    )  # fmt: skip


def _how_found(material: Material) -> str:
    """When the best was found, and what more runs would likely bring."""
    ended = material.in_order
    assert material.best is not None  # there are judged runs
    at = ended.index(material.best) + 1
    words = f"The best run was number {at:,} of the {len(ended):,} that ended with a metric. "
    values = material.values[ended]
    half = values[: len(values) // 2]
    if len(half) < 10:
        return words + "So few runs say little about what more of them would bring."
    best = half.max() if material.maximize else half.min()
    gained = abs(float(material.values[material.best] - best))
    spread = float(np.subtract(*np.quantile(values, [0.75, 0.25])))
    words += f"The second half of the search gained {short(gained, 2) if gained else 'nothing'}"
    words += f" in {material.metric}"
    if spread > 0:
        words += f", next to a middle half of runs that spans {short(spread, 2)}"
    return words + "."


def cost_part(material: Material) -> Markup | None:
    """Time and memory of the runs."""
    if not any(run.hosts for run in material.runs):
        return None
    return section("Time and cost", element("dl", *_amounts(material)),
                   lead="What the whole search took.")  # fmt: skip


def _amounts(material: Material) -> list[Markup]:
    runs = material.runs
    walls = np.array([run.seconds for run in runs if run.seconds], np.float64)
    cpus = np.array([run.cpu_seconds for run in runs if run.cpu_seconds is not None], np.float64)
    each = np.concatenate([np.zeros(0), *(run.epoch_seconds for run in runs)])
    each = each[np.isfinite(each)]
    peaks = np.array([run.peak_bytes for run in runs if run.peak_bytes], np.float64) / 2**20
    done = sum(len(run.epochs) + run.repeated for run in runs)
    evicted = sum(run.evictions for run in runs)
    repeated = sum(run.repeated for run in runs)
    rows = [
        (
            "Training, in all",
            f"{span(float(walls.sum()))} of wall time"
            + (f", {span(float(cpus.sum()))} of processor time" if len(cpus) else ""),
        )
    ]
    if len(walls):
        rows.append(("A run", _spread(walls, _spent)))
    if len(each):
        rows.append(("An epoch", _spread(each, _spent)))
    if len(peaks):
        rows.append(("Peak memory of a run", _spread(peaks, memory)))
    rows.append(("Evictions", f"{counted(evicted, 'attempt')} cut short; "
                 f"{counted(repeated, 'epoch')} of {done:,} trained again"
                 + (f" ({percent(repeated / done)})" if done and repeated else "")))  # fmt: skip
    return [part for name, words in rows for part in (element("dt", name), element("dd", words))]


def _spent(seconds: float) -> str:
    return f"{short(seconds, 2)} s" if seconds < 10 else span(seconds)


def _spread(values: Floats, words: Callable[[float], str]) -> str:
    many = len(values) >= 20
    ends = [0.05, 0.5, 0.95] if many else [0.0, 0.5, 1.0]
    low, middle, high = (words(float(v)) for v in np.quantile(values, ends))
    return f"{middle} (median); {'nine of ten' if many else 'all'} between {low} and {high}"


def failures_part(material: Material) -> Markup | None:
    """Why runs failed."""
    causes: dict[str, list[Run]] = defaultdict(list)
    for run in material.runs:
        if run.status == "failed":
            causes[printable(run.cause or "no cause was recorded", 300)].append(run)
    if not causes:
        return None
    order = sorted(causes, key=lambda cause: (-len(causes[cause]), cause))
    rows = [
        [cause, f"{len(causes[cause]):,}", _numbers(causes[cause]),
         parameter_words(causes[cause][0])]
        for cause in order[:_MOST_CAUSES]
    ]  # fmt: skip
    more = len(order) - len(rows)
    return section(
        "What failed",
        table(
            ["cause", "runs", "which", "parameters of the first"],
            rows,
            caption="These ended by their own parameters. They took no other run with them, and "
            "count nowhere above." + (f" {more} more causes are not listed." if more > 0 else ""),
            text_columns=(0, 2, 3),
        ),
    )


def _numbers(runs: list[Run]) -> Markup:
    links = [element("a", str(run.number), href=f"#r{run.number}") for run in runs[:_MOST_NUMBERS]]
    more = len(runs) - len(links)
    return join([join(links, ", "), f" and {more:,} more" if more > 0 else None])
