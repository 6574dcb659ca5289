from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.support.histories import micros, table

from jobsight.history.outcomes import (
    apply_horizon,
    held_by_hand,
    judge,
    removed_by,
    resolve,
    usual_horizon,
)
from jobsight.history.timelines import History


def resolved(*rows: dict[str, Any]) -> pl.DataFrame:
    """What settles each release among `rows`."""
    history = History.from_table(table(rows))
    return resolve(history, np.flatnonzero(history.code == 13))


RELEASE = {"at": 0, "code": 13}


@pytest.mark.parametrize(
    ("code", "ours"),
    [(code, True) for code in (3, 13, 26, 999)]
    + [(code, False) for code in (1, 15, 16, 0, -5, 1000, None)],
)
def test_whose_hold_it_is(code: int | None, ours: bool) -> None:
    assert by_hand(code, "Reason unspecified") is not ours


def by_hand(code: int | None, reason: str | None) -> bool:
    table = pl.DataFrame(
        {"hold_code": [code], "reason": [reason]},
        schema={"hold_code": pl.Int32, "reason": pl.String},
    )
    found = table.select(held_by_hand()).item()
    assert isinstance(found, bool)
    return found


def test_a_hold_without_a_code_of_its_own_is_known_by_its_reason() -> None:
    # Older schedds hold such a job with code 0, which otherwise is a vacate.
    assert not by_hand(0, "Cannot expand $$(GLIDEIN_Site).")
    assert by_hand(0, None)
    assert by_hand(1, "Cannot expand $$(x) (by user ann)")


@pytest.mark.parametrize(
    ("reason", "who"),
    [
        (None, "user"),
        ("via condor_rm (by user ann)", "user"),
        ("PeriodicRemove was too slow for me (by user ann)", "user"),
        ("via condor_rm (by user DAG)", "user"),
        ("via condor_rm", "user"),
        ("  ", "user"),
        # SYSTEM_PERIODIC_REMOVE_REASON: the words of a site, to which no user is added.
        ("too many starts: 31 of 30", "policy"),
        ("The job attribute PeriodicRemove expression 'x > 3' evaluated to TRUE", "policy"),
        ("The system macro SYSTEM_PERIODIC_REMOVE expression 'x' evaluated to TRUE", "policy"),
        ("Job removed by SYSTEM_PERIODIC_REMOVE due to wall time exceeded allowed max.", "policy"),
        (
            "The job attribute PeriodicRemove expression 'DAGManJobId > 1' evaluated to TRUE",
            "policy",
        ),
        ("Removed by SYSTEM_PERIODIC_REMOVE: DAG node too long", "policy"),
        ("DAG Abort: DAG is exiting and writing rescue file. (by user ann)", "dag"),
        ("removed because <OtherJobRemoveRequirements = DAGManJobId =?= 1> fired when", "dag"),
        ("Removed by DAGMan", "dag"),
        ("Removed by condor_dagman", "dag"),
    ],
)
def test_who_removed(reason: str | None, who: str) -> None:
    column = pl.DataFrame({"reason": [reason]}, schema={"reason": pl.String})
    assert column.select(removed_by(pl.col("reason"))).item() == who


def test_each_release_is_settled_by_the_next_record_that_ends_or_holds_its_job() -> None:
    found = resolved(
        RELEASE,
        {"at": 1, "code": 13, "proc": 1},
        {"at": 2, "code": 12, "hold_code": 13},
        {"at": 3, "code": 13},
        {"at": 4, "code": 4, "return_value": 0},
        {"at": 5, "code": 5, "return_value": 0, "proc": 1},
        {"at": 6, "code": 5, "return_value": 0},
    )
    assert found["kind"].to_list() == ["held_again", "exit_zero", "exit_zero"]
    assert found["resolved_row"].to_list() == [2, 5, 6]
    assert found["released"].to_list() == [micros(0), micros(1), micros(3)]
    assert found["resolved_time"].to_list() == [micros(2), micros(5), micros(6)]


def test_an_end_without_its_result_line_is_not_labelled() -> None:
    judged = judge(resolved(RELEASE, {"at": 1, "code": 5}))
    assert judged["kind"].to_list() == ["exit_unknown"]
    assert judged["outcome"].to_list() == [None]
    assert judged["censored"].to_list() == ["exit_unknown"]


def test_a_log_that_ends_says_how_long_it_went_on() -> None:
    found = resolved(RELEASE, {"at": 9, "code": 6}, {"at": 20, "code": 0, "cluster": 2})
    assert found["kind"].to_list() == ["log_ended"]
    assert found["resolved_row"].to_list() == [None]
    assert found["resolved_time"].to_list() == [micros(20)]
    judged = judge(found)
    assert apply_horizon(judged, 20_000_000)["censored"].to_list() == ["unresolved"]
    assert apply_horizon(judged, 20_000_001)["censored"].to_list() == ["log_ended"]


def test_another_logs_end_is_none_of_this_logs() -> None:
    found = resolved(RELEASE, {"at": 3, "code": 6}, {"at": 50, "code": 0, "log": 1})
    assert found["resolved_time"].to_list() == [micros(3)]


def test_the_horizon_itself_still_counts() -> None:
    judged = judge(resolved(RELEASE, {"at": 10, "code": 5, "return_value": 0}))
    assert apply_horizon(judged, 10_000_000)["outcome"].to_list() == [True]
    late = apply_horizon(judged, 9_999_999)
    assert late["outcome"].to_list() == [None]
    assert late["censored"].to_list() == ["unresolved"]


def test_settings_move_what_counts() -> None:
    ends: list[dict[str, Any]] = [
        {"at": 1, "code": 5, "return_value": 3},
        {"at": 1, "code": 5, "signal": 9},
        {"at": 1, "code": 9, "reason": "via condor_rm (by user ann)"},
        {"at": 1, "code": 9, "reason": "Removed by DAGMan"},
    ]
    found = pl.concat([resolved(RELEASE, end) for end in ends])
    assert judge(found)["outcome"].to_list() == [False, False, None, None]
    terminated = judge(found, success="terminated")
    assert terminated["outcome"].to_list() == [True, True, None, None]
    strict = judge(found, removed_by_user="failure")
    assert strict["outcome"].to_list() == [False, False, False, None]
    assert strict["censored"].to_list() == [None, None, None, "removed_by_dag"]


def test_usual_horizon_is_a_time_that_occurred() -> None:
    ends = [resolved(RELEASE, {"at": s, "code": 5, "return_value": 0}) for s in range(1, 21)]
    judged = judge(pl.concat(ends))
    assert usual_horizon(judged) == 20_000_000
    assert usual_horizon(judge(resolved(RELEASE))) is None


def test_no_releases() -> None:
    assert apply_horizon(judge(resolved({"at": 0, "code": 0})), 5).is_empty()
