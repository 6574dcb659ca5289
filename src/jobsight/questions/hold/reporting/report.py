"""The report on held jobs: one HTML file that stands alone."""

from __future__ import annotations

from pathlib import Path

from jobsight.clock import format_micros, format_span
from jobsight.files import Kind, new_file
from jobsight.format import number, percent
from jobsight.learning.bootstrap import Interval
from jobsight.learning.costs import cheapest_baseline
from jobsight.models import is_baseline
from jobsight.questions.hold.reporting.jobs import frames_part, jobs_part, pool_part, tally
from jobsight.questions.hold.reporting.material import Material, cost_in_words
from jobsight.questions.hold.reporting.quality import (
    audit_part,
    costs_part,
    models_part,
    slices_part,
)
from jobsight.reports.page import Markup, card, document, element, section, table
from jobsight.text import printable

__all__ = ["Material", "report_html", "write_report"]

_TITLE = "Release or remove?"
_EPOCH_MICRO = 1_000_000


def write_report(path: Path, material: Material) -> None:
    """Write the report, whole or not at all. The same material gives the same bytes.

    Raises:
        OutputError: the file cannot be written.
    """
    page = report_html(material)
    with new_file(path, Kind.REPORT) as temporary:
        temporary.write_text(page, encoding="utf-8")


def report_html(material: Material) -> str:
    """The report as the text of an HTML page without links out or requests.

    All text from logs is escaped; so is everything else that is no markup of ours.
    """
    parts = {
        "The held jobs": jobs_part(material),
        "The pool": pool_part(material),
        "One job": frames_part(material),
        "The models": models_part(material),
        "Costs": costs_part(material),
        "Slices": slices_part(material),
        "The audit": audit_part(material),
        "How to read this": _reading_part(),
        "Where it comes from": _provenance_part(material),
    }
    shown = {name: part for name, part in parts.items() if part is not None}
    links = [element("a", name, href="#" + _id_of(part)) for name, part in shown.items()]
    return document(
        f"Jobsight: {_TITLE}",
        [
            element(
                "main",
                _head(material),
                element("nav", *links, aria_label="Parts of this report"),
                *shown.values(),
                element("footer", "Made by Jobsight. This page asks no server."),
            )
        ],
    )


def _id_of(part: Markup) -> str:
    return part.partition(' id="')[2].partition('"')[0]


def _head(material: Material) -> Markup:
    about = element("p", element("strong", "About these data. "), material.about)
    return element(
        "header",
        element("p", "Jobsight · held jobs", class_="kicker"),
        element("h1", _TITLE),
        element("p", _summary(material), class_="summary"),
        element("div", about, class_="about") if material.about else None,
        element("div", *_cards(material), class_="cards"),
    )


def _summary(material: Material) -> str:
    evaluation, read = material.evaluation, material.read
    span = format_span(((read.last or 0) - (read.first or 0)) / _EPOCH_MICRO)
    words = (
        f"{read.events:,} events of {read.jobs:,} jobs over {span} were read. Of the releases of "
        f"held jobs judged here, {percent(evaluation.base_rate)} succeeded. "
        f"{_standing(material)}"
    )
    if material.moment is None:
        return words
    counts = tally(material)
    said = ", ".join(
        f"{verb.replace('_', ' ')} {counts[verb]}"
        for verb in ("release", "wait", "fix", "remove", "unsure", "user_hold")
        if counts[verb]
    )
    return f"{words} Asked about the {len(material.answers)} jobs held at " + (
        f"{format_micros(material.moment)}, it says: {said}."
        if said
        else "that moment, it is silent."
    )


def _standing(material: Material) -> str:
    """How the model that answers stands beside the baselines, in a sentence."""
    evaluation = material.evaluation
    chosen = evaluation.chosen
    auc = number(evaluation.scores[chosen].roc_auc, 2)
    if is_baseline(chosen):
        return (
            f"The model that answers is {chosen}, itself a baseline: no learned model was surely "
            f"better. It ranks a success above a failure in {auc} of pairs (0.5 is chance)."
        )
    gain = evaluation.gain_over_baseline.get(chosen)
    return (
        f"The model that answers, {chosen}, ranks a success above a failure in {auc} of pairs (0.5 "
        f"is chance); its probabilities are {_compared(gain)} the best baseline's."
    )


def _compared(gain: Interval | None) -> str:
    """What a difference of log losses (less is better) says."""
    if gain is None or gain.value is None or gain.value >= 0:
        return "no better than"
    sure = gain.high is not None and gain.high < 0
    return "surely better than" if sure else "better here, though not surely so, than"


def _cards(material: Material) -> list[Markup]:
    evaluation = material.evaluation
    chosen, costs = evaluation.chosen, evaluation.costs
    auc = evaluation.auc[chosen]
    interval = "" if auc.low is None else f"95 % interval {auc.low:.2f} to {auc.high:.2f}; "
    best = costs[cheapest_baseline(costs)].cost
    more = (costs[chosen].cost - best) / best if best else 0.0
    return [
        card(
            f"{evaluation.batches}",
            "batches judged",
            f"{len(evaluation.table)} releases, all later than the training",
        ),
        card(number(auc.value, 2), f"ROC AUC of {chosen}", f"{interval}1 is perfect, 0.5 chance"),
        card(
            percent(evaluation.scores[chosen].ece),
            "calibration error",
            "average distance of predicted from observed shares; by chance alone up to "
            f"{percent(evaluation.ece_by_chance[chosen])}",
        ),
        card(
            percent(abs(more)),
            f"{'more' if more > 0 else 'less'} than the best baseline's cost",
            cost_in_words(material),
        ),
    ]


_WORDS = {
    "release": "Released as it is, the job is likely enough to succeed that trying pays.",
    "wait": "It is better released later: by then what failed is likely over.",
    "fix": "Released as it is, it would fail again; what to mend is known and stands beside it.",
    "remove": "It would fail whenever it is released, no mend is known, and like jobs failed "
    "before.",
    "unsure": "Too little is known. Where many wait alike, releasing a few is a cheap way to know.",
    "user hold": "Its user holds it, or its input is being spooled: nothing to decide.",
    "P(success)": "The probability that the job, released as it is, terminates with return value 0 "
    "before it is held again or removed by policy.",
    "90 % interval": "Where the share of successes among many like decisions lies nine times in "
    "ten.",
    "gain": "What the answer is expected to save, in wasted runs.",
    "baseline": "What needs no learning: a constant, the rules that sites use today, smoothed "
    "rates. A model answers only if it surely beats them.",
    "ROC AUC": "How often a success is ranked above a failure. 0.5 is chance.",
    "ECE": "Calibration error: how far foretold and observed shares differ, on average.",
}


def _reading_part() -> Markup:
    entries: list[Markup] = []
    for word, meaning in _WORDS.items():
        entries += [element("dt", word), element("dd", meaning)]
    return section("How to read this", element("dl", *entries))


def _provenance_part(material: Material) -> Markup:
    model = material.model
    scale, read = model.scale, material.read
    rows = [
        ["Logs read here", f"{read.files} files, {read.bytes / 1e6:,.1f} MB, from "
         f"{_text(read.first)} to {_text(read.last)}"],
        ["Damaged stretches", f"{len(read.skipped)} skipped; all other records were kept"],
        ["Model", model.label],
        *([f"Trained on {printable(source.name, 80)}", f"SHA-256 {source.sha256}"]
          for source in model.sources),
        ["Parts of the training", _parts(material)],
        ["Pace of the pool", f"{format_span(scale.pace)} from a release to its outcome (median); "
         f"horizon {format_span(scale.horizon)}, frames of {format_span(scale.timeframe_len)}"],
        ["Versions", _versions(material)],
    ]  # fmt: skip
    return section(
        "Where it comes from",
        table(["", ""], rows, caption="Sources, settings and versions.", text_columns=2),
        lead="The same logs, settings, seed and machine give the same report, byte for byte.",
    )


def _text(moment: int | None) -> str:
    return "–" if moment is None else format_micros(moment)


def _parts(material: Material) -> str:
    parts = material.facts.get("parts", {})
    told = [
        f"{name} {part['batches']} batches, {part['examples']} releases, "
        f"{part['successes']} succeeded"
        for name, part in parts.items()
    ]
    return "; ".join(told) or "not told"


def _versions(material: Material) -> str:
    manifest = material.model.manifest
    versions = {} if manifest is None else manifest.versions
    return ", ".join(f"{name} {version}" for name, version in versions.items()) or "not told"
