"""Frames, and which jobs are drawn for them."""

import datetime as dt
import functools
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.support.histories import micros, table

from jobsight.errors import SettingsError
from jobsight.history.frames import FrameIndex, Moments, SampleIndex, build_frames
from jobsight.history.labels import label_rows
from jobsight.history.timelines import History
from jobsight.settings import STATE_EVENTS

MINUTE = 60_000_000
EPOCH = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def log_of(*rows: tuple[int, float, int]) -> History:
    """One log of (cluster, minutes, event number)."""
    width = len(rows)
    columns: dict[str, Any] = {
        "log": [0] * width,
        "access_point": ["ap"] * width,
        "cluster": [r[0] for r in rows],
        "proc": [0] * width,
        "time": [EPOCH + dt.timedelta(minutes=r[1]) for r in rows],
        "code": [r[2] for r in rows],
        "owner": ["ann"] * width,
        "hold_code": [13 if r[2] == 12 else None for r in rows],
        "hold_subcode": [0 if r[2] == 12 else None for r in rows],
        "reason": ["why" if r[2] == 12 else None for r in rows],
        "slot": [None] * width,
        "host": [None] * width,
        "attributes": [None] * width,
    }
    texts = dict.fromkeys(("owner", "reason", "slot", "host", "attributes"), pl.String)
    return History.from_table(
        pl.DataFrame(columns, schema_overrides={"time": pl.Datetime("us", "UTC"), **texts})
    )


def frames_of(
    history: History, cut: int, minutes: float, **given: Any
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Frames of one decision about job 0, whose hold is taken to be its first row."""
    settings = {"m": 14, "j": 2, "timeframe": MINUTE, "related_share": 0.5, "seed": 0}
    events = given.pop("state_events", STATE_EVENTS)
    decision = pl.DataFrame(
        {"job": [0], "hold_row": [0], "log": [0], "cut": [cut]}
        | {"time": [int((EPOCH + dt.timedelta(minutes=minutes)).timestamp() * 1_000_000)]},
        schema_overrides={"job": pl.Int32, "log": pl.Int32},
    )
    index = FrameIndex(history, label_rows(history), events)
    return build_frames(index, decision, **(settings | given))


def test_worked_table_of_the_seed() -> None:
    """Submitted, input transfer, execute, hold, output transfer, terminated: six of its columns."""
    submitted, transfer_in, execute, hold, transfer_out, terminated = 0, 40, 1, 12, 41, 5
    events = (submitted, transfer_in, execute, hold, transfer_out, terminated)
    history = log_of(
        (1, 1, submitted),
        (1, 3, transfer_in),
        (1, 4, execute),
        (1, 5, hold),
        (1, 7, transfer_out),
        (1, 10, execute),
        (1, 13, terminated),
    )
    frames, jobs = frames_of(history, 7, 14, state_events=events)
    assert frames.shape == (1, 14, 2)
    assert frames[0, :, 0].tolist() == [1, 1, 2, 3, 4, 4, 5, 5, 5, 3, 3, 3, 6, 6]
    one_hot = np.eye(7, dtype=int)[frames[0, :, 0]][:, 1:]
    assert one_hot[2].tolist() == [0, 1, 0, 0, 0, 0]
    assert one_hot.sum(axis=1).tolist() == [1] * 14
    assert frames[0, :, 1].tolist() == [0] * 14
    assert jobs.tolist() == [[0, -1]]


def test_oldest_frame_is_first_and_empty_before_the_job() -> None:
    frames, _ = frames_of(log_of((1, 1, 0), (1, 2, 12)), 2, 4, m=6)
    assert frames[0, :, 0].tolist() == [0, 0, 1, 9, 9, 9]


def test_rows_from_the_cut_on_are_not_seen() -> None:
    history = log_of((1, 0, 0), (1, 1, 12), (2, 1, 0), (1, 1, 13), (1, 1, 1))
    frames, jobs = frames_of(history, 2, 1, m=2)
    assert frames[0, :, 0].tolist() == [1, 9]
    assert jobs.tolist() == [[0, -1]]
    assert frames_of(history, 3, 1, m=2)[1].tolist() == [[0, 1]]


def test_releases_of_the_decisions_second_are_not_seen_in_any_slice() -> None:
    history = log_of((1, 0, 0), (2, 0, 0), (2, 1, 12), (1, 1, 12), (2, 3, 13), (1, 3, 13))
    frames, jobs = frames_of(history, 5, 3, m=3)
    assert jobs.tolist() == [[0, 1]]
    assert frames[0, :, 1].tolist() == [9, 9, 9]
    assert frames_of(history, 5, 4, m=3)[0][0, :, 1].tolist() == [9, 10, 10]


def test_events_that_only_accompany_are_passed_over() -> None:
    history = log_of((1, 0, 0), (1, 1, 12), (1, 2, 6), (1, 2, 28))
    assert frames_of(history, 4, 3, m=2)[0][0, :, 0].tolist() == [9, 9]


def test_a_job_that_ended_before_the_window_is_no_candidate() -> None:
    history = log_of((1, 0, 0), (2, 0, 0), (2, 1, 5), (1, 5, 12))
    assert frames_of(history, 4, 5, m=3)[1].tolist() == [[0, -1]]
    assert frames_of(history, 4, 5, m=4)[1].tolist() == [[0, 1]]


def test_a_loop_of_many_events_in_one_frame() -> None:
    loop = [(1, 1 + k / 10_000, (12, 13)[k % 2]) for k in range(1001)]
    frames, _ = frames_of(log_of((1, 0, 0), *loop), 1002, 4, m=5)
    assert frames[0, :, 0].tolist() == [1, 9, 9, 9, 9]


def test_enough_jobs_are_drawn_once_each_and_related_ones_first() -> None:
    crowd = [(c, 0.5, 0) for c in range(10, 300)]
    held = [(c, 1.0, 12) for c in range(10, 14)]
    history = log_of((1, 0, 12), *crowd, *held, (1, 2, 13))
    _, jobs = frames_of(history, len(history) - 1, 2, j=9, related_share=1.0)
    assert len(set(jobs[0].tolist())) == 9
    _, again = frames_of(history, len(history) - 1, 2, j=9, related_share=1.0)
    assert (jobs == again).all()
    _, other = frames_of(history, len(history) - 1, 2, j=9, related_share=1.0, seed=1)
    assert not (jobs == other).all()


def test_uniform_draws_reach_every_coexisting_job() -> None:
    crowd = [(c, 0.1 * (c % 7), 0) for c in range(10, 400)]
    ended = [(c, 1.0, 5) for c in range(10, 200)]
    history = log_of((1, 0, 12), *sorted(crowd, key=lambda r: r[1]), *ended, (1, 20, 13))
    codes = set[int]()
    for seed in range(60):
        _, jobs = frames_of(history, len(history) - 1, 20, j=40, related_share=0.0, seed=seed)
        codes |= set(jobs[0].tolist())
    clusters = history.jobs["cluster"].to_numpy()[sorted(codes)]
    assert set(clusters) == {1, *range(200, 400)}


def test_no_decisions_give_no_frames() -> None:
    history = log_of((1, 0, 12))
    index = FrameIndex(history, label_rows(history), STATE_EVENTS)
    nothing = pl.DataFrame(
        schema={"job": pl.Int32, "hold_row": pl.Int64, "log": pl.Int32}
        | {"cut": pl.Int64, "time": pl.Int64}
    )
    frames, jobs = build_frames(
        index, nothing, m=3, j=2, timeframe=MINUTE, related_share=0.5, seed=0
    )
    assert frames.shape == (0, 3, 2)
    assert jobs.shape == (0, 2)


def test_endless_windows_do_not_overflow() -> None:
    frames, _ = frames_of(log_of((1, 0, 12)), 1, 1, m=10_000, timeframe=10**18)
    assert frames[0, :, 0].tolist() == [0] * 9_999 + [9]


@pytest.mark.parametrize("events", [(0, 1, 0), tuple(range(256))])
def test_state_events_are_bounded_and_different(events: tuple[int, ...]) -> None:
    history = log_of((1, 0, 12))
    with pytest.raises(SettingsError, match="state_events"):
        FrameIndex(history, label_rows(history), events)


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
