"""Training: every model on the train part, the choice on select, calibration, one look at test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from jobsight import models
from jobsight.clock import format_micros
from jobsight.errors import TrainingError, UsageError
from jobsight.learning.bootstrap import Bootstrap
from jobsight.learning.manifest import Source
from jobsight.learning.metrics import best_threshold
from jobsight.learning.selection import Choice, choose_model
from jobsight.learning.splits import PARTS
from jobsight.models.base import Labelled, Model
from jobsight.models.calibration import choose_calibration, cross_validated
from jobsight.models.intervals import Intervals
from jobsight.questions.hold.training.dataset import Dataset
from jobsight.questions.hold.training.evaluation import Evaluation, evaluate
from jobsight.questions.hold.training.model import Fitted, HoldModel, fingerprints
from jobsight.questions.hold.training.rehearsal import Rehearsal, rehearse
from jobsight.questions.hold.training.rulesets import RULE_NAMES, RULE_SETS

__all__ = ["MODEL_NAMES", "Trained", "fit_calibrated", "fit_model", "model_names", "train"]

MODEL_NAMES = ("constant", *RULE_NAMES, "rates", "linear", "boosted", "lstm")
"""Every model of the question, baselines first."""

LEAST_BATCHES = {"train": 20, "select": 5, "calibrate": 5, "test": 5}
"""Below these a part says nothing."""

LEAST_OF_EACH = 3
"""Batches' worth of successes, and of failures, that the train part needs."""

LEAST_FOR_DELAY = 30
"""Training batches that must support a delay before "wait" may propose it."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Trained:
    """What training made.

    Attributes:
        model: ready to be saved.
        data: the dataset, its parts included.
        parts: table and examples of each part, by name.
        choice: made on the select part.
        evaluation: of the test part.
        skipped: models that were not trained, with the reason.
    """

    model: HoldModel
    data: Dataset
    parts: dict[str, tuple[pl.DataFrame, Labelled]]
    choice: Choice
    evaluation: Evaluation
    skipped: dict[str, str]

    def facts(self) -> dict[str, Any]:
        """What the manifest keeps of the training data."""
        clock = self.data.history.clock
        return {
            "events": len(self.data.history),
            "jobs": len(self.data.history.jobs),
            "releases": self.data.decisions.releases,
            "no_decision": self.data.decisions.left_out,
            "first": _moment(int(clock.min())),
            "last": _moment(int(clock.max())),
            "borders": [_moment(int(border)) for border in self.data.borders],
            "parts": {
                name: {
                    "examples": len(table),
                    "batches": int(table["batch"].n_unique()),
                    "successes": int(labelled.success.sum()),
                }
                for name, (table, labelled) in self.parts.items()
            },
            "dropped": self.data.dropped(np.ones(len(self.data.table), np.bool_)),
            "choice": {
                "name": self.choice.name,
                "reason": self.choice.reason,
                "select": {name: asdict(value) for name, value in self.choice.values.items()},
            },
            "skipped_models": self.skipped,
        }


def model_names(wanted: str) -> tuple[str, ...]:
    """The models that ``--model WANTED`` trains: the baselines always, to compare.

    Raises:
        UsageError: there is no such model.
    """
    if wanted == "all":
        return MODEL_NAMES
    if wanted not in MODEL_NAMES:
        raise UsageError(f"no model is named {wanted!r}; known are all, {', '.join(MODEL_NAMES)}")
    return tuple(name for name in MODEL_NAMES if models.is_baseline(name) or name == wanted)


def train(
    data: Dataset,
    *,
    names: Sequence[str] = MODEL_NAMES,
    required: bool = False,
    given: Mapping[str, Model] | None = None,
    sources: Sequence[Source] = (),
    progress: Progress = lambda _step: None,
) -> Trained:
    """Train, choose, calibrate and test.

    Args:
        data: of `Dataset.for_training`.
        names: of the models, the baselines among them.
        required: whether a model that cannot be trained is an error, or left out and said so.
        given: models by name that were fitted on these very train and select parts already; they
            are taken as they are.
        sources: the logs, for the manifest.
        progress: is told what is being done.

    Raises:
        TrainingError: there is too little to learn from; says what would be needed.
    """
    progress("building examples")
    parts = {name: data.labelled(data.part(name)) for name in PARTS}
    _require_enough(parts, data)
    fitted, skipped, rehearsal = _fit_all(data, parts, names, required, given or {}, progress)
    progress("choosing")
    choice = _choose(data, parts["select"], fitted, rehearsal)
    delays = _fit_delays(data, choice.name, progress)
    model = _assembled(data, parts, choice, fitted, delays, sources)
    progress("testing")
    left_out = data.dropped(data.since_test())
    evaluation = evaluate(model, data, data.part("test"), left_out)
    model.report = evaluation.to_json()
    return Trained(model, data, parts, choice, evaluation, skipped)


def _assembled(
    data: Dataset,
    parts: dict[str, tuple[pl.DataFrame, Labelled]],
    choice: Choice,
    fitted: dict[str, Fitted],
    delays: dict[float, Fitted],
    sources: Sequence[Source],
) -> HoldModel:
    earlier = [table for name, (table, _) in parts.items() if name != "test"]
    return HoldModel(
        settings=data.settings,
        scale=data.scale,
        borders=data.borders,
        names=parts["train"][1].inputs.names,
        chosen=choice.name,
        reason=choice.reason,
        fitted=fitted,
        delays=delays,
        seen=np.unique(fingerprints(pl.concat(earlier))),
        sources=sources,
    )


def fit_model(name: str, data: Dataset, train_part: Labelled, select: Labelled) -> Model:
    """A model of this name, fitted.

    Raises:
        TrainingError: the examples cannot teach it anything.
    """
    model = models.create(name, rule_sets=RULE_SETS, lstm=data.settings.lstm)
    model.fit(train_part, select, seed=data.settings.seed)
    return model


def _fit_all(
    data: Dataset,
    parts: dict[str, tuple[pl.DataFrame, Labelled]],
    names: Sequence[str],
    required: bool,
    given: Mapping[str, Model],
    progress: Progress,
) -> tuple[dict[str, Fitted], dict[str, str], Rehearsal]:
    made: dict[str, Model] = {}
    skipped: dict[str, str] = {}
    for name in names:
        if name in given:
            made[name] = given[name]
            continue
        progress(f"training {name}")
        try:
            made[name] = fit_model(name, data, parts["train"][1], parts["select"][1])
        except TrainingError as error:
            if required:
                raise
            skipped[name] = str(error)
    progress("rehearsing")
    rehearsal = rehearse(data, list(made), partial(_refit, data))
    select, later = parts["select"][1], parts["calibrate"][1]
    fitted = {
        name: _calibrated(model, parts["train"][1], select, later, rehearsal)
        for name, model in made.items()
    }
    return fitted, skipped, rehearsal


def _refit(data: Dataset, name: str, train_part: Labelled, select: Labelled) -> Model:
    return fit_model(name, data, train_part, select)


def fit_calibrated(
    name: str,
    data: Dataset,
    train_part: Labelled,
    select: Labelled,
    later: Labelled,
    *,
    rehearsal: Rehearsal | None = None,
) -> Fitted:
    """A model of this name, fitted, and calibrated on `later`, the calibrate part.

    Args:
        name: of the model.
        data: its settings count here, none of its decisions.
        train_part: what it is taught.
        select: may stop the fitting, and sets the thresholds.
        later: what it is calibrated on.
        rehearsal: of this model on these very parts; it is calibrated on that too.

    Raises:
        TrainingError: the examples cannot teach it anything.
    """
    model = fit_model(name, data, train_part, select)
    return _calibrated(model, train_part, select, later, rehearsal or Rehearsal.none([name]))


def _calibrated(
    model: Model, train_part: Labelled, select: Labelled, later: Labelled, rehearsal: Rehearsal
) -> Fitted:
    raw = np.concatenate([rehearsal.predictions[model.name], model.predict(later.inputs)])
    success = np.concatenate([rehearsal.success, later.success])
    weight = np.concatenate([rehearsal.weight, later.weight])
    calibration = choose_calibration(raw, success, weight)
    # Thresholds live on the calibrated scale, the one that is asked for later.
    on_select = calibration.apply(model.predict(select.inputs)), select.success, select.weight
    return Fitted(
        model=model,
        calibration=calibration,
        intervals=Intervals.fit(
            cross_validated(calibration.kind, raw, success, weight), success, weight
        ),
        threshold=best_threshold(*on_select, of="success"),
        threshold_failure=best_threshold(*on_select, of="failure"),
        train_batches=round(float(train_part.weight.sum())),
    )


def _choose(
    data: Dataset,
    select: tuple[pl.DataFrame, Labelled],
    fitted: dict[str, Fitted],
    rehearsal: Rehearsal,
) -> Choice:
    table, labelled = select
    bootstrap = Bootstrap(
        np.concatenate([rehearsal.success, labelled.success]),
        np.concatenate([rehearsal.weight, labelled.weight]),
        np.concatenate([rehearsal.batch, table["batch"].to_numpy()]),
        data.settings.bootstrap,
        data.settings.seed,
    )
    return choose_model(
        {
            name: np.concatenate([rehearsal.predictions[name], one.model.predict(labelled.inputs)])
            for name, one in fitted.items()
        },
        [name for name in fitted if models.is_baseline(name)],
        bootstrap,
        metric=data.settings.metric,
        where="the select part"
        + (f" and {rehearsal.batches} rehearsed batches" if rehearsal.batches else ""),
    )


def _fit_delays(data: Dataset, name: str, progress: Progress) -> dict[float, Fitted]:
    """The chosen kind of model once more for each delay that enough training batches support.

    A baseline cannot tell a later release from an earlier one: where one answers, "wait" is never
    proposed.
    """
    delays: dict[float, Fitted] = {}
    for delay in () if models.is_baseline(name) else data.scale.delays:
        progress(f"training {name} for a delay of {delay:.0f} s")
        train_part, select, later = (
            data.labelled(data.part(part), delay=delay)[1] for part in PARTS[:3]
        )
        batches = float(train_part.weight.sum())
        if batches < LEAST_FOR_DELAY or not _both(train_part) or not len(select):
            continue
        try:
            delays[delay] = fit_calibrated(
                name,
                data,
                train_part,
                select,
                later,
                rehearsal=rehearse(data, [name], partial(_refit, data), delay=delay),
            )
        except TrainingError:
            continue
    return delays


def _both(labelled: Labelled) -> bool:
    won = float(labelled.weight[labelled.success].sum())
    lost = float(labelled.weight[~labelled.success].sum())
    return min(won, lost) >= LEAST_OF_EACH


def _require_enough(parts: dict[str, tuple[pl.DataFrame, Labelled]], data: Dataset) -> None:
    batches = {name: int(table["batch"].n_unique()) for name, (table, _) in parts.items()}
    short = [name for name, least in LEAST_BATCHES.items() if batches[name] < least]
    if short:
        have = ", ".join(f"{name} {batches[name]}" for name in PARTS)
        need = ", ".join(f"{name} {least}" for name, least in LEAST_BATCHES.items())
        raise TrainingError(
            f"too few batches of releases with a known outcome ({have}; at least {need} are "
            f"needed, {_losses(data)}); give logs of a longer time"
        )
    train_part = parts["train"][1]
    if not _both(train_part):
        won = float(train_part.weight[train_part.success].sum())
        lost = float(train_part.weight.sum()) - won
        raise TrainingError(
            f"the train part has {won:.0f} batches that succeeded and {lost:.0f} that failed; "
            f"at least {LEAST_OF_EACH} of each are needed to tell them apart; give logs of a "
            "longer time, or of more users"
        )


def _losses(data: Dataset) -> str:
    everything = np.ones(len(data.table), np.bool_)
    lost = data.dropped(everything) | data.censored(everything)
    return "; ".join(f"{count} {kind}" for kind, count in lost.items()) or "none dropped"


def _moment(microseconds: int) -> str:
    return format_micros(microseconds).replace(" ", "T")
