"""The files for HTCondor's administrators, and what their pool still lacks."""

from __future__ import annotations

import re
from importlib.resources import files

from jobsight.history.condor.client import CondorClient
from jobsight.settings import ActingSettings

__all__ = ["POLICY", "PRINT_FORMAT", "file_texts", "missing"]

POLICY, PRINT_FORMAT = "90-jobsight.conf", "held-jobs.cpf"
_OLDEST = (9, 5)
"""Release with SYSTEM_PERIODIC_RELEASE_NAMES."""


def file_texts(settings: ActingSettings) -> dict[str, str]:
    """The text of each file by name, with the values of the settings."""
    folder = files("jobsight.acting").joinpath("files", "htcondor")
    texts = {name: folder.joinpath(name).read_text("utf-8") for name in (POLICY, PRINT_FORMAT)}
    values = {
        "VALID": str(settings.valid),
        "MOST_HOLDS": str(settings.most_holds),
        "REMOVES": str(settings.removal),
    }
    for name, value in values.items():
        line = rf"^JOBSIGHT_{name} = .*$"
        texts[POLICY] = re.sub(line, f"JOBSIGHT_{name} = {value}", texts[POLICY], flags=re.M)
    return texts


def missing(client: CondorClient, user: str) -> list[str]:
    """What keeps answers from being written by this user, or acted on, and what to do."""
    lacks = [f"{tool} is not found: name its folder in the setting condor.bin"
             for tool in ("condor_q", "condor_qedit", "condor_config_val")
             if not client.has(tool)]  # fmt: skip
    if lacks:
        return lacks
    version = client.setting("CONDOR_VERSION") or ""
    numbers = tuple(map(int, re.findall(r"\d+", version)[:2]))
    if numbers < _OLDEST:
        lacks.append(f"HTCondor {version or 'of unknown version'}: the policy needs 9.5 or later")
    if user not in re.split(r"[,\s]+", client.setting("QUEUE_SUPER_USERS") or ""):
        lacks.append(
            f"{user} is not in QUEUE_SUPER_USERS and cannot edit the jobs of others; run "
            "`jobsight acting run` as condor, or add an account of its own there"
        )
    if "Jobsight" not in (client.setting("SYSTEM_PERIODIC_RELEASE_NAMES") or "").split():
        lacks.append("the policy file is not included yet, or condor_reconfig was not run")
    if client.setting("EVENT_LOG") is None:
        lacks.append("EVENT_LOG is not set: without it there is little history to answer from")
    return lacks
