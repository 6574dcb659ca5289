"""Points learned from results, some at a time: the method bayes, by Optuna's TPE.

A round's points depend on the config and the results told, in order of run number, and on nothing
else: each round begins a study of its own in memory. TPE (Bergstra et al. 2011, "Algorithms for
Hyper-Parameter Optimization"; multivariate after Falkner et al. 2018, as Optuna 5 has it by
default) is handed each parameter in the form it knows best: `Form`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jobsight.errors import SweepError
from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.distributions import cell, probability, quantile, rounded
from jobsight.learning.sweep.parameters import Parameter
from jobsight.learning.sweep.search import Point, Result, draw, metric_of
from jobsight.learning.sweep.targets import allowed

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.study import Study

__all__ = ["Form", "Rounds", "form_of"]

LEAST, ENOUGH = 4, 10
"""Runs with a metric before anything is learned from them: a round's, within these bounds."""
ATTEMPTS = 20
"""Points asked for in the place of one that was tried before or is not allowed."""
_LARGEST_SPAN = 1 << 40
"""Longer ranges of integers go by their quantile."""


@dataclass(frozen=True)
class Form:
    """A parameter as Optuna sees it.

    Attributes:
        distribution: Optuna's.
        inside: a value of the parameter → Optuna's; ValueError where it cannot be one.
        outside: Optuna's → the parameter's value.
    """

    distribution: BaseDistribution
    inside: Callable[[Any], Any]
    outside: Callable[[Any], Any]


class Rounds:
    """Plans the rounds of a sweep of the method bayes.

    Args:
        config: of the sweep.

    Raises:
        SweepError: Optuna is not installed.
    """

    def __init__(self, config: SweepConfig) -> None:
        if importlib.util.find_spec("optuna") is None:
            raise SweepError(
                "method: bayes needs Optuna, which is not installed; "
                "pip install 'jobsight[sweep]', or write method: random"
            )
        self._config = config
        self._searched = [one for one in config.space if one.distribution != "constant"]
        self._start = min(ENOUGH, max(LEAST, config.round))

    def points(self, number: int, results: Sequence[Result]) -> list[Point]:
        """The points of a round.

        Until enough runs (`round`, but 4 to 10) have a metric they are those of a random search;
        then no point is tried twice, if others are easily found.

        Args:
            number: of the round, from 1; it holds the runs from (number − 1) · `round` + 1 on, the
                last round perhaps fewer.
            results: of the runs before, in any order; failed ones among them.
        """
        first = (number - 1) * self._config.round + 1
        runs = range(first, min(first + self._config.round, self._config.runs + 1))
        told = sorted(results, key=lambda one: int(one["run"]))
        if not self._searched or sum(metric_of(one) is not None for one in told) < self._start:
            return [draw(self._config, run) for run in runs]
        with _quietly():
            return self._learned(number, runs, told)

    def _learned(self, number: int, runs: range, told: Sequence[Result]) -> list[Point]:
        forms = {one.name: form_of(one) for one in self._searched}
        study = self._study(number)
        tried = {_key(one["parameters"]) for one in told}
        self._tell(study, forms, told)
        points = []
        for run in runs:
            points.append(self._ask(study, forms, tried, run))
            tried.add(_key(points[-1]))
        return points

    def _study(self, number: int) -> Study:
        import optuna

        state = np.random.SeedSequence([self._config.seed, number]).generate_state(1)
        return optuna.create_study(
            # Runs of this round that were asked for count as bad ones (the constant liar), or all
            # would lie in one place.
            sampler=optuna.samplers.TPESampler(
                n_startup_trials=0, seed=int(state[0]), multivariate=True, constant_liar=True
            ),
            direction=self._config.metric.goal,
        )

    def _tell(self, study: Study, forms: dict[str, Form], told: Sequence[Result]) -> None:
        """Tell a new study the results; failed runs count as the worst there are."""
        from optuna.trial import TrialState, create_trial

        good = sum(metric_of(one) is not None for one in told)
        # TPE takes the best tenth for good; failures beyond nine tenths would be among them.
        spare = len(told) - good - 4 * good
        for one in told:
            value = metric_of(one)
            if value is None and spare > 0:
                spare -= 1
                continue
            with contextlib.suppress(KeyError, ValueError):  # a point of another space teaches none
                inside = {
                    name: form.inside(one["parameters"][name]) for name, form in forms.items()
                }
                study.add_trial(
                    create_trial(
                        state=TrialState.PRUNED if value is None else TrialState.COMPLETE,
                        value=value,
                        params=inside,
                        distributions={name: form.distribution for name, form in forms.items()},
                    )
                )

    def _ask(self, study: Study, forms: dict[str, Form], tried: set[str], run: int) -> Point:
        from optuna.trial import TrialState

        constants = {one.name: one.values[0] for one in self._config.space if one.name not in forms}
        for left in reversed(range(ATTEMPTS)):
            trial = study.ask({name: form.distribution for name, form in forms.items()})
            point = {name: form.outside(trial.params[name]) for name, form in forms.items()}
            sound = all(allowed(name, value) is None for name, value in point.items())
            if sound and (left == 0 or _key(point | constants) not in tried):
                return {one.name: (point | constants)[one.name] for one in self._config.space}
            study.tell(trial, state=TrialState.FAIL)
        return draw(self._config, run)


def form_of(one: Parameter) -> Form:
    """How Optuna is handed a parameter that is searched.

    Lists as choices (their probabilities only count in random draws); integers, and multiples of q
    on a uniform or logarithmic scale, as integers; uniform and logarithmic ranges as such; all
    others by the quantile, a uniform number, of their value.
    """
    from optuna.distributions import CategoricalDistribution, FloatDistribution

    if one.listed:
        keys = [json.dumps(value) for value in one.values]
        return Form(
            CategoricalDistribution(list(range(len(keys)))),
            lambda value: keys.index(json.dumps(value)),
            lambda at: one.values[at],
        )
    scaled = "normal" not in one.distribution and "beta" not in one.distribution
    if scaled and (form := _scaled(one)) is not None:
        return form
    return Form(
        FloatDistribution(0.0, 1.0),
        lambda value: probability(one, value),
        lambda u: quantile(one, u),
    )


def _scaled(one: Parameter) -> Form | None:
    """The form of a uniform or logarithmic range; None where Optuna has none for it."""
    from optuna.distributions import FloatDistribution, IntDistribution

    low, high = (quantile(one, end) for end in (0.0, 1.0))
    logarithmic = "log" in one.distribution
    whole = one.distribution == "int_uniform"
    if not whole and not one.quantised:
        return Form(
            FloatDistribution(low, high, log=logarithmic),
            lambda value: min(max(float(value), low), high),
            lambda value: rounded(one, value),
        )
    q = 1 if whole else one.numbers["q"]
    first, last = round(low / q), round(high / q)
    if last - first >= _LARGEST_SPAN or (logarithmic and first < 1):
        return None
    return Form(
        IntDistribution(first, last, log=logarithmic),
        lambda value: min(max(round(value / q), first), last),
        lambda count: count if whole else cell(one, count * q),
    )


def _key(point: Any) -> str:
    return json.dumps(dict(point), sort_keys=True)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Optuna says what it does on standard error; nothing of it is news here."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
