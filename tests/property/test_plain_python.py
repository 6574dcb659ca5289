"""Kernels give the same in plain Python as compiled, to the last bit."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.property.test_fuzz_kernels import LINES, RECORDS, buffers
from tests.support.limits import PROVE
from tests.support.plainpython import plain_python

from jobsight.history import pastwalk
from jobsight.history.eventlog import scanner
from jobsight.history.eventlog.chunks import Chunk
from jobsight.history.eventlog.columns import Batch, Origin, batch_from_rows
from jobsight.history.events import read_events, scan_chunk
from jobsight.history.pastwalk import COLUMNS, EVENT, QUEUE_COLUMNS, grouped, walk

DATA = Path(__file__).parents[2] / "data"
HEAD = 3_000_000 if PROVE else 300_000
BUFFERS = 20_000 if PROVE else 1_000


def batch(data: bytes, last: bool) -> Batch:
    chunk = Chunk(np.frombuffer(data, np.uint8), 0, last)
    rows, skips = scan_chunk(chunk)
    origin, reasons = Origin("log", 0, None), scanner.SKIP_REASONS
    return batch_from_rows(chunk.data, rows, skips, base=0, origin=origin, reasons=reasons)


def same_events(data: bytes, last: bool) -> None:
    compiled = batch(data, last)
    with plain_python():
        plain = batch(data, last)
    assert plain.skipped == compiled.skipped, data
    assert plain.stamp.tolist() == compiled.stamp.tolist(), data
    assert plain.form.tolist() == compiled.form.tolist(), data
    for name, column in compiled.columns.items():
        assert plain.columns[name].equals(column), (name, data)


def test_damaged_logs_are_read_alike() -> None:
    for number, data in enumerate(buffers(BUFFERS, random.Random(31))):
        same_events(data, last=number % 4 > 0)


@given(st.lists(st.sampled_from(RECORDS + LINES) | st.binary(max_size=80)).map(b"".join))
def test_any_bytes_are_read_alike(data: bytes) -> None:
    same_events(data, last=True)


@given(st.text(alphabet='aA_.09 -+eE="\\\t\r\x7f\xe9{}trufalsnd', max_size=90))
def test_any_line_of_an_ad_is_read_alike(line: str) -> None:
    head = "028 (1.0.0) 2026-01-02 03:04:05 Job ad information event triggered.\n"
    text = f'{head}{line}\nA = {line}\nOwner = "{line}"\nTriggerEventTypeNumber = 1\n...\n'
    same_events(text.encode(), last=True)


def test_a_real_log_is_read_alike(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with gzip.open(DATA / "pool-a.log.gz") as stream:
        log.write_bytes(stream.read(HEAD))
    compiled = read_events([str(log)], timezone="UTC")
    with plain_python():
        plain = read_events([str(log)], timezone="UTC")
    assert plain.report.skipped == compiled.report.skipped
    assert len(plain.table) > 100
    assert plain.table.equals(compiled.table)


def drawn(draw: random.Random, count: int) -> dict[str, Any]:
    """Arguments of `walk`: some keys, jobs and events, with unknown numbers among them."""
    numbers = np.random.default_rng(draw.randrange(2**32))
    events = np.zeros(count, EVENT)
    events["time"] = np.sort(numbers.integers(0, 10**13, count))
    for name in ("seconds", "used", "memory", "limit", "cpus"):
        values = numbers.exponential(1000.0, count)
        events[name] = np.where(numbers.random(count) < 0.2, np.nan, values)
    events["before"] = numbers.integers(-1, 3, count)
    events["after"] = numbers.integers(0, 3, count)
    events["outcome"] = numbers.integers(-1, 7, count)
    jobs = max(count // 3, 1)
    moments = np.sort(numbers.integers(0, 10**13, jobs))
    floats = [np.where(numbers.random(jobs) < 0.2, np.nan, numbers.exponential(9.0, jobs))] * 2
    return {
        "codes": (numbers.integers(-1, 4, jobs), numbers.integers(-1, 4, count)),
        "events": events,
        "rows": numbers.integers(0, jobs, count).astype(np.int32),
        "own": numbers.integers(-1, jobs, jobs).astype(np.int32),
        "moments": moments,
        "floats": [one.astype(np.float32) for one in (*floats, numbers.random(jobs))],
    }


@pytest.mark.parametrize("queue", [False, True])
def test_the_past_is_walked_alike(queue: bool) -> None:
    draw = random.Random(31)
    for count in (0, 1, 5, 50, 400):
        given_ = drawn(draw, count)
        asked, happened = (grouped(one.astype(np.int32), 4) for one in given_["codes"])
        columns = QUEUE_COLUMNS if queue else COLUMNS
        found = np.full((2, len(given_["moments"]), len(columns)), np.nan, np.float32)
        arguments: Any = (
            asked, happened, given_["events"], given_["rows"], given_["own"], given_["moments"],
            *given_["floats"], queue,
        )  # fmt: skip
        walk(*(*arguments, found[0]))
        with plain_python():
            walk(*(*arguments, found[1]))
        assert np.isfinite(found[0]).any() or count < 5
        assert np.array_equal(found[0], found[1], equal_nan=True), count


@given(st.lists(st.integers(0, 5) | st.integers(0, 2**64 - 1)), st.lists(st.integers(0, 9)))
def test_keys_are_numbered_and_grouped_alike(asked: list[int], others: list[int]) -> None:
    values = np.array(asked, np.uint64), np.array(others, np.uint64)
    numbers, _, count = compiled = pastwalk.matched(*values)
    groups = grouped(numbers, count)
    with plain_python():
        plain = pastwalk.matched(*values)
        assert [one.tolist() for one in grouped(numbers, count)] == [one.tolist() for one in groups]
        assert [one.dtype for one in grouped(numbers, count)] == [one.dtype for one in groups]
    assert pl.Series(plain[0]).equals(pl.Series(compiled[0]))
    assert pl.Series(plain[1]).equals(pl.Series(compiled[1]))
    assert plain[2] == compiled[2]
