"""Answers as of a moment, with and without a model."""

from typing import Any

import polars as pl
import pytest
from tests.support.failingjobs import HOUR, documents, model, ran, table
from tests.support.storedjobs import START, told

from jobsight.documents import JobDocument, State, merge
from jobsight.history.jobtable import JobTable
from jobsight.questions.fail.answering import LABEL, Answerer, by_cause

NOW = START + 400 * 300_000_000 + HOUR * 1_000_000
"""After `documents`."""
AGO = 400 * 300


def queue() -> list[JobDocument]:
    return [
        *(ran(f"4711_{task}", AGO, waits=True) for task in range(3)),
        ran(4712, AGO, user="bob", name="sim1", waits=True),
        ran(4713, AGO, None),
    ]


@pytest.fixture(scope="module")
def jobs() -> JobTable:
    return table([*documents(), *queue()])


def of(answerer: Answerer, name: str) -> dict[str, Any]:
    (found,) = answerer.answer(answerer.asked(pl.col("job") == name))
    return found.to_json()


def test_a_model_tells_likely_failures_from_others_and_what_helps(jobs: JobTable) -> None:
    answerer = Answerer(jobs, NOW, model())
    bad, good = of(answerer, "4711_1"), of(answerer, "4712")
    assert bad["probability"] > 0.6 > 0.3 > good["probability"]
    assert bad["kind"] == "out_of_memory" and bad["moment"] == "submission"
    low, high = bad["interval"]
    assert low <= bad["probability"] <= high
    assert bad["advice"]["option"] == "--mem=13696M"
    assert bad["with_advice"] < 0.4
    assert bad["core_hours_at_stake"] == pytest.approx(4 * bad["probability"])
    assert good["advice"] is None and good["with_advice"] is None
    assert of(answerer, "4713")["moment"] == "start"


@pytest.mark.parametrize("number", [200, 380])
def test_answers_follow_from_what_was_known_before_the_moment_alone(
    jobs: JobTable, number: int
) -> None:
    # The later moment is after the training: there the mixture goes on learning.
    moment = START + number * 300_000_000 + 10**6
    assert (model().answering.model.as_of < moment) == (number == 380)  # type: ignore[attr-defined]
    cut = table(documents(number + 5))
    open_ = pl.col("state").is_in([State.PENDING.value, State.RUNNING.value])
    script = {"owner": "ann", "name": "align.sh", "request_memory_mb": 8192}
    found = []
    for known in (jobs, cut):
        answerer = Answerer(known.as_of(moment), moment, model())
        rows = [answerer.asked(open_), answerer.unsubmitted(script)]
        found.append([one.to_json() for some in rows for one in answerer.answer(some)])
    assert found[0] == found[1]
    assert {one["moment"] for one in found[0]} == {"submission", "start"}


def test_without_a_model_the_rate_of_the_user_answers(jobs: JobTable) -> None:
    answerer = Answerer(jobs, NOW)
    ann, bob = of(answerer, "4711_0"), of(answerer, "4712")
    assert ann["model"] == bob["model"] == LABEL and ann["interval"] is None
    assert 0.7 < ann["probability"] < 0.95  # what 16 GB held was more than it asks for
    assert bob["probability"] < 0.2
    assert ann["kinds"] == {"out_of_memory": 1.0}


def test_without_a_model_the_runs_of_the_script_itself_count_most() -> None:
    runs = [ran(n, n * 300, name="good.sh") for n in range(20)]
    runs += [ran(n, n * 300, State.FAILED, name="bad.sh", code=1) for n in range(20, 38)]
    runs += [ran(n, n * 300, user="bob", name="x") for n in range(40, 50)]
    answerer = Answerer(table(runs), NOW)
    script = {"owner": "ann", "request_memory_mb": 8192, "scheduler": "slurm"}
    found = [
        answerer.answer(answerer.unsubmitted({**script, "name": name}))[0].probability
        for name in ("good.sh", "bad.sh", "new.sh")
    ]
    good, bad, new = (one or 0.0 for one in found)
    assert good < 0.15 and bad > 0.85 and new == pytest.approx(18 / 38, abs=0.06)


def test_a_group_as_large_as_the_wider_one_says_nothing_twice() -> None:
    runs = [ran(n, n * 300, State.FAILED if n % 4 == 0 else State.COMPLETED) for n in range(8)]
    answerer = Answerer(table(runs), NOW)
    (found,) = answerer.answer(answerer.unsubmitted({"owner": "ann", "name": "align.sh"}))
    assert found.probability == pytest.approx((2 + 2 * 0.5) / (8 + 2), abs=0.02)


def test_a_model_that_the_last_runs_refute_does_not_answer() -> None:
    made = [*documents(), *(ran(5000 + n, AGO + n, State.FAILED, user="bob", name="sim7", code=1)
                            for n in range(20))]  # fmt: skip
    trained = model()
    moment = trained.answering.model.as_of  # type: ignore[attr-defined]
    answerer = Answerer(table(made), moment, trained)  # it goes on learning from nothing later
    (found,) = answerer.answer(answerer.unsubmitted({"owner": "bob", "name": "sim9"}))
    assert (found.probability or 0.0) > 0.7 and found.model == LABEL and found.low is None
    assert found.evidence[-1]["text"].startswith(f"not counted: {trained.label} gives ")
    assert found.kind == State.FAILED.value


def test_a_job_that_no_run_is_like_gets_the_count_of_all() -> None:
    runs = [ran(n, n * 300, State.FAILED if n < 3 else State.COMPLETED) for n in range(12)]
    answerer = Answerer(table(runs), NOW)
    (found,) = answerer.answer(answerer.unsubmitted({"owner": "zoe", "request_memory_mb": 7}))
    assert found.probability == pytest.approx((3 + 1) / (12 + 2))
    assert found.evidence[0]["text"].startswith("of all 12 runs known 3 failed")


def test_where_nothing_has_ended_nothing_is_predicted() -> None:
    jobs = table([ran(1, 0, waits=True), ran(2, 5, None)])
    for trained in (None, model()):
        answerer = Answerer(jobs, START + 10**8, trained)
        found = answerer.answer(answerer.asked(pl.lit(True)))
        assert [one.probability for one in found] == [None, None]
        assert [one.evidence for one in found] == [[], []]


@pytest.mark.parametrize("trained", [False, True])
def test_a_job_that_can_never_start_has_no_probability(jobs: JobTable, trained: bool) -> None:
    waits = ran(4712, AGO, user="bob", name="sim1", waits=True)
    seen = [told(AGO + n, State.PENDING, source="squeue", reason=reason)
            for n, reason in enumerate(("Priority", "PartitionTimeLimit"))]  # fmt: skip
    refused = merge(waits, JobDocument(id=waits.id, updated=NOW, timeline=tuple(seen)))
    found = of(Answerer(table([*documents(), refused]), NOW, model() if trained else None), "4712")
    assert (found["probability"], found["kinds"], found["advice"]) == (None, {}, None)
    assert found["blocked"].startswith("its time limit is longer than its partition allows")
    assert found["evidence"]
    assert of(Answerer(jobs, NOW), "4712")["blocked"] is None


def test_answers_come_in_the_order_of_the_rows_whatever_their_moments(jobs: JobTable) -> None:
    answerer = Answerer(jobs, NOW, model())
    rows = answerer.asked(pl.col("state") != State.COMPLETED.value).filter(
        pl.col("job").str.starts_with("471")
    )
    shuffled = rows.sample(fraction=1.0, shuffle=True, seed=3)
    assert [one.job["job"] for one in answerer.answer(shuffled)] == shuffled["job"].to_list()


def test_tasks_of_one_array_are_one_row_and_the_dearest_comes_first(jobs: JobTable) -> None:
    answerer = Answerer(jobs, NOW, model())
    found = answerer.answer(answerer.asked(pl.col("state") == State.PENDING.value))
    groups = by_cause(found)
    assert [one.jobs for one in groups] == ["3 tasks of 4711", "4712"]
    assert groups[0].at_stake == pytest.approx(sum(one.at_stake or 0 for one in found[:3]))
    assert len(by_cause(found, each=True)) == 4


def test_jobs_submitted_one_by_one_share_a_row_if_they_ask_for_the_same() -> None:
    jobs = table([*documents(40), *(ran(9000 + n, AGO, waits=True) for n in range(3)),
                  ran(9009, AGO, waits=True, limit=60)])  # fmt: skip
    answerer = Answerer(jobs, NOW)
    groups = by_cause(answerer.answer(answerer.asked(pl.col("state") == State.PENDING.value)))
    assert [one.jobs for one in groups] == ["3 jobs", "9009"]
