"""The backtest: later blocks of the train part, predicted by models that saw only what was before.

The choice of a model and its calibration rest on this walk-forward validation: models are fitted
anew before each later block of the train part, on what was known then, and predict it. What is
known of a block's outcomes at the end of the train part judges them. The models that answer are
fitted on the whole train part; the test part stays untouched.

The encoding (scales, horizon) is of the whole train part, not as of each block. It holds no single
outcome, and what was learned with it reaches the choice and the calibration, never the test. To
measure it anew would mean to index the source once more for each block and moment.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.errors import TrainingError
from jobsight.learning.bootstrap import Bootstrap, Interval
from jobsight.learning.dataset import Dataset, drawn_together, part_borders, split_forward
from jobsight.learning.mixture import Times
from jobsight.learning.targets import Target
from jobsight.models.base import Floats, Ints, Labelled, Model

__all__ = ["Backtest", "Choice", "backtest", "choose_model", "last_block", "require_blocks"]

_SHARES = (0.4, 0.2, 0.2, 0.2)
"""Blocks of the train part; all but the first are predicted."""

_TOO_LATE = (
    "too few outcomes were known early to choose and to calibrate by; give a history of a longer "
    "time"
)

Fit = Callable[[str, Labelled], Model]


@dataclass(frozen=True)
class Backtest:
    """Decisions predicted by models that were taught only earlier ones.

    Attributes:
        values: what became of n rows.
        batch: int64 (n,), equal for rows that are drawn together.
        weight: float64 (n,), batches have weight 1.
        predictions: by model, uncalibrated, of the n rows.
        decided, known_at: int64 (n,), µs.
        nth: int64 (n,), see `Dataset.table`.
        block: int64 (n,), rising: number of the block, of which the last is 0.
        skipped: models that could not be fitted early enough, with the reason.
    """

    values: NDArray[Any]
    batch: Ints
    weight: Floats
    predictions: dict[str, Floats]
    decided: Ints
    known_at: Ints
    nth: Ints
    block: Ints
    skipped: dict[str, str]

    def times(self, rows: NDArray[np.bool_] | slice = slice(None)) -> Times:
        """Outcomes and when they were known, of all rows or some."""
        return Times(
            self.values[rows],
            self.weight[rows],
            self.decided[rows],
            self.known_at[rows],
            self.nth[rows],
        )


def backtest(
    data: Dataset, examples: tuple[pl.DataFrame, Labelled], names: Sequence[str], fit: Fit
) -> Backtest:
    """Walk the train part forward.

    Models that cannot be fitted before its last block are skipped. Blocks before which one of the
    others could not yet be fitted are left out for all, so that all are compared on the same
    decisions.

    `examples` are those of the train part, as `Dataset.labelled` gives them.

    Raises:
        TrainingError: no model could be fitted before the last block.
    """
    table, labelled = examples
    skipped: dict[str, str] = {}
    rows: list[Ints] = []
    said: list[dict[str, Floats]] = []
    for before, block in reversed(list(_blocks(data, table))):
        if not len(block):
            continue
        made: dict[str, Model] = {}
        failed: dict[str, str] = {}
        earlier = labelled.take(before)
        for name in names:
            try:
                if name not in skipped:
                    made[name] = fit(name, earlier)
            except TrainingError as error:
                failed[name] = str(error)
        if not rows:
            skipped = failed
        elif failed:
            break  # too little was known by then
        rows.append(block)
        inputs = labelled.inputs.take(block)
        said.append({name: model.predict(inputs) for name, model in made.items()})
    if not said or not said[0]:
        raise TrainingError(_TOO_LATE)
    chosen = np.concatenate(rows[::-1])
    return Backtest(
        labelled.values[chosen],
        drawn_together(table)[chosen],
        labelled.weight[chosen],
        {name: np.concatenate([said_of[name] for said_of in said[::-1]]) for name in said[0]},
        decided=table["decided"].to_numpy()[chosen],
        known_at=table["known_at"].to_numpy()[chosen],
        nth=table["nth"].to_numpy()[chosen],
        block=np.concatenate([np.full(len(own), -k, np.int64) for k, own in enumerate(rows)][::-1]),
        skipped=skipped,
    )


def require_blocks(data: Dataset, table: pl.DataFrame) -> None:
    """Refuse a train part of which no block can be backtested, before anything is fitted.

    Raises:
        TrainingError: before no block an outcome was known.
    """
    if not any(len(before) and len(block) for before, block in _blocks(data, table)):
        raise TrainingError(_TOO_LATE)


def last_block(data: Dataset) -> tuple[Labelled, Labelled]:
    """What a single training may learn from, and the last block of the train part, to judge it.

    Raises:
        TrainingError: one of them has no decision.
    """
    table, labelled = data.labelled(data.part("train"))
    *_, (before, block) = _blocks(data, table)
    if not len(before) or not len(block):
        raise TrainingError(
            f"there is no {data.question.words[0]} with a known outcome to learn from and another, "
            "later one to measure by"
        )
    return labelled.take(before), labelled.take(block)


def _blocks(data: Dataset, table: pl.DataFrame) -> Iterator[tuple[Ints, Ints]]:
    """For each later block: the rows that were known before it, and those of it that judge."""
    judges = data.judged(data.part("train"))[table["place"].to_numpy()]
    time, batch = table["decided"].to_numpy(), table["batch"].to_numpy()
    group = table["group"].rank("dense").cast(pl.Int64).to_numpy()
    known_at = table["known_at"].to_numpy()
    edges = part_borders(time, batch, _SHARES, int(known_at.max(initial=0)))
    for begin, end in itertools.pairwise(edges[1:]):
        borders = np.array([edges[0], begin, edges[-1]], np.int64)
        split = split_forward(time, batch, group, known_at, borders=borders, horizon=0)
        yield split.rows("train"), np.flatnonzero(judges & (time >= begin) & (time < end))


@dataclass(frozen=True)
class Choice:
    """The model chosen, and why.

    Attributes:
        name: the model that answers.
        values: the metric (the loss where it is undefined) of each model on the backtest, with its
            interval.
        reason: one or two sentences for the report.
    """

    name: str
    values: dict[str, Interval]
    reason: str


def choose_model(
    predictions: Mapping[str, Floats],
    baselines: Sequence[str],
    bootstrap: Bootstrap,
    *,
    target: Target,
    metric: str | None = None,
    safe: str = "",
    where: str = "the backtest",
) -> Choice:
    """Choose among models by their predictions on the backtest.

    A safe model answers unless it is surely worse than the best baseline, else what surely beats
    every baseline, else the best baseline. Surely: the interval of the paired difference, resampled
    over the same batches for both, lies wholly on one side of zero. The metric is the target's loss
    if None; F-measures are compared at their best thresholds. The model `safe` has the baselines as
    members and learns from outcomes which to follow; `where` is what the reason calls the
    decisions. `TrainingError`: there are no rows, or no baseline was given.
    """
    known = [name for name in baselines if name in predictions]
    if not len(bootstrap.weight) or not known:
        raise TrainingError("there are no decisions to choose a model by; give a longer history")
    for compared in (metric or target.loss, target.loss):  # the loss where the metric is undefined
        decided = {
            name: target.decided(compared, column, bootstrap.values, bootstrap.weight)
            for name, column in predictions.items()
        }
        values = bootstrap.intervals(target.metric(compared), decided)
        if all(interval.value is not None for interval in values.values()):
            break
    sign = -1.0 if compared in target.higher else 1.0
    ranked = sorted(values, key=lambda name: sign * (values[name].value or 0.0))
    chosen = best_known = next(name for name in ranked if name in known)
    margins: dict[str, Interval] = {}
    for name in (name for name in ranked if name not in known):
        against = {}
        for base in known:
            pair = {name: decided[name], base: decided[base]}
            against[base] = bootstrap.differences(target.metric(compared), pair, base)[name]
        margins[name] = against[best_known]
        worst = [margin.high if sign > 0 else margin.low for margin in against.values()]
        if chosen == best_known and all(end is not None and sign * end < 0.0 for end in worst):
            chosen = name
    if safe in margins:
        best = margins[safe].low if sign > 0 else margins[safe].high
        if best is not None and sign * best <= 0.0:
            chosen = safe
    shown = f"{compared} {values[chosen].value:.3f}"
    reason = f"{chosen} answers: {shown} on {where}; only baselines were trained."
    if chosen != best_known:
        low, high = margins[chosen].low, margins[chosen].high
        reason = (
            f"{chosen} answers: {shown} on {where} against {best_known} "
            f"({values[best_known].value:.3f}), the best baseline; the difference is between "
            f"{low:+.3f} and {high:+.3f}."
        )
    elif margins:
        reason = f"No model surely beats every baseline on {where}, so the best baseline answers: "
        reason += f"{chosen}, {shown}."
    return Choice(chosen, values, reason)
