"""What a decision is told rests on nothing written after its cut."""

from typing import Any

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.histories import table
from tests.support.limits import examples

from jobsight.history.frames import FrameIndex, build_frames
from jobsight.history.labels import label_rows
from jobsight.history.timelines import SECOND, History
from jobsight.questions.hold.examples.decisions import held_jobs, hold_decisions
from jobsight.questions.hold.settings import HoldSettings
from jobsight.settings import STATE_EVENTS

M, J, FRAME = 5, 4, 1_500_000
KEY = ["log", "cluster", "proc"]

TURNS = (
    (0,),
    (0, 1, 12),
    (12, 28),
    (13,),
    (12, 13),
    (12, 13),
    (12, 22, 13, 1),
    (1, 5),
    (9,),
    (33,),
)

turns = st.tuples(
    st.integers(1, 5),  # cluster
    st.sampled_from(TURNS),
    st.lists(st.sampled_from([0.0, 0.0, 0.25, 1.0, 3.0]), min_size=4, max_size=4),  # steps
    st.sampled_from([1, 3, 13, 13, 13]),  # hold code
    st.sampled_from([None, "ann", "bob"]),
    st.sampled_from([None, "slot1@mwt2@h", "slot1@ucsd@h"]),
)


@st.composite
def histories(draw: st.DrawFn) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    for log in range(draw(st.integers(1, 2))):
        at = 0.0
        for cluster, codes, steps, hold, owner, slot in draw(
            st.lists(turns, min_size=4, max_size=20)
        ):
            for code, step in zip(codes, steps, strict=False):
                at += step
                row = {"log": log, "at": at, "cluster": cluster, "code": code}
                row |= {"owner": owner, "slot": slot}
                if code == 12:
                    row |= {"hold_code": hold, "hold_subcode": 2, "reason": f"why of {hold}"}
                rows.append(row)
    return table(rows)


def decided(history: History, as_of: str = "release") -> pl.DataFrame:
    return hold_decisions(
        history, HoldSettings.model_validate({"as_of": as_of}), label_rows(history)
    ).table


def frames_of(history: History, decisions: pl.DataFrame) -> tuple[Any, list[list[Any]]]:
    """Frames, and the keys of the jobs in them."""
    index = FrameIndex(history, label_rows(history), STATE_EVENTS)
    frames, jobs = build_frames(
        index, decisions, m=M, j=J, timeframe=FRAME, related_share=0.5, seed=3
    )
    keys = history.jobs.select(KEY).rows()
    return frames, [[keys[q] if q >= 0 else None for q in row] for row in jobs]


def before_cut(events_table: pl.DataFrame, history: History, row: dict[str, Any]) -> pl.DataFrame:
    own = pl.Series(history.log == row["log"])
    numbers = pl.Series(np.arange(len(history)))
    return events_table.filter(
        (own & (numbers < row["cut"])) | (~own & pl.Series(history.clock < row["time"]))
    )


def seen(history: History, row: dict[str, Any], number: int) -> bool:
    """The definition, said plainly."""
    if history.code[number] == 13 and history.clock[number] >= row["time"] // SECOND * SECOND:
        return False
    if history.log[number] == row["log"]:
        return bool(number < row["cut"])
    return bool(history.clock[number] < row["time"])


@given(histories(), st.sampled_from(["release", "hold"]))
@settings(max_examples=examples(60))
def test_frames_are_as_defined(events_table: pl.DataFrame, as_of: str) -> None:
    history = History.from_table(events_table)
    decisions = decided(history, as_of)
    frames, jobs = frames_of(history, decisions)
    keys = history.jobs.select(KEY).rows()
    for i, row in enumerate(decisions.iter_rows(named=True)):
        for s, key in enumerate(jobs[i]):
            rows = history.rows_of(keys.index(key)).tolist() if key else []
            for k in range(1, M + 1):
                moment = row["time"] - (M - k) * FRAME
                codes = [
                    int(history.code[n])
                    for n in rows
                    if seen(history, row, n)
                    and history.clock[n] <= moment
                    and history.code[n] in STATE_EVENTS
                ]
                value = STATE_EVENTS.index(codes[-1]) + 1 if codes else 0
                assert frames[i, k - 1, s] == value


@given(histories())
@settings(max_examples=examples(60))
def test_slices_are_the_held_job_and_as_many_coexisting_ones_as_there_are(
    events_table: pl.DataFrame,
) -> None:
    history = History.from_table(events_table)
    decisions = decided(history)
    _, jobs = frames_of(history, decisions)
    for row, drawn in zip(decisions.iter_rows(named=True), jobs, strict=True):
        since = row["time"] - M * FRAME
        coexisting = set()
        for q, key in enumerate(history.jobs.select(KEY).rows()):
            rows = history.rows_of(q)
            begun = [n for n in rows if history.code[n] != 13]
            if not begun:
                continue
            first = begun[0]
            own = history.log[first] == row["log"]
            visible = first < row["cut"] if own else history.clock[first] < row["time"]
            ended = any(history.code[n] in (5, 9) and history.clock[n] < since for n in rows)
            if visible and not ended:
                coexisting.add(key)
        named = [key for key in drawn if key]
        held = (row["log"], row["cluster"], row["proc"])
        assert named[0] == held
        assert len(set(named)) == len(named) == min(J, len(coexisting | {held}))
        assert set(named) <= coexisting | {held}


@given(histories(), st.sampled_from(["release", "hold"]))
@settings(max_examples=examples(60))
def test_frames_and_samples_do_not_change_when_the_future_is_cut_off(
    events_table: pl.DataFrame, as_of: str
) -> None:
    history = History.from_table(events_table)
    decisions = decided(history, as_of)
    frames, jobs = frames_of(history, decisions)
    for i, row in enumerate(decisions.iter_rows(named=True)):
        short = History.from_table(before_cut(events_table, history, row))
        moved = renumbered(short, history, row)
        again, same_jobs = frames_of(short, moved)
        assert same_jobs[0] == jobs[i]
        assert (again[0] == frames[i]).all()


@given(histories())
@settings(max_examples=examples(60))
def test_what_a_decision_is_told_does_not_change_when_the_future_is_cut_off(
    events_table: pl.DataFrame,
) -> None:
    told = ["access_point", "owner", "hold_time", "hold_code", "hold_subcode"]
    told += ["reason", "masked", "site"]
    history = History.from_table(events_table)
    for row in decided(history).iter_rows(named=True):
        short = History.from_table(before_cut(events_table, history, row))
        held = held_jobs(short, row["time"], label_rows(short))
        mine = held.filter(*(pl.col(name) == row[name] for name in KEY))
        assert mine.select(told).row(0, named=True) == {name: row[name] for name in told}


def renumbered(short: History, full: History, row: dict[str, Any]) -> pl.DataFrame:
    """The decision `row` of the full history, with the numbers it has in the short one."""
    job = short.jobs.select(KEY).rows().index((row["log"], row["cluster"], row["proc"]))
    shift = short.log_start[row["log"]] - full.log_start[row["log"]]
    moved = {"job": job, "log": row["log"], "hold_row": row["hold_row"] + shift}
    moved |= {"cut": row["cut"] + shift, "time": row["time"]}
    return pl.DataFrame([moved]).cast({"job": pl.Int32, "log": pl.Int32})
