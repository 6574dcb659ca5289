"""What all sections of the settings share."""

import pydantic
from pydantic import ConfigDict

__all__ = ["Section"]


class Section(pydantic.BaseModel):
    """A part of the settings: no unknown names, no later change."""

    model_config = ConfigDict(extra="forbid", frozen=True)
