"""Text for terminals."""

import io
import sys

import pytest
from rich.cells import cell_len

from jobsight.cli.terminal import Column, blocks, grid, lined, paint, shorten, width, wrap

COLUMNS = [
    Column("id"),
    Column("count", right=True, spare=1),
    Column("name", spare=2),
    Column("why"),
]
ROWS = [["1", "7", "ann", "because"], ["22", "100", "bob", "x" * 30]]


def test_columns_are_set_to_their_side() -> None:
    assert grid(COLUMNS, ROWS, most=None) == [
        "id  count  name  why",
        "1       7  ann   because",
        "22    100  bob   " + "x" * 30,
    ]


def test_the_last_column_gives_way_first() -> None:
    lines = grid(COLUMNS, ROWS, most=30)
    assert lines[2] == "22    100  bob   " + "x" * 12 + "…"
    assert lines[1].endswith("because")


def test_then_columns_that_can_be_spared_are_left_out() -> None:
    assert grid(COLUMNS, ROWS, most=20)[0].split() == ["id", "count", "why"]
    assert grid(COLUMNS, ROWS, most=13)[0].split() == ["id", "why"]
    assert grid(COLUMNS, ROWS, most=1)[0].startswith("id")


@pytest.mark.parametrize("most", range(8, 60, 3))
def test_wide_letters_count_as_they_are_shown(most: int) -> None:
    rows = [["数据", "1", "用户" * 4, "日本語" * 9], ["a", "2", "b", "c"]]
    lines = grid(COLUMNS, rows, most=max(most, 14))
    assert max(map(cell_len, lines)) <= max(most, 14)
    whole = grid(COLUMNS, rows, most=None)
    assert cell_len(whole[2].partition("c")[0]) == cell_len(whole[1].partition("日")[0])


def test_what_has_no_room_goes_on_in_further_lines() -> None:
    rows = [["1", "7", "ann", "because it rained " * 3], ["22", "100", "bob", "x" * 30]]
    first, second, third = lined(COLUMNS, rows, most=44, whole=True)
    assert first == ["id  count  why"]
    assert second[0] == "1       7  because it rained because it"
    assert second[1] == "           rained because it rained"
    assert third == ["22    100  " + "x" * 30]
    (_, second, third) = lined(COLUMNS, rows, most=30, whole=True)
    assert third == ["22  " + "x" * 26, "    xxxx"]
    assert all(cell_len(line) <= 30 for lines in (second, third) for line in lines)


@pytest.mark.parametrize("size", [1, 2, 5, 9, 40])
def test_a_wrapped_text_keeps_its_words(size: int) -> None:
    text = "job was held 日本語日本語 by policy"
    lines = wrap(text, size)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert max(map(cell_len, lines)) <= max(size, 2)
    assert wrap("", size) == [""]


@pytest.mark.parametrize(
    ("size", "short"),
    [
        (60, "eventlog:/var/log/condor/spool/EventLog"),
        (38, "eventlog:…/log/condor/spool/EventLog"),
        (24, "eventlog:…/EventLog"),
        (17, "eventlog:…ventLog"),
        (16, "eventlog:…entLog"),
        (10, "…/EventLog"),
        (5, "…tLog"),
    ],
)
def test_a_path_is_shortened_where_it_tells_least(size: int, short: str) -> None:
    assert shorten("eventlog:/var/log/condor/spool/EventLog", size) == short


def test_a_table_without_rows_has_its_headings() -> None:
    assert grid(COLUMNS, [], most=None) == ["id  count  name  why"]


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
    assert grid([Column("x")], [["a"]], most=None, colours={(0, 0): "31"}) == [
        "x", "\x1b[31ma\x1b[0m",
    ]  # fmt: skip
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
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setenv("COLUMNS", told)
    assert width() == expected


def test_bars_are_plain_where_nothing_else_can_be_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding, full in (("utf-8", "█"), ("ascii", "#"), ("latin-1", "#"), ("no-such", "#")):
        monkeypatch.setattr(sys, "stdout", _Encoded(encoding))
        assert blocks()[0] == full


class _Encoded:
    def __init__(self, encoding: str) -> None:
        self.encoding = encoding
