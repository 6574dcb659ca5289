"""Repeated cross-validation in which no group is on both sides, and transfer to held-out slices.

For questions whose decisions have groups and no time. Every row is predicted once in each
repetition, by models that saw none of its group. A stack is not fitted anew within each fold: its
weights for a fold are learned from what its members said of the other folds' rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight import models
from jobsight.learning.bootstrap import Bootstrap, Interval
from jobsight.learning.dataset import drawn_together
from jobsight.learning.question import Question
from jobsight.learning.targets import Scores
from jobsight.models.base import Floats, Labelled
from jobsight.models.softmax import balanced, folds, softmax, targets_of
from jobsight.models.stack import BALANCE, Stack, pooled_weights
from jobsight.settings import QuestionSettings

__all__ = ["Crossed", "cross", "examples", "transfer"]

_SMALLEST = 1e-4
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Crossed:
    """What models said of rows whose groups they had not seen.

    Attributes:
        question, target: that were asked.
        table: the n rows.
        labelled: their inputs and values.
        said: by model, float64 (repetitions, n, k).
    """

    question: Question[Any]
    target: str
    table: pl.DataFrame
    labelled: Labelled
    said: dict[str, Floats]

    def scores(self, name: str) -> Scores:
        """The target's metrics, means over the repetitions."""
        goal, known = self.question.targets[self.target], self.labelled
        each = [goal.scores(one, known.values, known.weight) for one in self.said[name]]
        found = {}
        for metric in each[0]:
            values = [value for one in each if (value := one[metric]) is not None]
            found[metric] = float(np.mean(values)) if values else None
        return found

    def intervals(self, metric: str, draws: int, seed: int) -> dict[str, Interval]:
        """A metric of each model, with its interval over groups; means over the repetitions."""
        goal = self.question.targets[self.target]
        return self._bootstrap(draws, seed).intervals(_mean(goal.metric(metric)), self._stacked)

    def differences(self, metric: str, less: str, draws: int, seed: int) -> dict[str, Interval]:
        """A metric of each model less that of `less`, on the same resamples of groups."""
        goal = self.question.targets[self.target]
        bootstrap = self._bootstrap(draws, seed)
        return bootstrap.differences(_mean(goal.metric(metric)), self._stacked, less)

    @property
    def _stacked(self) -> dict[str, Floats]:
        return {name: np.moveaxis(said, 0, -1) for name, said in self.said.items()}

    def _bootstrap(self, draws: int, seed: int) -> Bootstrap:
        known = self.labelled
        return Bootstrap(known.values, known.weight, drawn_together(self.table), draws, seed)


def _mean(metric: Any) -> Any:
    """The metric's mean over the last axis of predictions, the repetitions."""

    def found(said: Floats, values: NDArray[Any], weight: Floats) -> Any:
        return np.mean(
            [metric(said[..., k], values, weight) for k in range(said.shape[-1])], axis=0
        )

    return found


def examples(
    question: Question[Any], source: Any, settings: QuestionSettings, target: str
) -> tuple[pl.DataFrame, Labelled]:
    """All decisions of a source whose outcome is known, as examples."""
    decisions = question.decisions(source, settings).table.filter(pl.col(target).is_not_null())
    builder = question.builder(source, question.encoding(decisions, settings), settings)
    table, inputs = builder.build(decisions, question.moments(None)[0])
    goal = question.targets[target]
    weight = np.ones(len(table))
    values = goal.values(table[target])
    return table, Labelled(inputs, values, weight, drawn_together(table), goal.output)


def cross(
    question: Question[Any],
    source: Any,
    settings: QuestionSettings,
    names: Sequence[str],
    *,
    target: str,
    parts: int = 5,
    repetitions: int = 3,
    progress: Progress = lambda _step: None,
) -> Crossed:
    """Predict every row by models that did not see its group.

    Args:
        question: that is asked.
        source: of its decisions.
        settings: of the question.
        names: of the models; a stack's members must be among them.
        target: of kinds or shares.
        parts: of each repetition.
        repetitions: how many, each with other parts.
        progress: is called with what is being done.
    """
    table, labelled = examples(question, source, settings, target)
    targets, weight = targets_of(labelled), balanced(labelled, BALANCE)
    said = {name: np.zeros((repetitions, *targets.shape)) for name in names}
    for turn in range(repetitions):
        masks = folds(labelled, parts, settings.seed + turn)
        for number, held in enumerate(masks):
            for name in names:
                if name != Stack.name:
                    progress(f"{name}: part {number + 1} of {parts}, {turn + 1} of {repetitions}")
                    found = _fitted(question, settings, name, labelled.take(~held))
                    said[name][turn, held] = found.predict(labelled.inputs.take(held))
        if Stack.name in said:
            members = np.stack([said[name][turn] for name in question.members])
            for held in masks:
                pool = pooled_weights(members[:, ~held], targets[~held], weight[~held])
                said[Stack.name][turn, held] = _pooled(members[:, held], *pool)
    return Crossed(question, target, table, labelled, said)


def transfer(
    crossed: Crossed, settings: QuestionSettings, by: str, *, least: int = 10, parts: int = 2
) -> dict[str, dict[str, Scores]]:
    """Scores on each slice, by models that saw neither the slice nor the groups judged.

    Args:
        crossed: its rows and models.
        settings: of the question.
        by: a column of its table, such as ``language``.
        least: rows of a slice.
        parts: in which groups are held out.
    """
    question, known = crossed.question, crossed.labelled
    goal, targets, found = question.targets[crossed.target], targets_of(known), {}
    labels = crossed.table[by].fill_null("").to_numpy()
    for value, count in zip(*np.unique(labels, return_counts=True), strict=True):
        inside = labels == value
        if count < least or inside.all():
            continue
        said = {name: np.zeros(targets.shape) for name in crossed.said}
        for held in folds(known, parts, settings.seed):
            judged, rest = inside & held, ~inside & ~held
            for name, own_said in said.items():
                if name != Stack.name:
                    model = _fitted(question, settings, name, known.take(rest))
                    own_said[judged] = model.predict(known.inputs.take(judged))
            if Stack.name in said:
                before = np.stack([crossed.said[name][0] for name in question.members])
                pool = pooled_weights(
                    before[:, rest], targets[rest], balanced(known, BALANCE)[rest]
                )
                own = np.stack([said[name][judged] for name in question.members])
                said[Stack.name][judged] = _pooled(own, *pool)
        found[str(value)] = {
            name: goal.scores(one[inside], known.values[inside], known.weight[inside])
            for name, one in said.items()
        }
    return found


def _fitted(question: Question[Any], settings: Any, name: str, rows: Labelled) -> models.Model:
    model = models.create(
        name, columns=question.columns, boosted=getattr(settings, "boosted", None),
        output=rows.output,
    )  # fmt: skip
    model.fit(rows, seed=settings.seed)
    return model


def _pooled(members: Floats, weights: Floats, offsets: Floats) -> Floats:
    logs = np.log(np.maximum(members, _SMALLEST))
    return softmax(np.einsum("m,mnk->nk", weights, logs) + offsets)
