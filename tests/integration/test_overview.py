"""``jobsight`` without a verb at a terminal, about jobs of a real Slurm and a real HTCondor."""

from __future__ import annotations

import os
import pty
import shlex
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path

from tests.testbed.condor import HtcondorPool
from tests.testbed.slurm import SlurmCluster

JOBSIGHT = (sys.executable, "-m", "jobsight")


def at_terminal(environment: Mapping[str, str]) -> str:
    """What the command prints to a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    with subprocess.Popen(
        JOBSIGHT, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE, env=environment
    ) as command:
        os.close(theirs)
        printed = b""
        try:
            while part := os.read(ours, 1 << 16):
                printed += part
        except OSError:  # the terminal was closed
            pass
        finally:
            os.close(ours)
        assert command.stderr is not None
        error = command.stderr.read().decode()
    assert command.returncode == 0, error
    return printed.decode().replace("\r\n", "\n")


def test_the_screen_of_a_user_of_both_schedulers_without_a_store(
    slurm_cluster: SlurmCluster, condor_pool: HtcondorPool, tmp_path: Path
) -> None:
    failed = slurm_cluster.submit("exit 3", "-J", "bad.sh", user="bob")
    later = slurm_cluster.submit("exit 0", "-H", "-J", "later.sh", user="bob")
    long = slurm_cluster.submit("exit 0", "-p", "short", "-t", "10", "-J", "long.sh", user="bob")
    held = condor_pool.submit("exit 1", user="bob", on_exit_hold="true")
    slurm_cluster.wait_accounted(failed)
    condor_pool.wait_held(held)
    slurm_cluster.wait_for(long, lambda _: "PartitionTimeLimit" in slurm_cluster.run(
        "squeue", "-h", "-o", "%r", "-j", long), "to be refused")  # fmt: skip
    folders = [slurm_cluster.bin, condor_pool.bin, Path(sys.executable).parent, "/usr/bin", "/bin"]
    environment = {
        "PATH": ":".join(map(str, folders)), "LOGNAME": "bob", "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path), "JOBSIGHT_CONFIG": os.devnull, "NO_COLOR": "1",
        "TMPDIR": str(tmp_path),
    }  # fmt: skip
    try:
        printed = at_terminal(environment)
        first, *parts = printed.strip("\n").split("\n\n")
        for part in parts:
            for command in part.rpartition("  more: ")[2].split("; "):
                words = [*JOBSIGHT, *shlex.split(command)[1:]]
                subprocess.run(words, env=environment, check=True, capture_output=True)
    finally:
        slurm_cluster.cancel(later)
        slurm_cluster.cancel(long)
        condor_pool.remove(held)
    assert first.startswith("bob: 2 held, 1 pending, 0 running, 1 failed"), printed
    of = {part.partition(":")[0]: part for part in parts}
    assert list(of) == ["held", "pending", "failed in the last 24 h"]
    assert f"{held}.0" in of["held"] and "held by its user" in of["held"]
    assert "blocked" in of["pending"] and "its time limit is longer" in of["pending"]
    assert "bad.sh" in of["failed in the last 24 h"] and "exit code 3" in printed
