"""The queue of a large cluster played forward."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.measure import Section, isolated, median, spread, timed
from jobsight.questions.start.play import Queue, draw_runtimes, play, quantiles

__all__ = ["measure", "run"]

_RUNNING, _PENDING, _DRAWS, _RUNS, _BOUND = 5_000, 10_000, 20, 3, 10.0
_PARTITIONS, _KNOTS = 4, 19


def _queue(running: int, pending: int) -> tuple[Queue, tuple[Any, Any, Any, Any]]:
    """A full machine of four partitions, with many small jobs and few large ones."""
    draw, n = np.random.default_rng(20_261_122), running + pending
    partition = draw.integers(0, _PARTITIONS, n)
    need = np.minimum(draw.zipf(1.5, (n, 1)), 2_000).astype(float)
    capacity = np.full((_PARTITIONS + 1, 1), need[:running].sum() + 10)
    capacity[:_PARTITIONS] *= 0.4
    limit = draw.choice([3_600.0, 14_400.0, 86_400.0], n)
    pends = np.arange(n) >= running
    ages = np.where(pends, 0.0, draw.random(n) * limit)
    places = np.stack([partition, np.full(n, _PARTITIONS)], axis=1)
    knots = np.sort(limit[:, None] * draw.random((n, _KNOTS)), axis=1) + 1.0
    made = Queue(
        running, capacity, places, need, limit - ages, np.zeros(n), pends, np.zeros(n, bool)
    )
    return made, (knots, ages, limit, np.arange(n))


def measure(running: int, pending: int, draws: int) -> Any:
    """Seconds of all draws of runtimes and of the play, and the median wait in seconds."""
    queue, runtimes = _queue(running, pending)
    waits: list[float] = []

    def work() -> None:
        starts = play(queue, draw_runtimes(*runtimes, draws, 0))
        waits.append(float(np.median(quantiles(starts)[:, 1])))

    return {**timed(work, _RUNS), "wait": waits[-1]}


def run() -> Section:
    """The benchmark.

    Raises:
        AssertionError: the play takes longer than it may.
    """
    section = Section("The queue played forward")
    found = isolated(
        "bench.play:measure", cores=1, running=_RUNNING, pending=_PENDING, draws=_DRAWS
    )
    section.say(
        f"{_RUNNING:,} running and {_PENDING:,} pending jobs of {_PARTITIONS} partitions on one "
        f"machine, {_DRAWS} draws of their runtimes until the last has started, one core: "
        f"{median(found['seconds']):.1f} s ({spread(found['seconds'])}), "
        f"{median(found['cpu']):.1f} s of processor time; the bound is {_BOUND:.0f} s. "
        f"The median of the expected waits is {found['wait'] / 3600:.1f} h."
    )
    assert median(found["cpu"]) < _BOUND, "the play takes longer than it may"
    return section
