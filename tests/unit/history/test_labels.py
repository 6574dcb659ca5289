"""Causes, sites, owners and ads of rows, as of each row."""

import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.support.histories import table

from jobsight.history.counts import at, number_texts, preceding
from jobsight.history.labels import RowLabels, label_rows, start_sites
from jobsight.history.timelines import History, attach_ads


def labels(*rows: dict[str, Any]) -> RowLabels:
    return label_rows(History.from_table(table({"at": 0} | row for row in rows)))


def test_causes_are_those_of_holds_alone_and_equal_where_masked_alike() -> None:
    found = labels(
        {"code": 12, "hold_code": 13, "hold_subcode": 1, "reason": "lost /a/1"},
        {"code": 12, "hold_code": 13, "hold_subcode": 1, "reason": "lost /b/2", "cluster": 2},
        {"code": 12, "hold_code": 13, "hold_subcode": 2, "reason": "lost /b/2", "cluster": 3},
        {"code": 12, "hold_code": None, "reason": None, "cluster": 4},
        {"code": 13, "reason": "lost /a/1"},
    )
    assert found.masked.to_list() == ["lost <path>"] * 3 + ["", None]
    assert found.cause[0] == found.cause[1]
    assert len(set(found.cause.tolist())) == 4
    assert found.cause[4] == -1


def test_a_site_is_carried_on_until_the_next_start() -> None:
    found = labels(
        {"code": 0},
        {"code": 1, "slot": "slot1@mwt2@h"},
        {"code": 12, "hold_code": 3, "reason": "exit 1"},
        {"code": 13, "reason": "Error from slot1@ucsd@h: these words are not about a place"},
        {"code": 1, "slot": "slot1@h", "host": "<10.0.0.1:9618>"},
        {"code": 12, "hold_code": 3, "reason": "Error from slot1@purdue@h: no"},
        {"code": 6, "cluster": 2},
        {"code": 28, "cluster": -1, "proc": -1},
    )
    expected = [None, "mwt2", "mwt2", "mwt2", None, "purdue", None, None]
    assert found.site.to_list() == expected


def test_the_ad_and_then_the_host_tell_the_site() -> None:
    ad = json.dumps({"MATCH_EXP_JOBGLIDEIN_Site": "MWT2"})
    found = labels(
        {"code": 1, "slot": "slot1@ucsd@h", "attributes": ad},
        {"code": 1, "slot": "slot1@h", "host": "<10.0.0.1:9618?alias=e1.chtc.wisc.edu>"},
    )
    assert found.site.to_list() == ["mwt2", "chtc.wisc.edu"]


def test_no_rows() -> None:
    found = labels()
    assert len(found.masked) == len(found.cause) == len(found.site) == 0


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
    owners = label_rows(history).owner
    assert owners.tolist() == [-1, 0, 0, 0, 0]


def test_a_release_tells_no_owner() -> None:
    history = history_of({"code": 12}, {"code": 13, "owner": "ann"}, {"code": 12})
    assert label_rows(history).owner.tolist() == [-1, -1, -1]


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
    assert label_rows(history).owner.tolist() == [-1]


AD = json.dumps({"TriggerEventTypeNumber": 12, "RequestMemory": 64})
HOLD: dict[str, Any] = {"at": 1, "code": 12}
INFORMATION: dict[str, Any] = {"at": 1, "code": 28, "attributes": AD, "owner": "ann"}
OTHER: dict[str, Any] = {"at": 1, "code": 13, "cluster": 2}


def told(*rows: dict[str, Any]) -> list[tuple[bool, str | None]]:
    """Of each row, whether it has an ad, and its owner."""
    attached = attach_ads(table(rows))
    assert attach_ads(attached).equals(attached)
    return list(attached.select(pl.col("attributes").is_not_null(), "owner").iter_rows())


def test_a_record_has_the_ad_of_the_028_right_after_it() -> None:
    assert told(HOLD, INFORMATION, OTHER) == [(True, "ann"), (False, "ann"), (False, None)]
    apart = '{"TriggerEventTypeNumber": "12"}'
    assert told(HOLD, INFORMATION | {"attributes": apart})[0] == (True, "ann")


@pytest.mark.parametrize(
    "change",
    [
        {"at": 2},
        {"cluster": 2},
        {"proc": 1},
        {"log": 1},
        {"attributes": AD.replace("12", "13")},
        {"attributes": AD.replace("12", "128")},
        {"attributes": "{}"},
    ],
)
def test_the_028_of_another_record_keeps_its_ad(change: dict[str, Any]) -> None:
    assert told(HOLD, INFORMATION | change) == [(False, None), (True, "ann")]


def test_an_ad_written_after_other_records_stays_with_its_028() -> None:
    assert told(HOLD, OTHER, INFORMATION) == [(False, None), (False, None), (True, "ann")]
    rows = HOLD, HOLD | {"cluster": 2}, INFORMATION, INFORMATION | {"cluster": 2}
    assert [ad for ad, _ in told(*rows)] == [False, False, True, True]


def test_a_record_gets_one_ad() -> None:
    assert [ad for ad, _ in told(HOLD, INFORMATION, INFORMATION)] == [True, False, True]
    of_ad = INFORMATION | {"attributes": AD.replace("12", "28")}
    assert [ad for ad, _ in told(HOLD, INFORMATION, of_ad)] == [True, False, True]
    assert [ad for ad, _ in told(HOLD | {"attributes": "{}"}, INFORMATION)] == [True, True]


def test_the_owner_is_known_from_where_it_was_told() -> None:
    assert History.from_table(table([HOLD, OTHER, INFORMATION])).jobs["owner_row"].to_list() == [
        2, None,
    ]  # fmt: skip
    assert History.from_table(table([HOLD, INFORMATION])).jobs["owner_row"].to_list() == [0]
