"""All sections together, and where settings come from.

Later wins: ``/etc/jobsight/jobsight.yaml``, ``~/.config/jobsight/jobsight.yaml``, the file named by
``JOBSIGHT_CONFIG``, environment variables (``JOBSIGHT_HOLD__SEED=7``,
``JOBSIGHT_HOLD__WINDOWS='[60, 240]'``), flags.
"""

from __future__ import annotations

import os
from collections.abc import Container, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import pydantic
from pydantic import Field

from jobsight.configfiles import SITE_FILE, config_files
from jobsight.errors import SettingsError
from jobsight.modes import GroupAccess
from jobsight.settings.acting import ActingSettings
from jobsight.settings.gathering import (
    CollectSettings,
    CondorSettings,
    EventLogSettings,
    KafkaSettings,
    MachineSettings,
    SlurmSettings,
    StoreSettings,
    data_folder,
)
from jobsight.settings.section import Section
from jobsight.settings.shared import CheckSettings, ProgramSettings, ServeSettings
from jobsight.settings.yamlfiles import YamlFile, explain

__all__ = ["Settings"]

_S = TypeVar("_S", bound=Section)


class Settings(Section):
    """Everything that can be set."""

    timezone: str | None = None
    """Zone in which times are shown, and of log times without one; None: the machine's."""
    access_point: str | None = None
    """Name of the access point the logs come from; None: as in the log."""
    group_access: GroupAccess = "none"
    """What the group of a file may do with all that holds data of jobs: stores, archives, models,
    exports, reports. The group is that of the folder, where that has the set-group-ID bit (``chmod
    g+s``), else of the process."""
    condor: CondorSettings = CondorSettings()
    eventlog: EventLogSettings = EventLogSettings()
    slurm: SlurmSettings = SlurmSettings()
    kafka: KafkaSettings = KafkaSettings()
    machine: MachineSettings = MachineSettings()
    collect: CollectSettings = CollectSettings()
    check: CheckSettings = CheckSettings()
    program: ProgramSettings = ProgramSettings()
    store: StoreSettings = Field(default_factory=StoreSettings)
    serve: ServeSettings = ServeSettings()
    acting: ActingSettings = Field(default_factory=ActingSettings)
    registry: Path = Field(default_factory=lambda: data_folder() / "models", validate_default=True)
    """Folder of the trained models that may answer."""

    @pydantic.field_validator("registry", mode="after")
    @classmethod
    def _at_home(cls, value: Path) -> Path:
        return value.expanduser()

    def of(self, name: str, kind: type[_S]) -> _S:
        """The settings of a question: those read, or its defaults where `load` was not given it."""
        found = getattr(self, name, None)
        return found if isinstance(found, kind) else kind()

    @classmethod
    def load(
        cls,
        overrides: Mapping[str, Any] | None = None,
        *,
        config: Path | None = None,
        questions: Mapping[str, type[Section] | None] = MappingProxyType({}),
    ) -> Settings:
        """Merge all places settings come from; `overrides` (nested, from flags) wins.

        Args:
            overrides: nested.
            config: a file to read after the usual ones.
            questions: names of the sections of questions, with the class of those that matter now;
                what others hold is not looked at.

        Raises:
            SettingsError: a file cannot be read, or a setting is unknown or bad; names the file,
                line and column where there is one.
        """
        whole = _with_sections(cls, tuple(questions.items()))
        merged: dict[str, Any] = {}
        files = [YamlFile.read(path) for path in config_files(config)]
        places = (*(file.values for file in files), _from_environment(whole.model_fields))
        for values in (*places, overrides or {}):
            store = values.get("store")
            _merge(
                merged, {**values, "store": {"url": store}} if isinstance(store, str) else values
            )
        try:
            settings = whole.model_validate(merged)
            site = next((file.values for file in files if file.path == SITE_FILE), {})
            if "machine" not in site:
                return settings
            most = MachineSettings.model_validate(site["machine"])
        except pydantic.ValidationError as error:
            raise explain(error, files) from None
        return settings.model_copy(update={"machine": settings.machine.within(most)})


@cache
def _with_sections(
    base: type[Settings], questions: tuple[tuple[str, type[Section] | None], ...]
) -> type[Settings]:
    """The settings with the sections of questions."""
    sections: dict[str, Any] = {
        name: (kind, kind()) if kind else (Any, None) for name, kind in questions
    }
    return pydantic.create_model(base.__name__, __base__=base, **sections)


def _from_environment(known: Container[str]) -> dict[str, Any]:
    """``JOBSIGHT_HOLD__FRAMES__M=30`` becomes ``{"hold": {"frames": {"m": "30"}}}``.

    An empty variable counts as not set. One without ``__`` that names no setting is left to others.
    """
    tree: dict[str, Any] = {}
    for name, value in os.environ.items():
        *sections, last = name.lower().removeprefix("jobsight_").split("__")
        if not value or not name.startswith("JOBSIGHT_"):
            continue
        if [*sections, last][0] not in known:
            if sections:
                raise SettingsError(f"{name[:80]!a}: there is no section {sections[0][:40]!a}")
            continue
        if not sections and last == "store":
            sections, last = ["store"], "url"
        branch = tree
        for part in sections:
            branch = branch.setdefault(part, {})
            if not isinstance(branch, dict):
                raise SettingsError(f"{name}: {part!r} is given a value of its own as well")
        if isinstance(branch.get(last), dict):
            raise SettingsError(f"{name}: settings below it are given as well")
        branch[last] = _from_text(name, value)
    return tree


def _from_text(name: str, text: str) -> Any:
    """A value of the environment: a list is YAML; other texts are converted by the settings."""
    if not text.lstrip().startswith("["):
        return text
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return YAML(typ="safe").load(text)
    except (YAMLError, ValueError, RecursionError):
        raise SettingsError(f"{name}: {text[:60]!r} is not a list such as [60, 120]") from None


def _merge(into: dict[str, Any], other: Mapping[str, Any]) -> None:
    for key, value in other.items():
        if isinstance(value, Mapping) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        elif value is not None:
            into[key] = dict(value) if isinstance(value, Mapping) else value
