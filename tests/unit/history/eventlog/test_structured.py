"""XML and JSON logs, pushed in whole, byte by byte, and with bytes behind."""

from pathlib import Path
from typing import Literal

import pytest

from jobsight.history.eventlog.structured import (
    MAX_RECORD,
    Ad,
    Skip,
    StructuredParser,
    parse_time,
)

FORMS = Path(__file__).resolve().parents[4] / "data" / "forms"
Kind = Literal["xml", "json"]
KINDS = pytest.mark.parametrize("kind", ["json", "xml"])

JSON = '{\n  "Proc": %d,\n  "EventTime": "2026-11-21T02:31:12.679",\n  "EventTypeNumber": 12\n}\n'
XML = (
    '<c>\n    <a n="Proc"><i>%d</i></a>\n    <a n="EventTime"><s>2026-11-21T02:31:12.679</s></a>\n'
    '    <a n="EventTypeNumber"><i>12</i></a>\n</c>\n'
)


def record(kind: Kind, proc: int) -> bytes:
    return ((JSON if kind == "json" else XML) % proc).encode()


def push(kind: Kind, data: bytes, size: int | None = None) -> tuple[list[Ad], list[Skip]]:
    parser = StructuredParser(kind)
    size = size or max(len(data), 1)
    ads = [ad for at in range(0, len(data), size) for ad in parser.feed(data[at : at + size])]
    return ads + parser.close(), parser.skipped


def both_ways(kind: Kind, data: bytes) -> tuple[list[Ad], list[Skip]]:
    whole = push(kind, data)
    assert push(kind, data, 1) == whole
    assert push(kind, data, 7) == whole
    return whole


def procs(ads: list[Ad]) -> list[int]:
    return [ad.attributes["Proc"] for ad in ads]


@KINDS
def test_the_real_logs_three_ways(kind: Kind) -> None:
    data = (FORMS / kind / "EventLog").read_bytes()
    ads, skipped = both_ways(kind, data)
    assert skipped == []
    assert len(ads) == {"json": 131, "xml": 123}[kind]
    start = b"{" if kind == "json" else b"<c>"
    assert all(data.startswith(start, ad.offset) for ad in ads)
    behind, skipped = both_ways(kind, data + b"more than that")
    assert behind == ads
    assert skipped == [Skip(len(data), 14, "no event record here")]


@KINDS
def test_both_forms_give_the_same_values(kind: Kind) -> None:
    ads, _ = push(kind, (FORMS / kind / "EventLog").read_bytes())
    execute = next(ad for ad in ads if ad.attributes["EventTypeNumber"] == 1)
    assert execute.attributes["ExecuteProps"]["Memory"] == 128
    ended = next(ad for ad in ads if ad.attributes["EventTypeNumber"] == 5)
    assert ended.attributes["TerminatedNormally"] is True
    assert ended.attributes["SentBytes"] == 1000.0
    assert ended.attributes["ToE"]["ExitBySignal"] is False


@KINDS
def test_any_truncation_keeps_the_sound_records(kind: Kind) -> None:
    data = record(kind, 1) + record(kind, 2)
    first = len(record(kind, 1))
    for end in range(len(data)):
        ads, skipped = push(kind, data[:end])
        whole = (end >= first - 1) + (end >= len(data) - 1)
        assert procs(ads) == [1, 2][:whole]
        assert sum(skip.length for skip in skipped) <= first


@KINDS
def test_a_record_torn_by_another_is_skipped(kind: Kind) -> None:
    one, two = record(kind, 1), record(kind, 2)
    for cut in range(8, len(one) - 6):
        data = two + one[:cut] + two + two
        ads, skipped = both_ways(kind, data)
        assert procs(ads) == [2, 2, 2], cut
        assert [(skip.offset, skip.length) for skip in skipped] == [(len(two), cut)]


@KINDS
def test_a_torn_start_is_skipped(kind: Kind) -> None:
    data = record(kind, 1)[20:] + record(kind, 2)
    ads, skipped = both_ways(kind, data)
    assert procs(ads) == [2]
    assert skipped == [Skip(0, len(record(kind, 1)) - 20, "no event record here")]


@KINDS
def test_rubbish_between_is_skipped_as_one(kind: Kind) -> None:
    rubbish = bytes(range(128, 256)) * 3 + b"\n"
    ads, skipped = both_ways(kind, record(kind, 1) + rubbish + record(kind, 2))
    assert procs(ads) == [1, 2]
    assert skipped == [Skip(len(record(kind, 1)), len(rubbish), "no event record here")]


@KINDS
def test_a_long_record_is_skipped_in_bounded_memory(kind: Kind) -> None:
    filler = b"x" * (3 * MAX_RECORD)
    long = record(kind, 1).replace(b"2026-11", filler)
    data = record(kind, 0) + long + record(kind, 2)
    for size in (4096, len(data)):
        ads, skipped = push(kind, data, size)
        assert procs(ads) == [0, 2]
        assert {skip.reason for skip in skipped} == {f"record longer than {MAX_RECORD} bytes"}
        assert 0 <= len(long) - sum(skip.length for skip in skipped) <= 1


@KINDS
def test_records_of_one_line(kind: Kind) -> None:
    lines = b"\r\n".join(record(kind, k).replace(b"\n", b"") for k in range(4))
    assert procs(both_ways(kind, lines)[0]) == [0, 1, 2, 3]


@KINDS
@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b"12", b"x12", "no sound"),
        (b"EventTypeNumber", b"EventTypeNumb", "ad without an EventTypeNumber"),
        (b"2026-11-21T", b"2026-13-21T", "ad without a sound EventTime"),
    ],
)
def test_unsound_ads_are_skipped_and_named(kind: Kind, old: bytes, new: bytes, reason: str) -> None:
    head, _, tail = record(kind, 1).rpartition(old)
    ads, (skip,) = both_ways(kind, record(kind, 0) + head + new + tail + record(kind, 2))
    assert procs(ads) == [0, 2]
    assert skip.reason.startswith(reason)
    assert skip.offset == len(record(kind, 0))


def test_old_xml_repeats_and_wraps() -> None:
    preamble = b'<?xml version="1.0"?>\n<!DOCTYPE classads SYSTEM "classads.dtd">\n<classads>\n'
    values = (
        b'<c>\n<a n="MyType"><s>A</s></a><a n="MyType"><s>B &amp; &lt;C&gt;</s></a>'
        b'<a n="EventTypeNumber"><i>0</i></a><a n="EventTime"><s>2008-02-06T16:14:24</s></a>'
        b'<a n="Yes"><b v="t"/></a><a n="No"><b v="f"/></a><a n="R"><r>6.74E+02</r></a>'
        b'<a n="E"><e>time()</e></a><a n="U"><un/></a><a n="Bad"><er/></a><a n="None"/>'
        b'<a n="L"><l><i>1</i><l><s>x</s></l><c><a n="k"><i>2</i></a></c></l></a></c>\n'
    )
    (ad,), skipped = both_ways("xml", preamble + values + b"</classads>\n")
    assert skipped == []
    assert ad == Ad(
        len(preamble),
        {
            "MyType": "B & <C>", "EventTypeNumber": 0, "EventTime": "2008-02-06T16:14:24",
            "Yes": True, "No": False, "R": 674.0, "E": "time()", "U": None, "Bad": None,
            "None": None, "L": [1, ["x"], {"k": 2}],
        },
    )  # fmt: skip


@pytest.mark.parametrize(
    "evil",
    [
        b'<!DOCTYPE c [<!ENTITY a "aaaa">]>',
        b"<![CDATA[x]]>",
        b'<a n="x"><s>&a;</s></a>',
        b"<?php ?>",
    ],
)
def test_entities_and_declarations_in_records_are_refused(evil: bytes) -> None:
    bad = record("xml", 1).replace(b"<c>", b"<c>" + evil)
    ads, skipped = both_ways("xml", bad + record("xml", 2))
    assert procs(ads) == [2]
    assert [(skip.offset, skip.length) for skip in skipped] == [(0, len(bad) - 1)] or [
        (skip.offset, skip.length) for skip in skipped
    ] == [(0, len(bad))]


def test_odd_characters_survive() -> None:
    xml = record("xml", 1).replace(b"</c>", b'<a n="R"><s>a\x01b\xffc</s></a></c>')
    assert push("xml", xml)[0][0].attributes["R"] == "a\ufffdb\ufffdc"
    json = record("json", 1).replace(b'"Proc"', b'"R": "a\\ud800b\xffc\xc3\xa9", "Proc"')
    (ad, other), skipped = both_ways("json", json + record("json", 2))
    assert ad.attributes["R"] == "a\ufffdb\ufffdc\u00e9"
    assert (other.offset, skipped) == (len(json), [])


@pytest.mark.parametrize("value", [b"1" * 5000, b"[" * 900, b"[" * 200_000, b"[" * 30 + b"]" * 30])
def test_hostile_json_is_skipped(value: bytes) -> None:
    bad = record("json", 1).replace(b": 1,", b": " + value + b",")
    ads, skipped = push("json", bad + record("json", 2))
    assert procs(ads) == [2]
    assert len(skipped) == 1


def test_numbers_without_a_value_are_none() -> None:
    data = record("json", 1).replace(b"{", b'{"a": NaN, "b": 1e999, "c": -Infinity, ')
    (ad,), _ = push("json", data)
    assert [ad.attributes[name] for name in "abc"] == [None, None, None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:01", (1_000_000, 0)),
        ("1970-01-01 00:00:01.5", (1_500_000, 0)),
        ("1970-01-01T00:00:01.123456789Z", (1_123_456, 1)),
        ("1970-01-01T01:00:00+01:00", (0, 1)),
        ("1970-01-01T00:00:00-0130", (5_400_000_000, 1)),
        ("1970-01-01T01:00:00+01", (0, 1)),
        ("2024-02-29T00:00:00", (1_709_164_800_000_000, 0)),
        ("2023-02-29T00:00:00", None),
        ("2023-13-01T00:00:00", None),
        ("0000-01-01T00:00:00", None),
        ("2023-01-01T24:00:00", None),
        ("2023-01-01", None),
        ("", None),
    ],
)
def test_times_of_ads(text: str, expected: tuple[int, int] | None) -> None:
    assert parse_time(text) == expected
