"""What a Slurm cluster is called in its jobs' ids."""

from __future__ import annotations

import os
import re
from pathlib import Path

from jobsight.errors import SourceError
from jobsight.history.slurm.client import SlurmClient
from jobsight.history.slurm.troubles import SlurmError
from jobsight.settings import SlurmSettings
from jobsight.text import printable

__all__ = ["cluster_name"]

_CONFS = ("/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf")
_CLUSTER = re.compile(r"^\s*ClusterName\s*=\s*([^\s#]{1,256})", re.IGNORECASE | re.MULTILINE)
_MOST_CONF = 4 << 20


def cluster_name(client: SlurmClient, settings: SlurmSettings) -> str:
    """The cluster's name: as set, else as the controller tells, else as slurm.conf does.

    Slurm writes it in lowercase everywhere but in slurm.conf (in accounts, in jobcomp's messages),
    so what is set or read is lowered: else one cluster would be two.

    Raises:
        SourceError: nobody tells; says what to do.
    """
    if settings.cluster is not None:
        return settings.cluster.lower()
    reason = "scontrol show config tells no ClusterName"
    try:
        told = client.config().cluster
    except SlurmError as error:
        told, reason = "", str(error)
    told = told or _by_file(settings)
    if not told:
        raise SourceError(
            f"nothing tells the cluster's name ({printable(reason, 200)}); set slurm.cluster"
        )
    return told.lower()


def _by_file(settings: SlurmSettings) -> str:
    """ClusterName of slurm.conf; "" where none is found."""
    for path in (settings.conf, os.environ.get("SLURM_CONF"), *_CONFS):
        if not path:
            continue
        try:
            with Path(path).open(encoding="utf-8", errors="replace") as file:
                found = _CLUSTER.search(file.read(_MOST_CONF))
        except OSError:
            continue
        if found:
            return found[1]
    return ""
