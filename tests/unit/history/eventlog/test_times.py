"""Years that a log leaves out, and wall clocks to UTC."""

import datetime as dt
from collections.abc import Sequence
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from numpy.typing import NDArray

from jobsight.history.eventlog.times import (
    ABSOLUTE,
    LOCAL,
    LOCAL_NO_YEAR,
    UTC_NO_YEAR,
    Overlaps,
    TimeResolver,
    YearCounter,
)

UTC = dt.UTC
BERLIN = ZoneInfo("Europe/Berlin")
EPOCH = dt.datetime(1970, 1, 1, tzinfo=UTC)
Int64 = NDArray[np.int64]
Forms = NDArray[np.uint8]


def seconds(text: str) -> int:
    return int(dt.datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def columns(texts: Sequence[str], form: int | None = None) -> tuple[Int64, Forms]:
    """``12-31 23:00`` has no year, ``2025-12-31 23:00`` has one."""
    stamps, forms = [], []
    for text in texts:
        yearless = text[2] == "-"
        stamps.append(seconds("1972-" + text if yearless else text) * 1_000_000)
        usual = LOCAL_NO_YEAR if yearless else LOCAL
        forms.append(usual if form is None else form)
    return np.array(stamps, np.int64), np.array(forms, np.uint8)


def counted(texts: Sequence[str], modified: str = "2026-06-01 00:00") -> int:
    counter = YearCounter()
    counter.feed(*columns(texts))
    return counter.first_year(seconds(modified), UTC)


def resolved(resolver: TimeResolver, texts: Sequence[str], form: int | None = None) -> list[str]:
    moments = resolver.resolve(*columns(texts, form))
    return [str(EPOCH + dt.timedelta(microseconds=int(moment)))[:16] for moment in moments]


def years(texts: Sequence[str], modified: str = "2026-06-01 00:00") -> list[int]:
    resolver = TimeResolver(UTC, first_year=counted(texts, modified))
    return [int(text[:4]) for text in resolved(resolver, texts)]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["03-01 00:00", "05-31 00:00"], [2026, 2026]),
        (["03-01 00:00", "06-01 23:00"], [2026, 2026]),  # the clock of the file's host may differ
        (["03-01 00:00", "06-02 01:00"], [2025, 2025]),
        (["12-31 23:59", "01-01 00:01"], [2025, 2026]),
        (["11-01 00:00", "02-01 00:00", "11-01 00:00", "02-01 00:00"], [2024, 2025, 2025, 2026]),
        # disorder of hours around New Year, both ways
        (["12-31 23:00", "01-01 01:00", "12-31 22:00", "01-01 02:00"], [2025, 2026, 2025, 2026]),
        (["01-01 01:00", "12-31 22:00", "01-01 02:00"], [2026, 2025, 2026]),
        (["05-20 00:00", "05-06 00:00", "05-21 00:00"], [2026, 2026, 2026]),  # joined logs
        (["03-01 00:00", "02-28 23:00"], [2026, 2026]),
        ([], []),
    ],
)
def test_years_from_the_files_time_and_order(texts: list[str], expected: list[int]) -> None:
    assert years(texts) == expected


def test_a_record_with_a_year_tells_those_before_and_behind() -> None:
    texts = ["12-30 00:00", "01-02 00:00", "2019-03-01 00:00", "12-31 00:00", "01-01 00:00"]
    assert years(texts) == [2018, 2019, 2019, 2019, 2020]
    counter = YearCounter()
    assert not counter.known
    counter.feed(*columns(texts))
    assert counter.known


def test_a_header_tells_the_year() -> None:
    resolver = TimeResolver(UTC)
    resolver.begin_segment(seconds("2026-11-21 02:33:11"))
    assert resolved(resolver, ["11-21 02:33", "12-31 00:00", "01-01 00:00"]) == [
        "2026-11-21 02:33", "2026-12-31 00:00", "2027-01-01 00:00",
    ]  # fmt: skip


def test_the_date_of_a_rotated_header_misleads_nobody() -> None:
    resolver = TimeResolver(UTC)
    resolver.begin_segment(seconds("2026-12-20 00:00"))
    assert resolved(resolver, ["01-02 00:00", "12-20 00:01", "01-01 00:00"]) == [
        "2027-01-02 00:00", "2026-12-20 00:01", "2027-01-01 00:00",
    ]  # fmt: skip


def test_forms_of_time() -> None:
    resolver = TimeResolver(BERLIN, first_year=2025)
    texts = ["07-01 12:00"]
    assert resolved(resolver, texts) == ["2025-07-01 10:00"]
    assert resolved(resolver, texts, UTC_NO_YEAR) == ["2025-07-01 12:00"]
    assert resolved(resolver, ["2025-07-01 12:00"], LOCAL) == ["2025-07-01 10:00"]
    assert resolved(resolver, ["2025-07-01 12:00"], ABSOLUTE) == ["2025-07-01 12:00"]


def test_the_hour_that_comes_twice_in_a_rotated_log() -> None:
    resolver = TimeResolver(BERLIN)
    resolver.begin_segment(seconds("2025-10-26 00:05"))
    assert resolved(resolver, ["2025-10-26 02:50", "2025-10-26 02:06", "2025-10-26 02:40"]) == [
        "2025-10-26 00:50", "2025-10-26 00:06", "2025-10-26 00:40",
    ]  # fmt: skip
    resolver.begin_segment(seconds("2025-10-26 01:20"))
    assert resolved(resolver, ["2025-10-26 02:50", "2025-10-26 02:20"]) == [
        "2025-10-26 01:50", "2025-10-26 01:20",
    ]  # fmt: skip


def test_absurd_numbers_do_not_crash() -> None:
    stamp = np.array([-(2**63), 2**63 - 1, 0, 2**62], np.int64)
    for form in range(4):
        resolver = TimeResolver(BERLIN, first_year=-(10**6))
        resolver.begin_segment(10**18)
        assert len(resolver.resolve(stamp, np.full(4, form, np.uint8))) == 4
        counter = YearCounter()
        counter.feed(stamp, np.full(4, form, np.uint8))
        counter.first_year(1e300, BERLIN)


BERLIN = ZoneInfo("Europe/Berlin")
NAIVE_EPOCH = dt.datetime(1970, 1, 1)


def micros(text: str) -> int:
    return (dt.datetime.fromisoformat(text) - NAIVE_EPOCH) // dt.timedelta(microseconds=1)


def resolve(zone: dt.tzinfo, *walls: str) -> list[str]:
    overlaps = Overlaps(zone)
    result = overlaps.to_utc(np.array([micros(wall) for wall in walls], np.int64))
    return [str(NAIVE_EPOCH + dt.timedelta(microseconds=int(moment)))[5:16] for moment in result]


@pytest.mark.parametrize(
    "name", ["UTC", "Europe/Berlin", "America/Chicago", "Australia/Lord_Howe", "Africa/Casablanca"]
)
def test_agrees_with_the_standard_library_but_in_overlaps(name: str) -> None:
    zone = ZoneInfo(name)
    walls = [dt.datetime(2023, 1, 1) + dt.timedelta(hours=3.25 * k) for k in range(6000)]
    expected, given = [], []
    for wall in walls:
        first, second = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
        if first >= second:  # not in an overlap; a gap counts as before it
            given.append(wall)
            expected.append(
                (first.replace(tzinfo=None) - NAIVE_EPOCH) // dt.timedelta(microseconds=1)
            )
    stamps = np.array([(w - NAIVE_EPOCH) // dt.timedelta(microseconds=1) for w in given], np.int64)
    assert Overlaps(zone).to_utc(stamps).tolist() == expected


def test_the_hour_that_comes_twice_is_told_by_order() -> None:
    assert resolve(
        BERLIN,
        "2025-10-26 01:59:00",
        "2025-10-26 02:30:00",
        "2025-10-26 02:29:30",  # a little disorder
        "2025-10-26 02:59:00",
        "2025-10-26 02:01:00",  # the second pass
        "2025-10-26 02:59:30",
        "2025-10-26 02:40:00",  # late, still in it
        "2025-10-26 03:00:00",
        "2025-10-26 02:59:59",  # late, from behind it
        "2025-10-26 04:00:00",
    ) == [
        "10-25 23:59", "10-26 00:30", "10-26 00:29", "10-26 00:59", "10-26 01:01",
        "10-26 01:59", "10-26 01:40", "10-26 02:00", "10-26 01:59", "10-26 03:00",
    ]  # fmt: skip


def test_the_gap_in_spring_moves_forward() -> None:
    assert resolve(BERLIN, "2025-03-30 01:59:59", "2025-03-30 02:30:00", "2025-03-30 03:30:00") == [
        "03-30 00:59", "03-30 01:30", "03-30 01:30",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("begun", "expected"),
    [("2025-10-26 00:10:00", "10-26 00:30"), ("2025-10-26 01:10:00", "10-26 01:30"),
     ("2025-10-26 05:00:00", "10-26 01:30")],
)  # fmt: skip
def test_a_known_moment_tells_the_pass(begun: str, expected: str) -> None:
    overlaps = Overlaps(BERLIN)
    overlaps.begin(micros(begun))
    moment = overlaps.to_utc(np.array([micros("2025-10-26 02:30:00")], np.int64))[0]
    assert str(NAIVE_EPOCH + dt.timedelta(microseconds=int(moment)))[5:16] == expected


def test_fixed_offsets_and_absurd_years() -> None:
    assert resolve(dt.timezone(dt.timedelta(hours=-5)), "2025-01-01 00:00:00") == ["01-01 05:00"]
    assert resolve(BERLIN, "0001-01-02 00:00:00", "9999-12-30 00:00:00")
    assert Overlaps(BERLIN).to_utc(np.empty(0, np.int64)).tolist() == []
