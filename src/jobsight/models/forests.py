"""Boosted trees (LightGBM) for outputs of several columns: kinds, quantiles, shares.

One forest a column: kinds against the rest (log loss) and shares (cross entropy), both then made to
add up to 1; quantiles by the pinball loss, with as many trees at each level as the median needs
(of many rows half as many at the others, which learn single rows by heart sooner), then sorted so
that they do not cross (Chernozhukov, Fernández-Val and Galichon, Econometrica 78, 2010).
Saved as arrays and as LightGBM's text, like `jobsight.models.boosted`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from jobsight.errors import ModelError, TrainingError
from jobsight.files import new_file
from jobsight.models.base import Floats, Inputs, Labelled
from jobsight.models.boosted import (
    LEAST_ROUNDS,
    MANY_ROWS,
    MOST_ROUNDS,
    PARAMETERS,
    PATIENCE,
    boost,
    known_features,
    leaves,
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
    "feature_fraction": 0.25,
    "bagging_fraction": 0.5,
    "bagging_freq": 1,
}
"""Of quantiles of many rows."""
_SHARED = 0.25
"""Of many rows, the weight of each falls by this power of how many share its batch: large arrays
are learned by heart otherwise, and intervals become too narrow for others."""


class BoostedColumns(Stored):
    """Boosted trees, one forest for each column of the output.

    Implements `jobsight.models.base.Model`.
    """

    name: ClassVar[str] = "boosted"
    needs_both: ClassVar[bool] = False

    def __init__(self, settings: BoostedSettings | None = None) -> None:
        self._settings = settings or BoostedSettings()
        self._features: tuple[str, ...] = ()
        self._kind = ""
        self._forests: list[Trees] = []
        self._texts: list[str] = []
        self._rounds = 0

    def fit(self, train: Labelled, select: Labelled, *, seed: int) -> None:
        """Add trees to each forest until its loss on `select` stops falling.

        Raises:
            TrainingError: `train` has no rows or no features.
        """
        self._fit(train, select, seed, None)

    def refitted(self, rows: Labelled, *, seed: int) -> BoostedColumns:
        """A new model of quantiles with as many trees, fitted on all of `rows`.

        Raises:
            TrainingError: `rows` are none.
        """
        model = BoostedColumns(self._settings)
        model._fit(rows, rows.take(np.zeros(0, np.int64)), seed, self._rounds or None)
        return model

    def _fit(self, train: Labelled, select: Labelled, seed: int, rounds: int | None) -> None:
        if not len(train) or not train.inputs.names:
            raise TrainingError("boosted: there is nothing to learn from; give a longer history")
        self._features, self._kind = train.inputs.names, train.output.kind
        parameters = _parameters(train, seed) | self._settings.model_dump(exclude_none=True)
        if self._kind == "quantiles" and len(train) >= MANY_ROWS:
            train = replace(train, weight=_shared(train))
        if self._kind == "quantiles":
            boosters, self._rounds = _boost_quantiles(train, select, parameters, rounds)
        else:
            columns = range(len(train.output.columns))
            boosters = [_boost(train, select, column, parameters) for column in columns]
        self._texts = [booster.model_to_string() for booster in boosters]
        self._forests = [Trees.from_dump(booster.dump_model()) for booster in boosters]

    def predict(self, inputs: Inputs) -> Floats:
        """The k columns of each row: float64 (n, k).

        Raises:
            ModelError: the model is not fitted, or on other features.
        """
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
        """Write ``model.json``, and ``trees-K.safetensors``, ``lightgbm-K.txt`` for each column."""
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
        self._rounds = int(body["rounds"])
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


def _shared(rows: Labelled) -> Floats:
    """Weights of rows of which many share a batch: float64 (n,)."""
    batch = np.arange(len(rows)) if rows.batch is None else rows.batch
    _, of, counts = np.unique(batch, return_inverse=True, return_counts=True)
    weight = rows.weight * counts[of] ** -_SHARED
    return np.asarray(weight * (rows.weight.sum() / weight.sum()))


def _parameters(train: Labelled, seed: int) -> dict[str, Any]:
    output = train.output
    own: dict[str, Any] = {"objective": _OBJECTIVES[output.kind], "metric": "", "seed": seed}
    if output.kind == "kinds":
        own |= _OF_KINDS | {
            "num_leaves": leaves(float(train.weight.sum())),
            "min_data_in_leaf": int(np.clip(len(train) / _ROWS_OF_A_LEAF, 5, 100)),
        }
    if output.kind == "quantiles" and len(train) >= MANY_ROWS:
        own |= _OF_MANY
    return {**PARAMETERS, **own, "boost_from_average": True, "min_sum_hessian_in_leaf": 1e-3}


def _boost_quantiles(
    train: Labelled, select: Labelled, parameters: dict[str, Any], rounds: int | None
) -> tuple[list[Any], int]:
    """A ``lightgbm.Booster`` of each level, and their rounds; all share one set of bins.

    Args:
        train: what they are taught.
        select: its loss at the median stops the fitting, unless `rounds` are given.
        parameters: of LightGBM.
        rounds: to make; None: as `select` says, else `LEAST_ROUNDS`.
    """
    import lightgbm

    data = _dataset(train, train.values, parameters)
    made: dict[float, Any] = {}
    if rounds is None and len(select):
        stopping = lightgbm.early_stopping(PATIENCE, verbose=False)
        made[0.5] = lightgbm.train(
            {**parameters, "alpha": 0.5, "metric": "quantile"}, data, MOST_ROUNDS,
            valid_sets=[_dataset(select, select.values, parameters, data)],
            callbacks=[stopping],
        )  # fmt: skip
        rounds = made[0.5].best_iteration
    rounds = rounds or LEAST_ROUNDS
    for level in train.output.levels:
        if level not in made:
            made[level] = lightgbm.train({**parameters, "alpha": level}, data, rounds)
    return [made[level] for level in train.output.levels], rounds


def _dataset(rows: Labelled, values: Floats, parameters: dict[str, Any], of: Any = None) -> Any:
    import lightgbm

    columns = known_features(rows.inputs)
    return lightgbm.Dataset(
        columns, values, weight=rows.weight, reference=of, params=parameters, free_raw_data=False
    )


def _boost(train: Labelled, select: Labelled, column: int, parameters: dict[str, Any]) -> Any:
    """A ``lightgbm.Booster`` of one column."""

    def dataset(rows: Labelled, reference: Any = None) -> Any:
        return _dataset(rows, _target(rows, column), parameters, reference)

    later = (lambda data: dataset(select, data)) if len(select) else None
    return boost(lambda: dataset(train), later, parameters)
