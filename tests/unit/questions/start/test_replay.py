from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.support.storedjobs import START, job, told

from jobsight.documents import JobDocument, Request, State, Submission, slurm_id
from jobsight.history.jobtable import JobTable
from jobsight.history.past import Past
from jobsight.questions.start.replay import expected_waits


def queued(number: int, at: float, start: float | None, end: float | None) -> JobDocument:
    """A job of 4 CPUs and an hour, submitted, started and ended so many seconds after `START`."""
    steps = [(at, State.PENDING), (start, State.RUNNING), (end, State.COMPLETED)]
    events = [told(when, state) for when, state in steps if when is not None]
    asked = Request(cpus=4, time_limit_s=3600, partition="main")
    submission = Submission(user="ann", submitted=events[0].time)
    return job(slurm_id("grid", str(number)), *events, submission=submission, request=asked)


def history(jobs: int = 300, *, gap: int = 1) -> JobTable:
    """Jobs that start in order on a machine with room for four."""
    draw, free = np.random.default_rng(3), [0.0] * 4
    made: list[JobDocument] = []
    for number in range(jobs):
        at = number * 60.0 + draw.integers(0, 2) * 30
        start = max(at + 1, min(free))
        end = start + draw.integers(60, 420)
        free[free.index(min(free))] = end
        made.append(queued(1000 + number * gap, at, start, end))
    return JobTable.read(made)


def waits(jobs: JobTable, rows: pl.DataFrame) -> np.ndarray:
    moments = rows["seen"].to_physical().to_numpy()
    return expected_waits(jobs, Past.of(jobs), numbered(rows), moments, 0)


def numbered(rows: pl.DataFrame) -> pl.DataFrame:
    return rows if "row" in rows.columns else rows.with_row_index("row")


def test_nothing_that_is_known_later_changes_what_is_expected() -> None:
    jobs = history()
    found = waits(jobs, jobs.table)
    assert found.shape == (300, 3) and np.isnan(found[0]).all()
    assert (np.diff(found[1:], axis=1) >= 0).all()
    start = (jobs.table["start"] - jobs.table["seen"]).dt.total_seconds().to_numpy()
    assert np.corrcoef(found[50:, 1], np.log1p(start[50:]))[0, 1] > 0.5
    for row in (5, 100, 101, 299):
        own = jobs.table.with_row_index("row")[row : row + 1]
        moment = own["seen"].to_physical()[0]
        cut = waits(jobs.as_of(moment), own)
        assert cut.tobytes() == found[row].tobytes()
        # A job that is submitted later does not exist.
        assert waits(jobs.as_of(moment + 60_000_000), own).tobytes() == cut.tobytes()


def test_a_job_waits_longer_behind_others() -> None:
    jobs = [queued(1 + number, 0, 1, 601 + 60 * number) for number in range(4)]
    jobs += [queued(5 + number, 400, 861, None) for number in range(4)]  # all of the machine
    jobs += [queued(9 + number, 900 + number, None, None) for number in range(8)]
    known = JobTable.read(jobs)
    last = known.table.with_row_index("row")[-1:]
    now = np.array([START + 950_000_000])

    def expected(jobs: JobTable) -> Any:
        return np.expm1(expected_waits(jobs, Past.of(jobs), last, now, 0))[0].tolist()

    behind, alone = expected(known), expected(known.as_of(START + 900_000_000))
    assert 0 < alone[1] < behind[1] < 3600
    # It has its own place in the queue, whatever comes behind it.
    more = [*jobs, *(queued(30 + number, 920 + number, None, None) for number in range(8))]
    assert expected(JobTable.read(more)) == behind


@pytest.mark.parametrize("change", ["condor", "gaps"])
def test_what_is_expected_is_unknown_where_the_queue_is(change: str) -> None:
    jobs = history(40, gap=20 if change == "gaps" else 1)
    rows = jobs.table
    if change == "condor":
        rows = rows.with_columns(scheduler=pl.lit("htcondor"))
    assert np.isnan(waits(jobs, rows)[2:]).all()
