"""The config of a sweep: one YAML file, checked whole before anything is planned.

Every error names file, line and column, the parameter where there is one, and what to write.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import pydantic
from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from jobsight.errors import SettingsError
from jobsight.learning.asked import QUESTIONS, question_named
from jobsight.learning.sweep.distributions import size_of
from jobsight.learning.sweep.parameters import ConfigProblem, Parameter, parse
from jobsight.learning.sweep.searched import SAID, check_parameters, given, merged, setting_path
from jobsight.learning.sweep.sections import (
    Drop,
    EarlyStopping,
    HereOptions,
    Name,
    OptionMap,
    ProgramSettings,
    ResourceSettings,
    SpanOrWord,
    SweepMetric,
    Text,
    TrackingSettings,
    one_or_more,
    options_of,
)
from jobsight.settings import QuestionSettings
from jobsight.settings.section import Section
from jobsight.settings.yamlfiles import Location, YamlFile, shown
from jobsight.text import closest, counted

if TYPE_CHECKING:
    from jobsight.learning.question import Question

__all__ = ["MOST_RUNS", "RESUMABLE", "SweepConfig", "data_place"]

RESUMABLE = ("lstm",)
"""Models that are trained epoch by epoch, and go on where they stopped."""

MOST_RUNS = 100_000

_HINTS = {
    "early_terminate": "runs stop by themselves by 'early_stopping', and are dropped by 'drop'",
    "run_cap": "the number of runs is 'runs'",
    "name": "a sweep has the name of its file",
    "command": "a run is always `jobsight`; how it starts is said in 'program'",
    "project": "it belongs to 'tracking'",
    "entity": "it belongs to 'tracking'",
    "wandb": "it belongs to 'tracking'",
}
_SECRET = re.compile(r"WANDB_API_KEY|\b[0-9a-f]{40}\b")


def _known_question(name: str) -> str:
    if name not in QUESTIONS:
        raise ValueError(f"there is no such question; known are {', '.join(QUESTIONS)}")
    return name


def _checked_parameters(tree: Any, info: ValidationInfo) -> Any:
    parameters = parse(tree)
    if "question" in info.data:
        check_parameters(question_named(info.data["question"]), parameters)
    return tree


def _checked_settings(tree: Any, info: ValidationInfo) -> Any:
    if "question" in info.data:
        question_named(info.data["question"]).settings.model_validate(tree)
        for path, said in SAID.items():
            if given(tree, path):
                raise ConfigProblem(
                    path, f"{'.'.join(path)} is set by {said} of the config; give it there"
                )
    return tree


def _runs_of_a_grid(data: Mapping[str, Any]) -> int:
    """All points of a grid; for other methods 0, which stands for "not said"."""
    if data["method"] != "grid":
        return 0
    try:
        return min(size_of(parse(data["parameters"])), MOST_RUNS + 1)
    except ConfigProblem:
        return 0


class SweepConfig(Section):
    """What is searched, on what, how, and where it runs."""

    question: Annotated[str, AfterValidator(_known_question)] = Field(
        default_factory=lambda: next(iter(QUESTIONS))
    )
    data: Annotated[tuple[Text, ...], Field(min_length=1), BeforeValidator(one_or_more)]
    """Logs, snapshots or one store, relative to the config file."""
    cluster: Name | None = None
    """Name of the cluster that the model is for, in the registry."""
    where: Literal["here", "dagman", "slurm"] = "here"
    method: Literal["random", "grid", "bayes"] = "random"
    metric: SweepMetric = SweepMetric()
    parameters: Annotated[dict[str, Any], BeforeValidator(_checked_parameters)]
    """What is searched, in the schema of W&B's sweeps (`jobsight.learning.sweep.parameters`)."""
    runs: Annotated[int, Field(ge=0)] = Field(default_factory=_runs_of_a_grid)
    """How many; of a grid all points, where it is not said."""
    epochs: Annotated[int, Field(ge=1, le=100_000)] = 60
    """Most epochs of a run."""
    early_stopping: EarlyStopping = EarlyStopping()
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    """Of the search and of every run, so that runs differ by their points alone."""
    model: str | None = None
    """The model that is trained; None: the last of the question's, its slowest."""
    settings: Annotated[dict[str, Any], BeforeValidator(_checked_settings)] = Field(
        default_factory=dict
    )
    """Settings of the question that all runs share, as in a settings file under its name."""
    round: Annotated[int, Field(ge=1, le=10_000)] = 8
    """Runs planned together by the method bayes, after all results of those before."""
    drop: Drop | None = None
    resources: ResourceSettings = ResourceSettings()
    tracking: TrackingSettings = TrackingSettings()
    shared: bool | Literal["auto"] = "auto"
    """Whether runs see the sweep's folder itself, or get and give back copies of what they need."""
    save_every: SpanOrWord = "auto"
    """Seconds of training after which a run to whom files are sent gives back what it has, and goes
    on; ``auto``: 10 minutes, or ten times what a run takes to begin, if that is longer."""
    program: ProgramSettings = ProgramSettings()
    dagman: Annotated[OptionMap, options_of("true")] = Field(default_factory=dict)
    """Submit commands besides those that are written anyway, such as ``requirements``."""
    slurm: Annotated[OptionMap, options_of("")] = Field(default_factory=dict)
    """Options of ``sbatch``, such as ``partition``; true gives a flag alone, false nothing."""
    here: HereOptions = HereOptions()
    folder: Text | None = None
    """Of the sweep, relative to the config file; None: its name with ``.sweep``, next to it."""

    @classmethod
    def read(cls, path: Path) -> SweepConfig:
        """The config in a YAML file.

        Raises:
            SettingsError: it cannot be read, or something in it is wrong; names file, line and
                column, the parameter where it is one, and what to write.
        """
        file = _file(path)
        if not file.values:
            raise SettingsError(f"{path} is empty; it needs at least data and parameters")
        _refuse_secrets(file, file.values, ())
        try:
            return cls.model_validate(file.values)
        except pydantic.ValidationError as error:
            raise _explained(error, file) from None

    @cached_property
    def space(self) -> tuple[Parameter, ...]:
        """The parameters, sorted by name, group by group."""
        return parse(self.parameters)

    @property
    def asked(self) -> Question[Any]:
        """The question."""
        return question_named(self.question)

    @property
    def trained(self) -> str:
        """Name of the model that is trained."""
        return self.model or [name for name in self.asked.models if name != "mixture"][-1]

    @property
    def fixed_settings(self) -> QuestionSettings:
        """The settings of the question that all runs share.

        Seed, epochs and patience are the config's own, so that runs differ by their points alone.
        Runs that ask for GPUs train on one where PyTorch sees one, unless `settings` say otherwise.
        """
        own: dict[str, Any] = {"seed": self.seed}
        if "lstm" in self.asked.settings.model_fields:
            lstm: dict[str, Any] = {"epochs": self.epochs, "patience": self.early_stopping.patience}
            if self.resources.gpus and not given(self.settings, ("lstm", "device")):
                lstm["device"] = "auto"
            own["lstm"] = lstm
        settings: QuestionSettings = self.asked.settings.model_validate(merged(self.settings, own))
        return settings

    @pydantic.model_validator(mode="after")
    def _whole(self) -> SweepConfig:
        self._check_runs()
        self._check_asked()
        return self

    def _check_runs(self) -> None:
        if self.method == "grid":
            try:
                size = size_of(self.space)
            except ConfigProblem as problem:
                raise ConfigProblem(("parameters", *problem.location), str(problem)) from None
            if self.runs > size:
                raise ConfigProblem(
                    ("runs",), f"the grid has only {counted(size, 'point')}; write runs: {size}"
                )
        if "runs" not in self.model_fields_set and self.method != "grid":
            raise ConfigProblem(("method",), f"{self.method} needs 'runs', the number of runs")
        if not 1 <= self.runs <= MOST_RUNS:
            raise ConfigProblem(
                ("runs",) if "runs" in self.model_fields_set else ("parameters",),
                f"{'more than ' * (self.runs > MOST_RUNS)}{min(self.runs, MOST_RUNS):,} runs "
                "cannot be planned; write runs: 100, or make the grid smaller",
            )
        if self.drop and self.drop.after >= self.epochs:
            raise ConfigProblem(
                ("drop", "after"),
                f"runs are dropped after {self.drop.after} epochs, but have {self.epochs} at most",
            )

    def _check_asked(self) -> None:
        question = self.asked
        if self.trained not in question.models:
            known = ", ".join(question.models)
            raise ConfigProblem(("model",), f"{question.name} has no such model; known are {known}")
        if self.drop and self.trained not in RESUMABLE:
            raise ConfigProblem(
                ("drop",), f"runs of {self.trained} have no epochs to drop them after"
            )
        metrics = next(iter(question.targets.values())).metrics
        if self.metric.name not in metrics:
            raise ConfigProblem(
                ("metric", "name"), f"there is no such metric; known are {', '.join(metrics)}"
            )
        for one in self.space:
            path = setting_path(question, one.name)
            if given(self.settings, path):
                raise ConfigProblem(
                    ("settings", *path), f"{'.'.join(path)} is searched as well; remove one of them"
                )


def data_place(path: Path, number: int) -> str:
    """``file:line:column`` of an input in a config, by its number in `data` from 0 on.

    Raises:
        SettingsError: the file can no longer be read.
    """
    return _file(path).position(("data", number), value=True) or str(path)


def _file(path: Path) -> YamlFile:
    return YamlFile.read(path, "keys of a sweep", "sweep config")


def _refuse_secrets(file: YamlFile, tree: Any, location: Location) -> None:
    """A key of W&B's has no place anywhere in a config, which is copied to wherever runs run."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            _refuse_secrets(file, key, (*location, key))
            _refuse_secrets(file, value, (*location, key))
    elif isinstance(tree, list):
        for at, value in enumerate(tree):
            _refuse_secrets(file, value, (*location, at))
    elif isinstance(tree, str) and _SECRET.search(tree):
        raise SettingsError(
            f"{file.position(location) or file.path}: this looks like a key of Weights & Biases, "
            "which has no place in a config; set WANDB_API_KEY in the environment, or use `wandb "
            "login`"
        )


def _explained(error: pydantic.ValidationError, file: YamlFile) -> SettingsError:
    errors = error.errors()
    # A key that is missing may be there, misspelled.
    unknown = (one for one in errors if one["type"] == "extra_forbidden")
    first = next(unknown, errors[0]) if errors[0]["type"] == "missing" else errors[0]
    problem = first.get("ctx", {}).get("error")
    inner = problem.location if isinstance(problem, ConfigProblem) else ()
    location, found = _within(file.values, (*first["loc"], *inner), first["type"])
    scalar = first["type"] != "extra_forbidden" and not isinstance(found, Mapping)
    where = file.position(location, value=scalar) or file.path
    name = ".".join(str(part) for part in location)
    if isinstance(problem, ConfigProblem):
        about = str(problem).startswith(("parameter", "group ")) or not name
        reason = str(problem) if about else f"{name}: {problem}"
    elif first["type"] == "extra_forbidden" and location[0] == "settings":
        reason = f"there is no setting {'.'.join(map(str, location[1:]))!r}"
    elif first["type"] == "extra_forbidden":
        reason = _unknown(location)
    elif first["type"] == "missing":
        reason = f"{name!r} is missing"
    elif first["type"] == "model_type":
        reason = f"{name} is a mapping of names to values (given {shown(first.get('input'))})"
    else:
        message = first["msg"].removeprefix("Value error, ")
        reason = f"{name}: {message} (given {shown(first.get('input'))})"
    return SettingsError(f"{where}: {reason}")


def _within(values: Any, location: Location, kind: str) -> tuple[Location, Any]:
    """The part of pydantic's location that is in the file, and what stands there.

    What is missing counts as part of it.
    """
    found: list[int | str] = []
    for part in location:
        try:
            values = values[part]
        except (LookupError, TypeError):
            return ((*found, part) if kind == "missing" else tuple(found)), values
        found.append(part)
    return tuple(found), values


def _unknown(location: Location) -> str:
    *sections, name = map(str, location)
    if not sections and name in _HINTS:
        return f"there is no {name!r}: {_HINTS[name]}"
    fields = SweepConfig.model_fields
    if sections:
        section: Any = fields[sections[0]].annotation
        fields = next(iter(get_args(section)), section).model_fields
    near = closest(name, fields)
    said = "" if near is None else f"; did you mean {near!r}?"
    return f"there is no {'.'.join([*sections, name])!r} in a sweep's config{said}"
