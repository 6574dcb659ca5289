"""The folder of a sweep: its files, and the frozen config that all its nodes read.

``FILE.yaml`` has the folder ``FILE.sweep`` next to it, unless the setting `folder` names another;
docs/sweeps.md lists what is in it. Nodes are started with the folder, or a copy of the part of it
that they need, as their current folder, so everything is found from ``.`` alike.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from jobsight.errors import SweepError
from jobsight.files import read_json
from jobsight.learning.sweep.runrecord import Goal
from jobsight.text import printable

__all__ = [
    "SCHEMA",
    "Frozen",
    "Layout",
    "Shard",
    "damaged",
    "named_by",
    "point_of",
    "read_frozen",
    "read_point",
    "read_saved",
]

SCHEMA = "jobsight.sweep/1"
SUFFIX = ".sweep"

_HOW = frozenset(
    {"cluster", "where", "resources", "tracking", "program", "folder", "shared", "save_every"}
    | {"dagman", "slurm", "here", "runs", "data"}
)
"""What may differ between two plans of one sweep: how and where it runs, how many runs; `data` are
compared as the shards have them."""


_AGAIN = "plan the sweep again"
_ANEW = "put it back from a copy, or remove the folder and plan the sweep anew"
"""What results were made for is written nowhere else."""


class Layout:
    """The places of one sweep; `folder` is ``.`` within a node.

    Of the best run: `best_model`, the model directory; `best_facts`, for programs; `best_info`, for
    people and scripts.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.frozen = folder / "sweep.json"
        self.plan = folder / "plan.json"
        self.tracking = folder / "tracking.json"
        self.history = folder / "history"
        self.runs = folder / "runs"
        self.best = folder / "best"
        self.best_model = self.best / "model"
        self.best_facts = self.best / "bestmodel.json"
        self.best_info = self.best / "bestmodel.info"
        self.submitted = folder / "submitted"
        self.report = folder / "report.html"

    @property
    def name(self) -> str:
        """The folder's name without its suffix."""
        return self.folder.resolve().name.removesuffix(SUFFIX)

    def shard(self, name: str) -> Path:
        """Folder of one shard."""
        return self.history / name

    def table(self, shard: str) -> Path:
        """The event table of a shard."""
        return self.shard(shard) / "table.parquet"

    def read(self, shard: str) -> Path:
        """Facts about a shard; written last, so that its table is whole where this is there."""
        return self.shard(shard) / "read.json"

    def run(self, number: int) -> Path:
        """Folder of one run; runs count from 1."""
        return self.runs / f"{number:04d}"

    def point(self, number: int) -> Path:
        """The parameters of a run."""
        return self.run(number) / "point.json"

    def result(self, number: int) -> Path:
        """How a run ended; it is there once the run has."""
        return self.run(number) / "result.json"

    def record(self, number: int) -> Path:
        """What a run reported, line by line."""
        return self.run(number) / "record.jsonl"

    def model(self, number: int) -> Path:
        """The network that a run kept."""
        return self.run(number) / "model"

    def checkpoint(self, number: int) -> Path:
        """From where a run goes on."""
        return self.run(number) / "checkpoint"

    def round(self, number: int) -> Path:
        """Folder of what is decided before round `number`; rounds count from 1."""
        return self.folder / "rounds" / str(number)

    @classmethod
    def beside(cls, config: Path, folder: str | Path | None = None) -> Layout:
        """The places of the sweep of a config file; `folder` is relative to the file's own."""
        if folder is not None:
            return cls((config.absolute().parent / folder).resolve())
        return cls(config.absolute().with_suffix(SUFFIX).resolve())


@dataclass(frozen=True)
class Shard:
    """Inputs that one node parses together.

    Attributes:
        name: of its folder, such as ``s01``.
        inputs: absolute paths of logs in the order they are read; or one store or snapshot;
            or all that holds jobs, for a question that is about these.
        documents: whether it is read where the sweep was planned: a store or snapshot, or jobs.
        modified: seconds since 1970 of each log's last change, when it was planned, by which a log
            without years is dated.
    """

    name: str
    inputs: tuple[str, ...]
    documents: bool = False
    modified: tuple[float, ...] = ()

    @property
    def distinct(self) -> bool:
        """Whether all inputs have names of their own, whatever their folders."""
        return len({Path(one).name for one in self.inputs}) == len(self.inputs)


@dataclass(frozen=True)
class Frozen:
    """A config as it was planned, for all nodes wherever they run.

    Attributes:
        config: the config file's content with its defaults, as plain data. settings: of Jobsight as
        they were at planning, as plain data: time zone and access point of logs
            without, and where the registry is.
        shards: of the history, in the order that their tables are joined.
        first: the first run of the latest plan; those before it had ended when it was extended.
        parse: whether the latest plan parses the inputs; else they were parsed before.
        shared: whether nodes see the sweep's folder itself.
        versions: of Jobsight and what shapes a result.
    """

    config: Mapping[str, Any]
    settings: Mapping[str, Any]
    shards: tuple[Shard, ...]
    runs: int
    first: int = 1
    parse: bool = True
    shared: bool = True
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def question(self) -> str:
        """Which question is learned."""
        return str(self.config["question"])

    @property
    def seed(self) -> int:
        """Of the search and of every run."""
        return int(self.config["seed"])

    @property
    def metric(self) -> tuple[str, Goal]:
        """Name of the metric by which the best run is found, and what is looked for in it."""
        metric = self.config["metric"]
        return str(metric["name"]), "maximize" if metric["goal"] == "maximize" else "minimize"

    def searched(self) -> dict[str, Any]:
        """What must not change while results are kept: all but how and where it runs.

        Files count by their names: a project may be moved, or copied, with its sweep.
        """
        config = {key: value for key, value in self.config.items() if key not in _HOW}
        inputs = [[Path(name).name for name in one.inputs] for one in self.shards]
        settings = {key: self.settings.get(key) for key in ("timezone", "access_point")}
        return {"config": config, "settings": settings, "inputs": inputs}

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits of what is searched; the same wherever it runs."""
        text = json.dumps(self.searched(), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def to_json(self) -> dict[str, Any]:
        """As in ``sweep.json``."""
        return {"schema": SCHEMA, "digest": self.digest, **asdict(self)}


def named_by(base: Path, text: str) -> Path:
    """The path that a config in the folder `base` names, ``~`` and ``~user`` expanded.

    Raises:
        SweepError: there is no such home folder.
    """
    try:
        return base / Path(text).expanduser()
    except RuntimeError:
        raise SweepError(f"{printable(text, 200)}: there is no such home folder") from None


def read_frozen(folder: Path) -> Frozen:
    """The frozen config of a sweep's folder.

    Raises:
        SweepError: there is none, it is damaged, or another version of Jobsight wrote it.
    """
    path = Layout(folder).frozen
    missing = f"{folder} is no sweep's folder: it has no {path.name}; plan the sweep"
    data = read_saved(path, missing, _ANEW)
    if data.get("schema") != SCHEMA:
        raise SweepError(
            f"{path} has schema {str(data.get('schema'))[:40]!r}, this version reads {SCHEMA!r}; "
            "use the version that planned it, or plan into another folder"
        )
    try:
        return msgspec.convert(data, Frozen)
    except msgspec.ValidationError as error:
        raise damaged(path, str(error), _ANEW) from None


def read_point(folder: Path, run: int) -> dict[str, Any]:
    """The parameters of a run.

    Raises:
        SweepError: they were not written yet, or are damaged.
    """
    path = Layout(folder).point(run)
    data = read_saved(path, f"run {run} has no point yet: {path} is missing; plan the sweep again")
    if data.get("run") != run or not isinstance(data.get("parameters"), dict):
        raise damaged(path, f"it is not the point of run {run}")
    return dict(data["parameters"])


def point_of(run: int, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What ``point.json`` of a run holds."""
    return {"run": run, "parameters": dict(parameters)}


def read_saved(path: Path, missing: str, advice: str = _AGAIN) -> dict[str, Any]:
    """What a JSON file of a sweep's folder holds.

    Raises:
        SweepError: it is missing, cannot be read, or is damaged; `missing` and `advice` say what to
            do then.
    """
    try:
        found: dict[str, Any] = read_json(path, dict)
    except FileNotFoundError:
        raise SweepError(missing) from None
    except OSError as error:
        raise SweepError(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise damaged(path, str(error), advice) from None
    return found


def damaged(path: Path, why: str, advice: str = _AGAIN) -> SweepError:
    """The error of a file that does not hold what it should."""
    return SweepError(f"{path} is damaged ({why}); {advice}")
