import polars as pl
from tests.support import histories, pools

from jobsight.history.eventtables import joined_tables, queue_table
from jobsight.history.timelines import History


def log(*numbers: int) -> pl.DataFrame:
    return histories.table({"at": 0, "code": 0, "log": number} for number in numbers)


def test_logs_are_numbered_behind_those_before() -> None:
    joined = joined_tables([log(0, 1, 1), log(0, 2), log(), log(0)])
    assert joined["log"].to_list() == [0, 1, 1, 2, 4, 5]
    assert joined.schema == log(0).schema


def test_one_table_stays_as_it_is() -> None:
    table = pools.events(clusters=3)
    assert joined_tables([table]).equals(table)


def test_held_jobs_of_the_queue_are_a_history() -> None:
    ads = [
        {"ClusterId": 7, "ProcId": proc, "JobStatus": 5, "Owner": "ann", "QDate": 1795828420,
         "EnteredCurrentStatus": 1795828420 + wait, "HoldReasonCode": 15, "HoldReason": "on hold",
         "PeriodicHold": "/Expr(NumHolds > 3)/"}
        for proc, wait in ((1, 0), (0, 60))
    ]  # fmt: skip
    found = History.from_table(queue_table(ads, "ap1"))
    rows = found.table.filter(found.held)
    assert rows.select("cluster", "proc", "hold_code").rows() == [(7, 1, 15), (7, 0, 15)]
    assert set(rows["owner"]) == {"ann"}
    assert set(found.jobs["access_point"]) == {"ap1"}
    assert '"PeriodicHold":"NumHolds > 3"' in rows["attributes"][0]
