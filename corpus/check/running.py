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

from corpus.check.manifest import SITE, Job

__all__ = ["confined", "lacks", "run"]

_OPTION = r"^#SBATCH\s(?:.*\s)?(?:{})[\s=]*(\S+)"
_LAUNCH = """#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in -n|-np|-N|-c|-p|-t) shift 2 ;; -*) shift ;; *) break ;; esac
done
exec "$@"
"""
_PROGRAM = """#!/bin/sh
for word; do
    case $last in -o|-out|--output) : > "$word" ;; esac
    last=$word
done
"""
_STANDS_IN = {
    "srun": _LAUNCH,
    "mpirun": _LAUNCH,
    "sbatch": "#!/bin/sh\necho 4712\n",
    "scontrol": "#!/bin/sh\n",
}
_MODULES = """
module() {
    local command=$1 name; shift
    case $command in load|add) ;; *) return 0 ;; esac
    for name; do
        [ -e "$MODULES/$name.lua" ] || [ -e "$MODULES/$name" ] || {
            echo "Lmod has detected the following error: unknown module $name" >&2; return 1; }
    done
}
export -f module
"""
# Without a network but for the loopback, and every process ends with the first.
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
    if not confined():
        return "cannot make namespaces here"
    missing = [name for name in job.needs if not shutil.which(name, path="/usr/bin:/bin")]
    return f"needs {', '.join(missing)}" if missing else ""


def run(job: Job, seconds: float) -> tuple[int, str]:
    """Exit status and output of the job in a fresh folder; at the limit ``TIMEOUT`` is added."""
    with tempfile.TemporaryDirectory() as place:
        top = Path(place)
        work, spool, programs = top / "work", top / "spool", top / "bin"
        for folder in (spool, programs, top / "tmp"):
            folder.mkdir()
        if job.alone:
            work.mkdir()
        else:
            shutil.copytree(job.folder, work)
        script = spool / "slurm_script"
        shutil.copy(job.file, script)
        script.chmod(0o755)
        for name, text in _STANDS_IN.items() | {(name, _PROGRAM) for name in job.stands_in}:
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        (top / "modules.sh").write_text(_MODULES)
        text = job.file.read_text(encoding="utf-8", errors="replace")
        if refused := _output_refused(text, work):
            return 1, refused
        if not text.startswith("#!"):
            return 1, "Slurm refuses a script whose first line is not #!"
        command = [*_CONFINE, *_limits(job, text), *_LOOPBACK, str(script)]
        return _ended(command, work, _environment(text, top), seconds)


def _ended(
    command: list[str], work: Path, environment: dict[str, str], seconds: float
) -> tuple[int, str]:
    """Run a command; its exit status and output."""
    with tempfile.TemporaryFile() as output, subprocess.Popen(
        command, cwd=work, env=environment, stdin=subprocess.DEVNULL,
        stdout=output, stderr=output, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            status, said = process.wait(seconds), ""
        except subprocess.TimeoutExpired:
            status, said = 124, "TIMEOUT"
            os.killpg(process.pid, signal.SIGKILL)
        output.seek(0)
        return status, output.read(1_000_000).decode(errors="replace") + said


def _option(text: str, names: str) -> str | None:
    found = re.search(_OPTION.format(names), text, re.M)
    return found[1] if found else None


def _environment(text: str, top: Path) -> dict[str, str]:
    """Variables of a job as Slurm sets them: some only if the option was given."""
    given = {
        "SLURM_NTASKS": _option(text, "-n|--ntasks"),
        "SLURM_CPUS_PER_TASK": _option(text, "-c|--cpus-per-task"),
        "SLURM_JOB_NUM_NODES": _option(text, "-N|--nodes") or "1",
        "SLURM_JOB_PARTITION": _option(text, "-p|--partition") or "main",
        "SLURM_JOB_NAME": (_option(text, "-J|--job-name") or "job").strip("\"'"),
    }
    if not given["SLURM_NTASKS"] and (each := _option(text, "--ntasks-per-node")):
        given["SLURM_NTASKS"] = str(int(each) * int(given["SLURM_JOB_NUM_NODES"] or 1))
    if array := _option(text, "-a|--array"):
        given |= {"SLURM_ARRAY_JOB_ID": "4711", "SLURM_ARRAY_TASK_ID": re.split("[-,:%]", array)[0]}
    return {name: value for name, value in given.items() if value} | {
        "PATH": f"{top}/bin:/usr/sbin:/usr/bin:/bin",
        "HOME": str(top), "USER": "alice", "TMPDIR": f"{top}/tmp", "LANG": "C.UTF-8",
        "SLURM_JOB_ID": "4711", "SLURM_SUBMIT_DIR": f"{top}/work", "SLURMD_NODENAME": "node1",
        "SLURM_JOB_NODELIST": "node1", "SLURM_CPUS_ON_NODE": "4",
        "BASH_ENV": f"{top}/modules.sh", "MODULES": str(SITE / "modulefiles"),
    }  # fmt: skip


def _limits(job: Job, text: str) -> list[str]:
    """The memory asked, as a limit."""
    asked = re.fullmatch(r"(\d+)([MG])", _option(text, "--mem") or "")
    if not (job.memory and asked):
        return []
    return ["prlimit", f"--as={int(asked[1]) * (2**30 if asked[2] == 'G' else 2**20)}"]


def _output_refused(text: str, work: Path) -> str:
    """The log of slurmd where the folder of the output does not exist: the job fails silently."""
    for names in ("-o|--output", "-e|--error"):
        pattern = _option(text, names)
        if pattern and pattern != "=" and not (work / pattern).parent.is_dir():
            return f"could not open {pattern}: No such file or directory"
    return ""
