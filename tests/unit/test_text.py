import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsight.text import abridged, beginning, printable, visible


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a\x1b[31mb\x07", "a [31mb"),
        ("one\r\ntwo\tthree", "one two three"),
        ("\u202egnp.exe\u202c", "gnp.exe"),
        ("\ud800x\ue000", "x"),
        ("你好 🙂", "你好 🙂"),
        (7, "7"),
        ("", ""),
    ],
)
def test_one_printable_line(text: object, clean: str) -> None:
    assert printable(text) == clean


@given(st.text(alphabet=st.characters()), st.one_of(st.none(), st.integers(1, 40)))
def test_nothing_hidden_is_left(text: str, width: int | None) -> None:
    line = printable(text, width)
    assert line.isprintable()
    assert width is None or len(line) <= width
    assert printable(line, width) == line
    assert visible(text).isprintable()
    assert len(visible(text)) == len(text)


def test_cut_to_a_width() -> None:
    assert printable("abcd", 4) == "abcd"
    assert printable("abcdef", 4) == "abc…"
    assert printable("ab cdef", 4) == "ab…"
    assert printable("ab" + " " * 99 + "c", 4) == "ab…"


def test_the_ends_of_what_is_abridged_stay() -> None:
    assert abridged("abcdef", 6) == "abcdef"
    assert abridged("a b cdefghijkl", 9) == "a b … jkl"
    told = abridged("Error: " + "x" * 99 + ": No such file", 40)
    assert len(told) <= 40 and told.startswith("Error: x") and told.endswith("x: No such file")
    assert abridged("\x07" * 10_000_000 + "end", 80) == "… end"


def test_a_cut_costs_no_more_than_what_shows() -> None:
    text = "\x07" * 10_000_000
    start = time.process_time()
    assert printable(text, 80) == "…"
    assert time.process_time() - start < 0.1


@pytest.mark.parametrize(
    ("head", "told"),
    [
        (b"", "nothing: it is empty"),
        (b" \n", "nothing but blanks"),
        (b"\n hello\nyou", "'hello'"),
        (b"PK\x00\x03", "bytes that are not text (50 4b 00 03)"),
        ("JobID".encode("utf-16"), "text in UTF-16, which iconv -f UTF-16 -t UTF-8 makes readable"),
        (b"\xff\x1b[31m", "'\N{REPLACEMENT CHARACTER} [31m'"),
        (b"x" * 99, "'" + "x" * 60 + "'"),
    ],
)
def test_what_a_file_begins_with(head: bytes, told: str) -> None:
    assert beginning(head) == told
