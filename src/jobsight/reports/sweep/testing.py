"""The part of the report that shows the best run on the test part, next to its baselines."""

from __future__ import annotations

from jobsight.format import number
from jobsight.reports.page import Markup, element, figure, section, table
from jobsight.reports.scores import HEADINGS
from jobsight.reports.sweep.data import Examination, SweepData
from jobsight.reports.sweep.forest import (
    Tested,
    best_baseline,
    forest_plot,
    tested_models,
)
from jobsight.reports.sweep.scales import short
from jobsight.text import counted, printable

__all__ = ["gain_words", "tested_part"]


def gain_words(test: Examination) -> str:
    """How the best run's network stands next to the baselines on the test part, in sentences."""
    models = tested_models(test.report)
    named = {one.name: one for one in models}
    network, answers = named.get(test.network), named.get(str(test.report.get("chosen")))
    words = []
    if network is not None:
        words.append(f"On the test part {_standing(network)}")
        if (best := best_baseline(models)) is not None:
            words.append(f"The best baseline has ROC AUC {best:.2f}.")
    if answers is not None and answers is not network:
        name = f"{printable(answers.name, 40)}{', a baseline,' if answers.baseline else ''}"
        words.append(f"Of all models {name} was chosen to answer.")
    return " ".join(words) or "Its test report has no numbers of its network."


def _standing(one: Tested) -> str:
    auc = one.scores.get("roc_auc")
    ranked = "" if auc is None else f" has ROC AUC {auc:.2f};"
    return f"its network{ranked} its loss is {_gain(one)}."


def _gain(one: Tested) -> str:
    if one.gain is None:
        return "not compared with the baselines'"
    value, low, high = one.gain
    if low is None or high is None:
        return f"{short(abs(value), 2)} {'less' if value < 0 else 'more'} than the best baseline's"
    bounds = f"95 % interval of the difference {short(low, 2)} to {short(high, 2)}"
    if value >= 0:
        return f"no better than the best baseline's ({bounds})"
    sure = "surely better" if high < 0 else "better here, though not surely so"
    return f"{short(-value, 2)} below the best baseline's: {sure} ({bounds})"


def tested_part(data: SweepData) -> Markup | None:
    """All models on the test part: pictures with intervals, then the table."""
    if data.test is None:
        return None
    report = data.test.report
    models, chosen = tested_models(report), str(report.get("chosen"))
    if not models:
        return None
    pictures = [
        figure(picture, words)
        for kind, words in (
            ("auc", "ROC AUC with 95 % intervals; 0.5 is chance."),
            ("gain", "Loss less the best baseline's: left of the line is better."),
        )
        if (picture := forest_plot(models, data.test.network, kind)) is not None
    ]
    return section(
        "The best run on the test part",
        element("div", *pictures, class_="pair") if pictures else None,
        _table(models, chosen, data.test.network),
        element("p", data.test.reason) if data.test.reason else None,
        lead=_lead(data.test),
    )


def _lead(test: Examination) -> str:
    counts = [
        counted(test.report[key], noun, plural)
        for key, noun, plural in (("batches", "batch", "batches"), ("examples", "decision", None))
        if key in test.report
    ]
    often = (
        "once"
        if test.looks < 2
        else (f"{test.looks} times, each with another network, which flatters the last")
    )
    seen = f" ({', '.join(counts)})" if counts else ""
    return (
        f"The last stretch of the history{seen}, which no run was trained on or chosen by, looked "
        f"at {often}. Marked: the best run's network. Grey: baselines, which need no learning."
    )


def _table(models: list[Tested], chosen: str, network: str) -> Markup:
    keys = [key for key in HEADINGS if any(key in one.scores for one in models)]
    rows = [
        [
            f"{printable(one.name, 60)}{' (answers)' if one.name == chosen else ''}",
            *(number(one.scores.get(key)) for key in keys),
        ]
        for one in models
    ]
    return table(
        ["model", *(HEADINGS[key] for key in keys)],
        rows,
        caption="By batch. Higher is better of ROC AUC, precision, F1, accuracy and coverage, "
        "lower of the others.",
        marked=[k for k, one in enumerate(models) if one.name == network],
    )
