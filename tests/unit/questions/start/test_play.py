import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.plainpython import plain_python

from jobsight.questions.start.play import Queue, draw_runtimes, play, quantiles

INF = np.inf


def queue(
    capacity: list[float],
    jobs: list[tuple[float, ...]],
    running: int = 0,
    *,
    machine: float = INF,
    eligible: list[float] | None = None,
    ghosts: int = 0,
) -> tuple[Queue, np.ndarray]:
    """A queue of jobs (CPUs, limit, runtime, partition), the last ones ghosts; and one draw.

    All partitions are part of one machine with so many CPUs.
    """
    rows = np.array([(*one, 0.0)[:4] for one in jobs], float).reshape(-1, 4)
    n = len(rows)
    last = np.arange(n) >= n - ghosts
    places = np.stack([rows[:, 3].astype(np.int64), np.full(n, len(capacity))], axis=1)
    made = Queue(
        running=running,
        capacity=np.array([[*capacity, machine]], float).T.copy(),
        places=places,
        need=rows[:, :1].copy(),
        planned=rows[:, 1].copy(),
        eligible=np.array([0.0] * n if eligible is None else [0.0] * running + eligible),
        asked=np.arange(n) >= running,
        ghost=last,
    )
    return made, rows[None, :, 2].copy()


def starts(*arguments: object, depth: int = 100, **more: object) -> list[float]:
    made, runtimes = queue(*arguments, **more)  # type: ignore[arg-type]
    found = play(made, runtimes, depth)[0]
    with plain_python():
        assert play(made, runtimes, depth)[0].tolist() == found.tolist()
    return list(found)


def test_jobs_start_in_order_as_room_is_left() -> None:
    running = [(4, 100, 50)]
    pending = [(4, 60, 30), (2, 60, 60), (2, 60, 10), (4, 60, 5)]
    assert starts([4], running + pending, 1) == [50, 80, 80, 140]


def test_a_short_job_fills_the_hole_before_a_reservation() -> None:
    running = [(6, 100, 100)]
    wide, short, long, narrow = (8, 60, 60), (2, 100, 10), (2, 101, 10), (1, 300, 300)
    assert starts([8], [*running, wide, short], 1) == [100, 0]
    # By its limit it would delay the wide job, although it ends soon.
    assert starts([8], [*running, wide, long], 1) == [100, 160]
    # One CPU is left over by the reserved job.
    assert starts([9], [*running, wide, narrow, narrow], 1) == [100, 0, 160]
    # Strictly in order nothing goes before.
    assert starts([8], [*running, wide, short], 1, depth=0) == [100, 160]


def test_an_early_end_lets_the_reserved_job_start_before_its_time() -> None:
    assert starts([8], [(6, 100, 40), (8, 60, 60)], 1) == [40]


def test_partitions_share_a_machine() -> None:
    # The second partition has room of its own, but the machine is full until 50.
    jobs = [(4, 100, 50, 0), (2, 10, 10, 0), (2, 10, 10, 1)]
    assert starts([6, 6], jobs, 1, machine=4) == [50, 50]
    assert starts([6, 6], jobs, 1, machine=6) == [0, 10]
    assert starts([6, 6], jobs, 1, machine=8) == [0, 0]
    # A partition that is full keeps no job of another one back.
    assert starts([4, 6], jobs, 1, machine=8) == [50, 0]


def test_what_can_never_fit_or_start_gets_infinity_and_keeps_none_back() -> None:
    assert starts([4], [(5, 10, 10), (1, 10, 10)]) == [INF, 0]
    assert starts([4], [(1, 10, 10), (1, 10, 10)], eligible=[INF, 20]) == [INF, 20]


def test_a_ghost_starts_where_it_would_and_takes_nothing() -> None:
    jobs = [(6, 100, 100), (8, 60, 60), (8, 9, 9), (2, 100, 9), (2, 101, 9)]
    assert starts([8], jobs, 1, ghosts=3) == [100, 160, 0, 160]


def test_draws_follow_from_the_job_and_the_seed_alone() -> None:
    knots = np.sort(np.random.default_rng(1).random((3, 9)) * 1000, axis=1)
    ages, limits = np.array([0.0, 500.0, 5000.0]), np.array([900.0, 2000.0, 6000.0])
    found = draw_runtimes(knots, ages, limits, np.array([5, 6, 7]), 400, 1)
    with plain_python():
        plain = draw_runtimes(knots, ages, limits, np.array([5, 6, 7]), 400, 1)
    assert np.array_equal(plain, found)
    again = draw_runtimes(knots[1:], ages[1:], limits[1:], np.array([6, 7]), 400, 1)
    assert np.array_equal(found[:, 1:], again)
    assert not np.array_equal(found, draw_runtimes(knots, ages, limits, np.arange(5, 8), 400, 2))
    assert np.median(found[:, 0]) == pytest.approx(np.median(knots[0]), rel=0.1)
    # What runs longer than its like ends evenly before its limit.
    assert np.median(found[:, 2]) == pytest.approx(500, rel=0.15)
    assert (found > 0).all() and (found + ages <= limits).all()


def test_quantiles_over_draws_with_some_that_never_start() -> None:
    many = np.array([[5.0, 1.0], [INF, 2.0], [7.0, 3.0], [INF, 4.0]])
    assert quantiles(many).tolist() == [[5.0, 7.0, INF], [1.0, 2.0, 4.0]]


jobs_drawn = st.lists(
    st.tuples(st.integers(1, 8), st.integers(1, 50), st.integers(1, 50), st.integers(0, 1)),
    min_size=1,
    max_size=25,
)


@given(jobs_drawn, st.integers(0, 30))
def test_never_more_is_taken_than_there_is(
    drawn: list[tuple[int, int, int, int]], depth: int
) -> None:
    jobs = [(cpus, max(limit, ran), ran, part) for cpus, limit, ran, part in drawn]
    found = starts([8, 6], jobs, machine=10, depth=depth)
    for moment in found:
        used = [0, 0]
        for (cpus, _, ran, part), start in zip(jobs, found, strict=True):
            if start <= moment < start + ran and start < INF:
                used[part] += cpus
        assert moment == INF or (used[0] <= 8 and used[1] <= 6 and sum(used) <= 10)
    assert [one == INF for one in found] == [job[0] > (8, 6)[job[3]] for job in jobs]


@given(jobs_drawn)
def test_in_order_no_job_overtakes_and_a_later_one_changes_nothing(
    drawn: list[tuple[int, int, int, int]],
) -> None:
    jobs = [(cpus, max(limit, ran), ran) for cpus, limit, ran, _ in drawn]
    found = starts([8], jobs, depth=0)
    assert found == sorted(found)
    assert starts([8], jobs[:-1], depth=0) == found[:-1]


@given(jobs_drawn, st.integers(1, 5))
def test_ghosts_change_nothing(drawn: list[tuple[int, int, int, int]], ghosts: int) -> None:
    jobs = [(cpus, max(limit, ran), ran, part) for cpus, limit, ran, part in drawn]
    kept = len(jobs) - min(ghosts, len(jobs))
    found = starts([8, 6], jobs, machine=10, ghosts=len(jobs) - kept)
    assert starts([8, 6], jobs[:kept], machine=10) == found[:kept]
