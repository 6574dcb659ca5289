"""Whatever a log holds, the reader ends, reports, and keeps what is sound.

With ``JOBSIGHT_PROVE=1`` many more examples are tried.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from tests.support.limits import PROVE
from tests.support.logtext import (
    ABORTED,
    DATE,
    EXECUTE,
    HELD,
    RELEASED,
    SEPARATOR,
    SUBMIT,
    TERMINATED,
    Event,
    Skip,
    header,
    information,
    read,
    record,
)

fuzz = settings(
    max_examples=4000 if PROVE else 60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

TRANSFER = "Started transferring input files\n\tTransferring to host: <192.0.2.7:1>\n"
EVICTED = (
    "Job was evicted. Code 13 Subcode 2\n\t(0) CPU times\n"
    "\t0  -  Run Bytes Sent By Job\n\t0  -  Run Bytes Received By Job\n"
    "\tReason: no file\n\tPartitionable Resources :    Usage  Request Allocated\n"
    "\t   Cpus                 :        1        1         1\n"
)
AD = (
    'Name = "a \\\\ \\"b\\" \\u00e9"\nReal = 1.5e3\nTruth = TRUE\nNone = undefined\nOwner = "u01"\n'
)
BODIES = (
    (0, SUBMIT + "    DAG Node: A\n"),
    (1, EXECUTE),
    (4, EVICTED),
    (5, TERMINATED),
    (6, "Image size of job updated: 72\n\t12  -  MemoryUsage of job (MB)\n"),
    (7, "Shadow exception!\n\tone\n\ttwo\n\t0  -  Run Bytes Sent By Job\n"),
    (8, "Global JobLog: ctime=1767322800 id=a.1.2.3 sequence=1 size=0 offset=0\n"),
    (9, ABORTED),
    (12, HELD),
    (12, "Job was held.\n\tcafé\n\tCode 1 Subcode 0\nthree\n\tCode 26 Subcode 0\n"),
    (13, RELEASED),
    (21, "Error from starter on slot1@b:\n\tone\n\ttwo\n\tCode 6 Subcode 7\n"),
    (22, "Job disconnected\n    why\n    Trying to reconnect to slot1@b <192.0.2.7:1>\n"),
    (33, 'Changing job attribute A from "1" to "2"\n'),
    (40, TRANSFER),
    (47, "Common files event: Started\n\twaiting\n"),
)
DATES = (DATE, "2026-01-02T03:04:05.678", "01/02 03:04:05", "2026-01-02 03:04:05+01:00")


@st.composite
def _records(draw: st.DrawFn) -> bytes:
    code, body = draw(st.sampled_from(BODIES))
    job = draw(st.sampled_from(["1.000.000", "2.000.000", "2.1234.000"]))
    date = draw(st.sampled_from(DATES))
    data = record(code, body, job, date)
    if draw(st.booleans()):
        data += information(code, job, date, extra=AD)
    return data.replace(b"\n", b"\r\n") if draw(st.integers(0, 9)) == 0 else data


LOGS = st.lists(_records(), max_size=8)
RUBBISH = st.one_of(
    # What begins with an ad's own marks is rightly read as an XML log.
    st.binary(max_size=60).filter(lambda data: b"<c>" not in data and b"<a n=" not in data),
    st.lists(
        st.sampled_from(
            [b"\n", b"...", b"...\n", b"\0", b"\r", b"(", b"\xff", b"\t", b" = ", b'"', b"028 ",
             b"\tCode 1 Subcode 2\n", header(5).encode(), header(28).encode(), header(12).encode(),
             b"Owner", b"TriggerEventTypeNumber = 12", b"A = 1\n", b"Global JobLog: id=1 "]
        ),
        max_size=8,
    ).map(b"".join),
)  # fmt: skip


@st.composite
def _mutated(draw: st.DrawFn) -> tuple[list[bytes], int, bytes, int]:
    """A sound log (its records), and a mutation: bytes from … to give way to others."""
    log = draw(LOGS)
    whole = b"".join(log)
    start = draw(st.integers(0, len(whole)))
    kind = draw(st.sampled_from(["delete", "insert", "flip", "copy", "replace"]))
    end = (
        start if kind in ("insert", "copy") else min(len(whole), start + draw(st.integers(1, 300)))
    )
    if kind == "flip":
        end = min(len(whole), start + draw(st.integers(1, 4)))
        inner = bytes(byte ^ draw(st.integers(1, 255)) for byte in whole[start:end])
    elif kind == "copy":
        at = draw(st.integers(0, len(whole)))
        inner = whole[at : at + draw(st.integers(1, 300))]
    else:
        inner = b"" if kind == "delete" else draw(RUBBISH)
    return log, start, inner, end


def check_shape(events: list[Event], skipped: list[Skip], size: int) -> None:
    """What holds for every input."""
    end = 0
    for offset, length, reason in skipped:
        assert end <= offset and length > 0 and reason
        end = offset + length
    assert end <= size
    offsets = [event["offset"] for event in events]
    assert len(set(offsets)) == len(offsets)
    for event in events:
        assert 0 <= event["offset"] < size
        inside = (offset <= event["offset"] < offset + length for offset, length, _ in skipped)
        assert not any(inside)
        for value in event.values():
            if isinstance(value, str):
                value.encode("utf-8")
        if "attributes" in event:
            assert isinstance(json.loads(event["attributes"]), dict)


def _sound_outside(log: Iterable[bytes], start: int, end: int) -> list[int]:
    """Where the records begin that end before a stretch or begin behind it."""
    offsets, at = [], 0
    for piece in log:
        for part in piece.split(b"...\r\n" if b"\r" in piece else SEPARATOR):
            size = len(part) + (5 if b"\r" in piece else 4)
            if part and (at + size <= start or at >= end):
                offsets.append(at)
            at += size if part else 0
    return offsets


@fuzz
@given(st.one_of(st.binary(max_size=400), st.lists(RUBBISH, max_size=12).map(b"".join)))
def test_any_bytes(data: bytes) -> None:
    assume(not data.startswith(b"PK"))  # a damaged zip archive is an error of its own
    events, skipped = read(data)
    check_shape(events, skipped, len(data))


@fuzz
@given(LOGS)
def test_a_sound_log_is_read_whole(log: list[bytes]) -> None:
    data = b"".join(log)
    events, skipped = read(data)
    assert skipped == []
    assert sorted(event["offset"] for event in events) == _sound_outside(log, len(data), len(data))


@fuzz
@example(([record(13, RELEASED)] * 2, 0, b"<!DOCTYPE", 0))
@given(_mutated())
def test_what_lies_outside_of_damage_is_kept(case: tuple[list[bytes], int, bytes, int]) -> None:
    log, start, inner, end = case
    whole = b"".join(log)
    data = whole[:start] + inner + whole[end:]
    events, skipped = read(data)
    check_shape(events, skipped, len(data))
    found = {event["offset"] for event in events}
    moved = len(inner) - (end - start)
    for offset in _sound_outside(log, start, end):
        if offset + 4 <= start:
            assert offset in found
        elif _is_cut_off(data, offset + moved):
            assert offset + moved in found


def _is_cut_off(data: bytes, at: int) -> bool:
    """Whether a record behind damage begins a line or follows a separator."""
    return data[:at].endswith((b"\n", b"..."))


@fuzz
@given(_mutated(), st.integers(1, 500))
def test_chunks_do_not_matter(case: tuple[list[bytes], int, bytes, int], size: int) -> None:
    log, start, inner, end = case
    whole = b"".join(log)
    data = whole[:start] + inner + whole[end:]
    assert read(data, chunk=size) == read(data)
