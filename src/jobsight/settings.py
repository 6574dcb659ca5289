"""All settings, their defaults, and where they come from.

Later wins: ``/etc/jobsight/jobsight.yaml``, ``~/.config/jobsight/jobsight.yaml``, the file named by
``JOBSIGHT_CONFIG``, environment variables (``JOBSIGHT_HOLD__SEED=7``,
``JOBSIGHT_HOLD__WINDOWS='[60, 240]'``), flags.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic
from pydantic import ConfigDict, Field, PositiveFloat, PositiveInt

from jobsight.errors import SettingsError

__all__ = [
    "STATE_EVENTS",
    "CollectSettings",
    "CondorSettings",
    "Costs",
    "EventLogSettings",
    "FrameSettings",
    "HoldSettings",
    "KafkaSettings",
    "LstmSettings",
    "Settings",
    "SlurmSettings",
    "StoreSettings",
]

STATE_EVENTS = (0, 1, 4, 5, 7, 9, 10, 11, 12, 13, 21, 22, 23, 24, 40)
"""Event numbers that change a job's state; 006, 008, 028 and 033 only accompany."""

Fraction = Annotated[float, Field(gt=0, lt=1)]


class _Section(pydantic.BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FrameSettings(_Section):
    """The tensor e × m × j."""

    state_events: tuple[Annotated[int, Field(ge=0, le=999)], ...] = STATE_EVENTS
    m: Annotated[int, Field(ge=1, le=10_000)] = 24
    j: Annotated[int, Field(ge=1, le=10_000)] = 16
    timeframe_len: PositiveFloat | Literal["auto"] = "auto"
    """Seconds a frame; auto: an eighth of the pool's pace (see `HoldSettings.windows`)."""
    related_share: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Share of the other jobs drawn among those of the same cause, site or owner."""


class Costs(_Section):
    """What decisions cost, in units of one wasted run."""

    wasted_run: PositiveFloat = 1.0
    lost_job: PositiveFloat = 4.0
    """A job removed, or left, that would have succeeded."""
    delay_per_hour: Annotated[float, Field(ge=0)] | Literal["auto"] = "auto"
    """Auto: one pace of the pool (see `HoldSettings.windows`) costs a twentieth of a run."""


class LstmSettings(_Section):
    """The recurrent model."""

    network: str = "lstm"
    """A network's name, or ``package.module:Class`` of the user's own."""
    lstm_layers: Annotated[int, Field(ge=1, le=8)] = 1
    hidden_size: Annotated[int, Field(ge=1, le=4096)] = 32
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.2
    learning_rate: Annotated[float, Field(gt=0, le=1)] = 0.003
    weight_decay: Annotated[float, Field(ge=0)] = 0.001
    batch_size: PositiveInt = 64
    epochs: PositiveInt = 60
    patience: PositiveInt = 8
    """Epochs without a better select loss before training stops."""


class HoldSettings(_Section):
    """The question `hold`."""

    recipe: Literal["jobsight", "seed"] = "jobsight"
    as_of: Literal["release", "hold"] = "release"
    success: Literal["exit_zero", "terminated"] = "exit_zero"
    removed_by_user: Literal["censored", "failure"] = "censored"
    horizon: PositiveFloat | Literal["auto"] = "auto"
    """Seconds; auto: the 95th percentile of the training outcomes' times."""
    windows: tuple[PositiveFloat, ...] | Literal["auto"] = "auto"
    """Seconds looked back at the pool; auto: 1, 4 and 16 paces. The pace is the median time from a
    release to its outcome in the training part."""
    delays: tuple[PositiveFloat, ...] | Literal["auto"] = "auto"
    """Seconds that "wait" may propose; auto: 1, 2 and 4 paces."""
    batch_seconds: PositiveFloat = 60.0
    parts: tuple[Fraction, Fraction, Fraction, Fraction] = (0.5, 0.15, 0.15, 0.2)
    """Shares of train, select, calibrate and test, in time order."""
    metric: Literal["log_loss", "brier", "roc_auc", "f1", "f1_failure"] = "log_loss"
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    bootstrap: Annotated[int, Field(ge=100, le=100_000)] = 1000
    costs: Costs = Costs()
    frames: FrameSettings = FrameSettings()
    lstm: LstmSettings = LstmSettings()


class SlurmSettings(_Section):
    """The source `slurm`: how a controller and its accounting are asked. Spans are in seconds."""

    cluster: str | None = None
    """Name of the cluster in job ids; None: as the controller or slurm.conf says."""
    bin: Path | None = None
    """Folder of squeue, sacct and scontrol; None: found by PATH."""
    prefix: tuple[str, ...] = ()
    """Words put before each command, such as nsenter with its options; they must hand on the
    environment."""
    conf: Path | None = None
    """SLURM_CONF of the commands."""
    timezone: str | None = None
    """Zone of the cluster's local times, where a tool prints such; None: the machine's."""
    interval: PositiveFloat = 30.0
    timeout: PositiveFloat = 60.0
    """After this a command is stopped, and the controller counts as slow."""
    backoff_most: PositiveFloat = 600.0
    """Longest pause after repeated trouble."""
    output_most_mb: PositiveInt = 256
    """More output of one command is refused; sacct is then asked about shorter spans."""
    accounting: bool | None = None
    """Ask sacct; None: as the controller's configuration says."""
    config_every: PositiveFloat = 600.0
    """Between looks at the controller's configuration and clock."""
    lookback: Annotated[float, Field(ge=0)] = 86400.0
    """At the first start, how far back sacct is asked about ended jobs."""
    window: PositiveFloat = 21600.0
    """Longest span that one call of sacct is asked about."""
    overlap: Annotated[float, Field(ge=0)] = 300.0
    """How late the accounting may learn of an end, clock skew included."""
    details: bool = True
    """Fetch what scontrol shows of new jobs."""
    scripts: bool = True
    """Fetch the batch scripts of new jobs."""
    details_per_poll: PositiveInt = 20
    """Jobs (whole arrays) whose details and script are fetched in one poll, in three calls at most
    for each."""
    array_tasks: PositiveInt = 10_000
    """Pending tasks of one array that get documents before they start."""
    settle_per_poll: PositiveInt = 500
    """Jobs that vanished from the queue of which sacct is asked by their ids, in one call."""
    unknown_end_after: PositiveFloat = 3600.0
    """A job that left the queue, and of which nobody tells, counts as ended in an unknown way."""
    documents_per_poll: PositiveInt = 2000


class CondorSettings(_Section):
    """HTCondor's tools: how condor_q, condor_history and condor_config_val are run."""

    bin: Path | None = None
    """Folder of the tools; None: found by PATH."""
    prefix: tuple[str, ...] = ()
    """Words put before each command, such as nsenter with its options."""
    config: Path | None = None
    """CONDOR_CONFIG of the commands."""
    timeout: PositiveFloat = 60.0
    """Seconds after which a command is stopped."""
    scan_limit: PositiveInt = 200_000
    """Ads of the history looked through for jobs that left the queue."""


class EventLogSettings(_Section):
    """HTCondor's event logs, followed while they grow."""

    paths: tuple[str, ...] | Literal["auto"] = "auto"
    """Logs to follow; auto: what ``condor_config_val EVENT_LOG`` tells, where there is one."""
    interval: PositiveFloat = 1.0
    """Seconds between two looks at a log that does not grow."""
    events_per_poll: Annotated[int, Field(ge=1, le=1_000_000)] = 20_000
    bytes_per_poll: Annotated[int, Field(ge=4096, le=64 << 20)] = 8 << 20
    """A record that is longer is read nevertheless."""
    settle_seconds: Annotated[float, Field(ge=0)] = 60.0
    """How long a rotated file is read on: writers may still have it open. Then what was left
    half-written in it is given up and reported."""
    name_seconds: Annotated[float, Field(ge=0)] = 60.0
    """How long a log that does not name its access point yet may take to do so."""


class KafkaSettings(_Section):
    """Job notices and answers over Kafka. Passwords stand in `properties`, never here."""

    brokers: str | None = None
    """``host:port,host:port``; None: as `properties` tells."""
    properties: Path | None = None
    """File of librdkafka properties, a line each (``name=value``); of mode 0600 where it holds
    secrets. The environment's JOBSIGHT_KAFKA_USERNAME, JOBSIGHT_KAFKA_PASSWORD and
    JOBSIGHT_KAFKA_KEY_PASSWORD stand for sasl.username, sasl.password and ssl.key.password."""
    group: str = "jobsight"
    """Consumer group; all collectors of one store share it."""
    member: str | None = None
    """Name of this collector in the group; None: the machine's name."""
    topics: tuple[str, ...] = ("jobsight-notices",)
    """Topics of job notices, and of Slurm's jobcomp/kafka (named as the cluster)."""
    dead_letters: str = "jobsight-dead-letters"
    """Topic for messages that tell of no job, with the reason in their headers."""
    answers: str = "jobsight-answers"
    slurm: bool | None = None
    """Look up noticed jobs of the Slurm cluster; None: where its tools are found."""
    access_points: tuple[str, ...] = ()
    """Access points (names of schedds) whose noticed jobs are looked up; none: this machine's,
    where HTCondor's tools are found."""
    batch: Annotated[int, Field(ge=1, le=10_000)] = 500
    """Messages taken at once."""
    message_bytes: Annotated[int, Field(ge=1024, le=64 << 20)] = 4 << 20
    """Longer messages are dead letters; scripts come in jobcomp's messages."""
    poll_seconds: Annotated[float, Field(gt=0, le=10)] = 1.0
    """Longest wait for messages."""
    gather_seconds: Annotated[float, Field(ge=0, le=60)] = 2.0
    """Notices are gathered so long before their jobs are looked up together."""
    collect_seconds: PositiveFloat = 30.0
    """Between two looks at the jobs noticed that have not ended."""
    jobs_per_look: Annotated[int, Field(ge=1, le=5000)] = 500
    """Jobs of one cluster that are looked up at once; of more, those longest not looked at."""
    unknown_seconds: PositiveFloat = 600.0
    """A job that no scheduler knows is looked for that long after its notice."""
    watched: PositiveInt = 100_000
    """Most jobs watched at once; of more, those noticed later are left to other sources."""
    timeout_seconds: Annotated[float, Field(ge=1, le=300)] = 30.0
    """For the delivery of dead letters and answers."""


class CollectSettings(_Section):
    """The collector."""

    sources: tuple[Literal["eventlog", "slurm", "kafka"], ...] | Literal["auto"] = "auto"
    """Auto: event logs, where settings or HTCondor's own configuration name one; Slurm and Kafka,
    where ``slurm.cluster`` or ``slurm.conf``, ``kafka.brokers`` or ``kafka.properties`` is set."""
    status_file: Path | None = None
    """None: ``collect.json`` in $RUNTIME_DIRECTORY, else in $XDG_STATE_HOME/jobsight."""
    status_seconds: Annotated[float, Field(gt=0, le=3600)] = 5.0
    """Between two writings of the status."""
    first_pause: PositiveFloat = 1.0
    """Seconds before a source in trouble is asked again; doubled each time."""
    longest_pause: PositiveFloat = 120.0
    stop_seconds: Annotated[float, Field(gt=0, le=600)] = 10.0
    """For sources to finish what they are at, before a stop ends without them."""
    stuck_seconds: PositiveFloat = 600.0
    """A source that is silent for longer is stuck: the watchdog is told no more."""
    prune_seconds: PositiveFloat = 3600.0
    """Between two moves of old jobs to the archive."""
    log_format: Literal["text", "json"] = "text"


def _usual_store() -> str:
    """``jobs.db`` in the user's data directory, as the XDG Base Directory Specification has it."""
    data = os.environ.get("XDG_DATA_HOME", "")
    home = Path(data) if data.startswith("/") else Path("~/.local/share")
    return str(home / "jobsight" / "jobs.db")


class StoreSettings(_Section):
    """Where job documents are kept; a text in its place is its `url`."""

    url: Annotated[str, Field(min_length=1)] = Field(default_factory=_usual_store)
    """A path, ``sqlite:///PATH``, ``redis://…``, ``rediss://…`` or ``unix://…``; a password may
    stand in it, or in ``JOBSIGHT_STORE_PASSWORD``, or in `password_file`."""
    password_file: str | None = None
    """File of mode 0600 with the server's password in its first line."""
    retention_days: PositiveFloat | None = None
    """Days after which ended jobs move to the archive; None: never."""
    archive: str | None = None
    """Folder of the archive; None: the store's name and ``.archive`` (a server has no default)."""
    busy_timeout_s: Annotated[float, Field(ge=0.01, le=3600)] = 30.0
    """Seconds to wait for a writer's lock, or for a server's answer."""
    prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.\-]{1,60}$")] = "jobsight"
    """What the keys of a server begin with, so that several stores may share it."""


class Settings(_Section):
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
        except (OSError, UnicodeDecodeError, YAMLError) as error:
            raise SettingsError(f"cannot read settings from {path}: {error}") from None
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
    """``JOBSIGHT_HOLD__FRAMES__M=30`` becomes ``{"hold": {"frames": {"m": "30"}}}``."""
    tree: dict[str, Any] = {}
    for name, value in os.environ.items():
        parts = name.lower().removeprefix("jobsight_").split("__")
        if parts == ["store"]:
            parts = ["store", "url"]
        if name.startswith("JOBSIGHT_") and parts[0] in Settings.model_fields:
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
