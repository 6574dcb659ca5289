"""The part of the report that shows the models of a sweep on the test part."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobsight.format import interval, number
from jobsight.models import is_baseline
from jobsight.reports.page import Markup, element, section, table
from jobsight.reports.scores import HEADINGS
from jobsight.reports.sweep.material import Examination, Material
from jobsight.reports.sweep.scales import short
from jobsight.text import counted, printable

__all__ = ["best_baseline", "gain_words", "tested_models", "tested_part"]


_MOST_MODELS = 40


@dataclass(frozen=True)
class Tested:
    """One model on the test part: numbers are None where undefined or not told.

    Attributes:
        name: of the model.
        scores: by metric.
        auc: 95 % interval of the area under the ROC curve.
        gain: loss less the best baseline's: value, low, high; below 0 is better.
        baseline: whether it needs no learning.
    """

    name: str
    scores: Mapping[str, float | None]
    auc: tuple[float, float] | None
    gain: tuple[float, float | None, float | None] | None
    baseline: bool


def number_of(value: object) -> float | None:
    """A value read from a file where it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def tested_models(report: Mapping[str, Any]) -> list[Tested]:
    """The models of a report, best ROC AUC first; whatever is not of its form is left out."""
    models = report.get("models")
    found = [
        _tested(str(name), scores, report.get("loss"))
        for name, scores in (models.items() if isinstance(models, Mapping) else ())
        if isinstance(scores, Mapping)
    ]
    return sorted(found, key=lambda one: (-(one.scores.get("roc_auc") or 0.0), one.name))[
        :_MOST_MODELS
    ]


def _tested(name: str, scores: Mapping[str, Any], loss: object) -> Tested:
    bounds = scores.get("roc_auc_ci")
    ends = [number_of(one) for one in bounds] if isinstance(bounds, Sequence) else []
    auc = None
    if len(ends) == 2 and ends[0] is not None and ends[1] is not None:
        auc = (ends[0], ends[1])
    told = scores.get(f"{loss}_gain")
    gain = None
    if isinstance(told, Mapping) and (value := number_of(told.get("value"))) is not None:
        gain = (value, number_of(told.get("low")), number_of(told.get("high")))
    values = {str(key): number_of(value) for key, value in scores.items()}
    return Tested(name, values, auc, gain, is_baseline(name))


def best_baseline(models: Sequence[Tested]) -> float | None:
    """The greatest area under the ROC curve among the baselines; None where none tells it."""
    told = [one.scores.get("roc_auc") for one in models if one.baseline]
    return max((value for value in told if value is not None), default=None)


def gain_words(test: Examination) -> str:
    """How the best run's network stands beside the baselines on the test part, in sentences."""
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


def tested_part(material: Material) -> Markup | None:
    """All models on the test part."""
    if material.test is None:
        return None
    report = material.test.report
    models, chosen = tested_models(report), str(report.get("chosen"))
    if not models:
        return None
    return section(
        "The best run on the test part",
        _table(models, chosen, material.test.network),
        element("p", material.test.reason) if material.test.reason else None,
        lead=_lead(material.test),
    )


def _lead(test: Examination) -> str:
    counts = [
        counted(int(number), noun, plural)
        for key, noun, plural in (("batches", "batch", "batches"), ("examples", "decision", None))
        if (number := number_of(test.report.get(key))) is not None
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
            interval(*(one.auc or (None, None))),
            "–" if one.gain is None else interval(*one.gain[1:], 3),
            *(number(one.scores.get(key)) for key in keys),
        ]
        for one in models
    ]
    return table(
        ["model", "ROC AUC, 95 %", "loss less baseline's, 95 %", *(HEADINGS[key] for key in keys)],
        rows,
        caption="By batch. Higher is better of ROC AUC, precision, F1, accuracy and coverage, "
        "lower of the others.",
        marked=[k for k, one in enumerate(models) if one.name == network],
    )
