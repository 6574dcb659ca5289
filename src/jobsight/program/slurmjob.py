"""The processes of a Slurm job on this node: from its cgroup, or as ``scontrol listpids`` lists."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from jobsight.program.procfs import numbers

__all__ = ["cgroup_processes", "parse_listpids"]

_GROUPS = Path("/sys/fs/cgroup")
_PLACES = (
    "system.slice/*slurmstepd.scope/job_{}",  # version 2: <node>_slurmstepd.scope
    "slurm*/uid_*/job_{}",  # version 1, mounted alone, and by controller
    "*/slurm*/uid_*/job_{}",
)
_BY_SLUID = "system.slice/*slurmstepd.scope/{}"
"""Since 26.05, unless cgroup.conf says CgroupJobIdPaths=yes; version 2 alone."""
_SLUID = re.compile(r"s[0-9A-Za-z]{13}", re.ASCII)


def cgroup_processes(job: int, groups: Path = _GROUPS, sluid: str = "") -> set[int]:
    """The PIDs in a job's control groups; none where Slurm makes no groups.

    Slurm's own supervisor is left out: in version 2 it is in a group ``slurm`` of each step, in
    version 1 among the processes.

    Args:
        job: Slurm's number of the job; of an array task, the raw one.
        groups: where control groups are mounted.
        sluid: of the job; empty: not known.
    """
    found: set[int] = set()
    places = [place.format(job) for place in _PLACES]
    if _SLUID.fullmatch(sluid):
        places.append(_BY_SLUID.format(sluid))
    for place in places:
        for path in groups.glob(f"{place}/**/cgroup.procs"):
            if path.parent.name != "slurm":
                with suppress(OSError):
                    content = path.read_bytes()
                    pids = numbers(content, content.count(b"\n") + 1)
                    among = not place.startswith("system.slice")
                    found.update(pid for pid in pids if not (among and _supervises(pid)))
    return found


def _supervises(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_bytes() == b"slurmstepd\n"
    return False


def parse_listpids(output: bytes, job: int) -> set[int]:
    """The PIDs of a job in what ``scontrol listpids`` prints: PID, JOBID, STEPID, … in columns."""
    found = set()
    for line in output.splitlines():
        columns = numbers(line, 2)
        if len(columns) == 2 and columns[1] == job:
            found.add(columns[0])
    return found
