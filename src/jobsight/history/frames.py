"""The tensor events × frames × jobs: what a held job and others next to it were doing, as of a cut.

One byte per cell, (examples, m frames, j jobs), oldest frame first. Frame k (1 … m) of a decision
at time t is the job's last *state event* at a clock ≤ t − (m − k) · timeframe and before the cut,
but no release (013) of the decision's own second: 0 for none, i + 1 for the i-th of the configured
state events. The idea is the seed's (CHTC fellowship 2024).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.errors import SettingsError
from jobsight.history.labels import RowLabels
from jobsight.history.sampling import JobNumbers, Moments, SampleIndex
from jobsight.history.timelines import SECOND, History, Ints
from jobsight.jit import kernel

__all__ = ["FrameIndex", "Frames", "build_frames"]

Frames = NDArray[np.uint8]

_LONGEST = 2**61  # µs: 73 000 years, and no sum of it and a clock overflows


class FrameIndex:
    """The state events of a history job by job, and the jobs to sample.

    Attributes:
        history: the indexed log.
        state_events: event numbers, in the order that gives cells their values.
    """

    def __init__(self, history: History, labels: RowLabels, state_events: Sequence[int]) -> None:
        """Index `history`.

        Raises:
            SettingsError: more than 255 state events, or one twice.
        """
        if len(state_events) > 255 or len(set(state_events)) < len(state_events):
            raise SettingsError("state_events: give each event number once, at most 255 of them")
        self.history = history
        self.state_events = tuple(state_events)
        self.samples = SampleIndex(history, labels)
        values = np.zeros(1000, np.uint8)
        values[list(state_events)] = np.arange(1, len(state_events) + 1)
        code = history.code
        value = np.where((code >= 0) & (code < 1000), values[code % 1000], np.uint8(0))
        is_state = value[history.job_rows] > 0
        self._rows = history.job_rows[is_state]
        self._start = np.concatenate(([0], np.cumsum(is_state)))[history.job_start]
        self._clock = history.clock[self._rows]
        self._value = value[self._rows]
        self._release = code[self._rows] == EventCode.RELEASED

    def fill(self, jobs: JobNumbers, asked: Moments, m: int, timeframe: int) -> Frames:
        """The m frames of jobs int32 (n, j), −1 for none, `timeframe` in µs: uint8 (n, m, j)."""
        job_log = self.history.jobs["log"].to_numpy()
        view = (asked.log, asked.cut, asked.time)
        states = (self._rows, self._start, self._clock, self._value, self._release)
        return _fill_all(jobs, job_log, view, states, m, min(timeframe, _LONGEST // m))


def build_frames(
    index: FrameIndex,
    decisions: pl.DataFrame,
    *,
    m: int,
    j: int,
    timeframe: int,
    related_share: float,
    seed: int,
) -> tuple[Frames, JobNumbers]:
    """The m frames of n decisions, each of `timeframe` µs, with the jobs of their j slices.

    The decisions have the columns `job`, `hold_row`, `log`, `cut`, `time`; for the other arguments
    see `SampleIndex.sample`. Returns uint8 (n, m, j), oldest frame first, slice 0 the held job; and
    int32 (n, j), job numbers, −1 for no job.
    """
    asked = Moments.of(decisions)
    since = asked.time - m * min(timeframe, _LONGEST // m)
    jobs = index.samples.sample(asked, since, j=j, related_share=related_share, seed=seed)
    return index.fill(jobs, asked, m, timeframe), jobs


_States = tuple[Ints, Ints, Ints, Frames, NDArray[np.bool_]]


@kernel
def _fill_all(
    jobs: JobNumbers,
    job_log: NDArray[np.int32],
    view: tuple[NDArray[np.int32], Ints, Ints],
    states: _States,
    m: int,
    timeframe: int,
) -> Frames:
    logs, cuts, times = view
    rows, start, clock, _, _ = states
    n, j = jobs.shape
    frames = np.zeros((n, m, j), np.uint8)
    for i in range(n):
        for s in range(j):
            job = jobs[i, s]
            if job < 0:
                continue
            low, high = start[job], start[job + 1]
            if job_log[job] == logs[i]:
                end = low + np.searchsorted(rows[low:high], cuts[i])
            else:
                end = low + np.searchsorted(clock[low:high], times[i])
            _fill_one(frames[i, :, s], states, low, end, times[i], timeframe)
    return frames


@kernel
def _fill_one(
    frames: Frames, states: _States, low: int, end: int, time: int, timeframe: int
) -> None:
    """Walk the states ``low … end - 1`` of one job backward, frame by frame."""
    _, _, clock, value, release = states
    hidden = time - time % SECOND  # releases from here on are not seen
    m = len(frames)
    place = end - 1
    for k in range(m - 1, -1, -1):
        moment = time - (m - 1 - k) * timeframe
        steps = 0
        while place >= low and (
            clock[place] > moment or (release[place] and clock[place] >= hidden)
        ):
            place -= 1
            steps += 1
            # A loop of holds may write thousands of events a frame: leap over them.
            if steps == 16 and place >= low and clock[place] > moment:
                place = low + int(np.searchsorted(clock[low:place], moment, side="right")) - 1
        if place < low:
            return
        frames[k] = value[place]
