"""Settings of the question `fail`: what counts as a failure, and how it is learned."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jobsight.settings import BoostedSettings, QuestionSettings

__all__ = ["FailSettings"]


class FailSettings(QuestionSettings):
    """The question `fail`."""

    cancelled: Literal["censored", "failure"] = "censored"
    """What a job is that a person cancelled: of unknown outcome, or failed."""
    metric: Literal["log_loss", "brier", "roc_auc"] = "log_loss"
    bootstrap: Annotated[int, Field(ge=100, le=100_000)] = 200
    boosted: BoostedSettings = BoostedSettings()
