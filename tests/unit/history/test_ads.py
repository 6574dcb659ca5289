"""Whoever sees a record sees the ad of its 028, and no ad that was written later."""

import json
from typing import Any

import polars as pl
import pytest
from tests.support.histories import table

from jobsight.history.timelines import History, attach_ads

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
