"""Backtests: later blocks of the train part, predicted by models that saw only what was before.

A short history has a few dozen batches to choose and to calibrate by, too few to distinguish models
or to say how sure an answer is. So the train part is walked through forward in time: models are
fitted anew before each later block and predict that block. Every prediction is of decisions later
than all that its model was taught, and the parts behind the train part stay untouched.

The encoding (scales, horizon) is of the whole train part, not as of each block. It holds no single
outcome, and what was learned with it reaches the choice and the calibration, never the test. To
measure it anew would mean to index the source once more for each block and moment.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.errors import TrainingError
from jobsight.learning.dataset import Dataset, Ints, drawn_together
from jobsight.learning.mixing import Times
from jobsight.learning.splits import Split, part_borders, split_forward
from jobsight.models.base import Floats, Labelled, Model

__all__ = ["Backtest", "backtest"]

ENOUGH = 400
"""Batches in the select part from which no backtest is needed."""

_SHARES = (0.4, 0.2, 0.2, 0.2)
"""Blocks of the train part; all but the first are predicted."""

_STOPPING = 0.8
"""Quantile of the decisions before a block from which on they only stop the fitting."""

Fit = Callable[[str, Labelled, Labelled], Model]


@dataclass(frozen=True)
class Backtest:
    """Decisions predicted by models that were taught only earlier ones.

    Attributes:
        values: what became of n rows.
        batch: int64 (n,), equal for rows that are drawn together.
        weight: float64 (n,), batches have weight 1.
        predictions: by model, uncalibrated, of the n rows; empty where there are none.
        decided, known_at: int64 (n,), µs.
        nth: int64 (n,), see `Dataset.table`.
    """

    values: NDArray[Any]
    batch: Ints
    weight: Floats
    predictions: dict[str, Floats]
    decided: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    known_at: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    nth: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def times(self) -> Times:
        """Outcomes and when they were known."""
        return Times(self.values, self.weight, self.decided, self.known_at, self.nth)

    def of(self, *names: str) -> Floats:
        """Predictions of these models: float64 (n, names)."""
        return np.stack([self.predictions[name] for name in names], axis=1)

    @property
    def batches(self) -> int:
        """Number of batches."""
        return len(np.unique(self.batch))

    @classmethod
    def none(cls) -> Backtest:
        """No decisions at all."""
        return cls(np.zeros(0), np.zeros(0, np.int64), np.zeros(0), {})

    def before(self, name: str, raw: Floats, later: Labelled) -> tuple[Floats, Any, Floats, Ints]:
        """Predictions, values, weights and batches of these rows, then of later ones.

        Args:
            name: of the model.
            raw: its predictions of the later rows.
            later: these.
        """
        assert later.batch is not None
        own = self.predictions.get(name)
        if own is None:
            return raw, later.values, later.weight, later.batch
        return (
            np.concatenate([own, raw]),
            np.concatenate([self.values, later.values]),
            np.concatenate([self.weight, later.weight]),
            np.concatenate([self.batch, later.batch]),
        )


def backtest(
    data: Dataset,
    names: Sequence[str],
    fit: Fit,
    *,
    moment: str | None = None,
    enough: int = ENOUGH,
) -> Backtest:
    """Walk the train part forward.

    Args:
        data: nothing is done where its select part has `enough` batches of its own. A block before
            which one of the models could not yet be fitted is left out for all, so that all are
            compared on the same decisions.
        names: of the models.
        fit: makes a fitted model of a name, a train part and a select part.
        moment: see `Dataset.labelled`.
        enough: batches.
    """
    select = data.table.filter(pl.Series(data.usable(data.part("select"))))
    table, labelled = data.labelled(data.part("train"), moment=moment)
    if select["batch"].n_unique() >= enough or len(table) < len(_SHARES):
        return Backtest.none()
    rows: list[Ints] = []
    columns: dict[str, list[Floats]] = {name: [] for name in names}
    for split in _blocks(table, data.encoding.horizon_micros):
        before, stopping, block = (split.rows(part) for part in ("train", "select", "calibrate"))
        try:
            made = {
                name: fit(name, labelled.take(before), labelled.take(stopping)) for name in names
            }
        except TrainingError:
            continue  # too little was known by then
        rows.append(block)
        for name, model in made.items():
            columns[name].append(model.predict(labelled.inputs.take(block)))
    if not rows:
        return Backtest.none()
    chosen = np.concatenate(rows)
    return Backtest(
        labelled.values[chosen],
        drawn_together(table)[chosen],
        labelled.weight[chosen],
        {name: np.concatenate(parts) for name, parts in columns.items()},
        *(table[name].to_numpy()[chosen] for name in ("decided", "known_at", "nth")),
    )


def _blocks(table: pl.DataFrame, horizon: int) -> Iterator[Split]:
    """For each later block: what was before it, what stops the fitting, and the block itself."""
    time, batch = table["decided"].to_numpy(), table["batch"].to_numpy()
    group = table["group"].rank("dense").cast(pl.Int64).to_numpy()
    known_at = table["known_at"].to_numpy()
    edges = part_borders(time, batch, _SHARES, int(known_at.max()) + horizon + 1)
    for begin, end in itertools.pairwise(edges[1:]):
        before = time[time < begin]
        stop = int(np.quantile(before, _STOPPING)) if len(before) else int(begin)
        borders = np.array([edges[0], min(stop, begin), begin, end, end], np.int64)
        yield split_forward(
            time, batch, group, known_at, borders=borders, horizon=horizon, judged="calibrate"
        )
