"""Forms of text records, and what is kept where a log is damaged."""

import datetime as dt

import pytest
from tests.logtext import (
    ABORTED,
    EXECUTE,
    HELD,
    RELEASED,
    SUBMIT,
    TERMINATED,
    Event,
    header,
    information,
    read,
    read_three_ways,
    record,
)

NOTHING = "no event record here"
CUT = "record cut short where another begins"
TRUNCATED = "truncated record at the end of the log"
NULS = "NUL bytes in a record"
NO_RESULT = "termination without a result"


def one(data: bytes) -> Event:
    events, skipped = read_three_ways(data)
    assert skipped == []
    assert len(events) == 1
    return events[0]


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
        ("123456789012.2147483647.000", (123456789012, 2147483647, 0)),
    ],
)
def test_ids(job: str, expected: tuple[int, int, int]) -> None:
    event = one(record(1, EXECUTE, job=job))
    assert (event["cluster"], event["proc"], event["subproc"]) == expected


@pytest.mark.parametrize(
    "job", ["1.2", "1.2.3.4", "1.2147483648.0", "9" * 19 + ".0.0", "a.0.0", ""]
)
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


# Bodies


def test_submission() -> None:
    event = one(record(0, SUBMIT + "    DAG Node: A+B\n    DAG Node: forged\n"))
    assert event["host"] == "<192.0.2.1:9618?alias=ap1>"
    assert event["dag_node"] == "A+B"
    assert event["access_point"] == "ap1"


@pytest.mark.parametrize("slot", ["slot1_1@site-a", '"slot1_1@site-a"'])
def test_execution(slot: str) -> None:
    event = one(
        record(1, f"Job executing on host: <192.0.2.7:9618>\n\tSlotName: {slot}\n\tCpus = 1\n")
    )
    assert (event["host"], event["slot"]) == ("<192.0.2.7:9618>", "slot1_1@site-a")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("(1) Normal termination (return value 3)", {"return_value": 3}),
        ("(1) Normal termination (return value -1)", {"return_value": -1}),
        ("(0) Abnormal termination (signal 9)", {"signal": 9}),
    ],
)
def test_termination(line: str, expected: Event) -> None:
    event = one(record(5, f"Job terminated.\n\t{line}\n\t(0) No core file\n"))
    assert {
        name: event.get(name) for name in ("return_value", "signal") if name in event
    } == expected


def test_only_the_first_line_that_tells_a_result_counts() -> None:
    body = TERMINATED + "\t(1) Normal termination (return value 9)\n"
    assert one(record(5, body))["return_value"] == 0


def test_memory() -> None:
    body = "Image size of job updated: 72\n\t12  -  MemoryUsage of job (MB)\n"
    "\t3  -  ResidentSetSize of job (KB)\n"
    assert one(record(6, body))["memory_mb"] == 12
    assert "memory_mb" not in one(record(6, "Image size of job updated: 72\n"))


USAGE = (
    "\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Remote Usage\n"
    "\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Local Usage\n"
    "\t0  -  Run Bytes Sent By Job\n\t43  -  Run Bytes Received By Job\n"
)
HEAD = "\tPartitionable Resources :    Usage  Request Allocated\n"
TABLE = HEAD + "\t   Cpus                 :        1        1         1\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Job was evicted.\n\t(0) CPU times\n" + USAGE, {}),
        ("Job was evicted.\n\t(0) Job was not checkpointed.\n" + USAGE + TABLE, {}),
        (
            "Job was evicted.\n\t(1) Job was checkpointed.\n" + USAGE + "\tError: no\n" + TABLE,
            {"reason": "Error: no"},
        ),
        (
            "Job was evicted. Code 13 Subcode 2\n"
            "\t(0) CPU times\n" + USAGE + "\tReason: no file\n" + TABLE,
            {"vacate_code": 13, "reason": "no file"},
        ),
        ("Job was evicted. Code -1 Subcode 0\n\t(0) CPU times\n" + USAGE, {"vacate_code": -1}),
        (
            "Job was evicted.\n\t(0) Job terminated and was requeued\n"
            + USAGE
            + "\t(1) Normal termination (return value 4)\n\tThe OnExitRemove expression is false\n",
            {"return_value": 4, "reason": "The OnExitRemove expression is false"},
        ),
        (
            "Job was evicted.\n\t(0) Job terminated and was requeued\n"
            + USAGE
            + "\t(0) Abnormal termination (signal 11)\n"
            "\t(1) Corefile in: /tmp/core\n\tWhy\n\tand more\n" + TABLE,
            {"signal": 11, "reason": "Why\n\tand more"},
        ),
        (
            "Job was evicted.\n\t(0) CPU times\n" + USAGE + "\t(1) Normal termination "
            "(return value 0) said he\n",
            {"return_value": 0},
        ),
    ],
)
def test_eviction_in_each_shape(body: str, expected: Event) -> None:
    event = one(record(4, body))
    names = ("vacate_code", "reason", "return_value", "signal", "hold_code")
    assert {name: event[name] for name in names if name in event} == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (HELD, ("Error from slot1_1@site-a: no such file", 13, 2)),
        ("Job was held.\n\tReason unspecified\n\tCode 0 Subcode 0\n", (None, 0, 0)),
        (
            "Job was held.\n\tReason unspecified: really\n\tCode 1 Subcode 0\n",
            ("Reason unspecified: really", 1, 0),
        ),
        ("Job was held.\n\tvia condor_hold\n", ("via condor_hold", None, None)),
        ("Job was held.\n", (None, None, None)),
        (
            "Job was held.\n\tone\ntwo\n   three\n\tCode 34 Subcode 102\n",
            ("one\ntwo\n   three", 34, 102),
        ),
        (
            "Job was held.\n\tone\n\tCode 1 Subcode 0\n\ttwo\n\tCode 26 Subcode -1\n",
            ("one\n\tCode 1 Subcode 0\n\ttwo", 26, -1),
        ),
        ("Job was held.\n\tCode 1 Subcode 0\n\tCode 26 Subcode 7\n", ("Code 1 Subcode 0", 26, 7)),
        ("Job was held.\n\tone\n\n\tCode 3 Subcode 0\n", ("one", 3, 0)),
        (
            "Job was held.\n\tCode 13 Subcode 2 and more\n\tCode 5 Subcode 6\n",
            ("Code 13 Subcode 2 and more", 5, 6),
        ),
        ("Job was held.\n\tmany\n\tCode 99999999999 Subcode 0\n", ("many", None, 0)),
    ],
)
def test_hold(body: str, expected: tuple[str | None, int | None, int | None]) -> None:
    event = one(record(12, body))
    assert tuple(event.get(name) for name in ("reason", "hold_code", "hold_subcode")) == expected


def test_the_slot_in_a_reason() -> None:
    assert one(record(12, HELD))["slot"] == "slot1_1@site-a"
    assert "slot" not in one(record(12, HELD.replace("Error from", "Error at")))


@pytest.mark.parametrize("first", ["Job was aborted.", "Job was aborted by the user."])
def test_removal(first: str) -> None:
    event = one(record(9, f"{first}\n\tvia condor_rm (by user u01)\n\tJob terminated by u01\n"))
    assert event["reason"] == "via condor_rm (by user u01)"
    assert "reason" not in one(record(9, first + "\n"))


def test_release() -> None:
    assert one(record(13, RELEASED))["reason"] == "via condor_release (by user u01)"
    assert "reason" not in one(record(13, "Job was released.\n"))


def test_shadow_exception() -> None:
    body = "Shadow exception!\n\tError from slot2@b: one\n\ttwo\n"
    "\t0  -  Run Bytes Sent By Job\n\t0  -  Run Bytes Received By Job\n"
    event = one(record(7, body))
    assert (event["reason"], event["slot"]) == ("Error from slot2@b: one\n\ttwo", "slot2@b")


def test_remote_error() -> None:
    event = one(record(21, "Error from starter on slot1@b:\n\tone\n\ttwo\n\tCode 6 Subcode 7\n"))
    assert (event["reason"], event["slot"]) == ("one\n\ttwo", "slot1@b")
    assert "hold_code" not in event


@pytest.mark.parametrize(
    ("code", "body", "expected"),
    [
        (
            22,
            "Job disconnected, attempting to reconnect\n    Socket closed\n"
            "    Trying to reconnect "
            "to slot1@b <192.0.2.7:1>\n",
            ("Socket closed", "slot1@b", "<192.0.2.7:1>"),
        ),
        (
            22,
            "Job disconnected, can not reconnect\n    Socket closed\n"
            "    Can not reconnect to slot1@b, rescheduling job\n    It is gone\n",
            ("Socket closed", "slot1@b", None),
        ),
        (
            22,
            "Job disconnected, attempting to reconnect\n    could not reconnect to it\n"
            "    Trying to reconnect to slot1@b <192.0.2.7:1>\n",
            ("could not reconnect to it", "slot1@b", "<192.0.2.7:1>"),
        ),
        (
            23,
            "Job reconnected to slot1@b\n    startd address: <192.0.2.7:1>\n",
            (None, "slot1@b", None),
        ),
        (
            24,
            "Job reconnection failed\n    Job not found\n"
            "    Can not reconnect to slot1@b, rescheduling job\n",
            ("Job not found", "slot1@b", None),
        ),
        (
            24,
            "Job reconnection failed\n    one\n    two\n"
            "    Can not reconnect to slot1@b, rescheduling job\n",
            ("one\n    two", "slot1@b", None),
        ),
    ],
)
def test_connection(code: int, body: str, expected: tuple[str | None, ...]) -> None:
    event = one(record(code, body))
    assert tuple(event.get(name) for name in ("reason", "slot", "host")) == expected


@pytest.mark.parametrize(
    ("phrase", "detail"),
    [
        ("Entered queue to transfer input files", 1),
        ("Started transferring input files", 2),
        ("Finished transferring input files", 3),
        ("Entered queue to transfer output files", 4),
        ("Started transferring output files", 5),
        ("Finished transferring output files", 6),
        ("Something else", 0),
    ],
)
def test_file_transfer(phrase: str, detail: int) -> None:
    assert one(record(40, phrase + "\n"))["detail"] == detail


def test_file_transfer_tells_its_host() -> None:
    body = "Started transferring input files\n\tTransferring to host: <192.0.2.7:1>\n"
    assert one(record(40, body))["host"] == "<192.0.2.7:1>"


def test_attribute_update_and_node_scripts() -> None:
    assert one(record(33, "Changing job attribute A from 1 to 2\n"))["reason"] == (
        "Changing job attribute A from 1 to 2"
    )
    event = one(
        record(
            16,
            "POST Script terminated.\n\t(1) Normal termination (return value 1)\n    DAG Node: A\n",
        )
    )
    assert (event["return_value"], event["dag_node"]) == (1, "A")


def test_text_that_is_no_utf8_is_mended() -> None:
    body = b"Job was released.\n\tcaf\xe9 \xc3\n"
    data = header(13).encode() + body + b"...\n"
    # The second text begins with what would continue the first one's last letter.
    other = header(13).encode() + b"Job was released.\n\t\xa9 x\n...\n"
    events, skipped = read_three_ways(data + other)
    assert [event["reason"] for event in events] == ["caf\ufffd \ufffd", "\ufffd x"]
    assert skipped == []


# The ads of 028 records


def test_an_ad_goes_to_its_trigger() -> None:
    events, skipped = read_three_ways(record(12, HELD) + information(12) + record(13, RELEASED))
    assert skipped == []
    assert [event["code"] for event in events] == [12, 28, 13]
    expected = '{"EventTypeNumber":28,"Owner":"u01","TriggerEventTypeNumber":12}'
    assert [event.get("attributes") for event in events] == [expected, None, None]
    assert [event.get("owner") for event in events] == ["u01", "u01", None]


def test_an_ad_without_its_trigger_stays_where_it_is() -> None:
    events, _ = read_three_ways(record(13, RELEASED) + information(12))
    assert [("attributes" in event) for event in events] == [False, True]


def test_ads_of_writers_that_write_at_once_find_their_triggers() -> None:
    jobs = [f"{k}.000.000" for k in range(1, 6)]
    data = b"".join(record(1, EXECUTE, job) for job in jobs)
    data += record(12, HELD, jobs[0])
    data += b"".join(information(1, job, extra=f'Owner = "u{job[0]}"\n') for job in jobs)
    data += information(12, jobs[0]) + information(12, jobs[0])
    events, _ = read_three_ways(data)
    assert [event["owner"] for event in events[:6]] == ["u1", "u2", "u3", "u4", "u5", "u01"]
    assert [("attributes" in event) for event in events] == [True] * 6 + [False] * 6 + [True]


def test_an_ad_that_comes_very_late_stays_where_it_is() -> None:
    between = b"".join(record(13, RELEASED, f"{k}.0.0") for k in range(255))
    near, _ = read_three_ways(record(1, EXECUTE) + between + information(1))
    assert "attributes" in near[0]
    far, _ = read_three_ways(record(1, EXECUTE) + between + record(13, RELEASED) + information(1))
    assert "attributes" not in far[0]
    assert "attributes" in far[-1]


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
    events, skipped = read_three_ways(whole + record(following, WHOLE[following]))
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
