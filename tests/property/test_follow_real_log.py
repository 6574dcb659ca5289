"""A real pool's log, written and rotated in pieces of any size, followed: the same documents."""

from __future__ import annotations

import gzip
import random
import tempfile
from functools import lru_cache
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.growing import Follower, GrowingLog, read_at_once
from tests.support.limits import examples

DATA = Path(__file__).resolve().parents[2] / "data"
SEPARATOR = b"\n...\n"
SIZE = 120_000


@lru_cache(1)
def pool() -> bytes:
    """The first records of the pool's log, without its header."""
    with gzip.open(DATA / "pool-a.log.gz") as log:
        data = log.read(SIZE)
    return data[data.index(SEPARATOR) + 5 : data.rindex(SEPARATOR) + 5]


@settings(max_examples=examples(25))
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([37, 400, 20_000]))
def test_a_real_log_in_pieces(seed: int, headers: bool, most: int) -> None:
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        log = GrowingLog(Path(folder), headers=headers)
        one = Follower(log.path, events_per_poll=most, bytes_per_poll=16384)
        data, at = pool(), 0
        while at < len(data):
            end = min(at + chance.randrange(1, 20_000), len(data))
            log.write(data[at:end])
            at = end
            for _ in range(chance.randrange(3)):
                one.poll()
            if chance.random() < 0.2:
                one.close()
                one.restart()
            if chance.random() < 0.3:
                # Rotation comes between two records.
                end = data.index(SEPARATOR, max(at - 5, 0)) + 5
                log.write(data[at:end])
                at = end
                log.rotate()
        one.catch_up()
        one.close()
        assert one.documents == read_at_once(sorted(Path(folder).iterdir()))
        assert one.source.status()["skipped"] == one.source.status()["gaps"] == 0


@settings(max_examples=examples(10))
@given(st.sampled_from(["json", "xml"]), st.integers(0, 10**6), st.integers(1, 60))
def test_ads_in_pieces(form: str, seed: int, most: int) -> None:
    chance = random.Random(seed)
    whole = (DATA / "forms" / form / "EventLog").read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "EventLog")
        log.write_bytes(b"")
        one = Follower(log, events_per_poll=most)
        at = 0
        while at < len(whole):
            end = at + chance.randrange(1, 9000)
            with log.open("ab") as file:
                file.write(whole[at:end])
            at = end
            for _ in range(chance.randrange(3)):
                one.poll()
            if chance.random() < 0.2:
                one.close()
                one.restart()
        one.catch_up()
        one.close()
        assert one.documents == read_at_once([log])
