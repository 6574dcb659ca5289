import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.support.histories import micros, table

from jobsight.history.labels import label_rows
from jobsight.history.outcomes import apply_horizon
from jobsight.history.timelines import History
from jobsight.learning.dataset import batch_weights
from jobsight.learning.question import Decisions
from jobsight.questions.hold.examples.decisions import (
    held_jobs,
    hold_decisions,
)
from jobsight.questions.hold.settings import HoldSettings


def decide(*rows: dict[str, Any], **settings: Any) -> Decisions:
    history = History.from_table(table(rows))
    return hold_decisions(history, HoldSettings.model_validate(settings), label_rows(history))


def hold(at: float, **more: Any) -> dict[str, Any]:
    usual = {"at": at, "code": 12, "hold_code": 13, "hold_subcode": 256, "reason": "failed"}
    return usual | more


def release(at: float, **more: Any) -> dict[str, Any]:
    return {"at": at, "code": 13, "reason": "via condor_release (by user ann)"} | more


def test_a_decision_says_what_was_held_and_what_came_of_it() -> None:
    slot = {"at": 1, "code": 1, "slot": "slot1_3@mwt2@vm", "owner": "ann"}
    end = {"at": 9, "code": 5, "return_value": 0}
    row = decide(slot, hold(2, reason="error 77 of x"), release(5), end).table.row(0, named=True)
    expected = {
        "job": 0, "log": 0, "access_point": "ap", "cluster": 1, "proc": 0, "owner": "ann",
        "hold_row": 1, "hold_time": micros(2), "cut": 2, "time": micros(5), "hold_code": 13,
        "hold_subcode": 256, "reason": "error 77 of x", "masked": "error # of x", "site": "mwt2",
        "group": "cluster ap 1", "row": 2, "released": micros(5), "repeat": 1, "batch": 0,
        "kept": True, "weight": 1.0, "releaser": "user", "edited": False, "kind": "exit_zero",
        "resolved_row": 3, "resolved_time": micros(9), "outcome": True, "censored": None,
    }  # fmt: skip
    assert row == expected


def test_only_holds_by_others_than_the_user_are_decisions() -> None:
    found = decide(
        release(0), hold(1, hold_code=1), release(2), hold(3, hold_code=None), release(4),
        hold(5), release(6), release(7), {"at": 8, "code": 13, "cluster": -1, "proc": -1},
    )  # fmt: skip
    assert found.table["row"].to_list() == [6]
    assert found.facts["releases"] == 5
    assert found.left_out == {"not held": 2, "code 1": 1, "code unknown": 1}


def vacate(at: float, code: int = 13, subcode: int = -1004, **more: Any) -> dict[str, Any]:
    usual = {"at": at, "code": 4, "vacate_code": code, "vacate_subcode": subcode}
    return usual | {"reason": "Transfer input files failure"} | more


def test_a_vacate_by_a_fault_is_a_hold_that_ends_by_itself() -> None:
    starts = [{"at": 5, "code": 40, "detail": 2}, {"at": 6, "code": 1}]
    found = decide(vacate(2), *starts, {"at": 9, "code": 5, "return_value": 0})
    row = found.table.row(0, named=True)
    assert len(found.table) == 1 and found.left_out == {}
    expected = {
        "hold_row": 0, "hold_time": micros(2), "row": 1, "cut": 1, "time": micros(5),
        "hold_code": 13, "hold_subcode": -1004, "masked": "Transfer input files failure",
        "releaser": "system", "kind": "exit_zero", "outcome": True, "resolved_row": 3,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected


def test_a_vacate_again_is_a_failure() -> None:
    starts = [{"at": at, "code": 40, "detail": 2} for at in (5, 15)]
    found = decide(vacate(2), starts[0], vacate(8), starts[1], {"at": 19, "code": 9, "reason": "x"})
    assert found.table["kind"].to_list() == ["held_again", "removed_by_policy"]
    assert found.table["repeat"].to_list() == [1, 2]


def test_the_vacate_and_the_hold_of_one_moment_are_one_decision() -> None:
    """HTCondor writes both since 24.2 when it holds a running job."""
    start = {"at": 7, "code": 40, "detail": 2}
    end = {"at": 9, "code": 5, "return_value": 0}
    found = decide(vacate(2, subcode=256), hold(2), release(5), start, end)
    assert found.table["hold_row"].to_list() == [1]
    assert found.table["row"].to_list() == [2]


@pytest.mark.parametrize("code", [1000, 1004, 1008, 1014, 1022])
def test_other_vacates_are_no_decisions(code: int) -> None:
    start = {"at": 5, "code": 1}
    found = decide(vacate(2, code, 0, reason="drained"), start, {"at": 9, "code": 5})
    assert not len(found.table)


def test_as_of_hold_sees_the_hold_and_its_ad_and_nothing_more() -> None:
    ad = {"at": 2, "code": 28}
    other = {"at": 2, "code": 28, "proc": 1}
    one = decide(hold(2), ad, release(5), as_of="hold").table.row(0, named=True)
    assert (one["cut"], one["time"], one["released"]) == (2, micros(2), micros(5))
    assert decide(hold(2), other, release(5), as_of="hold").table["cut"].to_list() == [1]


def test_an_owner_told_only_later_is_unknown_to_the_decision() -> None:
    assert decide(hold(1), release(2, owner="ann")).table["owner"].to_list() == [None]


@pytest.mark.parametrize(
    ("reason", "releaser"),
    [
        (
            "The job attribute PeriodicRelease expression 'DAGManJobId > 1' evaluated to TRUE",
            "policy",
        ),
        ("via condor_release (by user ann)", "user"),
        ("The job attribute PeriodicRelease expression 'x' evaluated to TRUE", "policy"),
        ("The system macro SYSTEM_PERIODIC_RELEASE expression 'x' evaluated to TRUE", "policy"),
        ("Released by DAGMan (by user ann)", "dag"),
        ("Data files spooled", "unknown"),
        (None, "unknown"),
    ],
)
def test_who_released(reason: str | None, releaser: str) -> None:
    assert decide(hold(1), release(2, reason=reason)).table["releaser"].to_list() == [releaser]


def test_batches_span_their_first_release_and_share_weight_one() -> None:
    rows = [hold(0, proc=p) for p in range(4)] + [hold(0, proc=4, reason="another")]
    rows += [release(10 + at, proc=p) for p, at in enumerate([0, 59, 60, 61])]
    found = decide(*rows, release(71, proc=4)).table
    assert found["batch"].to_list() == [0, 0, 0, 1, 2]
    assert found["weight"].to_list() == [1 / 3] * 3 + [1.0, 1.0]


def test_owners_and_clusters_are_batches_of_their_own() -> None:
    rows = [hold(0, cluster=c, owner=o) for c, o in ((1, "a"), (2, "a"), (3, None))]
    found = decide(*rows, *(release(1, cluster=c) for c in (1, 2, 3))).table
    assert found["batch"].n_unique() == 3


def test_loops_are_thinned() -> None:
    rows = [one for k in range(90) for one in (hold(100 * k), release(100 * k + 1))]
    found = decide(*rows).table
    assert found.filter("kept")["repeat"].to_list() == [1, 2, 3, 4, 5, 10, 20, 40, 80]
    assert found.filter(~pl.col("kept"))["weight"].null_count() == 81
    assert apply_horizon(found, 10**9)["kept"].sum() == 9


def test_groups_are_dag_nodes_where_the_ads_tell_them() -> None:
    ad = json.dumps({"DAGManJobId": 77, "DAGNodeName": "B"})
    rows = [
        {"at": 0, "code": 0, "cluster": 1, "attributes": ad},
        {"at": 0, "code": 0, "cluster": 2, "attributes": ad.replace("B", "C")},
        {"at": 0, "code": 0, "cluster": 4, "attributes": '{"DAGManJobId": 77}', "dag_node": "B"},
    ]
    rows += [hold(1, cluster=c) for c in (1, 2, 3, 4)] + [
        release(2, cluster=c) for c in (1, 2, 3, 4)
    ]
    groups = decide(*rows).table["group"].to_list()
    assert groups == ["dag ap 77 B", "dag ap 77 C", "cluster ap 3", "dag ap 77 B"]


def test_clusters_of_unknown_access_points_are_kept_apart_by_log() -> None:
    rows = [
        row | {"access_point": None, "log": log} for log in (0, 1) for row in (hold(1), release(2))
    ]
    found = decide(*rows).table
    assert found["group"].to_list() == ["cluster log 0 1", "cluster log 1 1"]
    assert found["batch"].to_list() == [0, 1]


def held(history: History, moment: int, *jobs: int) -> pl.DataFrame:
    return held_jobs(history, moment, label_rows(history), np.array(jobs) if jobs else None)


def test_held_jobs_at_a_moment() -> None:
    rows = [hold(1, proc=0), hold(1, proc=1, owner="ann"), hold(2, proc=2, hold_code=1)]
    rows += [release(3, proc=0), hold(4, proc=3), {"at": 5, "code": 9, "proc": 1}]
    history = History.from_table(table(rows))
    assert held(history, micros(0)).is_empty()
    assert held(history, micros(1))["proc"].to_list() == [0, 1]
    now = held(history, micros(4))
    some = held(history, micros(4), 3, 0)
    assert some["proc"].to_list() == [3]
    assert now["proc"].to_list() == [1, 2, 3]
    assert now["owner"].to_list() == ["ann", None, None]
    assert now["cut"].to_list() == [5, 5, 5]
    assert now["row"].to_list() == [None] * 3
    assert held(history, micros(9))["proc"].to_list() == [2, 3]


@pytest.mark.parametrize("between", [[], [{"at": 1, "code": 1, "proc": 1}]])
def test_a_job_submitted_on_hold_is_held(between: list[dict[str, Any]]) -> None:
    told = {"JobStatus": 5, "HoldReasonCode": 15, "HoldReason": "at user's request"}
    ad = json.dumps({**told, "TriggerEventTypeNumber": 0}, separators=(",", ":"))
    rows = [{"at": 1, "code": 0}, *between, {"at": 1, "code": 28, "attributes": ad}]
    waits = json.dumps({"JobStatus": 1, "TriggerEventTypeNumber": 0}, separators=(",", ":"))
    rows += [{"at": 2, "code": 0, "proc": 2}]
    rows += [{"at": 2, "code": 28, "proc": 2, "attributes": waits}]
    history = History.from_table(table([*rows, release(5)]))
    (row,) = held(history, micros(4)).iter_rows(named=True)
    assert (row["proc"], row["hold_code"], row["reason"]) == (0, 15, "at user's request")
    assert row["hold_time"] == micros(1)
    assert held(history, micros(5)).is_empty()
    assert decide(*rows, release(5)).left_out == {"code 15": 1}


def test_nothing_in_the_log() -> None:
    found = decide()
    assert (len(found.table), found.facts["releases"], found.left_out) == (0, 0, {})
    assert apply_horizon(found.table, 1).is_empty()
    assert held(History.from_table(table([])), 0).is_empty()


def test_weights_of_a_subset() -> None:
    assert batch_weights(np.array([4, 9, 4, 4])).tolist() == [1 / 3, 1.0, 1 / 3, 1 / 3]
    assert batch_weights(np.array([], dtype=np.int64)).tolist() == []
