"""A queue played forward: when each pending job starts, if nothing more is submitted.

The rules are those of Slurm's multifactor priority with backfill: jobs start in order of priority
while they fit. The first job of each partition that does not fit is reserved the earliest moment at
which the jobs that run will have ended by their time limits; a later job starts before it only if
it ends by its own limit before that moment, or takes what the reserved job leaves (EASY backfill,
Lifka 1995). The scheduler plans with limits, but runs end as drawn from what is known of runtimes:
each draw is one possible future.

A job takes CPUs, memory and GPUs of its partition, and of the machine that several partitions
share. Where on the nodes it is placed is not played: a job that fits in sum is taken to fit.
"""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.jit import expect, helper, kernel

__all__ = ["DEPTH", "LEVELS", "RESOURCES", "Queue", "draw_runtimes", "needs", "play", "play_draw",
           "quantiles"]  # fmt: skip

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
A = TypeVar("A", bound=NDArray[Any])

LEVELS = (0.1, 0.5, 0.9)
RESOURCES = ("request_cpus", "request_memory_mb", "request_gpus")
"""What a job takes, by the columns of the job table."""
DEPTH = 500
"""Jobs that a pass of the scheduler tries after the first one that does not fit (Slurm's
``bf_max_job_test``)."""
_LEAST = 1.0
_BITS = 2**64 - 1
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX_2, _MIX_3 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


class Queue(NamedTuple):
    """What runs and what is pending at one moment: n jobs, running ones first.

    Pending jobs are in the order in which the scheduler tries them. Spans are seconds from now.

    Attributes:
        running: how many of them run.
        capacity: float64 (places, resources) of partitions and shared machines.
        places: int64 (n, 2), the partition of each job, and the machine it is part of, or −1.
        need: float64 (n, resources).
        planned: float64 (n,), seconds until the limit of a running job, the limit of a pending one;
            inf: it has none.
        eligible: float64 (n,), seconds until a pending job may start; inf: it may not.
        asked: bool (n,), pending jobs whose start is wanted; the play ends with the last of them.
        ghost: bool (n,), pending jobs that take nothing and are reserved nothing: what would happen
            to each, were it submitted alone.
    """

    running: int
    capacity: Floats
    places: Ints
    need: Floats
    planned: Floats
    eligible: Floats
    asked: Bools
    ghost: Bools


def needs(jobs: pl.DataFrame) -> Floats:
    """What jobs ask for: float64 (n, resources); in C order, as one compiled kernel expects it."""
    asked = jobs.select(pl.col(RESOURCES).cast(pl.Float64).fill_null(0.0))
    return np.ascontiguousarray(asked.to_numpy())


def play(queue: Queue, runtimes: Floats, depth: int = DEPTH) -> Floats:
    """Start times in each draw: float64 (draws, pending), seconds from now; inf: it never starts.

    Args:
        queue: at the moment.
        runtimes: float64 (draws, n), seconds that each running job still runs and each pending one
            will run.
        depth: jobs tried after the first that does not fit; 0: strictly in order.
    """
    starts = np.full((len(runtimes), len(queue.places) - queue.running), np.inf)
    expect(len(runtimes) * _seconds(queue, depth))
    for draw, ends in zip(starts, runtimes, strict=True):
        play_draw(queue, ends, depth, draw)
    return starts


def quantiles(starts: Floats, levels: tuple[float, ...] = LEVELS) -> Floats:
    """Quantiles over the draws: float64 (pending, levels); inf where so many draws never start."""
    return np.quantile(starts, levels, axis=0, method="inverted_cdf").T


@kernel
def draw_runtimes(
    knots: Floats, ages: Floats, limits: Floats, keys: Ints, draws: int, seed: int
) -> Floats:
    """Seconds that jobs still run, given how long they have run: float64 (draws, n).

    A job that has run longer than all that is known of its like ends evenly before its limit.

    Args:
        knots: float64 (n, k), rising quantiles of each runtime in seconds, at (i + ½) / k.
        ages: float64 (n,), seconds that it has run; 0: it is pending.
        limits: float64 (n,), seconds; inf: none.
        keys: int64 (n,), numbers of the jobs: a job's draws follow from its own number and `seed`.
        draws: how many.
        seed: of the draws.
    """
    n, k = knots.shape
    found = np.empty((draws, n))
    for job in range(n):
        age, longest = ages[job], max(limits[job], ages[job] + _LEAST)
        passed = np.searchsorted(knots[job], age, side="right")
        for draw in range(draws):
            chance = _uniform(seed, keys[job], draw)
            if passed == k and age > 0.0:
                after = longest - age if longest < np.inf else age
                found[draw, job] = max(chance * after, _LEAST)
                continue
            place = (passed + chance * (k - passed)) - 0.5
            low = min(max(int(place), 0), k - 1)
            high, part = min(low + 1, k - 1), min(max(place - low, 0.0), 1.0)
            total = knots[job, low] ** (1.0 - part) * knots[job, high] ** part
            found[draw, job] = max(min(total, longest) - age, _LEAST)
    return found


@draw_runtimes.estimate
def _draw_seconds(
    knots: Floats, _ages: Floats, _limits: Floats, _keys: Ints, draws: int, _seed: int
) -> float:
    return len(knots) * draws * 4e-6


@helper
def _uniform(seed: int, key: int, draw: int) -> float:
    """A number in [0, 1) for these three (SplitMix64, Steele, Lea and Flood 2014)."""
    bits = np.uint64(seed) * _MIX_2 + np.uint64(key) * _MIX + np.uint64(draw + 1) * _MIX_3
    for _ in range(2):
        bits = (bits ^ (bits >> np.uint64(30))) * _MIX_2
        bits = (bits ^ (bits >> np.uint64(27))) * _MIX_3
        bits ^= bits >> np.uint64(31)
        bits += _MIX
    return float(bits >> np.uint64(11)) / 9007199254740992.0


@_uniform.in_python
def _uniform_by_integers(seed: int, key: int, draw: int) -> float:
    bits = (int(seed) * int(_MIX_2) + int(key) * int(_MIX) + (draw + 1) * int(_MIX_3)) & _BITS
    for _ in range(2):
        bits = (bits ^ (bits >> 30)) * int(_MIX_2) & _BITS
        bits = (bits ^ (bits >> 27)) * int(_MIX_3) & _BITS
        bits ^= bits >> 31
        bits = bits + int(_MIX) & _BITS
    return (bits >> 11) / 9007199254740992.0


class _Held(NamedTuple):
    """Reservations, at most one for each partition.

    Attributes:
        jobs: int64 (places,), for which job each is.
        when: float64 (places,), when it begins; looked up once a later job fits.
        spare: float64 (places, 2, resources), what will be left at the places of the job then.
        of: bool (places,), whether a partition has one.
    """

    jobs: Ints
    when: Floats
    spare: NDArray[np.float64]
    of: Bools


@kernel
def play_draw(queue: Queue, runtimes: Floats, depth: int, starts: Floats) -> None:
    """One draw: fill `starts` (pending,)."""
    n, running = len(queue.places), queue.running
    free = _copied(queue.capacity)
    following, left = _waiting_list(queue)
    until = _copied(queue.planned)  # of running jobs; a job that starts gets its own
    active = np.empty(n, np.int64)  # running jobs by the ends that are planned
    active[:running] = np.argsort(until[:running])
    count = running
    events = [(0.0, -1)]
    for job in range(n):
        if job < running:
            _take(free, queue.places, queue.need, job, -1.0)
            events.append((runtimes[job], job))
        elif 0.0 < queue.eligible[job] < np.inf:
            events.append((queue.eligible[job], -1))
    heapq.heapify(events)
    held = _Held(
        np.empty(len(free), np.int64),
        np.empty(len(free)),
        np.empty((len(free), 2, free.shape[1])),
        np.empty(len(free), np.bool_),
    )
    while left > 0 and len(events) > 0:
        now = events[0][0]
        while len(events) > 0 and events[0][0] <= now:
            ended = heapq.heappop(events)[1]
            if ended >= 0:
                _take(free, queue.places, queue.need, ended, 1.0)
                count = _without(active, count, until, ended)
        for job in _pass(queue, free, following, held, active, count, until, now, depth):
            starts[job - running] = now
            left -= queue.asked[job]
            if not queue.ghost[job]:
                count += 1
                heapq.heappush(events, (now + runtimes[job], job))


@play_draw.estimate
def _play_seconds(queue: Queue, _runtimes: Floats, depth: int, _starts: Floats) -> float:
    return _seconds(queue, depth)


@play_draw.in_python
def _play_in_python(queue: Queue, runtimes: Floats, depth: int, starts: Floats) -> None:
    # What a view of memory gives are Python's own numbers, which it reckons with much faster.
    names = ("places", "need", "planned", "eligible", "asked", "ghost")
    views: Any = {name: memoryview(getattr(queue, name)) for name in names}
    play_draw.interpreted(queue._replace(**views), runtimes.tolist(), depth, starts)


def _seconds(queue: Queue, depth: int) -> float:
    """What plain Python takes at most to play one draw, by its usual speed."""
    pending = len(queue.places) - queue.running
    return (queue.running + pending) * (1 + min(pending, depth)) * 5e-7


@kernel
def _copied(array: A) -> A:
    return array.copy()


@_copied.in_python
def _copied_as_view(array: Any) -> Any:
    values: Any = np.array(array)
    return memoryview(values)


@kernel
def _pass(
    queue: Queue, free: Floats, following: Ints, held: _Held, active: Ints, count: int,
    until: Floats, now: float, depth: int,
) -> list[int]:  # fmt: skip
    """The jobs that the scheduler starts at one moment; they are running then."""
    n, places, need = len(queue.places), queue.places, queue.need
    started = [0 for _ in range(0)]
    held.of[:] = False
    reserved, known, tried, before = 0, 0, 0, n
    while following[before] < n and tried <= depth:
        job = following[before]
        end, waits = now + queue.planned[job], queue.eligible[job] > now
        fits = not waits and _fits(free, places, need, job)
        while fits and known < reserved:
            of, spare = held.jobs[known], held.spare[known]
            held.when[known] = _reserved(spare, of, queue, free, active[:count], until)
            known += 1
        if fits and _allowed(held, reserved, places, need, job, end, queue.ghost[job]):
            following[before] = following[job]
            started.append(job)
            if not queue.ghost[job]:
                _take(free, places, need, job, -1.0)
                until[job] = end
                count = _with(active, count, until, job)
            continue
        before = job
        if not waits and not queue.ghost[job]:
            tried += 1
            if not fits and not held.of[places[job, 0]]:
                held.of[places[job, 0]] = True
                held.jobs[reserved] = job
                reserved += 1
    return started


@kernel
def _waiting_list(queue: Queue) -> tuple[Ints, int]:
    """The pending job after each, beginning at n, ending in n; and how many are asked about."""
    n = len(queue.places)
    following = np.full(n + 1, n, np.int64)
    last, asked = n, 0
    for job in range(queue.running, n):
        if queue.eligible[job] < np.inf and _fits(queue.capacity, queue.places, queue.need, job):
            following[last] = job
            last = job
            asked += queue.asked[job]
    return following, asked


@_waiting_list.in_python
def _waiting_in_python(queue: Queue) -> Any:
    following, asked = _waiting_list.interpreted(queue)
    return following.tolist(), int(asked)


@helper
def _fits(free: Floats, places: Ints, need: Floats, job: int) -> bool:
    for which in range(2):
        place = places[job, which]
        if place >= 0:
            for resource in range(free.shape[1]):
                if need[job, resource] > free[place, resource]:
                    return False
    return True


@helper
def _take(free: Floats, places: Ints, need: Floats, job: int, sign: float) -> None:
    for which in range(2):
        place = places[job, which]
        if place >= 0:
            for resource in range(free.shape[1]):
                free[place, resource] += sign * need[job, resource]


@helper
def _without(active: Ints, count: int, until: Floats, job: int) -> int:
    """Take a job out of those that run, which are in order of `until`; how many are left."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if until[active[middle]] < until[job]:
            low = middle + 1
        else:
            high = middle
    while low < count and active[low] != job:
        low += 1
    if low == count:
        return count
    for place in range(low, count - 1):
        active[place] = active[place + 1]
    return count - 1


@helper
def _with(active: Ints, count: int, until: Floats, job: int) -> int:
    """Put a job among those that run, in order of `until`; how many there are."""
    place = count
    while place > 0 and until[active[place - 1]] > until[job]:
        active[place] = active[place - 1]
        place -= 1
    active[place] = job
    return count + 1


@helper
def _allowed(
    held: _Held, reserved: int, places: Ints, need: Floats, job: int, end: float, ghost: bool
) -> bool:
    """Whether a job that fits delays no reservation; what it takes of them is taken."""
    for taken in range(1 if ghost else 2):
        for one in range(reserved):
            if end <= held.when[one]:
                continue
            for which in range(2):
                place = places[held.jobs[one], which]
                if place < 0 or (place != places[job, 0] and place != places[job, 1]):
                    continue
                for resource in range(need.shape[1]):
                    if taken:
                        held.spare[one, which, resource] -= need[job, resource]
                    elif need[job, resource] > held.spare[one, which, resource]:
                        return False
    return True


@kernel
def _reserved(
    spare: Floats, job: int, queue: Queue, free: Floats, active: Ints, until: Floats
) -> float:
    """The earliest moment at which a job fits by the limits of those that run; fills `spare`."""
    places, resources = queue.places, range(free.shape[1])
    for which in range(2):
        for one in resources:
            spare[which, one] = 0.0
            if places[job, which] >= 0:
                spare[which, one] = free[places[job, which], one] - queue.need[job, one]
    for other in active:
        fits = True
        for which in range(2):
            mine = 0
            for place in (places[other, 0], places[other, 1]):
                mine += place >= 0 and place == places[job, which]
            for one in resources:
                spare[which, one] += mine * queue.need[other, one]
                fits &= spare[which, one] >= 0.0
        if fits:
            return float(until[other])
    return np.inf
