"""Whose a row is and where it happened, as of that row."""

from typing import Any

import numpy as np
from tests.support.histories import table

from jobsight.history.counts import at, number_texts, preceding
from jobsight.history.labels import label_rows, row_owners, start_sites
from jobsight.history.timelines import History

STARTD = "<10.0.0.1:9618?addrs=10.0.0.1-9618&sock={}>"


def history_of(*rows: dict[str, Any]) -> History:
    return History.from_table(table([{"at": float(n), **row} for n, row in enumerate(rows)]))


def sites_of(history: History) -> list[str | None]:
    holds, starts = (np.flatnonzero(history.code == code) for code in (12, 1))
    return start_sites(history, label_rows(history), holds, starts).to_list()


def start(cluster: int, sock: str, **more: Any) -> dict[str, Any]:
    return {"cluster": cluster, "code": 1, "host": STARTD.format(sock), **more}


def hold(cluster: int, slot: str) -> dict[str, Any]:
    reason = f"failure at execution point {slot}"
    return {"cluster": cluster, "code": 12, "hold_code": 13, "reason": reason}


def test_the_row_before_of_the_same_job() -> None:
    history = history_of(*({"cluster": c, "code": 6} for c in (1, 2, 1, 2, 1)))
    rows = np.arange(5)
    assert preceding(history, rows, rows).tolist() == [-1, -1, 0, 1, 2]
    assert preceding(history, np.array([0]), rows).tolist() == [-1, -1, 0, -1, 0]
    assert preceding(history, rows[:0], rows).tolist() == [-1] * 5
    assert preceding(history, rows, rows[:0]).tolist() == []


def test_values_at_places_and_nowhere() -> None:
    assert at(np.array([7, 8]), np.array([1, -1])).tolist() == [8, -1]
    assert at(np.array([], np.int64), np.array([-1])).tolist() == [-1]


def test_equal_texts_have_equal_numbers_over_all_columns() -> None:
    import polars as pl

    first, second = number_texts(pl.Series(["b", None]), pl.Series(["a", "b"]))
    assert first[1] == -1
    assert first[0] == second[1] != second[0]


def test_the_clusters_of_two_logs_are_two() -> None:
    history = history_of(
        {"cluster": 1, "proc": 0, "code": 0},
        {"cluster": 1, "proc": 1, "code": 0},
        {"cluster": 1, "proc": 0, "code": 0, "log": 1},
    )
    numbers = history.clusters
    assert numbers[0] == numbers[1] != numbers[2]


def test_an_owner_is_known_from_the_row_that_tells_it() -> None:
    history = history_of(
        {"code": 0},
        {"code": 12, "owner": "ann"},
        {"code": 28, "owner": "eve"},
        {"code": 13, "owner": "eve"},
        {"code": 12},
    )
    owners = row_owners(history, np.arange(5))
    assert owners.tolist() == [-1, 0, 0, 0, 0]


def test_a_release_tells_no_owner() -> None:
    history = history_of({"code": 12}, {"code": 13, "owner": "ann"}, {"code": 12})
    assert row_owners(history, np.array([2])).tolist() == [-1]


def test_where_a_daemon_stands_is_learned_from_holds() -> None:
    history = history_of(
        start(1, "startd_a", slot="slot1_1@h"),
        hold(1, "slot1_1@mwt2@h"),
        start(2, "startd_a", slot="slot1_2@h"),
        start(3, "slot1_7_startd_a_12", slot="slot1_7@h"),
        start(4, "startd_b", slot="slot1_7@h"),
    )
    assert sites_of(history) == [None, "mwt2", "mwt2", None]


def test_the_place_of_a_hold_before_any_start_is_not_that_of_the_last_daemon() -> None:
    history = history_of(
        start(1, "startd_a", slot="slot1_1@h"),
        hold(1, "slot1_1@mwt2@h"),
        {"cluster": 1, "code": 13},
        hold(1, "slot1_1@ucsd@h"),
        start(2, "startd_a", slot="slot1_2@h"),
    )
    assert sites_of(history) == [None, "mwt2"]


def test_a_start_that_names_its_place_is_believed_where_nothing_is_learned() -> None:
    history = history_of(start(1, "x", slot="slot1_1@ucsd@h"), {"cluster": 1, "code": 1})
    assert sites_of(history) == ["ucsd", None]


def test_nothing_to_tell() -> None:
    history = history_of({"code": 0})
    assert sites_of(history) == []
    assert row_owners(history, np.array([0])).tolist() == [-1]
