"""Rule sets given as data: the first arm that matches decides.

A rule set says two things of each row: the decision of its site (release or not), and, once fitted,
how often rows of its arm succeeded in training. A timed rule ("never release, remove after
four hours") is a set with the one arm that matches everything and does not release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from jobsight.errors import ModelError, TrainingError
from jobsight.models.base import Floats, Inputs, Labelled
from jobsight.models.constant import smoothed_rate
from jobsight.models.storage import load_body, save_body

__all__ = ["Among", "Arm", "Between", "RuleSet", "Rules"]

STRENGTH = 2.0
"""Batches' worth of the overall rate that is added to each arm's own."""

Mask = NDArray[np.bool_]
Facts = Mapping[str, NDArray[np.int64]]


def _column(facts: Facts, name: str) -> NDArray[np.int64]:
    if name not in facts:
        raise ModelError(f"a rule tests the fact {name!r}; known are {', '.join(sorted(facts))}")
    return facts[name]


@dataclass(frozen=True)
class Among:
    """True where the columns together equal one of `choices`; a None in a choice equals anything.

    ``Among(("code", "subcode"), ((26, 119), (13, None)))`` is 26:119, or 13 with any sub-code.
    """

    columns: tuple[str, ...]
    choices: tuple[tuple[int | None, ...], ...]
    negated: bool = False

    def holds(self, facts: Facts) -> Mask:
        """Truth of each row: bool (n,); `ModelError`: a column is not among the facts."""
        columns = [_column(facts, name) for name in self.columns]
        found = np.zeros(len(columns[0]), dtype=bool)
        for choice in self.choices:
            pairs = zip(columns, choice, strict=True)
            tests = [column == wanted for column, wanted in pairs if wanted is not None]
            found |= np.logical_and.reduce(tests) if tests else True
        return ~found if self.negated else found


@dataclass(frozen=True)
class Between:
    """True where ``low <= column <= high``; None leaves that side open."""

    column: str
    low: int | None = None
    high: int | None = None

    def holds(self, facts: Facts) -> Mask:
        """Truth of each row: bool (n,); `ModelError`: the column is not among the facts."""
        column = _column(facts, self.column)
        above = column >= self.low if self.low is not None else np.ones(len(column), dtype=bool)
        return above if self.high is None else above & (column <= self.high)


@dataclass(frozen=True)
class Arm:
    """One line of a rule set: it matches where all its conditions hold.

    Attributes:
        name: what it stands for, in a word or two; unique in its set.
        release: whether the rule releases such a job.
        conditions: none of them means that it matches everything.
    """

    name: str
    release: bool
    conditions: tuple[Among | Between, ...] = ()


@dataclass(frozen=True)
class RuleSet:
    """Arms in order; the first that matches decides, and the last whatever no other matches."""

    name: str
    arms: tuple[Arm, ...]

    def arm_of(self, inputs: Inputs) -> NDArray[np.int64]:
        """Index of the arm that decides each row: int64 (n,).

        Raises:
            ModelError: a condition names a fact that the inputs lack.
        """
        arm_of = np.full(len(inputs), len(self.arms) - 1, dtype=np.int64)
        for index in range(len(self.arms) - 2, -1, -1):
            tests = [condition.holds(inputs.facts) for condition in self.arms[index].conditions]
            matches = np.logical_and.reduce(tests) if tests else np.ones(len(inputs), dtype=bool)
            arm_of[matches] = index
        return arm_of

    def releases(self, inputs: Inputs) -> Mask:
        """Whether the rule set releases each row: bool (n,).

        Raises:
            ModelError: a condition names a fact that the inputs lack.
        """
        release = np.array([arm.release for arm in self.arms], dtype=bool)
        decided: Mask = release[self.arm_of(inputs)]
        return decided

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_json` gave; KeyError, TypeError, ValueError where it is not."""
        arms = []
        for arm in data["arms"]:
            conditions: list[Among | Between] = []
            for item in arm["conditions"]:
                if "column" in item:
                    conditions.append(Between(str(item["column"]), item["low"], item["high"]))
                else:
                    choices = tuple(tuple(choice) for choice in item["choices"])
                    conditions.append(Among(tuple(item["columns"]), choices, bool(item["negated"])))
            arms.append(Arm(str(arm["name"]), bool(arm["release"]), tuple(conditions)))
        return cls(str(data["name"]), tuple(arms))


class Rules:
    """A rule set with the rate of success of each arm in training."""

    needs_both: ClassVar[bool] = False

    def __init__(self, rule_set: RuleSet, rates: Floats | None = None) -> None:
        self.rule_set = rule_set
        self.name = f"rules:{rule_set.name}"
        self.rates = np.full(len(rule_set.arms), 0.5) if rates is None else rates

    def fit(self, train: Labelled, *, seed: int) -> None:
        """Count each arm's successes in `train`; arms seldom seen lean on the overall rate."""
        if not len(train):
            raise TrainingError(f"{self.name}: there are no training examples")
        arms, count = self.rule_set.arm_of(train.inputs), len(self.rule_set.arms)
        weight = np.bincount(arms, train.weight, count)
        success = np.bincount(arms, train.weight * train.success, count)
        overall = smoothed_rate(float(success.sum()), float(weight.sum()))
        self.rates = (success + STRENGTH * overall) / (weight + STRENGTH)

    def predict(self, inputs: Inputs) -> Floats:
        probability: Floats = self.rates[self.rule_set.arm_of(inputs)]
        return probability

    def releases(self, inputs: Inputs) -> Mask:
        """Whether the rule set releases each row: bool (n,)."""
        return self.rule_set.releases(inputs)

    def save(self, folder: Path) -> None:
        save_body(
            folder, "rules", {"rule_set": self.rule_set.to_json(), "rates": self.rates.tolist()}
        )

    @classmethod
    def load(cls, folder: Path) -> Self:
        with load_body(folder, "rules") as body:
            model = cls(
                RuleSet.from_json(body["rule_set"]), np.array(body["rates"], dtype=np.float64)
            )
            if model.rates.shape != (len(model.rule_set.arms),):
                raise ValueError("there is not one rate for each arm")
            return model
