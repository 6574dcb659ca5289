"""Rehearsals: the train part's own later blocks, foretold by models that saw only what was before.

A short log has a few dozen batches to choose and to calibrate by, too few to tell models apart or
to say how sure an answer is. So the train part is played through as if time had stopped in it:
models are fitted anew before each later block and foretell that block. Every prediction is of
decisions later than all that its model was taught, and the parts behind the train part stay
untouched.

Three numbers are not as of each block but of the whole train part: its median time from a release
to the outcome (the pace, by which spans are divided and from which windows, delays and the length
of a frame follow), the horizon, and what a delay is. They hold no single outcome, and what was
learned with them reaches the choice and the calibration, never the test. To measure them anew would
mean to index the history once more for each block and delay.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.errors import TrainingError
from jobsight.history.timelines import Ints
from jobsight.learning.splits import Split, part_borders, split_forward
from jobsight.models.base import Floats, Labelled, Model
from jobsight.questions.hold.training.dataset import Dataset

__all__ = ["Rehearsal", "rehearse"]

ENOUGH = 400
"""Batches in the select part from which no rehearsal is needed."""

_SHARES = (0.4, 0.2, 0.2, 0.2)
"""Blocks of the train part; all but the first are foretold."""

_STOPPING = 0.8
"""Quantile of the decisions before a block from which on they only stop the fitting."""

Fit = Callable[[str, Labelled, Labelled], Model]


@dataclass(frozen=True)
class Rehearsal:
    """Decisions foretold by models that were taught only earlier ones.

    Attributes:
        success: bool (n,).
        batch: int64 (n,), of the decision table.
        weight: float64 (n,), batches have weight 1.
        predictions: by model, uncalibrated, float64 (n,).
    """

    success: NDArray[np.bool_]
    batch: Ints
    weight: Floats
    predictions: dict[str, Floats]

    @property
    def batches(self) -> int:
        """Number of batches."""
        return len(np.unique(self.batch))

    @classmethod
    def none(cls, names: Sequence[str]) -> Rehearsal:
        """No decisions at all."""
        nothing = np.zeros(0)
        return cls(
            np.zeros(0, np.bool_), np.zeros(0, np.int64), nothing, dict.fromkeys(names, nothing)
        )


def rehearse(
    data: Dataset, names: Sequence[str], fit: Fit, *, delay: float = 0.0, enough: int = ENOUGH
) -> Rehearsal:
    """Play the train part through.

    Args:
        data: nothing is rehearsed where its select part has `enough` batches of its own. A block
            before which one of the models could not yet be fitted is left out for all, so that all
            are compared on the same decisions.
        names: of the models.
        fit: makes a fitted model of a name, a train part and a select part.
        delay: see `Dataset.labelled`.
        enough: batches.
    """
    select = data.table.filter(pl.Series(data.usable(data.part("select"))))
    table, labelled = data.labelled(data.part("train"), delay=delay)
    if select["batch"].n_unique() >= enough or len(table) < len(_SHARES):
        return Rehearsal.none(names)
    rows: list[Ints] = []
    columns: dict[str, list[Floats]] = {name: [] for name in names}
    for split in _blocks(table, data.scale.horizon_micros):
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
        return Rehearsal.none(names)
    chosen = np.concatenate(rows)
    return Rehearsal(
        labelled.success[chosen],
        table["batch"].to_numpy()[chosen],
        labelled.weight[chosen],
        {name: np.concatenate(parts) for name, parts in columns.items()},
    )


def _blocks(table: pl.DataFrame, horizon: int) -> Iterator[Split]:
    """For each later block: what was before it, what stops the fitting, and the block itself."""
    time, batch = table["released"].to_numpy(), table["batch"].to_numpy()
    group = table["group"].rank("dense").cast(pl.Int64).to_numpy()
    resolved = table["resolved_time"].to_numpy()
    edges = part_borders(time, batch, _SHARES, int(resolved.max()) + horizon + 1)
    for begin, end in itertools.pairwise(edges[1:]):
        before = time[time < begin]
        stop = int(np.quantile(before, _STOPPING)) if len(before) else int(begin)
        borders = np.array([edges[0], min(stop, begin), begin, end, end], np.int64)
        yield split_forward(time, batch, group, resolved, borders=borders, horizon=horizon)
