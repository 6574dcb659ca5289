"""Which sources the settings mean: event logs, a Slurm cluster, Kafka's notices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jobsight.errors import SourceError, UsageError
from jobsight.history.commands import child_environment, find_tool, run_command
from jobsight.history.follow import EventLogSource
from jobsight.history.slurm.client import SlurmClient
from jobsight.history.slurm.opening import cluster_name
from jobsight.history.slurm.poller import SlurmSource
from jobsight.history.sources import Source
from jobsight.service.lookups import CondorLookup, Lookup, SlurmLookup
from jobsight.settings import CondorSettings, Settings

__all__ = ["condor_setting", "event_logs", "make_sources"]

_MOST_OUTPUT = 64 << 10


def make_sources(settings: Settings, kinds: Sequence[str] | None = None) -> list[Source]:
    """The sources that the settings mean.

    Args:
        settings: what to collect, and how.
        kinds: ``eventlog``, ``slurm``, ``kafka``; None: as ``collect.sources`` says.

    Raises:
        UsageError: there is nothing to collect from.
        SettingsError: Kafka's settings do not suffice.
        SourceError: nothing tells where the event log is, or what the cluster is called.
    """
    named = settings.collect.sources
    auto = kinds is None and named == "auto"
    wanted = _found(settings) if auto else list(kinds if kinds is not None else named)
    if not wanted:
        raise UsageError(
            "nothing to collect from: name an event log with --event-log PATH, or give --slurm or "
            "--kafka, or set collect.sources"
        )
    sources: list[Source] = []
    if "eventlog" in wanted:
        sources += [
            EventLogSource(
                path,
                settings.eventlog,
                access_point=settings.access_point,
                timezone=settings.timezone,
            )
            for path in event_logs(settings)
        ]
    if "slurm" in wanted:
        client = SlurmClient(settings.slurm)
        sources.append(SlurmSource(client, cluster_name(client, settings.slurm), settings.slurm))
    if "kafka" in wanted:
        from jobsight.service.notices import NoticeSource

        sources.append(NoticeSource(settings.kafka, _lookups(settings)))
    return sources


def event_logs(settings: Settings) -> list[Path]:
    """The event logs that the settings name, or HTCondor's configuration.

    Raises:
        SourceError: neither names one.
    """
    if settings.eventlog.paths != "auto":
        return [Path(path).expanduser() for path in settings.eventlog.paths]
    told = condor_setting("EVENT_LOG", settings.condor)
    if told is None:
        raise SourceError(
            "HTCondor's configuration names no EVENT_LOG (or condor_config_val is not to be "
            "found); set EVENT_LOG (say $(LOG)/EventLog) and EVENT_LOG_MAX_ROTATIONS = 5 there, "
            "or name a log with --event-log PATH or the setting eventlog.paths"
        )
    return [Path(told)]


def condor_setting(name: str, settings: CondorSettings) -> str | None:
    """What ``condor_config_val`` tells of a setting; None: it is not set, or the tool is missing.

    Raises:
        SourceError: the tool gives no answer.
    """
    tool = find_tool("condor_config_val", settings.bin, settings.prefix)
    if tool is None:
        return None
    environment = child_environment()
    if settings.config is not None:
        environment["CONDOR_CONFIG"] = str(settings.config)
    words = [*settings.prefix, tool, name]
    try:
        ended = run_command(
            words, env=environment, timeout=settings.timeout, most_output=_MOST_OUTPUT
        )
    except OSError as error:
        raise SourceError(f"cannot run {words[0]}: {error.strerror or error}") from None
    if ended.status is None:
        raise SourceError(f"condor_config_val gave no answer within {settings.timeout:g} s")
    told = ended.stdout.decode("utf-8", "surrogateescape").strip()
    return told if ended.status == 0 and told and "\n" not in told else None


def _found(settings: Settings) -> list[str]:
    """The kinds of sources that the settings, or this machine, name."""
    kinds = []
    if settings.eventlog.paths != "auto":
        named = bool(settings.eventlog.paths)
    else:
        named = condor_setting("EVENT_LOG", settings.condor) is not None
    if named:
        kinds.append("eventlog")
    if settings.slurm.cluster is not None or settings.slurm.conf is not None:
        kinds.append("slurm")
    if settings.kafka.brokers is not None or settings.kafka.properties is not None:
        kinds.append("kafka")
    return kinds


def _lookups(settings: Settings) -> list[Lookup]:
    """Who is asked about the jobs that notices tell of."""
    lookups: list[Lookup] = []
    slurm = settings.kafka.slurm
    if slurm is None:
        slurm = find_tool("squeue", settings.slurm.bin, settings.slurm.prefix) is not None
    if slurm:
        # A client of its own: the source `slurm` works in another thread.
        client = SlurmClient(settings.slurm)
        lookups.append(SlurmLookup(client, cluster_name(client, settings.slurm), settings.slurm))
    names = settings.kafka.access_points
    lookups += [CondorLookup(name, settings.condor, schedd=name) for name in names]
    if not names and find_tool("condor_q", settings.condor.bin, settings.condor.prefix) is not None:
        here = settings.access_point or condor_setting("FULL_HOSTNAME", settings.condor)
        if here:
            lookups.append(CondorLookup(here, settings.condor))
    return lookups
