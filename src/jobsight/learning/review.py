"""Stored predictions compared with what became of the jobs: by week, by model, by kind."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from jobsight.documents import JobDocument, parse_key
from jobsight.errors import ModelError, UsageError
from jobsight.learning.bootstrap import Bootstrap
from jobsight.learning.dataset import drawn_together
from jobsight.learning.question import Question
from jobsight.learning.registry import Registry
from jobsight.learning.targets import Quantiles

if TYPE_CHECKING:
    from jobsight.settings import Settings

__all__ = ["Confused", "Week", "confusion", "predictions_of", "promised_by", "review", "reviewed"]

_METRICS = ("log_loss", "brier", "roc_auc")
LEAST = 20
"""Predictions with an outcome below which a week is not compared with a test report."""
_SCHEMA = {
    "job": pl.String, "model": pl.String, "moment": pl.String, "time": pl.Int64,
    "probability": pl.Float64, "low": pl.Float64, "high": pl.Float64,
}  # fmt: skip


@dataclass(frozen=True)
class Week:
    """The predictions of one model in one week, or in all.

    Attributes:
        week: its Monday, ISO 8601, UTC; None: all weeks.
        model: as answers name it.
        predictions: how many decisions were predicted; of several answers before one decision was
            over, the first counts.
        known: those of which the outcome is known.
        predicted: mean probability of these; of quantiles, the share that their intervals promise.
        observed: share of them that came true; of quantiles, that their intervals hold.
        log_loss, brier, roc_auc: of them; None where undefined.
        interval: 95 % interval of the log loss, drawn over batches; None where undefined.
        promised: log loss in the test report of the model; None where the model is not known.
        worse: whether the interval lies above what was promised; None where it cannot be said.
    """

    week: str | None
    model: str
    predictions: int
    known: int
    predicted: float | None
    observed: float | None
    log_loss: float | None
    brier: float | None
    roc_auc: float | None
    interval: tuple[float, float] | None
    promised: float | None
    worse: bool | None

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def predictions_of(documents: Iterable[JobDocument], question: Question[Any]) -> pl.DataFrame:
    """What a question predicted of the jobs of documents, one row per answer.

    Returns:
        ``job`` (as of `Question.job`), ``model``, ``moment`` (null unless the answer names one),
        ``time`` (µs, as of when it was asked), ``probability``; of quantiles ``low`` and ``high``.
    """
    name, goal = next(iter(question.targets.items()))
    rows = []
    for document in documents:
        for one in document.predictions:
            predicted = [one.answer.get("probability"), None, None]
            if isinstance(goal, Quantiles):
                levels = one.answer.get(f"{name}_{goal.unit}") or [None]
                predicted = [None, levels[0], levels[-1]]
            numbers = [value for value in predicted if isinstance(value, float | int)]
            if one.question == question.name and len(numbers) == 1 + isinstance(goal, Quantiles):
                key, moment = parse_key(document.id), one.answer.get("moment")
                named = moment if isinstance(moment, str) else None
                row = (f"{key.cluster} {key.job}", one.model, named, one.time, *predicted)
                rows.append(row)
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def promised_by(report: Mapping[str, Any], moment: str | None) -> float | None:
    """The log loss that the report of a test part gives for the model that answers."""
    own = report.get("by_moment", {}).get(moment, report)
    value = own.get("models", {}).get(own.get("chosen"), {}).get("log_loss")
    return float(value) if isinstance(value, float | int) else None


def reviewed(
    question: Question[Any], source: Any, predictions: pl.DataFrame, settings: Settings
) -> list[Week]:
    """`review` of answers to a question about `source`, next to the tests in the registry."""
    own = settings.of(question.name, question.settings)
    models = predictions.select("model", "moment").unique().rows()
    promised: dict[tuple[str, str | None], float | None] = {}
    for name, moment in models:
        with contextlib.suppress(ModelError, UsageError):  # the registry may not have it
            if "@" in name:
                entry = Registry(settings.registry).find(name, question=question.name)
                promised[name, moment] = promised_by(entry.open()[1], moment)
    decisions = question.decisions(source, own).table
    return review(question, decisions, predictions, promised, draws=own.bootstrap, seed=own.seed)


def review(
    question: Question[Any],
    decisions: pl.DataFrame,
    predictions: pl.DataFrame,
    promised: Mapping[tuple[str, str | None], float | None],
    *,
    draws: int,
    seed: int,
) -> list[Week]:
    """Compare predictions with outcomes.

    An answer is about the decision of its job whose outcome became known next.

    `predictions` are of `predictions_of`, `promised` the log loss of tests, by model and moment.

    Returns:
        For each model, all weeks together, then each; models by name.
    """
    target, goal = next(iter(question.targets.items()))
    outcomes = decisions.select(
        question.job.alias("job"), "known_at", "decided", value=pl.col(target).cast(pl.Float64),
        drawn=pl.Series(drawn_together(decisions)), decision=pl.int_range(pl.len()),
        usable=pl.col(target).is_not_null() & pl.col("teaches"),
    ).filter("usable").sort("known_at")  # fmt: skip
    answered = predictions.sort("time").join_asof(
        outcomes, left_on="time", right_on="known_at", by="job", strategy="forward",
        allow_exact_matches=False, check_sortedness=False,
    )  # fmt: skip
    if isinstance(goal, Quantiles):
        # A span counts from the decision; what was asked later is about what was left of it.
        passed = (pl.col("time") - pl.col("decided")) / 1e6
        answered = answered.with_columns(value=(pl.col("value") - passed).clip(0.0))
    # Answers of which nothing became known yet are of one decision per job.
    once = ["job", "model", "moment", "decision"]
    answered = answered.unique(once, keep="first", maintain_order=True)
    of_tests = [promised.get(pair) for pair in answered.select("model", "moment").iter_rows()]
    answered = answered.with_columns(
        promised=pl.Series(of_tests, dtype=pl.Float64),
        week=pl.from_epoch("time", time_unit="us").dt.truncate("1w").dt.date(),
    )
    weeks = []
    for (model,), rows in answered.group_by("model", maintain_order=True):
        weeks.append(_week(question, None, str(model), rows, draws, seed))
        for (day,), some in rows.group_by("week", maintain_order=True):
            assert isinstance(day, dt.date)
            weeks.append(_week(question, day.isoformat(), str(model), some, draws, seed))
    return sorted(weeks, key=lambda one: (one.model, one.week or ""))


def _week(
    question: Question[Any], week: str | None, model: str, rows: pl.DataFrame, draws: int, seed: int
) -> Week:
    goal = next(iter(question.targets.values()))
    known = rows.filter(pl.col("value").is_not_null())
    count = (week, model, len(rows), len(known))
    if isinstance(goal, Quantiles):
        held = known.select(pl.col("value").is_between("low", "high").mean()).item()
        return Week(*count, goal.coverage if len(known) else None, held, *[None] * 6)
    probability = known["probability"].to_numpy()
    values, weight = known["value"].to_numpy().astype(np.bool_), np.ones(len(known))
    numbers: dict[str, float | None] = dict.fromkeys(_METRICS)
    interval = None
    if len(known):
        for name in _METRICS:
            value = float(goal.metric(name)(probability, values, weight))
            numbers[name] = value if np.isfinite(value) else None
        bootstrap = Bootstrap(values, weight, known["drawn"].to_numpy(), draws, seed)
        bounds = bootstrap.interval(goal.metric("log_loss"), probability)
        if bounds.low is not None and bounds.high is not None:
            interval = bounds.low, bounds.high
    complete = len(known) and not known["promised"].has_nulls()
    promised = float(known["promised"].to_numpy().mean()) if complete else None
    comparable = promised is not None and interval is not None and len(known) >= LEAST
    return Week(
        *count,
        predicted=float(probability.mean()) if len(known) else None,
        observed=float(values.mean()) if len(known) else None,
        log_loss=numbers["log_loss"],
        brier=numbers["brier"],
        roc_auc=numbers["roc_auc"],
        interval=interval,
        promised=promised,
        worse=interval[0] > promised if comparable and interval and promised is not None else None,
    )


@dataclass(frozen=True)
class Confused:
    """How often a model predicted one kind where another was observed.

    Attributes:
        model: as answers name it.
        predicted: a kind, or another word of the question's, such as ``unsure``.
        observed: the kinds that the observation leaves possible; none: it is not known yet.
        source: of the observation.
        jobs: how many.
        right: whether the predicted kind is among the observed ones; None where none is known.
    """

    model: str
    predicted: str
    observed: tuple[str, ...]
    source: str | None
    jobs: int
    right: bool | None

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def confusion(
    question: Question[Any], documents: Iterable[JobDocument], decisions: pl.DataFrame
) -> list[Confused]:
    """Compare the first prediction of each model for each job with what was observed.

    `decisions` has `possible`, the kinds that an observation leaves, and `source`.

    Returns:
        By model, then the most frequent first.
    """
    target = next(iter(question.targets))
    rows: dict[tuple[str, str], str] = {}
    for document in documents:
        key = parse_key(document.id)
        for one in sorted(document.predictions, key=lambda one: one.time):
            kind = one.answer.get(target)
            if one.question == question.name and isinstance(kind, str):
                rows.setdefault((one.model, f"{key.cluster} {key.job}"), kind)
    found = pl.DataFrame(
        [(model, job, kind) for (model, job), kind in rows.items()],
        schema={"model": pl.String, "job": pl.String, "predicted": pl.String}, orient="row",
    )  # fmt: skip
    observed = decisions.select(question.job.alias("job"), "possible", "source")
    counts = found.join(observed, on="job", how="left").group_by(
        "model", "predicted", "possible", "source"
    ).len()  # fmt: skip
    return [
        Confused(model, predicted, tuple(possible or ()), source, jobs,
                 predicted in possible if possible else None)
        for model, predicted, possible, source, jobs in counts.sort(
            "model", "len", "predicted", descending=[False, True, False]
        ).iter_rows()
    ]  # fmt: skip
