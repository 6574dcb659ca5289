"""The last error and the rate, as the status shows them."""

from __future__ import annotations

import pytest

from jobsight.errors import SourceError
from jobsight.service import logs
from jobsight.service.logs import WIDTH, LastError, Rate


def test_what_failed_last_is_kept_until_something_else_fails() -> None:
    last = LastError()
    assert last.snapshot() is None
    last.resolve()
    assert last.snapshot() is None
    last.record("source failed", SourceError("no\x1b[2J way\n" + "x" * 999))
    told = last.snapshot()
    assert told is not None
    assert (told["event"], told["text"][:11], told["over"]) == (
        "source failed",
        "no [2J way ",
        None,
    )
    assert len(told["text"]) == WIDTH
    last.record("source crashed", KeyError("a"))
    assert (last.snapshot() or {})["text"] == "KeyError: 'a'"


def test_it_is_over_once_and_only_by_what_failed() -> None:
    last = LastError()
    last.record("prune failed", SourceError("full"))
    last.resolve("store status failed")
    assert (last.snapshot() or {})["over"] is None
    last.resolve("prune failed")
    first = last.snapshot()
    assert first is not None
    assert first["over"] >= first["time"]
    last.resolve()
    assert last.snapshot() is first


class _Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> _Clock:
    made = _Clock()
    monkeypatch.setattr(logs, "monotonic", made)
    return made


def test_a_steady_flow_has_its_rate_early_and_late(clock: _Clock) -> None:
    rate = Rate()
    for _ in range(300):
        clock.now += 1.0
        rate.add(50)
        if clock.now in (10.0, 60.0, 300.0):
            assert rate.value() == pytest.approx(50, rel=0.1)


def test_what_is_long_ago_is_forgotten(clock: _Clock) -> None:
    rate = Rate()
    rate.add(1_000_000)
    clock.now = 600.0
    assert rate.value() < 1
