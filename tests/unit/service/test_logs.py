"""The log, and the last error and the rate as the status shows them."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator

import pytest

from jobsight.errors import SourceError
from jobsight.service import logs
from jobsight.service.logs import WIDTH, LastError, Rate, log, set_up

HOSTILE = 'a\x1b[31m\nb "c" \u202e' + "x" * 2000


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    logger = logging.getLogger("jobsight.service")
    before = (logger.handlers, logger.level, logger.propagate, logging.raiseExceptions)
    yield
    logger.handlers, logger.level, logger.propagate, logging.raiseExceptions = before


def test_json_is_one_ascii_object_a_line_with_hostile_text_escaped_and_bounded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    set_up("json")
    log("source failed", logging.ERROR, source=HOSTILE, count=3, share=float("nan"), none=None)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.isascii()
    told = json.loads(line)
    assert (told["event"], told["level"]) == ("source failed", "error")
    assert (told["count"], told["share"], "none" in told) == (3, None, False)
    assert len(told["source"]) <= 500
    assert told["source"].isprintable()
    assert told["time"].endswith("Z")


def test_a_field_cannot_pass_for_the_event(capsys: pytest.CaptureFixture[str]) -> None:
    set_up("json")
    log("pruned", time="1970")
    told = json.loads(capsys.readouterr().err)
    assert told["time"] != "1970"


def test_text_is_one_line_of_words_and_quoted_fields(capsys: pytest.CaptureFixture[str]) -> None:
    set_up("text")
    log("source failed", logging.WARNING, source=HOSTILE, count=3, state="backing off", kind="a-b")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.isprintable()
    assert " warning source failed: source=" in line
    assert 'count=3 state="backing off" kind=a-b' in line


def test_a_log_that_cannot_be_written_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stderr", Full())
    set_up("text")
    log("pruned")


def test_what_failed_last_is_kept_until_something_else_fails() -> None:
    last = LastError()
    assert last.snapshot() is None
    last.resolve()
    assert last.snapshot() is None
    last.record("source failed", SourceError("no\x1b[2J way\n" + "x" * 999))
    told = last.snapshot()
    assert told is not None
    assert (told["event"], told["over"]) == ("source failed", None)
    assert told["text"].startswith("no [2J way ")
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
