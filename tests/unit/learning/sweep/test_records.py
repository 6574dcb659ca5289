import json
import math
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jobsight.learning.sweep.records import Best, RunStatus, read_all, read_record
from jobsight.learning.tracking import RECORD, RunEnd, Tracker

POINT = {"j": 20, "lstm_layers": 2}


def write(folder: Path, *lines: Any, tail: bytes = b"") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / RECORD).write_bytes(text.encode() + tail)
    return folder


def start(moment: int = 1_000_000, **more: Any) -> dict[str, Any]:
    told = {"event": "start", "time": moment, "run": 7, "attempt": 1, "host": "a", "epoch": 0}
    return {**told, "parameters": POINT, "seed": 3, **more}


def epoch(number: int, moment: int = 2_000_000, **values: Any) -> dict[str, Any]:
    return {"event": "epoch", "time": moment, "epoch": number, "seconds": 0.5, **values}


def test_a_whole_run_as_the_tracker_wrote_it(tmp_path: Path) -> None:
    with Tracker(tmp_path / "0007") as kept:
        kept.start(run=7, parameters=POINT, seed=3)
        kept.epoch(1, {"train_loss": 0.7, "f1": 0.6, "seconds": 1.0})
        kept.epoch(2, {"train_loss": 0.6, "f1": math.nan, "seconds": 1.0})
        kept.note("offline")
        metrics = {"f1": 0.61, "brier": math.nan}
        kept.end(RunEnd("finished", None, 2, 1, metrics, 9.0, 8.0, 1 << 30))
    found = read_record(tmp_path / "0007")
    assert (found.run, found.seed, found.parameters) == (7, 3, POINT)
    assert found.status is RunStatus.FINISHED
    assert found.status.ended
    assert found.status.successful
    assert found.epochs.number.tolist() == [1, 2]
    np.testing.assert_array_equal(found.epochs.columns["f1"], [0.6, math.nan])
    assert found.metrics["f1"] == 0.61
    assert math.isnan(found.metrics["brier"])
    assert found.best("f1", "maximize") == Best(0.61, 1)
    assert found.best("brier", "minimize") is None
    assert (found.seconds, found.cpu_seconds, found.peak_bytes) == (9.0, 8.0, 1 << 30)
    assert found.attempts == len(found.history) == 1
    assert found.skipped == 0


def test_a_resumed_run_says_epochs_again_and_the_later_line_counts(tmp_path: Path) -> None:
    first = (start(), epoch(1, f1=0.5), epoch(2, f1=0.9), {"event": "stopped", "reason": "evicted"})
    assert read_record(write(tmp_path, *first)).status is RunStatus.STOPPED
    assert read_record(tmp_path).history[-1].ending == "evicted"
    again = start(9_000_000, attempt=2, host="b", epoch=1)
    found = read_record(write(tmp_path, *first, again, epoch(2, 10_000_000, f1=0.6)))
    assert found.status is RunStatus.RUNNING
    assert found.attempts == 2
    assert [one.host for one in found.history] == ["a", "b"]
    assert found.epochs.columns["f1"].tolist() == [0.5, 0.6]
    assert found.epochs.time.tolist() == [2_000_000, 10_000_000]
    assert (found.started, found.last_update) == (1_000_000, 10_000_000)
    assert found.seconds == 1.5


def test_a_save_is_no_end_of_an_attempt_and_no_start(tmp_path: Path) -> None:
    saved = {"event": "stopped", "time": 2_500_000, "reason": "saved"}
    there = [start(), epoch(1), saved]
    found = read_record(write(tmp_path, *there))
    assert found.status is RunStatus.STOPPED
    assert [one.ending for one in found.history] == ["saved"]
    again = start(3_000_000, attempt=2, epoch=1)
    found = read_record(write(tmp_path, *there, again, epoch(2, 4_000_000), saved))
    assert found.attempts == 1
    assert [(one.host, one.started, one.epoch) for one in found.history] == [("a", 1_000_000, 2)]
    elsewhere = start(9_000_000, attempt=3, host="b", epoch=2)
    found = read_record(write(tmp_path, *there, again, epoch(2, 4_000_000), elsewhere))
    assert (found.attempts, found.status) == (2, RunStatus.RUNNING)
    assert [(one.host, one.ending) for one in found.history] == [("a", "lost"), ("b", None)]


def test_another_training_in_the_same_folder_starts_over(tmp_path: Path) -> None:
    other = start(parameters={"j": 30})
    found = read_record(write(tmp_path, start(), epoch(1), epoch(2), other, epoch(1, f1=0.4)))
    assert found.parameters == {"j": 30}
    assert found.epochs.number.tolist() == [1]


def test_the_best_so_far_follows_the_goal(tmp_path: Path) -> None:
    lines = [epoch(1, f1=None), epoch(2, f1=0.6), epoch(3, f1=0.8), epoch(4, f1=0.8)]
    found = read_record(write(tmp_path, start(), *lines))
    assert found.best("f1", "maximize") == Best(0.8, 3)
    assert found.best("f1", "minimize") == Best(0.6, 2)
    assert found.best("unknown", "maximize") is None


@pytest.mark.parametrize("status", ["failed", "dropped"])
def test_how_a_run_came_to_nothing(tmp_path: Path, status: str) -> None:
    end = {"event": "end", "time": 3, "status": status, "cause": "loss is\x1b[31m NaN\n" * 99}
    found = read_record(write(tmp_path, start(), epoch(1, f1=0.9), end))
    assert found.status == status
    assert not found.status.successful
    assert found.cause is not None
    assert len(found.cause) <= 300
    assert found.cause.isprintable()
    assert found.best("f1", "maximize") is None


def test_a_run_that_waits_knows_its_point(tmp_path: Path) -> None:
    assert read_record(tmp_path / "0003").status is RunStatus.WAITING
    (tmp_path / "0003").mkdir()
    (tmp_path / "0003" / "point.json").write_text('{"run": 3, "parameters": {"j": 5}}')
    found = read_record(tmp_path / "0003")
    assert (found.run, found.parameters, found.status) == (3, {"j": 5}, RunStatus.WAITING)
    assert len(found.epochs) == 0


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"[1, 2]",
        b'{"event": "epoch", "epoch": -1}',
        b'{"event": "epoch", "epoch": true}',
        b'{"event": "epoch", "epoch": 1e3}',
        b'{"event": "record"}',
        b'{"event": {"a": 1}}',
        b'{"event": "end", "status": ["finished"]}',
        b'{"event": "end", "status": "lost"}',
        b'{"event": "start", "parameters": 3}',
        b"[" * 100_000,
        b'{"event": "note", "text": "' + b"x" * (2 << 20) + b'"}',
        b"\xff\xfe\x00",
    ],
)
def test_a_line_that_cannot_be_used_is_counted(tmp_path: Path, line: bytes) -> None:
    write(tmp_path, start(), epoch(1, f1=0.5), tail=line + b"\n")
    with (tmp_path / RECORD).open("ab") as stream:
        stream.write(json.dumps(epoch(2, f1=0.6)).encode() + b"\n")
    found = read_record(tmp_path)
    assert found.skipped == 1
    assert found.epochs.columns["f1"].tolist() == [0.5, 0.6]
    assert found.status is RunStatus.RUNNING


def test_absurd_numbers_do_no_harm(tmp_path: Path) -> None:
    line = b'{"event": "epoch", "epoch": 1, "time": -5, "f1": 1e999, "x": 1' + b"0" * 400 + b"}\n"
    write(tmp_path, start(time=2**80, seed=-1), tail=line)
    found = read_record(tmp_path)
    assert found.seed is None
    assert np.isnan(found.epochs.columns.get("f1", np.array([math.nan]))).all()


def test_what_is_no_file_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / RECORD).mkdir()
    found = read_record(tmp_path)
    assert found.status is RunStatus.UNREADABLE
    assert found.cause is not None
    assert RECORD in found.cause


def test_a_record_far_larger_than_any_run_writes_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, start(), epoch(1))
    os.truncate(tmp_path / RECORD, (64 << 20) + 1)
    found = read_record(tmp_path)
    assert found.status is RunStatus.UNREADABLE
    assert found.cause is not None
    assert found.cause.endswith("record.jsonl: it is larger than 64 MiB")


def test_all_runs_in_order_and_quickly(tmp_path: Path) -> None:
    lines = [epoch(n, train_loss=0.5, select_loss=0.5, f1=0.5, roc_auc=0.6) for n in range(1, 21)]
    for number in range(1, 1001):
        write(tmp_path / f"{number:04d}", start(run=number), *lines)
    write(tmp_path / "10000", start(run=10_000))
    (tmp_path / "notes").mkdir()
    begun = time.process_time()
    found = read_all(tmp_path)
    assert time.process_time() - begun < 5
    assert [record.run for record in found] == [*range(1, 1001), 10_000]
    assert all(len(record.epochs) == 20 for record in found[:-1])
    assert read_all(tmp_path / "missing") == []
