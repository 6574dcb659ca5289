"""The algorithm of the study that Jobsight started from, in plain Python.

For every example, every one of its jobs and every frame it walks the whole list of the log's events
and keeps the last event of that job that lies no later than the frame. It is what we compare with,
so it is written as such a program would be: no index, no early end, plain lists and tuples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Event", "one_hot_frames"]


class Event(NamedTuple):
    """One record of the log."""

    job: int
    time: int
    code: int


def one_hot_frames(
    events: Sequence[Event],
    jobs: Sequence[int],
    time: int,
    *,
    frames: int,
    frame_length: int,
    states: Sequence[int],
) -> list[list[list[int]]]:
    """One example's tensor: jobs × frames × (states + 1), one-hot, 0 for a job not there yet.

    Args:
        events: all events of the log before the decision, in order.
        jobs: the job held, then the others.
        time: of the decision; the last frame's.
        frames: how many.
        frame_length: time between frames.
        states: event numbers that change a job's state.
    """
    tensor = []
    for job in jobs:
        rows = []
        for frame in range(frames):
            moment = time - (frames - 1 - frame) * frame_length
            state = 0
            for event in events:
                if event.job == job and event.time <= moment and event.code in states:
                    state = states.index(event.code) + 1
            rows.append([int(value == state) for value in range(len(states) + 1)])
        tensor.append(rows)
    return tensor
