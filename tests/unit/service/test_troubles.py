"""The last trouble, as the status keeps it."""

from __future__ import annotations

from jobsight.errors import SourceError
from jobsight.service.troubles import WIDTH, LastTrouble


def test_what_failed_last_is_kept_until_something_else_fails() -> None:
    last = LastTrouble()
    assert last.snapshot() is None
    last.over()
    assert last.snapshot() is None
    last.tell("source failed", SourceError("no\x1b[2J way\n" + "x" * 999))
    told = last.snapshot()
    assert told is not None
    assert (told["event"], told["text"][:11], told["over"]) == (
        "source failed",
        "no [2J way ",
        None,
    )
    assert len(told["text"]) == WIDTH
    last.tell("source crashed", KeyError("a"))
    assert (last.snapshot() or {})["text"] == "KeyError: 'a'"


def test_it_is_over_once_and_only_by_what_failed() -> None:
    last = LastTrouble()
    last.tell("prune failed", SourceError("full"))
    last.over("store status failed")
    assert (last.snapshot() or {})["over"] is None
    last.over("prune failed")
    first = last.snapshot()
    assert first is not None
    assert first["over"] >= first["time"]
    last.over()
    assert last.snapshot() is first
