"""The parts of the report that show how good the models are, and where they are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jobsight.clock import format_micros
from jobsight.format import number, percent
from jobsight.questions.hold.reporting.material import Material
from jobsight.questions.hold.reporting.plots import (
    cost_plot,
    importance_plot,
    precision_recall_plot,
    reliability_plot,
    roc_plot,
    slices_plot,
)
from jobsight.reports.page import Markup, element, figure, join, section, table
from jobsight.reports.scores import SCORES
from jobsight.text import printable

__all__ = ["audit_part", "costs_part", "models_part", "slices_part"]

_SLICES = 4
_STRATA = (
    ("cause", "By cause"),
    ("site", "By site"),
    ("owner", "By owner"),
    ("releaser", "By who released"),
    ("edited", "By whether it was mended"),
)
_SHOWN = 12
_FEATURES = 12


def models_part(material: Material) -> Markup:
    """All models side by side: table, curves, reliability."""
    evaluation = material.evaluation
    return section(
        "How well the models tell",
        _scores_table(material),
        _release_table(material),
        element(
            "div",
            figure(roc_plot(evaluation), "Up and to the left is better; the diagonal is chance."),
            figure(
                precision_recall_plot(evaluation),
                "Up and to the right is better; the grey line is the share of all that succeed.",
            ),
            class_="pair",
        ),
        element(
            "div",
            figure(reliability_plot(evaluation), _calibration_words(material)),
            element(
                "div",
                element("h3", "Which of them answers"),
                element("p", material.model.reason),
                element("h3", "How much of it is easy"),
                element("p", _easy(material)),
                element("h3", "What is left out"),
                element("p", _left_out(material)),
            ),
            class_="pair",
        ),
        lead=f"Judged on {evaluation.batches} batches ({len(evaluation.table)} releases) that no "
        "model was trained on, all later than the training. A batch is what one owner releases of "
        "one cluster and cause within a minute; it counts once.",
    )


def _scores_table(material: Material) -> Markup:
    evaluation = material.evaluation
    names = sorted(evaluation.scores, key=lambda n: -(evaluation.scores[n].roc_auc or 0.0))
    rows = []
    for name in names:
        scores, bounds = evaluation.scores[name], evaluation.auc[name]
        values = [number(getattr(scores, key)) for key, _ in SCORES]
        interval = "–" if bounds.low is None else f"{bounds.low:.2f}–{bounds.high:.2f}"
        label = f"{name} (answers)" if name == evaluation.chosen else name
        rows.append([label, values[0], interval, *values[1:]])
    headings = [heading for _, heading in SCORES]
    return table(
        ["model", headings[0], "95 % interval", *headings[1:]],
        rows,
        caption="By batch. Higher is better up to F1 of failure; lower is better from Brier on. "
        "Names without a colour in the plots are baselines.",
        marked=[names.index(evaluation.chosen)],
    )


def _release_table(material: Material) -> Markup:
    scores = material.evaluation.scores_by_release
    rows = [
        [name, *(number(getattr(one, key)) for key, _ in SCORES)]
        for name, one in sorted(scores.items(), key=lambda item: -(item[1].roc_auc or 0.0))
    ]
    shown = table(
        ["model", *(heading for _, heading in SCORES)],
        rows,
        caption="The same with every release counting once, large batches the most.",
    )
    return element("details", element("summary", "The same table by release"), shown)


def _calibration_words(material: Material) -> str:
    evaluation = material.evaluation
    error = evaluation.scores[evaluation.chosen].ece
    words = (
        "Each point is a tenth of the batches: on the diagonal, what was foretold came true. On "
        f"average a point of {evaluation.chosen} is {percent(error)} off"
    )
    if evaluation.coverage is None:
        return words + "."
    return (
        f"{words}; {percent(evaluation.coverage)} of its 90 % intervals held what later came (of "
        "five groups of like predictions)."
    )


def _easy(material: Material) -> str:
    sure = material.evaluation.sure_causes()
    rest = number(sure["roc_auc_rest"], 2)
    return (
        f"{percent(sure['share'])} of the decisions are in causes that nearly always or never "
        f"succeed. Within the rest, where judgement is needed, the ROC AUC is {rest}."
    )


def _left_out(material: Material) -> str:
    evaluation = material.evaluation
    kinds = {**evaluation.left_out, **evaluation.censored}
    if not kinds:
        return "Nothing: every release in these logs counts here."
    told = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in kinds.items())
    return (
        f"Not judged: {told}. What was cut short by a person or by the end of the log has no "
        "outcome; it is counted, never labelled."
    )


def costs_part(material: Material) -> Markup:
    """What decisions would have cost."""
    evaluation, costs = material.evaluation, material.model.settings.costs
    order = sorted(evaluation.costs, key=lambda name: evaluation.costs[name].cost)
    rows = []
    for name in order:
        one = evaluation.costs[name]
        label = name.replace("_", " ")
        shares = [percent(value) for value in (one.released, one.wasted, one.lost)]
        interval = "–" if one.low is None else f"{one.low:.2f}–{one.high:.2f}"
        rows.append([label, number(one.cost, 2), interval, *shares])
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
        f"have succeeded) {costs.lost_job:g}; both are settings (hold.costs). Releasing pays from "
        f"P(success) = {costs.wasted_run / (costs.wasted_run + costs.lost_job):.2f} on.",
    )


def slices_part(material: Material) -> Markup:
    """Quality over time, and by what the decisions have in common."""
    slices = _time_slices(material)
    tables = [
        element("details", element("summary", title), _strata_table(material, by, title))
        for by, title in _STRATA
    ]
    return section(
        "Where it is good, and where not",
        element(
            "div",
            figure(
                slices_plot(slices),
                "Share of successes foretold and observed, in equal parts of time.",
            ),
            _quality_table(slices, "Quality of the model that answers, over time."),
            class_="pair",
        ),
        *tables,
        lead="The model that answers, on parts of the same decisions. Small parts say little.",
    )


def _time_slices(material: Material) -> list[dict[str, Any]]:
    evaluation = material.evaluation
    count = min(_SLICES, len(evaluation.table))
    time = evaluation.table["time"].to_numpy()
    member = np.arange(len(time)) * count // max(len(time), 1)
    rows = []
    for one in range(count):
        inside = member == one
        start = format_micros(int(time[inside][0]))
        rows.append({"value": f"from {start[11:19]}", **evaluation.quality(inside)})
    return rows


def _strata_table(material: Material, by: str, title: str) -> Markup:
    rows = material.evaluation.stratum(by)
    if by == "edited":
        words = {"true": "mended before its release", "false": "released as it was"}
        rows = [{**row, "value": words.get(str(row["value"]), row["value"])} for row in rows]
    more = len(rows) - _SHOWN
    rest = f" {more} smaller parts are not shown." if more > 0 else ""
    return _quality_table(rows[:_SHOWN], f"{title}.{rest}")


def _quality_table(rows: Sequence[Mapping[str, Any]], caption: str) -> Markup:
    return table(
        ["", "batches", "succeeded", "foretold", "ROC AUC", "Brier"],
        [
            [
                printable(row["value"], 150),
                f"{row['batches']:.0f}",
                percent(row["base_rate"]),
                percent(row["predicted"]),
                number(row["roc_auc"], 2),
                number(row["brier"]),
            ]
            for row in rows
        ],
        caption=caption,
    )


def audit_part(material: Material) -> Markup | None:
    """What the audit found: its checks, its verdict, the features that matter."""
    audit = material.verification
    if audit is None:
        return None
    rows = [
        [
            _grade(check["grade"]),
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


def _grade(grade: str | None) -> Markup:
    style = {"passed": "pass", "failed": "fail"}.get(grade or "", "small")
    return element("span", printable(grade or "unknown", 20), class_=style)


def _importance(audit: Mapping[str, Any]) -> Markup | None:
    families = [
        (str(row["family"]), float(row["log_loss"] or 0.0), row["low"], row["high"])
        for row in audit.get("families", ())
    ]
    features = [
        (str(row["feature"]), float(row["log_loss"]), None, None)
        for row in audit.get("features", ())[:_FEATURES]
    ]
    figures = []
    if families:
        picture = importance_plot(families, "log loss gained without them", "families")
        figures.append(figure(picture, "Trained again without a family; lines: 95 % intervals."))
    if features:
        picture = importance_plot(features, "log loss gained when shuffled", "features")
        figures.append(figure(picture, "One feature's values shuffled among the decisions."))
    if not figures:
        return None
    title = element("h3", "What the model rests on")
    return join([title, element("div", *figures, class_="pair")])
