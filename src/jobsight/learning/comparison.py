"""Two models on the very same later decisions: which one is better, and how surely."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.clock import format_micros
from jobsight.errors import ModelError, TrainingError
from jobsight.format import moment
from jobsight.learning.bootstrap import Bootstrap, Interval
from jobsight.learning.dataset import Dataset, batch_weights, drawn_together
from jobsight.learning.fingerprints import fingerprints
from jobsight.learning.mixture import predicted_in_time
from jobsight.learning.modeldir import ModelDir
from jobsight.learning.targets import Scores, Target
from jobsight.models import is_baseline
from jobsight.models.base import Floats, Labelled

__all__ = ["Comparison", "compare"]

LEAST_BATCHES = 5
"""Of fewer, resampling says nothing."""


@dataclass(frozen=True)
class Comparison:
    """What came of it.

    Attributes:
        first, second: the models, as answers name them.
        examples, batches: how many decisions both were judged on.
        base_rate: of a binary target, by weight.
        since, until: µs: the first and the last of these decisions, where they have moments.
        scores: by model, the second one's baselines among them; batches weigh 1.
        metric: what decides.
        higher: whether more of it is better.
        difference: metric of the second less that of the first, on the same resamples of batches.
        left_out: decisions that do not count, by reason.
        words: of the question.
    """

    first: str
    second: str
    examples: int
    batches: int
    base_rate: float | None
    since: int | None
    until: int | None
    scores: dict[str, Scores]
    metric: str
    higher: bool
    difference: Interval
    left_out: dict[str, int]
    words: tuple[str, str, str]

    @property
    def better(self) -> bool:
        """Whether the second is surely better: the whole interval lies on the better side of 0."""
        worst = self.difference.low if self.higher else self.difference.high
        if worst is None or self.batches < LEAST_BATCHES:
            return False
        return worst > 0 if self.higher else worst < 0

    @property
    def verdict(self) -> str:
        """One sentence for a page or a record."""
        difference = self.difference
        between = (
            "undefined"
            if difference.value is None or difference.low is None or difference.high is None
            else f"{difference.value:+.3f} ({difference.low:+.3f} to {difference.high:+.3f})"
        )
        sure = "surely better" if self.better else "not surely better"
        text = (
            f"{self.second} is {sure} than {self.first}: {self.metric} differs by {between}, on "
            f"{self.batches} batches"
        )
        if self.since is None or self.until is None:
            return text
        return f"{text} from {moment(self.since)} to {moment(self.until)}"

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain data."""
        return {
            "words": list(self.words),
            "first": self.first,
            "second": self.second,
            "examples": self.examples,
            "batches": self.batches,
            "base_rate": self.base_rate,
            "since": self.since and _second(self.since),
            "until": self.until and _second(self.until),
            "models": self.scores,
            "metric": self.metric,
            "difference": asdict(self.difference),
            "better": self.better,
            "verdict": self.verdict,
            "left_out": self.left_out,
        }


def compare(
    first: ModelDir, second: ModelDir, source: Any, *, metric: str | None = None
) -> Comparison:
    """Judge the answering models of two model directories on the same decisions.

    These are the decisions of `source` that neither was trained on (see `Dataset.unseen_by`), and
    that are later than both trainings: from the later beginning of the two test parts on. The main
    target of the question is compared.

    `metric` of the target decides; None: its loss. F-measures are at each model's own threshold.

    Raises:
        ModelError: they do not answer the same question.
        TrainingError: no such decision with an outcome is there.
    """
    for name in first.question.same:
        value, other = getattr(first.settings, name), getattr(second.settings, name)
        if value != other:
            raise ModelError(
                "the models cannot be compared: one was trained with "
                f"{first.question.name}.{name}: {value}, the other with {other}, so that they do "
                "not answer the same"
            )
    since = max(int(model.borders[1]) for model in (first, second))
    a, b = (_Judged.of(model, source, since) for model in (first, second))
    left_out = a.left_out | b.left_out
    # The decisions that both have with the same outcome.
    ours, theirs = (fingerprints(judged.table, first.question.key) for judged in (a, b))
    _, here, there = np.intersect1d(ours, theirs, return_indices=True)
    order = np.argsort(here)
    here, there = here[order], there[order]
    equal = a.labelled.values[here] == b.labelled.values[there]
    same = equal.all(axis=1) if equal.ndim > 1 else equal
    a, b = a.at(here[same]), b.at(there[same])
    if differing := int((~same).sum()):
        left_out["outcome_differs_by_horizon"] = differing
    if not len(a.table):
        counted = ", ".join(f"{n} {why.replace('_', ' ')}" for why, n in left_out.items())
        raise TrainingError(
            "no decision with an outcome is left to compare by, later than what both models were "
            f"trained on ({counted or 'none others'}); give a history from after both trainings"
        )
    return _compared(a, b, metric or a.goal.loss, left_out)


@dataclass(frozen=True)
class _Judged:
    """A model with the decisions it may be judged on."""

    model: ModelDir
    data: Dataset
    table: pl.DataFrame
    labelled: Labelled
    left_out: dict[str, int]

    @classmethod
    def of(cls, model: ModelDir, source: Any, since: int) -> _Judged:
        data = Dataset.for_judging(source, model)
        rows, left_out = data.unseen_by(model)
        late = data.table["decided"].to_numpy() >= since
        earlier = int((rows & ~late).sum())
        left_out = left_out | ({"before_both_tests": earlier} if earlier else {})
        table, labelled = data.labelled(rows & late)
        return cls(model, data, table, labelled, left_out)

    def at(self, rows: NDArray[np.int64]) -> _Judged:
        """The same for the rows given alone, batches weighing 1 again."""
        taken = self.labelled.take(rows)
        weight = batch_weights(self.batch[rows])
        return replace(self, table=self.table[rows], labelled=replace(taken, weight=weight))

    @property
    def goal(self) -> Target:
        return next(iter(self.model.question.targets.values()))

    @property
    def batch(self) -> NDArray[np.int64]:
        return self.table["batch"].cast(pl.Int64).to_numpy()

    def predicted(self, name: str) -> Floats:
        return predicted_in_time(
            self.model.fitted[name], self.data, self.table, self.labelled, None
        )


def _compared(a: _Judged, b: _Judged, metric: str, left_out: dict[str, int]) -> Comparison:
    goal, values, weight = a.goal, a.labelled.values, a.labelled.weight
    first, second = a.model.label, b.model.label
    fitted = {first: a.model.answering, second: b.model.answering}
    predictions = {first: a.predicted(a.model.chosen), second: b.predicted(b.model.chosen)}
    for name in b.model.fitted:
        if is_baseline(name) and name != b.model.chosen:
            fitted[name], predictions[name] = b.model.fitted[name], b.predicted(name)
    settings = (a.model.settings, b.model.settings)
    # The same resamples whichever model is named first.
    draws, seed = max(own.bootstrap for own in settings), min(own.seed for own in settings)
    bootstrap = Bootstrap(values, weight, drawn_together(a.table), draws, seed)
    pair = {
        name: fitted[name].calibrated.decided(metric, predictions[name]) for name in (first, second)
    }
    differences = bootstrap.differences(goal.metric(metric), pair, first)
    decided, timed = a.table["decided"].to_numpy(), a.model.question.timed
    return Comparison(
        first=first,
        second=second,
        examples=len(a.table),
        batches=len(np.unique(a.batch)),
        base_rate=goal.mean(values, weight),
        since=int(decided.min()) if timed else None,
        until=int(decided.max()) if timed else None,
        scores={
            name: goal.scores(column, values, weight, fitted[name].calibrated)
            for name, column in predictions.items()
        },
        metric=metric,
        higher=metric in goal.higher,
        difference=differences.get(second, Interval(0.0, 0.0, 0.0)),
        left_out=left_out,
        words=a.model.question.words,
    )


def _second(micros: int) -> str:
    return format_micros(micros // 1_000_000 * 1_000_000)
