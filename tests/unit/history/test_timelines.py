import datetime as dt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsight.errors import SourceError
from jobsight.history.timelines import History

START = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)
SCHEMA: dict[str, Any] = {
    "log": pl.Int32,
    "access_point": pl.String,
    "cluster": pl.Int64,
    "proc": pl.Int32,
    "time": pl.Datetime("us", "UTC"),
    "code": pl.Int16,
    "owner": pl.String,
}


def table(*rows: tuple[Any, ...]) -> pl.DataFrame:
    """Rows of (log, access point, cluster, proc, seconds, code, owner)."""
    moved = [(*r[:4], START + dt.timedelta(seconds=r[4]), *r[5:]) for r in rows]
    return pl.DataFrame(moved, schema=SCHEMA, orient="row")


def micros(seconds: float) -> int:
    return int((START.timestamp() + seconds) * 1_000_000)


TWO_LOGS = table(
    (0, None, -1, -1, 0, 8, None),
    (0, "ap", 7, 0, 1, 0, None),
    (0, "ap", 7, 1, 1, 0, "ann"),
    (0, "ap", 7, 0, 5, 12, "ann"),
    (0, "ap", 7, 0, 4, 28, "bob"),
    (0, "ap", 7, 0, 6.25, 13, "ann"),
    (0, "ap", 7, 1, 6.5, 13, "ann"),
    (1, "ap", 7, 0, 2, 0, None),
    (1, "ap", 7, 0, 6.5, 1, None),
    (1, "ap", 7, 0, 7, 5, None),
)


def test_jobs_are_numbered_by_first_row_within_each_log() -> None:
    history = History.from_table(TWO_LOGS)
    assert history.job.tolist() == [-1, 0, 1, 0, 0, 0, 1, 2, 2, 2]
    assert history.rows_of(0).tolist() == [1, 3, 4, 5]
    assert history.rows_of(2).tolist() == [7, 8, 9]
    assert history.jobs["first_row"].to_list() == [1, 2, 7]
    assert history.log_start.tolist() == [0, 7, 10]


def test_owner_is_the_first_one_told_and_where() -> None:
    jobs = History.from_table(TWO_LOGS).jobs
    assert jobs["owner"].to_list() == ["ann", "ann", None]
    assert jobs["owner_row"].to_list() == [3, 2, None]


def test_clock_never_steps_back_and_starts_anew_in_each_log() -> None:
    history = History.from_table(TWO_LOGS)
    assert history.clock[4] == micros(5)
    assert history.time[4] == micros(4)
    assert history.clock[7] == micros(2)


def test_a_header_written_at_rotation_does_not_move_the_clock() -> None:
    history = History.from_table(
        table(
            (0, None, -1, -1, 90, 8, None), (0, "a", 7, 0, 5, 1, None), (0, "a", 7, 0, 9, 12, None)
        )
    )
    assert history.clock.tolist() == [micros(5), micros(5), micros(9)]


def test_cut_is_the_row_in_its_own_log_and_strictly_earlier_elsewhere() -> None:
    history = History.from_table(TWO_LOGS)
    moments = np.array([micros(6.5), micros(6.500001), micros(7)])
    cuts = history.cuts_many(np.array([0, 0, 1]), np.array([6, 6, 9]), moments)
    assert cuts.tolist() == [[6, 8], [6, 9], [7, 9]]


def test_releases_of_the_decisions_own_second_are_hidden() -> None:
    history = History.from_table(TWO_LOGS)
    cuts = history.release_cuts_many(np.array([micros(6.5), micros(7)]))
    assert cuts[:, 0].tolist() == [5, 7]
    assert cuts[0].tolist() == [5, 8]


def test_row_at_a_moment() -> None:
    history = History.from_table(TWO_LOGS)
    found = history.rows_at(np.array([0, 1, 1]), np.array([micros(5), micros(0), micros(99)]))
    assert found.tolist() == [3, 7, 10]


def test_no_access_point_is_one_value() -> None:
    rows = [(0, None, 8, 0, 3, 0, None), (0, None, 8, 0, 4, 1, None)]
    assert History.from_table(table(*rows)).job.tolist() == [0, 0]


def test_two_access_points_in_one_log_keep_their_jobs_apart() -> None:
    rows = [(0, "a", 7, 0, 1, 0, None), (0, "b", 7, 0, 1, 0, None)]
    assert History.from_table(table(*rows)).job.tolist() == [0, 1]


def test_empty_table() -> None:
    history = History.from_table(TWO_LOGS.clear())
    assert len(history) == 0
    assert history.logs == 0
    assert history.jobs.is_empty()


def test_a_log_without_rows_keeps_its_number() -> None:
    history = History.from_table(TWO_LOGS.filter(pl.col("log") == 1))
    assert history.log_start.tolist() == [0, 0, 3]
    cuts = history.cuts_many(np.array([1]), np.array([1]), np.array([micros(6.5)]))
    assert cuts.tolist() == [[0, 1]]


def test_mixed_logs_and_missing_columns_are_named() -> None:
    with pytest.raises(SourceError, match="not ordered"):
        History.from_table(TWO_LOGS.reverse())
    with pytest.raises(SourceError, match="owner"):
        History.from_table(TWO_LOGS.drop("owner"))


DAY = 86_400.0
FAR = 30_000 * DAY


def clock_of(*seconds: float, log: int = 0) -> list[float]:
    """The clock in seconds at records of one log with these times."""
    history = History.from_table(table(*((log, "ap", 7, 0, at, 6, None) for at in seconds)))
    return [(value - micros(0)) / 1_000_000 for value in history.clock.tolist()]


@pytest.mark.parametrize(
    ("times", "clock"),
    [
        ([FAR, 1, 2], [1, 1, 2]),
        ([FAR + 99 * DAY, FAR, 1, 2], [1, 1, 1, 2]),
        ([1, FAR, 2, 3], [1, 1, 2, 3]),
        ([1, FAR, FAR + 99 * DAY, 2, 3], [1, 1, 1, 2, 3]),
        ([1, FAR + 99 * DAY, FAR, 2, 3], [1, 1, 1, 2, 3]),
        ([1, 2, FAR], [1, 2, 2]),
        ([5, 4, 6], [5, 5, 6]),
    ],
)
def test_a_record_of_the_future_does_not_move_the_clock(
    times: list[float], clock: list[float]
) -> None:
    assert clock_of(*times) == clock


@pytest.mark.parametrize(
    ("times", "clock"),
    [
        ([0, 9 * DAY, 9 * DAY + 1], [0, 0, 9 * DAY + 1]),
        ([0, 9 * DAY, 8 * DAY], [0, 0, 9 * DAY]),
        ([0, 9 * DAY, 18 * DAY, 27 * DAY], [0, 0, 9 * DAY, 18 * DAY]),
        ([0, 6 * DAY, 12 * DAY], [0, 6 * DAY, 12 * DAY]),
        ([0, FAR, FAR + 1], [0, 0, FAR + 1]),
    ],
)
def test_the_clock_follows_a_long_rest_one_record_late(
    times: list[float], clock: list[float]
) -> None:
    assert clock_of(*times) == clock


def test_one_logs_error_is_none_of_another() -> None:
    rows = [(log, "ap", 7, 0, at, 6, None) for log in (0, 1) for at in (0, FAR, 2)]
    rows[4] = (1, "ap", 7, 0, 1, 6, None)
    history = History.from_table(table(*rows))
    assert history.clock.tolist() == [micros(s) for s in (0, 0, 2, 0, 1, 2)]


@given(st.lists(st.sampled_from([0, 1, 3 * DAY, 8 * DAY, 300 * DAY, FAR, -9 * DAY, -FAR])))
def test_the_clock_rests_on_no_later_record(steps: list[float]) -> None:
    times = np.concatenate([[0.0, 1.0], np.cumsum(steps)]).clip(0, 2 * FAR).tolist()
    whole = clock_of(*times)
    assert whole == sorted(whole)
    for end in range(2, len(times)):
        assert clock_of(*times[:end]) == whole[:end]
