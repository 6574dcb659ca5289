"""The audit of a trained model: can its numbers be believed, and where is it weak?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from jobsight.files import Kind
from jobsight.learning.audit.checks import Audited, Check, Grade, Progress, Result
from jobsight.learning.audit.importance import check_features
from jobsight.learning.audit.leaks import check_shuffled, check_split, check_truncation
from jobsight.learning.audit.quality import (
    check_calibration,
    check_intervals,
    check_strata,
    check_time,
)
from jobsight.learning.dataset import PARTS, Dataset
from jobsight.learning.evaluation import Evaluation, evaluate
from jobsight.learning.modeldir import ModelDir

__all__ = ["CHECKS", "Audit", "Audited", "Check", "audit", "audited"]

CHECKS: dict[str, Callable[[Audited], Result]] = {
    "outcomes shuffled": check_shuffled,
    "splits by chance": check_split,
    "logs cut at the decision": check_truncation,
    "what the model rests on": check_features,
    "quality over time": check_time,
    "quality by slice": check_strata,
    "calibration": check_calibration,
    "90 % intervals": check_intervals,
}
"""What is checked, in this order."""


@dataclass(frozen=True)
class Audit:
    """What was found.

    Attributes:
        model: the model's label.
        own: whether the source is what the model was trained on.
        evaluation: what it was judged by.
        checks: one a question, in order.
        tables: rows behind the checks, by name.
    """

    model: str
    own: bool
    evaluation: Evaluation
    checks: tuple[Check, ...]
    tables: dict[str, list[dict[str, Any]]]

    @property
    def grade(self) -> Grade:
        """The worst of the checks; at best doubtful where one on honesty could not be made."""
        if any(check.grade == "failed" for check in self.checks):
            return "failed"
        unknown = any(check.grade is None and check.about == "honesty" for check in self.checks)
        doubtful = any(check.grade == "doubtful" for check in self.checks)
        return "doubtful" if unknown or doubtful else "passed"

    @property
    def verdict(self) -> str:
        """One sentence over all."""
        honesty = {check.grade for check in self.checks if check.about == "honesty"}
        if "failed" in honesty:
            belief = "the reported numbers cannot be believed"
        elif honesty != {"passed"}:
            belief = "this history does not show whether the reported numbers can be believed"
        elif self.grade == "passed":
            belief = "the reported numbers can be believed, no leak was found"
        else:
            belief = "no leak was found"
        words = f"{self.grade.capitalize()}: {belief}; {len(self._names('passed'))} of "
        words += f"{len(self.checks)} checks passed"
        grades: tuple[Grade | None, ...] = ("failed", "doubtful", None)
        for grade in grades:
            names = self._names(grade)
            words += f"; {grade or 'unknown'}: {', '.join(names)}" if names else ""
        return f"{words}."

    def _names(self, grade: Grade | None) -> list[str]:
        return [check.name.replace("_", " ") for check in self.checks if check.grade == grade]

    def to_json(self) -> dict[str, Any]:
        """The audit as plain data."""
        return {
            "schema": Kind.VERIFICATION.schema,
            "question": self.evaluation.question.name,
            "target": self.evaluation.target,
            "model": self.model,
            "trained_on_these_logs": self.own,
            "verdict": self.verdict,
            "grade": self.grade,
            "checks": [asdict(check) for check in self.checks],
            **self.tables,
        }


def audit(model: ModelDir, source: Any, *, progress: Progress = lambda _step: None) -> Audit:
    """Check the main target of a trained model on a source, best the one it was trained on.

    The model is opened with all its models. Of its own source, training can be repeated; of
    another, what needs that is left out and said so.

    Raises:
        TrainingError: no decision with an outcome is left to judge by.
    """
    progress("building examples")
    it = audited(model, source)
    results = []
    checks = {**CHECKS, **model.question.checks()}
    if not model.question.timed:
        del checks["quality over time"]
    for step, check in checks.items():
        progress(f"checking: {step}")
        results.append(check(it))
    tables = {name: rows for result in results for name, rows in result.tables.items()}
    found = tuple(result.check for result in results)
    return Audit(model.label, it.own, it.evaluation, found, tables)


def audited(model: ModelDir, source: Any) -> Audited:
    """What checks are made on; `TrainingError`: no decision with an outcome is left to judge by."""
    data = Dataset.for_audit(source, model)
    own = data.holds_all_of(model)
    if own:
        parts = {name: data.labelled(data.part(name)) for name in PARTS}
        reach, left_out = data.part("test"), data.dropped(data.since_test())
    else:
        data, parts = Dataset.for_judging(source, model), {}
        reach, left_out = data.unseen_by(model)
    return Audited(model, data, own, parts, evaluate(model.main, data, reach, left_out), reach)
