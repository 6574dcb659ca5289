"""Training: every model on the train part, the choice on select, calibration, one look at test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from jobsight import models
from jobsight.errors import TrainingError, UsageError
from jobsight.learning.backtest import Backtest, backtest
from jobsight.learning.bootstrap import Bootstrap
from jobsight.learning.dataset import Dataset
from jobsight.learning.evaluation import evaluate
from jobsight.learning.fitted import Fitted
from jobsight.learning.manifest import Source
from jobsight.learning.mixing import mix
from jobsight.learning.mixture import Mixture, Refits
from jobsight.learning.modeldir import ModelDir, TargetModel, fingerprints
from jobsight.learning.question import Question
from jobsight.learning.selection import Choice, choose_model
from jobsight.learning.splits import PARTS
from jobsight.learning.trained import Parts, Trained, TrainedTarget
from jobsight.models.base import Floats, Labelled, Model
from jobsight.models.rules import Rules
from jobsight.models.stack import Stack

__all__ = ["fit_calibrated", "fit_model", "model_names", "train"]

LEAST_BATCHES = {"train": 20, "select": 5, "calibrate": 5, "test": 5}
"""Below these a part says nothing."""

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
    given: Mapping[str, Model] | None = None,
    sources: Sequence[Source] = (),
    progress: Progress = lambda _step: None,
) -> Trained:
    """Train, choose, calibrate and test, one target of the question after the other.

    Args:
        data: of `Dataset.for_training`.
        names: of the models, the baselines among them; None: all of the question.
        required: a model that must be trained for the main target; others that cannot be are left
            out, and listed as skipped.
        given: models by name that were fitted on these very train and select parts already, for
            the main target; they are taken as they are.
        sources: the inputs, for the manifest.
        progress: is called with what is being done.

    Raises:
        TrainingError: there is too little to learn from; says what would be needed.
    """
    names = data.question.models if names is None else names
    targets: dict[str, TrainedTarget] = {}
    untaught: dict[str, str] = {}
    for target in data.question.targets:
        own = (given or {}) if target == data.target else {}
        try:
            must = required if target == data.target else None
            plan = _Plan(data.seen_by(target), names, must, own, progress)
            targets[target] = plan.trained()
        except TrainingError as error:
            if target == data.target:
                raise
            untaught[target] = str(error)
    main = next(iter(targets.values()))
    earlier = [table for name, (table, _) in main.parts.items() if name != "test"]
    model = ModelDir(
        question=data.question,
        settings=data.settings,
        encoding=data.encoding,
        borders=data.borders,
        names=main.parts["train"][1].inputs.names,
        targets={name: one.model for name, one in targets.items()},
        seen=np.unique(fingerprints(pl.concat(earlier), data.question.key)),
        sources=sources,
    )
    return Trained(model, data, targets, untaught)


@dataclass(frozen=True)
class _Plan:
    """What to train for a target: see `train`."""

    data: Dataset
    names: Sequence[str]
    required: str | None
    given: Mapping[str, Model]
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
        evaluation = evaluate(model, data, since, data.dropped(since))
        model = replace(model, report=evaluation.to_json())
        return TrainedTarget(data, first.parts, first.choice, evaluation, first.skipped, model)

    def _at(self, moment: str | None) -> _Untested:
        """Models for one moment, chosen and calibrated."""
        data, at = self.data, f" for {moment}" if moment else ""
        self.progress(f"building examples{at}")
        parts = {
            name: data.labelled(
                data.part(name) if name == "train" else data.judged(data.part(name)), moment=moment
            )
            for name in PARTS
        }
        _require_enough(parts, data)
        made, skipped = self._fit_all(parts, at)
        self.progress(f"backtesting{at}")
        before = backtest(data, list(made), _fitter(data), moment=moment)
        three = [parts[name][1] for name in PARTS[:3]]
        select = three[1]
        fitted = {name: _calibrated(data, model, three, before) for name, model in made.items()}
        raw = {name: one.model.predict(select.inputs) for name, one in fitted.items()}
        if Mixture.name in self.names and models.predicts(Mixture.name, data.goal.output):
            self.progress(f"mixing{at}")
            try:
                fitted[Mixture.name], raw[Mixture.name], before = _mixed(
                    data, fitted, parts, before, raw, moment
                )
            except TrainingError as error:
                if self.required == Mixture.name:
                    raise
                skipped[Mixture.name] = str(error)
        self.progress(f"choosing{at}")
        choice = _choose(data, select, raw, before)
        return _Untested(
            parts, choice, skipped, TargetModel(choice.name, choice.reason, fitted, {})
        )

    def _fit_all(self, parts: Parts, at: str) -> tuple[dict[str, Model], dict[str, str]]:
        made: dict[str, Model] = {}
        skipped: dict[str, str] = {}
        for name in self.names:
            columns, only = self.data.question.columns, self.data.question.only
            if name == Mixture.name or only.get(name, self.data.target) != self.data.target:
                continue
            if not models.predicts(name, self.data.goal.output, columns):
                continue
            if name in self.given and not at:
                made[name] = self.given[name]
                continue
            self.progress(f"training {name}{at}")
            try:
                made[name] = fit_model(name, self.data, parts["train"][1], parts["select"][1])
            except TrainingError as error:
                if name == self.required:
                    raise
                skipped[name] = str(error)
        return made, skipped


class _Untested(NamedTuple):
    """Models of one moment, before their test."""

    parts: Parts
    choice: Choice
    skipped: dict[str, str]
    model: TargetModel


def _mixed(
    data: Dataset, fitted: Mapping[str, Fitted], parts: Parts, before: Backtest,
    raw: Mapping[str, Floats], moment: str | None,
) -> tuple[Fitted, Floats, Backtest]:  # fmt: skip
    """The mixture as of the test, what it said of the select part, and of the backtest."""
    (_, train_part), (chosen_by, select), (calibrated_by, later) = (
        parts[name] for name in PARTS[:3]
    )
    # Answers build frames only for the recurrent model itself: it is no member. Neither are rules:
    # a few rates of success each, they drew all answers towards the mean.
    fitted = {
        name: one
        for name, one in fitted.items()
        if name != "lstm" and not isinstance(one.model, Rules)
    }
    loss = data.goal.metric(data.goal.loss)
    losses = {name: float(loss(raw[name], select.values, select.weight)) for name in fitted}
    levels = data.goal.output.levels
    mixture = Mixture.of(fitted, losses, int(data.borders[1]), len(levels))
    if before.predictions:
        said = before.of(*fitted, mixture.best)
        mixed, weights = mix(said, before.times, mixture.weights, levels=levels)
        mixture = replace(mixture, weights=weights)
        before = replace(before, predictions={**before.predictions, Mixture.name: mixed})
    played = mixture.play(data, int(data.borders[1]), int(data.borders[3]), moment)
    on_select, on_later = (played.of(table) for table in (chosen_by, calibrated_by))
    ahead, values, weight, _ = before.before(Mixture.name, on_later, later)
    calibrated = data.goal.calibrate(
        ahead, values, weight, (on_select, select.values, select.weight), as_is=True
    )
    batches = round(float(train_part.weight.sum()))
    return Fitted(played.mixture, calibrated, batches), on_select, before


def fit_model(name: str, data: Dataset, train_part: Labelled, select: Labelled) -> Model:
    """A model of this name, fitted.

    Raises:
        TrainingError: the examples cannot teach it anything.
    """
    model = models.create(
        name,
        rule_sets=data.question.rule_sets,
        columns=data.question.columns,
        members=data.question.members,
        lstm=getattr(data.settings, "lstm", None),
        boosted=getattr(data.settings, "boosted", None),
        output=data.goal.output,
    )
    model.fit(train_part, select, seed=data.settings.seed)
    return model


def _fitter(data: Dataset) -> Callable[[str, Labelled, Labelled], Model]:
    return lambda name, train_part, select: fit_model(name, data, train_part, select)


def fit_calibrated(
    name: str, data: Dataset, *three: Labelled, before: Backtest | None = None
) -> Fitted:
    """A model of this name, fitted, and calibrated on the calibrate part.

    Args:
        name: of the model.
        data: its settings and target count here, none of its decisions.
        three: what it is taught; what may stop the fitting, and sets the thresholds; what it is
            calibrated on.
        before: of this model on these very parts; it is calibrated on that too.

    Raises:
        TrainingError: the examples cannot teach it anything.
    """
    model = fit_model(name, data, three[0], three[1])
    return _calibrated(data, model, three, before or Backtest.none())


def _calibrated(data: Dataset, model: Model, three: Sequence[Labelled], before: Backtest) -> Fitted:
    train_part, select, later = three
    raw, values, weight, _ = before.before(model.name, model.predict(later.inputs), later)
    on_select = model.predict(select.inputs), select.values, select.weight
    # Rates as of the decision follow what happens, and so do models that start from them; a map
    # learned on one part of the past does not.
    starts = bool(train_part.inputs.start) and isinstance(model, Refits)
    as_is = starts or (model.name in data.question.columns and not data.goal.output.levels)
    calibrated = data.goal.calibrate(raw, values, weight, on_select, as_is=as_is)
    return Fitted(model, calibrated, round(float(train_part.weight.sum())))


def _choose(data: Dataset, select: Labelled, raw: Mapping[str, Floats], before: Backtest) -> Choice:
    joined = {name: before.before(name, said, select) for name, said in raw.items()}
    _, values, weight, batch = next(iter(joined.values()))
    backtested = f" and {before.batches} backtested batches" if before.batches else ""
    return choose_model(
        {name: predicted for name, (predicted, *_) in joined.items()},
        [name for name in raw if models.is_baseline(name)],
        Bootstrap(values, weight, batch, data.settings.bootstrap, data.settings.seed),
        target=data.goal,
        metric=data.settings.metric if data.target == next(iter(data.question.targets)) else None,
        safe=Stack.name if Stack.name in raw else Mixture.name,
        where=f"the select part{backtested}",
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
        train_part, select, later = (
            data.labelled(data.part(part), moment=moment)[1] for part in PARTS[:3]
        )
        batches = float(train_part.weight.sum())
        poor = data.goal.unlearnable(train_part.values, train_part.weight)
        if batches < LEAST_FOR_MOMENT or poor or not len(select):
            continue
        with suppress(TrainingError):
            before = backtest(data, [name], _fitter(data), moment=moment)
            fitted = fit_calibrated(name, data, train_part, select, later, before=before)
            moments[moment] = TargetModel(name, first.reason, {name: fitted}, {})
    return moments


def _require_enough(parts: Parts, data: Dataset) -> None:
    batches = {name: int(table["batch"].n_unique()) for name, (table, _) in parts.items()}
    short = [name for name, least in LEAST_BATCHES.items() if batches[name] < least]
    if short:
        have = ", ".join(f"{name} {batches[name]}" for name in PARTS)
        need = ", ".join(f"{name} {least}" for name, least in LEAST_BATCHES.items())
        raise TrainingError(
            f"too few batches of {data.question.words[1]} with a known outcome ({have}; at least "
            f"{need} are needed, {_losses(data)}); give a history of a longer time"
        )
    train_part = parts["train"][1]
    poor = data.goal.unlearnable(train_part.values, train_part.weight)
    if poor:
        raise TrainingError(f"{poor}; give a history of a longer time, or of more users")


def _losses(data: Dataset) -> str:
    everything = np.ones(len(data.table), np.bool_)
    lost = data.dropped(everything) | data.censored(everything)
    return "; ".join(f"{count} {kind}" for kind, count in lost.items()) or "none dropped"
