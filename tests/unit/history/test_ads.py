"""Ads stand where they were told."""

import json
from typing import Any

import polars as pl
from tests.histories import table

from jobsight.history.ads import as_written
from jobsight.history.timelines import History

AD = json.dumps({"TriggerEventTypeNumber": 12, "RequestMemory": 64})
HOLD: dict[str, Any] = {"at": 1, "code": 12, "attributes": AD, "owner": "ann"}


def told(*rows: dict[str, Any]) -> list[tuple[bool, str | None]]:
    """Of each row, whether it has an ad, and its owner."""
    moved = as_written(table(rows))
    return list(moved.select(pl.col("attributes").is_not_null(), "owner").iter_rows())


def test_an_ad_right_behind_its_record_stays_with_it() -> None:
    rows = HOLD, {"at": 1, "code": 28, "owner": "ann"}
    assert told(*rows) == [(True, "ann"), (False, "ann")]


def test_an_ad_told_later_is_moved_to_where_it_was_told() -> None:
    other = {"at": 1, "code": 13, "cluster": 2}
    ad = {"at": 1, "code": 28, "owner": "ann"}
    assert told(HOLD, other, ad) == [(False, None), (False, None), (True, "ann")]
    assert told(HOLD, ad | {"at": 2}) == [(False, None), (True, "ann")]


def test_each_record_gets_an_028_of_its_own_job() -> None:
    rows = [HOLD, HOLD | {"cluster": 2}, {"at": 1, "code": 28}, {"at": 1, "code": 28, "cluster": 2}]
    assert [ad for ad, _ in told(*rows)] == [False, False, True, True]
    far = [{"at": 1, "code": 6, "cluster": 3}] * 300
    assert told(HOLD, *far, {"at": 1, "code": 28})[0] == (True, "ann")


def test_a_record_with_an_ad_of_its_own_keeps_it() -> None:
    own = HOLD | {"attributes": "{}"}
    rows = own, {"at": 1, "code": 6, "cluster": 2}, {"at": 1, "code": 28}
    assert told(*rows)[0] == (True, "ann")


def test_the_owner_is_known_from_where_it_was_told() -> None:
    rows = [HOLD, {"at": 1, "code": 13, "cluster": 2}, {"at": 1, "code": 28, "owner": "ann"}]
    assert History.from_table(table(rows)).jobs["owner_row"].to_list() == [2, None]
