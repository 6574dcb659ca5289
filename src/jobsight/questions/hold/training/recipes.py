"""Recipes: what is decided, how decisions are split, and what models may read of them.

``jobsight`` is the question as it stands in `docs/outcomes.md`. ``seed`` re-states the study that
this project grew from (`seed_recipe`), so that the same code trains, evaluates and audits both.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import polars as pl

from jobsight.history import outcomes
from jobsight.history.labels import RowLabels
from jobsight.history.timelines import History, Ints
from jobsight.learning.splits import Split, part_borders, split_forward
from jobsight.questions.hold.examples.builder import ExampleBuilder
from jobsight.questions.hold.examples.decisions import Decisions, hold_decisions
from jobsight.questions.hold.examples.scale import Scale
from jobsight.questions.hold.training.rulesets import RULE_NAMES
from jobsight.questions.hold.training.seed_recipe import SeedRecipe
from jobsight.settings import HoldSettings

__all__ = ["MODEL_NAMES", "Recipe", "recipe_named"]

MODEL_NAMES = ("constant", *RULE_NAMES, "rates", "linear", "boosted", "lstm")
"""Every model of the question, baselines first."""

_NEVER = np.iinfo(np.int64).max


class Recipe(Protocol):
    """One way to put the question; stateless, shared by all threads."""

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models that are trained."""
        ...

    @property
    def answers(self) -> str | None:
        """The model that answers; None where the best on the select part does."""
        ...

    def settings(self, settings: HoldSettings) -> HoldSettings:
        """The settings, with those that the recipe fixes; idempotent."""
        ...

    def decisions(self, history: History, settings: HoldSettings) -> Decisions:
        """Every decision, with its outcome, before any horizon."""
        ...

    def borders(self, kept: pl.DataFrame, settings: HoldSettings, end: int) -> Ints:
        """Borders of the parts (µs, int64 (5,)); empty where the split is not one of time."""
        ...

    def parts(
        self, kept: pl.DataFrame, settings: HoldSettings, scale: Scale, borders: Ints
    ) -> tuple[pl.DataFrame, Split]:
        """The decisions as the horizon leaves them, and the part of each.

        Args:
            kept: n decisions, in time order.
            settings: shares of the parts, seed.
            scale: the horizon.
            borders: those of `borders`, or of one part alone for decisions to be judged by.
        """
        ...

    def builder(
        self,
        history: History,
        settings: HoldSettings,
        scale: Scale,
        *,
        labels: RowLabels | None = None,
    ) -> ExampleBuilder:
        """What makes examples of them."""
        ...


class _JobsightRecipe:
    models: tuple[str, ...] = MODEL_NAMES
    answers: str | None = None

    def settings(self, settings: HoldSettings) -> HoldSettings:
        return settings

    def decisions(self, history: History, settings: HoldSettings) -> Decisions:
        return hold_decisions(history, settings)

    def borders(self, kept: pl.DataFrame, settings: HoldSettings, end: int) -> Ints:
        moment, batch = kept["released"].to_numpy(), kept["batch"].to_numpy()
        return part_borders(moment, batch, settings.parts, end)

    def parts(
        self, kept: pl.DataFrame, settings: HoldSettings, scale: Scale, borders: Ints
    ) -> tuple[pl.DataFrame, Split]:
        table = outcomes.apply_horizon(kept, scale.horizon_micros)
        split = split_forward(
            table["released"].to_numpy(),
            table["batch"].to_numpy(),
            table["group"].rank("dense").cast(pl.Int64).to_numpy(),
            table["resolved_time"].fill_null(_NEVER).to_numpy(),
            borders=borders,
            horizon=scale.horizon_micros,
        )
        return table, split

    def builder(
        self,
        history: History,
        settings: HoldSettings,
        scale: Scale,
        *,
        labels: RowLabels | None = None,
    ) -> ExampleBuilder:
        return ExampleBuilder(history, settings, scale, labels=labels)


_RECIPES: dict[str, Recipe] = {"jobsight": _JobsightRecipe(), "seed": SeedRecipe()}


def recipe_named(name: str) -> Recipe:
    """The recipe that the setting ``hold.recipe`` names."""
    return _RECIPES[name]
