"""Examples are the same when the log itself ends, byte for byte, where the decision stands."""

import random
import tempfile
from pathlib import Path

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.logtext import EXECUTE, HELD, RELEASED, SUBMIT, information, record

from jobsight.history.events import read_events
from jobsight.history.labels import label_rows
from jobsight.history.timelines import History
from jobsight.questions.hold.examples.builder import ExampleBuilder
from jobsight.questions.hold.examples.decisions import held_jobs, hold_decisions
from jobsight.questions.hold.settings import HoldSettings, Scale

SCALE = Scale(
    time_scale=2.0, windows=(1.0, 4.0, 16.0), delays=(1.0, 2.0), timeframe_len=1.5, horizon=40.0
)
BODIES = {0: SUBMIT, 1: EXECUTE, 12: HELD, 13: RELEASED}


def interleaved(seed: int) -> bytes:
    """A log that three jobs' writers append to; many an 028 stands behind records of others."""
    rng = random.Random(seed)
    queues = [[0, *(1, 12, 13) * 2] for _ in range(3)]
    late: list[bytes] = []
    parts: list[bytes] = []
    second = 0
    while any(queues):
        second += 1  # no two releases of one second, so that nothing but the cut hides a record
        job = rng.choice([k for k, queue in enumerate(queues) if queue])
        code = queues[job].pop(0)
        name, date = f"{job + 1:03d}.000.000", f"2026-01-02 03:{second // 60:02d}:{second % 60:02d}"
        extra = f'Owner = "u{job}"\nRequestMemory = {64 * second}\n'
        parts += [record(code, BODIES[code], name, date), *late]
        ad = information(code, name, date, extra)
        late = [ad] if rng.random() < 0.5 else []
        parts += [] if late else [ad]
    return b"".join([*parts, *late])


def history_of(path: Path, data: bytes) -> History:
    path.write_bytes(data)
    return History.from_table(read_events([str(path)], timezone="UTC").table)


@given(st.integers(0, 2**32))
@settings(max_examples=3, deadline=None)
def test_what_is_written_later_tells_nothing(seed: int) -> None:
    chosen = HoldSettings.model_validate({"frames": {"m": 4, "j": 3}})
    with tempfile.TemporaryDirectory() as folder:
        path, data = Path(folder, "log"), interleaved(seed)
        history = history_of(path, data)
        decisions = hold_decisions(history, chosen, label_rows(history)).table
        inputs = ExampleBuilder.of(history, chosen, SCALE, frames=False).build(decisions, "0.0")[1]
        for number, row in enumerate(decisions.iter_rows(named=True)):
            short = history_of(path, data[: history.table["offset"][row["row"]]])
            mine = held_jobs(short, row["time"], label_rows(short)).filter(
                pl.col("cluster") == row["cluster"]
            )
            mine = mine.with_columns(time=pl.lit(row["time"], pl.Int64))
            again = ExampleBuilder.of(short, chosen, SCALE, frames=False).inputs(mine)
            assert again.features.tobytes() == inputs.features[number].tobytes()
            assert {k: v[0] for k, v in again.causes.items()} == {
                k: v[number] for k, v in inputs.causes.items()
            }
