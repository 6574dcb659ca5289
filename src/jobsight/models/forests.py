"""Boosted trees (LightGBM) for outputs of several columns: kinds, quantiles, shares.

One forest a column: kinds against the rest (log loss) and shares (cross entropy), both then made to
add up to 1; quantiles by the pinball loss, with as many trees at each level as the median needs,
then sorted so that they do not cross (Chernozhukov, Fernández-Val and Galichon, Econometrica 78,
2010).
Saved as arrays and as LightGBM's text, like `jobsight.models.boosted`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from jobsight.errors import ModelError, TrainingError
from jobsight.files import new_file
from jobsight.models.base import Floats, Inputs, Labelled, held_back
from jobsight.models.boosted import (
    LEAST_ROUNDS,
    MANY_ROWS,
    PARAMETERS,
    best_rounds,
    grow,
    known_features,
    leaves,
    lightgbm,
)
from jobsight.models.logistic import sigmoid
from jobsight.models.storage import Stored, require_names, save_body
from jobsight.models.trees import Trees
from jobsight.settings import BoostedSettings

__all__ = ["BoostedColumns"]

_OBJECTIVES = {"kinds": "binary", "quantiles": "quantile", "shares": "cross_entropy"}
_SMALLEST = 1e-6
_ROWS_OF_A_LEAF = 160
_OF_KINDS = {"extra_trees": True, "bagging_fraction": 0.7, "bagging_freq": 1}
"""Causes of failure come and go: trees that see less of the data each mistake fewer for habits."""
_OF_MANY: dict[str, Any] = {
    "learning_rate": 0.1,
    "num_leaves": 63,
    "min_data_in_leaf": 200,
    "path_smooth": 100.0,
    "feature_fraction": 0.75,
    "bagging_fraction": 0.5,
    "bagging_freq": 1,
    # As many as there are; the trees are the same with any number.
    "num_threads": 0,
}
"""Of quantiles of many rows."""
_ROUNDS_OF_MANY = 150
"""Their trees at most at each level: more gain little, and each fit anew grows them all."""
_OF_FEW = {
    "learning_rate": 0.05,
    "num_leaves": 15,
    "min_data_in_leaf": 40,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.5,
    "bagging_freq": 1,
}
"""Of quantiles of fewer rows."""
_ROUNDS_OF_FEW = 100
"""Their trees at each level. How many the latest rows want says little of later ones: they are of
a few users."""
MOST_ROWS = 80_000
"""Of quantiles, whose levels are a forest each, so many of the latest rows are learned from."""
_SHARED = 0.25
"""Of quantiles, the weight of a row falls by this power of how many share its batch: large arrays
are learned by heart otherwise, and intervals become too narrow for others."""


class BoostedColumns(Stored):
    """Boosted trees, one forest for each column of the output."""

    name: ClassVar[str] = "boosted"
    needs_both: ClassVar[bool] = False

    def __init__(self, settings: BoostedSettings | None = None) -> None:
        self._settings = settings or BoostedSettings()
        self._features: tuple[str, ...] = ()
        self._kind = ""
        self._forests: list[Trees] = []
        self._texts: list[str] = []
        self._rounds: list[int] = []

    def fit(self, rows: Labelled, *, seed: int) -> None:
        """Fit as many trees of each forest as let its loss on the latest rows fall."""
        rows = _latest(rows)
        earlier, later = held_back(rows)
        self._rounds = _rounds(earlier, later, self._parameters(earlier, seed))
        self._grow(rows, seed)

    def refitted(self, rows: Labelled, *, seed: int) -> BoostedColumns:
        model = BoostedColumns(self._settings)
        model._rounds = self._rounds
        model._grow(_latest(rows), seed)
        return model

    def _grow(self, rows: Labelled, seed: int) -> None:
        parameters = self._parameters(rows, seed)
        self._features, self._kind = rows.inputs.names, rows.output.kind
        if levels := rows.output.levels:  # all share one set of bins
            data = _dataset(_sharing(rows), rows.values, parameters)
            pairs = zip(levels, self._rounds, strict=True)
            boosters = [grow(data, {**parameters, "alpha": at}, count) for at, count in pairs]
        else:
            boosters = [
                grow(_dataset(rows, _target(rows, column), parameters), parameters, count)
                for column, count in enumerate(self._rounds)
            ]
        self._texts = [booster.model_to_string() for booster in boosters]
        self._forests = [Trees.from_dump(booster.dump_model()) for booster in boosters]

    def _parameters(self, rows: Labelled, seed: int) -> dict[str, Any]:
        if not len(rows) or not rows.inputs.names:
            raise TrainingError("boosted: there is nothing to learn from; give a longer history")
        return _parameters(rows, seed) | self._settings.model_dump(exclude_none=True)

    def predict(self, inputs: Inputs) -> Floats:
        if not self._forests:
            raise ModelError("the model boosted is not fitted")
        require_names(inputs, self._features)
        columns = known_features(inputs)
        margin = np.stack([trees.margin(columns) for trees in self._forests], axis=1)
        if self._kind == "quantiles":
            return np.sort(margin, axis=1)
        share = np.clip(sigmoid(margin), _SMALLEST, None)
        return np.asarray(share / share.sum(axis=1, keepdims=True), np.float64)

    def save(self, folder: Path) -> None:
        for k, (trees, text) in enumerate(zip(self._forests, self._texts, strict=True)):
            trees.save(folder / f"trees-{k}.safetensors")
            with new_file(folder / f"lightgbm-{k}.txt") as temporary:
                temporary.write_text(text, encoding="utf-8")
        body = {"features": list(self._features), "output": self._kind, "k": len(self._forests)}
        body |= {"rounds": self._rounds, "settings": self._settings.model_dump(exclude_none=True)}
        save_body(folder, self.name, body)

    def _read(self, folder: Path, body: dict[str, Any]) -> None:
        self._features = tuple(str(name) for name in body["features"])
        self._kind = str(body["output"])
        self._rounds = [int(one) for one in body["rounds"]]
        self._settings = BoostedSettings.model_validate(body["settings"])
        for k in range(int(body["k"])):
            text = (folder / f"lightgbm-{k}.txt").read_text(encoding="utf-8")
            self._texts.append(text)
            trees = Trees.load(folder / f"trees-{k}.safetensors", len(self._features))
            self._forests.append(trees)


def _target(rows: Labelled, column: int) -> Floats:
    """What the forest of a column is to predict: float64 (n,)."""
    if rows.output.kind == "kinds":
        return np.asarray(rows.values == column, np.float64)
    return np.asarray(rows.values[:, column], np.float64)


def _sharing(rows: Labelled) -> Labelled:
    """The rows, each of which weighs less the more share its batch."""
    batch = np.arange(len(rows)) if rows.batch is None else rows.batch
    _, of, counts = np.unique(batch, return_inverse=True, return_counts=True)
    weight = rows.weight * counts[of] ** -_SHARED
    return replace(rows, weight=np.asarray(weight * (rows.weight.sum() / weight.sum())))


def _parameters(train: Labelled, seed: int) -> dict[str, Any]:
    output = train.output
    own: dict[str, Any] = {"objective": _OBJECTIVES[output.kind], "metric": "", "seed": seed}
    if output.kind == "kinds":
        own |= _OF_KINDS | {
            "num_leaves": leaves(float(train.weight.sum())),
            "min_data_in_leaf": int(np.clip(len(train) / _ROWS_OF_A_LEAF, 5, 100)),
        }
    if output.kind == "quantiles":
        own |= _OF_MANY if len(train) >= MANY_ROWS else _OF_FEW
    return {**PARAMETERS, **own, "boost_from_average": True, "min_sum_hessian_in_leaf": 1e-3}


def _rounds(earlier: Labelled, later: Labelled, parameters: dict[str, Any]) -> list[int]:
    """Rounds of each forest; all levels of quantiles make as many as the median needs."""
    output, k = earlier.output, len(earlier.output.columns)
    if output.levels and len(earlier) < MANY_ROWS:
        return [_ROUNDS_OF_FEW] * k
    if not len(later):
        return [LEAST_ROUNDS] * k
    if output.levels:
        own = {**parameters, "alpha": 0.5, "metric": "quantile"}
        data = _dataset(_sharing(earlier), earlier.values, own)
        found = best_rounds(
            data, lambda of: _dataset(later, later.values, own, of), own, _ROUNDS_OF_MANY
        )
        return [found or LEAST_ROUNDS] * k
    return [
        max(LEAST_ROUNDS, best_rounds(
            _dataset(earlier, _target(earlier, column), parameters),
            lambda of, column=column: _dataset(later, _target(later, column), parameters, of),  # type: ignore[misc]
            parameters,
        ))
        for column in range(k)
    ]  # fmt: skip


def _latest(rows: Labelled) -> Labelled:
    return rows.latest(MOST_ROWS) if rows.output.levels else rows


def _dataset(rows: Labelled, values: Floats, parameters: dict[str, Any], of: Any = None) -> Any:
    columns = known_features(rows.inputs)
    return lightgbm().Dataset(
        columns, values, weight=rows.weight, reference=of, params=parameters, free_raw_data=False
    )
