"""Gradient-boosted trees (LightGBM) on top of the rates, sane on a few hundred batches.

The trees start from the smoothed rate of each row's finest cause, cross-fitted in training, or
from the rate as known at the decision (`Inputs.learned`), and learn only what it misses: with
little data they stay near the best baseline. They never let a feature that can only speak for
success (`Inputs.rising`), or the rate of a cause, speak against it.

Saved twice: as LightGBM's text, to be read with LightGBM, and as arrays, which is
what predictions are made from: they need neither LightGBM nor scikit-learn.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from jobsight.errors import ModelError, TrainingError
from jobsight.files import new_file
from jobsight.models.base import Floats, Inputs, Labelled, held_back
from jobsight.models.encoding import CauseEncoder
from jobsight.models.logistic import sigmoid
from jobsight.models.rates import RateTable
from jobsight.models.storage import Stored, require_names, save_body
from jobsight.models.trees import Trees
from jobsight.settings import BoostedSettings

__all__ = [
    "LEAST_ROUNDS", "MANY_ROWS", "PARAMETERS", "Boosted", "best_rounds",
    "grow", "known_features", "leaves", "lightgbm",
]  # fmt: skip

LEAST_ROUNDS, MOST_ROUNDS, PATIENCE = 150, 1000, 60
LEAST_OF_RATES = 20
"""The least rounds where trees start from a rate that goes on learning, and have less to add."""
MANY_ROWS = 20_000
"""Rows from which on `_OF_MANY` holds."""
PARAMETERS: dict[str, Any] = {
    "objective": "binary",
    "metric": "binary_logloss",
    "boost_from_average": False,
    "learning_rate": 0.03,
    "min_data_in_leaf": 5,
    # Rows of one batch share weight 1, so it is the hessian that bounds a leaf: 1.5 is six batches
    # of even odds.
    "min_sum_hessian_in_leaf": 1.5,
    "lambda_l2": 8.0,
    "min_gain_to_split": 0.02,
    "feature_fraction": 0.3,
    "max_bin": 63,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "verbosity": -1,
}

_OF_MANY: dict[str, Any] = {
    "learning_rate": 0.05,
    "num_leaves": 31,
    "min_data_in_leaf": 200,
    "extra_trees": True,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
}
"""Of many rows; trees that see less of the data each mistake less drift for knowledge."""


class Boosted(Stored):
    """Boosted trees on the features and the rates of causes."""

    name: ClassVar[str] = "boosted"
    needs_both: ClassVar[bool] = True

    def __init__(self, settings: BoostedSettings | None = None) -> None:
        self._settings = settings or BoostedSettings()
        self._features: tuple[str, ...] = ()
        self._causes = CauseEncoder(RateTable(()))
        self._trees: Trees | None = None
        self._text = ""
        self._rounds = 0

    def fit(self, rows: Labelled, *, seed: int) -> None:
        """Fit as many trees as let the log loss on the latest rows fall, but not too few."""
        earlier, later = held_back(rows)
        least = LEAST_OF_RATES if rows.inputs.learned else LEAST_ROUNDS
        self._rounds = least
        if len(later):
            taught, parameters = self._prepared(earlier, seed)
            columns = self._columns(later.inputs)
            stopping = _Set(columns, _start(columns, self._causes), later)
            best = best_rounds(
                taught.dataset(parameters),
                lambda data: stopping.dataset(parameters, data),
                parameters,
            )
            self._rounds = max(best, least)
        self._grow(rows, seed)

    def refitted(self, rows: Labelled, *, seed: int) -> Boosted:
        model = Boosted(self._settings)
        model._rounds = self._rounds
        model._grow(rows, seed)
        return model

    def _grow(self, rows: Labelled, seed: int) -> None:
        taught, parameters = self._prepared(rows, seed)
        booster = grow(taught.dataset(parameters), parameters, self._rounds)
        self._rounds = booster.num_trees()
        self._text = booster.model_to_string()
        self._trees = Trees.from_dump(booster.dump_model())

    def _prepared(self, rows: Labelled, seed: int) -> tuple[_Set, dict[str, Any]]:
        """The rows as LightGBM takes them, and its parameters for them."""
        if len(np.unique(rows.success)) < 2:
            raise TrainingError("boosted: the training outcomes are all the same; both are needed")
        self._features = rows.inputs.names
        self._causes, encoded = CauseEncoder.fit(rows)
        columns = _join(rows.inputs, encoded)
        rising = [name in rows.inputs.rising for name in self._features]
        rising += [name.startswith("rate of ") for name in self._causes.names]
        parameters = {
            **PARAMETERS,
            "num_leaves": leaves(float(rows.weight.sum())),
            **(_OF_MANY if len(rows) >= MANY_ROWS else {}),
            "boost_from_average": not self._causes.names,
            **self._settings.model_dump(exclude_none=True),
            "monotone_constraints": [int(rises) for rises in rising],
            "seed": seed,
        }
        return _Set(columns, _start(columns, self._causes), rows), parameters

    @property
    def trees(self) -> Trees:
        """The fitted trees; `ModelError`: the model is not fitted."""
        if self._trees is None:
            raise ModelError("the model boosted is not fitted")
        return self._trees

    def predict(self, inputs: Inputs) -> Floats:
        columns = self._columns(inputs)
        return sigmoid(_start(columns, self._causes) + self.trees.margin(columns))

    def _columns(self, inputs: Inputs) -> Floats:
        require_names(inputs, self._features)
        return _join(inputs, self._causes.transform(inputs))

    def save(self, folder: Path) -> None:
        body = {
            "features": list(self._features),
            "causes": self._causes.to_json(),
            "rounds": self._rounds,
            "settings": self._settings.model_dump(exclude_none=True),
        }
        self.trees.save(folder / "trees.safetensors")
        with new_file(folder / "lightgbm.txt") as temporary:
            temporary.write_text(self._text, encoding="utf-8")
        save_body(folder, self.name, body)

    def _read(self, folder: Path, body: dict[str, Any]) -> None:
        self._features = tuple(str(name) for name in body["features"])
        self._causes = CauseEncoder.from_json(body["causes"])
        self._rounds = int(body["rounds"])
        self._settings = BoostedSettings.model_validate(body["settings"])
        self._text = (folder / "lightgbm.txt").read_text(encoding="utf-8")
        columns = len(self._features) + len(self._causes.names)
        self._trees = Trees.load(folder / "trees.safetensors", columns)


def known_features(inputs: Inputs) -> Floats:
    """The features as trees read them, NaN for all that is not finite: float64 (n, f)."""
    features = inputs.features.astype(np.float64)
    features[~np.isfinite(features)] = np.nan
    return features


def _join(inputs: Inputs, encoded: Floats) -> Floats:
    return np.ascontiguousarray(np.concatenate([known_features(inputs), encoded], axis=1))


def _start(columns: Floats, causes: CauseEncoder) -> Floats:
    """Log-odds that the trees start from: the rate of the finest cause, 0 without causes."""
    start: Floats = columns[:, causes.finest] if causes.names else np.zeros(len(columns))
    return start


def leaves(batches: float) -> int:
    """Leaves a tree: 4 for a few hundred batches, 10 for ten thousand, 32 for a million."""
    return max(4, round(float(batches**0.25)))


class _Set(NamedTuple):
    """What LightGBM fits on: columns (n, c), log-odds to start from (n,), outcomes and weights."""

    columns: Floats
    start: Floats
    rows: Labelled

    def dataset(self, parameters: dict[str, Any], reference: Any = None) -> Any:
        return lightgbm().Dataset(
            self.columns,
            self.rows.success.astype(np.float64),
            weight=self.rows.weight,
            init_score=self.start if self.start.any() else None,
            reference=reference,
            params=parameters,
        )


def lightgbm() -> Any:
    """The library, loaded when first needed.

    Its threads wait for each other by spinning: a hundred times shorter than usual, so that they do
    not take the processors from what else runs there.
    """
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    import lightgbm

    return lightgbm


def best_rounds(
    train: Any, stopping: Callable[[Any], Any], parameters: dict[str, Any], most: int = MOST_ROUNDS
) -> int:
    """After how many rounds the loss on later rows stops falling; few rows say it by chance."""
    library = lightgbm()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stopped = library.train(
            parameters,
            train,
            most,
            valid_sets=[stopping(train)],
            callbacks=[library.early_stopping(PATIENCE, verbose=False)],
        )
    return int(stopped.best_iteration)


def grow(train: Any, parameters: dict[str, Any], rounds: int) -> Any:
    """A ``lightgbm.Booster`` of so many rounds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lightgbm().train(parameters, train, rounds)
