"""Whatever the bytes are: accepted, or reported; never a crash."""

import gzip
import json
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.limits import examples

from jobsight.history.eventlog.columns import Origin, batch_from_ads
from jobsight.history.eventlog.headers import first_header, parse_header, sinful_name, submit_host
from jobsight.history.eventlog.logfiles import looks_like_log, sniff
from jobsight.history.eventlog.packed import Expander
from jobsight.history.eventlog.structured import StructuredParser
from jobsight.history.eventlog.times import TimeResolver, YearCounter

FORMS = Path(__file__).resolve().parents[2] / "data" / "forms"
LOGS = {name: (FORMS / name / "EventLog").read_bytes()[:6000] for name in ("json", "xml", "legacy")}
TOKENS = [b"{", b"}", b"\n", b"\n{\n", b"\n}\n", b"<c>", b"</c>", b"\n<c>\n", b'"', b"\\", b"\xff",
          b'<a n="x">', b"</a>", b"&lt;", b"<!", b"Global JobLog: ctime=", b"008 (-1.-1.-1) ",
          b'"EventTypeNumber": 28', b'"EventTime": "2026-11-21T02:31:12"', b","]  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn, name: str) -> bytes:
    """A real log with pieces cut out, doubled and put in."""
    data = LOGS[name]
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 300)))
        middle = draw(st.sampled_from([*TOKENS, data[start:end] * 2, b""]))
        data = data[:start] + middle + data[end:]
    return data


soup = st.lists(st.one_of(st.sampled_from(TOKENS), st.binary(max_size=9))).map(b"".join)


@pytest.mark.parametrize("kind", ["json", "xml"])
@settings(max_examples=examples(60))
@given(data=st.data())
def test_ads_are_accepted_or_reported(kind: Literal["json", "xml"], data: st.DataObject) -> None:
    log = data.draw(st.one_of(damaged(kind), soup))
    step = data.draw(st.sampled_from([1, 13, 512]))
    whole, pieces = StructuredParser(kind), StructuredParser(kind)
    ads = whole.feed(log) + whole.close()
    parts = [ad for at in range(0, len(log), step) for ad in pieces.feed(log[at : at + step])]
    assert parts + pieces.close() == ads
    assert pieces.skipped == whole.skipped
    ends = [skip.offset + skip.length for skip in whole.skipped]
    assert all(
        0 <= skip.offset < end <= len(log) for skip, end in zip(whole.skipped, ends, strict=True)
    )
    assert [ad.offset for ad in ads] == sorted({ad.offset for ad in ads})
    batch = batch_from_ads(ads, whole.skipped, origin=Origin("log", 0, None), size=len(log))
    assert len(batch.columns["code"]) == len(batch.stamp) == len(ads)
    for text in batch.columns["attributes"].to_pylist():
        assert text is None or isinstance(json.loads(text), dict)


@settings(max_examples=examples(200))
@given(soup)
@example(b"008 (-1.-1.-1) 2026-11-21 02:34:47 Global JobLog: id=.... ctime=\xff")
def test_headers_and_heads_never_crash(data: bytes) -> None:
    parse_header(data)
    submit_host(data)
    looks_like_log(data)
    first_header(data, sniff(data))
    sinful_name(data.decode("latin-1"))


@settings(max_examples=examples(40))
@given(st.data())
def test_damaged_gzip_yields_a_sound_start_or_says_why(data: st.DataObject) -> None:
    packed = bytearray(gzip.compress(LOGS["legacy"]) * 2)
    at = data.draw(st.integers(0, len(packed) - 1))
    packed[at] ^= data.draw(st.integers(1, 255))
    expander = Expander("gzip", lambda offset, size: bytes(packed[offset : offset + size]))
    view = memoryview(bytearray(4 * len(LOGS["legacy"])))
    size = expander.readinto(view)
    if bytes(view[:size]) != LOGS["legacy"] * 2:
        assert expander.problem is not None


stamps = st.lists(
    st.one_of(
        st.integers(-(2**63), 2**63 - 1),
        st.integers(63_072_000_000_000, 94_694_399_000_000),  # 1972
        st.integers(1_761_400_000_000_000, 1_761_500_000_000_000),  # an autumn night
    ),
    max_size=40,
)


@settings(max_examples=examples(100))
@given(stamps, st.data())
def test_any_times_resolve_alike_in_any_chunks(values: list[int], data: st.DataObject) -> None:
    stamp = np.array(values, np.int64)
    form = np.array([data.draw(st.integers(0, 3)) for _ in values], np.uint8)
    zone = ZoneInfo(data.draw(st.sampled_from(["UTC", "Europe/Berlin", "America/New_York"])))
    cut = data.draw(st.integers(0, len(values)))
    modified, counters = data.draw(st.floats(-1e12, 1e12)), (YearCounter(), YearCounter())
    counters[0].feed(stamp, form)
    for part in (slice(None, cut), slice(cut, None)):
        counters[1].feed(stamp[part], form[part])
    year, again = (counter.first_year(modified, zone) for counter in counters)
    assert year == again
    whole = TimeResolver(zone, first_year=year).resolve(stamp, form)
    resolver = TimeResolver(zone, first_year=year)
    parts = [resolver.resolve(stamp[:cut], form[:cut]), resolver.resolve(stamp[cut:], form[cut:])]
    assert np.concatenate(parts).tolist() == whole.tolist()
