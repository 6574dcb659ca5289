from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

from jobsight.reports.outliers import FALSE, higher_than_chance


def trials(rows: Sequence[tuple[str | None, object, str, int, int]]) -> pl.DataFrame:
    """Jobs of: name, cluster, like, how many, and to how many of them it happened."""
    jobs = [
        (name, str(cluster), like, place < hits)
        for name, cluster, like, size, hits in rows
        for place in range(size)
    ]
    return pl.DataFrame(jobs, ["name", "cluster", "like", "happened"], orient="row")


def clustered(generator: np.random.Generator, bad: int = 0) -> pl.DataFrame:
    """60 users, jobs in bursts that mostly share their fate; of the first `bad` half fail."""
    rows: list[tuple[str | None, object, str, int, int]] = []
    for user in range(60):
        for day in range(int(generator.integers(5, 30))):
            size = min(1 + int(3 * generator.pareto(1.2)), 200)
            rate = generator.beta(*((1.5, 1.5) if user < bad else (0.3, 2.7)))
            rows.append((f"u{user:02}", day, "p", size, int(generator.binomial(size, rate))))
    return trials(rows)


def test_a_higher_rate_on_many_days_stands_out_with_its_interval() -> None:
    rows = [(user, day, "p", 10, 5 if user == "bad" else 1)
            for user in ("bad", "a", "b", "c") for day in range(30)]  # fmt: skip
    found, compared = higher_than_chance(trials(rows))
    assert compared == 4
    (row,) = found.to_dicts()
    assert (row["name"], row["jobs"], row["clusters"]) == ("bad", 300, 30)
    assert (row["rate"], row["expected"]) == (0.5, pytest.approx(0.1))
    assert 0.4 < row["low"] < 0.5 < row["high"] < 0.6
    assert row["p_adjusted"] < 1e-9


def test_one_bad_day_is_no_evidence() -> None:
    rows = [(user, day, "p", 10, 10 if user == "a" and day == 3 else 1)
            for user in ("a", "b", "c") for day in range(20)]  # fmt: skip
    found, compared = higher_than_chance(trials(rows))
    assert compared == 3
    assert not len(found)
    # All jobs in one day: too few clusters to be compared at all.
    found, compared = higher_than_chance(trials([("a", 0, "p", 500, 500), *rows]))
    assert "a" not in found["name"]


def test_who_alone_has_such_jobs_is_not_compared() -> None:
    rows = [("a", day, "own", 10, 9) for day in range(30)]
    others = [(user, day, "p", 10, 1) for user in ("b", "c") for day in range(30)]
    found, compared = higher_than_chance(trials([*rows, *others]))
    assert compared == 2
    assert not len(found)
    assert higher_than_chance(trials([(None, 0, "p", 50, 50)]))[1] == 0


def test_few_are_named_by_chance_and_the_bad_ones_are_found() -> None:
    generator = np.random.default_rng(3)
    by_chance = [len(higher_than_chance(clustered(generator))[0]) for _ in range(20)]
    assert sum(count > 0 for count in by_chance) <= 4  # about FALSE of all draws
    names = [name for _ in range(5)
             for name in higher_than_chance(clustered(generator, bad=8))[0]["name"]]  # fmt: skip
    false = sum(name >= "u08" for name in names)
    assert len(names) > 15
    assert false <= 3 * FALSE * len(names)
