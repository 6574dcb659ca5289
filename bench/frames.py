"""Frames: Jobsight's builder compared with the plain algorithm of `bench.seed_frames`."""

from __future__ import annotations

import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bench import inputs
from bench.measure import Section, isolated, median, spread, timed
from bench.seed_frames import Event, one_hot_frames
from jobsight.history.frames import FrameIndex, Frames, build_frames
from jobsight.history.labels import label_rows
from jobsight.history.timelines import History
from jobsight.questions.hold.settings import HoldSettings
from jobsight.settings import STATE_EVENTS

__all__ = ["measure", "run"]

_EVENTS = 30_000
_SECOND = 1_000_000
_M, _J, _FRAME = 50, 20, 10 * _SECOND
_PLAIN_EXAMPLES = 5
_RUNS = 7
_GRID = [
    (1, _M, _J),
    (2, _M, _J),
    (4, _M, _J),
    (1, 100, _J),
    (1, 200, _J),
    (1, _M, 10),
    (1, _M, 40),
]


def _history(log: str) -> History:
    """The first events of jobs in the log (without 008, 028)."""
    from jobsight.history.events import read_events

    table = read_events([log]).table
    return History.from_table(table.filter(~pl.col("code").is_in([8, 28])).head(_EVENTS))


def _decisions(history: History) -> pl.DataFrame:
    from jobsight.questions.hold.examples.decisions import hold_decisions

    return hold_decisions(history, HoldSettings(), label_rows(history)).table


def _build(
    index: FrameIndex, decisions: pl.DataFrame, m: int, j: int
) -> tuple[Frames, NDArray[np.int32]]:
    return build_frames(index, decisions, m=m, j=j, timeframe=_FRAME, related_share=0.5, seed=0)


def measure(log: str) -> dict[str, Any]:
    """Time both builders on the same examples, and compare what they make."""
    history = _history(log)
    decisions = _decisions(history)
    started = time.perf_counter()
    index = FrameIndex(history, label_rows(history), STATE_EVENTS)
    indexing = time.perf_counter() - started
    grid = []
    for copies, m, j in _GRID:
        asked = pl.concat([decisions] * copies)
        times = timed(partial(_build, index, asked, m, j), _RUNS)
        grid.append({"n": len(asked), "m": m, "j": j, **times})
    plain, agree, cells = _plain(history, decisions, index)
    return {
        "events": len(history),
        "indexing": indexing,
        "grid": grid,
        "plain": plain,
        "agree": agree,
        "cells": cells,
    }


def _plain(
    history: History, decisions: pl.DataFrame, index: FrameIndex
) -> tuple[list[float], int, int]:
    """Seconds of the plain algorithm per example; cells that agree, of how many."""
    frames, jobs = _build(index, decisions, _M, _J)
    columns = (history.job.tolist(), history.clock.tolist(), history.code.tolist())
    events = [Event(*row) for row in zip(*columns, strict=True)]
    seconds, agree, cells = [], 0, 0
    for k in np.linspace(0, len(decisions) - 1, _PLAIN_EXAMPLES).astype(int):
        moment = int(decisions["time"][int(k)])
        # The plain algorithm knows no cut: it is given what the decision may see, and the other
        # jobs of the example, for nothing. To time it, it walks the whole log as it did.
        second = moment - moment % _SECOND
        seen = [
            event
            for event in events[: int(decisions["cut"][int(k)])]
            if event.code != 13 or event.time < second
        ]
        example = jobs[k].tolist()
        started = time.perf_counter()
        _one_hot(events, example, moment)
        seconds.append(time.perf_counter() - started)
        same = frames[k] == np.argmax(np.array(_one_hot(seen, example, moment)), axis=2).T
        agree, cells = agree + int(same.sum()), cells + same.size
    return seconds, agree, cells


def _one_hot(events: list[Event], jobs: list[int], moment: int) -> list[list[list[int]]]:
    return one_hot_frames(events, jobs, moment, frames=_M, frame_length=_FRAME, states=STATE_EVENTS)


def run() -> Section:
    """The benchmark."""
    with tempfile.TemporaryDirectory(prefix="jobsight-bench-") as name:
        log = str(inputs.plain_log(Path(name)))
        isolated("bench.frames:measure", cores=1, log=log)  # compiles the kernels
        found = isolated("bench.frames:measure", cores=1, log=log)
    section = Section("Frames")
    ours = median(found["grid"][0]["seconds"]) / found["grid"][0]["n"]
    plain = median(found["plain"])
    section.say(
        f"A log of {found['events']:,} events, one core, j = {_J}, m = {_M}. Jobsight's time "
        "includes sampling the other jobs; the plain algorithm gets them. Indexing the log, once: "
        f"{found['indexing'] * 1e3:.0f} ms. Of {found['cells']:,} cells built by both, "
        f"{found['agree']:,} agree."
    )
    section.table(
        ["builder", "per example", "spread of runs", "ratio"],
        [
            ["plain algorithm", f"{plain:.2f} s", spread(found["plain"]), "1 ×"],
            [
                "Jobsight",
                f"{ours * 1e6:.1f} µs",
                spread(found["grid"][0]["seconds"]),
                f"{plain / ours:,.0f} ×",
            ],
        ],
    )
    section.say("Time against examples × frames × jobs:")
    section.table(["examples", "m", "j", "ms", "ns per cell"], [_row(one) for one in found["grid"]])
    return section


def _row(one: dict[str, Any]) -> list[str]:
    seconds = median(one["seconds"])
    cells = one["n"] * one["m"] * one["j"]
    sizes = [f"{one[key]:,}" for key in ("n", "m", "j")]
    return [*sizes, f"{seconds * 1e3:.1f}", f"{seconds / cells * 1e9:.2f}"]
