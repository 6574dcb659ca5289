"""Which points are tried: drawn, or taken from a grid; and which runs are dropped.

What is drawn for a run depends on the config's seed, the run's number and the parameter's name
alone, so more runs or more parameters change nothing else, and every machine draws the same.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from jobsight.errors import SweepError
from jobsight.learning.question import Question
from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.distributions import points_of, quantile
from jobsight.learning.sweep.parameters import Parameter
from jobsight.learning.sweep.runrecord import ENDED, Goal
from jobsight.learning.sweep.searched import allowed

__all__ = ["Point", "Result", "draw", "grid", "hopeless"]

Point = dict[str, Any]
"""Values by the names of parameters."""

Result = Mapping[str, Any]
"""Of one run: ``run``, its number from 1; ``parameters``, its point; ``value``, its metric, None
where it failed or has none; ``status``: ``finished``, ``early``, ``failed``, ``dropped``, or
anything else while it is not over."""

ATTEMPTS = 2000
"""Draws of one value before giving up: 2000 refused ones in a row where 2 % are allowed have a
chance of 3e-18."""


def draw(config: SweepConfig, run: int) -> Point:
    """The point of a run (from 1) of a random search, by the config's parameters and seed."""
    return {one.name: _drawn(config.asked, one, config.seed, run) for one in config.space}


def _drawn(question: Question[Any], one: Parameter, seed: int, run: int) -> Any:
    if one.distribution == "constant":
        return one.values[0]
    name = int.from_bytes(hashlib.sha256(one.name.encode()).digest()[:16], "big")
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, run, name])))
    for _ in range(ATTEMPTS):
        value = quantile(one, float(generator.random()))
        if one.listed or allowed(question, one.name, value) is None:
            return value
    raise SweepError(
        f"run {run}, parameter {one.name!r}: {ATTEMPTS} draws gave no value that its setting "
        "allows; give it a range"
    )


def grid(config: SweepConfig) -> list[Point]:
    """The first `config.runs` points of the config's grid, in W&B's order."""
    return list(itertools.islice(points_of(config.space), config.runs))


def hopeless(results: Iterable[Result], keep: float, goal: Goal) -> set[int]:
    """Runs that are not trained any further: all but the best share of those that did not fail.

    Runs that ended already compete, but are never among those dropped. Of equal runs the one with
    the lower number is kept; one whose metric is undefined is the worst.

    Args:
        results: of all runs that were trained so far.
        keep: share of those that did not fail; rounded up, so at least one is kept.
        goal: of the metric.
    """

    def rank(one: Result) -> tuple[bool, float, int]:
        value = one["value"]
        worth = 0.0 if value is None else -value if goal == "maximize" else value
        return value is None, worth, one["run"]

    sound = sorted((one for one in results if one["status"] != "failed"), key=rank)
    kept = math.ceil(round(keep * len(sound), 9))  # 0.3 · 10 is 3, whatever floats make of it
    return {one["run"] for one in sound[kept:] if one["status"] not in ENDED}
