"""The report on a question: one HTML file that stands alone."""

from __future__ import annotations

from pathlib import Path

from jobsight.clock import format_micros, format_span
from jobsight.files import Kind, new_file
from jobsight.format import number, percent
from jobsight.learning.bootstrap import Interval
from jobsight.learning.costs import cheapest_baseline
from jobsight.learning.evaluation import Evaluation
from jobsight.models import is_baseline
from jobsight.reports.page import Markup, card, document, element, report, section, table
from jobsight.reports.quality import (
    audit_part,
    costs_part,
    models_part,
    savings_part,
    slices_part,
    unseen,
)
from jobsight.reports.scores import HEADINGS
from jobsight.reports.shown import OwnParts, Shown
from jobsight.text import printable

__all__ = ["report_html", "write_report"]

_EPOCH_MICRO = 1_000_000


def write_report(path: Path, shown: Shown, own: OwnParts | None = None) -> None:
    """Write the report, whole or not at all. The same input gives the same bytes.

    Args:
        path: where to.
        shown: what the report is made of.
        own: what the question adds.

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
    many = len(shown.evaluations) > 1
    parts = {
        **own.parts,
        **{f"The models{f' of {name}' if many else ''}": models_part(shown, name)
           for name in shown.evaluations},
        "Costs": costs_part(shown),
        "Savings": savings_part(shown),
        "Slices": slices_part(shown),
        "The audit": audit_part(shown),
        "How to read this": _reading_part(own),
        "Where it comes from": _provenance_part(shown, own),
    }  # fmt: skip
    return document(f"Jobsight: {own.title}", [report(_head(shown, own), parts)])


def _head(shown: Shown, own: OwnParts) -> Markup:
    about = element("p", element("strong", "About these data. "), shown.about)
    return element(
        "header",
        element("p", f"Jobsight · {shown.model.question.name}", class_="kicker"),
        element("h1", own.title),
        element("p", f"{_summary(shown)} {own.asked}".strip(), class_="summary"),
        element("div", about, class_="about") if shown.about else None,
        element("div", *_cards(shown.evaluation), *own.cards, class_="cards"),
    )


def _summary(shown: Shown) -> str:
    evaluation, read = shown.evaluation, shown.read
    span = format_span(((read.last or 0) - (read.first or 0)) / _EPOCH_MICRO)
    events = f"{read.events:,} events of " if read.events else ""
    _, several, true = evaluation.question.words
    words = f"{events}{read.jobs:,} jobs over {span} were read. "
    if not evaluation.question.timed:
        words = f"{read.jobs:,} {several} were read. "
    rate = evaluation.goal.mean(evaluation.labelled.values, evaluation.labelled.weight)
    if rate is not None:
        words += f"Of the {several} judged here, {percent(rate)} {true}. "
    return words + _rank(evaluation)


def _rank(evaluation: Evaluation) -> str:
    """How the model that answers compares with the baselines, in a sentence."""
    chosen, goal = evaluation.chosen, evaluation.goal
    value = evaluation.scores[chosen][goal.headline]
    quality = f"its {HEADINGS[goal.headline]} is {number(value, 2)}"
    if goal.output.kind == "binary":
        quality += " (1 is perfect, 0.5 is chance)"
    if is_baseline(chosen):
        return (
            f"The model that answers is {chosen}, itself a baseline: no learned model was surely "
            f"better; {quality}."
        )
    gain = evaluation.gain_over_baseline.get(chosen)
    return (
        f"The model that answers is {chosen}; {quality}, and its predictions are "
        f"{_compared(gain)} the best baseline's."
    )


def _compared(gain: Interval | None) -> str:
    """What a difference of losses (less is better) says."""
    if gain is None or gain.value is None or gain.value >= 0:
        return "no better than"
    sure = gain.high is not None and gain.high < 0
    return "surely better than" if sure else "better here, though not surely so, than"


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
            f"{len(evaluation.table)} {evaluation.question.words[1]}, {unseen(evaluation)}",
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


def _reading_part(own: OwnParts) -> Markup:
    entries: list[Markup] = []
    for word, meaning in {**own.words, **_WORDS}.items():
        entries += [element("dt", word), element("dd", meaning)]
    return section("How to read this", element("dl", *entries))


def _provenance_part(shown: Shown, own: OwnParts) -> Markup:
    model, read = shown.model, shown.read
    rows = [
        ["Read here", f"{read.files} files, {read.bytes / 1e6:,.1f} MB"
         + (f", from {_text(read.first)} to {_text(read.last)}" if model.question.timed else "")],
        ["Damaged stretches", f"{len(read.skipped)} skipped; all other records were kept"],
        ["Model", model.label],
        *([f"Trained on {printable(source.name, 80)}", f"SHA-256 {source.sha256}"]
          for source in model.sources),
        ["Parts of the training", _parts(shown)],
        *(list(row) for row in own.provenance),
        ["Versions", _versions(shown)],
    ]  # fmt: skip
    return section(
        "Where it comes from",
        table(["", ""], rows, caption="Sources, settings and versions.", text_columns=2),
        lead="The same input, settings, seed and machine give the same report, byte for byte.",
    )


def _text(moment: int | None) -> str:
    return "–" if moment is None else format_micros(moment)


def _parts(shown: Shown) -> str:
    several = shown.model.question.words[1]
    parts = [
        f"{name} {part['batches']} batches, {part['examples']} {several}"
        for name, part in shown.facts.get("parts", {}).items()
    ]
    return "; ".join(parts) or "unknown"


def _versions(shown: Shown) -> str:
    manifest = shown.model.manifest
    versions = {} if manifest is None else manifest.versions
    return ", ".join(f"{name} {version}" for name, version in versions.items()) or "unknown"
