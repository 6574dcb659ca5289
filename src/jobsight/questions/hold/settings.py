"""Settings of the question `hold`: what is decided, learned and answered."""

from __future__ import annotations

from typing import Literal

from pydantic import PositiveFloat

from jobsight.settings import Costs, FrameSettings, LstmSettings, QuestionSettings

__all__ = ["HoldSettings"]


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
