"""Events of XML and JSON logs as columns."""

import json
from pathlib import Path
from typing import Any, Literal

import pytest

from jobsight.history.eventlog.columns import Origin, ads_to_columns, batch_from_ads
from jobsight.history.eventlog.structured import Ad, Skip, StructuredParser

FORMS = Path(__file__).resolve().parents[4] / "data" / "forms"


def row(code: int, **attributes: Any) -> dict[str, Any]:
    ad = Ad(7, {"EventTypeNumber": code, "EventTime": "2026-11-21T02:31:12Z", **attributes})
    return {name: values[0] for name, values in ads_to_columns([ad]).items()}


def told(code: int, **attributes: Any) -> dict[str, Any]:
    """What a row tells beyond its code, position and ids."""
    always = ("cluster", "proc", "subproc", "code", "offset")
    return {
        name: value
        for name, value in row(code, **attributes).items()
        if value is not None and name not in always
    }


@pytest.mark.parametrize("kind", ["json", "xml"])
def test_the_real_logs_become_columns(kind: Literal["json", "xml"]) -> None:
    parser = StructuredParser(kind)
    ads = parser.feed((FORMS / kind / "EventLog").read_bytes()) + parser.close()
    columns = ads_to_columns(ads)
    assert {len(values) for values in columns.values()} == {len(ads)}
    rows = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    assert rows[0]["cluster"] == rows[0]["proc"] == rows[0]["subproc"] == -1
    for before, after in zip(rows[1::2], rows[2::2], strict=False):
        assert after["code"] == 28
        assert json.loads(after["attributes"])["TriggerEventTypeNumber"] == before["code"]
        assert before["attributes"] is before["owner"] is None
    held = next(row for row in rows if row["code"] == 12)
    assert (held["hold_code"], held["hold_subcode"]) in {(13, 256), (12, 256), (12, 2)}
    assert "Transfer" in held["reason"]
    assert {row["host"] is not None for row in rows if row["code"] in (0, 1)} == {True}
    assert {row["detail"] for row in rows if row["code"] == 40} <= {2, 3, 5, 6}


@pytest.mark.parametrize(
    ("code", "attributes", "expected"),
    [
        (12, {"HoldReason": "x", "HoldReasonCode": 13, "HoldReasonSubCode": -2},
         {"reason": "x", "hold_code": 13, "hold_subcode": -2}),
        (12, {"HoldReason": "Reason unspecified"}, {}),
        (12, {"HoldReason": "Error from slot1@a: bad"},
         {"reason": "Error from slot1@a: bad", "slot": "slot1@a"}),
        (21, {"ErrorMsg": "x", "ExecuteHost": "slot1@a", "HoldReasonCode": 12},
         {"reason": "x", "slot": "slot1@a"}),
        (7, {"Message": "x"}, {"reason": "x"}),
        (22, {"DisconnectReason": "x", "StartdName": "slot1@a", "StartdAddr": "<1:2>"},
         {"reason": "x", "slot": "slot1@a", "host": "<1:2>"}),
        (24, {"Reason": "x", "StartdName": "slot1@a"}, {"reason": "x", "slot": "slot1@a"}),
        (1, {"ExecuteHost": "<1:2>", "SlotName": "slot1@a"}, {"host": "<1:2>", "slot": "slot1@a"}),
        (5, {"ReturnValue": 3, "TerminatedNormally": True}, {"return_value": 3}),
        (5, {"TerminatedBySignal": 9}, {"signal": 9}),
        (16, {"ReturnValue": 1, "DAGNodeName": "A"}, {"return_value": 1, "dag_node": "A"}),
        (9, {"ReturnValue": 3, "Reason": "via condor_rm"}, {"reason": "via condor_rm"}),
        (4, {"ReasonCode": 13, "ReasonSubCode": -1004, "Reason": "x"},
         {"vacate_code": 13, "vacate_subcode": -1004, "reason": "x"}),
        (6, {"MemoryUsage": 11, "Size": 5}, {"memory_mb": 11}),
        (6, {"MemoryUsage": "time()"}, {}),
        (40, {"Type": 2, "Host": "<1:2>"}, {"detail": 2, "host": "<1:2>"}),
        (0, {"SubmitHost": "<1:2>", "LogNotes": "DAG Node: B1"},
         {"host": "<1:2>", "dag_node": "B1"}),
        (33, {"Attribute": "RequestMemory", "Value": "256"},
         {"reason": "Setting job attribute RequestMemory to 256"}),
        (12, {"HoldReasonCode": 2**40, "HoldReason": 5}, {}),
        (12, {"HoldReasonCode": True}, {}),
        (999, {"Reason": "kept"}, {"reason": "kept"}),
    ],
)  # fmt: skip
def test_what_each_event_tells(
    code: int, attributes: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert told(code, **attributes) == expected


def test_ids_that_no_column_holds_are_none_given() -> None:
    assert (row(1)["cluster"], row(1)["proc"]) == (-1, -1)
    assert row(1, Cluster=2**70)["cluster"] == -1
    assert row(1, Cluster=4421577, Proc=1234)["proc"] == 1234


def test_a_batch_has_times_and_may_be_empty() -> None:
    attributes = {"EventTypeNumber": 28, "EventTime": "2026-11-21T02:31:12", "Cluster": 1}
    origin = Origin("log", 0, "ap1")
    batch = batch_from_ads([Ad(9, attributes)], [Skip(0, 9, "x")], origin=origin, size=99)
    assert (batch.stamp.tolist(), batch.form.tolist()) == ([1_795_228_272_000_000], [0])
    assert (batch.skipped, batch.size) == ([(0, 9, "x")], 99)
    assert batch.columns["access_point"].to_pylist() == ["ap1"]
    empty = batch_from_ads([], [], origin=origin, size=0)
    assert len(empty.stamp) == 0
    assert empty.columns["code"].to_pylist() == []
