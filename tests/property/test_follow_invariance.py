"""Whenever a log is looked at, and however often the follower is killed, the documents are the same
as those of the finished log read at once."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.growing import Follower, GrowingLog, event, held, read_at_once
from tests.support.limits import examples

_WRITE = st.tuples(st.just("write"), st.integers(0, 3), st.integers(1, 6))
_PART = st.tuples(st.just("part"), st.integers(0, 3), st.integers(1, 300))
_LATE = st.tuples(st.just("late"), st.integers(0, 3), st.integers(1, 2))
_OTHER = st.sampled_from([("rotate",), ("poll",), ("poll",), ("restart",)])
_STEPS = st.lists(st.one_of(_WRITE, _PART, _LATE, _OTHER), min_size=1, max_size=40)


def _play(log: GrowingLog, follower: Follower, steps: list[tuple[Any, ...]]) -> None:
    number = 0
    rest = b""  # of a record that is being written
    for step in steps:
        match step:
            case ("write", job, count):
                data = rest + b"".join(event(number + k, job) for k in range(count))
                number, rest = number + count, b""
                log.write(data)
            case ("part", job, cut):
                data = rest + event(number, job)
                number += 1
                rest = data[cut:]
                log.write(data[:cut])
            case ("late", job, age):
                # Without an ad: where two tell one attribute, the later wins, and which is later
                # is known of whole documents only.
                number += -number % 4
                log.write(held(number, job), age=age)
                number += 1
            case ("rotate",):
                log.write(rest)
                rest = b""
                log.rotate()
            case ("poll",):
                follower.poll()
            case ("restart",):
                follower.close()
                follower.restart()
    log.write(rest)


@settings(max_examples=examples(150))
@given(_STEPS, st.sampled_from([1, 2, 7, 1000]), st.sampled_from([4096, 1 << 20]))
def test_documents_do_not_depend_on_when_the_log_is_looked_at(
    steps: list[tuple[Any, ...]], most: int, room: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = GrowingLog(Path(folder))
        follower = Follower(log.path, events_per_poll=most, bytes_per_poll=room)
        _play(log, follower, [("write", 0, 1), *steps])
        follower.catch_up()
        follower.close()
        assert follower.documents == read_at_once(sorted(Path(folder).iterdir()))
        assert follower.source.status()["gaps"] == 0
