from pathlib import Path

import polars as pl
import pytest
from tests import histories, pools

from jobsight.errors import SourceError
from jobsight.history.joining import joined_tables, read_tables


def log(*numbers: int) -> pl.DataFrame:
    return histories.table({"at": 0, "code": 0, "log": number} for number in numbers)


def test_logs_are_numbered_behind_those_before() -> None:
    joined = joined_tables([log(0, 1, 1), log(0, 2), log(), log(0)])
    assert joined["log"].to_list() == [0, 1, 1, 2, 4, 5]
    assert joined.schema == log(0).schema


def test_one_table_stays_as_it_is() -> None:
    table = pools.events(clusters=3)
    assert joined_tables([table]).equals(table)


def test_tables_are_read_in_the_order_given(tmp_path: Path) -> None:
    paths = [tmp_path / f"s{k}[x]*?" / "table.parquet" for k in range(2)]
    for k, path in enumerate(paths):
        path.parent.mkdir()
        pools.events(clusters=3, seed=k).write_parquet(path)
    joined = read_tables(paths)
    assert joined.equals(joined_tables([pools.events(clusters=3, seed=k) for k in range(2)]))
    assert joined["log"].unique().to_list() == [0, 1]


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    with pytest.raises(SourceError, match="no event tables"):
        read_tables([])
    with pytest.raises(SourceError, match=rf"cannot read the event table {path}"):
        read_tables([path])
    path.write_bytes(b"PAR1 no parquet PAR1")
    with pytest.raises(SourceError, match=rf"cannot read the event table {path}"):
        read_tables([path])
    pools.events(clusters=3).drop("reason").write_parquet(path)
    with pytest.raises(SourceError, match="lacks the column reason"):
        read_tables([path])
