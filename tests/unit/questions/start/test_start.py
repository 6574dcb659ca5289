"""Jobs as decisions of `start`: waits, runtimes, bounds, moments, features as of a moment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from msgspec.structs import replace
from tests.support import failing
from tests.support.storedjobs import START as NOW
from tests.support.storedjobs import job, told

from jobsight.documents import JobDocument, Request, State, Submission
from jobsight.history.jobtable import JobTable
from jobsight.learning.audit.leaks import prove_as_of
from jobsight.learning.dataset import Dataset, censoring_weights
from jobsight.learning.evaluation import evaluate_all
from jobsight.learning.modeldir import ModelDir, by_target
from jobsight.learning.train import train
from jobsight.models.base import Labelled
from jobsight.questions.start.question import (
    MOMENTS,
    START,
    Encoding,
    StartSettings,
    at_moment,
    outcomes_of,
)

SECOND = 1_000_000
SETTINGS = StartSettings(bootstrap=100)
RUN = State.RUNNING


def ran(
    number: int | str, *changes: tuple[float, State], at: float = 0, **request: Any
) -> JobDocument:
    """A job submitted at `at` seconds, and its changes so many seconds later."""
    asked: dict[str, Any] = {"cpus": 4, "time_limit_s": 3600, "partition": "p"} | request
    events = [told(at, State.PENDING), *(told(at + then, state) for then, state in changes)]
    return job(
        f"slurm:c:{number}", *events,
        request=Request(**asked),
        submission=Submission(user="ann", submitted=NOW + int(at * SECOND)),
    )  # fmt: skip


def outcome(*documents: JobDocument) -> dict[str, Any]:
    """The row of the first job."""
    return outcomes_of(JobTable.read(documents)).row(0, named=True)


def test_a_wait_is_known_from_the_start_on_and_a_runtime_from_the_end() -> None:
    row = outcome(ran(1, (100, RUN), (700, State.FAILED)))
    assert (row["wait"], row["runtime"]) == (100, 600)
    assert row["known_at"] == NOW + 100 * SECOND
    assert row["known_at runtime"] == NOW + 700 * SECOND
    assert (row["censored"], row["censored runtime"], row["bound runtime"]) == (None, None, False)


def test_a_run_that_reached_its_limit_is_a_bound() -> None:
    row = outcome(ran(1, (100, RUN), (3700, State.TIMEOUT)))
    assert (row["runtime"], row["bound runtime"], row["censored runtime"]) == (
        3600,
        True,
        "timeout",
    )


@pytest.mark.parametrize("state", [State.CANCELLED, State.PREEMPTED, State.NODE_FAIL])
def test_a_run_that_others_ended_has_a_wait_and_no_runtime(state: State) -> None:
    row = outcome(ran(1, (100, RUN), (700, state)))
    assert (row["wait"], row["runtime"], row["censored runtime"]) == (100, None, state.value)


def test_a_job_that_never_started_waited_at_least_as_long_as_it_was_there() -> None:
    cancelled = outcome(ran(1, (50, State.CANCELLED)), ran(2, (90, RUN)))
    assert (cancelled["wait"], cancelled["censored"]) == (None, "cancelled")
    assert cancelled["waits_until"] == NOW + 50 * SECOND
    pending = outcome(ran(1), ran(2, (90, RUN)))
    assert (pending["censored"], pending["waits_until"]) == ("pending", NOW + 90 * SECOND)
    assert pending["censored runtime"] == "never_started"


def sighted(**facts: float) -> JobDocument:
    seen = told(40, State.PENDING, reason="Priority", attributes=json.dumps(facts))
    return job(
        "slurm:c:1", told(0, State.PENDING), seen, told(100, RUN),
        request=Request(cpus=1), submission=Submission(user="ann", submitted=NOW),
    )  # fmt: skip


def test_the_first_sighting_in_the_queue_is_the_decision() -> None:
    jobs = JobTable.read([sighted(Priority=7, StartEstimate=NOW / 1e6 + 100)])
    table = outcomes_of(jobs)
    assert table["wait"].to_list() == [60]
    encoding = Encoding.of(table)
    assert encoding.numbers == ("Priority",)
    assert Encoding.from_json(encoding.to_json()) == encoding
    _, inputs = START.builder(jobs, encoding, SETTINGS).build(table, "submission")
    found = dict(zip(inputs.names, inputs.features[0].tolist(), strict=True))
    assert found["queue: Priority"] == 7
    assert found["waited"] == pytest.approx(np.log1p(40))
    assert found["estimate"] == pytest.approx(np.log1p(60))
    assert (found["reason"], found["sighted"]) == (1, 0)


def test_a_job_that_waits_is_asked_at_an_age_that_its_wait_does_not_choose() -> None:
    jobs = [ran(k, (wait, RUN), at=k) for k in range(60) for wait in [60 if k % 2 else 9e5]]
    table = outcomes_of(JobTable.read(jobs))
    later = at_moment(table, "pending")
    ages = (later["decided"] - later["seen"].to_physical()).to_numpy()
    assert set(later["id"]) == {f"slurm:c:{k}" for k in range(0, 60, 2)}
    assert ages.min() >= 60 * SECOND and ages.max() <= 3 * 86_400 * SECOND
    assert later["wait"].to_list() == pytest.approx((9e5 - ages / SECOND).tolist())
    again = at_moment(outcomes_of(JobTable.read(jobs), seed=1), "pending")
    assert again["decided"].to_list() != later["decided"].to_list()


def test_a_job_knows_who_waits_ahead_of_it_and_since_when_it_may_start() -> None:
    tasks = [ran(f"7_{k}", *([(30, RUN)] if k == 1 else [])) for k in (1, 2, 9, 10)]
    tasks[2] = replace(tasks[2], timeline=(*tasks[2].timeline, told(40, word="ELIGIBLE")))
    jobs = JobTable.read(tasks)
    encoding = START.encoding(outcomes_of(jobs), SETTINGS)
    asked = outcomes_of(jobs).with_columns(decided=pl.lit(NOW + 100 * SECOND)).sort("row")
    found = START.builder(jobs, encoding, SETTINGS).ask(asked)
    shown = pl.DataFrame(found.features, schema=list(found.names)).tail(3)
    wanted: dict[str, Any] = {
        "user: ahead": np.log1p([0, 1, 2]),
        "user: work ahead": np.log1p([0, 4, 8]),
        "user: share ahead": [1 / 6, 3 / 6, 5 / 6],
        "eligible": np.log1p([np.nan, 60, np.nan]),
    }
    for name, values in wanted.items():
        assert shown[name].to_list() == pytest.approx([*values], abs=1e-5, nan_ok=True), name


def test_outcomes_known_late_stand_for_those_that_a_border_hides() -> None:
    decided = np.arange(10, dtype=np.int64)
    weights = censoring_weights(decided, decided + 4, 10)
    assert weights[0] == pytest.approx(10 / 7)  # 7 of 10 were decided 4 before the border
    assert (censoring_weights(decided, decided, 10) == 1).all()


def test_each_target_has_parts_by_when_its_own_outcomes_are_known() -> None:
    jobs = JobTable.read(
        ran(
            k,
            (5, RUN),
            (8000 + 4000 * (k % 2), State.TIMEOUT if k % 5 == 0 else State.COMPLETED),
            at=100 * k,
        )
        for k in range(400)
    )
    data = Dataset.for_training(START, jobs, SETTINGS)
    runtime = data.seen_by("runtime")
    assert data.part("train").sum() - runtime.part("train").sum() == 100
    every = np.ones(400, np.bool_)
    assert runtime.censored(every) == {"timeout": 80} and data.censored(every) == {}
    assert runtime.judged(every).sum() == 320 and data.judged(every).all()
    _, train = runtime.labelled(runtime.part("train"))
    assert isinstance(train, Labelled) and train.weight.max() > 1


def tables() -> dict[str, Any]:
    own = {name: lambda name=name: failing.sample(name) for name in (
        "sacct.psv", "graham.csv", "trace.swf", "condor-history.json")}  # fmt: skip
    return {**own, "made up": failing.table,
            "sighted": lambda: JobTable.read([sighted(Priority=2), ran(2, (50, RUN))])}  # fmt: skip


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("name", tables())
def test_features_rest_on_nothing_written_later(name: str, moment: str) -> None:
    jobs = tables()[name]()
    table = outcomes_of(jobs)
    rows = np.unique(np.linspace(0, len(table) - 1, min(len(table), 12)).astype(np.int64))
    proof = prove_as_of(START, jobs, table[rows], SETTINGS, Encoding.of(table), moment=moment)
    assert proof.checked or moment == "pending"
    assert proof.holds, proof.differences


def test_slices_name_sizes_and_partitions() -> None:
    table = outcomes_of(JobTable.read(ran(k, cpus=k, at=k) for k in (1, 32, 33)))
    labels = {name: table.select(x=one.label)["x"] for name, one in START.strata.items()}
    assert labels["size"].to_list() == ["one", "some", "many"]
    assert pl.Series(labels["partition"]).unique().to_list() == ["p"]


@pytest.mark.slow
def test_both_targets_are_learned_reported_and_opened_again(tmp_path: Path) -> None:
    jobs = failing.table(300)
    data = Dataset.for_training(START, jobs, StartSettings(bootstrap=100))
    names = ("constant", "last", "limit", "boosted", "mixture")
    trained = train(data, names=names)
    (tmp_path / "m").mkdir()
    trained.model.save(tmp_path / "m", seed=0, facts=trained.facts())
    model = ModelDir.open(tmp_path / "m", START)
    found = evaluate_all(model, jobs)
    report = by_target(START, {name: one.to_json() for name, one in found.items()})
    assert set(report["chosen"]) == {"wait", "runtime"}
    assert report["examples"] == len(found["wait"].table) > 20
    own = {"wait": "last", "runtime": "limit"}
    for target, baseline in own.items():
        scores = report[target]["models"]
        assert set(scores) == {"constant", baseline, "boosted", "mixture"}
        for one in scores.values():
            assert {"log10_mse", "within_2", "within_3", "pinball", "coverage_80"} <= set(one)
        assert scores["mixture"]["pinball"] < 1.1 * scores["constant"]["pinball"]
        before = trained.targets[target].evaluation.predictions["mixture"]
        assert np.allclose(before, found[target].predictions["mixture"])
