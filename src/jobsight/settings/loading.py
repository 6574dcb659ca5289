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
from jobsight.modes import GroupAccess
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
from jobsight.settings.yamlfiles import YamlFile, explain

__all__ = ["Settings"]


def _usual_registry() -> Path:
    """Where the XDG Base Directory Specification puts a user's data; a relative one is no place."""
    told = Path(os.environ.get("XDG_DATA_HOME", ""))
    home = told if told.is_absolute() else Path("~/.local/share").expanduser()
    return home / "jobsight" / "models"


class Settings(Section):
    """Everything that can be set."""

    timezone: str | None = None
    """Zone of log times without one; None: the machine's."""
    access_point: str | None = None
    """Name of the access point the logs come from; None: as the log tells."""
    group_access: GroupAccess = "none"
    """What the group of a file may do with all that holds data of jobs: stores, archives, models,
    exports, reports. The group is that of the folder, where that has the set-group-ID bit (``chmod
    g+s``), else of the process."""
    hold: HoldSettings = HoldSettings()
    condor: CondorSettings = CondorSettings()
    eventlog: EventLogSettings = EventLogSettings()
    slurm: SlurmSettings = SlurmSettings()
    kafka: KafkaSettings = KafkaSettings()
    collect: CollectSettings = CollectSettings()
    store: StoreSettings = Field(default_factory=StoreSettings)
    registry: Path = Field(default_factory=_usual_registry)
    """Folder of the trained models that may answer."""

    @pydantic.field_validator("store", mode="before")
    @classmethod
    def _store_by_address(cls, value: Any) -> Any:
        return {"url": value} if isinstance(value, str) else value

    @pydantic.field_validator("registry", mode="after")
    @classmethod
    def _at_home(cls, value: Path) -> Path:
        return value.expanduser()

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
        files: list[YamlFile] = []
        for path in _config_files(config):
            file = YamlFile.read(path)
            files.append(file)
            _merge(merged, _spelled_out(file.values))
        _merge(merged, _from_environment())
        _merge(merged, _spelled_out(overrides or {}))
        try:
            return cls.model_validate(merged)
        except pydantic.ValidationError as error:
            raise explain(error, files) from None


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
