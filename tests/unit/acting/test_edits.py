"""Edits: under the switch, written down before and after, decisions observed once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jobsight.acting.decisions import DecisionLog
from jobsight.acting.edits import Edits
from jobsight.errors import SourceError
from jobsight.settings import ActingSettings


def edits(folder: Path) -> Edits:
    return Edits(ActingSettings(folder=folder, mode="advise"))


def records(folder: Path) -> list[dict[str, Any]]:
    return list(DecisionLog(folder).latest())[::-1]


def test_an_edit_is_written_down_before_and_after(tmp_path: Path) -> None:
    seen = []

    def edit() -> int:
        seen.extend(records(tmp_path))
        return 3

    assert edits(tmp_path).make(edit, {"jobs": ["7"]}, 100) == 3
    assert [(r["what"], r["mode"], r["jobs"]) for r in seen] == [("intent", "advise", ["7"])]
    assert [(r["what"], r.get("edited")) for r in records(tmp_path)][1:] == [("result", 3)]


def test_an_edit_that_fails_is_written_down_and_counts(tmp_path: Path) -> None:
    def edit() -> int:
        raise SourceError("refused")

    with pytest.raises(SourceError):
        edits(tmp_path).make(edit, {"calls": 1}, 100)
    assert records(tmp_path)[-1]["error"] == "refused"
    assert [edits(tmp_path).intended("calls", since) for since in (100, 101)] == [1, 0]


def test_nothing_is_made_while_it_is_off(tmp_path: Path) -> None:
    (tmp_path / "off").touch()
    assert "turned off" in str(edits(tmp_path).make(lambda: 1 // 0, {}, 100))
    assert [record["what"] for record in records(tmp_path)] == ["stopped"]


def test_a_decision_is_observed_once_while_it_lasts(tmp_path: Path) -> None:
    some = edits(tmp_path)

    def observed(**decided: str) -> int:
        return some.observe([(decided, {"said": "it"})], list, 100)

    assert [observed(a="x", b="x"), observed(a="x", b="y"), observed(a="x", b="y")] == [1, 1, 0]
    assert [record["jobs"] for record in records(tmp_path)] == [["a", "b"], ["b"]]
    assert (observed(), observed(a="x")) == (0, 1)
