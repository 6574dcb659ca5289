"""Sampling among many jobs, where not all candidates are looked at."""

import functools
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.support.histories import micros, table

from jobsight.history.labels import label_rows
from jobsight.history.sampling import Moments, SampleIndex
from jobsight.history.timelines import History

JOBS, SINCE, NOW = 3000, 1800, 2000


@functools.cache
def events() -> pl.DataFrame:
    """Job c is submitted at second c and ends 400 to 1300 s later; every 50th is held meanwhile."""
    rows: list[dict[str, Any]] = []
    for cluster in range(JOBS):
        life = 400 + 900 * (cluster * 37 % 100) / 100
        owner = f"user{cluster % 10}"
        rows.append({"at": cluster, "code": 0, "cluster": cluster, "owner": owner})
        rows.append({"at": cluster + life, "code": 5, "cluster": cluster})
        if cluster % 50 == 0:
            held = {"hold_code": 13, "hold_subcode": cluster % 3, "reason": "lost"}
            rows.append({"at": cluster + 100, "code": 12, "cluster": cluster} | held)
    return table(sorted(rows, key=lambda row: row["at"]))


def drawn(
    events_table: pl.DataFrame, j: int, related_share: float, seed: int
) -> tuple[History, list[int]]:
    """The clusters drawn for a decision about job 1750 at `NOW`, with a window from `SINCE`."""
    history = History.from_table(events_table)
    cut = int(np.searchsorted(history.clock, micros(NOW)))
    job = history.jobs["cluster"].to_list().index(1750)
    hold_row = next(row for row in history.rows_of(job) if history.code[row] == 12)
    asked = Moments(
        np.array([job], np.int32),
        np.array([hold_row]),
        np.array([0], np.int32),
        np.array([cut]),
        np.array([micros(NOW)]),
    )
    index = SampleIndex(history, label_rows(history))
    since = np.array([micros(SINCE)])
    jobs = index.sample(asked, since, j=j, related_share=related_share, seed=seed)[0]
    assert len(set(jobs)) == j
    return history, history.jobs["cluster"].to_numpy()[jobs].tolist()


def coexisting(history: History) -> set[int]:
    found = set()
    for job, cluster in enumerate(history.jobs["cluster"]):
        rows = history.rows_of(job)
        clocks = history.clock[rows]
        ended = any(clocks[history.code[rows] == 5] < micros(SINCE))
        if clocks[0] < micros(NOW) and not ended:
            found.add(cluster)
    return found


def test_uniform_draws_are_uniform_over_all_that_coexist() -> None:
    counts = np.zeros(JOBS, np.int64)
    for seed in range(40):
        history, clusters = drawn(events(), 101, 0.0, seed)
        assert clusters[0] == 1750
        counts[clusters[1:]] += 1
    candidates = coexisting(history) - {1750}
    assert set(np.flatnonzero(counts)) <= candidates
    assert len(candidates) > 4 * 101
    rate = counts[sorted(candidates)]
    # Binomial by draws without replacement: the spread must be that of chance, old jobs and new.
    assert rate.mean() == pytest.approx(40 * 100 / len(candidates))
    assert rate.var() < 1.3 * rate.mean()
    old = [c for c in candidates if c < SINCE]
    assert counts[old].mean() == pytest.approx(rate.mean(), rel=0.1)


def test_related_draws_share_cause_or_owner() -> None:
    _, clusters = drawn(events(), 11, 1.0, 5)
    for cluster in clusters[1:]:
        same_cause = cluster % 50 == 0 and cluster % 3 == 1750 % 3 and cluster + 100 < NOW
        assert same_cause or cluster % 10 == 0


def test_more_seats_than_jobs_are_left_empty() -> None:
    few = events().head(40)
    history = History.from_table(few)
    asked = Moments(
        np.array([0], np.int32),
        np.array([0]),
        np.array([0], np.int32),
        np.array([len(few)]),
        np.array([micros(NOW)]),
    )
    index = SampleIndex(history, label_rows(history))
    jobs = index.sample(asked, np.array([micros(0)]), j=64, related_share=0.5, seed=0)[0]
    assert sorted(jobs[:40].tolist()) == list(range(40))
    assert (jobs[40:] == -1).all()


@pytest.mark.parametrize("related_share", [0.0, 0.5])
def test_the_future_changes_no_draw(related_share: float) -> None:
    whole = events()
    past = whole.filter(pl.Series(History.from_table(whole).clock < micros(NOW)))
    assert len(past) < len(whole)
    for seed in range(5):
        args = (101, related_share, seed)
        assert drawn(past, *args)[1] == drawn(whole, *args)[1]


def test_seeds_draw_anew() -> None:
    assert drawn(events(), 20, 0.0, 1)[1] != drawn(events(), 20, 0.0, 2)[1]
