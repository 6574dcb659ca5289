"""Logistic regression on scaled features and rates of causes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from jobsight.errors import ModelError, TrainingError
from jobsight.models.base import Floats, Inputs, Labelled, held_back
from jobsight.models.encoding import Design
from jobsight.models.logistic import fit_logistic, sigmoid
from jobsight.models.storage import Stored, save_body

__all__ = ["Linear"]

PENALTIES: tuple[float, ...] = (1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0)
STRONG = 3
"""So many of them are tried where a learned rate says most already: weaker ones suit one pool."""
DEFAULT_PENALTY = 30.0
MOST_ROWS = 40_000


class Linear(Stored):
    """Ridge-penalized logistic regression; the penalty is chosen on the latest rows.

    Predicting needs numpy only.
    """

    name: ClassVar[str] = "linear"
    needs_both: ClassVar[bool] = True

    def __init__(self) -> None:
        self._design: Design | None = None
        self._beta: Floats = np.zeros(1)
        self._penalty = DEFAULT_PENALTY

    @property
    def design(self) -> Design:
        """How inputs become columns; `ModelError`: the model is not fitted."""
        if self._design is None:
            raise ModelError("the model linear is not fitted")
        return self._design

    def fit(self, rows: Labelled, *, seed: int) -> None:
        """Fit with the penalty of a path by which the earlier rows predict the latest best."""
        earlier, later = held_back(rows)
        if len(later):
            best = (np.inf, 0.0)
            design, fits = _path(earlier, PENALTIES)
            columns = _with_ones(design.transform(later.inputs))
            margin = np.where(later.success, 1.0, -1.0)
            for penalty, beta in fits:
                loss = float(later.weight @ np.logaddexp(0.0, -margin * (columns @ beta)))
                best = min(best, (loss, -penalty))
            self._penalty = -best[1]
        self._fit(rows)

    def refitted(self, rows: Labelled, *, seed: int) -> Linear:
        model = Linear()
        model._penalty = self._penalty
        model._fit(rows)
        return model

    def _fit(self, rows: Labelled) -> None:
        self._design, fits = _path(rows, (self._penalty,))
        ((_, self._beta),) = fits

    def predict(self, inputs: Inputs) -> Floats:
        # Row by row: BLAS rounds a row by how many stand around it, and what a mixture says must be
        # the same bytes however much is known of later rows.
        columns = _with_ones(self.design.transform(inputs))
        return sigmoid(np.einsum("ij,j->i", columns, self._beta))

    def save(self, folder: Path) -> None:
        fitted = {"beta": self._beta.tolist(), "penalty": self._penalty}
        save_body(folder, self.name, {"design": self.design.to_json(), **fitted})

    def _read(self, folder: Path, body: dict[str, Any]) -> None:
        self._design = Design.from_json(body["design"])
        self._beta = np.array(body["beta"], dtype=np.float64)
        if self._beta.shape != (len(self._design.names) + 1,):
            raise ValueError("there is not one coefficient for each column")
        self._penalty = float(body["penalty"])


def _path(
    train: Labelled, penalties: Sequence[float]
) -> tuple[Design, Iterator[tuple[float, Floats]]]:
    """How rows become columns, of many rows the latest, and what is fitted with each penalty.

    Raises:
        TrainingError: there are no rows, or of one class only.
    """
    if len(np.unique(train.success)) < 2:
        raise TrainingError("linear: the training outcomes are all the same; both are needed")
    train = train.latest(MOST_ROWS)
    design, columns = Design.fit(train, train.inputs.few)
    columns, starts = _with_ones(columns), design.causes.as_known
    target = np.zeros(columns.shape[1])
    if starts:  # the ridge draws to that rate itself, the level of other pools included
        target[0], target[-1] = design.cause_center[-1], design.cause_spread[-1]

    def fits() -> Iterator[tuple[float, Floats]]:
        beta = np.zeros(columns.shape[1])
        for penalty in penalties[:STRONG] if starts else penalties:
            ridge = np.full(columns.shape[1], penalty)
            ridge[0] *= starts
            beta = fit_logistic(
                columns, train.success, train.weight, ridge, target=target, start=beta
            )
            yield penalty, beta

    return design, fits()


def _with_ones(columns: Floats) -> Floats:
    return np.concatenate([np.ones((len(columns), 1)), columns], axis=1)
