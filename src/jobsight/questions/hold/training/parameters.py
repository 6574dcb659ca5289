"""A point of a sweep as settings of the question, for the run that trains it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pydantic

from jobsight.errors import SettingsError
from jobsight.learning.sweep.targets import merged, point_overrides
from jobsight.settings import HoldSettings

__all__ = ["with_parameters"]


def with_parameters(settings: HoldSettings, parameters: Mapping[str, Any]) -> HoldSettings:
    """The settings with a sweep's parameters in their places.

    Args:
        settings: those that all runs share.
        parameters: by the names that `jobsight.learning.sweep.targets.searchable` gives.

    Raises:
        SettingsError: one is unknown or has a bad value, or two are the same setting.
    """
    try:
        tree = merged(settings.model_dump(), point_overrides(parameters))
        return HoldSettings.model_validate(tree)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        given = repr(first.get("input"))[:60]
        raise SettingsError(f"{name}: {first['msg']} (given {given})") from None
    except ValueError as error:
        raise SettingsError(str(error)) from None
