"""What a log says of itself."""

from pathlib import Path

import pytest

from jobsight.history.eventlog.headers import (
    Header,
    first_header,
    parse_header,
    sinful_name,
    submit_host,
)

LINE = (
    b"008 (-01.-01.-01) 2026-11-21 02:34:47 Global JobLog: ctime=1795228484 "
    b"id=0.341752.1795228483.640935.5.1795228484.140720 sequence=5 size=9524 events=7 "
    b"offset=36999 event_off=9 max_rotation=4 creator_name=<>          \n"
)
FORMS = Path(__file__).resolve().parents[4] / "data" / "forms"


def test_a_header_is_read() -> None:
    base = "0.341752.1795228483.640935"
    identity = f"{base}.5.1795228484.140720"
    assert parse_header(LINE) == Header(base, 1795228484, 5, 9524, 36999, None, identity)


def test_the_moment_of_a_file_is_exact_where_its_id_is() -> None:
    header = parse_header(LINE)
    assert header is not None
    assert header.moment == 1795228484_140720
    other = parse_header(LINE.replace(b"ctime=1795228484", b"ctime=1795228480"))
    assert other is not None
    assert other.moment == 1795228480_000000
    border = parse_header(LINE.replace(b"ctime=1795228484", b"ctime=1795228483"))
    assert border is not None
    assert border.moment == 1795228484_140720
    short = parse_header(LINE.replace(b".140720", b".19068"))
    assert short is not None
    assert short.moment == 1795228484_019068
    assert Header(None, None, None, None, None, None).moment is None


@pytest.mark.parametrize("line", [LINE.rstrip(b" \n"), LINE + b"...\n000 (1.0.0)"])
def test_what_follows_does_not_matter(line: bytes) -> None:
    assert parse_header(line) == parse_header(LINE)


def test_any_beginning_of_a_header_is_read_or_refused() -> None:
    for end in range(len(LINE)):
        header = parse_header(LINE[:end])
        assert (header is None) == (end < LINE.index(b"JobLog:") + 7)


def test_missing_fields_are_none_and_ctime_comes_from_the_id() -> None:
    start = b"008 (-1.-1.-1) 11/21 02:34:47 Global JobLog:"
    assert parse_header(start) == Header(None, None, None, None, None, None)
    assert parse_header(start + b" ctime=soon sequence=9x id=1") == parse_header(start)
    only_id = parse_header(start + b" id=0.1.1795228483.2.5.1795228484.7")
    assert only_id is not None
    assert (only_id.base, only_id.ctime) == ("0.1.1795228483.2", 1795228484)
    huge = parse_header(start + b" ctime=" + b"9" * 400)
    assert huge is not None
    assert huge.ctime is None


def test_the_creator_is_named() -> None:
    header = parse_header(LINE.replace(b"<>", b"<schedd@ap1 x=y>"))
    assert header is not None
    assert header.creator == "schedd@ap1 x=y"
    assert header.sequence == 5


@pytest.mark.parametrize(
    "line",
    [
        b"",
        LINE.replace(b"-01.-01.-01", b"012.000.000"),  # a user's own 008
        b"\t" + LINE,
        b"001" + LINE[3:],
    ],
)
def test_other_records_are_none(line: bytes) -> None:
    assert parse_header(line) is None


@pytest.mark.parametrize("form", ["json", "xml"])
def test_ads_hold_headers_too(form: str) -> None:
    header = first_header((FORMS / form / "EventLog").read_bytes()[:8192], form)  # type: ignore[arg-type]
    assert header is not None
    assert header.sequence == 1
    assert header.creator is None
    assert header.ctime is not None


def test_only_the_first_ad_counts() -> None:
    second = b'{\n "EventTypeNumber": 1\n}\n{\n "Info": "Global JobLog: sequence=1"\n}\n'
    assert first_header(second, "json") is None
    line = b'{"Info": "Global JobLog: sequence=4 creator_name=<a>", "EventTypeNumber": 8}\n'
    header = first_header(line, "json")
    assert header is not None
    assert (header.sequence, header.creator) == (4, "a")
    assert first_header(b"", "empty") is None
    assert first_header(b"\xef\xbb\xbf" + LINE, "text") == parse_header(LINE)


@pytest.mark.parametrize(
    ("sinful", "name"),
    [
        ("<127.0.0.1:9618?addrs=127.0.0.1-9618&alias=vm&noUDP&sock=x>", "vm"),
        ("<127.0.0.1:9618?addrs=127.0.0.1-9618>", "127.0.0.1"),
        ("<131.243.2.182:40152>", "131.243.2.182"),
        ("<[2001:db8::1]:9618?noUDP>", "2001:db8::1"),
        ("ap1.example.org", "ap1.example.org"),
        ("<>", None),
        ("", None),
        ("<[", None),
    ],
)
def test_names_of_addresses(sinful: str, name: str | None) -> None:
    assert sinful_name(sinful) == name


@pytest.mark.parametrize("form", ["json", "xml", "legacy", "utc-sub_second"])
def test_the_submit_host_is_found_in_every_form(form: str) -> None:
    assert submit_host((FORMS / form / "EventLog").read_bytes()) == "vm"


def test_no_submission_no_host() -> None:
    assert submit_host(b"012 (1.0.0) 2026-01-01 00:00:00 Job was held.\n") is None
