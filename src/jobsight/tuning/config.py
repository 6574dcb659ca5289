"""The config of a sweep: one YAML file, checked whole before anything is planned.

Its keys are those of Weights & Biases' sweeps where these have one (`method`, `metric`,
`parameters`, `early_terminate`, `run_cap`), and our own. Every error names file, line and column.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import pydantic
from pydantic import AfterValidator, BeforeValidator, Field, PositiveInt

from jobsight.errors import SettingsError
from jobsight.learning.asked import QUESTIONS, question_named
from jobsight.learning.targets import MORE_IS_BETTER
from jobsight.settings import QuestionSettings
from jobsight.settings.section import Section
from jobsight.settings.yamlfiles import YamlFile, shown
from jobsight.text import closest
from jobsight.tuning.space import (
    ELSEWHERE,
    ConfigProblem,
    Parameter,
    check_parameters,
    grid_of,
    has_value,
    merged,
    parse,
)

if TYPE_CHECKING:
    from jobsight.learning.question import Question

__all__ = [
    "HAVE_EPOCHS",
    "LEARNING",
    "EarlyStopping",
    "EarlyTerminate",
    "ProgramSettings",
    "Resources",
    "SweepConfig",
    "SweepMetric",
    "TrackingSettings",
    "looks_secret",
    "megabytes",
    "seconds",
]

HAVE_EPOCHS = ("lstm",)
"""Models that are trained epoch by epoch, and resume from the last one."""
LEARNING = ("bayes", "gp")
"""Methods that choose points by the results so far."""
MOST_RUNS = 10_000

_HINTS = {
    "drop": "hopeless runs are stopped by 'early_terminate'",
    "round": "the number of runs at the same time is 'at_once'",
    "here": "the number of runs at the same time is 'at_once'",
    "command": "a run is always `jobsight`; how it starts is set in 'program'",
    "project": "it belongs to 'tracking'",
    "entity": "it belongs to 'tracking'",
    "wandb": "it belongs to 'tracking'",
}
_SECRET = re.compile(r"WANDB_API_KEY|\b[0-9a-f]{40}\b")
_SECRET_NAME = re.compile(r"key|token|secret|passw|credential|auth|cookie", re.IGNORECASE)


def looks_secret(name: str) -> bool:
    """Whether an environment variable of that name may hold a secret."""
    return _SECRET_NAME.search(name) is not None


_SIZES = {"k": 1 / 1024, "m": 1, "g": 1 << 10, "t": 1 << 20}
_SPANS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,6})?) ?([kmgt])(?:i?b)?", re.ASCII | re.IGNORECASE)
_SPAN = re.compile(
    r"(\d{1,9}(?:\.\d{1,6})?) ?([smhdw])(?:ec|econds?|in|inutes?|ours?|ays?|eeks?)?",
    re.ASCII | re.IGNORECASE,
)
_CLOCK = re.compile(r"(?:(\d{1,4})-)?(\d{1,4}):([0-5]\d):([0-5]\d)", re.ASCII)


def megabytes(value: Any) -> Any:
    """MiB of ``4 GB``, ``512M`` (binary, as HTCondor and Slurm count) or of a number of MiB.

    Raises:
        ValueError: a text is not a size.
    """
    if not isinstance(value, str):
        return value
    if not (match := _SIZE.fullmatch(value.strip())):
        raise ValueError("write a size such as 4 GB or 512 MB, or a number of MB")
    return max(1, round(float(match[1]) * _SIZES[match[2].lower()]))


def seconds(value: Any) -> Any:
    """Seconds of ``2 h``, ``90 min``, ``1-12:00:00`` or of a number of seconds; ``off`` is 0.

    Raises:
        ValueError: a text is not a span.
    """
    if value is False or value == "off":
        return 0
    if not isinstance(value, str):
        return value
    if clock := _CLOCK.fullmatch(value.strip()):
        days, hours, minutes, rest = (int(part or 0) for part in clock.groups())
        return days * 86400 + hours * 3600 + minutes * 60 + rest
    if not (match := _SPAN.fullmatch(value.strip())):
        raise ValueError("write a span such as 2 h, 90 min or 1-12:00:00, or a number of seconds")
    return max(1, round(float(match[1]) * _SPANS[match[2].lower()]))


Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$")]
Text = Annotated[str, Field(min_length=1, max_length=4096, pattern=r"^[^\x00-\x1f\x7f]*$")]
Megabytes = Annotated[int, Field(ge=1, le=1 << 30), BeforeValidator(megabytes)]
Seconds = Annotated[int, Field(ge=0, le=366 * 86400), BeforeValidator(seconds)]


def _option_text(value: Any) -> Any:
    """Options of a scheduler as texts or lists of texts."""
    if isinstance(value, list):
        return [_option_text(item) for item in value]
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


OptionName = Annotated[str, Field(pattern=r"^[+A-Za-z][A-Za-z0-9_.+-]{0,99}$")]
Options = dict[OptionName, Annotated[Text | list[Text], BeforeValidator(_option_text)]]


class SweepMetric(Section):
    """What the best run is best at, on the validation block."""

    name: str = "f1"
    """One of the metrics of the question's first target."""
    goal: Literal["maximize", "minimize"] = Field(
        default_factory=lambda data: (
            "maximize" if data.get("name", "f1") in MORE_IS_BETTER else "minimize"
        )
    )

    @pydantic.model_validator(mode="after")
    def _consistent(self) -> SweepMetric:
        more = self.name in MORE_IS_BETTER
        goal = "maximize" if more else "minimize"
        if self.goal != goal:
            better = "more" if more else "less"
            raise ConfigProblem(("goal",), f"{better} of {self.name} is better; write goal: {goal}")
        return self


class EarlyStopping(Section):
    """When a run stops by itself."""

    patience: Annotated[int, Field(ge=1, le=100_000)] = 8
    """Epochs without a better loss on the validation block."""


class EarlyTerminate(Section):
    """Runs that are worse than others after as many epochs are stopped, as in W&B's schema.

    The brackets are `min_iter`, `min_iter` · eta, `min_iter` · eta² … epochs; with `max_iter` and
    `s` the first one is `max_iter` / eta^s. In each, the best 1 / eta of the runs continue
    (asynchronous successive halving).
    """

    type: Literal["hyperband"] = "hyperband"
    min_iter: PositiveInt | None = None
    max_iter: PositiveInt | None = None
    s: PositiveInt | None = None
    eta: Annotated[int, Field(ge=2, le=100)] = 3
    strict: bool = False
    """Of W&B's schema; without effect."""

    @property
    def first(self) -> int:
        """Epochs after which a run is first compared."""
        if self.min_iter is not None:
            return self.min_iter
        return max(1, math.floor((self.max_iter or 1) / float(self.eta) ** (self.s or 0)))

    @pydantic.model_validator(mode="after")
    def _whole(self) -> EarlyTerminate:
        if (self.min_iter is None) == (self.max_iter is None or self.s is None):
            raise ConfigProblem((), "give min_iter, or max_iter and s")
        return self


class Resources(Section):
    """What one run asks for."""

    cpus: Annotated[int, Field(ge=1, le=4096)] = 1
    memory: Megabytes = 2048
    """MiB; ``4 GB`` may be written."""
    disk: Megabytes = 4096
    gpus: Annotated[int, Field(ge=0, le=64)] = 0
    time: Seconds | None = None
    """Longest wall time of one attempt, in seconds; ``2 h`` may be written. None: the scheduler's
    own limit. A run that reaches it resumes from its last epoch."""


class TrackingSettings(Section):
    """Weights & Biases; its key is in the environment or in ``~/.netrc``, never here."""

    wandb: Literal["online", "offline", "off"] = "off"
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
    environment: dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")], Text] = (
        Field(default_factory=dict)
    )
    """Variables of the runs; no keys or passwords."""

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
        return {name: _option_text(text) for name, text in value.items()}


def _known_question(name: str) -> str:
    if name not in QUESTIONS:
        raise ValueError(f"there is no such question; known are {', '.join(QUESTIONS)}")
    return name


class SweepConfig(Section):
    """What is searched, on what, how, and where it runs."""

    name: str | None = None
    description: str | None = None
    question: Annotated[str, AfterValidator(_known_question)] = Field(
        default_factory=lambda: next(iter(QUESTIONS))
    )
    data: Annotated[
        tuple[Text, ...],
        Field(min_length=1),
        BeforeValidator(lambda value: (value,) if isinstance(value, str) else value),
    ]
    """What the question is asked of, relative to the config file."""
    cluster: Name | None = None
    """Name of the cluster that the model is for, in the registry."""
    where: Literal["here", "dagman", "slurm"] = "here"
    method: Literal["random", "grid", "bayes", "gp"] = "random"
    metric: SweepMetric = SweepMetric()
    parameters: dict[str, Any]
    """What is searched, in the schema of W&B's sweeps (`jobsight.tuning.space`)."""
    runs: Annotated[int, Field(ge=0, le=MOST_RUNS)] = 0
    """How many; of a grid all points, where it is not given."""
    epochs: Annotated[int, Field(ge=1, le=100_000)] = 60
    """Most epochs of a run."""
    early_stopping: EarlyStopping = EarlyStopping()
    early_terminate: EarlyTerminate | None = None
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    """Of the search and of every run, so that runs differ by their points alone."""
    model: str | None = None
    """The model that is trained; None: the last of the question's, its slowest."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Settings of the question that all runs share, as in a settings file under its name."""
    at_once: Annotated[int, Field(ge=1, le=MOST_RUNS)] | None = None
    """Runs at the same time. None: on this machine as many as cores and memory allow; on a cluster
    8 where the method learns, else all."""
    resources: Resources = Resources()
    tracking: TrackingSettings = TrackingSettings()
    shared: bool | Literal["auto"] = "auto"
    """Whether runs use the sweep's folder itself; if not, HTCondor transfers what they need."""
    save_every: Seconds = 600
    """Seconds of training after which a run with file transfer has its checkpoint fetched."""
    program: ProgramSettings = ProgramSettings()
    dagman: Options = Field(default_factory=dict)
    """Further submit commands, such as ``requirements``."""
    slurm: Options = Field(default_factory=dict)
    """Options of ``sbatch``, such as ``partition``; true gives a flag alone."""
    folder: Text | None = None
    """Of the sweep, relative to the config file; None: its name with ``.sweep``, next to it."""

    @classmethod
    def read(cls, path: Path) -> SweepConfig:
        """The config in a YAML file.

        Raises:
            SettingsError: it cannot be read, or something in it is wrong; names file, line and
                column, and what to write.
        """
        file = YamlFile.read(path, "keys of a sweep", "sweep config")
        if not file.values:
            raise SettingsError(f"{path} is empty; it needs at least data and parameters")
        for number, line in enumerate(path.read_text("utf-8-sig").splitlines(), start=1):
            if _SECRET.search(line):
                raise SettingsError(
                    f"{path}:{number}: this looks like a key of Weights & Biases, which has no "
                    "place in a config; set WANDB_API_KEY in the environment, or use `wandb login`"
                )
        try:
            return cls.model_validate(file.values)
        except pydantic.ValidationError as error:
            raise _explained(error, file) from None

    @property
    def asked(self) -> Question[Any]:
        """The question."""
        return question_named(self.question)

    @cached_property
    def space(self) -> tuple[Parameter, ...]:
        """The parameters, sorted by name, group by group."""
        return parse(self.parameters)

    @property
    def trained(self) -> str:
        """Name of the model that is trained."""
        return self.model or [name for name in self.asked.models if name != "mixture"][-1]

    @property
    def sees_folder(self) -> bool:
        """Whether runs use the sweep's folder itself."""
        return self.where != "dagman" if self.shared == "auto" else self.shared

    @property
    def fixed_settings(self) -> QuestionSettings:
        """The settings of the question that all runs share.

        Runs that ask for GPUs train on one where PyTorch sees one, unless `settings` say otherwise.
        """
        own: dict[str, Any] = {"seed": self.seed}
        if "lstm" in self.asked.settings.model_fields:
            lstm: dict[str, Any] = {"epochs": self.epochs, "patience": self.early_stopping.patience}
            if self.resources.gpus and not has_value(self.settings, ("lstm", "device")):
                lstm["device"] = "auto"
            own["lstm"] = lstm
        settings: QuestionSettings = self.asked.settings.model_validate(merged(self.settings, own))
        return settings

    @property
    def searched(self) -> dict[str, Any]:
        """What must not change while results are kept: all but how, where and how many."""
        how = {
            *("name", "description", "cluster", "where", "runs", "at_once", "resources", "data"),
            *("tracking", "shared", "save_every", "program", "dagman", "slurm", "folder"),
        }
        return {**self.model_dump(mode="json", exclude=how), "model": self.trained}

    @pydantic.model_validator(mode="before")
    @classmethod
    def _as_wandb_spells(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and "run_cap" in data and "runs" not in data:
            return {**{key: data[key] for key in data if key != "run_cap"}, "runs": data["run_cap"]}
        return data

    @pydantic.model_validator(mode="after")
    def _whole(self) -> SweepConfig:
        question = self.asked
        try:
            question.settings.model_validate(self.settings)
        except pydantic.ValidationError as error:
            first = error.errors()[0]
            place = ("settings", *first["loc"])
            raise ConfigProblem(
                place,
                f"{'.'.join(map(str, place))}: {first['msg']} (given {shown(first['input'])})",
            ) from None
        for path, own in ELSEWHERE.items():
            if has_value(self.settings, path):
                raise ConfigProblem(
                    ("settings", *path), f"{'.'.join(path)} is set by {own} of the config"
                )
        try:
            check_parameters(question, self.space, self.settings)
            size = math.prod(map(len, map(grid_of, self.space))) if self.method == "grid" else 0
        except ConfigProblem as problem:
            raise ConfigProblem(("parameters", *problem.location), str(problem)) from None
        if self.method == "grid" and self.runs > size:
            raise ConfigProblem(("runs",), f"the grid has only {size} points; write runs: {size}")
        if not self.runs:
            if self.method != "grid":
                raise ConfigProblem(("method",), f"{self.method} needs 'runs', the number of runs")
            if size > MOST_RUNS:
                raise ConfigProblem(
                    ("parameters",), f"the grid has {size} points; make it smaller, or give 'runs'"
                )
            object.__setattr__(self, "runs", size)
        if self.trained not in question.models:
            known = ", ".join(question.models)
            raise ConfigProblem(("model",), f"{question.name} has no such model; known are {known}")
        metrics = next(iter(question.targets.values())).metrics
        if self.metric.name not in metrics:
            raise ConfigProblem(
                ("metric", "name"), f"there is no such metric; known are {', '.join(metrics)}"
            )
        if self.early_terminate and self.trained not in HAVE_EPOCHS:
            raise ConfigProblem(("early_terminate",), f"runs of {self.trained} have no epochs")
        if self.early_terminate and not self.sees_folder:
            raise ConfigProblem(
                ("early_terminate",),
                "runs are compared by the study in the sweep's folder, which runs with file "
                "transfer do not see; write shared: true, or leave it out",
            )
        if self.where == "slurm" and not self.sees_folder:
            raise ConfigProblem(("shared",), "Slurm transfers no files; its runs need the folder")
        return self


def _explained(error: pydantic.ValidationError, file: YamlFile) -> SettingsError:
    """The first error that pydantic found, with its place in the file."""
    errors = error.errors()
    # A key that is missing may be there, misspelled.
    unknown = (item for item in errors if item["type"] == "extra_forbidden")
    first = next(unknown, errors[0]) if errors[0]["type"] == "missing" else errors[0]
    problem = first.get("ctx", {}).get("error")
    inner = problem.location if isinstance(problem, ConfigProblem) else ()
    location = (*first["loc"], *inner)
    is_key = first["type"] in ("extra_forbidden", "missing")
    where = file.position(location, value=not is_key) or file.path
    name = ".".join(str(part) for part in location)
    if isinstance(problem, ConfigProblem):
        begins = str(problem).startswith(("parameter", "group ", "settings", name)) or not name
        reason = str(problem) if begins else f"{name}: {problem}"
    elif first["type"] == "extra_forbidden":
        *sections, last = map(str, location)
        fields: Any = SweepConfig.model_fields
        for section in sections:
            kinds = get_args(fields[section].annotation) or (fields[section].annotation,)
            fields = getattr(kinds[0], "model_fields", {})
        near = closest(last, fields)
        reason = f"there is no {name!r}"
        if not sections and last in _HINTS:
            reason += f": {_HINTS[last]}"
        else:
            reason += " in a sweep's config" + (f"; did you mean {near!r}?" if near else "")
    elif first["type"] == "missing":
        reason = f"{name!r} is missing"
    else:
        message = first["msg"].removeprefix("Value error, ")
        reason = f"{name}: {message} (given {shown(first.get('input'))})"
    return SettingsError(f"{where}: {reason}")
