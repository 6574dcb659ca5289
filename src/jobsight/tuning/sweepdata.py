"""A sweep's study as its report reads it: runs with their states, the best first, what mattered."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from jobsight.files import read_json
from jobsight.format import short
from jobsight.reports.scores import HEADINGS
from jobsight.text import printable

__all__ = [
    "FEW_RUNS",
    "STATUSES",
    "Examination",
    "SweepData",
    "SweepFacts",
    "epochs_of",
    "evenly",
    "range_words",
    "read_facts",
    "read_info",
    "study_of",
]

STATUSES = {
    "finished": "finished",
    "early": "stopped early",
    "pruned": "pruned",
    "failed": "failed",
    "cancelled": "interrupted, to resume",
    "running": "running",
    "waiting": "not started",
}
"""How runs ended or how far they are, in words."""

FEW_RUNS = 10
"""Fewer runs with a metric say nothing about parameters."""

MOST_MODELS = 40


@dataclass(frozen=True)
class Examination:
    """The best run's model on the test part, next to the baselines.

    Attributes:
        report: ``report.json`` of the model, as `Evaluation.to_json` of the question writes it.
        network: name of the sweep's model among these.
        reason: why the model that answers was chosen.
        looks: how often the test part was used.
    """

    report: Mapping[str, Any]
    network: str = "lstm"
    reason: str = ""
    looks: int = 1

    @cached_property
    def models(self) -> dict[str, Mapping[str, Any]]:
        """The scores of each model, lowest loss first."""
        models, loss = self.report["models"], self.report["loss"]
        losses = {name: models[name].get(loss) for name in models}
        order = sorted(models, key=lambda name: math.inf if losses[name] is None else losses[name])
        return {name: models[name] for name in order[:MOST_MODELS]}

    def gain(self, name: str) -> tuple[float, float, float] | None:
        """A model's loss less the best baseline's (below 0 is better), with 95 % interval."""
        gain = self.models.get(name, {}).get(f"{self.report['loss']}_gain") or {}
        value, low, high = (gain.get(key) for key in ("value", "low", "high"))
        if value is None:
            return None
        return value, value if low is None else low, value if high is None else high


@dataclass(frozen=True)
class SweepFacts:
    """What a report shows besides the study.

    Attributes:
        name: of the sweep.
        metric: by which the best run is chosen, on the validation block.
        question: that is learned.
        best: ``bestmodel.info``, see `read_info`; empty before the best run is chosen.
        test: None before the test.
        notes: what could not be read, in a sentence each.
    """

    name: str
    metric: str
    question: str = "hold"
    best: Mapping[str, Any] = field(default_factory=dict)
    test: Examination | None = None
    notes: Sequence[str] = ()


def read_info(text: str) -> dict[str, Any]:
    """``bestmodel.info``: values by name (``model.digest``); other lines are left out."""
    values: dict[str, Any] = {}
    for line in text.splitlines():
        name, equals, value = line.partition(" = ")
        try:
            values[name] = json.loads(value) if equals else None
        except ValueError:
            continue
    return values


def read_facts(folder: Path, *, metric: str, question: str, network: str) -> SweepFacts:
    """What a sweep's folder holds besides its study; what is damaged is a note.

    Args:
        folder: with ``best/`` once the best run is chosen and tested.
        metric: see `SweepFacts`.
        question: see `SweepFacts`.
        network: see `Examination`.
    """
    notes: list[str] = []
    info = folder / "best" / "bestmodel.info"
    best = read_info(info.read_text("utf-8", "replace")) if info.exists() else {}
    path, test = folder / "best" / "model" / "report.json", None
    try:
        report = read_json(path, dict)
        if not isinstance(report.get("models"), dict) or not {"chosen", "loss"} <= set(report):
            raise ValueError("it is not the report of a model")
        reason, looks = str(best.get("model.reason") or ""), int(best.get("model.looks") or 1)
        test = Examination(report, network, reason, looks)
    except FileNotFoundError:
        pass
    except (OSError, ValueError, TypeError) as error:
        notes.append(printable(f"{path} cannot be read: {error}", 300))
    return SweepFacts(
        name=folder.resolve().name.removesuffix(".sweep"),
        metric=metric,
        question=question,
        best=best,
        test=test,
        notes=notes,
    )


class SweepData:
    """The runs of a study, read once.

    Args:
        study: one trial per run; ``user_attrs`` hold what `value` and `params` do not.
        facts: what else is shown.
    """

    def __init__(self, study: optuna.Study, facts: SweepFacts) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.study = study
        self.facts = facts
        self.trials = study.get_trials(deepcopy=False)
        self.maximize = study.direction is StudyDirection.MAXIMIZE
        self.metric = HEADINGS.get(facts.metric) or printable(facts.metric, 40)

    def run(self, trial: FrozenTrial) -> int:
        """The number of a trial's run."""
        return int(trial.user_attrs.get("run", trial.number + 1))

    def status(self, trial: FrozenTrial) -> str:
        """One of `STATUSES`."""
        stopped = trial.user_attrs.get("stopped")
        if trial.state is TrialState.COMPLETE:
            return "early" if stopped == "patience" else "finished"
        if trial.state is TrialState.RUNNING and stopped == "cancelled":
            return "cancelled"
        return {
            TrialState.PRUNED: "pruned",
            TrialState.FAIL: "failed",
            TrialState.RUNNING: "running",
        }.get(trial.state, "waiting")

    @cached_property
    def judged(self) -> list[FrozenTrial]:
        """Completed runs with a finite metric, best first; of equal ones the first."""
        sign = -1.0 if self.maximize else 1.0
        values = [(sign * _value(one), one.number) for one in self.trials if _is_judged(one)]
        return [self.trials[number] for _, number in sorted(values)]

    @cached_property
    def best(self) -> FrozenTrial | None:
        """The run that the sweep chose, else the best so far."""
        chosen = self.facts.best.get("run")
        return next(
            (one for one in self.trials if chosen is not None and self.run(one) == chosen),
            self.judged[0] if self.judged else None,
        )

    @cached_property
    def searched(self) -> dict[str, Any]:
        """The distribution of each parameter that has more than one value, by name."""
        found: dict[str, Any] = {}
        for trial in self.trials:
            found |= {k: v for k, v in trial.distributions.items() if k not in found}
        return {name: given for name, given in sorted(found.items()) if not given.single()}

    @cached_property
    def importances(self) -> dict[str, float]:
        """Shares of what separates the best runs from the others, by parameter, most first.

        PED-ANOVA (Watanabe et al., IJCAI 2023) of the best tenth, or of as many runs as it needs;
        empty where runs are fewer than `FEW_RUNS` or do not differ.
        """
        values = {_value(one) for one in self.judged}
        if len(self.judged) < FEW_RUNS or len(values) < 2 or not self.searched:
            return {}
        top = max(0.1, 5 / len(self.judged))
        there = {name for one in self.judged for name in one.params}
        found = get_param_importances(
            self.study,
            evaluator=PedAnovaImportanceEvaluator(target_quantile=top),
            params=[name for name in self.searched if name in there],
        )
        return {name: share for name, share in found.items() if math.isfinite(share)}

    @property
    def ordered(self) -> list[str]:
        """Names of the searched parameters, the most important first."""
        return sorted(self.searched, key=lambda name: -self.importances.get(name, 0.0))

    def span(self, trial: FrozenTrial) -> tuple[dt.datetime, dt.datetime] | None:
        """When a run started and ended or was last heard of; None where it is unknown."""
        try:
            start = _moment(trial.user_attrs["started"])
            if (end := trial.user_attrs.get("ended")) is not None:
                return start, max(start, _moment(end))
            return start, start + dt.timedelta(seconds=self.seconds(trial))
        except (KeyError, TypeError, ValueError, OverflowError):
            return None

    def seconds(self, trial: FrozenTrial) -> float:
        """Training time of a run, so far."""
        known = trial.user_attrs.get("seconds")
        each = (epoch.get("seconds") or 0.0 for epoch in epochs_of(trial))
        return float(sum(each) if known is None else known)


def epochs_of(trial: FrozenTrial) -> Sequence[Mapping[str, Any]]:
    """The epochs of a run: ``epoch``, ``train_loss``, ``loss``, ``metric``, ``seconds``."""
    return trial.user_attrs.get("epochs") or ()


def _moment(text: str) -> dt.datetime:
    """A moment in ISO 8601, in UTC where it does not say."""
    moment = dt.datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


def _value(trial: FrozenTrial) -> float:
    return math.nan if trial.value is None else trial.value


def _is_judged(trial: FrozenTrial) -> bool:
    return trial.state is TrialState.COMPLETE and math.isfinite(_value(trial))


def evenly(trials: Sequence[FrozenTrial], most: int) -> list[FrozenTrial]:
    """At most so many trials: the first half as many and an even choice of the others."""
    if len(trials) <= most:
        return list(trials)
    half = most // 2
    step = (len(trials) - half) / (most - half)
    return [*trials[:half], *(trials[half + int(k * step)] for k in range(most - half))]


def study_of(study: optuna.Study, trials: Sequence[FrozenTrial]) -> optuna.Study:
    """A study of some of the trials, in this order, to be drawn."""
    made = optuna.create_study(direction=study.direction)
    made.add_trials(trials)
    return made


def range_words(given: Any) -> str:
    """What was searched: ``10 to 100``, ``1e-05 to 0.1, logarithmic``, ``one of 1, 2, 3``."""
    if isinstance(given, CategoricalDistribution):
        choices = ", ".join(printable(choice, 24) for choice in given.choices[:12])
        return f"one of {choices}{' …' if len(given.choices) > 12 else ''}"
    if isinstance(given, IntDistribution | FloatDistribution):
        step = f", in steps of {short(given.step)}" if given.step not in (None, 1) else ""
        scale = ", logarithmic" if given.log else ""
        return f"{short(given.low)} to {short(given.high)}{step}{scale}"
    return "–"
