"""Settings of the question `bound`: how programs are learned from, and when an answer is unsure."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jobsight.settings import BoostedSettings, QuestionSettings

__all__ = ["BoundSettings"]


class BoundSettings(QuestionSettings):
    """The question `bound`."""

    metric: Literal["log_loss", "macro_f1", "accuracy"] = "macro_f1"
    bootstrap: Annotated[int, Field(ge=100, le=100_000)] = 500
    boosted: BoostedSettings = BoostedSettings()
    unsure_below: Annotated[float, Field(ge=0, le=1)] = 0.4
    """An answer with less confidence is ``unsure``."""
