"""The report on a question: one HTML file that stands alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jobsight.clock import format_micros, format_span
from jobsight.files import Kind, new_file
from jobsight.format import interval, number, percent
from jobsight.learning.costs import cheapest_baseline, release_threshold
from jobsight.learning.evaluation import Evaluation
from jobsight.learning.targets import Scores
from jobsight.models import is_baseline
from jobsight.reports.page import (
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
from jobsight.reports.plots import (
    cost_plot,
    curves_plot,
    importance_plot,
    observed_plot,
    reliability_plot,
    slices_plot,
)
from jobsight.reports.scores import HEADINGS, savings_rows
from jobsight.reports.shown import OwnParts, Shown
from jobsight.text import printable

__all__ = [
    "report_html",
    "write_report",
]

_SLICES = 4
_SHOWN = 12
_FEATURES = 12


def _models_part(shown: Shown, target: str) -> Markup:
    """All models of a target next to each other: table, curves, reliability."""
    evaluation = shown.evaluations[target]
    many = len(shown.evaluations) > 1
    word, _, true = evaluation.question.words
    columns, headings = _columns(evaluation)
    by_row = evaluation.scores_by_row
    rows = [[name, *(number(by_row[name][key]) for key in columns)]
            for name in _ranked(by_row, evaluation)]  # fmt: skip
    easy: list[Markup] = []
    if (sure := evaluation.sure_causes()) is not None:
        words = (
            f"{percent(sure['share'])} of the decisions are in causes that nearly always or never "
            f"{true}. Within the rest, where judgement is needed, the ROC AUC is "
            f"{number(sure['roc_auc_rest'], 2)}."
        )
        easy = [element("h3", "How much of it is easy"), element("p", words)]
    left_out = f"Nothing: every {word} that was read counts here."
    if kinds := {**evaluation.left_out, **evaluation.censored}:
        counts = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in kinds.items())
        left_out = (
            f"Not judged: {counts}. What was cut short by a person or by the end of the history "
            "has no outcome; it is counted, never labelled."
        )
    left_out = " ".join([left_out, *(f"{note[0].upper()}{note[1:]}." for note in evaluation.notes)])
    return section(
        f"How well the models predict{f' {target}' if many else ''}",
        _scores_table(evaluation),
        element(
            "details",
            element("summary", f"The same table by {word}"),
            table(
                ["model", *headings],
                rows,
                caption=f"The same with every {word} counting once, large batches the most.",
            ),
        ),
        _curves(evaluation),
        *(
            element("details", element("summary", f"At the moment {moment}"), _scores_table(own))
            for moment, own in evaluation.by_moment.items()
        ),
        element(
            "div",
            _calibration(evaluation),
            element(
                "div",
                element("h3", "Which of them answers"),
                element("p", shown.model.targets[target].reason),
                *easy,
                element("h3", "What is left out"),
                element("p", left_out),
            ),
            class_="pair",
        ),
        lead=f"Judged on {evaluation.batches} batches ({len(evaluation.table)} "
        f"{evaluation.question.words[1]}) that no model was trained on, {_unseen(evaluation)}. "
        "A batch is what shares its fate; it counts once.",
    )


def _unseen(evaluation: Evaluation) -> str:
    """What sets the decisions that are judged apart from those of the training."""
    if evaluation.question.timed:
        return "all later than the training"
    return "all of groups that the training did not have"


def _curves(evaluation: Evaluation) -> Markup | None:
    """The curves of a binary target, if both outcomes were observed: one alone has none."""
    if evaluation.goal.output.kind != "binary" or len(set(evaluation.labelled.success)) < 2:
        return None
    return element(
        "div",
        figure(
            curves_plot(evaluation, "roc_auc"),
            "Up and to the left is better; the diagonal is chance.",
        ),
        figure(
            curves_plot(evaluation, "average_precision"),
            "Up and to the right is better; the grey line is the share that "
            f"{evaluation.question.words[2]}.",
        ),
        class_="pair",
    )


def _calibration(evaluation: Evaluation) -> Markup:
    chosen, coverage = evaluation.chosen, percent(evaluation.coverage)
    if evaluation.goal.events(evaluation.predictions[chosen], evaluation.labelled.values) is None:
        return figure(
            observed_plot(evaluation),
            f"{coverage} of what was observed is within the bounds of {chosen}; "
            f"{percent(evaluation.goal.coverage)} are promised.",
        )
    words = (
        "Each point is a tenth of the batches: on the diagonal, what was predicted came true. "
        f"On average a point of {chosen} is {percent(evaluation.scores[chosen]['ece'])} off"
    )
    if evaluation.coverage is not None:
        words += (
            f"; {coverage} of its 90 % intervals held what was observed (of "
            f"{len(evaluation.covered)} groups of like predictions)"
        )
    return figure(reliability_plot(evaluation), f"{words}.")


def _columns(evaluation: Evaluation) -> tuple[list[str], list[str]]:
    """Metrics of the target, the headline first, and their headings."""
    goal = evaluation.goal
    names = [goal.headline, *(name for name in goal.metrics if name != goal.headline)]
    return names, [HEADINGS[name] for name in names]


def _ranked(scores: Mapping[str, Scores], evaluation: Evaluation) -> list[str]:
    headline, worst = evaluation.goal.headline, float("inf")
    sign = -1.0 if headline in evaluation.goal.higher else 1.0
    known = {name: one[headline] for name, one in scores.items()}
    return sorted(known, key=lambda n: worst if known[n] is None else sign * float(known[n] or 0.0))


def _scores_table(evaluation: Evaluation) -> Markup:
    columns, headings = _columns(evaluation)
    names = _ranked(evaluation.scores, evaluation)
    rows = []
    for name in names:
        values = [number(evaluation.scores[name][key]) for key in columns]
        bounds = evaluation.headline[name]
        label = f"{name} (answers)" if name == evaluation.chosen else name
        rows.append([label, values[0], interval(bounds.low, bounds.high), *values[1:]])
    better = ", ".join(HEADINGS[name] for name in columns if name in evaluation.goal.higher)
    return table(
        ["model", headings[0], "95 % interval", *headings[1:]],
        rows,
        caption=f"By batch. Higher is better of {better or 'none'}; lower is better of the others. "
        "Names without a colour in the plots are baselines.",
        marked=[names.index(evaluation.chosen)],
    )


def _costs_part(shown_: Shown) -> Markup | None:
    """What decisions would have cost."""
    evaluation = shown_.evaluation
    costs = shown_.model.question.costs(shown_.model.settings)
    if costs is None:
        return None
    order = sorted(evaluation.costs, key=lambda name: evaluation.costs[name].cost)
    rows = []
    for name in order:
        cost = evaluation.costs[name]
        label = name.replace("_", " ")
        shares = [percent(value) for value in (cost.released, cost.wasted, cost.lost)]
        rows.append([label, number(cost.cost, 2), interval(cost.low, cost.high), *shares])
    shown = table(
        ["who decides", "cost", "95 % interval", "released", "wasted", "lost"],
        rows,
        caption="Per decision.",
        marked=[order.index(evaluation.chosen)],
    )
    picture = cost_plot(evaluation, costs.wasted_run, costs.lost_job)
    return section(
        "What decisions cost",
        element(
            "div",
            figure(picture, "Shorter is better. Bold: the model that answers."),
            shown,
            class_="pair",
        ),
        lead=f"A wasted run costs {costs.wasted_run:g}, a job lost (not released though it would "
        f"have succeeded) {costs.lost_job:g}; both are settings ({evaluation.question.name}.costs)."
        f" Releasing pays from P(success) = {release_threshold(costs):.2f} on.",
    )


def _savings_part(shown: Shown) -> Markup | None:
    """What acting on predictions saves, where decisions say what jobs used."""
    evaluation = shown.evaluation
    if evaluation.savings is None:
        return None
    _, several, true = evaluation.question.words
    moments = {"": evaluation, **evaluation.by_moment}
    tables = [
        table(
            ["from", "asked", "rightly", "disturbed", "95 %", "core-hours", "95 %", "of all"],
            savings_rows(judged.savings),
            caption=f"Per 1,000 {several}{f', at the moment {at}' if at else ''}.",
        )
        for at, judged in moments.items()
        if judged.savings is not None
    ]
    return section(
        "What acting on it saves",
        *tables,
        lead=f"If users are asked about the {several} with at least a probability of having "
        f"{true}, or these are stopped: the core-hours that would otherwise have been used, and "
        f"the {several} disturbed without need. With 95 % intervals.",
    )


def _slices_part(shown: Shown) -> Markup:
    """Quality over time, and by what the decisions have in common."""
    evaluation = shown.evaluation
    slices = []
    if evaluation.question.timed:
        count = min(_SLICES, len(evaluation.table))
        time = evaluation.table["decided"].to_numpy()
        member = np.arange(len(time)) * count // max(len(time), 1)
        for slice_ in range(count):
            inside = member == slice_
            start = format_micros(int(time[inside][0]))
            slices.append({"value": f"from {start[11:19]}", **evaluation.quality(inside)})
    tables = []
    for name, stratum in evaluation.question.strata.items():
        rows = evaluation.stratum(name)
        rows = [
            {**row, "value": stratum.words.get(str(row["value"]), row["value"])} for row in rows
        ]
        more = len(rows) - _SHOWN
        rest = f" {more} smaller parts are not shown." if more > 0 else ""
        quality = _quality_table(rows[:_SHOWN], f"{stratum.title}.{rest}")
        tables.append(element("details", element("summary", stratum.title), quality))
    binary = evaluation.goal.output.kind == "binary"
    return section(
        "Where it is good, and where not",
        element(
            "div",
            figure(slices_plot(slices), "Shares predicted and observed, in equal parts of time.")
            if binary
            else None,
            _quality_table(slices, "Quality of the model that answers, over time."),
            class_="pair" if binary else "",
        )
        if slices
        else None,
        *tables,
        lead="The model that answers, on parts of the same decisions. Small parts say little.",
    )


_QUALITY = {
    "base_rate": ("observed", percent),
    "predicted": ("predicted", percent),
    "roc_auc": ("ROC AUC", lambda value: number(value, 2)),
}


def _quality_table(rows: Sequence[Mapping[str, Any]], caption: str) -> Markup:
    skipped = {"value", "examples", "batches", "log_loss"}
    keys = [key for key in (rows[0] if rows else {}) if key not in skipped]
    keys = [key for key in keys if any(row[key] is not None for row in rows)]
    shown = [_QUALITY.get(key, (HEADINGS.get(key, key), number)) for key in keys]
    return table(
        ["", "batches", *(heading for heading, _ in shown)],
        [
            [
                printable(row["value"], 150),
                f"{row['batches']:.0f}",
                *(form(row[key]) for key, (_, form) in zip(keys, shown, strict=True)),
            ]
            for row in rows
        ],
        caption=caption,
    )


def _audit_part(shown: Shown) -> Markup | None:
    """What the audit found: its checks, its verdict, the features that matter."""
    audit = shown.verification
    if audit is None:
        return None
    styles = {"passed": "pass", "failed": "fail"}
    rows = [
        [
            element(
                "span",
                printable(check["grade"] or "unknown", 20),
                class_=styles.get(check["grade"] or "", "small"),
            ),
            str(check["name"]).replace("_", " "),
            printable(f"{check['detail']} {check['power']}", 900),
        ]
        for check in audit["checks"]
    ]
    return section(
        "Can this be trusted?",
        element("p", printable(audit["verdict"], 1500), class_="verdict"),
        table(["", "check", "what was found"], rows, caption="The audit.", text_columns=3),
        _importance(audit),
        lead="What jobsight verify does to its own model: outcomes shuffled, logs cut off, splits "
        "and features compared.",
    )


def _importance(audit: Mapping[str, Any]) -> Markup | None:
    families = [
        (str(row["family"]), float(row["loss"] or 0.0), row["low"], row["high"])
        for row in audit.get("families", ())
    ]
    features = [
        (str(row["feature"]), float(row["loss"]), None, None)
        for row in audit.get("features", ())[:_FEATURES]
    ]
    figures = []
    if families:
        picture = importance_plot(families, "loss gained without them", "families")
        figures.append(figure(picture, "Trained again without a family; lines: 95 % intervals."))
    if features:
        picture = importance_plot(features, "loss gained when shuffled", "features")
        figures.append(figure(picture, "One feature's values shuffled among the decisions."))
    if not figures:
        return None
    title = element("h3", "What the model rests on")
    return join([title, element("div", *figures, class_="pair")])


_EPOCH_MICRO = 1_000_000


def write_report(path: Path, shown: Shown, own: OwnParts | None = None) -> None:
    """Write the report, whole or not at all. The same input gives the same bytes.

    Raises:
        OutputError: the file cannot be written.
    """
    page = report_html(shown, own)
    with new_file(path, Kind.REPORT) as temporary:
        temporary.write_text(page, encoding="utf-8")


def report_html(shown: Shown, own: OwnParts | None = None) -> str:
    """The report as the text of an HTML page without links out or requests.

    All text from logs is escaped; so is everything else that is not markup of ours.
    """
    own = own or OwnParts(shown.model.question.title)
    entries: list[Markup] = []
    for word, meaning in {**own.words, **_WORDS}.items():
        entries += [element("dt", word), element("dd", meaning)]
    many = len(shown.evaluations) > 1
    parts = {
        **own.parts,
        **{f"The models{f' of {name}' if many else ''}": _models_part(shown, name)
           for name in shown.evaluations},
        "Costs": _costs_part(shown),
        "Savings": _savings_part(shown),
        "Slices": _slices_part(shown),
        "The audit": _audit_part(shown),
        "How to read this": section("How to read this", element("dl", *entries)),
        "Where it comes from": _provenance_part(shown, own),
    }  # fmt: skip
    return document(f"Jobsight: {own.title}", [report(_head(shown, own), parts)])


def _head(shown: Shown, own: OwnParts) -> Markup:
    evaluation, read = shown.evaluation, shown.read
    chosen, goal = evaluation.chosen, evaluation.goal
    _, several, true = evaluation.question.words
    span = format_span(((read.last or 0) - (read.first or 0)) / _EPOCH_MICRO)
    events = f"{read.events:,} events of " if read.events else ""
    words = f"{events}{read.jobs:,} jobs over {span} were read. "
    if not evaluation.question.timed:
        words = f"{read.jobs:,} {several} were read. "
    rate = goal.mean(evaluation.labelled.values, evaluation.labelled.weight)
    if rate is not None:
        words += f"Of the {several} judged here, {percent(rate)} {true}. "
    headline = number(evaluation.scores[chosen][goal.headline], 2)
    quality = f"its {HEADINGS[goal.headline]} is {headline}"
    if goal.output.kind == "binary":
        quality += " (1 is perfect, 0.5 is chance)"
    words += f"The model that answers is {chosen}"
    if is_baseline(chosen):
        words += f", itself a baseline: no learned model was surely better; {quality}."
    else:
        gain = evaluation.gain_over_baseline.get(chosen)
        compared = "better here, though not surely so, than"
        if gain is None or gain.value is None or gain.value >= 0:  # less is better
            compared = "no better than"
        elif gain.high is not None and gain.high < 0:
            compared = "surely better than"
        words += f"; {quality}, and its predictions are {compared} the best baseline's."
    about = element("p", element("strong", "About these data. "), shown.about)
    return element(
        "header",
        element("p", f"Jobsight · {shown.model.question.name}", class_="kicker"),
        element("h1", own.title),
        element("p", f"{words} {own.asked}".strip(), class_="summary"),
        element("div", about, class_="about") if shown.about else None,
        element("div", *_cards(shown.evaluation), *own.cards, class_="cards"),
    )


def _cards(evaluation: Evaluation) -> list[Markup]:
    chosen, goal = evaluation.chosen, evaluation.goal
    headline, scores = evaluation.headline[chosen], evaluation.scores[chosen]
    interval = (
        "" if headline.low is None else f"95 % interval {headline.low:.2f} to {headline.high:.2f}"
    )
    cards = [
        card(
            f"{evaluation.batches}",
            "batches judged",
            f"{len(evaluation.table)} {evaluation.question.words[1]}, {_unseen(evaluation)}",
        ),
        card(number(headline.value, 2), f"{HEADINGS[goal.headline]} of {chosen}", interval),
    ]
    if "ece_by_chance" in scores:
        cards.append(
            card(
                percent(scores["ece"]),
                "calibration error",
                "average distance of predicted from observed shares; by chance alone up to "
                f"{percent(scores['ece_by_chance'])}",
            )
        )
    else:
        held = f"of observations within their bounds; {percent(goal.coverage)} are promised"
        cards.append(card(percent(evaluation.coverage), "coverage", held))
    if evaluation.costs:
        cards.append(_cost_card(evaluation))
    return cards


def _cost_card(evaluation: Evaluation) -> Markup:
    """What the chosen model's decisions cost, next to those of the cheapest baseline."""
    costs, chosen = evaluation.costs, evaluation.chosen
    best, own = cheapest_baseline(costs), costs[chosen]
    cheapest = costs[best].cost
    more = (own.cost - cheapest) / cheapest if cheapest else 0.0
    words = f"per decision {own.cost:.2f} wasted runs, "
    if chosen == best:
        words += "itself the best baseline"
    else:
        words += f"{printable(best.replace('_', ' '))} {cheapest:.2f}: {own.cost - cheapest:+.2f}"
        low, high = own.against_baseline.low, own.against_baseline.high
        words += "" if low is None or high is None else f" ({low:+.2f} to {high:+.2f})"
    title = f"{'more' if more > 0 else 'less'} than the best baseline's cost"
    return card(percent(abs(more)), title, words)


_WORDS = {
    "90 % interval": "Where the share among many like decisions is nine times in ten.",
    "baseline": "What needs no learning: a constant, the rules that sites use today, smoothed "
    "rates. A model answers only if it is surely better than all of them.",
    "ROC AUC": "How often what came true is ranked above what did not. 0.5 is chance.",
    "ECE": "Calibration error: how far predicted and observed shares differ, on average.",
}


def _provenance_part(shown: Shown, own: OwnParts) -> Markup:
    model, read = shown.model, shown.read
    first, last = ("–" if at is None else format_micros(at) for at in (read.first, read.last))
    parts = [
        f"{name} {part['batches']} batches, {part['examples']} {model.question.words[1]}"
        for name, part in shown.facts.get("parts", {}).items()
    ]
    versions = {} if model.manifest is None else model.manifest.versions
    listed = ", ".join(f"{name} {version}" for name, version in versions.items())
    rows = [
        ["Read here", f"{read.files} files, {read.bytes / 1e6:,.1f} MB"
         + (f", from {first} to {last}" if model.question.timed else "")],
        ["Damaged stretches", f"{len(read.skipped)} skipped; all other records were kept"],
        ["Model", model.label],
        *([f"Trained on {printable(source.name, 80)}", f"SHA-256 {source.sha256}"]
          for source in model.sources),
        ["Parts of the training", "; ".join(parts) or "unknown"],
        *(list(row) for row in own.provenance),
        ["Versions", listed or "unknown"],
    ]  # fmt: skip
    return section(
        "Where it comes from",
        table(["", ""], rows, caption="Sources, settings and versions.", text_columns=2),
        lead="The same input, settings, seed and machine give the same report, byte for byte.",
    )
