"""Parameters of a sweep (``m``, ``hidden_size``, ``lstm.dropout``) as settings of the question."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import pydantic

from jobsight.errors import SettingsError
from jobsight.settings import HoldSettings

__all__ = ["SHORT_NAMES", "place_of", "with_parameters"]

SHORT_NAMES = {
    **{
        name: f"frames.{name}"
        for name in ("m", "j", "timeframe_len", "related_share", "state_events")
    },
    **{
        name: f"lstm.{name}"
        for name in (
            "network",
            "lstm_layers",
            "hidden_size",
            "dropout",
            "learning_rate",
            "weight_decay",
            "batch_size",
            "epochs",
            "patience",
        )
    },
}
"""Parameters that need no section before them, and the setting that each is."""


def place_of(name: str) -> tuple[str, ...]:
    """Where a parameter stands in `HoldSettings`: ``m`` → ``("frames", "m")``.

    Raises:
        SettingsError: there is no such setting; names what was likely meant.
    """
    place = tuple(SHORT_NAMES.get(name, name).split("."))
    if place not in _places(HoldSettings):
        known = [*SHORT_NAMES, *(".".join(one) for one in _places(HoldSettings))]
        near = difflib.get_close_matches(name, known, 1)
        raise SettingsError(
            f"there is no parameter {name[:80]!r}"
            + (f"; did you mean {near[0]!r}?" if near else "")
            + f" Known are {', '.join(SHORT_NAMES)}, and the settings of hold, such as windows or "
            "costs.lost_job"
        )
    return place


def with_parameters(settings: HoldSettings, parameters: Mapping[str, Any]) -> HoldSettings:
    """The settings with a sweep's parameters in their places, in the order given.

    Raises:
        SettingsError: one is unknown or has a bad value, or two are the same setting.
    """
    tree = settings.model_dump()
    named: dict[tuple[str, ...], str] = {}
    for name, value in parameters.items():
        place = place_of(name)
        if place in named:
            raise SettingsError(f"{named[place]!r} and {name!r} are the same setting")
        named[place] = name
        branch = tree
        for part in place[:-1]:
            branch = branch[part]
        branch[place[-1]] = value
    try:
        return HoldSettings.model_validate(tree)
    except pydantic.ValidationError as error:
        raise SettingsError(_explained(error, named)) from None


def _places(section: type[pydantic.BaseModel]) -> list[tuple[str, ...]]:
    """Every setting that has no settings below it."""
    places: list[tuple[str, ...]] = []
    for name, field in section.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, pydantic.BaseModel):
            places += [(name, *below) for below in _places(kind)]
        else:
            places.append((name,))
    return places


def _explained(error: pydantic.ValidationError, named: Mapping[tuple[str, ...], str]) -> str:
    """The first fault, by the parameter's own name."""
    first = error.errors()[0]
    location = tuple(str(part) for part in first["loc"])
    name = next((named[place] for place in named if location[: len(place)] == place), None)
    return f"{name or '.'.join(location)}: {first['msg']} (given {repr(first.get('input'))[:60]})"
