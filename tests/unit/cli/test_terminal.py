"""Text for terminals."""

import io
import sys

import pytest
from rich.cells import cell_len

from jobsight.cli.terminal import blocks, field, paint, table, width, wrap

HEADINGS = ["id", "count", "name", "why"]
ROWS = [["1", "7", "ann", "because"], ["22", "100", "bob", "x" * 30]]


def grid(rows: list[list[str]], most: int | None, *, fold: bool = False) -> list[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "" if most is None else str(most))
        text = table(HEADINGS, rows, ["name", "count"], left=["name", "why"], fold=fold)
    return text.splitlines()


def test_columns_are_set_to_their_side_and_the_last_one_gives_way_then_those_to_spare() -> None:
    assert grid(ROWS, None) == [
        "id  count  name  why",
        "1       7  ann   because",
        "22    100  bob   " + "x" * 30,
    ]
    assert grid([], None) == ["id  count  name  why"]
    lines = grid(ROWS, 30)
    assert lines[1].endswith("because")
    assert lines[2] == "22    100  bob   " + "x" * 12 + "…"
    assert grid(ROWS, 20)[0].split() == ["id", "count", "why"]
    assert grid(ROWS, 13)[0].split() == ["id", "why"]
    assert grid(ROWS, 1)[0].startswith("id")


@pytest.mark.parametrize("most", range(8, 60, 3))
def test_wide_characters_count_as_they_are_shown(most: int) -> None:
    rows = [["数据", "1", "用户" * 4, "日本語" * 9], ["a", "2", "b", "c"]]
    lines = grid(rows, max(most, 14))
    assert max(map(cell_len, lines)) <= max(most, 14)
    whole = grid(rows, None)
    assert cell_len(whole[2].partition("c")[0]) == cell_len(whole[1].partition("日")[0])


def test_what_has_no_room_goes_on_in_further_lines() -> None:
    rows = [["1", "7", "ann", "because it rained " * 3], ["22", "100", "bob", "x" * 30]]
    lines = grid(rows, 44, fold=True)
    assert lines[0] == "id  count  why"
    assert lines[1] == "1       7  because it rained because it"
    assert lines[2] == "           rained because it rained"
    assert lines[3] == "22    100  " + "x" * 30
    narrow = grid(rows, 30, fold=True)
    assert narrow[-2:] == ["22  " + "x" * 26, "    xxxx"]
    assert all(cell_len(line) <= 30 for line in narrow)


def test_text_is_neither_markup_nor_highlighted() -> None:
    line = grid([["1", "2", "[red]n[/red]", ":smile: 12 https://x"]], None)[1]
    assert line.endswith("[red]n[/red]  :smile: 12 https://x")


@pytest.mark.parametrize("size", [1, 2, 5, 9, 40])
def test_a_wrapped_text_keeps_its_words(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "job was held 日本語日本語 by policy"
    monkeypatch.setenv("COLUMNS", str(size + 3))
    lines = wrap(text, 3, least=1)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert max(map(cell_len, lines)) <= max(size, 2)
    assert wrap("", 3) == [""]
    monkeypatch.setenv("COLUMNS", "")
    assert wrap(text, 3) == [text]


def test_a_field_goes_on_below_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert field("why", "it rained all the time", 8) == "  why   it rained\n        all the time"


class _Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals_that_want_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert paint("a", "31") == "a"
    monkeypatch.setattr(sys, "stdout", _Terminal())
    assert paint("a", "31") == "\x1b[31ma\x1b[0m"
    assert table(["x"], [[paint("a", "1;31")]]) == "x\n\x1b[1;31ma\x1b[0m"
    monkeypatch.setenv("TERM", "dumb")
    assert paint("text", "31") == "text"
    monkeypatch.delenv("TERM")
    monkeypatch.setenv("NO_COLOR", "1")
    assert paint("a", "31") == "a"


@pytest.mark.parametrize(
    ("told", "expected"), [("100", 100), ("0", None), ("x", None), ("", None), ("9" * 30, None)]
)
def test_the_width_that_is_told(
    monkeypatch: pytest.MonkeyPatch, told: str, expected: int | None
) -> None:
    with monkeypatch.context() as patch:  # pytest's own lines need the real width again
        patch.setattr(sys, "stdout", io.StringIO())
        patch.setenv("COLUMNS", told)
        assert width() == expected


def test_bars_are_plain_where_nothing_else_can_be_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding, full in (("utf-8", "█"), ("ascii", "#"), ("latin-1", "#"), ("no-such", "#")):
        monkeypatch.setattr(sys, "stdout", _Encoded(encoding))
        assert blocks()[0] == full


class _Encoded:
    def __init__(self, encoding: str) -> None:
        self.encoding = encoding
