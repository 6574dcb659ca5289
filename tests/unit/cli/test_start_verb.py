"""The command itself, on a store of made jobs."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess

import msgspec
import pytest
from tests.support.calling import jobsight
from tests.support.failingjobs import ran
from tests.support.storedjobs import HOSTILE, SECOND, START, filled, told

from jobsight.documents import State
from jobsight.store import open_store

AT = ("--at", "2026-11-21 06:00:00Z", "--timezone", "UTC")
Run = Callable[..., CompletedProcess[str]]


@pytest.fixture
def start() -> Run:
    return partial(jobsight, "start")


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A machine of four CPUs: twenty runs, one that runs, and two jobs that wait."""
    ended = [ran(number, number * 700.0) for number in range(20)]
    runs = ran(50, 15_500, None)
    waiting = [ran(51, 15_700, waits=True), ran(52, 15_800, waits=True, name=HOSTILE)]
    return filled(tmp_path / "jobs.db", [*ended, runs, *waiting])


def test_answers_in_words_and_as_json(start: Run, store: str) -> None:
    said = start("51", "--store", store, *AT)
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith("likely starts between 06:04:")
    assert "waits for · 1 running job with 4 CPUs" in said.stdout
    assert "runs      10 min to 10 min, half under 10 min" in said.stdout
    assert "play (uncalibrated), as of 2026-11-21 06:00:00Z" in said.stdout
    found = json.loads(start("51", "--store", store, *AT, "--json").stdout)
    assert found["wait_s"] == pytest.approx([259, 259, 259], abs=2)
    assert found["moment"] == "pending" and found["blocked"] is None


def test_what_slurm_says_and_what_is_not_seen(start: Run, tmp_path: Path) -> None:
    waits = ran(51, 15_700, waits=True, cpus=1, memory=None)
    estimate = json.dumps({"StartEstimate": START // SECOND + 20_000})
    seen = told(15_800, State.PENDING, source="squeue", reason="Resources", attributes=estimate)
    waits = msgspec.structs.replace(waits, timeline=(*waits.timeline, seen))
    limited = ran(52, 15_700, waits=True)
    seen = told(15_800, State.PENDING, source="squeue", reason="JobArrayTaskLimit")
    limited = msgspec.structs.replace(limited, timeline=(*limited.timeline, seen))
    runs = [ran(50, 15_500, None, cpus=1), ran(49, 100), ran(48, 900, user="bob")]
    store = filled(tmp_path / "jobs.db", [*runs, waits, limited])
    said = start("51", "--store", store, *AT).stdout
    assert said.startswith("likely starts between 06:04:")
    assert "Slurm says Resources; it is planned for 07:08, if all that run use up" in said
    store = filled(tmp_path / "own.db", [*runs[:2], waits, limited])
    said = start("51", "--store", store, *AT).stdout
    assert said.startswith("Slurm plans its start for 07:08:")
    assert "only jobs of ann are seen here" in said
    table = start("--pending", "--store", store, *AT).stdout
    assert "only jobs of ann are seen here" in table


def test_the_queue_is_a_table_in_order_of_expected_starts(start: Run, store: str) -> None:
    said = start("--pending", "--store", store, *AT)
    lines = said.stdout.splitlines()
    assert lines[0].startswith("2 jobs pending as of 2026-11-21 06:00:00Z")
    assert "  51 " in lines[-2] and "  52 " in lines[-1]
    assert "\x1b" not in said.stdout


def test_a_script_with_options(start: Run, store: str, tmp_path: Path) -> None:
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/bash\n#SBATCH --time=10\n#SBATCH -c 4\n")
    said = start(str(script), "--partition=main", "--store", store, *AT)
    assert said.returncode == 0, said.stderr
    assert "job.sh" in said.stdout and "if it is submitted now" in said.stdout
    assert "2 jobs ahead with 8 CPUs" in said.stdout


def test_the_queue_that_scontrol_printed(start: Run, tmp_path: Path) -> None:
    accounts = tmp_path / "accounts.psv"
    accounts.write_text(
        "JobID|Cluster|State|Submit|Start|End|Partition|User|ReqMem\n"
        "7|testbed|PENDING|2026-11-28T09:03:04|Unknown|Unknown|main|bob|16?\n"
        "8|testbed|DONE|2026-11-28T09:03:04|Unknown|Unknown|main|bob|1G\n"
    )
    # It names no cluster, so it is of the only one of the accounts.
    both = ("--import", "data/samples/scontrol.txt", "--import", str(accounts))
    said = start("7", *both, "--model", "none", "--timezone", "UTC")
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith("its start is not known:  job 7 (lic2) of bob on testbed")
    assert "waits for · licenses (Licenses)" in said.stdout
    assert "1 bad value left out; the rest of the row was imported:" in said.stderr
    assert f"{accounts}:2: column reqmem: '16?' is not an amount" in said.stderr
    assert f"{accounts}:3: column State: 'DONE' is not a state" in said.stderr
    said = start("--pending", "--import", "data/samples/squeue-22.05.json", "--model", "none")
    assert said.stdout.startswith("10 jobs pending as of 2026-11-28 09:04:43Z")
    assert said.stdout.count("JobArrayTaskLimit") == 8


def test_answers_are_kept(start: Run, store: str) -> None:
    assert start("51", "--store", store, *AT, "--save").returncode == 0
    with open_store(store) as opened:
        document = opened.get(["slurm:grid:51"])["slurm:grid:51"].document
    (kept,) = document.predictions
    assert kept.question == "start" and len(kept.answer["wait_s"]) == 3


def test_without_slurm_no_folder_is_made_for_what_it_says(
    start: Run, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert start("--pending", "--store", store).returncode == 0
    assert not (tmp_path / "cache" / "jobsight" / "machine").exists()
