import polars as pl
from tests import histories, pools

from jobsight.history.eventtables import joined_tables


def log(*numbers: int) -> pl.DataFrame:
    return histories.table({"at": 0, "code": 0, "log": number} for number in numbers)


def test_logs_are_numbered_behind_those_before() -> None:
    joined = joined_tables([log(0, 1, 1), log(0, 2), log(), log(0)])
    assert joined["log"].to_list() == [0, 1, 1, 2, 4, 5]
    assert joined.schema == log(0).schema


def test_one_table_stays_as_it_is() -> None:
    table = pools.events(clusters=3)
    assert joined_tables([table]).equals(table)
