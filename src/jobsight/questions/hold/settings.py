"""Settings of the question `hold`, and the scale of a pool: how long things take there.

Pools live at different speeds: minutes in one, days in another. Everything that is a time in the
question `hold` is measured in *time scales*, the median time from a release to its outcome, learned
from the training part alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import polars as pl
from pydantic import PositiveFloat

from jobsight.history.outcomes import usual_horizon
from jobsight.settings import Costs, FrameSettings, LstmSettings, QuestionSettings

__all__ = ["DEFAULT_TIME_SCALE", "HoldSettings", "Scale", "resolve_scale"]


class HoldSettings(QuestionSettings):
    """The question `hold`."""

    as_of: Literal["release", "hold"] = "release"
    """The moment of a decision: the release, or the hold before it."""
    success: Literal["exit_zero", "terminated"] = "exit_zero"
    """What counts as success: exit code 0, or any end by itself."""
    removed_by_user: Literal["censored", "failure"] = "censored"
    """What a release is whose job a person removed."""
    horizon: PositiveFloat | Literal["auto"] = "auto"
    """Seconds; auto: the 95th percentile of the training outcomes' times."""
    windows: tuple[PositiveFloat, ...] | Literal["auto"] = "auto"
    """Seconds looked back at the pool; auto: 1, 4 and 16 time scales. The time scale is the
    median time from a release to its outcome in the training part."""
    delays: tuple[PositiveFloat, ...] | Literal["auto"] = "auto"
    """Seconds that "wait" may propose; auto: 1, 2 and 4 time scales."""
    batch_seconds: PositiveFloat = 60.0
    """Releases of one owner, cause and cluster within this span are one batch."""
    metric: Literal["log_loss", "brier", "roc_auc", "f1", "f1_failure"] = "log_loss"
    costs: Costs = Costs()
    frames: FrameSettings = FrameSettings()
    lstm: LstmSettings = LstmSettings()


DEFAULT_TIME_SCALE = 3600.0
"""Seconds; taken where no release has an outcome yet."""

_MICRO = 1_000_000
_WINDOWS = (1.0, 4.0, 16.0)
_DELAYS = (1.0, 2.0, 4.0)
_FRAMES_PER_SCALE = 8.0
_LEAST_TIME_SCALE = 1.0


@dataclass(frozen=True)
class Scale:
    """Every time that the settings leave to the data, in seconds.

    Attributes:
        time_scale: median time from a release to its outcome, at least one second.
        windows: spans looked back at the pool.
        delays: what "wait" may propose.
        timeframe_len: length of a frame.
        horizon: what is not resolved within it has no outcome.
    """

    time_scale: float
    windows: tuple[float, ...]
    delays: tuple[float, ...]
    timeframe_len: float
    horizon: float

    def to_json(self) -> dict[str, Any]:
        """As plain data, with lists for tuples once it is JSON."""
        return asdict(self)

    @property
    def horizon_micros(self) -> int:
        """The horizon in µs, as `jobsight.history.outcomes.apply_horizon` takes it."""
        return round(self.horizon * _MICRO)


def resolve_scale(decisions: pl.DataFrame, settings: HoldSettings) -> Scale:
    """Resolve all that is ``auto`` from the decisions of the training part.

    Args:
        decisions: the training part of a decision table, before any horizon: columns `outcome`,
            `released` and `resolved_time` (µs). May have no outcome: `DEFAULT_TIME_SCALE` then.
        settings: what is set there is taken as it is.
    """
    resolved = decisions.filter(pl.col("outcome").is_not_null())
    median = resolved.select((pl.col("resolved_time") - pl.col("released")).median()).item()
    time_scale = (
        DEFAULT_TIME_SCALE if median is None else max(float(median) / _MICRO, _LEAST_TIME_SCALE)
    )
    usual = usual_horizon(decisions)
    horizon = 4 * time_scale if usual is None else max(usual / _MICRO, _LEAST_TIME_SCALE)
    frames = settings.frames
    return Scale(
        time_scale=time_scale,
        windows=_spans(settings.windows, _WINDOWS, time_scale),
        delays=_spans(settings.delays, _DELAYS, time_scale),
        timeframe_len=(
            time_scale / _FRAMES_PER_SCALE
            if frames.timeframe_len == "auto"
            else frames.timeframe_len
        ),
        horizon=horizon if settings.horizon == "auto" else settings.horizon,
    )


def _spans(
    given: Sequence[float] | str, scales: Sequence[float], time_scale: float
) -> tuple[float, ...]:
    spans = (time_scale * number for number in scales) if isinstance(given, str) else given
    return tuple(sorted({float(span) for span in spans}))
