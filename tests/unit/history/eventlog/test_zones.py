"""Wall clocks to UTC."""

import datetime as dt
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from jobsight.history.eventlog.times import SECOND, Overlaps

BERLIN = ZoneInfo("Europe/Berlin")
UTC = dt.UTC
EPOCH = dt.datetime(1970, 1, 1)


def micros(text: str) -> int:
    return (dt.datetime.fromisoformat(text) - EPOCH) // dt.timedelta(microseconds=1)


def resolve(zone: dt.tzinfo, *walls: str) -> list[str]:
    overlaps = Overlaps(zone)
    result = overlaps.to_utc(np.array([micros(wall) for wall in walls], np.int64))
    return [str(EPOCH + dt.timedelta(microseconds=int(moment)))[5:16] for moment in result]


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
            expected.append((first.replace(tzinfo=None) - EPOCH) // dt.timedelta(microseconds=1))
    stamps = np.array([(w - EPOCH) // dt.timedelta(microseconds=1) for w in given], np.int64)
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


def test_cutting_into_chunks_changes_nothing() -> None:
    rng = np.random.default_rng(5)
    start = micros("2025-10-25 22:00:00")
    wall = start + np.cumsum(rng.integers(-200, 300, 800)) * SECOND
    whole = Overlaps(BERLIN).to_utc(wall)
    parts = Overlaps(BERLIN)
    cut = np.concatenate([parts.to_utc(piece) for piece in np.array_split(wall, 97)])
    assert (whole == cut).all()


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
    assert str(EPOCH + dt.timedelta(microseconds=int(moment)))[5:16] == expected


def test_fixed_offsets_and_absurd_years() -> None:
    assert resolve(dt.timezone(dt.timedelta(hours=-5)), "2025-01-01 00:00:00") == ["01-01 05:00"]
    assert resolve(BERLIN, "0001-01-02 00:00:00", "9999-12-30 00:00:00")
    assert Overlaps(BERLIN).to_utc(np.empty(0, np.int64)).tolist() == []
