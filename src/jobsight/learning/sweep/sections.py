"""The sections of a sweep's config but for what is searched."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pydantic
from pydantic import BeforeValidator, Field, PositiveInt

from jobsight.cluster.local import MOST_PROCESSES
from jobsight.cluster.plan import looks_secret
from jobsight.learning.sweep.parameters import ConfigProblem
from jobsight.learning.sweep.runrecord import Goal
from jobsight.learning.targets import MORE_IS_BETTER
from jobsight.settings.section import Section
from jobsight.settings.yamlfiles import shown

__all__ = [
    "Drop",
    "EarlyStopping",
    "HereOptions",
    "Name",
    "OptionMap",
    "ProgramSettings",
    "ResourceSettings",
    "SpanOrWord",
    "SweepMetric",
    "Text",
    "TrackingSettings",
    "megabytes",
    "one_or_more",
    "options_of",
    "seconds",
]

_SIZES = {"k": 1 / 1024, "m": 1, "g": 1 << 10, "t": 1 << 20}
_SPANS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,6})?) ?([kmgt])(?:i?b)?", re.ASCII | re.IGNORECASE)
_SPAN = re.compile(
    r"(\d{1,9}(?:\.\d{1,6})?) ?"
    r"(?:(s)(?:ec|econds?)?|(m)(?:in(?:utes?)?)?|(h)(?:ours?)?|(d)(?:ays?)?|(w)(?:eeks?)?)",
    re.ASCII | re.IGNORECASE,
)
_CLOCK = re.compile(r"(?:(\d{1,4})-)?(\d{1,4}):([0-5]\d):([0-5]\d)", re.ASCII)


def megabytes(value: Any) -> Any:
    """MiB meant by ``4 GB``, ``512M`` (binary, as HTCondor and Slurm count) or a number of MiB.

    Raises:
        ValueError: a text is no size.
    """
    if not isinstance(value, str):
        return value
    if not (found := _SIZE.fullmatch(value.strip())):
        raise ValueError("write a size such as 4 GB or 512 MB, or a number of MB")
    return max(1, round(float(found[1]) * _SIZES[found[2].lower()]))


def seconds(value: Any) -> Any:
    """Seconds meant by ``2 h``, ``90 min``, ``12:00:00``, ``1-12:00:00`` or a number of seconds.

    Raises:
        ValueError: a text is no span.
    """
    if not isinstance(value, str):
        return value
    text = value.strip()
    if clock := _CLOCK.fullmatch(text):
        days, *rest = (int(part or 0) for part in clock.groups())
        return days * 86400 + rest[0] * 3600 + rest[1] * 60 + rest[2]
    if not (found := _SPAN.fullmatch(text)):
        raise ValueError("write a span such as 2 h, 90 min or 1-12:00:00, or a number of seconds")
    unit = next(letter for letter in found.groups()[1:] if letter)
    return max(1, round(float(found[1]) * _SPANS[unit.lower()]))


Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$")]
Text = Annotated[str, Field(min_length=1, max_length=4096, pattern=r"^[^\x00-\x1f\x7f]*$")]
Megabytes = Annotated[int, Field(ge=1, le=1 << 30), BeforeValidator(megabytes)]
MOST_SECONDS = 366 * 86400
Seconds = Annotated[int, Field(ge=1, le=MOST_SECONDS), BeforeValidator(seconds)]


def _span_or_word(value: Any) -> Any:
    if value is False or value in ("auto", "off"):
        return value or "off"
    with contextlib.suppress(ValueError):
        found = seconds(value)
        if type(found) is int and 1 <= found <= MOST_SECONDS:
            return found
    raise ValueError("write auto or off, or a span such as 10 min, from 1 s to 366 days")


SpanOrWord = Annotated[int | Literal["auto", "off"], BeforeValidator(_span_or_word)]
"""A span of at least a second, in seconds, or a word."""


def one_or_more(value: Any) -> Any:
    """A text alone is a list of one."""
    return (value,) if isinstance(value, str) else value


def options_of(flag: str) -> BeforeValidator:
    """Options of a scheduler as texts or lists of texts; a true one becomes `flag`."""

    def text(value: Any) -> str:
        if isinstance(value, bool):
            return flag if value else "false"
        if isinstance(value, str | int | float):
            return str(value)
        raise ValueError(f"an option is a text, a number, or a list of such, not {shown(value)}")

    def spelled(tree: Any) -> Any:
        if not isinstance(tree, Mapping):
            return tree
        return {
            name: [text(item) for item in value] if isinstance(value, list) else text(value)
            for name, value in tree.items()
            if flag or value is not False
        }

    return BeforeValidator(spelled)


OptionName = Annotated[str, Field(pattern=r"^[+A-Za-z][A-Za-z0-9_.+-]{0,99}$")]
OptionMap = dict[OptionName, Text | Literal[""] | list[Text]]


class SweepMetric(Section):
    """What the best run is best at, on the part that models are selected on."""

    name: str = "f1"
    """One of the metrics of the question's first target."""
    goal: Goal = Field(default_factory=lambda data: _goal(data.get("name", "f1")))

    @pydantic.model_validator(mode="after")
    def _consistent(self) -> SweepMetric:
        if self.goal != _goal(self.name):
            better = "more" if self.name in MORE_IS_BETTER else "less"
            message = f"{better} of {self.name} is better; write goal: {_goal(self.name)}"
            raise ConfigProblem(("goal",), message)
        return self


def _goal(name: str) -> Goal:
    return "maximize" if name in MORE_IS_BETTER else "minimize"


class EarlyStopping(Section):
    """When a run stops by itself."""

    patience: Annotated[int, Field(ge=1, le=100_000)] = 8
    """Epochs without a better select loss."""


class Drop(Section):
    """Runs that look hopeless after some epochs are not trained to their end."""

    after: PositiveInt
    """Epochs that every run is trained for before some are dropped."""
    keep: Annotated[float, Field(gt=0, lt=1)]
    """Share of the runs that goes on; at least one does."""


class ResourceSettings(Section):
    """What one run asks for."""

    cpus: Annotated[int, Field(ge=1, le=4096)] = 1
    memory: Megabytes = 2048
    """MiB; ``4 GB`` may be written."""
    disk: Megabytes = 4096
    """MiB; ``10 GB`` may be written."""
    gpus: Annotated[int, Field(ge=0, le=64)] = 0
    time: Seconds | None = None
    """Longest wall time of one attempt, in seconds; ``2 h`` may be written. None: the scheduler's
    own limit. A run that reaches it goes on from its last epoch in a new attempt."""


class TrackingSettings(Section):
    """Weights & Biases; its key stands in the environment or in ``~/.netrc``, never here."""

    wandb: Literal["online", "offline", "off"] = "off"
    """Online: its server decides the points. Offline: runs can be synced later."""
    project: Name = "jobsight"
    entity: Name | None = None
    tags: tuple[Text, ...] = ()

    @pydantic.field_validator("wandb", mode="before")
    @classmethod
    def _not_a_truth_value(cls, value: Any) -> Any:
        return "off" if value is False else value  # YAML 1.1 takes a bare off for false


class ProgramSettings(Section):
    """How `jobsight` starts where a run runs, if not from where it is installed here."""

    image: Text | None = None
    """A container image: a file or folder, or an address such as ``docker://…``."""
    pack: Text | None = None
    """What ``jobsight sweep pack`` wrote, relative to the config file."""
    environment: dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")], str] = Field(
        default_factory=dict
    )
    """Variables of the runs; no keys or passwords."""

    @pydantic.model_validator(mode="after")
    def _one_of_them(self) -> ProgramSettings:
        if self.image is not None and self.pack is not None:
            raise ConfigProblem(("pack",), "runs start from an image or from a pack; keep one")
        return self

    @pydantic.field_validator("environment", mode="before")
    @classmethod
    def _no_secrets(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        for name in value:
            if looks_secret(str(name)):
                raise ConfigProblem(
                    (str(name),),
                    "this looks like a secret, which has no place in a config; set it in the "
                    "environment or in ~/.netrc where runs run",
                )
        return {name: str(one) if type(one) in (int, float) else one for name, one in value.items()}


class HereOptions(Section):
    """Running on this machine."""

    processes: Annotated[int, Field(ge=1, le=MOST_PROCESSES)] | None = None
    """Runs at the same time; None: as many as cores and memory allow, and one where they ask for
    GPUs."""
