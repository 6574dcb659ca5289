"""Boosted trees (LightGBM) for outputs of several columns: kinds, quantiles, shares.

One forest a column: kinds against the rest (log loss) and shares (cross entropy), both then made to
add up to 1; quantiles by the pinball loss, then sorted so that they do not cross (Chernozhukov,
Fernández-Val and Galichon, Econometrica 78, 2010). Saved as arrays and as LightGBM's text, like
`jobsight.models.boosted`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from jobsight.errors import ModelError, TrainingError
from jobsight.files import new_file
from jobsight.models.base import Floats, Inputs, Labelled
from jobsight.models.boosted import PARAMETERS, boost, known_features, leaves
from jobsight.models.logistic import sigmoid
from jobsight.models.storage import load_body, require_names, save_body
from jobsight.models.trees import Trees

__all__ = ["BoostedColumns"]

_OBJECTIVES = {"kinds": "binary", "quantiles": "quantile", "shares": "cross_entropy"}
_SMALLEST = 1e-6
_ROWS_OF_A_LEAF = 160
_OF_KINDS = {"extra_trees": True, "bagging_fraction": 0.7, "bagging_freq": 1}
"""Causes of failure come and go: trees that see less of the data each mistake fewer for habits."""


class BoostedColumns:
    """Boosted trees, one forest for each column of the output.

    Implements `jobsight.models.base.Model`.
    """

    name: ClassVar[str] = "boosted"
    needs_both: ClassVar[bool] = False

    def __init__(self) -> None:
        self._features: tuple[str, ...] = ()
        self._kind = ""
        self._forests: list[Trees] = []
        self._texts: list[str] = []

    def fit(self, train: Labelled, select: Labelled, *, seed: int) -> None:
        """Add trees to each forest until its loss on `select` stops falling.

        Raises:
            TrainingError: `train` has no rows or no features.
        """
        if not len(train) or not train.inputs.names:
            raise TrainingError("boosted: there is nothing to learn from; give a longer history")
        self._features, self._kind = train.inputs.names, train.output.kind
        self._forests, self._texts = [], []
        for column in range(len(train.output.columns)):
            booster = _boost(train, select, column, seed)
            self._texts.append(booster.model_to_string())
            self._forests.append(Trees.from_dump(booster.dump_model()))

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
        save_body(folder, self.name, body)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote.

        Raises:
            ModelError: a file is missing, damaged or of another schema.
        """
        model = cls()
        with load_body(folder, cls.name) as body:
            model._features = tuple(str(name) for name in body["features"])
            model._kind = str(body["output"])
            for k in range(int(body["k"])):
                text = (folder / f"lightgbm-{k}.txt").read_text(encoding="utf-8")
                model._texts.append(text)
                trees = Trees.load(folder / f"trees-{k}.safetensors", len(model._features))
                model._forests.append(trees)
        return model


def _target(rows: Labelled, column: int) -> Floats:
    """What the forest of a column is to predict: float64 (n,)."""
    if rows.output.kind == "kinds":
        return np.asarray(rows.values == column, np.float64)
    values = rows.values if rows.output.kind == "quantiles" else rows.values[:, column]
    return np.asarray(values, np.float64)


def _parameters(train: Labelled, column: int, seed: int) -> dict[str, Any]:
    output = train.output
    own: dict[str, Any] = {"objective": _OBJECTIVES[output.kind], "metric": "", "seed": seed}
    if output.kind == "quantiles":
        own["alpha"] = output.levels[column]
    elif output.kind == "kinds":
        own |= _OF_KINDS | {
            "num_leaves": leaves(float(train.weight.sum())),
            "min_data_in_leaf": int(np.clip(len(train) / _ROWS_OF_A_LEAF, 5, 100)),
        }
    return {**PARAMETERS, **own, "boost_from_average": True, "min_sum_hessian_in_leaf": 1e-3}


def _boost(train: Labelled, select: Labelled, column: int, seed: int) -> Any:
    """A ``lightgbm.Booster`` of one column."""
    import lightgbm

    parameters = _parameters(train, column, seed)

    def dataset(rows: Labelled, reference: Any = None) -> Any:
        return lightgbm.Dataset(
            known_features(rows.inputs), _target(rows, column), weight=rows.weight,
            reference=reference, params=parameters,
        )  # fmt: skip

    later = (lambda data: dataset(select, data)) if len(select) else None
    return boost(lambda: dataset(train), later, parameters)
