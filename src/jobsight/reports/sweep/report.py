"""The report of a sweep: one HTML file that stands alone, without scripts or requests."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jobsight.files import Kind, new_file, without_nan
from jobsight.format import memory
from jobsight.reports.page import Markup, card, document, element, join, report, section, table
from jobsight.reports.sweep.data import STATUSES, SweepData
from jobsight.reports.sweep.learning import cost_part, curves_part, failures_part
from jobsight.reports.sweep.reading import read_data
from jobsight.reports.sweep.runs import runs_part
from jobsight.reports.sweep.scales import short
from jobsight.reports.sweep.searching import glance_part, importances, parameters_part
from jobsight.reports.sweep.testing import gain_words, tested_part
from jobsight.reports.sweep.words import hours_words, parameter_words
from jobsight.text import counted, printable

__all__ = ["report_html", "write_report"]

_MOST_CONFIG = 60_000


def write_report(folder: Path, output: Path, kind: Kind | None = None) -> None:
    """Write the report of a sweep, however far it is; the same folder gives the same bytes.

    Args:
        folder: of the sweep.
        output: the page to write, whole or not at all.
        kind: None: it is the sweep's own page, in its folder (see `jobsight.files.new_file`).

    Raises:
        SweepError: it is no sweep's folder, or its frozen config is damaged.
        OutputError: the page cannot be written.
    """
    page = report_html(read_data(folder))
    with new_file(output, kind) as temporary:
        temporary.write_text(page, encoding="utf-8")


def report_html(data: SweepData) -> str:
    """The report as the text of an HTML page; all text from records and configs is escaped."""
    importance = importances(data)
    parts = {
        "At a glance": glance_part(data, importance),
        "Test": tested_part(data),
        "Parameters": parameters_part(data, importance),
        "Learning": curves_part(data),
        "Time and cost": cost_part(data),
        "Failures": failures_part(data),
        "All runs": runs_part(data, importance),
        "How to read this": _reading_part(),
        "Where it comes from": _provenance_part(data),
    }
    body = report(_head(data), parts)
    return document(f"Jobsight: sweep {printable(data.name, 80)}", [body], style=_style())


@cache
def _style() -> str:
    place = resources.files("jobsight.reports.sweep") / "sweep.css"
    return place.read_text(encoding="utf-8")


def _head(data: SweepData) -> Markup:
    notes = join(element("p", note) for note in data.notes)
    return element(
        "header",
        element("p", "Jobsight · sweep", class_="kicker"),
        element("h1", printable(data.name, 100)),
        element("p", _summary(data), class_="summary"),
        element("div", notes, class_="about") if notes else None,
        _status_bar(data),
        element("div", *_cards(data), class_="cards"),
    )


def _summary(data: SweepData) -> str:
    counts = data.status_counts()
    ended = sum(counts[name] for name in ("finished", "early", "dropped", "failed"))
    words = f"{ended:,} of {counted(len(data.runs), 'run')} ended. "
    if data.best is None:
        cause = "all of them failed" if len(data.failed) else "none has a metric yet"
        return f"{words}There is no best run: {cause}."
    run = data.runs[data.best]
    going = "" if run.status in ("finished", "early") else " so far, while it still trains"
    words += (
        f"Run {run.number} is the best{going}: {data.metric} {short(run.metric or 0.0)} on "
        f"the validation block, with {parameter_words(run, 8)}. "
    )
    if data.test is None:
        return words + "It was not tested yet, so nothing here says how well it will do."
    return words + gain_words(data.test)


def _status_bar(data: SweepData) -> Markup:
    """How the runs ended, as one bar and its legend."""
    counts = {name: number for name, number in data.status_counts().items() if number}
    total = max(sum(counts.values()), 1)
    bars = [
        element("span", class_=f"part s-{name}", style=f"flex-grow:{number / total:.5f}")
        for name, number in counts.items()
    ]
    legend = [
        element("li", element("i", class_=f"key s-{name}"), f"{number:,} {STATUSES[name]}")
        for name, number in counts.items()
    ]
    return join(
        [
            element("div", *bars, class_="statuses", aria_hidden="true"),
            element("ul", *legend, class_="tally"),
        ]
    )


def _cards(data: SweepData) -> list[Markup]:
    cards = []
    if data.best is not None:
        cards.append(_best_card(data))
        if (tested := _test_card(data)) is not None:
            cards.append(tested)
    runs = data.runs
    wall = sum(run.seconds or 0.0 for run in runs)
    cpu = sum(run.cpu_seconds or 0.0 for run in runs)
    peak = max((run.peak_bytes or 0 for run in runs), default=0)
    hosts = {one.host for run in runs for one in run.attempts}
    epochs = sum(len(run.epochs) for run in runs)
    cards.append(card(
        hours_words(cpu or wall), "of processor time" if cpu else "of training",
        f"{counted(epochs, 'epoch')} on {counted(len(hosts), 'machine')}"
        + (f"; at most {memory(peak / 2**20)} a run" if peak else ""),
    ))  # fmt: skip
    evicted, repeated = sum(run.evictions for run in runs), sum(run.repeated for run in runs)
    again = f"{counted(repeated, 'epoch')} had to be trained again"
    note = f"runs went on from their checkpoints; {again}" if evicted else "no run was cut short"
    name = "eviction survived" if evicted == 1 else "evictions survived" if evicted else "evictions"
    cards.append(card(f"{evicted:,}", name, note))
    return cards


def _best_card(data: SweepData) -> Markup:
    assert data.best is not None  # the caller asked
    run = data.runs[data.best]
    values = data.values[data.judged]
    middle = short(float(sorted(values)[len(values) // 2]), 3)
    epoch = "" if run.best_epoch is None else f"weights of epoch {run.best_epoch}; "
    return card(
        short(run.metric or 0.0, 3),
        f"{data.metric} of run {run.number}, on the held-back rows",
        f"{epoch}the median run has {middle}",
    )


def _test_card(data: SweepData) -> Markup | None:
    test = data.test
    if test is None or test.network not in test.models:
        return None
    auc, low, high = test.interval(test.network, "auc")
    if auc is None:
        return None
    best = test.best_baseline
    beside = "no baseline next to it" if best is None else f"the best baseline has {best:.2f}"
    interval = "" if low is None else f"95 % interval {low:.2f} to {high:.2f}; "
    return card(f"{auc:.2f}", "ROC AUC of its network, on test", f"{interval}{beside}")


_WORDS = {
    "run": "One training with one choice of parameters.",
    "validation block": "The stretch of history, later than the training, on which runs are "
    "compared. The best of many is flattered by it: only the test part says what to expect.",
    "test part": "The last stretch, looked at once, with the best run alone.",
    "baseline": "What needs no learning: a constant, the rules that sites use today, smoothed "
    "rates.",
    "share": "How much of the variance of the metric's ranks lies between runs with like values of "
    "a parameter (Kruskal and Wallis' H / (n − 1), less what chance gives; Kelley's ε²).",
    "ρ": "Spearman's rank correlation: +1, more is always better; −1, less is; 0, neither.",
    "stopped early": "Its loss on the held-back rows had not fallen for as many epochs as its "
    "patience allows. The weights of its best epoch are kept.",
    "dropped": "Given up between two rounds, since others did better by then.",
    "evicted": "Sent away by its machine; it went on from its last checkpoint, here or elsewhere.",
}


def _reading_part() -> Markup:
    entries = [
        part
        for word, meaning in _WORDS.items()
        for part in (element("dt", word), element("dd", meaning))
    ]
    return section("How to read this", element("dl", *entries))


def _provenance_part(data: SweepData) -> Markup:
    config: Any = without_nan(dict(data.config))
    text = json.dumps(config, indent=2, default=str, ensure_ascii=False)
    cut = len(text) > _MOST_CONFIG
    shown = text[:_MOST_CONFIG] + ("\n… cut here" if cut else "")
    lines = join(element("span", f"{line}\n") for line in shown.split("\n"))
    return section(
        "Where it comes from",
        table(["", ""], list(data.provenance), caption="Sources, seed and versions.",
              text_columns=2),
        element("details", element("summary", "The config, as it was frozen"),
                element("pre", lines, tabindex="0")),
        lead="The same config, data, seed and machine give the same runs.",
    )  # fmt: skip
