"""Points learned from results, some at a time: the method bayes, by Optuna's TPE.

A round's points depend on the config and the results so far, in order of run number, and on nothing
else: each round begins a study of its own in memory. TPE (Bergstra et al. 2011, "Algorithms for
Hyper-Parameter Optimization"; multivariate after Falkner et al. 2018, as Optuna 5 has it by
default) sees a list as choices (their probabilities only count in random draws), and every range by
the quantile of its values, a uniform number.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jobsight.errors import SweepError
from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.distributions import probability, quantile
from jobsight.learning.sweep.parameters import Parameter
from jobsight.learning.sweep.search import Point, Result, draw
from jobsight.learning.sweep.searched import allowed

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.study import Study

    Space = dict[str, BaseDistribution]

__all__ = ["from_trial", "round_points", "to_trial"]

LEAST, ENOUGH = 4, 10
"""Runs with a metric before anything is learned from them: a round's, within these bounds."""
ATTEMPTS = 20
"""Points asked for in the place of one that was tried before or is not allowed."""


def round_points(config: SweepConfig, number: int, results: Sequence[Result]) -> list[Point]:
    """The points of a round (from 1), which holds the runs from (number − 1) · `round` + 1 on.

    Until enough runs (`round`, but 4 to 10) have a metric they are those of a random search; then
    no point is tried twice, if others are easily found. `results` are of all runs before, in any
    order.

    Raises:
        SweepError: Optuna is not installed.
    """
    if importlib.util.find_spec("optuna") is None:
        raise SweepError(
            "method: bayes needs Optuna, which is not installed; "
            "pip install 'jobsight[sweep]', or write method: random"
        )
    first = (number - 1) * config.round + 1
    runs = range(first, min(first + config.round, config.runs + 1))
    results = sorted(results, key=lambda one: int(one["run"]))
    enough = min(ENOUGH, max(LEAST, config.round))
    searched = [one for one in config.space if one.distribution != "constant"]
    if not searched or sum(one["value"] is not None for one in results) < enough:
        return [draw(config, run) for run in runs]
    with _quietly():
        study = _study(config, number)
        space = {one.name: _distribution(one) for one in searched}
        _tell(study, space, searched, results)
        tried = {_key(one["parameters"]) for one in results}
        points = []
        for run in runs:
            points.append(_ask(study, space, config, tried, run))
            tried.add(_key(points[-1]))
        return points


def _study(config: SweepConfig, number: int) -> Study:
    import optuna

    state = np.random.SeedSequence([config.seed, number]).generate_state(1)
    return optuna.create_study(
        # Runs of this round that were asked for count as bad ones (the constant liar), or all
        # would lie in one place.
        sampler=optuna.samplers.TPESampler(
            n_startup_trials=0, seed=int(state[0]), multivariate=True, constant_liar=True
        ),
        direction=config.metric.goal,
    )


def _tell(
    study: Study, space: Space, searched: Sequence[Parameter], results: Sequence[Result]
) -> None:
    """Add the results to a new study; failed runs count as the worst there are."""
    from optuna.trial import TrialState, create_trial

    good = sum(one["value"] is not None for one in results)
    # TPE takes the best tenth for good; failures beyond nine tenths would be among them.
    spare = len(results) - good - 4 * good
    for result in results:
        value = result["value"]
        if value is None and spare > 0:
            spare -= 1
            continue
        with contextlib.suppress(KeyError, ValueError):  # a point of another space teaches none
            point = result["parameters"]
            study.add_trial(
                create_trial(
                    state=TrialState.PRUNED if value is None else TrialState.COMPLETE,
                    value=value,
                    params={one.name: to_trial(one, point[one.name]) for one in searched},
                    distributions=space,
                )
            )


def _ask(study: Study, space: Space, config: SweepConfig, tried: set[str], run: int) -> Point:
    from optuna.trial import TrialState

    for left in reversed(range(ATTEMPTS)):
        trial = study.ask(space)
        point = {
            one.name: from_trial(one, trial.params[one.name])
            if one.name in space
            else one.values[0]
            for one in config.space
        }
        sound = all(allowed(config.asked, name, point[name]) is None for name in space)
        if sound and (left == 0 or _key(point) not in tried):
            return point
        study.tell(trial, state=TrialState.FAIL)
    return draw(config, run)


def _distribution(one: Parameter) -> BaseDistribution:
    from optuna.distributions import CategoricalDistribution, FloatDistribution

    if one.listed:
        return CategoricalDistribution(range(len(one.values)))
    return FloatDistribution(0.0, 1.0)


def to_trial(one: Parameter, value: Any) -> Any:
    """What Optuna sees of a parameter's value: its place in a list, or its quantile.

    Raises:
        ValueError: it is not in the list.
    """
    if one.listed:
        return [json.dumps(value) for value in one.values].index(json.dumps(value))
    return probability(one, value)


def from_trial(one: Parameter, seen: Any) -> Any:
    """The parameter's value of which Optuna sees this."""
    return one.values[seen] if one.listed else quantile(one, seen)


def _key(point: Any) -> str:
    return json.dumps(dict(point), sort_keys=True)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Keep Optuna from logging what it does to standard error."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
