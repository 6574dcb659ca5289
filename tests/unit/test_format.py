"""Times, spans and sizes in few letters."""

from contextvars import copy_context

import pytest

from jobsight.clock import parse_since, zone_named
from jobsight.format import (
    UNKNOWN,
    amount,
    chance,
    interval,
    memory,
    moment,
    number,
    percent,
    short,
    show_in,
    size,
    span,
)


def test_what_is_not_known_is_a_dash() -> None:
    assert (moment(None), span(None), memory(None)) == (UNKNOWN,) * 3


def test_moments_have_whole_seconds() -> None:
    assert moment(1_795_224_900_999_999) == "2026-11-21 01:35:00Z"
    assert moment(-(2**63)) == "0001-01-02 00:00:00Z"


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("UTC", "2026-11-21 01:35:00Z"), ("Europe/Paris", "2026-11-21 02:35:00+01"),
        ("Asia/Kolkata", "2026-11-21 07:05:00+05:30"), ("Europe/London", "2026-11-21 01:35:00Z"),
    ],
)  # fmt: skip
def test_moments_are_in_the_zone_of_the_reader_and_can_be_typed_again(zone: str, text: str) -> None:
    def shown() -> list[str]:
        show_in(zone_named(zone))
        written = "2026-11-21T01:35:00.25Z"
        return [
            moment(1_795_224_900_250_000),
            moment(written),
            moment("then"),
            moment("2026-11-21"),
        ]

    assert copy_context().run(shown) == [text, text, UNKNOWN, UNKNOWN]
    assert parse_since(text, zone_named("America/Chicago")) == 1_795_224_900_000_000


def test_spans_are_never_less_than_nothing() -> None:
    assert (span(-3.0), span(0), span(5400)) == ("0 s", "0 s", "1.5 h")


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 MB"), (999, "999 MB"), (1024, "1 GB"), (2048 + 512, "2.5 GB"), (3 << 20, "3 TB"),
     (1 << 40, "1048576 TB")],
)  # fmt: skip
def test_sizes(size: int, text: str) -> None:
    assert memory(size) == text


def test_numbers() -> None:
    assert (number(0.69314), number(1, 2), number(-0.01, signed=True)) == (
        "0.693",
        "1.00",
        "-0.010",
    )
    assert number(0.5, signed=True) == "+0.500"
    assert (short(0.000123456), short(1.0), short(7), short("adam")) == (
        "0.0001235", "1", "7", "adam",
    )  # fmt: skip
    assert (interval(0.5, 0.61), interval(None, 0.61)) == ("0.50–0.61", UNKNOWN)


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0 %"), (0.001, "<1 %"), (0.36, "36 %"), (0.999, ">99 %"), (1.0, "100 %"), (None, "–")],
)
def test_shares(share: float | None, text: str) -> None:
    assert percent(share) == text


def test_a_probability_shows_its_interval() -> None:
    assert chance(0.36, 0.05, 0.58) == "36 % (5–58 %)"
    assert chance(0.36, None, None) == "36 %"


@pytest.mark.parametrize(
    ("amount", "text"),
    [(1, "1 byte"), (999, "999 bytes"), (1000, "1.0 kB"), (33_200_000, "33.2 MB"),
     (1.5e9, "1.5 GB"), (2.5e12, "2,500.0 GB"), (None, "–")],
)  # fmt: skip
def test_sizes_of_files(amount: float | None, text: str) -> None:
    assert size(amount) == text


def test_amounts_have_three_digits_or_are_whole() -> None:
    shown = [amount(one) for one in (0.0, 0.04123, 4.567, 99.94, 123.4, 41_200.0, None)]
    assert shown == ["0", "0.0412", "4.57", "99.9", "123", "41,200", UNKNOWN]
