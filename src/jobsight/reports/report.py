"""The report on a question: one HTML file that stands alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jobsight.clock import format_span
from jobsight.files import Kind, new_file
from jobsight.format import amount, interval, number, percent
from jobsight.learning.costs import cheapest_baseline, release_threshold
from jobsight.learning.evaluation import Evaluation
from jobsight.learning.targets import Binary, Quantiles, Scores
from jobsight.models import is_baseline
from jobsight.reports.overview import dates
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
from jobsight.reports.scores import HEADINGS, savings_rows, verdict
from jobsight.reports.shown import OwnParts, Shown
from jobsight.text import counted, printable

__all__ = [
    "report_html",
    "write_report",
]

_SHOWN = 12
_FEATURES = 12


def _models_part(shown: Shown, target: str) -> Markup:
    """All models of a target next to each other: table, curves, reliability."""
    evaluation = shown.evaluations[target]
    word, several, true = evaluation.question.words
    tables: dict[str, tuple[Evaluation, bool]]
    tables = {
        f"The same at the moment {at}": (own, False) for at, own in evaluation.by_moment.items()
    }
    if evaluation.batches < len(evaluation.table):
        tables = {f"The same table by {word}": (evaluation, True), **tables}
    easy: list[Markup] = []
    if (sure := evaluation.sure_causes()) is not None:
        words = (
            f"{percent(sure['share'])} of the {several} are of causes of which nearly all or none "
            f"{true}. Within the rest, where judgement is needed, the ROC AUC is "
            f"{number(sure['roc_auc_rest'], 2)}."
        )
        easy = [element("h3", "How much of it is easy"), element("p", words)]
    return section(
        f"How well the models predict {evaluation.question.titles.get(target, f'the {target}')}",
        _scores_table(evaluation),
        *(element("details", element("summary", title), _scores_table(*of))
          for title, of in tables.items()),
        _curves(evaluation),
        element(
            "div",
            _calibration(evaluation),
            element(
                "div",
                element("h3", "Which of them answers"),
                element("p", shown.model.targets[target].reason),
                *easy,
                element("h3", "What is left out"),
                element("p", _left_out(evaluation)),
            ),
            class_="pair",
        ),
        lead=_judged_on(evaluation),
    )  # fmt: skip


def _overview_part(shown: Shown) -> Markup | None:
    """What was read, before any model: tables whose cells are numbers where all of a column are."""
    tables = []
    for title, rows in shown.overview.tables.items():
        texts = [k for k, cells in enumerate(zip(*map(dict.values, rows), strict=True))
                 if any(isinstance(cell, str) for cell in cells)]  # fmt: skip
        cells = [[printable(c, 160) if isinstance(c, str) else amount(c) for c in row.values()]
                 for row in rows]  # fmt: skip
        if rows:
            tables.append(table(list(rows[0]), cells, caption=f"{title}.", text_columns=texts))
    return section("What was read", *tables) if tables else None


def _judged_on(evaluation: Evaluation) -> str:
    """What the models of a target are judged on, and what became of it."""
    word, several, true = evaluation.question.words
    goal, known = evaluation.goal, evaluation.labelled
    words = f"Judged on {counted(len(known), word, several)} {_unseen(evaluation)}."
    if (rate := goal.mean(known.values, known.weight)) is not None:
        words += f" {percent(rate)} {true}."
    if counts := goal.counts(known.values):
        titles = evaluation.question.titles
        words += f" {', '.join(f'{n:,} {titles.get(kind, kind)}' for kind, n in counts.items())}."
    if evaluation.batches < len(known):
        words += f" They are of {evaluation.batches:,} batches: what shares its fate counts once."
    return words


def _unseen(evaluation: Evaluation) -> str:
    """What sets the decisions that are judged apart from those of the training."""
    if not evaluation.question.timed:
        return "of families that the training did not have"
    times = evaluation.table["decided"].to_numpy()
    return f"later than the training, {dates(int(times.min()), int(times.max()))}"


def _left_out(evaluation: Evaluation) -> str:
    """What is not judged, by reason."""
    kinds, words = {**evaluation.left_out, **evaluation.censored}, "Nothing: all is judged."
    if kinds:
        plain = {kind: kind.replace("_", " ") for kind in kinds}
        plain["before_test_start"] = "of the train part"
        words = f"Not judged: {', '.join(f'{n:,} {plain[kind]}' for kind, n in kinds.items())}."
    if evaluation.censored:
        words += " What was cut short by a person or by the end of the history has no outcome."
    return " ".join([words, *(f"{note[0].upper()}{note[1:]}." for note in evaluation.notes)])


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
        "Each point is a tenth of what is judged: on the diagonal, what was predicted came true. "
        f"On average a point of {chosen} is {percent(evaluation.scores[chosen]['ece'])} off"
    )
    if evaluation.coverage is not None and evaluation.goal.output.kind == "binary":
        words += (
            f"; of {len(evaluation.covered)} groups of like predictions, {coverage} had their rate "
            "within their 90 % intervals"
        )
    elif evaluation.coverage is not None:
        words += f"; {coverage} of what was observed was in its sets, {percent(0.9)} are promised"
    return figure(reliability_plot(evaluation), f"{words}.")


def _columns(evaluation: Evaluation) -> dict[str, str]:
    """Headings of the metrics of the target, the headline first."""
    goal, headings = evaluation.goal, HEADINGS
    if isinstance(goal, Binary):
        true, false = goal.found
        headings = {**HEADINGS, "f1": f"F1 of {true}", "f1_failure": f"F1 of {false}"}
    return {name: headings[name] for name in dict.fromkeys((goal.headline, *goal.metrics))}


def _ranked(scores: Mapping[str, Scores], evaluation: Evaluation) -> list[str]:
    headline, worst = evaluation.goal.headline, float("inf")
    sign = -1.0 if headline in evaluation.goal.higher else 1.0
    known = {name: one[headline] for name, one in scores.items()}
    return sorted(known, key=lambda n: worst if known[n] is None else sign * float(known[n] or 0.0))


def _scores_table(evaluation: Evaluation, by_row: bool = False) -> Markup:
    """Scores of all models, the best first; `by_row`: every decision counts once."""
    columns = _columns(evaluation)
    goal, scores = evaluation.goal, evaluation.scores_by_row if by_row else evaluation.scores
    names = _ranked(scores, evaluation)
    rows = []
    for name in names:
        values = [number(scores[name][key]) for key in columns]
        if not by_row:
            bounds = evaluation.headline[name]
            values.insert(1, interval(bounds.low, bounds.high))
        roles = ["baseline"] * is_baseline(name) + ["answers"] * (name == evaluation.chosen)
        rows.append([f"{name} ({', '.join(roles)})" if roles else name, *values])
    headings = list(columns.values())
    if not by_row:
        headings.insert(1, "95 % interval")
    more = [columns[name] for name in columns if name in goal.higher and "coverage" not in name]
    caption = (
        f"More is better of {', '.join(more)}; less of the others." if more else "Less is better."
    )
    if isinstance(goal, Quantiles):
        scale = f"ln(1 + {goal.unit}), where 0.7 is a factor of two" if goal.log else goal.unit
        caption += f" Loss, error and width are in {scale}. {percent(goal.coverage)} are promised."
    return table(
        ["model", *headings], rows, caption=caption, marked=[names.index(evaluation.chosen)]
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


_SAVINGS = ("asked or stopped", "rightly", "disturbed", "95 % interval", "core-hours saved",
            "95 % interval", "of all core-hours")  # fmt: skip


def _savings_part(shown: Shown) -> Markup | None:
    """What acting on predictions saves, where decisions say what jobs used."""
    evaluation = shown.evaluation
    if evaluation.savings is None:
        return None
    _, several, true = evaluation.question.words
    moments = {"": evaluation, **evaluation.by_moment}
    tables = [
        table(
            [f"from P({true})", *_SAVINGS],
            savings_rows(judged.savings),
            caption=f"Per 1,000 {several}{f', asked at the {at}' if at else ''}.",
        )
        for at, judged in moments.items()
        if judged.savings is not None
    ]
    return section(
        "What acting on it saves",
        *tables,
        lead=f"If the {several} of at least such a predicted P({true}) were asked about or "
        "stopped: how many they are, the share of them that is right, those disturbed without "
        "need, and the core-hours that the others would have used.",
    )


def _slices_part(shown: Shown) -> Markup:
    """Quality over time, and by what the decisions have in common."""
    evaluation, chosen = shown.evaluation, shown.evaluation.chosen
    slices: list[dict[str, Any]] = []
    if evaluation.question.timed:
        best = evaluation.best_baseline
        heading = f"{HEADINGS[evaluation.goal.loss]} of {best}"
        slices = [
            {**row, "value": row["from"], "loss": None, heading: row["loss"][best]}
            for row in evaluation.over_time()
        ]
    span = slices[0]["span"] if slices else ""
    tables = []
    for name, stratum in evaluation.question.strata.items():
        rows = evaluation.stratum(name)
        if len(rows) < 2:  # the whole says nothing new
            continue
        rows = [
            {**row, "value": stratum.words.get(str(row["value"]), row["value"])} for row in rows
        ]
        more = len(rows) - _SHOWN
        rest = f" {more} smaller parts are not shown." if more > 0 else ""
        quality = _quality_table(rows[:_SHOWN], f"Quality of {chosen}, the largest first.{rest}")
        tables.append(element("details", element("summary", stratum.title), quality))
    binary = evaluation.goal.output.kind == "binary"
    return section(
        "Where it is good, and where not",
        element(
            "div",
            figure(slices_plot(slices), f"Shares predicted and observed, by {span}.")
            if binary
            else None,
            _quality_table(slices, f"Quality of {chosen} by {span}, named by its begin (UTC)."),
            class_="pair" if binary else "",
        )
        if slices
        else None,
        *tables,
        lead=f"The model that answers, on parts of the same {evaluation.question.words[1]}. Small "
        "parts say little.",
    )


_QUALITY = {
    "base_rate": ("observed", percent),
    "predicted": ("predicted", percent),
    "roc_auc": ("ROC AUC", lambda value: number(value, 2)),
}


def _quality_table(rows: Sequence[Mapping[str, Any]], caption: str) -> Markup:
    skipped = {"value", "examples", "batches", "span", "from"}
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
    titles = shown.model.question.titles
    parts = {
        "What was read": _overview_part(shown),
        **own.parts,
        **{f"The models: {titles[name]}" if name in titles else "The models":
           _models_part(shown, name) for name in shown.evaluations},
        "Costs": _costs_part(shown),
        "Savings": _savings_part(shown),
        "Slices": _slices_part(shown),
        "The audit": _audit_part(shown),
        "How to read this": section("How to read this", element("dl", *entries)),
        "Where it comes from": _provenance_part(shown, own),
    }  # fmt: skip
    return document(f"Jobsight: {own.title}", [report(_head(shown, own), parts)])


def _head(shown: Shown, own: OwnParts) -> Markup:
    """First what was read and what it shows, then whether the models are any good."""
    read, titles = shown.read, shown.model.question.titles
    events = f"{read.events:,} events of " if read.events else ""
    words = f"{events}{read.jobs:,} {'jobs' if events else shown.model.question.words[1]} were read"
    if shown.model.question.timed:
        span = format_span(((read.last or 0) - (read.first or 0)) / 1e6)
        words += f", {dates(read.first, read.last)} ({span})"
    judged = [
        element(
            "p",
            element("strong", f"{titles[name].capitalize()}: ") if name in titles else None,
            verdict(evaluation.to_json()),
        )
        for name, evaluation in shown.evaluations.items()
    ]
    about = element("p", element("strong", "About these data. "), shown.about)
    return element(
        "header",
        element("p", f"Jobsight · {shown.model.question.name}", class_="kicker"),
        element("h1", own.title),
        element("p", f"{words}.", class_="summary"),
        element(
            "ul", *(element("li", text) for text in (*shown.overview.points, own.asked) if text)
        ),
        element("div", about, class_="about") if shown.about else None,
        element("h2", "Are the models any good?"),
        *judged,
        element("div", *_cards(shown.evaluation), class_="cards"),
    )


def _cards(evaluation: Evaluation) -> list[Markup]:
    chosen, goal = evaluation.chosen, evaluation.goal
    headline, scores = evaluation.headline[chosen], evaluation.scores[chosen]
    interval = (
        "" if headline.low is None else f"95 % interval {headline.low:.2f} to {headline.high:.2f}"
    )
    cards = [
        card(
            f"{len(evaluation.table):,}",
            f"{evaluation.question.words[1]} judged",
            _unseen(evaluation),
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
    "rates. A single model answers only if the backtest showed it surely better than all of them; "
    "a mixture, which they are part of, unless it showed it surely worse.",
    "ROC AUC": "How often what came true is ranked above what did not; of a number, what is above "
    "the median. 1 is perfect, 0.5 is chance.",
    "ECE": "Calibration error: how far predicted and observed shares differ, on average.",
}


def _provenance_part(shown: Shown, own: OwnParts) -> Markup:
    model, read = shown.model, shown.read
    parts = [
        f"{name} {part['examples']:,} {model.question.words[1]}, {part['batches']:,} batches"
        for name, part in shown.facts.get("parts", {}).items()
    ]
    versions = {} if model.manifest is None else model.manifest.versions
    listed = ", ".join(f"{name} {version}" for name, version in versions.items())
    rows = [
        ["Read here", f"{counted(read.files, 'file')}, {read.bytes / 1e6:,.1f} MB"
         + (f", {dates(read.first, read.last)}" if model.question.timed else "")],
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
