"""Times, spans and sizes in few letters."""

import pytest

from jobsight.cli.words import UNKNOWN, memory, moment, span


def test_what_is_not_known_is_a_dash() -> None:
    assert (moment(None), span(None), memory(None)) == (UNKNOWN,) * 3


def test_moments_have_whole_seconds() -> None:
    assert moment(1_795_224_900_999_999) == "2026-11-21 01:35:00Z"
    assert moment(-(2**63)) == "0001-01-01 00:00:00Z"


def test_spans_are_never_less_than_nothing() -> None:
    assert (span(-3.0), span(0), span(5400)) == ("0 s", "0 s", "1.5 h")


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 MB"), (999, "999 MB"), (1024, "1 GB"), (2048 + 512, "2.5 GB"), (3 << 20, "3 TB"),
     (1 << 40, "1048576 TB")],
)  # fmt: skip
def test_sizes(size: int, text: str) -> None:
    assert memory(size) == text
