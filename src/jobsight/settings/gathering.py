"""Settings of the sources, the collector and the store."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from jobsight.settings.section import Section

__all__ = [
    "CollectSettings",
    "CondorSettings",
    "EventLogSettings",
    "KafkaSettings",
    "MachineSettings",
    "SlurmSettings",
    "StoreSettings",
    "data_folder",
]


class SlurmSettings(Section):
    """The source `slurm`: how a controller and its accounting are asked. Spans are in seconds."""

    cluster: str | None = None
    """Name of the cluster in job ids; None: as the controller says."""
    bin: Path | None = None
    """Folder of squeue, sacct and scontrol; None: found by PATH."""
    prefix: tuple[str, ...] = ()
    """Words put before each command, such as nsenter with its options; they must hand on the
    environment."""
    conf: Path | None = None
    """SLURM_CONF of the commands."""
    timezone: str | None = None
    """Zone of the cluster's local times. None: of files that are imported, the machine's; a tool
    that prints local times although it is asked for seconds since 1970 is refused."""
    interval: PositiveFloat = 30.0
    """Seconds between two polls."""
    timeout: PositiveFloat = 60.0
    """After this a command is stopped, and the controller counts as slow."""
    backoff_most: PositiveFloat = 600.0
    """Longest pause after repeated errors."""
    output_most_mb: PositiveInt = 256
    """More output of one command is refused; sacct is then asked about shorter spans."""
    accounting: bool | None = None
    """Ask sacct; None: as the controller's configuration says."""
    all_users: bool = True
    """Ask sacct about all users; Slurm's PrivateData shows a user's own jobs alone all the same."""
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
    """A job that left the queue and is not reported again counts as ended in an unknown way."""
    documents_per_poll: PositiveInt = 2000
    """Documents that one poll gives at most; the rest waits for the next."""


class CondorSettings(Section):
    """HTCondor's tools: how condor_q, condor_history and condor_config_val are run and polled."""

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
    user: (
        Annotated[str, Field(pattern=r"^(\*|[A-Za-z0-9_.@$][A-Za-z0-9_.@$\-]{0,254})$")] | None
    ) = None
    """Owner of the jobs that polls ask about; None: the user who asks, ``*``: all users."""
    interval: PositiveFloat = 30.0
    """Seconds between two polls."""
    queue_most: PositiveInt = 10_000
    """Jobs of the queue that one poll asks for at most."""
    history_most: PositiveInt = 2000
    """Jobs that left the queue, the newest, that one poll asks for at most."""
    history_pause: Annotated[float, Field(ge=0)] = 600.0
    """Seconds without condor_history after it failed or was too slow."""
    logs_most: Annotated[int, Field(ge=0)] = 200
    """User logs of jobs that are followed at once."""
    log_bytes: Annotated[int, Field(ge=4096, le=64 << 20)] = 8 << 20
    """Bytes of user logs that one poll reads."""


class MachineSettings(Section):
    """What the scheduler's own tools on this machine are asked, for answers without a store.

    What ``/etc/jobsight/jobsight.yaml`` says here bounds what others set: they may ask for less.
    """

    enabled: bool = True
    """Ask them at all."""
    days: Annotated[float, Field(gt=0, le=3650)] = 30.0
    """How far back the accounting is read."""
    all_users: bool = True
    """Ask about the jobs of all users, where the scheduler allows it."""
    every: Annotated[float, Field(ge=0, le=86_400)] = 30.0
    """Seconds between two looks of a user at the scheduler."""
    patience: Annotated[float, Field(gt=0, le=3600)] = 6.0
    """Seconds of reading the past after which an answer is given from what was read."""
    background: bool = True
    """Whether a process of the lowest priority then reads the rest, a slice every `every` seconds;
    else each call reads on."""
    schedd: str | None = None
    """Name of a remote schedd; None: this machine's."""
    folder: Path | None = None
    """Where what was read is kept; None: ``machine`` in the user's cache, or, where that is on a
    network file system, in a private folder of this machine."""

    def within(self, most: MachineSettings) -> MachineSettings:
        """These settings, but asking no more than `most` allows."""
        return self.model_copy(
            update={
                "enabled": self.enabled and most.enabled,
                "days": min(self.days, most.days),
                "all_users": self.all_users and most.all_users,
                "every": max(self.every, most.every),
                "background": self.background and most.background,
            }
        )


class EventLogSettings(Section):
    """HTCondor's event logs, followed while they grow."""

    paths: tuple[str, ...] | Literal["auto"] = "auto"
    """Logs to follow; auto: that of ``condor_config_val EVENT_LOG``, where there is one."""
    interval: PositiveFloat = 1.0
    """Seconds between two looks at a log that does not grow."""
    events_per_poll: Annotated[int, Field(ge=1, le=1_000_000)] = 20_000
    """Events read at once at most."""
    bytes_per_poll: Annotated[int, Field(ge=4096, le=64 << 20)] = 8 << 20
    """A record that is longer is read nevertheless."""
    settle_seconds: Annotated[float, Field(ge=0)] = 60.0
    """How long a rotated file is read on: writers may still have it open. Then what was left
    half-written in it is given up and reported."""
    name_seconds: Annotated[float, Field(ge=0)] = 60.0
    """How long a log that does not name its access point yet may take to do so."""


class KafkaSettings(Section):
    """Job notices and answers over Kafka. Passwords are in `properties`, never here."""

    brokers: str | None = None
    """``host:port,host:port``; None: as in `properties`."""
    properties: Path | None = None
    """File of librdkafka properties, a line each (``name=value``); of mode 0600 where it holds
    secrets. The environment's JOBSIGHT_KAFKA_USERNAME, JOBSIGHT_KAFKA_PASSWORD and
    JOBSIGHT_KAFKA_KEY_PASSWORD stand for sasl.username, sasl.password and ssl.key.password."""
    group: str = "jobsight"
    """Consumer group; all collectors of one store share it."""
    member: str | None = None
    """Name of this collector in the group; None: the machine's name."""
    topics: tuple[str, ...] = ("jobsight-notices",)
    """Topics of job notices: a message there can make Jobsight look a job up, and no more."""
    jobcomp: dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9._\-]+$")], str] = Field(
        default_factory=dict
    )
    """Topics of Slurm's jobcomp/kafka, each with the cluster that it is of (``*``: the one that a
    message names). They are believed: slurmctld alone should be allowed to write to them."""
    clock_skew_seconds: Annotated[float, Field(ge=0, le=60)] = 10.0
    """How far ahead the clock of jobcomp's machine may be; later times are refused."""
    dead_letters: str = "jobsight-dead-letters"
    """Topic for messages that name no job, with the reason in their headers."""
    answers: str = "jobsight-answers"
    """Topic to which ``--publish`` sends answers."""
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
    """A job that no scheduler knows is looked for that long after its notice was sent."""
    watched: PositiveInt = 100_000
    """Most jobs watched at once; while there are so many, messages wait at the brokers."""
    timeout_seconds: Annotated[float, Field(ge=1, le=300)] = 30.0
    """For the delivery of dead letters and answers."""

    @property
    def read(self) -> tuple[str, ...]:
        """All topics that messages are taken from."""
        return (*self.topics, *self.jobcomp)

    @model_validator(mode="after")
    def _sends_nothing_to_itself(self) -> KafkaSettings:
        """What is sent must not be read: each dead letter would make another, without end."""
        if not self.read:
            raise ValueError("no topic is to be read; name one in topics or jobcomp")
        for setting, sent in (("dead_letters", self.dead_letters), ("answers", self.answers)):
            read = [topic for topic in self.read if _names(topic, sent)]
            if read:
                raise ValueError(f"{setting} {sent!r} is read too, by the topic {read[0]!r}")
        return self


def _names(topic: str, name: str) -> bool:
    """Whether a topic to read is this one; with ^ in front it is a pattern."""
    if not topic.startswith("^"):
        return topic == name
    try:
        return re.match(topic, name) is not None
    except re.error:
        return False


class CollectSettings(Section):
    """The collector."""

    sources: tuple[Literal["eventlog", "slurm", "kafka"], ...] | Literal["auto"] = "auto"
    """Auto: event logs, where settings or HTCondor's own configuration names one; Slurm and Kafka,
    where ``slurm.cluster`` or ``slurm.conf``, ``kafka.brokers`` or ``kafka.properties`` is set."""
    status_file: Path | None = None
    """None: ``collect.json`` in $RUNTIME_DIRECTORY, else in $XDG_STATE_HOME/jobsight."""
    status_seconds: Annotated[float, Field(gt=0, le=3600)] = 5.0
    """Between two writings of the status."""
    first_pause: PositiveFloat = 1.0
    """Seconds before a source that failed is asked again; doubled each time."""
    longest_pause: PositiveFloat = 120.0
    """Seconds, after which the pause is doubled no more."""
    stop_seconds: Annotated[float, Field(gt=0, le=600)] = 10.0
    """For sources to finish what they are at, before a stop ends without them."""
    stuck_seconds: PositiveFloat = 600.0
    """A source that is silent for longer is stuck: the watchdog is notified no more."""
    prune_seconds: PositiveFloat = 3600.0
    """Between two moves of old jobs to the archive."""
    prune_jobs: PositiveInt = 5000
    """Fewer old jobs wait for more before they are moved; a day at most."""
    log_format: Literal["text", "json"] = "text"
    """Form of the log on standard error."""


def data_folder() -> Path:
    """The user's data directory by the XDG Base Directory Specification; a relative one is none."""
    data = os.environ.get("XDG_DATA_HOME", "")
    return (Path(data) if data.startswith("/") else Path("~/.local/share")) / "jobsight"


class StoreSettings(Section):
    """Where job documents are kept; a text in its place is its `url`."""

    url: Annotated[str, Field(min_length=1)] = Field(
        default_factory=lambda: str(data_folder() / "jobs.db")
    )
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
