"""Moments and spans, in every form that Slurm prints."""

from __future__ import annotations

import datetime as dt
import math
import zoneinfo

import pytest

from jobsight.program.submission.times import parse_minutes, parse_span, parse_time


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("00:00:03", 3),
        ("01:02", 62),
        ("00:00.003", 0.003),
        ("1-02:03:04", 93784),
        ("125-00:00:00", 10_800_000),
        ("2-12", 216_000),
        ("2-12:30", 217_800),
        ("30", 1800),
        ("00:00:01.250000", 1.25),
        ("UNLIMITED", math.inf),
        ("INFINITE", math.inf),
        ("Partition_Limit", None),
        ("N/A", None),
        ("INVALID", None),
        ("", None),
        (" 00:10:00 ", 600),
    ],
)
def test_spans(text: str, seconds: float | None) -> None:
    assert parse_span(text) == seconds


@pytest.mark.parametrize("text", ["1:2:3:4", "-5", "1-", "abc", "1d", "1:-2", "٣", "00:00:0x"])
def test_what_is_no_span(text: str) -> None:
    with pytest.raises(ValueError, match="is not a span"):
        parse_span(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("60", 3600), ("UNLIMITED", math.inf), ("Partition_Limit", None), ("01:00:00", 3600)],
)
def test_minutes(text: str, seconds: float | None) -> None:
    assert parse_minutes(text) == seconds


@pytest.mark.parametrize(
    ("text", "zone", "expected"),
    [
        ("1795242021", "Europe/Paris", 1795242021_000_000),
        ("2026-11-21T06:20:21", "UTC", 1795242021_000_000),
        ("2026-11-21T01:20:21", "America/New_York", 1795242021_000_000),
        ("2026-11-21T06:20:21Z", "America/New_York", 1795242021_000_000),
        ("2026-11-21T07:20:21+01:00", "UTC", 1795242021_000_000),
        ("2026-11-21T07:20:21+0100", "UTC", 1795242021_000_000),
        ("2026-11-21 06:20", "UTC", 1795242000_000_000),
        ("1795242021.5", "UTC", 1795242021_500_000),
        # the hour that is shown twice is its first showing
        ("2026-11-01T01:30:00", "America/New_York", 1793511000_000_000),
        ("Unknown", "UTC", None),
        ("None", "UTC", None),
        ("N/A", "UTC", None),
        ("", "UTC", None),
        ("0", "UTC", None),
        ("1970-01-01T00:00:00", "UTC", None),
    ],
)
def test_times(text: str, zone: str, expected: int | None) -> None:
    assert parse_time(text, zoneinfo.ZoneInfo(zone)) == expected


@pytest.mark.parametrize("text", ["06:20:21", "21 Nov 06:20", "2026-13-01T00:00:00", "x", "1e9"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ValueError):
        parse_time(text, dt.UTC)


def test_the_ends_of_the_calendar_are_refused_or_read() -> None:
    assert parse_time("0001-01-01T00:00:00", dt.UTC) is None
    assert parse_time("9999-12-31T23:59:59", dt.UTC) == 253402300799_000_000
