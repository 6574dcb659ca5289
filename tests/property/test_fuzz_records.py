"""Whatever lies in a run's folder, reading its record raises nothing and stays within bounds."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.limits import examples

from jobsight.learning.sweep.records import RunRecord, RunStatus, read_record
from jobsight.learning.tracking import RECORD, RunEnd, Tracker

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=9,
)
NAMES = [
    "event",
    "time",
    "run",
    "attempt",
    "host",
    "parameters",
    "epoch",
    "seed",
    "train_loss",
    "f1",
    "seconds",
    "text",
    "reason",
    "status",
    "cause",
    "epochs",
    "best_epoch",
    "metrics",
    "cpu_seconds",
    "peak_bytes",
]
EVENTS = st.sampled_from(["start", "epoch", "note", "stopped", "end", "other"])
LINES = st.builds(
    lambda event, rest: json.dumps({**rest, "event": event}).encode(),
    EVENTS | JSON,
    st.dictionaries(st.sampled_from(NAMES), JSON | st.integers(0, 5), max_size=9),
)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


def read(folder: Path, content: bytes) -> RunRecord:
    (folder / RECORD).write_bytes(content)
    found = read_record(folder)
    assert isinstance(found.status, RunStatus)
    assert all(len(column) == len(found.epochs) for column in found.epochs.columns.values())
    assert (found.epochs.number[1:] > found.epochs.number[:-1]).all()
    hosts = [one.host or "" for one in found.history]
    for text in (*hosts, *(one.ending or "" for one in found.history), found.cause or ""):
        assert text.isprintable()
        assert len(text) <= 300
    found.best("f1", "maximize")
    return found


@settings(max_examples=examples(150))
@given(st.binary(max_size=400) | st.lists(LINES | st.binary(max_size=40)).map(b"\n".join))
def test_any_garbage(folder: Path, content: bytes) -> None:
    read(folder, content)


def test_any_cut_of_a_record_tells_a_part_of_it(tmp_path: Path) -> None:
    with Tracker(tmp_path) as kept:
        kept.start(run=7, parameters={"j": 20})
        for number in (1, 2):
            kept.epoch(number, {"train_loss": 0.5, "f1": number / 10, "seconds": 1.0})
        kept.end(RunEnd("finished", None, 2, 2, {"f1": 0.2}))
    whole = (tmp_path / RECORD).read_bytes()
    seen = []
    for cut in range(len(whole) + 1):
        found = read(tmp_path, whole[:cut])
        lines = whole[:cut].count(b"\n") + (whole[cut : cut + 1] == b"\n")
        assert len(found.epochs) == min(max(lines - 1, 0), 2)
        assert found.epochs.columns.get("f1", []) == pytest.approx([0.1, 0.2][: len(found.epochs)])
        assert found.skipped <= 1
        seen.append(found.status.ended)
    assert seen == sorted(seen)
    assert seen[-1]


@settings(max_examples=examples(60))
@given(st.integers(0, 600), st.binary(min_size=1, max_size=60))
def test_garbage_amid_a_record_costs_no_other_line(folder: Path, place: int, bad: bytes) -> None:
    (folder / RECORD).unlink(missing_ok=True)
    with Tracker(folder) as kept:
        kept.start(run=7, parameters={"j": 20})
        for number in (1, 2, 3):
            kept.epoch(number, {"f1": number / 10})
    lines = (folder / RECORD).read_bytes().splitlines(keepends=True)
    lines.insert(place % 5, b"#" + bad.replace(b"\n", b"") + b"\n")
    found = read(folder, b"".join(lines))
    assert found.epochs.number.tolist() == [1, 2, 3]
    assert found.skipped == 1
