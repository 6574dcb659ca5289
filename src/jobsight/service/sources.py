"""Which sources the settings mean: event logs, a Slurm cluster, Kafka's notices."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from jobsight.errors import SourceError, UsageError
from jobsight.history.follow import EventLogSource
from jobsight.history.slurm.client import SlurmClient
from jobsight.history.slurm.poller import SlurmSource
from jobsight.history.slurm.running import run_command
from jobsight.history.slurm.troubles import SlurmError
from jobsight.history.sources import Source
from jobsight.service.lookups import CondorLookup, Lookup, SlurmLookup
from jobsight.settings import CondorSettings, Settings
from jobsight.text import printable

__all__ = ["condor_setting", "event_logs", "make_sources"]

_MOST_OUTPUT = 64 << 10
_SLURM_CONFS = ("/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf")
_CLUSTER = re.compile(r"^\s*ClusterName\s*=\s*([^\s#]+)", re.IGNORECASE | re.MULTILINE)


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
        sources.append(SlurmSource(client, _cluster(client, settings), settings.slurm))
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
    tool = _tool("condor_config_val", settings.bin, settings.prefix)
    if tool is None:
        return None
    environment = {**os.environ, "LC_ALL": "C"}
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


def _tool(name: str, folder: Path | None, prefix: Sequence[str]) -> str | None:
    if folder is not None:
        path = folder / name
        return str(path) if path.exists() or prefix else None
    return name if prefix else shutil.which(name)


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


def _cluster(client: SlurmClient, settings: Settings) -> str:
    """The cluster's name: as set, else as the controller says, else slurm.conf."""
    if settings.slurm.cluster is not None:
        return settings.slurm.cluster
    try:
        cluster = client.config().cluster
        reason = "scontrol show config tells no ClusterName"
    except SlurmError as error:
        cluster, reason = _configured_cluster(settings), str(error)
    if not cluster:
        raise SourceError(
            f"nothing tells the cluster's name ({printable(reason, 200)}); set slurm.cluster"
        )
    return cluster


def _configured_cluster(settings: Settings) -> str:
    told = [settings.slurm.conf, os.environ.get("SLURM_CONF"), *_SLURM_CONFS]
    for path in told:
        try:
            text = Path(path).read_text(encoding="utf-8", errors="replace") if path else ""
        except OSError:
            continue
        if found := _CLUSTER.search(text):
            return found[1].lower()
    return ""


def _lookups(settings: Settings) -> list[Lookup]:
    """Who is asked about the jobs that notices tell of."""
    lookups: list[Lookup] = []
    slurm = settings.kafka.slurm
    if slurm is None:
        slurm = _tool("squeue", settings.slurm.bin, settings.slurm.prefix) is not None
    if slurm:
        # A client of its own: the source `slurm` works in another thread.
        client = SlurmClient(settings.slurm)
        lookups.append(SlurmLookup(client, _cluster(client, settings), settings.slurm))
    names = settings.kafka.access_points
    lookups += [CondorLookup(name, settings.condor, schedd=name) for name in names]
    if not names and _tool("condor_q", settings.condor.bin, settings.condor.prefix) is not None:
        here = settings.access_point or condor_setting("FULL_HOSTNAME", settings.condor)
        if here:
            lookups.append(CondorLookup(here, settings.condor))
    return lookups
