"""What the body of each kind of record tells."""

import pytest
from tests.support.logtext import (
    HELD,
    RELEASED,
    SUBMIT,
    TABLE,
    TERMINATED,
    USAGE,
    Event,
    header,
    one,
    read_three_ways,
    record,
)


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
            {"vacate_code": 13, "vacate_subcode": 2, "reason": "no file"},
        ),
        (
            "Job was evicted. Code 12 Subcode -1001\n\t(0) CPU times\n" + USAGE,
            {"vacate_code": 12, "vacate_subcode": -1001},
        ),
        ("Job was evicted. Code -1 Subcode\n\t(0) CPU times\n" + USAGE, {"vacate_code": -1}),
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
    names = ("vacate_code", "vacate_subcode", "reason", "return_value", "signal", "hold_code")
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
