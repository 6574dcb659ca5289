"""All sections together, and where settings come from.

Later wins: ``/etc/jobsight/jobsight.yaml``, ``~/.config/jobsight/jobsight.yaml``, the file named by
``JOBSIGHT_CONFIG``, environment variables (``JOBSIGHT_HOLD__SEED=7``,
``JOBSIGHT_HOLD__WINDOWS='[60, 240]'``), flags.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pydantic
from pydantic import Field

from jobsight.errors import SettingsError
from jobsight.settings.gathering import (
    CollectSettings,
    CondorSettings,
    EventLogSettings,
    KafkaSettings,
    SlurmSettings,
    StoreSettings,
)
from jobsight.settings.questions import HoldSettings
from jobsight.settings.section import Section

__all__ = ["Settings"]


class Settings(Section):
    """Everything that can be set."""

    timezone: str | None = None
    """Zone of log times without one; None: the machine's."""
    access_point: str | None = None
    """Name of the access point the logs come from; None: as the log tells."""
    hold: HoldSettings = HoldSettings()
    condor: CondorSettings = CondorSettings()
    eventlog: EventLogSettings = EventLogSettings()
    slurm: SlurmSettings = SlurmSettings()
    kafka: KafkaSettings = KafkaSettings()
    collect: CollectSettings = CollectSettings()
    store: StoreSettings = Field(default_factory=StoreSettings)

    @pydantic.field_validator("store", mode="before")
    @classmethod
    def _store_by_address(cls, value: Any) -> Any:
        return {"url": value} if isinstance(value, str) else value

    @classmethod
    def load(
        cls, overrides: Mapping[str, Any] | None = None, *, config: Path | None = None
    ) -> Settings:
        """Merge all places settings come from; `overrides` (nested, from flags) wins.

        Raises:
            SettingsError: a file cannot be read, or a setting is unknown or bad; names the file,
                line and column where there is one.
        """
        merged: dict[str, Any] = {}
        places: list[_Place] = []
        for path in _config_files(config):
            place = _Place.read(path)
            places.append(place)
            _merge(merged, _spelled_out(place.values))
        _merge(merged, _from_environment())
        _merge(merged, _spelled_out(overrides or {}))
        try:
            return cls.model_validate(merged)
        except pydantic.ValidationError as error:
            raise _explain(error, places) from None


class _Place:
    """One YAML file: its values, and where each of them stands."""

    def __init__(self, path: Path, tree: Any) -> None:
        self.path = path
        self.tree = tree
        self.values: dict[str, Any] = _plain(tree) if tree is not None else {}

    @classmethod
    def read(cls, path: Path) -> _Place:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import MarkedYAMLError, YAMLError

        try:
            tree = YAML(typ="rt").load(path.read_text(encoding="utf-8"))
        except MarkedYAMLError as error:
            mark = error.problem_mark
            where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
            raise SettingsError(f"{path}{where}: {error.problem or 'not YAML'}") from None
        except FileNotFoundError:
            raise SettingsError(f"there is no settings file {path}") from None
        except (OSError, UnicodeDecodeError, YAMLError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            raise SettingsError(f"cannot read settings from {path}: {reason or error}") from None
        if tree is not None and not isinstance(tree, dict):
            raise SettingsError(f"{path}: settings are a mapping of names to values")
        return cls(path, tree)

    def position(self, location: tuple[int | str, ...]) -> str | None:
        """``file:line:column`` of the setting at `location`, None where the file lacks it."""
        node: Any = self.tree
        found = None
        for key in location:
            try:
                mark: Any = node.lc
                line, column = mark.key(key) if isinstance(node, dict) else mark.item(key)
                node = node[key]
            except (AttributeError, KeyError, IndexError, TypeError):
                break
            found = f"{self.path}:{line + 1}:{column + 1}"
        return found


def _plain(node: Any) -> Any:
    if isinstance(node, dict):
        return {str(key): _plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_plain(value) for value in node]
    return node


def _config_files(config: Path | None) -> list[Path]:
    usual = [
        Path("/etc/jobsight/jobsight.yaml"),
        Path("~/.config/jobsight/jobsight.yaml").expanduser(),
    ]
    named = config or (
        Path(os.environ["JOBSIGHT_CONFIG"]) if os.environ.get("JOBSIGHT_CONFIG") else None
    )
    return [path for path in usual if path.is_file()] + ([named] if named else [])


def _spelled_out(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of one place; a store given by its address alone keeps its other settings."""
    store = values.get("store")
    return {**values, "store": {"url": store}} if isinstance(store, str) else dict(values)


def _from_environment() -> dict[str, Any]:
    """``JOBSIGHT_HOLD__FRAMES__M=30`` becomes ``{"hold": {"frames": {"m": "30"}}}``.

    An empty variable counts as not set. One without ``__`` that names no setting is left to others.
    """
    tree: dict[str, Any] = {}
    for name, value in os.environ.items():
        if not value:
            continue
        parts = name.lower().removeprefix("jobsight_").split("__")
        if parts == ["store"]:
            parts = ["store", "url"]
        if not name.startswith("JOBSIGHT_"):
            continue
        if len(parts) > 1 and parts[0] not in Settings.model_fields:
            raise SettingsError(f"{name[:80]!a}: there is no section {parts[0][:40]!a}")
        if parts[0] in Settings.model_fields:
            branch = tree
            for part in parts[:-1]:
                branch = branch.setdefault(part, {})
                if not isinstance(branch, dict):
                    raise SettingsError(f"{name}: {part!r} is given a value of its own as well")
            if isinstance(branch.get(parts[-1]), dict):
                raise SettingsError(f"{name}: settings below it are given as well")
            branch[parts[-1]] = _from_text(name, value)
    return tree


def _from_text(name: str, text: str) -> Any:
    """A value of the environment: a list is YAML; all else stays text, which settings convert."""
    if not text.lstrip().startswith("["):
        return text
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return YAML(typ="safe").load(text)
    except (YAMLError, ValueError, RecursionError):
        raise SettingsError(f"{name}: {text[:60]!r} is no list such as [60, 120]") from None


def _merge(into: dict[str, Any], other: Mapping[str, Any]) -> None:
    for key, value in other.items():
        if isinstance(value, Mapping) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        elif value is not None:
            into[key] = dict(value) if isinstance(value, Mapping) else value


def _explain(error: pydantic.ValidationError, places: list[_Place]) -> SettingsError:
    first = error.errors()[0]
    location = first["loc"]
    name = ".".join(str(part) for part in location)
    where = next((found for place in reversed(places) if (found := place.position(location))), None)
    if first["type"] == "extra_forbidden":
        reason = f"there is no setting {name!r}"
    else:
        shown = repr(first.get("input"))
        reason = (
            f"{name}: {first['msg']} (given {shown if len(shown) < 60 else shown[:57] + '...'})"
        )
    return SettingsError(f"{where}: {reason}" if where else reason)
