"""Settings of the question `start`: how waits and runtimes are learned."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jobsight.settings import BoostedSettings, QuestionSettings

__all__ = ["StartSettings"]


class StartSettings(QuestionSettings):
    """The question `start`."""

    metric: Literal["pinball", "log10_mse", "within_2"] = "pinball"
    bootstrap: Annotated[int, Field(ge=100, le=100_000)] = 200
    boosted: BoostedSettings = BoostedSettings()
