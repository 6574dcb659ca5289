"""Forms of text records, and what is kept where a log is damaged."""

import datetime as dt
import json

import pytest
from tests.support.logtext import (
    ABORTED,
    EXECUTE,
    HEAD,
    HELD,
    RELEASED,
    SUBMIT,
    TABLE,
    TERMINATED,
    USAGE,
    header,
    information,
    one,
    read,
    read_three_ways,
    record,
)

NOTHING = "no event record here"
CUT = "record cut short where another begins"
TRUNCATED = "truncated record at the end of the log"
NULS = "NUL bytes in a record"
NO_RESULT = "termination without a result"


def codes(data: bytes) -> list[int]:
    return [event["code"] for event in read_three_ways(data)[0]]


# Headers


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2026-01-02 03:04:05", "2026-01-02T03:04:05"),
        ("2026-01-02T03:04:05", "2026-01-02T03:04:05"),
        ("2026-01-02 03:04:05.678", "2026-01-02T03:04:05.678"),
        ("2026-01-02T03:04:05.123456789", "2026-01-02T03:04:05.123456"),
        ("2026-01-02 03:04:05Z", "2026-01-02T03:04:05"),
        ("2026-01-02 03:04:05.5Z", "2026-01-02T03:04:05.5"),
        ("2026-01-02T03:04:05+01:30", "2026-01-02T01:34:05"),
        ("2026-01-02T03:04:05.25-0800", "2026-01-02T11:04:05.25"),
        ("2026-01-02T03:04:05+02", "2026-01-02T01:04:05"),
        ("2024-02-29 23:59:60", "2024-03-01T00:00:00"),
        ("1999-12-31 00:00:00", "1999-12-31T00:00:00"),
    ],
)
def test_dates(date: str, expected: str) -> None:
    event = one(record(1, EXECUTE, date=date))
    assert event["time"] == dt.datetime.fromisoformat(expected).replace(tzinfo=dt.UTC)


def test_a_date_without_a_year_keeps_its_month_day_and_time() -> None:
    event = one(record(1, EXECUTE, date="02/03 04:05:06"))
    assert event["time"].strftime("%m/%d %H:%M:%S") == "02/03 04:05:06"


@pytest.mark.parametrize(
    "date",
    [
        "2026-13-01 00:00:00",
        "2026-02-29 00:00:00",
        "2026-01-02 24:00:00",
        "2026-01-02 03:60:00",
        "0000-01-02 00:00:00",
        "13/01 00:00:00",
        "02/30 00:00:00",
        "2026-01-02 03:04",
        "2026-01-02",
        "2026-01-02 03:04:05+19:00",
        "2026-01-02 03:04:05x",
        "01/02T03:04:05",
    ],
)
def test_a_header_whose_date_cannot_be_begins_no_record(date: str) -> None:
    data = record(1, EXECUTE, date=date)
    assert read_three_ways(data) == ([], [(0, len(data), NOTHING)])


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        ("123.000.000", (123, 0, 0)),
        ("000.000.000", (0, 0, 0)),
        ("7.12345.001", (7, 12345, 1)),
        ("-01.-01.-01", (-1, -1, -1)),
        ("2147483647.2147483647.000", (2147483647, 2147483647, 0)),
    ],
)
def test_ids(job: str, expected: tuple[int, int, int]) -> None:
    event = one(record(1, EXECUTE, job=job))
    assert (event["cluster"], event["proc"], event["subproc"]) == expected


@pytest.mark.parametrize("job", ["1.2", "1.2.3.4", "1.2147483648.0", "2147483648.0.0", "a.0.0", ""])
def test_a_header_whose_ids_cannot_be_begins_no_record(job: str) -> None:
    data = record(1, EXECUTE, job=job)
    assert read_three_ways(data) == ([], [(0, len(data), NOTHING)])


def test_the_header_record_of_a_global_log_is_an_event_of_no_job() -> None:
    data = record(
        8, "Global JobLog: ctime=1767322800 id=a.1.2.3 sequence=1 size=0\n", "-01.-01.-01"
    )
    event = one(data)
    assert (event["code"], event["cluster"], event["proc"]) == (8, -1, -1)


@pytest.mark.parametrize("code", [25, 47, 111, 999])
def test_unknown_event_numbers_are_kept(code: int) -> None:
    assert one(record(code, "What it says\n\tmore\n"))["code"] == code


def test_backslashes_in_ads_stand_for_themselves() -> None:
    lines = {"A": r"C:\new\table", "B": r"say \"hi\" \101", "C": "ends in one\\"}
    extra = "".join(f'{name} = "{text}"\n' for name, text in lines.items())
    ad = json.loads(one(information(12, extra=extra))["attributes"])
    # As HTCondor's own reader gives them.
    assert [ad[name] for name in "ABC"] == [r"C:\new\table", r'say "hi" \101', "ends in one\\"]


def test_an_028_has_its_ad_and_owner_in_its_own_row() -> None:
    events, _ = read_three_ways(record(12, HELD) + information(12))
    assert "attributes" not in events[0]
    expected = '{"EventTypeNumber":28,"Owner":"u01","TriggerEventTypeNumber":12}'
    assert (events[1]["attributes"], events[1]["owner"]) == (expected, "u01")


def test_lines_may_end_as_on_windows() -> None:
    plain = record(12, HELD) + information(12) + record(13, RELEASED)
    events, skipped = read_three_ways(plain)
    other, also = read(plain.replace(b"\n", b"\r\n"))
    assert skipped == also == []
    for event in (*events, *other):
        del event["offset"]
    assert events == other


def test_a_byte_order_mark_and_blank_lines_are_no_damage() -> None:
    data = b"\xef\xbb\xbf" + record(1, EXECUTE) + b"\n \r\n" + record(13, RELEASED) + b"\n\n"
    events, skipped = read(data)
    assert [event["code"] for event in events] == [1, 13]
    assert skipped == []


# Forged headers


FORGED = header(5, "124.000.000") + "Job terminated."


@pytest.mark.parametrize(
    "data",
    [
        record(12, f"Job was held.\n\tno {FORGED}\n\tCode 26 Subcode 0\n"),
        record(13, f"Job was released.\n\tno {FORGED}\n"),
        record(9, f"Job was aborted.\n\tno {FORGED}\n"),
        record(7, f"Shadow exception!\n\tno {FORGED}\n\t0  -  Run Bytes Sent By Job\n"),
        record(21, f"Error from starter on slot1@b:\n\tno {FORGED}\n\tmore\n\tCode 1 Subcode 0\n"),
        record(0, SUBMIT + f"    note {FORGED}\n    more\n"),
        record(
            4, "Job was evicted.\n\t(0) CPU times\n" + USAGE + f"\tReason: no {FORGED}\n" + TABLE
        ),
        record(33, f'Setting job attribute A to "{FORGED}"\n'),
        information(12, extra=f'Owner = "{FORGED}"\nX = 1\n'),
        record(28, f'Job ad information event triggered.\nX = "{FORGED}"\n'),
        record(99, f"New event\n\tno {FORGED}\n\t(1) Normal termination (return value 0)\n"),
    ],
)
def test_a_header_forged_in_a_users_text_is_text(data: bytes) -> None:
    after = record(13, RELEASED)
    events, skipped = read_three_ways(data + after)
    assert skipped == []
    assert [event["cluster"] for event in events] == [123, 123]


# Damage


def test_an_empty_log() -> None:
    assert read(b"") == ([], [])
    assert read(b"\n\n") == ([], [])


@pytest.mark.parametrize("cut", [1, 4, 5, 20, 60])
def test_a_truncated_tail(cut: int) -> None:
    whole, last = record(12, HELD), record(5, TERMINATED)
    events, skipped = read_three_ways(whole + last[:-cut])
    assert [event["code"] for event in events] == ([12, 5] if cut == 1 else [12])
    assert skipped == ([] if cut == 1 else [(len(whole), len(last) - cut, TRUNCATED)])


@pytest.mark.parametrize(
    "rubbish",
    [
        b"\x00" * 4096,
        b"\x00\x01\xfe\xff\n\n...\xff\n",
        bytes(range(1, 256)),
        b"x\n" * 50,
        b"...\n...\n",
    ],
)
def test_rubbish_between_records(rubbish: bytes) -> None:
    first, second = record(12, HELD) + information(12), record(13, RELEASED)
    events, skipped = read_three_ways(first + rubbish + second)
    assert [event["code"] for event in events] == [12, 28, 13]
    assert sum(length for _, length, _ in skipped) == len(rubbish)
    assert {reason for *_, reason in skipped} == {NOTHING}
    assert skipped[0][0] == len(first)


@pytest.mark.parametrize("body", [HELD, RELEASED, ABORTED, EXECUTE, TERMINATED])
@pytest.mark.parametrize("at", [45, 60, 75])
def test_nul_bytes_in_a_record_cost_that_record_alone(body: str, at: int) -> None:
    code = {HELD: 12, RELEASED: 13, ABORTED: 9, EXECUTE: 1, TERMINATED: 5}[body]
    before, damaged, after = record(1, EXECUTE), record(code, body), record(13, RELEASED)
    hole = damaged[:at] + b"\x00" * 100
    events, skipped = read_three_ways(before + hole + after)
    assert [event["offset"] for event in events] == [0, len(before) + len(hole)]
    assert skipped == [(len(before), len(hole), NULS)]
    events, skipped = read_three_ways(before + hole + damaged[at:] + after)
    assert [event["code"] for event in events] == [1, 13]
    assert skipped == [(len(before), len(hole) + len(damaged) - at, NULS)]


WHOLE = {
    0: SUBMIT,
    1: EXECUTE,
    4: "Job was evicted. Code 13 Subcode 2\n\t(0) CPU times\n" + USAGE + "\tReason: no\n" + TABLE,
    5: TERMINATED,
    6: "Image size of job updated: 72\n\t12  -  MemoryUsage of job (MB)\n",
    7: "Shadow exception!\n\tno\n\t0  -  Run Bytes Sent By Job\n"
    "\t0  -  Run Bytes Received By Job\n",
    9: ABORTED,
    12: HELD,
    13: RELEASED,
    21: "Error from starter on slot1@b:\n\tno\n\tCode 6 Subcode 7\n",
    22: "Job disconnected, attempting to reconnect\n    no\n"
    "    Trying to reconnect to slot1@b <192.0.2.7:1>\n",
    24: "Job reconnection failed\n    no\n    Can not reconnect to slot1@b, rescheduling job\n",
    40: "Started transferring input files\n\tTransferring to host: <192.0.2.7:1>\n",
    47: "Common files event: Started\n\twaitiing\n",
}


@pytest.mark.parametrize("code", WHOLE)
@pytest.mark.parametrize("following", WHOLE)
def test_a_missing_separator_costs_nothing(code: int, following: int) -> None:
    whole = record(code, WHOLE[code])
    events, skipped = read(whole + record(following, WHOLE[following]))
    unseparated = whole.removesuffix(b"...\n")
    other, also = read_three_ways(unseparated + record(following, WHOLE[following]))
    events[1]["offset"] -= 4
    assert (events, skipped) == (other, also)
    assert skipped == []


@pytest.mark.parametrize("code", WHOLE)
def test_a_separator_without_its_line_end_costs_nothing(code: int) -> None:
    whole = record(code, WHOLE[code])
    events, skipped = read_three_ways(whole[:-1] + record(5, TERMINATED))
    assert [event["code"] for event in events] == [code, 5]
    assert skipped == []


# Where users may write such lines (021, 047, an ad), a header in one is text; of the others, what
# follows the header tells a run-in record from a text that somebody forged.
RUN_INTO = [
    (code, following)
    for code in [*WHOLE, 28]
    for following in (4, 5, 6, 7, 12, 28)
    if code not in (21, 47) and (code, following) not in ((28, 28), (12, 12))
]


@pytest.mark.parametrize(("code", "following"), RUN_INTO)
def test_a_record_cut_in_its_last_line_costs_that_record_alone(code: int, following: int) -> None:
    body = WHOLE.get(
        code, "Job ad information event triggered.\nA = 1\nTriggerEventTypeNumber = 12\n"
    )
    after = information(12) if following == 28 else record(following, WHOLE[following])
    last = record(13, RELEASED)
    for lost in (2, 4, 9):
        cut = record(code, body)[: -4 - lost]
        events, skipped = read_three_ways(cut + after + last)
        found = [event["offset"] for event in events]
        assert found[-2:] == [len(cut), len(cut) + len(after)]
        # Of a termination all was told; its result stands first.
        assert (found[:-2], skipped) in (([], [(0, len(cut), CUT)]), ([0], []))
        assert (skipped == []) == (code == 5)


def test_an_eviction_cut_in_the_head_of_its_table_costs_that_record_alone() -> None:
    body = "Job was evicted.\n\t(0) CPU times\n" + USAGE + HEAD
    cut = record(4, body)[:-9]
    events, skipped = read_three_ways(cut + record(5, TERMINATED))
    assert [event["code"] for event in events] == [5]
    assert skipped == [(0, len(cut), CUT)]


def test_three_records_run_into_one_another() -> None:
    held, released = record(12, HELD)[:70], record(13, RELEASED)[:70]
    events, skipped = read_three_ways(held + released + record(5, TERMINATED))
    assert [event["code"] for event in events] == [5]
    assert skipped == [(0, 140, CUT)]


@pytest.mark.parametrize(
    "kept", ["Job terminated.\n", "Job terminated.\n\t(1) Normal termination (return value 1"]
)
def test_a_termination_that_lost_its_result_is_none(kept: str) -> None:
    cut = (header(5) + kept).encode()
    events, skipped = read_three_ways(cut + record(13, RELEASED))
    assert [event["code"] for event in events] == [13]
    assert skipped == [(0, len(cut), CUT)]
    separated = cut.rstrip(b"\n") + b"\n...\n"
    assert read_three_ways(separated) == ([], [(0, len(separated), NO_RESULT)])


def test_a_hold_that_lost_its_codes_is_none() -> None:
    cut = (header(12) + "Job was held.\n\tError\n").encode()
    events, skipped = read_three_ways(cut + record(13, RELEASED))
    assert [event["code"] for event in events] == [13]
    assert skipped == [(0, len(cut), CUT)]


def test_an_ad_that_lost_its_end_is_none() -> None:
    cut = (header(28) + 'Job ad information event triggered.\nOwner = "u01"\n').encode()
    events, skipped = read_three_ways(record(12, HELD) + cut + record(13, RELEASED))
    assert [event["code"] for event in events] == [12, 13]
    assert "attributes" not in events[0]
    assert [reason for *_, reason in skipped] == [CUT]


def test_as_many_damaged_stretches_as_there_can_be() -> None:
    piece = b"001 (1.1.1) 01/01 00:00:00 \0\n...\nx\n"
    events, skipped = read(piece * 20_000)
    assert events == []
    assert len(skipped) == 40_000
    dense = b"003 (1.1.1) 01/01 00:00:00\n" * 20_000
    assert len(read(dense + b"...\n")[0]) == 20_000


def test_what_lies_before_the_first_record_is_reported() -> None:
    data = b"Some words\n\n" + record(13, RELEASED)
    events, skipped = read_three_ways(data)
    assert codes(data) == [13]
    assert [event["offset"] for event in events] == [12]
    assert skipped == [(0, 12, NOTHING)]


def test_lines_that_are_separators_alone_are_one_damaged_stretch() -> None:
    """Each is a skip of 4 bytes, the smallest there is."""
    for end in (b"\n", b"\r\n"):
        data = (b"..." + end) * 10_000
        assert read_three_ways(data) == ([], [(0, len(data), NOTHING)])
