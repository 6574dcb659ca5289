import datetime as dt
import time
import zoneinfo
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsight import clock
from jobsight.clock import (
    format_micros,
    format_moment,
    format_span,
    local_zone,
    micros,
    parse_moment,
    parse_since,
    zone_named,
)
from jobsight.errors import UsageError

PARIS = zoneinfo.ZoneInfo("Europe/Paris")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-07-01 12:00:00", dt.datetime(2026, 7, 1, 10, tzinfo=dt.UTC)),
        ("2026-01-01T12:00:00.250", dt.datetime(2026, 1, 1, 11, 0, 0, 250_000, tzinfo=dt.UTC)),
        ("2026-01-01T12:00:00Z", dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)),
        ("2026-01-01T12:00:00-06:00", dt.datetime(2026, 1, 1, 18, tzinfo=dt.UTC)),
        ("@0", dt.datetime(1970, 1, 1, tzinfo=dt.UTC)),
    ],
)
def test_moments(text: str, expected: dt.datetime) -> None:
    assert parse_moment(text, PARIS) == expected


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-13-01", "@1e400", "@" + "9" * 400, "12:00"]
)
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a time"):
        parse_moment(text, PARIS)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90), ("5min", 300), ("2h", 7200), ("1w", 604_800), ("3 days ago", 259_200),
        ("1 minute ago", 60), (" 2 Hours ", 7200), ("1 sec", 1),
    ],
)  # fmt: skip
def test_how_long_ago(text: str, seconds: int) -> None:
    assert abs((parse_since(text, PARIS) or 0) / 1e6 - (time.time() - seconds)) < 5


def test_days_begin_at_midnight_of_the_zone() -> None:
    before = dt.datetime.now(PARIS).date()
    begins = [
        dt.datetime.fromtimestamp((parse_since(day, PARIS) or 0) / 1e6, PARIS)
        for day in ("Today", "yesterday")
    ]
    after = dt.datetime.now(PARIS).date()
    assert before <= begins[0].date() <= after
    assert begins[0].date() - begins[1].date() == dt.timedelta(days=1)
    assert {begin.time() for begin in begins} == {dt.time()}
    assert parse_since("2026-07-01 12:00", PARIS) == micros(parse_moment("2026-07-01T10Z", PARIS))
    assert parse_since(None, PARIS) is None


@pytest.mark.parametrize("text", ["", "30m", "1.5h", "tomorrow", "-2h", "2 ſ", "9" * 10 + "s"])
def test_what_is_no_time_is_answered_with_how_times_are_written(text: str) -> None:
    with pytest.raises(UsageError, match=r"write it as '2026.*30min, 2h, '3 days ago', today"):
        parse_since(text, PARIS)


@given(st.datetimes(timezones=st.just(dt.UTC)))
def test_what_is_written_is_read_again(moment: dt.datetime) -> None:
    assert parse_moment(format_moment(moment), PARIS) == moment


@pytest.fixture
def localtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What stands for /etc/localtime, of a machine without TZ; nothing is there yet."""
    monkeypatch.delenv("TZ", raising=False)
    monkeypatch.setattr(clock, "_LOCAL", tmp_path / "localtime")
    return tmp_path / "localtime"


def zone_file(name: str) -> Path:
    places = (Path(folder, name) for folder in zoneinfo.TZPATH)
    found = next((place for place in places if place.is_file()), None)
    return found or pytest.skip("the system has no zone files")


@pytest.mark.parametrize("told", ["Europe/Paris", ":Europe/Paris"])
def test_the_environment_tells_the_zone(
    localtime: Path, monkeypatch: pytest.MonkeyPatch, told: str
) -> None:
    monkeypatch.setenv("TZ", told)
    assert local_zone() == PARIS


@pytest.mark.parametrize("told", ["", "Mars/Olympus", "/nowhere", "../../etc/passwd"])
def test_an_environment_that_tells_no_zone_is_passed_over(
    localtime: Path, monkeypatch: pytest.MonkeyPatch, told: str
) -> None:
    monkeypatch.setenv("TZ", told)
    assert local_zone() == dt.UTC


def test_the_machines_zone_is_known_by_link_and_by_copy(localtime: Path) -> None:
    localtime.symlink_to(zone_file("Europe/Paris"))
    assert local_zone() == PARIS
    localtime.unlink()
    localtime.write_bytes(zone_file("Europe/Paris").read_bytes())
    for month in (1, 7):
        moment = dt.datetime(2026, month, 1, tzinfo=local_zone())
        assert moment.utcoffset() == moment.replace(tzinfo=PARIS).utcoffset()
    localtime.write_bytes(b"no zone")
    assert local_zone() == dt.UTC


def test_zones() -> None:
    assert zone_named("Europe/Paris") == PARIS
    assert zone_named(None) == local_zone()
    for name in ("Mars/Olympus", "../../etc/passwd", "", "\0"):
        with pytest.raises(UsageError, match="no time zone is named"):
            zone_named(name)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "0 s"), (89, "89 s"), (90, "1.5 min"), (3600, "60 min"), (7200, "2 h"), (864000, "10 d")],
)
def test_spans(seconds: float, expected: str) -> None:
    assert format_span(seconds) == expected


@given(st.datetimes(timezones=st.just(dt.UTC)))
def test_micros_are_written_as_moments(moment: dt.datetime) -> None:
    assert format_micros(micros(moment)) == format_moment(moment)


def test_moments_past_all_calendars_are_the_nearest() -> None:
    last = micros(dt.datetime(9999, 12, 31, 23, 59, 59, tzinfo=dt.UTC))
    assert format_micros(last) == "9999-12-31 23:59:59Z"
    assert format_micros(last + 10**9) == "9999-12-31 23:59:59.999999Z"
    assert format_micros(-(2**63)) == "0001-01-01 00:00:00Z"
