"""Examples: what is known of held jobs as of a cut, in the form that models read.

Training (the cut is the release), a question asked some time before the release, and a live
question (the cut is now) differ only in their cuts and share this one path.
"""

from __future__ import annotations

from functools import cached_property
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.history.frames import FrameIndex, build_frames
from jobsight.history.labels import RowLabels, label_rows
from jobsight.history.timelines import History, as_seen, delayed, views_of
from jobsight.models.base import Floats, Inputs
from jobsight.questions.hold.examples.decisions import held_jobs, resolved_releases
from jobsight.questions.hold.examples.evidence import Evidence, gather_evidence
from jobsight.questions.hold.examples.features import LEARNED_RATE, FeatureIndex
from jobsight.questions.hold.examples.scale import Scale
from jobsight.questions.hold.settings import HoldSettings

__all__ = ["ExampleBuilder", "built_again", "frames_of"]

_MICRO = 1_000_000
_NO_CODE = -1


class ExampleBuilder:
    """Builds examples from one history, indexed once; may be asked from several threads.

    Attributes:
        features: names of the features.
    """

    def __init__(
        self,
        history: History,
        settings: HoldSettings,
        scale: Scale,
        labels: RowLabels,
        evidence: Evidence,
        *,
        frames: bool = True,
    ) -> None:
        """Index `history`.

        Args:
            history: the indexed log.
            settings: what counts as good, frames, seed.
            scale: learned from the training part.
            labels: of the rows of `history`.
            evidence: of the history under these settings.
            frames: whether `Inputs.frames` are built; they are None if not.
        """
        self._history = history
        self._settings = settings
        self._scale = scale
        self._labels = labels
        self._with_frames = frames
        self._index = FeatureIndex(history, evidence, scale)
        self.features = self._index.names

    @classmethod
    def of(
        cls, history: History, settings: HoldSettings, scale: Scale, *, frames: bool = True
    ) -> Self:
        """One for a history of which nothing is known yet."""
        labels = label_rows(history)
        releases, _ = resolved_releases(history, settings, labels)
        evidence = gather_evidence(history, labels, releases)
        return cls(history, settings, scale, labels, evidence, frames=frames)

    def build(self, rows: pl.DataFrame, moment: str) -> tuple[pl.DataFrame, Inputs]:
        """Examples of released jobs, as of `moment` seconds before each decision.

        Args:
            rows: of `jobsight.questions.hold.examples.decisions.hold_decisions`.
            moment: seconds; jobs that were not yet held that long before are left out.

        Returns:
            the rows that are left, with `delay` (seconds), and what is known of each.
        """
        early = delayed(self._history, rows, float(moment))
        return early, self.inputs(early, float(moment))

    def inputs(self, decisions: pl.DataFrame, delay: float | Floats = 0.0) -> Inputs:
        """What is known at the cuts of `decisions`, of a release that lies `delay` seconds ahead.

        Args:
            decisions: n rows with the columns of
                `jobsight.questions.hold.examples.decisions.held_jobs`; a row may stand there
                several times, with different delays.
            delay: seconds; one for all, or float64 (n,).
        """
        views = views_of(self._history, decisions)
        causes, facts = _causes_and_facts(decisions)
        return Inputs(
            features=self._index.features(views, np.full(len(views), delay, np.float64)),
            names=self.features,
            causes=causes,
            facts=facts | {"num_holds": self._index.holds(views)},
            frames=self._frames(decisions),
            state_events=len(self._settings.frames.state_events),
            rising=self._index.rising,
            few=self._index.few,
            start=LEARNED_RATE,
        )

    @cached_property
    def _frame_index(self) -> FrameIndex:
        return FrameIndex(self._history, self._labels, self._settings.frames.state_events)

    def _frames(self, decisions: pl.DataFrame) -> NDArray[np.uint8] | None:
        if not self._with_frames:
            return None
        return frames_of(self._frame_index, decisions, self._settings, self._scale)


def frames_of(
    index: FrameIndex, decisions: pl.DataFrame, settings: HoldSettings, scale: Scale
) -> NDArray[np.uint8]:
    """The frames of n decisions: uint8 (n, m, j), see `jobsight.history.frames`."""
    form = settings.frames
    frames, _ = build_frames(
        index, decisions, m=form.m, j=form.j, timeframe=max(round(scale.timeframe_len * _MICRO), 1),
        related_share=form.related_share, seed=settings.seed,
    )  # fmt: skip
    return frames


def built_again(
    history: History, row: pl.DataFrame, scale: Scale, settings: HoldSettings, delay: float
) -> Inputs | None:
    """Inputs of one decision from the event table cut off at it; None: its job is not held there.

    Args:
        history: the whole history.
        row: of the table that `ExampleBuilder.build` gives with that delay.
        scale: as learned.
        settings: of the question.
        delay: seconds before the release.
    """
    again = History.from_table(as_seen(history, row))
    labels = label_rows(again)
    found = _found_again(again, labels, row)
    if not len(found):
        return None
    return ExampleBuilder.of(again, settings, scale).inputs(found, delay)


def _found_again(again: History, labels: RowLabels, decision: pl.DataFrame) -> pl.DataFrame:
    """The decision as the cut logs record it: one row, none if its job is not held there."""
    log, moment = int(decision["log"][0]), int(decision["time"][0])
    mine = pl.all_horizontal(
        pl.col(name).eq_missing(pl.lit(decision[name][0], decision.schema[name]))
        for name in ("log", "access_point", "cluster", "proc")
    )
    jobs = np.flatnonzero(again.jobs.select(mine).to_series().to_numpy())
    end = int(again.log_start[log + 1])
    return held_jobs(again, moment, labels, jobs).with_columns(
        cut=pl.lit(end, pl.Int64), time=pl.lit(moment, pl.Int64)
    )


def _causes_and_facts(
    decisions: pl.DataFrame,
) -> tuple[dict[str, NDArray[np.str_]], dict[str, NDArray[np.int64]]]:
    """Names of each cause from coarse to fine, and what rule sets test.

    Causes are ``13``, ``13/256``, ``13/256 masked reason``; an unknown code is −1.
    """
    code = pl.col("hold_code").cast(pl.String).fill_null("?")
    subcode = code + "/" + pl.col("hold_subcode").cast(pl.String).fill_null("?")
    reason = subcode + " " + pl.col("masked").fill_null("")
    numbers = pl.col("hold_code", "hold_subcode").cast(pl.Int64).fill_null(_NO_CODE)
    columns = decisions.select(numbers, code=code, subcode=subcode, reason=reason)
    return (
        {name: columns[name].to_numpy().astype(np.str_) for name in ("code", "subcode", "reason")},
        {name: columns[name].to_numpy() for name in ("hold_code", "hold_subcode")},
    )
