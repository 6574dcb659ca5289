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

__all__ = ["confined", "lacks", "run"]

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
_LOOPBACK = ("sh", "-c", 'ip link set lo up 2>/dev/null; exec "$@"', "sh")


@cache
def confined() -> bool:
    """Whether this machine can run a job without a network."""
    try:
        return subprocess.run([*_CONFINE, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def lacks(job: Job) -> str:
    """Why the job cannot be run here; empty: it can."""
    missing = [name for name in job.needs if not shutil.which(name, path="/usr/bin:/bin")]
    if missing:
        return f"needs {', '.join(missing)}"
    return "" if confined() else "cannot make namespaces here"


def run(job: Job, seconds: float) -> tuple[int, str]:
    """Exit status and output of the job in a fresh folder; at the limit ``TIMEOUT`` is added."""
    text = job.file.read_text(encoding="utf-8", errors="replace")
    if not text.startswith("#!"):
        return 1, "Slurm refuses a script whose first line is not #!"
    with tempfile.TemporaryDirectory() as place:
        top = Path(place)
        for folder in ("spool", "tmp"):
            (top / folder).mkdir()
        work = top / "work"
        shutil.copytree(top / "tmp" if job.alone else job.folder, work)
        shutil.copytree(_STAND_INS, top / "bin")
        for name in job.stands_in:
            shutil.copy(_STAND_INS / "program", top / "bin" / name)
        script = Path(shutil.copy(job.file, top / "spool/slurm_script"))
        script.chmod(0o755)
        for names in ("-o|--output", "-e|--error"):
            output = _option(text, names)
            if output and not (work / output).parent.is_dir():
                return 1, f"slurmd could not open {output}: No such file or directory"
        command = [*_CONFINE, *_limits(job, text), *_LOOPBACK, str(script)]
        return _ended(command, work, _environment(text, top), seconds)


def _ended(
    command: list[str], work: Path, environment: dict[str, str], seconds: float
) -> tuple[int, str]:
    with (
        tempfile.TemporaryFile() as output,
        subprocess.Popen(
            command, cwd=work, env=environment, stdin=subprocess.DEVNULL,
            stdout=output, stderr=output, start_new_session=True,
        ) as process,
    ):  # fmt: skip
        try:
            status, added = process.wait(seconds), ""
        except subprocess.TimeoutExpired:
            status, added = 124, "TIMEOUT"
            os.killpg(process.pid, signal.SIGKILL)
        output.seek(0)
        return status, output.read(1_000_000).decode(errors="replace") + added


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


def _limits(job: Job, text: str) -> list[str]:
    """The memory asked, as a limit."""
    asked = re.fullmatch(r"(\d+)([MG])", _option(text, "--mem") or "")
    if not (job.memory and asked):
        return []
    return ["prlimit", f"--as={int(asked[1]) << (30 if asked[2] == 'G' else 20)}"]
