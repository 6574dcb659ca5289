"""Training: every model on the train part, choice and calibration by backtest, one look at test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from jobsight import models
from jobsight.clock import format_micros
from jobsight.errors import TrainingError, UsageError
from jobsight.learning.backtest import Backtest, Choice, backtest, choose_model, require_blocks
from jobsight.learning.bootstrap import Bootstrap
from jobsight.learning.dataset import PARTS, Dataset, batch_weights
from jobsight.learning.evaluation import Evaluation, evaluate
from jobsight.learning.fingerprints import fingerprints
from jobsight.learning.manifest import Source
from jobsight.learning.mixture import Mixture, Refits, mix
from jobsight.learning.modeldir import Fitted, ModelDir, TargetModel
from jobsight.learning.question import Question
from jobsight.models.base import Labelled, Model
from jobsight.models.rates import LearningRates, Rates
from jobsight.models.rules import Rules
from jobsight.models.stack import Stack

__all__ = ["Parts", "Trained", "TrainedTarget", "fit_model", "model_names", "train"]

Parts = dict[str, tuple[pl.DataFrame, Labelled]]


@dataclass(frozen=True)
class TrainedTarget:
    """What training made for one target.

    Attributes:
        data: the dataset, seen by this target.
        parts: table and examples of each part, by name.
        choice: made on the backtest.
        evaluation: of the test part.
        skipped: models that were not trained, with the reason.
        model: what answers.
    """

    data: Dataset
    parts: Parts
    choice: Choice
    evaluation: Evaluation
    skipped: dict[str, str]
    model: TargetModel

    def facts(self) -> dict[str, Any]:
        """What the manifest keeps of the parts and the choice."""
        return {
            "parts": {
                name: {
                    "examples": len(table),
                    "batches": int(table["batch"].n_unique()),
                    "base_rate": self.data.goal.mean(labelled.values, labelled.weight),
                }
                for name, (table, labelled) in self.parts.items()
            },
            "dropped": self.data.dropped(np.ones(len(self.data.table), np.bool_)),
            "choice": {
                "name": self.choice.name,
                "reason": self.choice.reason,
                "backtest": {name: asdict(value) for name, value in self.choice.values.items()},
            },
            "skipped_models": self.skipped,
        }


@dataclass(frozen=True)
class Trained:
    """What training made.

    Attributes:
        model: ready to be saved.
        data: the dataset, its parts included.
        targets: those that can be learned from this history, by name.
    """

    model: ModelDir
    data: Dataset
    targets: dict[str, TrainedTarget]

    @property
    def main(self) -> TrainedTarget:
        """The question's first target."""
        return next(iter(self.targets.values()))

    def facts(self) -> dict[str, Any]:
        """What the manifest keeps of the training data; of other targets below their names."""
        decisions = self.data.decisions
        first, *others = self.targets.items()
        return {
            **decisions.facts,
            "no_decision": dict(decisions.left_out),
            "first": _moment(decisions.since),
            "last": _moment(decisions.until),
            "borders": [_moment(int(border)) for border in self.data.borders],
            **first[1].facts(),
            **({"targets": {name: one.facts() for name, one in others}} if others else {}),
        }


def _moment(microseconds: int) -> str:
    return format_micros(microseconds).replace(" ", "T")


LEAST_BATCHES = {"train": 30, "test": 5}
"""Below these a part says nothing."""

_LOSSES = {
    "outcome_later": "of which the outcome was not known at the end of their part",
    "crosses_border": "of a group that both parts have",
    "end_of_part": "too near to the end of the history",
}
"""Why decisions do not count, in words; other kinds are named by themselves."""

LEAST_FOR_MOMENT = 30
"""Training batches that must support a later moment before an answer may propose it."""

Progress = Callable[[str], None]


def model_names(question: Question[Any], wanted: str) -> tuple[str, ...]:
    """The models that ``--model WANTED`` trains: the baselines always, to compare.

    A mixture is made of all the others.

    Raises:
        UsageError: there is no such model.
    """
    if wanted == "all" or (wanted == Mixture.name and wanted in question.models):
        return question.models
    if wanted not in question.models:
        known = ", ".join(question.models)
        raise UsageError(f"no model of {question.name} is named {wanted!r}; known are all, {known}")
    return tuple(name for name in question.models if models.is_baseline(name) or name == wanted)


def train(
    data: Dataset,
    *,
    names: Sequence[str] | None = None,
    required: str | None = None,
    sources: Sequence[Source] = (),
    progress: Progress = lambda _step: None,
) -> Trained:
    """Train, choose, calibrate and test, one target of the question after the other.

    `names` are those of the models, the baselines among them; None: all of the question. The model
    `required` must be trained for the main target; others that cannot be are left out, and listed
    as skipped.

    Raises:
        TrainingError: there is too little to learn from; says what would be needed.
    """
    names = data.question.models if names is None else names
    targets: dict[str, TrainedTarget] = {}
    for target in data.question.targets:
        try:
            must = required if target == data.target else None
            plan = _Plan(data.seen_by(target), names, must, progress)
            targets[target] = plan.trained()
        except TrainingError:
            if target == data.target:
                raise
    main = next(iter(targets.values()))
    model = ModelDir(
        question=data.question,
        settings=data.settings,
        encoding=data.encoding,
        borders=data.borders,
        names=main.parts["train"][1].inputs.names,
        targets={name: one.model for name, one in targets.items()},
        seen=np.unique(fingerprints(main.parts["train"][0], data.question.key)),
        sources=sources,
    )
    return Trained(model, data, targets)


@dataclass(frozen=True)
class _Plan:
    """What to train for a target: see `train`."""

    data: Dataset
    names: Sequence[str]
    required: str | None
    progress: Progress

    def trained(self) -> TrainedTarget:
        """Models for all moments, judged on the test part."""
        data = self.data
        first = self._at(None)
        moments: dict[str, TargetModel] = {}
        later = data.question.moments(data.encoding)[1:]
        if data.question.each_moment:
            for moment in later:
                # Few jobs may still be open later on: then the first moment's models answer.
                with suppress(TrainingError):
                    moments[moment] = self._at(moment).model
        else:
            moments = _fit_moments(data, first.model, self.progress)
        model = replace(first.model, moments=moments)
        self.progress("testing")
        since = data.since_test()
        evaluation = evaluate(model, data, since, data.dropped(since), test=True)
        model = replace(_tested(model, evaluation), report=evaluation.to_json())
        choice = replace(first.choice, name=model.chosen, reason=model.reason)
        return TrainedTarget(data, first.parts, choice, evaluation, first.skipped, model)

    def _at(self, moment: str | None) -> _Untested:
        """Models for one moment, chosen and calibrated."""
        data, at = self.data, f" for {moment}" if moment else ""
        usable = {name: data.usable_of(name) for name in PARTS}
        # Before anything is built, which takes minutes for many jobs.
        _require_enough({name: data.table.filter(pl.Series(rows)) for name, rows in usable.items()},
                        data)  # fmt: skip
        self.progress(f"building examples{at}")
        parts = {name: data.labelled(rows, moment=moment) for name, rows in usable.items()}
        _require_enough({name: table for name, (table, _) in parts.items()}, data)
        train_part = parts["train"][1]
        made: dict[str, Model] = {}
        skipped: dict[str, str] = {}
        columns, only = data.question.columns, data.question.only
        for name in self.names:
            if name == Mixture.name or only.get(name, data.target) != data.target:
                continue
            if not models.predicts(name, data.goal.output, columns):
                continue
            self.progress(f"training {name}{at}")
            try:
                made[name] = fit_model(name, data, train_part)
            except TrainingError as error:
                if name == self.required:
                    raise
                skipped[name] = str(error)
        self.progress(f"backtesting{at}")
        before = backtest(
            data, parts["train"], list(made), lambda kind, rows: fit_model(kind, data, rows)
        )
        if self.required in before.skipped:
            raise TrainingError(before.skipped[self.required])
        skipped |= before.skipped
        fitted = {
            name: _calibrated(data, made[name], train_part, before) for name in before.predictions
        }
        if Mixture.name in self.names and models.predicts(Mixture.name, data.goal.output):
            self.progress(f"mixing{at}")
            try:
                fitted[Mixture.name], before = _mixed(data, fitted, before)
            except TrainingError as error:
                if self.required == Mixture.name:
                    raise
                skipped[Mixture.name] = str(error)
        choice = _choose(data, before)
        return _Untested(
            parts, choice, skipped, TargetModel(choice.name, choice.reason, fitted, {})
        )


def _tested(model: TargetModel, evaluation: Evaluation) -> TargetModel:
    """The model with what answers after its test, see `evaluate`."""
    each = {
        name: _tested(one, evaluation.by_moment[name])
        for name, one in model.moments.items()
        if name in evaluation.by_moment
    }
    if evaluation.rejected is None:
        return replace(model, moments={**model.moments, **each})
    # A baseline cannot distinguish moments that were not chosen for each.
    reason = f"{model.reason} But {evaluation.rejected['why']}."
    return replace(model, chosen=evaluation.chosen, reason=reason, moments=each)


class _Untested(NamedTuple):
    """Models of one moment, before their test."""

    parts: Parts
    choice: Choice
    skipped: dict[str, str]
    model: TargetModel


def _mixed(
    data: Dataset, fitted: Mapping[str, Fitted], before: Backtest
) -> tuple[Fitted, Backtest]:
    """The mixture as of the test, and what it said in the backtest."""
    # Answers build frames only for the recurrent model itself: it is no member. Neither are rules:
    # a few rates of success each, they drew all answers towards the mean. Rates of training alone
    # are left to those that begin from them.
    begin = any(isinstance(one.model, LearningRates) for one in fitted.values())
    others = ("lstm", Rates.name) if begin else ("lstm",)
    fitted = {
        name: one
        for name, one in fitted.items()
        if name not in others and not isinstance(one.model, Rules)
    }
    loss, levels = data.goal.metric(data.goal.loss), data.goal.output.levels
    each = {
        name: one.calibrated.apply(before.predictions[name]) if levels else before.predictions[name]
        for name, one in fitted.items()
    }
    losses = {name: float(loss(each[name], before.values, before.weight)) for name in fitted}
    mixture = Mixture.of(fitted, losses, int(data.borders[1]), len(levels))
    said = np.stack([*each.values(), each[mixture.best]], axis=1)
    mixed, _ = mix(said, before.times(), mixture.weights, levels=levels)
    if not begin:  # how much of the counts suits another history, their own cannot show
        # Models of earlier blocks knew much less than those that answer: weights follow the last.
        last = before.block == 0
        _, weights = mix(said[last], before.times(last), mixture.weights, levels=levels)
        mixture = replace(mixture, weights=weights)
    calibrated = data.goal.calibrate(mixed, before.values, before.weight, before.batch, as_is=True)
    predictions = {**before.predictions, Mixture.name: mixed}
    return Fitted(mixture, calibrated, mixture.taught), replace(before, predictions=predictions)


def fit_model(name: str, data: Dataset, rows: Labelled) -> Model:
    """A model of this name, fitted; `TrainingError`: the examples cannot teach it anything."""
    model = models.create(
        name,
        rule_sets=data.question.rule_sets,
        columns=data.question.columns,
        members=data.question.members,
        lstm=getattr(data.settings, "lstm", None),
        boosted=getattr(data.settings, "boosted", None),
        output=data.goal.output,
    )
    model.fit(rows, seed=data.settings.seed)
    return model


def _calibrated(data: Dataset, model: Model, taught: Labelled, before: Backtest) -> Fitted:
    """A model with what it was taught, calibrated on what its kind said in the backtest."""
    # Rates as of the decision follow what happens, and so do models that start from them; a map
    # learned on one part of the past does not.
    starts = bool(taught.inputs.learned) and isinstance(model, LearningRates | Refits)
    as_is = starts or (model.name in data.question.columns and not data.goal.output.levels)
    said = before.predictions[model.name]
    calibrated = data.goal.calibrate(said, before.values, before.weight, before.batch, as_is=as_is)
    return Fitted(model, calibrated, round(float(taught.weight.sum())))


def _choose(data: Dataset, before: Backtest) -> Choice:
    rows = np.ones(len(before.block), np.bool_)
    if Mixture.name in before.predictions and before.block.any():
        rows = before.block > before.block.min()  # before that it has yet to learn whom to trust
    predictions = {name: said[rows] for name, said in before.predictions.items()}
    batch, settings = before.batch[rows], data.settings
    return choose_model(
        predictions,
        [name for name in predictions if models.is_baseline(name)],
        Bootstrap(
            before.values[rows], before.weight[rows], batch, settings.bootstrap, settings.seed
        ),
        target=data.goal,
        metric=data.settings.metric if data.target == next(iter(data.question.targets)) else None,
        safe=Stack.name if Stack.name in predictions else Mixture.name,
        where=f"{len(np.unique(batch))} backtested batches",
    )


def _fit_moments(data: Dataset, first: TargetModel, progress: Progress) -> dict[str, TargetModel]:
    """The chosen kind of model once more for each moment that enough training batches support.

    A baseline cannot distinguish moments: where one answers, no other is proposed.
    """
    moments: dict[str, TargetModel] = {}
    answering = first.answering.model
    name = answering.best if isinstance(answering, Mixture) else first.chosen
    later_moments = data.question.moments(data.encoding)[1:]
    for moment in () if models.is_baseline(name) else later_moments:
        progress(f"training {name} for {moment}")
        examples = data.labelled(data.part("train"), moment=moment)
        train_part = examples[1]
        batches = float(train_part.weight.sum())
        poor = data.goal.unlearnable(train_part.values, train_part.weight)
        if batches < LEAST_FOR_MOMENT or poor:
            continue
        with suppress(TrainingError):
            model = fit_model(name, data, train_part)
            before = backtest(
                data, examples, [name], lambda kind, rows: fit_model(kind, data, rows)
            )
            fitted = _calibrated(data, model, train_part, before)
            moments[moment] = TargetModel(name, first.reason, {name: fitted}, {})
    return moments


def _require_enough(parts: Mapping[str, pl.DataFrame], data: Dataset) -> None:
    """Refuse parts that are too small, or whose outcomes are too much alike, to learn from."""
    batches = {name: int(table["batch"].n_unique()) for name, table in parts.items()}
    if any(batches[name] < least for name, least in LEAST_BATCHES.items()):
        have, need = (" and ".join(f"{of[name]} to {name} with" for name in PARTS)
                      for of in (batches, LEAST_BATCHES))  # fmt: skip
        several = data.question.words[1]
        everything = np.ones(len(data.table), np.bool_)
        lost = data.dropped(everything) | data.censored(everything)
        losses = ", ".join(
            f"{count} {_LOSSES.get(kind, kind.replace('_', ' '))}" for kind, count in lost.items()
        )
        raise TrainingError(
            f"too few batches of {several} with a known outcome: {have}; at least {need} are "
            f"needed (not counted of {len(data.table)} {several}: {losses or 'none'}). Give "
            f"{'a history of a longer time' if data.question.timed else 'more of them'}"
        )
    taught = parts["train"]
    weight = batch_weights(taught["batch"].to_numpy())
    poor = data.goal.unlearnable(data.goal.values(taught[data.target]), weight)
    if poor:
        raise TrainingError(f"{poor}; give a history of a longer time, or of more users")
    require_blocks(data, taught)
