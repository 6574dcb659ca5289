"""What a check says, how it is graded, and what checks are made on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl
from scipy import stats

from jobsight.errors import TrainingError
from jobsight.learning.bootstrap import POWER, Interval
from jobsight.learning.dataset import Dataset
from jobsight.learning.evaluation import Evaluation
from jobsight.learning.mixture import Mixture
from jobsight.learning.modeldir import ModelDir
from jobsight.models import is_baseline
from jobsight.models.base import Labelled

__all__ = [
    "DOUBTFUL",
    "OTHER_LOGS",
    "Audited",
    "Check",
    "Grade",
    "Parts",
    "Progress",
    "Result",
    "grade_of",
    "power",
    "worse",
]

FAILED, DOUBTFUL = 0.01, 0.05
"""Where many parts are tested: of the smallest p-value as Benjamini and Hochberg adjust it."""

Grade = Literal["passed", "doubtful", "failed"]
Progress = Callable[[str], None]
Parts = dict[str, tuple[pl.DataFrame, Labelled]]

OTHER_LOGS = "this is not the history that the model was trained on, so it cannot be trained again"

_STUDIED_INSTEAD = "boosted"
_SLOW = "lstm"


@dataclass(frozen=True)
class Check:
    """The answer to one question about a model.

    Attributes:
        name: a fixed word.
        about: whether it asks if the reported numbers are honest, or how good the model is.
        grade: None where the data do not allow one.
        detail: one or two plain sentences.
        numbers: what the sentences rest on.
        power: what size of fault these data would have shown, in a sentence.
    """

    name: str
    about: Literal["honesty", "quality"]
    grade: Grade | None
    detail: str
    numbers: dict[str, Any] = field(default_factory=dict)
    power: str = ""


def grade_of(p_value: float) -> Grade:
    """The grade of a check by the probability that chance alone gives what it found."""
    if p_value <= FAILED:
        return "failed"
    return "doubtful" if p_value <= DOUBTFUL else "passed"


def power(fault: str) -> str:
    """The sentence on a fault that these data show with probability `POWER`."""
    return f"With a probability of {POWER:.0%} it would have found {fault}."


def worse(difference: Interval, tests: int = 1) -> tuple[float, float] | None:
    """Whether a difference is above 0: one-sided p-value, and the difference that would be found.

    The interval of 95 % is taken for that of a normal distribution. None where it is undefined. Of
    the measure less is better; so many `tests` are made at once.
    """
    value, low, high = difference.value, difference.low, difference.high
    if value is None or low is None or high is None:
        return None
    error = max((high - low) / (2.0 * stats.norm.ppf(0.975)), 1e-12)
    found = (stats.norm.isf(DOUBTFUL / tests) + stats.norm.ppf(POWER)) * error
    return float(stats.norm.sf(value / error)), float(found)


@dataclass(frozen=True)
class Result:
    """A check with the tables behind it, by name: each a list of rows, plain data."""

    check: Check
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Audited:
    """A model under audit.

    Attributes:
        model: opened from its directory.
        data: the decisions, in the parts of the model's training where `own`; else one part.
        own: whether this is the history that the model was trained on.
        parts: table and examples by part; the last alone where not `own`.
        evaluation: of every model on the decisions that it may be judged by.
        reach: bool, of `data.table`: those decisions.
    """

    model: ModelDir
    data: Dataset
    own: bool
    parts: Parts
    evaluation: Evaluation
    reach: np.ndarray[Any, np.dtype[np.bool_]]

    @property
    def studied(self) -> str:
        """The kind of model that is trained again: the one that answers, if it learns features.

        Of a mixture, the member that it fits anew.
        """
        chosen = self.model.chosen
        answering = self.model.answering.model
        if isinstance(answering, Mixture):
            return answering.best
        if is_baseline(chosen) and _STUDIED_INSTEAD in self.model.fitted:
            return _STUDIED_INSTEAD
        return chosen

    @property
    def slow(self) -> bool:
        """Whether the studied kind takes seconds to train, so that fewer turns must do."""
        return self.studied == _SLOW or bool(self.data.goal.output.levels)

    @property
    def test(self) -> tuple[pl.DataFrame, Labelled]:
        """The decisions to judge by."""
        return self.evaluation.table, self.evaluation.labelled

    def taught(self) -> Labelled:
        """Examples of the train part; `TrainingError`: this is another history."""
        if not self.own:
            raise TrainingError(OTHER_LOGS)
        return self.parts["train"][1]
