"""How good is it? Every model on decisions it has not seen, with its baselines and its costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.errors import TrainingError
from jobsight.learning import metrics
from jobsight.learning.bootstrap import Bootstrap, Interval, Simulation
from jobsight.learning.costs import DecisionCost, decision_costs
from jobsight.models.base import Floats, Labelled
from jobsight.models.rules import Rules
from jobsight.questions.hold.training.dataset import Dataset
from jobsight.questions.hold.training.model import QUESTION, HoldModel, fingerprints

__all__ = ["CAUSE", "Evaluation", "errors_by_chance", "evaluate", "unseen"]

CAUSE = ("hold_code", "hold_subcode", "masked")
_SURE = 0.02
_GROUPS = 5
"""Groups of like predictions by which intervals are judged, for as many batches as taught them."""
_LEAST = 10
"""Batches that a group has where there are more groups."""
CHANCE = 0.95
"""Of calibration errors by chance: the quantile that is reported."""


@dataclass(frozen=True)
class Evaluation:
    """Every model on n decisions.

    Attributes:
        chosen: name of the model that answers.
        table: the n decisions, with their strata.
        labelled: inputs, outcomes and weights, in the same order.
        predictions: calibrated P(success) by model, float64 (n,).
        low, high: the chosen model's 90 % interval, float64 (n,).
        scores: by model, batches weighing 1.
        scores_by_release: by model, every release weighing 1.
        ece_by_chance: by model, the calibration error that probabilities which are right exceed
            once in 20 times.
        auc: ROC AUC with its interval by model, bootstrapped over batches.
        gain_over_baseline: log loss of each model less that of the best baseline (paired).
        costs: by way to decide.
        covered: bool (k,), whether the rate of each group of like predictions is in the chosen
            model's interval.
        censored: decisions without outcome, by kind.
        left_out: decisions that do not count here, by reason.
    """

    chosen: str
    table: pl.DataFrame
    labelled: Labelled
    predictions: dict[str, Floats]
    low: Floats
    high: Floats
    scores: dict[str, metrics.Scores]
    scores_by_release: dict[str, metrics.Scores]
    ece_by_chance: dict[str, float]
    auc: dict[str, Interval]
    gain_over_baseline: dict[str, Interval]
    costs: dict[str, DecisionCost]
    covered: NDArray[np.bool_]
    censored: dict[str, int]
    left_out: dict[str, int]

    @property
    def batches(self) -> int:
        """Number of batches."""
        return int(self.table["batch"].n_unique())

    @property
    def coverage(self) -> float | None:
        """Share of groups whose rate is in the chosen model's interval."""
        return float(self.covered.mean()) if len(self.covered) else None

    @property
    def base_rate(self) -> float:
        """Share of successes, by weight."""
        return float(np.average(self.labelled.success, weights=self.labelled.weight))

    def to_json(self) -> dict[str, Any]:
        """The report as plain data; None where a number is undefined."""
        return {
            "question": QUESTION,
            "examples": len(self.table),
            "batches": self.batches,
            "base_rate": self.base_rate,
            "censored": self.censored,
            "left_out": self.left_out,
            "models": {name: self._model_json(name) for name in self.predictions},
            "chosen": self.chosen,
            "interval_coverage": self.coverage,
            "interval_groups": len(self.covered),
            "sure_causes": self.sure_causes(),
            "costs": {name: asdict(cost) for name, cost in self.costs.items()},
            "strata": {name: self.stratum(name) for name in ("cause", "releaser", "edited")},
        }

    def _model_json(self, name: str) -> dict[str, Any]:
        auc, gain = self.auc[name], self.gain_over_baseline.get(name)
        return {
            **asdict(self.scores[name]),
            "ece_by_chance": self.ece_by_chance[name],
            "roc_auc_ci": None if auc.low is None else [auc.low, auc.high],
            "log_loss_gain": None if gain is None else asdict(gain),
            "by_release": asdict(self.scores_by_release[name]),
        }

    def sure_causes(self) -> dict[str, Any]:
        """How much is easy: decisions in causes that (nearly) always or never succeed.

        Returns:
            `share` of the decisions, by weight, in causes with success under 2 % or over 98 %, and
            the chosen model's ROC AUC within the rest (None where undefined).
        """
        weight, success = self.labelled.weight, self.labelled.success
        cause = self.table.select(pl.struct(*CAUSE).rank("dense")).to_series().to_numpy()
        total = np.bincount(cause, weight)
        rate = np.bincount(cause, weight * success) / np.maximum(total, 1e-12)
        sure = (rate[cause] < _SURE) | (rate[cause] > 1.0 - _SURE)
        rest = ~sure
        auc = metrics.roc_auc(self.predictions[self.chosen][rest], success[rest], weight[rest])
        return {
            "share": float(weight[sure].sum() / weight.sum()),
            "roc_auc_rest": float(auc) if np.isfinite(auc) else None,
        }

    def stratum(self, by: str) -> list[dict[str, Any]]:
        """Quality of the chosen model by cause, releaser, edited, owner or site; largest first."""
        keys = self.labels(by)
        rows = []
        for value in keys.unique(maintain_order=True):
            inside = (keys == value).to_numpy()
            rows.append({"value": value, **self.quality(inside)})
        return sorted(rows, key=lambda row: (-row["batches"], row["value"]))

    def labels(self, by: str) -> pl.Series:
        """What each decision belongs to, in words: text (n,)."""
        if by == "cause":
            text = pl.format(
                "{}/{} {}",
                pl.col("hold_code").fill_null(0),
                pl.col("hold_subcode").fill_null(0),
                pl.col("masked").fill_null(""),
            )
        else:
            text = pl.col(by).cast(pl.String).fill_null("unknown")
        return self.table.select(text.alias(by)).to_series()

    def quality(self, rows: NDArray[np.bool_]) -> dict[str, Any]:
        """The chosen model on some of the decisions."""
        success, weight = self.labelled.success[rows], self.labelled.weight[rows]
        predicted = self.predictions[self.chosen][rows]
        scores = metrics.score(predicted, success, weight)
        return {
            "examples": int(rows.sum()),
            "batches": round(float(weight.sum()), 1),
            "base_rate": float(np.average(success, weights=weight)) if rows.any() else None,
            "predicted": float(np.average(predicted, weights=weight)) if rows.any() else None,
            "roc_auc": scores.roc_auc,
            "brier": scores.brier,
            "log_loss": scores.log_loss,
        }


def unseen(model: HoldModel, data: Dataset) -> tuple[NDArray[np.bool_], dict[str, int]]:
    """Which decisions the model may be judged on: bool (n,), and the others counted.

    A log that holds any decision the model was trained on counts only from the model's test start
    on, whatever the file is called now and however it has grown.
    """
    known = np.isin(fingerprints(data.table), model.seen)
    log = data.table["log"].to_numpy()
    trained_on = np.isin(log, np.unique(log[known]))
    earlier = trained_on & (data.table["released"].to_numpy() < model.borders[3])
    counts = {"before_test_start": int(earlier.sum())} | data.dropped(~earlier)
    return ~earlier, {kind: count for kind, count in counts.items() if count}


def evaluate(
    model: HoldModel, data: Dataset, rows: NDArray[np.bool_], left_out: Mapping[str, int]
) -> Evaluation:
    """Judge every model of `model` on those of the dataset's decisions that `rows` marks.

    Args:
        model: trained.
        data: read with the model's scale.
        rows: bool, of `data.table`: the decisions that may count.
        left_out: the others, by reason.

    Raises:
        TrainingError: no decision with an outcome is among them.
    """
    table, labelled = _judged(data, rows)
    predictions = {name: fitted.predict(labelled.inputs) for name, fitted in model.fitted.items()}
    low, high = model.answering.bounds(predictions[model.chosen])
    return Evaluation(
        chosen=model.chosen,
        table=table,
        labelled=labelled,
        predictions=predictions,
        low=low,
        high=high,
        scores=_scores(model, predictions, labelled.success, labelled.weight),
        scores_by_release=_scores(model, predictions, labelled.success, np.ones(len(labelled))),
        **_resampled(model, table, labelled, predictions),
        covered=metrics.covered_bins(
            predictions[model.chosen],
            low,
            high,
            labelled.success,
            labelled.weight,
            bins=_groups(model, float(labelled.weight.sum())),
        ),
        censored=data.censored(rows),
        left_out=dict(left_out),
    )


def _judged(data: Dataset, rows: NDArray[np.bool_]) -> tuple[pl.DataFrame, Labelled]:
    table, labelled = data.labelled(rows)
    if not len(table):
        raise TrainingError(
            "no decision with an outcome is left to judge by; give logs from after the training, "
            "or longer ones"
        )
    return table, labelled


def _scores(
    model: HoldModel,
    predictions: Mapping[str, Floats],
    success: NDArray[np.bool_],
    weight: Floats,
) -> dict[str, metrics.Scores]:
    return {
        name: metrics.score(
            column,
            success,
            weight,
            threshold=model.fitted[name].threshold,
            threshold_failure=model.fitted[name].threshold_failure,
        )
        for name, column in predictions.items()
    }


def _resampled(
    model: HoldModel, table: pl.DataFrame, labelled: Labelled, predictions: dict[str, Floats]
) -> dict[str, Any]:
    """What draws over batches give: intervals, gains over the best baseline, errors by chance."""
    batch, draws, seed = table["batch"].to_numpy(), model.settings.bootstrap, model.settings.seed
    bootstrap = Bootstrap(labelled.success, labelled.weight, batch, draws, seed)
    simulation = Simulation(batch, draws, seed)
    losses = {
        name: metrics.log_loss(column, labelled.success, labelled.weight)
        for name, column in predictions.items()
    }
    best = min(_baselines(predictions), key=lambda name: float(losses[name]))
    return {
        "auc": bootstrap.intervals(metrics.roc_auc, predictions),
        "gain_over_baseline": bootstrap.differences(metrics.log_loss, predictions, best),
        "costs": decision_costs(
            predictions, _rule_decisions(model, labelled), bootstrap, model.settings.costs
        ),
        "ece_by_chance": {
            name: float(np.quantile(errors_by_chance(simulation, column, labelled.weight), CHANCE))
            for name, column in predictions.items()
        },
    }


def errors_by_chance(simulation: Simulation, predicted: Floats, weight: Floats) -> Floats:
    """Calibration errors that outcomes drawn from the predictions show: float64 (draws,)."""
    return simulation.of(lambda success: metrics.ece(predicted, success, weight), predicted)


def _groups(model: HoldModel, batches: float) -> int:
    """So many that a group has about as many batches as are behind an interval, and enough."""
    behind = max(model.answering.intervals.batches, 1.0)
    return max(_GROUPS, min(int(_GROUPS * batches / behind), int(batches / _LEAST)))


def _baselines(names: Iterable[str]) -> list[str]:
    from jobsight.models import is_baseline

    return [name for name in names if is_baseline(name)]


def _rule_decisions(model: HoldModel, labelled: Labelled) -> dict[str, NDArray[np.bool_]]:
    return {
        name: fitted.model.releases(labelled.inputs)
        for name, fitted in model.fitted.items()
        if isinstance(fitted.model, Rules)
    }
