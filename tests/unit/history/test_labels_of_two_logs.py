from typing import Any

import numpy as np
import polars as pl
from tests.support import histories, hold_models

from jobsight.history.labels import first_recorded, label_rows
from jobsight.history.timelines import History
from jobsight.questions.hold.examples.decisions import hold_decisions
from jobsight.questions.hold.examples.evidence import FAMILIES, gather_evidence
from jobsight.questions.hold.settings import HoldSettings

JOB = hold_models.released(10, 1, good=False)
OTHER = hold_models.released(50, 2, good=True)


def logs(*parts: list[dict[str, Any]]) -> History:
    rows = [row | {"log": number} for number, part in enumerate(parts) for row in part]
    return History.from_table(histories.table(rows))


def test_one_log_tells_each_job_once() -> None:
    assert first_recorded(logs(JOB + OTHER)).tolist() == [0, 1]


def test_a_job_of_two_logs_is_the_one_that_was_told_of_first() -> None:
    history = logs(JOB[2:], OTHER, JOB)  # the first log begins in the middle of the job
    told = first_recorded(history)
    mine = history.jobs["cluster"].to_numpy() == 1
    late, early = np.flatnonzero(mine)
    assert told[early] == told[late] == early
    assert history.jobs["log"][int(early)] == 2


def test_of_one_moment_the_lower_log_counts() -> None:
    assert first_recorded(logs(JOB, JOB)).tolist() == [0, 0]


def test_an_id_given_again_after_its_job_left_is_another_job() -> None:
    again = [row | {"at": row["at"] + 1000} for row in JOB]
    assert first_recorded(logs(JOB, again)).tolist() == [0, 1]


def test_without_an_access_point_logs_may_be_of_different_ones() -> None:
    nameless = [row | {"access_point": None} for row in JOB]
    assert first_recorded(logs(nameless, nameless)).tolist() == [0, 1]
    elsewhere = [row | {"access_point": "other"} for row in JOB]
    assert first_recorded(logs(JOB, elsewhere)).tolist() == [0, 1]


def test_two_logs_of_the_same_jobs_teach_and_count_as_one() -> None:
    settings = HoldSettings()
    once, twice = logs(JOB + OTHER), logs(JOB + OTHER, JOB + OTHER)
    one, two = (hold_decisions(of, settings, label_rows(of)) for of in (once, twice))
    same = ["cluster", "proc", "time", "outcome", "batch", "repeat", "weight"]
    assert two.table.select(same).equals(one.table.select(same))
    assert two.left_out == {"recorded in another log": len(one.table)}
    single, double = (
        gather_evidence(h, label_rows(h), found.table) for h, found in ((once, one), (twice, two))
    )
    for stream in ("held", "good", "bad", "left"):
        assert len(getattr(single, stream).rows) == len(getattr(double, stream).rows)
    assert len(double.holds) == 2 * len(single.holds)  # a live question may name either
    for family in FAMILIES:
        if family.startswith(("job", "cluster")):
            key = double.keys[family]
            assert len(np.unique(key)) == len(np.unique(single.keys[family]))
    assert pl.Series(two.table["log"]).unique().to_list() == [0]
