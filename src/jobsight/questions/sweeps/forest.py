"""The best run's model beside its baselines on the test part: values with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jobsight.models import is_baseline
from jobsight.questions.page import Markup, element
from jobsight.questions.sweeps.scales import Axis, numeric_axis, short, widened
from jobsight.questions.sweeps.svg import Box, dot, label, picture, segment, x_axis

__all__ = ["Tested", "best_baseline", "forest_plot", "number_of", "tested_models"]

_MOST_MODELS = 40


@dataclass(frozen=True)
class Tested:
    """One model on the test part: numbers are None where undefined or not told.

    Attributes:
        name: of the model.
        scores: by metric.
        auc: 95 % interval of the area under the ROC curve.
        gain: log loss less the best baseline's: value, low, high; below 0 is better.
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
        _tested(str(name), scores)
        for name, scores in (models.items() if isinstance(models, Mapping) else ())
        if isinstance(scores, Mapping)
    ]
    return sorted(found, key=lambda one: (-(one.scores.get("roc_auc") or 0.0), one.name))[
        :_MOST_MODELS
    ]


def _tested(name: str, scores: Mapping[str, Any]) -> Tested:
    bounds = scores.get("roc_auc_ci")
    ends = [number_of(one) for one in bounds] if isinstance(bounds, Sequence) else []
    auc = None
    if len(ends) == 2 and ends[0] is not None and ends[1] is not None:
        auc = (ends[0], ends[1])
    told = scores.get("log_loss_gain")
    gain = None
    if isinstance(told, Mapping) and (value := number_of(told.get("value"))) is not None:
        gain = (value, number_of(told.get("low")), number_of(told.get("high")))
    values = {str(key): number_of(value) for key, value in scores.items()}
    return Tested(name, values, auc, gain, is_baseline(name))


def best_baseline(models: Sequence[Tested]) -> float | None:
    """The greatest area under the ROC curve among the baselines; None where none tells it."""
    told = [one.scores.get("roc_auc") for one in models if one.baseline]
    return max((value for value in told if value is not None), default=None)


def forest_plot(models: Sequence[Tested], network: str, kind: str) -> Markup | None:
    """Values with intervals, one row a model; None where no model has any.

    Args:
        models: on the test part.
        network: the one of the best run, which stands out.
        kind: ``auc``, or ``gain`` over the best baseline in log loss.
    """
    rows = [(one, *_values(one, kind)) for one in models]
    told = [row for row in rows if row[1] is not None]
    if not told:
        return None
    box = Box(500, 44 + 26.0 * len(told), left=150, right=66, top=6, bottom=38)
    ends = [v for _, *values in told for v in values if v is not None]
    axis = widened(numeric_axis(np.array([*ends, 0.0 if kind == "gain" else 0.5]), log=False))
    middle = box.x(float(axis.place(np.array([0.0 if kind == "gain" else 0.5]))[0]))
    name = "log loss less the best baseline's" if kind == "gain" else "ROC AUC"
    words = ", ".join(f"{one.name} {short(value or 0.0, 3)}" for one, value, *_ in told)
    return picture(
        box,
        f"{name} on the test part",
        f"{words}. Lines are 95 % intervals.",
        x_axis(box, axis, name=f"{name} ({'← better' if kind == 'gain' else 'better →'})"),
        segment(middle, box.top, middle, box.bottom, "rod"),
        *(
            _row(box, axis, 26.0 * k + box.top + 13, *row, first=row[0].name == network)
            for k, row in enumerate(told)
        ),
    )


def _values(one: Tested, kind: str) -> tuple[float | None, float | None, float | None]:
    if kind == "gain":
        return one.gain or (None, None, None)
    low, high = one.auc or (None, None)
    return one.scores.get("roc_auc"), low, high


def _row(
    box: Box, axis: Axis, y: float, one: Tested, value: float | None, low: float | None,
    high: float | None, *, first: bool,
) -> Markup:  # fmt: skip
    x, left, right = (
        box.x(float(axis.place(np.array([v if v is not None else value], float))[0]))
        for v in (value, low, high)
    )
    kind = "first" if first else ("baseline" if one.baseline else "learned")
    bold = "n best" if first else None
    return element(
        "g",
        label(box.left - 10, y + 4, one.name, anchor="end", class_=bold, width=box.left - 12),
        segment(left, y, right, y, f"whisker {kind}"),
        dot(x, y, 5, kind),
        label(box.right + 8, y + 4, short(value or 0.0, 3), class_=bold),
    )
