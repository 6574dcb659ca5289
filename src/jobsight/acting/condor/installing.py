"""The files for HTCondor's administrators, and what their pool still lacks."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

from jobsight.acting.filling import filled_files
from jobsight.errors import SourceError
from jobsight.history.condor.client import CondorClient
from jobsight.settings import ActingSettings

__all__ = ["FOLDER", "POLICY", "PROFILE", "SHARING", "SHARING_MAP", "WARNINGS",
           "file_texts", "missing", "warnings_text"]  # fmt: skip

FOLDER = Path("/etc/jobsight/htcondor")
"""Where files are by default."""
POLICY, WARNINGS = "90-jobsight.conf", "91-jobsight-warnings.conf"
SHARING, SHARING_MAP = "92-jobsight-sharing.conf", "htcondor-sharing.map"
"""What follows the map of tokens, and the name of that in the folder of what acts."""
PROFILE = "jobsight-aliases.sh"
_WARNINGS_HEAD = """\
# Jobsight: what condor_submit warns of, as no slot of this pool had it on {}; nothing is rejected.
# Written by `jobsight setup htcondor --warnings`; include it on the access point, then run
# condor_reconfig, and run both again when the pool changes. Needs HTCondor 10 or later.
"""
_OF_ONE_GPU = ("Id", "DeviceUuid", "DevicePciBusId")
_PLAIN = re.compile(r"[A-Za-z0-9 ._/:+-]{1,80}", re.ASCII)
_MOST_KINDS = 50
_OLDEST = (9, 5)
"""Release with SYSTEM_PERIODIC_RELEASE_NAMES."""


def file_texts(settings: ActingSettings, folder: Path = FOLDER) -> dict[str, str]:
    """The text of each file by name, with the values of the settings, as they are in a folder."""
    place, shares = re.compile(re.escape(str(FOLDER))), settings.folder / SHARING_MAP
    more = {"REMOVES": str(settings.removal), "SHARING_MAP": shares}
    return filled_files("htcondor", place, folder, settings, **more)


def warnings_text(client: CondorClient) -> str:
    """The file of what is said at submission about requests that no slot of the pool meets.

    A requirement that is only a warning rejects all the same where its value is not a boolean, so
    each is one for any job: what is undefined is not wrong. Jobs of other universes than vanilla
    and containers do not run in slots.

    Raises:
        SourceError: the collector gave no answer, or shows no slot.
    """
    most = client.largest_slot()
    if not most.keys() >= {"RequestCpus", "RequestMemory", "RequestDisk"}:
        raise SourceError(
            "the collector shows no slot with CPUs, memory and disk: run it again when the pool is "
            "up; no warnings are written"
        )
    rules = {"NoDisk": (
        "RequestDisk =?= DiskUsage",
        '"request_disk is not set: the job gets little more disk than its input takes"',
    )}  # fmt: skip
    for name, unit in (("Cpus", ""), ("Memory", " MB"), ("Disk", " KB"), ("GPUs", "")):
        has, asked = int(most.get(f"Request{name}", 0)), f"request_{name.lower()}"
        largest = f"the largest slot of this pool has {has}{unit}"
        rules[name] = (
            f"Request{name} > {has}", f'strcat("{asked} = ", Request{name}, "{unit}: {largest}")'
        )  # fmt: skip
    if 0 < len(kinds := sorted(_gpu_kinds(client))) <= _MOST_KINDS:
        # False of some kinds and true of none; of undefined properties nothing is known.
        of_each = f"evalInEachContext(RequireGPUs, {{ {', '.join(kinds)} }})"
        rules["GPUKind"] = (
            f"RequestGPUs > 0 && member(false, {of_each}) && !member(true, {of_each})",
            '"no GPU of this pool is of the kind that is required (require_gpus, gpus_minimum_*)"',
        )
    lines = [_WARNINGS_HEAD.format(time.strftime("%Y-%m-%d", time.gmtime()))]
    for name, (wrong, reason) in rules.items():
        rule = f"SUBMIT_REQUIREMENT_Jobsight{name}"
        lines.append(
            f"\nSUBMIT_REQUIREMENT_NAMES = $(SUBMIT_REQUIREMENT_NAMES) Jobsight{name}\n"
            f"{rule} = (JobUniverse == 5 && {wrong}) =!= true\n"
            f"{rule}_IS_WARNING = true\n{rule}_REASON = {reason}\n"
        )
    return "".join(lines)


def _gpu_kinds(client: CondorClient) -> set[str]:
    """The properties of the pool's GPUs as ClassAds, but for those of a single one.

    Only numbers and plain texts: what a machine says of itself must not become configuration.
    """
    kinds = set()
    for ad in client.slots_with_gpus():
        gpus = (value for name, value in ad.items() if name.startswith("GPUs_"))
        for gpu in (value for value in gpus if isinstance(value, dict)):
            known = {
                name: json.dumps(value)
                for name, value in gpu.items()
                if name not in _OF_ONE_GPU and re.fullmatch(r"\w{1,60}", name, re.ASCII)
                and (isinstance(value, bool | int | float) or _PLAIN.fullmatch(str(value)))
            }  # fmt: skip
            kinds.add(f"[ {'; '.join(f'{name} = {known[name]}' for name in sorted(known))} ]")
    return kinds


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
