"""Jobs as decisions of `fail`: outcomes, what is drawn together, features as of a moment."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.support import failing
from tests.support.storedjobs import START, job, told

from jobsight.documents import JobDocument, Request, State, Submission, Usage
from jobsight.history.events import read_events
from jobsight.history.jobsasked import KeysUsed, jobs_asked
from jobsight.history.jobtable import JobTable
from jobsight.history.timelines import History
from jobsight.learning.audit.leaks import prove_as_of
from jobsight.learning.dataset import drawn_together
from jobsight.program.preflight.check import Checker
from jobsight.program.preflight.reports import Report
from jobsight.questions.fail.question import (
    FAIL,
    FINDINGS,
    KINDS,
    MOMENTS,
    FailSettings,
    findings_of,
    outcomes_of,
)

SHARED = Path(__file__).parents[4] / "../shared/data/slurm"
SETTINGS = FailSettings()
DAY = 86_400


def ran(
    number: int, *states: State, at: float = 0, user: str | None = "ann", **request: Any
) -> JobDocument:
    """A job submitted at `at` seconds, and in another state each 100 s."""
    events = [told(at, State.PENDING)]
    events += [
        told(at + 100 * (k + 1), state, host=f"n{k}" if state is State.RUNNING else None)
        for k, state in enumerate(states)
    ]
    return job(
        f"slurm:c:{number}", *events, request=Request(**({"cpus": 4} | request)),
        submission=Submission(user=user, submitted=START + int(at * 1_000_000)),
    )  # fmt: skip


def outcomes(*documents: JobDocument, **settings: Any) -> pl.DataFrame:
    return outcomes_of(JobTable.read(documents), FailSettings.model_validate(settings))


@pytest.mark.parametrize("state", [one for one in State if one.ended])
def test_each_end_is_a_success_a_failure_or_censored(state: State) -> None:
    row = outcomes(ran(1, State.RUNNING, state)).row(0, named=True)
    failed, known = state.value in KINDS, state.value in (*KINDS, "completed")
    assert row["fails"] is (failed if known else None)
    assert row["kinds"] == (state.value if failed else None)
    assert row["known_at"] == (START + 200_000_000 if known else None)
    assert row["censored"] == (None if known else state.value)


@pytest.mark.parametrize("states", [(), (State.RUNNING,), (State.RUNNING, State.SUSPENDED)])
def test_a_job_that_has_not_ended_has_no_outcome(states: tuple[State, ...]) -> None:
    row = outcomes(ran(1, *states)).row(0, named=True)
    assert (row["fails"], row["known_at"], row["censored"]) == (None, None, "not_ended")
    assert row["core_hours"] is None


def test_cancelling_can_be_a_failure_without_a_kind() -> None:
    row = outcomes(ran(1, State.RUNNING, State.CANCELLED), cancelled="failure").row(0, named=True)
    assert (row["fails"], row["kinds"], row["censored"]) == (True, None, None)


@pytest.mark.parametrize(("peak", "kind"), [(1500, "out_of_memory"), (890, "failed")])
def test_a_job_killed_over_its_memory_ran_out_of_it(peak: int, kind: str) -> None:
    killed = job(
        "slurm:c:1", told(0, State.PENDING), told(10, State.RUNNING),
        told(20, State.FAILED, return_value=0, signal=9),
        request=Request(memory_mb=1000), usage=Usage(memory_mb=peak),
    )  # fmt: skip
    assert outcomes(killed)["kinds"].to_list() == [kind]


def held(number: int, *states: State, code: int, reason: str = "why") -> JobDocument:
    """An HTCondor job in another state each 100 s; all holds with the same code."""
    words = {"hold_code": code, "hold_subcode": 0, "reason": reason}
    events = [
        told(100 * k, state, code=12 if state is State.HELD else None,
             **(words if state is State.HELD else {}))
        for k, state in enumerate((State.PENDING, *states))
    ]  # fmt: skip
    return job(f"htcondor:ap:{number}.0", *events)


WAIT, RUN, HOLD, DONE = State.PENDING, State.RUNNING, State.HELD, State.COMPLETED


@pytest.mark.parametrize(
    ("states", "code", "known_at"),
    [
        ((RUN, HOLD), 13, 200),
        ((HOLD, WAIT, RUN, DONE), 13, 100),  # before it ran, as its input was missing
        ((RUN, HOLD, WAIT, RUN, DONE), 34, 200),
        ((RUN, WAIT, RUN, HOLD, WAIT, RUN, DONE), 13, None),  # its first start went well
        ((RUN, HOLD, WAIT, RUN, DONE), 1, None),
        ((RUN, HOLD, WAIT, RUN, DONE), 15, None),
        ((RUN, HOLD, WAIT, RUN, DONE), 16, None),
        ((RUN, HOLD, WAIT, RUN, DONE), 1000, None),
        ((RUN, HOLD, WAIT, RUN, DONE), -2, None),
        ((RUN, HOLD, WAIT, RUN, DONE), 0, None),
    ],
)
def test_a_hold_at_the_first_start_is_a_failure(
    states: tuple[State, ...], code: int, known_at: float | None
) -> None:
    row = outcomes(held(1, *states, code=code)).row(0, named=True)
    end = 100 * len(states)
    assert row["fails"] is (known_at is not None)
    assert row["kinds"] == (None if known_at is None else "held")
    assert row["known_at"] == START + int((known_at or end) * 1_000_000)


def test_a_job_that_was_held_before_it_ran_is_not_asked_about_at_its_start() -> None:
    jobs = JobTable.read(
        [held(1, HOLD, WAIT, RUN, DONE, code=13), held(2, RUN, HOLD, WAIT, RUN, DONE, code=13)]
    )
    builder = FAIL.builder(jobs, KeysUsed(("all", "user")), SETTINGS)
    for moment, asked in (("submission", ["1.0", "2.0"]), ("start", ["2.0"])):
        rows, inputs = builder.build(outcomes_of(jobs, SETTINGS), moment)
        assert rows["job"].to_list() == asked and len(inputs) == len(asked)


def test_jobs_of_a_pool_with_a_fault_of_their_own_never_count_as_sound() -> None:
    folder = SHARED.parent / "htcondor"
    if not folder.exists():
        pytest.skip("the shared pool is not here")
    history = History.from_table(read_events([str(folder / "pool-a.log.gz")]).table)
    table = outcomes_of(JobTable.read(history=history), SETTINGS)
    with gzip.open(folder / "pool-a.truth.jsonl.gz", "rt") as lines:
        planted = [one for one in map(json.loads, lines) if "cause" in one]
    causes = {one["job"]: one["cause"] for one in planted}
    found = table.with_columns(cause=pl.col("job").replace_strict(causes, default=None))
    faulty = pl.col("cause").is_in(["none", "flaky", "flaky_output"]).not_()
    assert found.filter(faulty, "fails").height > 450
    assert found.filter(faulty, ~pl.col("fails")).height == 0
    sound = found.filter(pl.col("cause") == "none").drop_nulls("fails")
    assert sound.select(pl.col("fails").mean() < 0.15).item()  # outages hold them too


def test_a_user_s_jobs_of_a_day_are_drawn_together() -> None:
    table = outcomes(
        ran(1, user="ann"), ran(2, user="ann", at=10), ran(3, user="bob", at=20),
        ran(4, user="ann", at=DAY), ran(5, user=None, at=30), ran(6, user=None, at=40),
    ).sort("id")  # fmt: skip
    one, two, bob, later, *unknown = drawn_together(table).tolist()
    assert one == two and len({one, bob, later, *unknown}) == 4
    assert table["batch"].n_unique() == 6  # each job counts
    assert table["earlier"].to_list() == [0, 1, 0, 2, None, None]


def test_core_hours_are_those_from_the_first_start_to_the_end() -> None:
    again = (State.RUNNING, State.PENDING, State.RUNNING, State.FAILED)
    table = outcomes(ran(1, *again), ran(2, State.CANCELLED), ran(3, *again, cpus=None)).sort("id")
    assert table["core_hours"].to_list() == [pytest.approx(4 * 300 / 3600), None, None]


def test_slices_name_new_users_arrays_and_limits() -> None:
    limits = [(None, None), (-1, "without limit"), (3600, "up to an hour"),
              (3601, "over an hour"), (DAY + 1, "over a day")]  # fmt: skip
    table = outcomes(
        *(ran(k, at=k, time_limit_s=limit) for k, (limit, _) in enumerate([*limits, (None, None)]))
    )
    labels = {name: table.select(x=one.label)["x"].to_list() for name, one in FAIL.strata.items()}
    assert labels["length"][:5] == [word for _, word in limits]
    assert labels["experience"] == ["new"] * 5 + ["known"]
    assert set(failing.table().table.select(x=FAIL.strata["array"].label)["x"]) == {True, False}


def test_keys_that_say_nothing_new_are_dropped() -> None:
    table = outcomes(*(ran(k, at=k, user=f"u{k % 3}", account=f"a{k % 3}") for k in range(12)))
    used = KeysUsed.of(table).keys
    assert {"all", "user", "request"} <= set(used)
    assert "account" not in used  # each user has one
    assert not set(used) & {"pattern", "script", "user and script", "partition"}  # none is known
    assert KeysUsed.from_json(KeysUsed.of(table).to_json()).keys == used
    with pytest.raises(ValueError, match="not known"):
        KeysUsed.from_json({"keys": ["phase of the moon"]})
    two = outcomes(*(ran(k, at=k, user=f"u{k % 3}", account=f"a{k % 2}") for k in range(12)))
    assert "account" in KeysUsed.of(two).keys


def test_at_the_start_there_are_the_jobs_that_started() -> None:
    jobs = JobTable.read([ran(1, State.RUNNING, State.FAILED), ran(2), ran(3, State.CANCELLED)])
    builder = FAIL.builder(jobs, KeysUsed(("all", "user")), SETTINGS)
    rows, inputs = builder.build(outcomes_of(jobs, SETTINGS), "start")
    assert rows["job"].to_list() == ["1"] and len(inputs) == 1
    assert rows["decided"].to_list() == [START + 100_000_000]
    waited = inputs.features[0, inputs.names.index("waited")]
    assert waited == pytest.approx(np.log1p(100))
    first, before = builder.build(outcomes_of(jobs, SETTINGS), "submission")
    assert len(first) == 3 and np.isnan(before.features[:, inputs.names.index("waited")]).all()


def test_rows_keep_their_order() -> None:
    jobs = failing.table()
    table = outcomes_of(jobs, SETTINGS)
    builder = FAIL.builder(jobs, KeysUsed(("all", "user", "node")), SETTINGS)
    for moment in MOMENTS:
        rows, inputs = builder.build(table, moment)
        backwards, reverse = builder.build(table.reverse(), moment)
        assert backwards["id"].to_list() == rows["id"].to_list()[::-1]
        assert np.array_equal(inputs.features[::-1], reverse.features, equal_nan=True)


def test_a_job_that_runs_again_starts_on_its_first_node() -> None:
    again = ran(1, State.RUNNING, State.PENDING, State.RUNNING, State.FAILED)
    assert jobs_asked(JobTable.read([again, ran(2)])).sort("id")["host"].to_list() == ["n0", None]


def tables() -> dict[str, Any]:
    own = {name: lambda name=name: failing.sample(name) for name in (
        "sacct.psv", "eagle.csv", "graham.csv", "trace.swf", "condor-history.json")}  # fmt: skip
    again = (State.RUNNING, State.PENDING, State.RUNNING, State.FAILED)
    requeued = [ran(k, *again, at=50 * k, user=f"u{k % 2}") for k in range(8)]
    return {**own, "requeued": lambda: JobTable.read(requeued), "made up": failing.table,
            "eagle": lambda: shared("eagle-sample.csv"),
            "slurm-a": lambda: shared("slurm-a.sacct.psv.gz")}  # fmt: skip


def shared(name: str) -> JobTable:
    if not (SHARED / name).exists():
        pytest.skip("the shared traces are not here")
    return failing.jobs_of(SHARED / name)


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("name", tables())
def test_features_rest_on_nothing_written_later(name: str, moment: str) -> None:
    jobs = tables()[name]()
    table = outcomes_of(jobs, SETTINGS)
    rows = np.unique(np.linspace(0, len(table) - 1, min(len(table), 12)).astype(np.int64))
    proof = prove_as_of(FAIL, jobs, table[rows], SETTINGS, KeysUsed.of(table), moment=moment)
    assert proof.checked or moment == "start"
    assert proof.holds, proof.differences


HEAD = "#!/bin/bash\n#SBATCH --mem=1G --time=10\n"
BROKEN = f"{HEAD}for x in 1 2; do\n  sort $x\n"
LATE = f"{HEAD}echo\n#SBATCH --mem=4G\n"


def document(number: int, script: str | None) -> JobDocument:
    asked = Submission(user="ann", submitted=told(number).time, script=script)
    return job(f"slurm:c:{number}", told(number, State.PENDING), submission=asked)


def test_each_text_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    sent = Checker.sent

    def counted(self: Checker, name: str, text: str) -> Report:
        checked.append(text)
        return sent(self, name, text)

    monkeypatch.setattr(Checker, "sent", counted)
    texts = [BROKEN, None, "#!/bin/bash\n\0", LATE, BROKEN, HEAD + "true\n"]
    for _ in range(2):
        found = findings_of(pl.Series(texts, dtype=pl.Categorical))
    shown = [dict(zip(FINDINGS, map(float, row), strict=True)) for row in found]
    assert shown[0] == shown[4] == dict.fromkeys(FINDINGS, 0.0) | {
        "findings: errors": 1, "findings: syntax": 1,
    }  # fmt: skip
    assert np.isnan(found[[1, 2]]).all() and not found[5].any()
    assert (shown[3]["findings: errors"], shown[3]["findings: requests"]) == (1, 1)
    assert len(checked) == 4


def test_they_are_features_where_scripts_are_known() -> None:
    jobs = JobTable.read(document(k, text) for k, text in enumerate([BROKEN, "x" * 70_000, None]))
    rows = outcomes_of(jobs, FailSettings())
    encoding = KeysUsed.of(rows)
    assert KeysUsed.from_json(encoding.to_json()) == encoding
    _, inputs = FAIL.builder(jobs, encoding, FailSettings()).build(rows, "submission")
    assert inputs.names[-len(FINDINGS) :] == FINDINGS
    assert inputs.features[0, -len(FINDINGS)] == 1
    assert np.isnan(inputs.features[1:, -len(FINDINGS) :]).all()
    without = JobTable.read([document(1, None)])
    encoding = KeysUsed.of(outcomes_of(without, FailSettings()))
    assert not set(FINDINGS) & set(FAIL.builder(without, encoding, FailSettings()).names)
