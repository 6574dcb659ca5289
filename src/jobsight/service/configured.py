"""Which sources the settings mean: event logs, a Slurm cluster, Kafka's notices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jobsight.commands import find_tool
from jobsight.errors import SourceError, UsageError
from jobsight.history.condor.client import CondorClient
from jobsight.history.following.family import rotated
from jobsight.history.following.source import EventLogSource
from jobsight.history.slurm.client import SlurmClient
from jobsight.history.slurm.poller import SlurmSource
from jobsight.history.sources import Source
from jobsight.service.notices.watching import Asker, CondorAsker, SlurmAsker
from jobsight.settings import Settings

__all__ = ["event_logs", "log_files", "make_sources"]


def make_sources(settings: Settings, kinds: Sequence[str] | None = None) -> list[Source]:
    """The sources that the settings mean.

    Raises:
        UsageError: there is nothing to collect from.
        SettingsError: Kafka's settings do not suffice.
        SourceError: the event log or the name of the cluster is not known.
    """
    named = settings.collect.sources if kinds is None else kinds
    wanted = list(named) if named != "auto" else []
    if named == "auto":
        paths: Sequence[str] | str | None = settings.eventlog.paths
        if paths == "auto":
            paths = CondorClient(settings.condor).setting("EVENT_LOG")
        if paths:
            wanted.append("eventlog")
        if settings.slurm.cluster is not None or settings.slurm.conf is not None:
            wanted.append("slurm")
        if settings.kafka.brokers is not None or settings.kafka.properties is not None:
            wanted.append("kafka")
    if not wanted:
        raise UsageError(
            "nothing to collect from: name an event log with --event-log PATH, or give --slurm or "
            "--kafka, or set collect.sources"
        )
    sources: list[Source] = []
    if "eventlog" in wanted:
        point, zone = settings.access_point, settings.timezone
        sources += [
            EventLogSource(path, settings.eventlog, access_point=point, timezone=zone)
            for path in event_logs(settings)
        ]
    if "slurm" in wanted:
        client = SlurmClient(settings.slurm)
        sources.append(SlurmSource(client, client.cluster_name(), settings.slurm))
    if "kafka" in wanted:
        from jobsight.service.notices.source import NoticeSource

        sources.append(NoticeSource(settings.kafka, _askers(settings)))
    return sources


def event_logs(settings: Settings) -> list[Path]:
    """The event logs that the settings name, or HTCondor's configuration.

    Raises:
        SourceError: neither names one.
    """
    if settings.eventlog.paths != "auto":
        return [Path(path).expanduser() for path in settings.eventlog.paths]
    path = CondorClient(settings.condor).setting("EVENT_LOG")
    if path is None:
        raise SourceError(
            "HTCondor's configuration names no EVENT_LOG (or condor_config_val is not to be "
            "found); set EVENT_LOG (say $(LOG)/EventLog) and EVENT_LOG_MAX_ROTATIONS = 5 there, "
            "or name it in the setting eventlog.paths (of collect, also --event-log PATH)"
        )
    return [Path(path)]


def _askers(settings: Settings) -> list[Asker]:
    """The schedulers in which noticed jobs are looked up."""
    askers: list[Asker] = []
    slurm = settings.kafka.slurm
    if slurm is None:
        slurm = find_tool("squeue", settings.slurm.bin, settings.slurm.prefix) is not None
    if slurm:
        # A client of its own: the source `slurm` works in another thread.
        client = SlurmClient(settings.slurm)
        askers.append(SlurmAsker(client, client.cluster_name(), settings.slurm))
    names = settings.kafka.access_points
    askers += [CondorAsker(CondorClient(settings.condor, schedd=name), name) for name in names]
    client_here = CondorClient(settings.condor)
    if not names and client_here.has("condor_q"):
        here = settings.access_point or client_here.schedd_name()
        if here:
            askers.append(CondorAsker(client_here, here))
    return askers


def log_files(settings: Settings) -> list[str]:
    """The files of the event logs that ``jobsight collect`` would follow, rotated ones too.

    Raises:
        SourceError: HTCondor's configuration names none.
    """
    paths = event_logs(settings)
    return [str(file) for path in paths for file in (path, *(old for _, old in rotated(path)))]
