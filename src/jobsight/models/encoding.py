"""From `Inputs` to plain columns of numbers: rates of causes, imputed and scaled features.

Training rows must not see their own outcome in their cause's rate, nor that of the batch or outage
they belong to. So the rates of training rows are cross-fitted over contiguous blocks of time, whole
batches each: a row is encoded with the outcomes of all blocks but its own. Later rows use the whole
training part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from jobsight.models.base import Floats, Inputs, Labelled
from jobsight.models.logistic import log_odds
from jobsight.models.rates import START_CAP, RateTable, learned_table, rate_as_known
from jobsight.models.storage import require_names

__all__ = ["CauseEncoder", "Design"]

BLOCKS = 8
CLIP = 4.0
"""Bound of a scaled feature; asinh(27) = 4."""


@dataclass(frozen=True)
class CauseEncoder:
    """Each cause level as two columns: log-odds of its smoothed rate, and log(1 + its weight).

    Where the inputs count what is known at each decision (`Inputs.learned`), the log-odds of that
    rate instead: of training rows without the counts of training, which know their outcomes.
    """

    table: RateTable
    as_known: bool = False

    @classmethod
    def fit(cls, train: Labelled) -> tuple[Self, Floats]:
        """Count `train`; returns the encoder and the training rows' own, cross-fitted columns."""
        inputs = train.inputs
        if inputs.learned:
            taught = RateTable.count(inputs.causes, train.success, train.weight)
            return cls(taught, True), cls(RateTable(()), True).transform(inputs)
        encoder = cls(learned_table(train))
        # In time order; a batch is where its first row is.
        block = np.arange(len(train)) * min(BLOCKS, len(train)) // max(len(train), 1)
        if train.batch is not None:
            _, first, number_of = np.unique(train.batch, return_index=True, return_inverse=True)
            block = block[first[number_of]]
        columns = np.empty((len(train), len(encoder.names)))
        for number in np.unique(block):
            inside = block == number
            others = train.take(~inside)
            partial = RateTable.count(others.inputs.causes, others.success, others.weight)
            partial = replace(partial, strength=encoder.table.strength)
            columns[inside] = cls(partial).transform(inputs.take(inside))
        return encoder, columns

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of `transform`."""
        if self.as_known:
            return ("rate of like decisions",)
        return tuple(
            f"{what} of {name}" for name in self.table.columns for what in ("rate", "weight")
        )

    @property
    def finest(self) -> int:
        """Index, from the end, of the column with the log-odds that models may start from."""
        return -1 if self.as_known else -2

    def transform(self, inputs: Inputs) -> Floats:
        """The columns of n rows: float64 (n, len(names)), finite.

        Raises:
            ModelError: a cause column is missing.
        """
        if self.as_known:
            return log_odds(rate_as_known(inputs, self.table, START_CAP))[:, None]
        rows = len(inputs)
        weight, success = self.table.support(inputs.causes, rows)
        rates = self.table.rates(weight, success)[:, 1:]
        # (n, levels, 2) → (n, 2 · levels), the two columns of a level side by side
        pairs = np.stack([np.log(rates / (1.0 - rates)), np.log1p(weight[:, 1:])], axis=2)
        return pairs.reshape(rows, len(self.names))

    def to_json(self) -> dict[str, Any]:
        return {**self.table.to_json(), "as_known": self.as_known}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """An encoder from plain data; errors as of `RateTable.from_json`."""
        return cls(RateTable.from_json(data), bool(data["as_known"]))


@dataclass(frozen=True)
class Design:
    """Columns for models that need complete and scaled numbers.

    A feature x becomes asinh((x − median) / spread), clipped to ±4, with spread the interquartile
    range / 1.349 (else the standard deviation) of training; a missing one becomes 0, with a flag
    column next to it if any was missing in training. The columns of `CauseEncoder` follow.

    Attributes:
        features: names of the f input features.
        center, spread: float64 (f,); a spread of 0 marks a feature that never varied, left at 0.
        flagged: indices of the features that have a flag.
        causes: encoder of causes.
        cause_center, cause_spread: float64 (c,) for the c columns of `causes`.
    """

    features: tuple[str, ...]
    center: Floats
    spread: Floats
    flagged: tuple[int, ...]
    causes: CauseEncoder
    cause_center: Floats
    cause_spread: Floats

    @classmethod
    def fit(cls, train: Labelled, few: frozenset[str] = frozenset()) -> tuple[Self, Floats]:
        """Learn the scales of `train`; returns the design and the training rows' columns.

        Features that are not among `few`, if there are any, are left at 0.
        """
        encoder, encoded = CauseEncoder.fit(train)
        values = train.inputs.features.astype(np.float64)
        left = [bool(few) and name not in few for name in train.inputs.names]
        values[:, left] = 0.0
        scales = [_scale(column) for column in values.T]
        cause_scales = [(float(column.mean()), float(column.std())) for column in encoded.T]
        missing = ~np.isfinite(values)
        # Features that are missing together share a flag.
        _, first = np.unique(missing, axis=1, return_index=True)
        flagged = [index for index in sorted(first.tolist()) if missing[:, index].any()]
        design = cls(
            train.inputs.names,
            np.array([center for center, _ in scales], dtype=np.float64),
            np.array([spread for _, spread in scales], dtype=np.float64),
            tuple(flagged),
            encoder,
            np.array([center for center, _ in cause_scales], dtype=np.float64),
            np.array([spread for _, spread in cause_scales], dtype=np.float64),
        )
        return design, design._join(values, encoded)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of `transform`."""
        flags = tuple(f"{self.features[index]} missing" for index in self.flagged)
        return self.features + flags + self.causes.names

    def transform(self, inputs: Inputs) -> Floats:
        """The columns of n rows: float64 (n, f + flags + causes), finite, within ±4.

        Raises:
            ModelError: the inputs have other features or lack a cause.
        """
        require_names(inputs, self.features)
        encoded = self.causes.transform(inputs)
        return self._join(inputs.features.astype(np.float64), encoded)

    def start(self, inputs: Inputs) -> Floats:
        """Log-odds to begin from: those of the rate that goes on learning, else 0: float64 (n,)."""
        if not self.causes.as_known:
            return np.zeros(len(inputs))
        return self.causes.transform(inputs)[:, self.causes.finest]

    def _join(self, values: Floats, encoded: Floats) -> Floats:
        known = np.isfinite(values)
        scaled = np.arcsinh(_scaled(np.where(known, values, self.center), self.center, self.spread))
        causes = _scaled(encoded, self.cause_center, self.cause_spread)
        flags = ~known[:, list(self.flagged)]
        columns: Floats = np.concatenate([scaled, flags, causes], axis=1)
        return np.clip(columns, -CLIP, CLIP, out=columns)

    def to_json(self) -> dict[str, Any]:
        return {
            "features": list(self.features),
            "center": self.center.tolist(),
            "spread": self.spread.tolist(),
            "flagged": list(self.flagged),
            "causes": self.causes.to_json(),
            "cause_center": self.cause_center.tolist(),
            "cause_spread": self.cause_spread.tolist(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_json` gave; KeyError, TypeError, ValueError where it is not."""
        design = cls(
            tuple(str(name) for name in data["features"]),
            np.array(data["center"], dtype=np.float64),
            np.array(data["spread"], dtype=np.float64),
            tuple(int(index) for index in data["flagged"]),
            CauseEncoder.from_json(data["causes"]),
            np.array(data["cause_center"], dtype=np.float64),
            np.array(data["cause_spread"], dtype=np.float64),
        )
        if not len(design.features) == len(design.center) == len(design.spread):
            raise ValueError("features and their scales differ in number")
        return design


def _scale(column: Floats) -> tuple[float, float]:
    """Median and robust spread of the finite values; (0, 0) where there are none."""
    finite = column[np.isfinite(column)]
    if not len(finite):
        return 0.0, 0.0
    low, middle, high = np.quantile(finite, (0.25, 0.5, 0.75))
    spread = float(high - low) / 1.349
    return float(middle), spread if spread > 0 else float(finite.std())


def _scaled(values: Floats, center: Floats, spread: Floats) -> Floats:
    varies = spread > 0
    return np.where(varies, (values - center) / np.where(varies, spread, 1.0), 0.0)
