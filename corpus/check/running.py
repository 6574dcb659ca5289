"""Run a job's script on this machine as Slurm would: spool copy, variables, no network."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from corpus.check.manifest import HERE, SITE, Job

__all__ = ["confined", "run", "runs_here"]

_OPTION = r"^#SBATCH\s(?:.*\s)?(?:{})[\s=]*(\S+)"
_STAND_INS = HERE / "stand_ins"
# No network but the loopback; every process ends with the first.
_CONFINE = (
    "unshare",
    "--net",
    "--map-root-user",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
)
# `ulimit` stands for Slurm's limit of memory, wide enough for every program but a greedy one.
_START = ("sh", "-c", 'ip link set lo up 2>/dev/null; ulimit -v 3000000; exec "$0"')


@cache
def confined() -> bool:
    """Whether this machine can run a job without a network."""
    try:
        return subprocess.run([*_CONFINE, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def runs_here(job: Job) -> bool:
    """Whether this machine has what the job needs."""
    needs = ("bash", "python3", "perl", "awk", *job.needs)
    return confined() and all(shutil.which(name, path="/usr/bin:/bin") for name in needs)


def run(job: Job, seconds: float) -> tuple[int, str]:
    """Exit status and output of the job in a fresh folder; at the limit ``TIMEOUT`` is added."""
    text = job.file.read_text(encoding="utf-8", errors="replace")
    if not text.startswith("#!"):
        return 1, "Slurm refuses a script whose first line is not #!"
    with tempfile.TemporaryDirectory() as place:
        top = Path(place)
        for folder in ("spool", "tmp", "work"):
            (top / folder).mkdir()
        for path in job.files:
            copy = top / "work" / path.relative_to(job.folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        shutil.copytree(_STAND_INS, top / "bin")
        for name in job.stands_in:
            shutil.copy(_STAND_INS / "program", top / "bin" / name)
        script = Path(shutil.copy(job.file, top / "spool/slurm_script"))
        script.chmod(0o755)
        for names in ("-o|--output", "-e|--error"):
            output = _option(text, names)
            if output and not (top / "work" / output).parent.is_dir():
                return 1, f"slurmd could not open {output}: No such file or directory"
        return _ended([*_CONFINE, *_START, str(script)], top, _environment(text, top), seconds)


def _ended(
    command: list[str], top: Path, environment: dict[str, str], seconds: float
) -> tuple[int, str]:
    with (top / "output").open("wb") as output:
        process = subprocess.Popen(
            command, cwd=top / "work", env=environment, stdin=subprocess.DEVNULL,
            stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
        try:
            status, added = process.wait(seconds), ""
        except subprocess.TimeoutExpired:
            status, added = 124, "TIMEOUT"
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return status, (top / "output").read_text(errors="replace")[:1_000_000] + added


def _option(text: str, names: str) -> str | None:
    found = re.search(_OPTION.format(names), text, re.M)
    return found[1] if found else None


def _environment(text: str, top: Path) -> dict[str, str]:
    """Variables of a job as Slurm sets them: some only if the option was given."""
    nodes, each = _option(text, "-N|--nodes") or "1", _option(text, "--ntasks-per-node")
    array = _option(text, "-a|--array")
    given = {
        "SLURM_NTASKS": _option(text, "-n|--ntasks") or (each and str(int(each) * int(nodes))),
        "SLURM_CPUS_PER_TASK": _option(text, "-c|--cpus-per-task"),
        "SLURM_JOB_NAME": (_option(text, "-J|--job-name") or "job").strip("\"'"),
        "SLURM_ARRAY_JOB_ID": array and "4711",
        "SLURM_ARRAY_TASK_ID": array and re.split("[-,:%]", array)[0],
    }
    return {name: value for name, value in given.items() if value} | {
        "PATH": f"{top}/bin:/usr/sbin:/usr/bin:/bin", "LANG": "C.UTF-8",
        "HOME": str(top), "USER": "alice", "TMPDIR": f"{top}/tmp",
        "SLURM_JOB_ID": "4711", "SLURM_SUBMIT_DIR": f"{top}/work", "SLURMD_NODENAME": "node1",
        "SLURM_JOB_NUM_NODES": nodes, "SLURM_JOB_PARTITION": _option(text, "-p") or "main",
        "BASH_ENV": f"{top}/bin/modules.sh", "MODULES": str(SITE / "modulefiles"),
    }  # fmt: skip
