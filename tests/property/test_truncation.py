"""Examples rest on nothing written after their decision, whatever the logs."""

import json
import random
from typing import Any

import numpy as np
import polars as pl
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests.support.histories import table
from tests.support.limits import examples

from jobsight.history.labels import label_rows
from jobsight.history.timelines import History
from jobsight.learning.audit.leaks import prove_as_of
from jobsight.questions.hold.examples.builder import ExampleBuilder
from jobsight.questions.hold.examples.decisions import held_jobs, hold_decisions
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings, Scale

SCALE = Scale(
    time_scale=2.0, windows=(1.0, 4.0, 16.0), delays=(1.0, 2.0), timeframe_len=1.5, horizon=40.0
)
SETTINGS = HoldSettings.model_validate({"frames": {"m": 4, "j": 3}})

STEPS = (0.0, 0.0, 0.25, 1.0, 3.0, 40.0)
"""Seconds between events: many of them share a second."""

LONG_STEP = 9 * 86_400.0
FUTURE = 30_000 * 86_400.0
"""A log that rests, and one with a record of the far future: its clock must not go with it."""

HOSTS = ("<1.2.3.4:9618?sock=a_1>", "<1.2.3.4:9618?sock=slot1_1_b_77>", None)
SLOTS = ("slot1@mwt2@h", "slot1@ucsd@h", "slot1@h", None)
GOES_ON = (0, 1, 1, 4, 4, 5, 6, 9, 12, 12, 12, 12, 13, 21, 28, 40, 40)
HELD = (13, 13, 13, 13, 13, 12, 9, 28, 6, 1)
VACATED = (1, 12, 12, 28, 40, 40, 40, 4, 6, 9, 13)
VACATES = ((13, 2), (13, -1004), (13, 2816), (26, 2), (1, 0), (1004, 0), (1007, 0), (None, None))


def event(rng: random.Random, before: int | None) -> dict[str, Any]:
    """One record of a job, likely to release it where it is held."""
    after = {None: (0, 0, 1, 12, 13), 12: HELD, 4: VACATED}
    code = rng.choice(after.get(before, GOES_ON))
    row: dict[str, Any] = {"code": code, "owner": rng.choice([None, "ann", "bob"])}
    number = rng.randrange(100)
    if code != 28:
        row["attributes"] = json.dumps({"RequestMemory": 64 + number})
    if code == 1:
        row |= {"slot": rng.choice(SLOTS), "host": rng.choice(HOSTS)}
    if code == 12:
        url = rng.choice(["a://o1/f", "a://o2/f", "none"])
        reason = f"failure at execution point {rng.choice(SLOTS)}: {url} timed out"
        row |= {"hold_code": rng.choice([1, 3, 13, 13, 26]), "hold_subcode": 2, "reason": reason}
    if code == 4:
        vacate, subcode = rng.choice(VACATES)
        reason = f"Transfer input files failure at execution point {rng.choice(SLOTS)}: a://o1/f"
        row |= {"vacate_code": vacate, "vacate_subcode": subcode, "reason": reason}
    if code == 5:
        row["return_value"] = number % 2
    if code == 6:
        row["memory_mb"] = number
    if code == 40:
        row["detail"] = 1 + number % 5
    return row


def logs(seed: int, sizes: list[int]) -> pl.DataFrame:
    """Logs in which jobs of three clusters are held, released and vacated over and over."""
    rng = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for log, size in enumerate(sizes):
        at = 0.0
        last: dict[tuple[int, int], int] = {}
        for _ in range(size):
            at += rng.choice(STEPS) if rng.random() < 0.97 else LONG_STEP
            job = (rng.randint(1, 3), rng.randint(0, 1))
            row = event(rng, last.get(job))
            known = (0, 1, 4, 5, 9, 12, 13)
            last[job] = row["code"] if row["code"] in known else last.get(job, -1)
            odd = FUTURE if row["code"] == 6 and rng.random() < 0.3 else 0.0
            rows.append({"log": log, "at": at + odd, "cluster": job[0], "proc": job[1], **row})
    return table(rows)


def histories() -> st.SearchStrategy[pl.DataFrame]:
    sizes = st.lists(st.integers(1, 60), min_size=1, max_size=3)
    return st.builds(logs, st.integers(0, 2**32), sizes)


@given(histories(), st.sampled_from([0.0, 0.0, 1.0, 2.5]), st.sampled_from(["release", "hold"]))
@example(logs(4634, [22]), 0.0, "hold")  # a hidden release right before a rest of many days
@settings(max_examples=examples(25))
def test_examples_do_not_change_when_the_future_is_cut_off(
    events_table: pl.DataFrame, delay: float, as_of: str
) -> None:
    history = History.from_table(events_table)
    jobs = history.jobs.filter(pl.col("first_row") < len(history))
    at = pl.Series(history.clock[jobs["first_row"].to_numpy()])
    begun = jobs.select("access_point", "cluster", "proc", at=at)
    # A decision of the very moment at which two logs begin a job sees but one of them.
    assume(not begun.is_duplicated().any())
    chosen = SETTINGS.model_copy(update={"as_of": as_of})
    decisions = hold_decisions(history, chosen, label_rows(history)).table
    proof = prove_as_of(HOLD, history, decisions, chosen, SCALE, moment=str(delay))
    assert proof.holds, proof.differences


@given(histories())
@settings(max_examples=examples(15))
def test_a_live_question_is_told_what_training_is_told(events_table: pl.DataFrame) -> None:
    """With the log ending before a release, asking then gives the features of that release."""
    history = History.from_table(events_table)
    if history.logs > 1:
        events_table = events_table.filter(pl.col("log") == 0)
        history = History.from_table(events_table)
    decisions = hold_decisions(history, SETTINGS, label_rows(history)).table
    inputs = ExampleBuilder.of(history, SETTINGS, SCALE, frames=False).build(decisions, "0.0")[1]
    for number, row in enumerate(decisions.iter_rows(named=True)):
        # Other releases of the same second, which only the live question sees, are left out.
        second = row["time"] - row["time"] % 1_000_000
        past = np.arange(len(history)) < row["cut"]
        hidden = (history.code == 13) & (history.clock >= second)
        if (past & hidden).any():
            continue
        short = History.from_table(events_table.filter(past))
        held = held_jobs(short, row["time"], label_rows(short))
        mine = held.filter(pl.col("cluster") == row["cluster"], pl.col("proc") == row["proc"])
        mine = mine.with_columns(time=pl.lit(row["time"], pl.Int64))
        live = ExampleBuilder.of(short, SETTINGS, SCALE, frames=False).inputs(mine)
        assert live.features.tobytes() == inputs.features[number].tobytes()
        assert {k: v[0] for k, v in live.facts.items()} == {
            k: v[number] for k, v in inputs.facts.items()
        }
