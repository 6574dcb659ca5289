"""What a play of the queue expects of each job of a history, as of its submission or later.

One walk over the submissions, starts and ends of a job table keeps what runs and what is pending.
At each moment asked about the queue is played forward, and what is submitted later does not exist.
A job that is submitted at the moment is a ghost behind the queue: it counts for no other one. What
is dated exactly at a moment is not known yet, so a table that is cut off there gives the same
bytes.

What the scheduler knew and the table does not is learned: a partition, and the cluster as a whole,
has the most that was ever in use so far; a runtime is the time limit times a share of it that one
of the user's last runs used; a job that many later ones of at least its size have overtaken has a
low priority or cannot start, and is left out. Jobs are taken in order of their submission.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.history.jobtable import JobTable
from jobsight.history.past import Past
from jobsight.history.pastwalk import ENDED, RUNNING, WAITING
from jobsight.jit import helper, kernel
from jobsight.questions.start.play import LEVELS, Queue, draw_runtimes, needs, play_draw

__all__ = ["expected_waits"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DRAWS, DEPTH, MOST = 10, 100, 2_000
"""Of each play: draws, jobs tried behind the first that does not fit, pending jobs in it."""
_COVERED = 0.2
"""Least share of the scheduler's job numbers that a table must have, or its queue is not known."""
_RUNS, _OVERTAKEN, _LONGEST = 32, 20, 366 * 86_400.0


def expected_waits(
    jobs: JobTable, past: Past, rows: pl.DataFrame, moments: Ints, seed: int
) -> NDArray[np.float32]:
    """Quantiles of ln(1 + seconds) that each job still waits: float32 (n, LEVELS).

    NaN where the queue is not known: of HTCondor jobs, and of tables that lack most jobs.

    Args:
        jobs: the history.
        past: `Past.of` it.
        rows: `row` (in the table, or null), `scheduler`, `scheduler_name`, `partition`,
            `time_limit_s` and `RESOURCES` of n jobs.
        moments: int64 (n,), µs, as of when each is asked.
        seed: of the draws.
    """
    found = np.full((len(rows), len(LEVELS)), np.nan, np.float32)
    known = np.flatnonzero(_covered(jobs, moments) & (rows["scheduler"] == "slurm").to_numpy())
    order = known[np.argsort(moments[known], kind="stable")]
    if not len(order):
        return found
    places, asked_places = _places(jobs.table, rows)
    user = pl.coalesce("owner", "account")
    users = jobs.table.select(user.rank("dense").fill_null(0).cast(pl.Int64)).to_series()
    whole = _Jobs(places, needs(jobs.table), _limits(jobs.table), np.array(users))
    own = np.array(rows["row"].cast(pl.Int64).fill_null(-1).to_numpy())
    asked = _Jobs(asked_places[order], needs(rows)[order], _limits(rows)[order], own[order])
    events = past.events
    waits = _walk(
        events["time"].copy(),
        past.rows.astype(np.int64),
        (events["before"].copy(), events["after"].copy()),
        events["seconds"].astype(np.float64),
        whole,
        asked,
        moments[order],
        np.append(np.unique(moments[order], return_index=True)[1], len(order)),
        (DRAWS, DEPTH, seed),
    )
    found[order] = np.log1p(np.minimum(waits, _LONGEST))
    return found


def _covered(jobs: JobTable, moments: Ints) -> NDArray[np.bool_]:
    """Whether the table has most of the jobs that the scheduler numbered until then: bool (n,)."""
    number = pl.coalesce("job_id", "array_job_id")
    ids = (
        jobs.table.select(number.forward_fill().backward_fill()).to_series().fill_null(0).to_numpy()
    )
    if not len(ids):
        return np.zeros(len(moments), np.bool_)
    span = np.maximum.accumulate(ids) - np.minimum.accumulate(ids) + 1
    shares = np.arange(1, len(ids) + 1) / span
    before = np.searchsorted(jobs.table["seen"].to_physical().to_numpy(), moments)
    return np.asarray((before > 0) & (shares[np.maximum(before - 1, 0)] >= _COVERED))


def _places(jobs: pl.DataFrame, rows: pl.DataFrame) -> tuple[Ints, Ints]:
    """The partition and the cluster of the jobs of the table, and of those asked about."""
    both = pl.concat([one.select("scheduler_name", "partition") for one in (jobs, rows)])
    number = pl.struct("scheduler_name", "partition").rank("dense").cast(pl.Int64) - 1
    cluster = pl.col("scheduler_name").rank("dense").fill_null(0).cast(pl.Int64)
    codes = both.select(number=number, cluster=cluster + number.max()).to_numpy().copy()
    return codes[: len(jobs)], codes[len(jobs) :]


def _limits(jobs: pl.DataFrame) -> Floats:
    limit = pl.col("time_limit_s").cast(pl.Float64)
    known = pl.when(limit > 0).then(limit).fill_null(np.inf)
    return np.array(jobs.select(known).to_series().to_numpy())


class _Jobs(NamedTuple):
    """Jobs of the table, or asked about: `Queue.places`, `Queue.need`, limits; and numbers.

    Of the table these are the users; of jobs asked about, their rows in it, or −1.
    """

    places: Ints
    need: Floats
    limits: Floats
    numbers: Ints


class _Now(NamedTuple):
    """What runs and what is pending at one moment of the walk.

    Attributes:
        open: int64 (2, rows), rows of the table that are pending (`WAITING`) and that run
            (`RUNNING`), in any order; `at` (2, rows) says where each is, or −1.
        started, when: int64, rows of the table in the order of their starts, and µs of each.
        counts: int64 (3,), how many are pending, run, and have started.
        begun: int64 (rows,), where in `started` the last start of each is.
        passed: int64 (rows,), how many later jobs of at least its size have started while it was
            pending, `_OVERTAKEN` at most, among the first `compared` (rows,) of `started`; `left`
            (rows,) is how many had started when it was last pending.
        used, most: float64 (places, resources), in use now and at most so far.
        shares: float64 (users + 1, _RUNS, 2), seconds and shares of the limits of the last runs of
            each user, those of all users at 0; `known` (users + 1,) counts them.
        rising: the same, each column in order, as of when `ordered` (users + 1,) were known.
    """

    open: Ints
    at: Ints
    started: Ints
    when: Ints
    counts: Ints
    begun: Ints
    passed: Ints
    compared: Ints
    left: Ints
    used: Floats
    most: Floats
    shares: NDArray[np.float64]
    rising: NDArray[np.float64]
    known: Ints
    ordered: Ints


@kernel
def _walk(
    times: Ints, rows: Ints, phases: tuple[NDArray[np.int8], NDArray[np.int8]], seconds: Floats,
    jobs: _Jobs, asked: _Jobs, moments: Ints, borders: Ints, play: tuple[int, int, int],
) -> Floats:  # fmt: skip
    """Seconds that each job asked about still waits: float64 (n, LEVELS); in order of `moments`.

    Between two `borders` moments are equal; `play` has draws, depth and seed. Constants are passed
    as arguments, since Numba compiles a kernel anew for each constant that it is called with.
    """
    found, n = np.empty((len(moments), len(LEVELS))), len(jobs.places)
    places = max(jobs.places.max(), asked.places.max()) + 1
    resources, users = jobs.need.shape[1], jobs.numbers.max() + 1
    now = _Now(
        np.empty((2, n), np.int64), np.full((2, n), -1),
        np.empty(len(times), np.int64), np.empty(len(times), np.int64), np.zeros(3, np.int64),
        np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64),
        np.zeros((places, resources)), np.zeros((places, resources)),
        np.zeros((users, _RUNS, 2)), np.zeros((users, _RUNS, 2)), np.zeros(users, np.int64),
        np.zeros(users, np.int64),
    )  # fmt: skip
    draws, depth, seed = play
    event = 0
    for group in range(len(borders) - 1):
        first, last = borders[group], borders[group + 1]
        while event < len(times) and times[event] < moments[first]:
            row, before, after = rows[event], phases[0][event], phases[1][event]
            if before != after:
                _moved(now, jobs, row, before, after, times[event])
            if before == RUNNING and after == ENDED and seconds[event] >= 0.0:
                _learned(now, jobs.numbers[row], seconds[event], jobs.limits[row])
            event += 1
        queue, runtimes, at = _queue(now, jobs, asked, first, last, moments[first], draws, seed)
        starts = np.full((draws, len(queue.places) - queue.running), np.inf)
        for draw in range(draws):
            play_draw(queue, runtimes[draw], depth, starts[draw])
        for one in range(first, last):
            waits = np.sort(starts[:, at[one - first] - queue.running])
            for level in range(len(LEVELS)):
                found[one, level] = waits[int(LEVELS[level] * draws)]
    return found


@helper
def _moved(now: _Now, jobs: _Jobs, row: int, before: int, after: int, time: int) -> None:
    """A job is pending, runs, or ends."""
    if before == WAITING and after != WAITING:
        _take_out(now, WAITING, row)
        now.left[row] = now.counts[2]
    if after == WAITING:
        _compare(now, jobs, row, now.left[row])
        now.compared[row] = now.counts[2]
        _put_in(now, WAITING, row)
    if before == RUNNING and after != RUNNING:
        _take_out(now, RUNNING, row)
        for side in range(2):
            place = jobs.places[row, side]
            for k in range(jobs.need.shape[1]):
                now.used[place, k] -= jobs.need[row, k]
    if after == RUNNING and before != RUNNING:
        _put_in(now, RUNNING, row)
        now.begun[row] = now.counts[2]
        for side in range(2):
            place = jobs.places[row, side]
            for k in range(jobs.need.shape[1]):
                now.used[place, k] += jobs.need[row, k]
                now.most[place, k] = max(now.most[place, k], now.used[place, k])
        now.started[now.counts[2]], now.when[now.counts[2]] = row, time
        now.counts[2] += 1


@helper
def _compare(now: _Now, jobs: _Jobs, row: int, until: int) -> None:
    """Compare a job with the starts up to one, as far as it was not; put off until it matters."""
    for start in range(now.compared[row], until):
        if now.passed[row] >= _OVERTAKEN:
            break
        other = now.started[start]
        same = row < other and jobs.places[row, 0] == jobs.places[other, 0]
        now.passed[row] += same and jobs.need[row, 0] <= jobs.need[other, 0]
    now.compared[row] = until


@helper
def _put_in(now: _Now, phase: int, row: int) -> None:
    if now.at[phase, row] < 0:
        now.at[phase, row] = now.counts[phase]
        now.open[phase, now.counts[phase]] = row
        now.counts[phase] += 1


@helper
def _take_out(now: _Now, phase: int, row: int) -> None:
    place = now.at[phase, row]
    if place >= 0:
        now.counts[phase] -= 1
        last = now.open[phase, now.counts[phase]]
        now.open[phase, place], now.at[phase, last] = last, place
        now.at[phase, row] = -1


@helper
def _learned(now: _Now, user: int, seconds: float, limit: float) -> None:
    """A run ended."""
    share = min(seconds / limit, 1.0)
    for one in (0, user):
        slot = now.known[one] % _RUNS
        now.shares[one, slot, 0], now.shares[one, slot, 1] = max(seconds, 1.0), max(share, 1e-6)
        now.known[one] += 1
        if user == 0:
            break


@kernel
def _order(now: _Now, user: int) -> None:
    """Bring `rising` of a user up to date."""
    count = min(now.known[user], _RUNS)
    if now.ordered[user] != now.known[user]:
        for column in range(2):
            values = np.sort(now.shares[user, :count, column])
            for place in range(_RUNS):
                now.rising[user, place, column] = values[place * count // _RUNS]
        now.ordered[user] = now.known[user]


@kernel
def _queue(
    now: _Now, jobs: _Jobs, asked: _Jobs, first: int, last: int, moment: int, draws: int, seed: int
) -> tuple[Queue, Floats, Ints]:
    """The queue at a moment, draws of its runtimes, and where in it the jobs asked about are.

    Those that are pending have their place in it; others are ghosts behind it.
    """
    pending, running = now.counts[WAITING], now.counts[RUNNING]
    rows = np.empty(running + pending, np.int64)
    rows[:running] = now.started[np.sort(now.begun[now.open[RUNNING, :running]])]
    count = running
    for row in np.sort(now.open[WAITING, :pending]):
        if count < running + MOST:
            _compare(now, jobs, row, now.counts[2])
        if now.passed[row] < _OVERTAKEN and count < running + MOST:
            rows[count] = row
            count += 1
    at, n = np.full(last - first, -1, np.int64), count
    for one in range(first, last):
        for k in range(running, count):
            if rows[k] == asked.numbers[one]:
                at[one - first] = k
        if at[one - first] < 0:
            at[one - first] = n
            n += 1
    places, need = np.empty((n, 2), np.int64), np.empty((n, jobs.need.shape[1]))
    limits, ages = np.empty(n), np.zeros(n)
    knots, keys = np.ones((n, _RUNS)), np.zeros(n, np.int64)
    keys[:count] = rows[:count]
    for k in range(count):
        row = rows[k]
        places[k], need[k], limits[k] = jobs.places[row], jobs.need[row], jobs.limits[row]
        if k < running:
            ages[k] = (moment - now.when[now.begun[row]]) / 1e6
        user = jobs.numbers[row] if now.known[jobs.numbers[row]] >= 4 else 0
        _order(now, user)
        if now.known[user] > 0 and limits[k] < np.inf:
            knots[k] = now.rising[user, :, 1] * limits[k]
        elif now.known[user] > 0:
            knots[k] = now.rising[user, :, 0]
        elif limits[k] < np.inf:
            knots[k] = limits[k]
    for one in range(first, last):
        k = at[one - first]
        places[k], need[k], limits[k] = asked.places[one], asked.need[one], asked.limits[one]
    ghosts, wanted = np.arange(n) >= count, np.zeros(n, np.bool_)
    wanted[at] = True
    planned = np.maximum(limits - ages, 1.0)
    queue = Queue(running, now.most.copy(), places, need, planned, np.zeros(n), wanted, ghosts)
    return queue, draw_runtimes(knots, ages, limits, keys, draws, seed), at
