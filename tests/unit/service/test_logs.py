import io
import json
import logging
import sys
from collections.abc import Iterator

import pytest

from jobsight.service.logs import log, set_up

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
    assert told["event"] == "source failed"
    assert told["level"] == "error"
    assert told["count"] == 3
    assert told["share"] is None
    assert "none" not in told
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
