"""Files to be checked, written from one text, and what is found in them; a small site."""

from __future__ import annotations

import re
from pathlib import Path

from jobsight.program.preflight.check import Checker
from jobsight.program.site import Site

SITE = """=== scontrol-partition.txt
PartitionName=short AllowAccounts=ALL AllowQos=ALL Default=YES DefaultTime=00:10:00 MaxNodes=4
   MaxTime=01:00:00 State=UP TotalCPUs=64 TotalNodes=4 DefMemPerCPU=1000
PartitionName=long AllowAccounts=physics AllowQos=normal Default=NO DefaultTime=NONE
   MaxNodes=UNLIMITED MaxTime=UNLIMITED State=UP TotalCPUs=64 TotalNodes=2
PartitionName=gpu AllowAccounts=ALL AllowQos=ALL Default=NO DefaultTime=01:00:00
   MaxNodes=1 MaxTime=2-00:00:00 State=UP TotalCPUs=32 TotalNodes=1
=== scontrol-node.txt
NodeName=n1 CPUTot=16 RealMemory=64000 AvailableFeatures=skylake Gres=(null) Partitions=short,long
NodeName=g1 CPUTot=32 RealMemory=256000 AvailableFeatures=zen3 Gres=gpu:a100:4 Partitions=gpu
=== scontrol-config.txt
MaxArraySize            = 1001
ClusterName             = demo
=== condor_status.ads
Name = "slot1@e1"
Cpus = 8
TotalCpus = 8
Memory = 16000
TotalMemory = 16000
Disk = 100000000
TotalDisk = 100000000
OpSys = "LINUX"
Arch = "X86_64"
OpSysAndVer = "AlmaLinux9"
=== modulefiles/gcc/13.2
#%Module
=== modulefiles/samtools/1.17.lua
-- samtools
"""


def written(folder: Path, name: str, text: str) -> Path:
    """Write a text into a folder: `name`, then each file behind a line ``=== name``."""
    parts = re.split(r"^=== (.+)\n", text, flags=re.MULTILINE)
    for file, content in zip([name, *parts[1::2]], parts[::2], strict=True):
        if file:
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode())
    return folder


def found(
    text: str, name: str = "job.sh", site: Site | None = None, *, shellcheck: bool = False
) -> list[tuple[str, int, str]]:
    """File, line and code of what is found in files that are written into the current folder.

    Files of tests may not be executed: JS402, which says so, is left out.
    """
    written(Path(), name, text)
    report = Checker(site, shellcheck=shellcheck).check(name)
    return [(one.file, one.line, one.code) for one in report.findings if one.code != "JS402"]
