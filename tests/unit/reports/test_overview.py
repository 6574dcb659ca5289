import polars as pl

from jobsight.reports.overview import dates, ranking

SECOND = 1_000_000
ITEMS = pl.DataFrame(
    {
        "owner": ["ann", "bob", "ann", None],
        "time": [5 * SECOND, 7 * SECOND, 90_000 * SECOND, 0],
        "cost": [1.0, 3.5, 2.0, 99.0],
    }
)


def test_a_span_names_its_day_once() -> None:
    assert dates(0, 3600 * SECOND) == "1970-01-01 00:00:00Z to 01:00:00Z"
    assert dates(0, 86_400 * SECOND) == "1970-01-01 00:00:00Z to 1970-01-02 00:00:00Z"
    assert dates(SECOND, SECOND) == "1970-01-01 00:00:01Z"
    assert dates(None, None) == "–"


def test_what_costs_most_comes_first_and_what_has_no_name_is_left_out() -> None:
    rows = ranking(ITEMS, "jobs", {"owner": "user"}, "hours", last_of_all=pl.col("cost").last())
    assert [list(row.values())[:4] for row in rows] == [["bob", 1, 3.5, 3.5], ["ann", 2, 3.0, 2.0]]
    assert list(rows[0]) == ["user", "jobs", "hours", "last of all", "when"]
    assert rows[1]["when"] == "1970-01-01 00:00:05Z to 1970-01-02 01:00:00Z"


def test_an_unknown_cost_is_not_zero_and_the_number_decides() -> None:
    unknown = ITEMS.with_columns(cost=pl.lit(None, pl.Float64))
    rows = ranking(unknown, "jobs", {"owner": "user"}, "hours")
    assert [(row["user"], row["hours"]) for row in rows] == [("ann", None), ("bob", None)]
