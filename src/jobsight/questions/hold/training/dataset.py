"""The decisions of a history with their parts and outcomes, and examples made of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.errors import TrainingError
from jobsight.history import outcomes
from jobsight.history.timelines import History
from jobsight.learning.splits import DROPS, PARTS, part_borders, split_forward
from jobsight.models.base import Labelled
from jobsight.questions.hold.examples.builder import ExampleBuilder
from jobsight.questions.hold.examples.decisions import Decisions, batch_weights, hold_decisions
from jobsight.questions.hold.examples.scale import Scale, resolve_scale
from jobsight.questions.hold.training.model import HoldModel, fingerprints
from jobsight.settings import HoldSettings

__all__ = ["Dataset"]

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Dataset:
    """The kept decisions of a history, and the scale they are seen on.

    Attributes:
        history: indexed.
        decisions: every decision, before any horizon, with the counts of what is none.
        settings: of the question.
        scale: pace, windows, delays, frame length, horizon.
        table: the kept decisions (n) in time order, with the horizon applied, and with `part`
            (index into `PARTS`, −1: dropped), `dropped` (index into `DROPS`).
        borders: int64 (5,), µs: of the parts.
    """

    history: History
    decisions: Decisions
    settings: HoldSettings
    scale: Scale
    table: pl.DataFrame
    borders: Ints

    @classmethod
    def for_training(cls, history: History, settings: HoldSettings) -> Dataset:
        """Split a history into parts; horizon and scale are learned from its train part alone.

        Raises:
            TrainingError: there are no decisions, or none whose outcome was known in time.
        """
        decisions = hold_decisions(history, settings)
        kept = decisions.table.filter("kept")
        if not len(kept):
            raise TrainingError(_nothing_released(history, decisions))
        borders = part_borders(
            kept["released"].to_numpy(),
            kept["batch"].to_numpy(),
            settings.parts,
            int(history.clock.max()) + 1,
        )
        known = kept.filter(pl.max_horizontal("released", "resolved_time") < borders[1])
        scale = resolve_scale(known, settings)
        return cls._split(history, decisions, settings, scale, borders)

    @classmethod
    def for_judging(cls, history: History, model: HoldModel) -> Dataset:
        """All decisions of a history as one part, on the scale of a trained model."""
        end = int(history.clock.max(initial=0)) + 1
        borders = np.array([np.iinfo(np.int64).min] * 4 + [end], np.int64)
        return cls._as_trained(history, model, borders)

    @classmethod
    def for_audit(cls, history: History, model: HoldModel) -> Dataset:
        """The parts that taught a model, where `history` is of its logs (see `holds_all_of`)."""
        return cls._as_trained(history, model, model.borders)

    @classmethod
    def _as_trained(cls, history: History, model: HoldModel, borders: Ints) -> Dataset:
        decisions = hold_decisions(history, model.settings)
        return cls._split(history, decisions, model.settings, model.scale, borders)

    @classmethod
    def _split(
        cls,
        history: History,
        decisions: Decisions,
        settings: HoldSettings,
        scale: Scale,
        borders: Ints,
    ) -> Dataset:
        table = outcomes.apply_horizon(decisions.table.filter("kept"), scale.horizon_micros)
        split = split_forward(
            table["released"].to_numpy(),
            table["batch"].to_numpy(),
            table["group"].rank("dense").cast(pl.Int64).to_numpy(),
            table["resolved_time"].fill_null(np.iinfo(np.int64).max).to_numpy(),
            borders=borders,
            horizon=scale.horizon_micros,
        )
        table = table.with_columns(part=pl.Series(split.part), dropped=pl.Series(split.dropped))
        return cls(history, decisions, settings, scale, table, borders)

    @cached_property
    def builder(self) -> ExampleBuilder:
        """Builds examples from this history; indexed once."""
        return ExampleBuilder(self.history, self.settings, self.scale)

    def part(self, name: str) -> Mask:
        """The decisions of a part: bool (n,)."""
        inside: Mask = self.table["part"].to_numpy() == PARTS.index(name)
        return inside

    def since_test(self) -> Mask:
        """The decisions from the test part's beginning on, dropped ones too: bool (n,)."""
        since: Mask = self.table["released"].to_numpy() >= self.borders[3]
        return since

    def holds_all_of(self, model: HoldModel) -> bool:
        """Whether every decision that taught `model` is here: these are its logs, or they grew."""
        return bool(np.isin(model.seen, fingerprints(self.table)).all())

    def usable(self, rows: Mask) -> Mask:
        """Those of `rows` that are in a part, have an outcome, and were released as they were."""
        column = self.table.select(
            (pl.col("part") >= 0) & pl.col("outcome").is_not_null() & ~pl.col("edited")
        ).to_series()
        usable: Mask = rows & column.to_numpy()
        return usable

    def labelled(self, rows: Mask, *, delay: float = 0.0) -> tuple[pl.DataFrame, Labelled]:
        """Examples of the usable decisions among `rows`, and their part of the table.

        Args:
            rows: bool (n,).
            delay: seconds between the moment that is known and the release; decisions of jobs that
                were not yet held then are left out.
        """
        return self.examples(self.table.filter(pl.Series(self.usable(rows))), delay=delay)

    def examples(self, table: pl.DataFrame, *, delay: float = 0.0) -> tuple[pl.DataFrame, Labelled]:
        """Examples of decisions with an outcome, as `labelled` gives them."""
        table, inputs = self.builder.build(table, delay=delay)
        success = table["outcome"].cast(pl.Boolean).to_numpy()
        batch = table["batch"].cast(pl.Int64).to_numpy()
        return table, Labelled(inputs, success, batch_weights(batch), batch)

    def censored(self, rows: Mask) -> dict[str, int]:
        """Decisions among `rows` without outcome, by kind."""
        kinds = self.table.filter(pl.Series(rows), pl.col("outcome").is_null())["censored"]
        return dict(sorted(Counter(kinds.to_list()).items()))

    def dropped(self, rows: Mask) -> dict[str, int]:
        """Decisions among `rows` that are in no part, or were mended, by reason."""
        table = self.table.filter(pl.Series(rows))
        kinds = Counter(DROPS[kind] for kind in table["dropped"] if kind)
        mended = table.filter(
            pl.col("part") >= 0, pl.col("outcome").is_not_null(), pl.col("edited")
        )
        return dict(sorted(kinds.items())) | ({"edited": len(mended)} if len(mended) else {})


def _nothing_released(history: History, decisions: Decisions) -> str:
    holds = int((history.code == EventCode.HELD).sum())
    others = ", ".join(f"{count} {why}" for why, count in decisions.left_out.items())
    return (
        f"nothing to learn from: {len(history)} events with {holds} holds and "
        f"{decisions.releases} releases, of which none is of a job held by anything but its user"
        + (f" ({others})" if others else "")
        + "; give logs in which held jobs were released"
    )
