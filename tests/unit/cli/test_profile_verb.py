"""`jobsight profile`: exit status, output, signals, what is written."""

import json
import os
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import pytest
from tests.support.calling import jobsight
from tests.support.limits import limit

from jobsight.program.profile import CLASSES, SCHEMA

PROFILE = [sys.executable, "-m", "jobsight", "profile"]


def start(*arguments: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([*PROFILE, *arguments], stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def ran(*arguments: str) -> tuple[int, str, str]:
    process = start(*arguments)
    stdout, stderr = process.communicate("", timeout=limit(120))
    return process.returncode, stdout, stderr


def read(stream: IO[str] | None) -> str:
    assert stream is not None
    return stream.readline()


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (["sh", "-c", "exit 7"], 7),
        (["sh", "-c", "kill -TERM $$"], 128 + signal.SIGTERM),
        (["/nonexistent/program"], 127),
        (["/etc/passwd"], 126),
    ],
)
def test_the_exit_status_is_the_commands(command: Sequence[str], status: int) -> None:
    code, stdout, stderr = ran("--", *command)
    assert (code, stdout) == (status, "")
    assert stderr.startswith("jobsight: ")


def test_the_command_runs_without_a_shell_and_keeps_its_output() -> None:
    code, stdout, stderr = ran("printf", "%s %s", "--pid", "$(id)")
    assert (code, stdout) == (0, "--pid $(id)")
    assert "bound by" in stderr


def test_json_has_standard_output_for_itself() -> None:
    code, stdout, stderr = ran("--json", "--", "sh", "-c", "echo of the command; exit 3")
    found: dict[str, Any] = json.loads(stdout)
    assert (code, stderr.strip()) == (3, "of the command")
    assert (found["schema"], found["exit_status"]) == (SCHEMA, 3)
    assert list(found["shares"]) == list(CLASSES)
    assert found["shares"]["gpu"] is None
    assert "gpu" in found["unmeasured"]
    assert found["machine"]["cpus"] == os.cpu_count()


def test_a_signal_sent_to_it_reaches_the_command() -> None:
    process = start("--", "sh", "-c", 'trap "exit 5" INT; echo ready; while :; do read x; done')
    assert read(process.stdout) == "ready\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=limit(60))
    assert process.returncode == 5


def test_a_process_that_outlives_the_command_is_counted() -> None:
    script = "import os, sys\nif not os.fork(): os.setsid(); sys.stdin.read()"
    process = start("--json", "--", sys.executable, "-c", script)
    assert process.stdout is not None
    found = json.loads("".join(process.stdout))
    process.communicate(timeout=limit(60))
    assert (process.returncode, found["sampling"]["left_running"]) == (0, 1)


def test_a_running_process_is_watched_until_it_is_asked_to_end() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as other:
        process = start("--json", "--pid", str(other.pid), "--interval", "0.01")
        blocked = f"/proc/{process.pid}/status"
        while not _blocks_interrupts(blocked):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=limit(60))
        assert process.returncode == 0
        found = json.loads(stdout)
        assert (found["pid"], found["exit_status"]) == (other.pid, None)
        other.communicate()


def _blocks_interrupts(status: str) -> bool:
    lines = Path(status).read_text().splitlines()
    mask = next(line.split()[1] for line in lines if line.startswith("SigBlk:"))
    return bool(int(mask, 16) >> (signal.SIGINT - 1) & 1)


@pytest.mark.slow
def test_the_picture_is_drawn_and_replaces_nothing_else(tmp_path: Path) -> None:
    picture, other = tmp_path / "run.svg", tmp_path / "notes.svg"
    for _ in range(2):
        assert ran("-o", str(picture), "--", "true")[0] == 0
    assert ET.parse(picture).getroot().tag.endswith("svg")
    other.write_text("mine")
    code, _, stderr = ran("-o", str(other), "--", "true")
    assert (code, other.read_text()) == (1, "mine")
    assert "was not written by jobsight" in stderr


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--pid", "1", "true"],
        ["--pid", "1", "--slurm", "2"],
        ["--cachegrind"],
        ["--slurm", "2", "--drawn", "0.1"],
        ["--slurm", "2", "--json", "--drawn", "1.1"],
        ["--json", "--drawn", "0.1", "true"],
    ],
)
def test_a_call_that_is_wrong_is_refused(arguments: Sequence[str]) -> None:
    assert jobsight("profile", *arguments).returncode == 2


def test_a_process_that_does_not_run_is_an_error() -> None:
    with subprocess.Popen(["true"]) as gone:
        pass
    done = jobsight("profile", "--pid", str(gone.pid))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"jobsight: no process {gone.pid} runs on this machine\n"


@pytest.mark.slow
def test_a_loop_and_a_sleep_have_their_classes_and_cost_little() -> None:
    loop = "import time\nend = time.process_time() + 2\nwhile time.process_time() < end: pass"
    for command, classes in (
        ([sys.executable, "-c", loop], ["cpu", "memory"]),
        (["sleep", "2.5"], ["waiting"]),
    ):
        found = json.loads(ran("--json", "--", *command)[1])
        assert found["classes"] == classes
        assert found["sampling"]["own_cpu_s"] < 0.01 * found["signals"]["wall_s"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_cachegrind_tells_cpu_from_memory(tmp_path: Path) -> None:
    numbers = tmp_path / "numbers"
    numbers.write_text("".join(f"{k * 7919 % 100_003}\n" for k in range(100_000)))
    code, stdout, stderr = ran("--json", "--cachegrind", "--", "sort", "-n", str(numbers))
    found = json.loads(stdout)
    assert code == 0
    assert stderr.count("\n") == 100_001  # what the command prints, once, and a note
    assert 0 <= found["signals"]["misses_per_1000"] < 3
    assert found["shares"]["memory"] < 0.3
    assert "memory" not in found["unmeasured"]
