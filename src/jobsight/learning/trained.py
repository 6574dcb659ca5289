"""What training made: models, with the parts and choices that they came from."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from jobsight.clock import format_micros
from jobsight.learning.dataset import Dataset
from jobsight.learning.evaluation import Evaluation
from jobsight.learning.modeldir import ModelDir, TargetModel
from jobsight.learning.selection import Choice
from jobsight.models.base import Labelled

__all__ = ["Parts", "Trained", "TrainedTarget"]

Parts = dict[str, tuple[pl.DataFrame, Labelled]]


@dataclass(frozen=True)
class TrainedTarget:
    """What training made for one target.

    Attributes:
        data: the dataset, seen by this target.
        parts: table and examples of each part, by name.
        choice: made on the backtest.
        evaluation: of the test part.
        skipped: models that were not trained, with the reason.
        model: what answers.
    """

    data: Dataset
    parts: Parts
    choice: Choice
    evaluation: Evaluation
    skipped: dict[str, str]
    model: TargetModel

    def facts(self) -> dict[str, Any]:
        """What the manifest keeps of the parts and the choice."""
        return {
            "parts": {
                name: {
                    "examples": len(table),
                    "batches": int(table["batch"].n_unique()),
                    "base_rate": self.data.goal.mean(labelled.values, labelled.weight),
                }
                for name, (table, labelled) in self.parts.items()
            },
            "dropped": self.data.dropped(np.ones(len(self.data.table), np.bool_)),
            "choice": {
                "name": self.choice.name,
                "reason": self.choice.reason,
                "backtest": {name: asdict(value) for name, value in self.choice.values.items()},
            },
            "skipped_models": self.skipped,
        }


@dataclass(frozen=True)
class Trained:
    """What training made.

    Attributes:
        model: ready to be saved.
        data: the dataset, its parts included.
        targets: those that can be learned from this history, by name.
    """

    model: ModelDir
    data: Dataset
    targets: dict[str, TrainedTarget]

    @property
    def main(self) -> TrainedTarget:
        """The question's first target."""
        return next(iter(self.targets.values()))

    def facts(self) -> dict[str, Any]:
        """What the manifest keeps of the training data; of other targets below their names."""
        decisions = self.data.decisions
        first, *others = self.targets.items()
        return {
            **decisions.facts,
            "no_decision": dict(decisions.left_out),
            "first": _moment(decisions.since),
            "last": _moment(decisions.until),
            "borders": [_moment(int(border)) for border in self.data.borders],
            **first[1].facts(),
            **({"targets": {name: one.facts() for name, one in others}} if others else {}),
        }


def _moment(microseconds: int) -> str:
    return format_micros(microseconds).replace(" ", "T")
