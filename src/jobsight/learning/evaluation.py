"""How good is it? Every model on decisions it has not seen, with its baselines and its costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.clock import format_micros
from jobsight.errors import TrainingError
from jobsight.learning import metrics
from jobsight.learning.bootstrap import Bootstrap, Interval, Simulation
from jobsight.learning.costs import DecisionCost, decision_costs, savings
from jobsight.learning.dataset import Dataset, drawn_together
from jobsight.learning.mixture import Mixture, predicted_in_time
from jobsight.learning.modeldir import ModelDir, TargetModel
from jobsight.learning.question import Question
from jobsight.learning.targets import Scores, Target
from jobsight.models import is_baseline
from jobsight.models.base import Floats, Labelled
from jobsight.models.rules import Rules

__all__ = ["Evaluation", "evaluate", "evaluate_all", "quality"]

_SURE = 0.02
_SECOND = 1_000_000
_KNOWN = (25, 50, 100, 200, 400, 800)


ScoreAnswers = Callable[[ModelDir, Dataset, NDArray[np.bool_]], dict[str, Any] | None]
"""What following the answers would have got, of the decisions of a dataset that a mask marks."""


@dataclass(frozen=True)
class Evaluation:
    """Every model on n decisions.

    Attributes:
        question: that was asked.
        target: name of what was predicted.
        notes: see `jobsight.learning.question.Decisions`.
        chosen: name of the model that answers.
        table: the n decisions, with their strata.
        labelled: inputs, values and weights, in the same order.
        predictions: calibrated, by model, of the n rows.
        low, high: the chosen model's bounds, see `Calibrated.bounds`.
        scores: by model, batches weighing 1; what right predictions show by chance among them.
        scores_by_row: by model, every decision weighing 1.
        headline: the target's headline metric with its interval by model, bootstrapped over
            batches.
        gain_over_baseline: loss of each model less that of the best baseline (paired).
        costs: by way to decide; empty where decisions have no costs.
        covered: whether the chosen model's bounds hold what was observed, of each row or group.
        censored: decisions without outcome, by kind.
        left_out: decisions that do not count here, by reason.
        savings: see `jobsight.learning.costs`; None where nothing is said of what jobs used.
        by_moment: the same for decisions at later moments, where the question is asked then.
        answers: see `Question.answered`.
        rejected: the model that was chosen before the test, where it failed it; see `evaluate`.
    """

    question: Question[Any]
    target: str
    chosen: str
    table: pl.DataFrame
    labelled: Labelled
    predictions: dict[str, Floats]
    low: Floats
    high: Floats
    scores: dict[str, Scores]
    scores_by_row: dict[str, Scores]
    headline: dict[str, Interval]
    gain_over_baseline: dict[str, Interval]
    costs: dict[str, DecisionCost]
    covered: NDArray[np.bool_]
    censored: dict[str, int]
    left_out: dict[str, int]
    savings: dict[str, Any] | None
    by_moment: dict[str, Evaluation]
    answers: dict[str, Any] | None = None
    rejected: dict[str, Any] | None = None
    notes: Sequence[str] = ()

    @property
    def goal(self) -> Target:
        """What was predicted."""
        return self.question.targets[self.target]

    @property
    def batches(self) -> int:
        """Number of batches."""
        return int(self.table["batch"].n_unique())

    @property
    def best_baseline(self) -> str:
        """Name of the baseline with the least loss here."""
        loss = self.goal.loss
        return min(filter(is_baseline, self.scores), key=lambda name: self.scores[name][loss] or 0)

    @property
    def coverage(self) -> float | None:
        """Share of rows or groups whose observation is within the chosen model's bounds."""
        return float(self.covered.mean()) if len(self.covered) else None

    def to_json(self) -> dict[str, Any]:
        """The report as plain data; None where a number is undefined."""
        goal, known, chosen = self.goal, self.labelled, self.predictions[self.chosen]
        shown: dict[str, Any] = {}
        if counts := goal.counts(known.values):  # how many of each kind, and what comes of them
            aucs = goal.rankings(chosen, known.values, known.weight)
            finite = [auc if np.isfinite(auc) else None for auc in aucs]
            shown = {"counts": counts, "macro_f1": self.scores[self.chosen]["macro_f1"]}
            shown["roc_auc"] = dict(zip(counts, finite, strict=True))
        models = {}
        for name in self.predictions:
            headline, gain = self.headline[name], self.gain_over_baseline.get(name)
            bounds = None if headline.low is None else [headline.low, headline.high]
            models[name] = {
                **self.scores[name],
                f"{goal.headline}_ci": bounds,
                f"{goal.loss}_gain": None if gain is None else asdict(gain),
                "by_row": self.scores_by_row[name],
            }
        reliability = None
        if (events := goal.events(chosen, known.values)) is not None:
            points = asdict(metrics.reliability(*events, known.weight))
            columns = (column.tolist() for column in points.values())
            reliability = [
                dict(zip(points, point, strict=True)) for point in zip(*columns, strict=True)
            ]
        strata = [name for name, stratum in self.question.strata.items() if stratum.saved]
        moments = {name: moment.to_json() for name, moment in self.by_moment.items()}
        return {
            "question": self.question.name,
            "target": self.target,
            "words": list(self.question.words),
            "headline": goal.headline,
            "loss": goal.loss,
            "metrics": list(goal.metrics),
            "higher": sorted(goal.higher),
            "examples": len(self.table),
            "batches": self.batches,
            "base_rate": goal.mean(known.values, known.weight),
            "base_rate_bounds": self.bounds_of_rate(),
            "censored": self.censored,
            "left_out": self.left_out,
            **shown,
            "models": models,
            "chosen": self.chosen,
            "reliability": reliability,
            "interval_coverage": self.coverage,
            "interval_groups": len(self.covered),
            "sure_causes": self.sure_causes(),
            "costs": {name: asdict(cost) for name, cost in self.costs.items()},
            "strata": {name: self.stratum(name) for name in strata},
            **({"over_time": self.over_time()} if self.question.timed else {}),
            **({"by_known": self.by_known()} if self.question.timed else {}),
            **({} if self.savings is None else {"cost_view": self.savings}),
            **({} if self.answers is None else {"answers": self.answers}),
            **({} if self.rejected is None else {"rejected": self.rejected}),
            **({"notes": list(self.notes)} if self.notes else {}),
            **({"by_moment": moments} if moments else {}),
        }

    def bounds_of_rate(self) -> list[float] | None:
        """The base rate if no censored decision had come true, and if all had."""
        rate = self.goal.mean(self.labelled.values, self.labelled.weight)
        if rate is None:
            return None
        known, unknown = len(self.table), sum(self.censored.values())
        low = rate * known / (known + unknown)
        return [low, low + unknown / (known + unknown)]

    def sure_causes(self) -> dict[str, Any] | None:
        """How much is easy: decisions in causes that (nearly) always or never come true.

        Returns:
            `share` of the decisions, by weight, in causes with a rate under 2 % or over 98 %, and
            the chosen model's ROC AUC within the rest (None where undefined). None where the
            target is not binary, or decisions have no causes.
        """
        if self.goal.output.kind != "binary" or not self.question.causes:
            return None
        weight, success = self.labelled.weight, self.labelled.success
        cause = self.table.select(pl.struct(*self.question.causes).rank("dense")).to_series()
        number = cause.to_numpy()
        total = np.bincount(number, weight)
        rate = np.bincount(number, weight * success) / np.maximum(total, 1e-12)
        sure = (rate[number] < _SURE) | (rate[number] > 1.0 - _SURE)
        rest = ~sure
        auc = metrics.roc_auc(self.predictions[self.chosen][rest], success[rest], weight[rest])
        return {
            "share": float(weight[sure].sum() / weight.sum()),
            "roc_auc_rest": float(auc) if np.isfinite(auc) else None,
        }

    def stratum(self, by: str) -> list[dict[str, Any]]:
        """Quality of the chosen model by one of the question's strata; largest first."""
        keys = self.labels(by)
        rows = []
        for value in keys.unique(maintain_order=True):
            inside = (keys == value).to_numpy()
            rows.append({"value": value, **self.quality(inside)})
        return sorted(rows, key=lambda row: (-row["batches"], row["value"]))

    def over_time(self) -> list[dict[str, Any]]:
        """Quality and loss of the chosen model, and the best baseline's loss, by week.

        Decisions of a single week are cut into quarters of equal numbers. `from` is the Monday, in
        UTC, or the moment of a quarter's first decision.
        """
        start = pl.from_epoch("decided", "us").dt.truncate("1w").dt.date().cast(pl.String)
        starts, span = self.table.select(start).to_series(), "week"
        if starts.n_unique() == 1:
            quarter = (pl.col("decided").rank("ordinal").cast(pl.Int64) - 1) * 4 // pl.len()
            first = self.table.select(pl.col("decided").min().over(quarter) // _SECOND * _SECOND)
            starts, span = first.to_series(), "quarter"
        loss, best, rows = self.goal.metric(self.goal.loss), self.best_baseline, []
        for begin in sorted(starts.unique()):
            inside = (starts == begin).to_numpy()
            known = self.labelled.values[inside], self.labelled.weight[inside]
            losses = {
                name: float(loss(self.predictions[name][inside], *known))
                for name in dict.fromkeys((self.chosen, best))
            }
            day = begin if span == "week" else format_micros(begin)
            rows.append({"span": span, "from": day, "loss": losses, **self.quality(inside)})
        return rows

    def by_known(self) -> list[dict[str, Any]]:
        """The loss of each model by how many of these batches had an outcome at the decision."""
        known_at = self.table.group_by("batch").agg(pl.col("known_at").min())["known_at"]
        decided = self.table["decided"].to_numpy()
        known = np.searchsorted(np.sort(known_at.to_numpy()), decided)
        loss, rows = self.goal.metric(self.goal.loss), []
        for low, high in pairwise((0, *_KNOWN, len(known_at) + 1)):
            inside = (known >= low) & (known < high)
            if inside.any():
                of = self.labelled.values[inside], self.labelled.weight[inside]
                by = {name: float(loss(p[inside], *of)) for name, p in self.predictions.items()}
                batches = round(float(of[1].sum()), 1)
                rows.append({"known": low, "batches": batches, self.goal.loss: by})
        return rows

    def labels(self, by: str) -> pl.Series:
        """What each decision belongs to, in words: text (n,)."""
        label = self.question.strata[by].label.cast(pl.String).fill_null("unknown")
        return self.table.select(label.alias(by)).to_series()

    def quality(self, rows: NDArray[np.bool_]) -> dict[str, Any]:
        """The chosen model on some of the decisions."""
        taken = self.labelled.values[rows], self.labelled.weight[rows]
        return quality(self.goal, self.predictions[self.chosen][rows], *taken)

    def bootstrap(self, draws: int, seed: int, rows: NDArray[np.bool_] | None = None) -> Bootstrap:
        """Resamples of the batches of all decisions, or of some."""
        inside = np.ones(len(self.table), np.bool_) if rows is None else rows
        return Bootstrap(
            self.labelled.values[inside],
            self.labelled.weight[inside],
            drawn_together(self.table)[inside],
            draws,
            seed,
        )


def quality(
    goal: Target, predicted: Floats, values: NDArray[Any], weight: Floats
) -> dict[str, Any]:
    """A row of a table of slices: counts, what was predicted and observed, and scores."""
    binary = goal.output.kind == "binary"
    shown = ("brier", "log_loss") if binary else goal.metrics
    scores = goal.scores(predicted, values, weight)
    auc = goal.ranking(predicted, values, weight)
    mean = float(np.average(predicted, weights=weight)) if binary and len(values) else None
    return {
        "examples": len(values),
        "batches": round(float(weight.sum()), 1),
        "base_rate": goal.mean(values, weight),
        "predicted": mean,
        "roc_auc": auc if np.isfinite(auc) else None,
        **{name: scores[name] for name in shown},
    }


def evaluate_all(
    model: ModelDir, source: Any, score_answers: ScoreAnswers | None = None
) -> dict[str, Evaluation]:
    """Judge a model on what it has not seen of a source: one evaluation per target that it shows.

    `score_answers` is None where more than a probability is not answered.

    Raises:
        TrainingError: no decision with an outcome is left to judge by.
    """
    data = Dataset.for_judging(source, model)
    evaluations = {}
    for target, answering in model.targets.items():
        other = data.seen_by(target)
        try:
            evaluations[target] = evaluate(answering, other, *other.unseen_by(model))
        except TrainingError:
            if target == data.target:
                raise
    if score_answers is not None:
        answers = score_answers(model, data, data.unseen_by(model)[0])
        evaluations[data.target] = replace(evaluations[data.target], answers=answers)
    return evaluations


def evaluate(
    model: TargetModel,
    data: Dataset,
    rows: NDArray[np.bool_],
    left_out: Mapping[str, int],
    *,
    moment: str | None = None,
    test: bool = False,
) -> Evaluation:
    """Judge every model of a target on those of the dataset's decisions that `rows` marks.

    `data` is read with the model's encoding and seen by its target; `left_out` are the other
    decisions, by reason. `moment` is that of the model; None: the first, and the later ones are
    judged too, where the question is asked then.

    In the `test` of a training, a model fails whose loss is surely above that of the best baseline,
    or above that of the constant, which a mixture has as a member: the best baseline answers in its
    place.

    Raises:
        TrainingError: no decision with an outcome is among them.
    """
    table, labelled = data.labelled(data.judged(rows), moment=moment)
    if not len(table):
        raise TrainingError(
            "no decision with an outcome is left to judge by; give a history from after the "
            "training, or a longer one"
        )
    predictions = {
        name: predicted_in_time(fitted, data, table, labelled, moment)
        for name, fitted in model.fitted.items()
    }
    resampled = _resampled(model, data, table, labelled, predictions, test=test)
    name = resampled["chosen"]
    answering, chosen = model.fitted[name].calibrated, predictions[name]
    low, high = answering.bounds(chosen)

    def scored(weight: Floats) -> dict[str, Scores]:
        of = labelled.values, weight
        return {name: data.goal.scores(column, *of, model.fitted[name].calibrated)
                for name, column in predictions.items()}  # fmt: skip

    scores = scored(labelled.weight)
    for name, by_chance in resampled.pop("by_chance").items():
        scores[name] |= by_chance
    return Evaluation(
        question=data.question,
        target=data.target,
        table=table,
        labelled=labelled,
        predictions=predictions,
        low=low,
        high=high,
        scores=scores,
        scores_by_row=scored(np.ones(len(labelled))),
        **resampled,
        covered=answering.covered(chosen, low, high, labelled.values, labelled.weight),
        censored=data.censored(rows),
        left_out=dict(left_out),
        by_moment={
            name: evaluate(later, data, rows, left_out, moment=name, test=test)
            for name, later in (model.moments if data.question.each_moment else {}).items()
        },
        notes=data.decisions.notes,
    )


def _against_baselines(
    chosen: str, goal: Target, predictions: dict[str, Floats], bootstrap: Bootstrap
) -> tuple[dict[str, Interval], dict[str, Any] | None]:
    """The losses of models less that of the best baseline; how the chosen one fails, if it does.

    Of a failure: name and loss of the chosen model, what answers in its place, and why in words.
    """
    loss = goal.metric(goal.loss)
    losses = {
        name: float(loss(column, bootstrap.values, bootstrap.weight))
        for name, column in predictions.items()
    }
    best = min(filter(is_baseline, predictions), key=lambda name: losses[name])
    gains = bootstrap.differences(loss, predictions, best)
    low = gains[chosen].low if chosen in gains else None
    constant = losses.get("constant", np.inf)
    above = losses[chosen] > constant and chosen != Mixture.name
    if chosen == best or not (above or (low is not None and low > 0.0)):
        return gains, None
    worse = "constant" if above else best
    text = (
        f"{chosen}, chosen by the backtest, is worse than {worse} on the test part ({goal.loss} "
        f"{losses[chosen]:.3f} against {losses[worse]:.3f}), so the best baseline there answers: "
        f"{best} ({losses[best]:.3f})"
    )
    return gains, {"name": chosen, "loss": losses[chosen], "answers": best, "why": text}


def _resampled(
    model: TargetModel,
    data: Dataset,
    table: pl.DataFrame,
    labelled: Labelled,
    predictions: dict[str, Floats],
    *,
    test: bool,
) -> dict[str, Any]:
    """What draws over batches give: who answers, intervals, gains, savings, costs, chance."""
    goal, draws, seed = data.goal, data.settings.bootstrap, data.settings.seed
    bootstrap = Bootstrap(labelled.values, labelled.weight, drawn_together(table), draws, seed)
    simulation = Simulation(table["batch"].to_numpy(), draws, seed)
    gains, failure = _against_baselines(model.chosen, goal, predictions, bootstrap)
    rejected = failure if test else None
    chosen = model.chosen if rejected is None else rejected["answers"]
    spent, view = data.question.spent, None
    if spent and goal.output.kind == "binary":
        hours = table[spent].cast(pl.Float64).fill_null(float("nan")).to_numpy()
        view = savings(predictions[chosen], hours, bootstrap)
    costs = data.question.costs(data.settings)
    rules = {
        name: fitted.model.releases(labelled.inputs)
        for name, fitted in model.fitted.items()
        if isinstance(fitted.model, Rules)
    }
    return {
        "chosen": chosen,
        "rejected": rejected,
        "gain_over_baseline": gains,
        "headline": bootstrap.intervals(goal.metric(goal.headline), predictions),
        "savings": view,
        "costs": {} if costs is None else decision_costs(predictions, rules, bootstrap, costs),
        "by_chance": {
            name: goal.by_chance(column, labelled.weight, simulation)
            for name, column in predictions.items()
        },
    }
