"""The report of a sweep: one HTML file that stands alone, drawn from its Optuna study."""

from __future__ import annotations

from collections import Counter, defaultdict
from importlib import resources
from statistics import median

import optuna
from optuna.trial import FrozenTrial

from jobsight.clock import format_span
from jobsight.format import UNKNOWN, number, percent, short
from jobsight.models import is_baseline
from jobsight.reports.page import (
    Child,
    Markup,
    card,
    document,
    element,
    figure,
    join,
    report,
    section,
    table,
)
from jobsight.reports.scores import HEADINGS
from jobsight.text import counted, printable
from jobsight.tuning import pictures
from jobsight.tuning.sweepdata import (
    FEW_RUNS,
    STATUSES,
    Examination,
    SweepData,
    SweepFacts,
    epochs_of,
    range_words,
)

__all__ = ["report_html"]

MOST_ROWS = 300
_MOST_COLUMNS, _MOST_PANELS, _MOST_PARAMETERS = 12, 12, 60
_MOST_CAUSES, _MOST_NUMBERS = 40, 12


def report_html(study: optuna.Study, facts: SweepFacts) -> str:
    """The report as the text of an HTML page; the same study gives the same bytes.

    Args:
        study: one trial per run, however far the sweep is.
        facts: what else the page shows. All text of both is escaped.
    """
    data = SweepData(study, facts)
    parts = {
        "The best run": _best_part(data),
        "Test": _test_part(facts.test),
        "Search": _search_part(data),
        "Parameters": _parameters_part(data),
        "Time": _time_part(data),
        "Failures": _failures_part(data),
        "All runs": _runs_part(data),
    }
    style = (resources.files("jobsight.tuning") / "report.css").read_text(encoding="utf-8")
    title = f"Jobsight: sweep {printable(facts.name, 80)}"
    return document(title, [report(_head(data), parts)], style=style)


def _head(data: SweepData) -> Markup:
    facts = data.facts
    counts = Counter(map(data.status, data.trials))
    there = {name: words for name, words in STATUSES.items() if counts[name]}
    bars = [
        element("span", class_=f"part s-{name}", style=f"flex-grow:{counts[name]}")
        for name in there
    ]
    legend = [
        element("li", element("i", class_=f"key s-{name}"), f"{counts[name]:,} {words}")
        for name, words in there.items()
    ]
    notes = [element("p", note) for note in facts.notes]
    return element(
        "header",
        element("p", f"Jobsight · sweep of {printable(facts.question, 40)}", class_="kicker"),
        element("h1", printable(facts.name, 100)),
        element("p", _summary(data, counts), class_="summary"),
        element("div", *notes, class_="about") if notes else None,
        element("div", *bars, class_="statuses", aria_hidden="true"),
        element("ul", *legend, class_="tally"),
        element("div", *_cards(data), class_="cards"),
    )


def _summary(data: SweepData, counts: Counter[str]) -> str:
    ended = sum(counts[name] for name in ("finished", "early", "pruned", "failed"))
    words = f"{ended:,} of {counted(len(data.trials), 'run')} ended. "
    best, test = data.best, data.facts.test
    if best is None:
        all_failed = counts["failed"] and counts["failed"] == len(data.trials)
        cause = "all of them failed" if all_failed else "none has a metric yet"
        return f"{words}There is no best run: {cause}."
    words += f"Run {data.run(best)} is the best: {data.metric} {_metric(best)} on the validation "
    if test is None:
        return f"{words}block. It was not tested yet, so nothing here says how well it will do."
    words += f"block. On the test part its model's loss is {_gain_words(test)}."
    chosen = str(test.report["chosen"])
    if chosen == test.network:
        return words
    baseline = ", a baseline," if is_baseline(chosen) else ""
    return f"{words} Of all models {printable(chosen, 40)}{baseline} was chosen to answer."


def _gain_words(test: Examination) -> str:
    """How the sweep's model compares with the baselines on the test part."""
    gain = test.gain(test.network)
    if gain is None:
        return "not compared with the baselines'"
    value, low, high = gain
    bounds = f"95 % interval of the difference {low:.2g} to {high:.2g}"
    if value >= 0:
        return f"no better than the best baseline's ({bounds})"
    sure = "surely better" if high < 0 else "better here, though not surely so"
    return f"{-value:.2g} below the best baseline's: {sure} ({bounds})"


def _cards(data: SweepData) -> list[Markup]:
    cards, best = [], data.best
    if best is not None:
        values = sorted(trial.value or 0.0 for trial in data.judged) or [best.value or 0.0]
        note = f"the median run has {values[len(values) // 2]:.3g}"
        name = f"{data.metric} of run {data.run(best)}, validation block"
        cards.append(card(_metric(best, 3), name, note))
    hosts = {host for trial in data.trials if (host := trial.user_attrs.get("host"))}
    epochs = sum(len(epochs_of(trial)) for trial in data.trials)
    spent = _time(sum(map(data.seconds, data.trials)))
    note = f"{counted(epochs, 'epoch')} on {counted(len(hosts), 'machine')}"
    return [*cards, card(spent, "of training", note)]


def _best_part(data: SweepData) -> Markup | None:
    best = data.best
    if best is None:
        return None
    names = [*data.ordered, *sorted(set(best.params) - set(data.searched))]
    point = [
        [
            printable(name, 80),
            range_words(best.distributions[name]) if name in data.searched else "fixed",
            percent(data.importances.get(name)),
            printable(short(best.params[name]), 40),
        ]
        for name in names[:_MOST_PARAMETERS]
        if name in best.params
    ]
    scores = best.user_attrs.get("metrics") or {}
    scored = [
        [HEADINGS.get(name) or printable(name, 60), number(value)] for name, value in scores.items()
    ]
    kept = best.user_attrs.get("best_epoch")
    how = {"patience": "stopped early", "epochs": "ran all its epochs"}
    stopped = how.get(best.user_attrs.get("stopped", ""), "ended")
    caption = (
        f"Its metrics. It {stopped} after {counted(len(epochs_of(best)), 'epoch')}"
        f"{f'; epoch {kept} was the best' if kept else ''}."
    )
    headings = ["parameter", "searched", "importance", "value"]
    return section(
        f"The best run: {data.run(best)}",
        element(
            "div",
            table(headings, point, caption="Its point.", text_columns=2),
            table(["on the validation block", ""], scored, caption=caption) if scored else None,
            class_="pair",
        ),
        lead=f"Chosen by {data.metric} on the validation block, a stretch of history later than "
        f"the training; {'more' if data.maximize else 'less'} is better. The best of many is "
        "flattered by it: only the test part says what to expect.",
    )


def _test_part(test: Examination | None) -> Markup | None:
    """All models on the test part: a picture with intervals, then the table."""
    if test is None:
        return None
    sizes = [
        counted(test.report[key], noun, plural)
        for key, noun, plural in (("batches", "batch", "batches"), ("examples", "decision", None))
        if key in test.report
    ]
    often = "once"
    if test.looks > 1:
        often = f"{test.looks} times, each with another model, which flatters the last"
    keys = [key for key in HEADINGS if any(key in scores for scores in test.models.values())]
    rows = []
    for name, scores in test.models.items():
        label = f"{printable(name, 60)}{' (answers)' if name == test.report['chosen'] else ''}"
        label += ", a baseline" if is_baseline(name) else ""
        gain, bounds = UNKNOWN, UNKNOWN
        if (known := test.gain(name)) is not None:
            gain, bounds = f"{known[0]:+.3f}", f"{known[1]:+.3f} to {known[2]:+.3f}"
        rows.append([label, gain, bounds, *(number(scores.get(key)) for key in keys)])
    return section(
        "The best run on the test part",
        table(
            ["model", "loss less baseline's", "95 % interval", *(HEADINGS[key] for key in keys)],
            rows,
            caption="By batch. Higher is better of ROC AUC, precision, F1, accuracy and coverage, "
            "lower of the others and of the loss less the best baseline's.",
            marked=[k for k, name in enumerate(test.models) if name == test.network],
        ),
        element("p", printable(test.reason, 600)) if test.reason else None,
        lead=f"The last stretch of the history ({', '.join(sizes)}), which no run was trained on "
        f"or chosen by, used {often}. Marked: the sweep's model.",
    )  # fmt: skip


def _search_part(data: SweepData) -> Markup | None:
    curves = pictures.curves_plot(data)
    history = pictures.history_plot(data) if data.judged else None
    if history is None and curves is None:
        return None
    key = element("i", class_="key s-best")
    pruned = any(data.status(trial) == "pruned" for trial in data.trials)
    return section(
        "How the search went",
        element(
            "div",
            history and figure(
                history,
                join([key, "The best run. Where the line stays level for long, more runs of the "
                      "same kind would bring little."]),
            ),
            curves and figure(
                curves,
                join([key, "The best run. The darker a line, the better the run ended."
                      f"{' Dashed: pruned.' if pruned else ''} At most {pictures.MOST_LINES} runs "
                      "are drawn."]),
            ),
            class_="pair",
        ),
        lead=f"{data.metric} on the validation block: of each run, and epoch by epoch. A few runs "
        "far worse than all others can be outside the pictures.",
    )  # fmt: skip


def _parameters_part(data: SweepData) -> Markup | None:
    """What each parameter says of the metric."""
    if not data.searched or not data.judged:
        return None
    order, importances = data.ordered, data.importances
    bars, contour = pictures.importances_plot(data), pictures.contour_plot(data)
    parallel = pictures.parallel_plot(data)
    panels = []
    for at, name in enumerate(order[:_MOST_PANELS]):
        if (picture := pictures.slice_plot(data, name, at)) is not None:
            share = percent(importances[name]) if name in importances else ""
            title = [element("b", printable(name, 60)), element("span", share, class_="share")]
            panels.append(element("figure", element("figcaption", *title), picture, class_="panel"))
    lead = (
        "Importance is the share of a parameter in what separates the best runs from all "
        "(PED-ANOVA); parameters that act only together show little here."
    )
    if len(data.judged) < FEW_RUNS:
        lead = f"Fewer than {FEW_RUNS} runs have a metric, which is too few to say what matters."
    elif len(data.judged) < 3 * FEW_RUNS:
        lead += f" With {len(data.judged)} runs to judge by, take it as a hint."
    hidden = len(order) - _MOST_PANELS
    note = f"A dot is a run, the star is the best. At most {pictures.MOST_DRAWN} runs are drawn."
    if hidden > 0:
        note += f" {hidden} less important parameters have no picture."
    return section(
        "Which parameters matter",
        element(
            "div",
            bars and figure(bars, "The most important parameters first."),
            contour and figure(
                contour, f"{data.metric} over the two most important; between the runs (dots) it "
                "is interpolated."
            ),
            class_="pair",
        ),
        element("h3", f"{data.metric} by parameter") if panels else None,
        element("div", *panels, class_="panels") if panels else None,
        element("p", note, class_="small") if panels else None,
        parallel and figure(
            parallel, f"A line is a run: it begins at its {data.metric} and passes through its "
            f"value of each parameter. The darker, the better. At most {pictures.MOST_LINES} runs "
            "are drawn.", class_="wide",
        ),
        lead=lead,
    )  # fmt: skip


def _time_part(data: SweepData) -> Markup | None:
    """When the runs trained, and how long."""
    picture = pictures.timeline_plot(data)
    if picture is None:
        return None
    each = [data.seconds(trial) for trial in data.trials if data.seconds(trial) > 0] or [0.0]
    return section(
        "Time",
        figure(picture, "A bar is a run, from its start to its end.", class_="wide"),
        lead=f"All runs took {_time(sum(each))} of training; one took {_time(median(each))} "
        f"(median), the longest {_time(max(each))}.",
    )


def _failures_part(data: SweepData) -> Markup | None:
    """Why runs failed."""
    causes: dict[str, list[int]] = defaultdict(list)
    for trial in data.trials:
        if data.status(trial) == "failed":
            error = trial.user_attrs.get("error") or "no cause was recorded"
            causes[printable(error, 300)].append(data.run(trial))
    if not causes:
        return None
    shown = {data.run(trial) for trial in _listed(data)}
    rows: list[list[Child]] = []
    for cause in sorted(causes, key=lambda cause: (-len(causes[cause]), cause))[:_MOST_CAUSES]:
        links = [
            element("a", str(run), href=f"#r{run}") if run in shown else str(run)
            for run in causes[cause][:_MOST_NUMBERS]
        ]
        more = len(causes[cause]) - len(links)
        which = join([join(links, ", "), f" and {more} more" if more > 0 else ""])
        rows.append([cause, f"{len(causes[cause]):,}", which])
    more = len(causes) - len(rows)
    left_out = f" {more} more causes are not listed." if more > 0 else ""
    return section(
        "What failed",
        table(["cause", "runs", "which"], rows, text_columns=(0, 2),
              caption=f"{counted(sum(map(len, causes.values())), 'run')} failed.{left_out}"),
        lead="They stopped no other run, and count nowhere above.",
    )  # fmt: skip


def _listed(data: SweepData) -> list[FrozenTrial]:
    """The runs of the table: best first, then those without a metric, by number."""
    judged = {trial.number for trial in data.judged}
    others = [trial for trial in data.trials if trial.number not in judged]
    return [*data.judged, *others][:MOST_ROWS]


def _runs_part(data: SweepData) -> Markup:
    listed, best = _listed(data), data.best
    columns = data.ordered[:_MOST_COLUMNS]
    texts = [
        k
        for k, name in enumerate(columns)
        if any(isinstance(one, str) for one in getattr(data.searched[name], "choices", ()))
    ]
    rows: list[list[Child]] = []
    for trial in listed:
        is_best = best is not None and trial.number == best.number
        status, error = data.status(trial), trial.user_attrs.get("error")
        key = element("i", class_=f"key s-{'best' if is_best else status}")
        cause = element("span", f" {printable(error, 60)}", class_="small") if error else None
        lines, run = epochs_of(trial), data.run(trial)
        kept = trial.user_attrs.get("best_epoch")
        rows.append([
            element("span", key, str(run), id=f"r{run}"),
            join([STATUSES[status], cause]),
            _metric(trial),
            *(printable(short(trial.params[name]), 30) if name in trial.params else UNKNOWN
              for name in columns),
            str(len(lines)),
            UNKNOWN if kept is None else str(kept),
            number(lines[-1].get("loss")) if lines else UNKNOWN,
            _time(data.seconds(trial)) if data.seconds(trial) else UNKNOWN,
        ])  # fmt: skip
    more = len(data.trials) - len(rows)
    shown = table(
        ["run", "how it ended", data.metric, *(printable(name, 40) for name in columns),
         "epochs", "best", "loss", "time"],
        rows,
        caption="Sorted by the metric; “best” is the best epoch, “loss” the last on the held-out "
        "rows." + (f" {more:,} more runs are not listed." if more > 0 else ""),
        text_columns=(1, *(3 + k for k in texts)),
        marked=[0] if listed and best is not None and listed[0].number == best.number else [],
    )  # fmt: skip
    if len(rows) > 25:
        shown = element("div", shown, class_="scroll", tabindex="0", role="region",
                        aria_label="All runs")  # fmt: skip
    return section("All runs", shown)


def _metric(trial: FrozenTrial, digits: int = 4) -> str:
    return UNKNOWN if trial.value is None else f"{trial.value:.{digits}g}"


def _time(seconds: float) -> str:
    """An amount of time: seconds below two minutes, minutes below three hours, then hours."""
    if seconds < 10:
        return f"{seconds:.2g} s"
    if seconds < 3 * 3600:
        return format_span(seconds)
    return f"{seconds / 3600:,.{0 if seconds > 360_000 else 1}f} h"
