"""What a file of an event log is called, wherever it lies."""

from __future__ import annotations

import json

import pytest
from tests.support.logtext import SUBMIT, record

from jobsight.history.eventlog.generations import HEAD, identify
from jobsight.history.eventlog.terms import PREFIX, begun

INFO = (
    "Global JobLog: ctime=1795228484 id={} sequence={} size={} events=0 offset=0 event_off=0 "
    "max_rotation=4 creator_name=<>"
)
ID = "0.341752.1795228483.640935.5.1795228484.140720"
WHOLE = record(0, SUBMIT)


def header(identity: str = ID, sequence: int = 5, size: int = 0) -> bytes:
    told = f"008 (-01.-01.-01) 2026-11-21 02:34:47 {INFO.format(identity, sequence, size):<220}"
    return f"{told}\n...\n".encode()


def name(head: bytes, *, whole: bool = False) -> str | None:
    found = identify(head, whole=whole)
    return None if found is None else found.name


def test_a_header_written_anew_names_the_same_generation() -> None:
    one = name(header() + WHOLE)
    assert one == name(header(size=9524)) == name(header(size=1) + record(0, SUBMIT, "9.0.0"))
    assert one is not None
    assert one.startswith("eventlog#1795228484140720.")
    assert begun(one) == 1795228484140720
    assert name(header(ID[:-1] + "1")) != one


def test_a_header_without_an_id_is_a_record_like_others() -> None:
    told = name(header("", 0))
    assert told is not None
    assert told.startswith(f"{PREFIX}-")
    assert begun(told) is None


@pytest.mark.parametrize("data", [header() + WHOLE, WHOLE])
def test_the_name_is_known_with_the_first_record(data: bytes) -> None:
    first = data.index(b"\n...\n") + 5
    for end in range(first):
        assert identify(data[:end]) is None
    for end in range(first, len(data) + 1):
        assert name(data[:end]) == name(data)
    found = identify(data)
    assert found is not None
    assert found.first == first


def test_what_will_never_be_whole_has_a_name() -> None:
    assert identify(WHOLE[:30]) is None
    assert name(WHOLE[:30], whole=True) is not None
    assert name(b"x" * HEAD) == name(b"x" * (HEAD + 1))
    assert identify(b"", whole=True) is None


def ad(**told: object) -> bytes:
    return json.dumps(told, indent=2).encode() + b"\n"


def test_json_headers_that_lose_their_id_do_not_rename_the_log() -> None:
    fields = {"MyType": "GenericEvent", "EventTypeNumber": 8, "EventTime": "2026-11-21T02:31:12"}
    newest, rotated = (
        ad(Info=INFO.format(*told), **fields) for told in ((ID, 1, 0), ("", 0, 3110))
    )
    first = ad(EventTime="2026-11-21T02:31:12.679", EventTypeNumber=0, Cluster=1)
    second = ad(EventTime="2026-11-21T02:31:13.000", EventTypeNumber=1, Cluster=1)
    assert identify(newest) is None
    one = name(newest + first)
    assert one is not None
    assert one.startswith("eventlog#1795228272679000.")
    assert one == name(rotated + first) == name(rotated + first + second)
    assert one != name(rotated + second)
    found = identify(rotated + first)
    assert found is not None
    assert found.header is not None
    assert (found.header.ctime, found.header.sequence) == (1795228484, None)
