"""The best run's model next to its baselines on the test part: values with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jobsight.models import is_baseline
from jobsight.reports.drawing import BLACK, BLUE, GREY, draw
from jobsight.reports.page import Markup
from jobsight.reports.sweep.plotting import BEST
from jobsight.reports.sweep.scales import short
from jobsight.text import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Tested", "best_baseline", "forest_plot", "tested_models"]

_MOST_MODELS = 40


@dataclass(frozen=True)
class Tested:
    """One model on the test part: numbers are None where undefined or unknown.

    Attributes:
        name: of the model.
        scores: by metric.
        auc: 95 % interval of the area under the ROC curve.
        gain: loss less the best baseline's: value, low, high; below 0 is better.
        baseline: whether it needs no learning.
    """

    name: str
    scores: Mapping[str, Any]
    auc: tuple[float, float] | None
    gain: tuple[float, float | None, float | None] | None
    baseline: bool


def tested_models(report: Mapping[str, Any]) -> list[Tested]:
    """The models of a report, best ROC AUC first."""
    found = [_tested(name, scores, report["loss"]) for name, scores in report["models"].items()]
    return sorted(found, key=lambda one: (-(one.scores.get("roc_auc") or 0.0), one.name))[
        :_MOST_MODELS
    ]


def _tested(name: str, scores: Mapping[str, Any], loss: str) -> Tested:
    low, high = scores.get("roc_auc_ci") or (None, None)
    gain = scores.get(f"{loss}_gain") or {}
    return Tested(
        name,
        scores,
        None if low is None or high is None else (low, high),
        None if gain.get("value") is None else (gain["value"], gain["low"], gain["high"]),
        is_baseline(name),
    )


def best_baseline(models: Sequence[Tested]) -> float | None:
    """The greatest area under the ROC curve among the baselines; None where none has it."""
    scores = [one.scores.get("roc_auc") for one in models if one.baseline]
    return max((value for value in scores if value is not None), default=None)


def forest_plot(models: Sequence[Tested], network: str, kind: str) -> Markup | None:
    """Values with intervals, one row per model; None where no model has any.

    Args:
        models: on the test part.
        network: the one of the best run, which stands out.
        kind: ``auc``, or ``gain`` over the best baseline in loss.
    """
    rows = [(one, value, low, high) for one in models
            for value, low, high in [_values(one, kind)] if value is not None]  # fmt: skip
    if not rows:
        return None
    name = "loss less the best baseline's" if kind == "gain" else "ROC AUC"

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        axes.axvline(0.0 if kind == "gain" else 0.5, color=GREY, lw=1)
        for place, (one, value, low, high) in enumerate(rows):
            first = one.name == network
            colour = BEST if first else GREY if one.baseline else BLUE
            ends = [value if low is None else low, value if high is None else high]
            axes.plot(ends, [place, place], color=colour, lw=2)
            axes.plot(value, place, "o", color=colour, ms=7)
            axes.text(1.02, place, short(value, 3), va="center", color=BLACK,
                      transform=axes.get_yaxis_transform())  # fmt: skip
        axes.set_yticks(range(len(rows)), [printable(row[0].name, 26) for row in rows])
        for label, row in zip(axes.get_yticklabels(), rows, strict=True):
            label.set_fontweight("bold" if row[0].name == network else "normal")
        axes.grid(visible=False, axis="y")
        axes.invert_yaxis()
        axes.set_xlabel(f"{name} ({'← better' if kind == 'gain' else 'better →'})")

    listed = ", ".join(f"{one.name} {short(value, 3)}" for one, value, *_ in rows)
    words = f"{name} on the test part: {listed}. Lines are 95 % intervals."
    return draw(f"forest {kind}", 5.2, 0.9 + 0.27 * len(rows), words, paint)


def _values(one: Tested, kind: str) -> tuple[float | None, float | None, float | None]:
    if kind == "gain":
        return one.gain or (None, None, None)
    low, high = one.auc or (None, None)
    return one.scores.get("roc_auc"), low, high
