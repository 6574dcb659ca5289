"""Counting keyed rows as of decisions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.histories import micros, table
from tests.support.limits import examples

from jobsight.history.counts import NEVER, CountIndex, factorize
from jobsight.history.timelines import History


def history_of(clocks: list[list[float]]) -> History:
    rows = [{"log": log, "at": at, "code": 6} for log, ats in enumerate(clocks) for at in ats]
    return History.from_table(table(rows))


@st.composite
def cases(draw: st.DrawFn) -> tuple[History, list[tuple[int, int]], list[tuple[int, float, int]]]:
    """A history, (row, key) pairs, and queries (key, moment, own cut)."""
    times = st.integers(0, 9).map(float)
    logs = draw(st.lists(st.lists(times, min_size=1, max_size=8), min_size=1, max_size=3))
    rows = sum(map(len, logs))
    pairs = draw(st.lists(st.tuples(st.integers(0, rows - 1), st.integers(-1, 3))))
    queries = draw(st.lists(st.tuples(st.integers(-1, 5), times, st.integers(0, rows))))
    return history_of(logs), pairs, queries


@given(cases())
@settings(max_examples=examples(200))
def test_counts_and_last_rows_are_those_of_brute_force(
    case: tuple[History, list[tuple[int, int]], list[tuple[int, float, int]]],
) -> None:
    history, pairs, queries = case
    index = CountIndex(
        history,
        np.array([row for row, _ in pairs], np.int64),
        np.array([key for _, key in pairs], np.int64),
    )
    keys = np.array([key for key, _, _ in queries], np.int64)
    moments = np.array([micros(at) for _, at, _ in queries], np.int64)
    cuts = history.cuts_many(np.zeros(len(queries), np.int64), np.zeros(len(queries), int), moments)
    ends = np.array([own for _, _, own in queries], np.int64)
    cuts[:, 0] = np.minimum(ends, history.log_start[1])
    starts = np.repeat(cuts[:, :1] // 2, history.logs, axis=1)  # may lie before a log's first row
    counted, since = index.count(keys, cuts), index.count(keys, cuts, starts)
    rows, clocks = index.last_row(keys, cuts), index.last(keys, cuts)
    for q, key in enumerate(keys):
        seen = [r for r, k in pairs if k == key >= 0 and r < cuts[q, history.log[r]]]
        assert counted[q] == len(seen)
        assert since[q] == sum(r >= starts[q, history.log[r]] for r in seen)
        latest = max(seen, key=lambda r: (history.clock[r], r), default=-1)
        assert rows[q] == latest
        assert clocks[q] == (history.clock[latest] if seen else NEVER)


def test_keys_below_zero_and_keys_never_given_find_nothing() -> None:
    history = history_of([[0, 1, 2]])
    index = CountIndex(history, np.array([0, 1, 2]), np.array([-1, 0, 0]))
    cuts = np.array([[3]] * 3)
    assert index.keys == 1
    assert index.count(np.array([-1, 0, 7]), cuts).tolist() == [0, 2, 0]
    assert index.last_row(np.array([-1, 0, 7]), cuts).tolist() == [-1, 2, -1]


def test_an_index_of_nothing_answers() -> None:
    history = history_of([[0]])
    index = CountIndex(history, np.array([], np.int64), np.array([], np.int64))
    assert index.count(np.array([0]), np.array([[1]])).tolist() == [0]


def test_combinations_are_numbered_and_unknown_members_make_none() -> None:
    numbers = factorize(np.array([1, 1, 2, -1, 1]), np.array([5, 5, 5, 5, 6]))
    assert numbers[0] == numbers[1]
    assert len({*numbers[[0, 2, 4]].tolist()}) == 3
    assert numbers[3] == -1


def test_many_large_columns_do_not_overflow() -> None:
    columns = [np.arange(1000) * 2**50 for _ in range(12)]
    assert len(np.unique(factorize(*columns))) == 1000


@pytest.mark.parametrize("logs", [1, 3])
def test_a_row_counts_as_often_as_it_is_given(logs: int) -> None:
    history = history_of([[0, 1]] * logs)
    index = CountIndex(history, np.array([0, 0, 1]), np.array([0, 0, 0]))
    cuts = history.log_start[None, 1:]
    assert index.count(np.array([0]), cuts).tolist() == [3]
