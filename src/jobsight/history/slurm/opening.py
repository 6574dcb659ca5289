"""Opens the Slurm source that the settings describe."""

from __future__ import annotations

import os
import re
from pathlib import Path

from jobsight.errors import SourceError
from jobsight.history.slurm.client import SlurmClient
from jobsight.history.slurm.collector import SlurmCollector
from jobsight.history.slurm.poller import SlurmSource
from jobsight.history.slurm.troubles import SlurmError
from jobsight.settings import SlurmSettings

__all__ = ["cluster_name", "open_collector", "open_source"]

_CLUSTER = re.compile(r"^\s*ClusterName\s*=\s*(\S{1,256})", re.IGNORECASE | re.MULTILINE)
_MOST_CONF = 4 << 20


def cluster_name(settings: SlurmSettings) -> str:
    """The cluster's name in its jobs' ids: as set, or as slurm.conf or the controller says.

    Raises:
        SourceError: nobody tells; says what to do.
    """
    told = settings.cluster or _by_file(settings)
    if told:
        return told
    try:
        told = SlurmClient(settings).config().cluster
    except SlurmError as error:
        raise SourceError(
            f"the Slurm cluster's name is not known: {error}; set slurm.cluster"
        ) from None
    if not told:
        raise SourceError("the controller does not tell its cluster's name; set slurm.cluster")
    return told


def _by_file(settings: SlurmSettings) -> str | None:
    """ClusterName of slurm.conf; behind a prefix that file is not the tools' own."""
    if settings.prefix or (settings.bin is not None and settings.conf is None):
        return None
    named = settings.conf or os.environ.get("SLURM_CONF") or "/etc/slurm/slurm.conf"
    try:
        with Path(named).open(encoding="utf-8", errors="replace") as file:
            found = _CLUSTER.search(file.read(_MOST_CONF))
    except OSError:
        return None
    return found[1] if found else None


def open_source(settings: SlurmSettings) -> SlurmSource:
    """The source of the cluster that the settings name.

    Raises:
        SourceError: the cluster's name is not known.
    """
    return SlurmSource(SlurmClient(settings), cluster_name(settings), settings)


def open_collector(settings: SlurmSettings) -> SlurmCollector:
    """What collects jobs of that cluster by their ids.

    Raises:
        SourceError: the cluster's name is not known.
    """
    return SlurmCollector(SlurmClient(settings), cluster_name(settings), settings)
