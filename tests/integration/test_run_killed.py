"""A run that is killed, starved of disk or asked to go ends as one that was left alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support import pools
from tests.support.limits import PROVE

from jobsight.learning.sweep.records import RunStatus, read_record

pytest.importorskip("torch", reason="PyTorch is not installed")

KILLS = 60 if PROVE else 5
EPOCHS = 30 if PROVE else 8

Attempts = Callable[..., tuple[list[int], str]]

# One process imports all that a run needs, and forks a child an attempt: what is killed is a run at
# work, not a Python starting. No thread runs before the fork.
CHILDREN = """
import json, os, random, signal, sys, time
from pathlib import Path

import polars as pl
import torch
import jobsight.models.recurrent, jobsight.models.network, jobsight.models.fitting
from jobsight.errors import JobsightError
from jobsight.history.timelines import History
from jobsight.learning.tracking import Tracker
from jobsight.learning.sweep.run import train_run
from jobsight.learning.sweep.config import SweepConfig
import jobsight.questions.hold.question

reason = []
stop = lambda: reason[0] if reason else None

def attempt(order, folder):
    signal.signal(signal.SIGTERM, lambda *_: reason.append("evicted"))
    signal.signal(signal.SIGUSR1, lambda *_: reason.append("limit"))
    os.dup2(os.open(order["said"], os.O_WRONLY | os.O_APPEND), 2)
    try:
        with Tracker(folder) as tracker:
            result = train_run(
                folder, lambda: History.from_table(pl.read_parquet(order["table"])),
                SweepConfig.model_validate(order["config"]),
                parameters=order["parameters"], run=3, tracker=tracker, stop=stop,
            )
    except JobsightError as error:
        print(error, file=sys.stderr, flush=True)
        return 1
    return 0 if result.end else 85

def lines(folder):
    path = folder / "record.jsonl"
    return path.read_bytes().count(b"\\n") if path.exists() else 0

def wait(child, folder, chance):
    # Until a random moment: while it prepares, in its first epoch, after one, after two.
    wanted = lines(folder) + chance.randrange(4)
    ended = os.WEXITED | os.WNOHANG | os.WNOWAIT
    while lines(folder) < wanted and os.waitid(os.P_PID, child, ended) is None:
        time.sleep(0.002)
    time.sleep(chance.choice([0.0, chance.uniform(0.0, 0.05), chance.uniform(0.0, 0.5)]))

def statuses(order, folder, chance):
    for sent in [*order["signals"], 0]:
        child = os.fork()
        if not child:
            status = 99  # of an error that is none of ours
            try:
                status = attempt(order, folder)
            finally:
                os._exit(status)
        if sent:
            wait(child, folder, chance)
            os.kill(child, sent)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        yield status
        if status == 0:
            break

for line in sys.stdin:
    order = json.loads(line)
    found = list(statuses(order, Path(order["folder"]), random.Random(order["seed"])))
    print(json.dumps(found), flush=True)
"""


@pytest.fixture(scope="module")
def attempts(tmp_path_factory: pytest.TempPathFactory, table: Path) -> Iterator[Attempts]:
    """Exit status of each attempt at a run, and what was said; `signals` end all but the last."""
    errors = tmp_path_factory.mktemp("said") / "errors"
    usual = {
        "table": str(table),
        "said": str(errors),
        "seed": 1,
        "signals": [],
        "parameters": {"m": 8, "batch_size": 16},
        "config": pools.sweep_of(
            pools.settings(lstm={"hidden_size": 8, "epochs": EPOCHS, "patience": EPOCHS})
        ).model_dump(mode="json"),
    }
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", CHILDREN], stdin=pipe, stdout=pipe, text=True,
        env=os.environ | {"POLARS_MAX_THREADS": "1"},
    ) as process:  # fmt: skip

        def made(folder: Path, **order: Any) -> tuple[list[int], str]:
            assert process.stdin is not None and process.stdout is not None
            errors.write_text("")
            print(
                json.dumps(usual | {"folder": str(folder)} | order), file=process.stdin, flush=True
            )
            return json.loads(process.stdout.readline()), errors.read_text()

        yield made


def kept(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "model").iterdir()}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("history") / "table.parquet"
    pools.events(clusters=130).write_parquet(path)
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, attempts: Attempts) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    assert attempts(folder) == ([0], "")
    return folder


def test_killed_at_any_moment(
    tmp_path: Path, attempts: Attempts, whole: Path, record_property: Any
) -> None:
    codes, said = attempts(tmp_path, signals=[9] * KILLS)
    assert said == ""
    assert set(codes[:-1]) <= {-9}
    assert codes[-1] == 0
    assert kept(tmp_path) == kept(whole)
    record = read_record(tmp_path)
    assert record.status is RunStatus.FINISHED
    assert record.epochs.number.tolist() == list(range(1, EPOCHS + 1))
    assert record.metrics == read_record(whole).metrics
    names = {path.name for path in (tmp_path / "checkpoint").iterdir() if path.name[0] != "."}
    assert names == {"checkpoint.safetensors"}, "none is set aside"
    record_property("kills", len(codes) - 1)


def test_asked_to_go_it_saves_and_says_so(tmp_path: Path, attempts: Attempts, whole: Path) -> None:
    codes, _ = attempts(tmp_path, signals=[15, 10, 15], seed=4)
    assert codes[-1] == 0
    assert set(codes[:-1]) <= {85, -15, -10}  # before it listened, or after it
    assert kept(tmp_path) == kept(whole)
    lines = (tmp_path / "record.jsonl").read_text().splitlines()
    reasons = [json.loads(line).get("reason") for line in lines]
    assert len([one for one in reasons if one in ("evicted", "limit")]) == codes.count(85)
    # Nothing was trained twice but the epochs under way, of which no line tells.
    epochs = [json.loads(line)["epoch"] for line in lines if '"event": "epoch"' in line]
    assert epochs == list(range(1, EPOCHS + 1))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk that has room for one checkpoint and a half."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=60k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root can make a small disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_costs_no_epoch(disk: Path, attempts: Attempts, whole: Path) -> None:
    folder = disk / "run"
    codes, said = attempts(folder)
    assert codes == [1]
    assert "cannot write" in said and "No space left on device" in said
    assert "Traceback" not in said
    record = read_record(folder)
    done = int(record.epochs.number[-1])
    assert 1 <= done < EPOCHS
    assert (folder / "checkpoint" / "checkpoint.safetensors").exists()
    subprocess.run(["mount", "-o", "remount,size=8m", str(disk)], check=True)
    assert attempts(folder) == ([0], "")
    assert kept(folder) == kept(whole)
    lines = (folder / "record.jsonl").read_text().splitlines()
    starts = [json.loads(line)["epoch"] for line in lines if '"event": "start"' in line]
    assert starts == [0, done]
