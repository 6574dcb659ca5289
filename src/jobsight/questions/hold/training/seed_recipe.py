"""The recipe ``seed``: the study of 2024, re-stated as one configuration of ours.

Machine Learning for OSPool Failure Classification (CHTC fellowship, 2024): an LSTM over the events
of a held job and of others beside it, labelled by whether the job ever terminated, with jobs split
by chance; "near-perfect accuracy; however, further verification of results is needed".
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.history.labels import RowLabels, label_rows
from jobsight.history.timelines import History, Ints
from jobsight.learning.splits import PARTS, Split, split_random
from jobsight.models.base import Floats, Inputs
from jobsight.questions.hold.examples.builder import ExampleBuilder, Examples
from jobsight.questions.hold.examples.decisions import Decisions, after_hold, described, groups
from jobsight.questions.hold.examples.scale import Scale
from jobsight.questions.hold.training.rulesets import RULE_NAMES
from jobsight.settings import HoldSettings

__all__ = ["FramesOnly", "SeedRecipe", "first_holds", "frames_only", "whole_life"]

_ENDED, _REMOVED, _HELD = 5, 9, 12


class SeedRecipe:
    """The study of 2024: the first hold of each job, events only, "did it ever terminate?".

    Jobs are split by chance and count alike; those that never left the queue have no outcome. Its
    frames are as of the hold here, so that the model can be asked at all; the study's own window
    reached to the job's end (see `jobsight.questions.hold.audit`).
    """

    models: tuple[str, ...] = ("constant", *RULE_NAMES, "lstm")
    answers: str | None = "lstm"

    def settings(self, settings: HoldSettings) -> HoldSettings:
        """The settings, with those of the study; its network is ``lstm-flat`` unless named."""
        network = settings.lstm.network
        flat = {"network": "lstm-flat" if network == "lstm" else network}
        return settings.model_copy(
            update={
                "recipe": "seed",
                "as_of": "hold",
                "success": "terminated",
                "removed_by_user": "failure",
                "delays": (),
                "lstm": settings.lstm.model_copy(update=flat),
            }
        )

    def decisions(self, history: History, settings: HoldSettings) -> Decisions:
        """The first hold of each held job."""
        table = first_holds(history)
        return Decisions(table, len(table), {})

    def borders(self, kept: pl.DataFrame, settings: HoldSettings, end: int) -> Ints:
        """None: the split is not one of time."""
        return np.zeros(0, np.int64)

    def parts(
        self, kept: pl.DataFrame, settings: HoldSettings, scale: Scale, borders: Ints
    ) -> tuple[pl.DataFrame, Split]:
        """Jobs by chance; all in the last part where they are only to be judged by."""
        if len(borders):
            last = np.full(len(kept), len(PARTS) - 1, np.int8)
            return kept, Split(last, np.zeros_like(last), borders)
        jobs = np.arange(len(kept))
        return kept, split_random(jobs, shares=settings.parts, seed=settings.seed)

    def builder(
        self,
        history: History,
        settings: HoldSettings,
        scale: Scale,
        *,
        labels: RowLabels | None = None,
    ) -> ExampleBuilder:
        """Frames alone."""
        return FramesOnly(history, settings, scale, labels=labels)


def frames_only(inputs: Inputs) -> Inputs:
    """The same rows without features and causes: what is left to a network are the frames.

    The facts stay, for today's rules; no other model reads them.
    """
    none = np.zeros((len(inputs), 0), np.float32)
    return replace(inputs, features=none, names=(), causes={})


class FramesOnly(ExampleBuilder):
    """An `ExampleBuilder` whose inputs are frames alone."""

    def ask(self, decisions: pl.DataFrame, *, delay: float | Floats = 0.0) -> Examples:
        """As `ExampleBuilder.ask`, by frames alone."""
        table, inputs = super().ask(decisions, delay=delay)
        return Examples(table, frames_only(inputs))


def first_holds(history: History, labels: RowLabels | None = None) -> pl.DataFrame:
    """The first hold of each job that was ever held, for whatever reason, as decisions.

    Returns:
        The columns of `Decisions.table`. The outcome is whether the job ever terminated (005), at
        whatever time; one that was removed (009) first did not, and one that did neither has none.
        `row` is null: nobody need have released it. Each job is a batch of its own.
    """
    holds = np.flatnonzero((history.code == _HELD) & (history.job >= 0))
    jobs, first = np.unique(history.job[holds], return_index=True)
    hold_rows = holds[first]
    left = _leaving(history, jobs, hold_rows)
    there = left >= 0
    ended = there & (history.code[left] == _ENDED)
    end = history.log_start[history.log[hold_rows] + 1] - 1
    table = described(
        history,
        labels or label_rows(history),
        hold_rows,
        after_hold(history, hold_rows),
        history.clock[hold_rows],
    )
    count = len(jobs)
    return table.with_columns(
        groups(history).gather(jobs),
        row=pl.lit(None, pl.Int64),
        released=pl.col("hold_time"),
        repeat=pl.lit(1, pl.Int64),
        batch=pl.int_range(count),
        kept=pl.lit(value=True),
        weight=pl.lit(1.0),
        releaser=pl.lit(None, pl.String),
        edited=pl.lit(value=False),
        kind=pl.Series(np.where(ended, "terminated", np.where(there, "removed", "log_ended"))),
        resolved_row=pl.Series(left).set(pl.Series(~there), None),
        resolved_time=pl.Series(history.clock[np.where(there, left, end)]),
        outcome=pl.Series(ended).set(pl.Series(~there), None),
        censored=pl.when(pl.Series(~there)).then(pl.lit("log_ended")),
    ).sort("time", "log", "hold_row")


def _leaving(history: History, jobs: NDArray[np.integer], after: Ints) -> Ints:
    """The first row after each of `after` with which its job leaves the queue, −1 if none."""
    ends = np.flatnonzero(np.isin(history.code, (_ENDED, _REMOVED)) & (history.job >= 0))
    order = np.lexsort((ends, history.job[ends]))
    job, row = history.job[ends][order], ends[order]
    width = len(history) + 1
    place = np.searchsorted(job.astype(np.int64) * width + row, jobs * np.int64(width) + after)
    inside = np.minimum(place, max(len(row) - 1, 0))
    if not len(row):
        return np.full(len(jobs), -1, np.int64)
    found = (place < len(row)) & (job[inside] == jobs)
    return np.where(found, row[inside], -1)


def whole_life(decisions: pl.DataFrame) -> pl.DataFrame:
    """The decisions as the study saw them: not as of the hold, but after the job left the queue.

    Its window ended there, so the frames hold the record that the label is made of. Decisions
    without an outcome are left out.
    """
    settled = decisions.filter(pl.col("resolved_row").is_not_null())
    return settled.with_columns(cut=pl.col("resolved_row") + 1, time=pl.col("resolved_time"))
