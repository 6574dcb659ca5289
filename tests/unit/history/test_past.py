"""What was known of earlier jobs: worked examples, a plain reference, truncated tables."""

from __future__ import annotations

from math import isnan, log, log1p
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.support.importing import SAMPLES, imported
from tests.support.storedjobs import START, job, told
from tests.unit.history.pastreference import lives, queue_reference, reference

from jobsight.documents import Event, JobDocument, Request, State, Submission, Usage
from jobsight.history.importers import Options
from jobsight.history.jobtable import JobTable
from jobsight.history.past import COLUMNS, FAILURES, KEYS, QUEUE, SIZE, Past, asked_columns

SECOND = 1_000_000
SHARED = Path(__file__).parents[3] / "../shared/data/slurm"
TIMES = [
    -(10**14),
    -5,
    0,
    1,
    SECOND,
    7 * SECOND,
    3_600 * SECOND,
    86_400 * SECOND,
    10**15,
    4 * 10**15,
]
MOMENTS = st.sampled_from(TIMES)
ASKED = st.sampled_from([*TIMES, 10_000 * SECOND, 20_000 * SECOND])


# What the columns mean.


def ran(
    number: int, submit: float, *changes: tuple[float, State], host: str = "n1", **sections: Any
) -> JobDocument:
    """A Slurm job with changes at seconds after the start."""
    told_ = [told(submit, State.PENDING)]
    told_ += [
        told(at, state, host=host if state is State.RUNNING else None) for at, state in changes
    ]
    submission = {"user": "ann", "name": "fit 1", "directory": "/home/ann"} | sections.pop("of", {})
    return job(
        f"slurm:c:{number}", *told_,
        submission=Submission(submitted=START + int(submit * SECOND), **submission),
        request=Request(**{"cpus": 1, "memory_mb": 1000, "time_limit_s": 3600} | sections),
    )  # fmt: skip


def known(
    documents: list[JobDocument], at: float, key: str, asked: int = -1, started: bool = False
) -> dict[str, float]:
    """The columns of the last job, or another one."""
    jobs = JobTable.read(documents)
    moment = [START + int(at * SECOND)]
    found = built(jobs, jobs.table[[asked]], moment, [started])[key]
    return dict(zip(COLUMNS, found[0].tolist(), strict=True))


RUN, FAIL, DONE = State.RUNNING, State.FAILED, State.COMPLETED


def test_a_failure_counts_after_the_moment_at_which_it_is_known() -> None:
    jobs = [ran(1, 0, (10, RUN), (100, FAIL)), ran(2, 5)]
    before, after = known(jobs, 100, "user"), known(jobs, 100.000001, "user")
    assert (before["outcomes"], before["rate"]) == (0, 0.5)
    assert before["running"] == pytest.approx(log(2))
    average = (1 + 2 * 0.5) / (1 + 2)
    assert after["outcomes"] == pytest.approx(log(2))
    assert after["rate"] == pytest.approx((1 + 2 * average) / (1 + 2))
    assert (after["last"], after["running"]) == (1, 0)
    assert after["runtime"] == pytest.approx(log1p(90))
    assert after["limit against runtime"] == pytest.approx(log(3600 / 91))
    assert after["share of limit"] == pytest.approx(90 / 3600)
    assert isnan(before["last"]) and isnan(before["runtime"])


def test_a_requeued_job_has_two_ends_each_on_its_node() -> None:
    document = ran(1, 0, (10, RUN), (50, State.NODE_FAIL), (55, State.PENDING))
    again = [told(70, RUN, host="n2"), told(99, DONE)]
    document = msgspec.structs.replace(document, timeline=(*document.timeline, *again))
    jobs = [document, ran(2, 1, (60, RUN), host="n1"), ran(3, 2, (65, RUN), host="n2")]
    bad, good = (known(jobs, 100, "node", asked, started=True) for asked in (1, 2))
    assert (bad["last"], bad["node failures"], bad["runtime"]) == pytest.approx((1, 1, log1p(40)))
    assert (good["last"], good["node failures"]) == (0, 0)
    assert good["runtime"] == pytest.approx(log1p(29))
    assert bad["running"] == pytest.approx(log1p(1)) and isnan(bad["pending"])
    user = known(jobs, 100, "user", 1)
    assert (user["outcomes"], user["streak"]) == pytest.approx((log1p(2), -log1p(1)))
    assert all(isnan(one) for one in known(jobs, 100, "node", 1, started=False).values())
    assert jobs[0].submission.user == "ann"
    assert JobTable.read(jobs).starts["host"].to_list() == ["n1", "n1", "n2"]


def test_a_job_submitted_again_is_compared_with_its_earlier_tries() -> None:
    tries = [ran(number, number * 10, (number * 10 + 1, RUN), (number * 10 + 5, FAIL))
             for number in range(3)]  # fmt: skip
    again = known([*tries, ran(9, 50)], 60, "same again")
    assert (again["last"], again["streak"]) == pytest.approx((1, log1p(3)))
    assert again["since failure"] == pytest.approx(log1p(60 - 25))
    more_memory = known([*tries, ran(9, 50, memory_mb=4000)], 60, "same again")
    assert more_memory["outcomes"] == 0
    elsewhere = known([*tries, ran(9, 50, partition="gpu")], 60, "user and request")
    assert elsewhere["outcomes"] == 0
    by_name = known([*tries, ran(9, 50, memory_mb=4000)], 60, "user and name")
    assert by_name["memory against last"] == pytest.approx(log(4))


def test_what_is_not_known_is_compared_with_nothing() -> None:
    jobs = [ran(1, 0, (1, RUN), (9, DONE)), ran(2, 10, of={"user": None, "name": None})]
    assert all(isnan(one) for key in ("user", "user and name", "pattern", "same again", "partition")
               for one in known(jobs, 20, key).values())  # fmt: skip
    assert known(jobs, 20, "request")["outcomes"] == pytest.approx(log(2))  # null GPUs are equal


def test_a_job_that_is_not_in_the_table_may_have_columns_without_type() -> None:
    jobs = JobTable.read([ran(1, 0, (1, RUN), (9, FAIL))])
    asked = dict.fromkeys(["id", *asked_columns()]) | {"owner": "ann", "request_cpus": 1}
    found = built(jobs, pl.DataFrame([asked]), [START + 20 * SECOND], [False])
    assert found["user"][0, COLUMNS.index("last")] == 1
    assert list(found)[: len(KEYS)] == [*KEYS] and found["node"].dtype == np.float32
    none = built(JobTable.read(), pl.DataFrame([asked]), [0], [False])
    assert not none["user"][0, COLUMNS.index("outcomes")]


def test_keys_come_one_by_one_the_same_as_together() -> None:
    jobs = JobTable.read([ran(1, 0, (1, RUN), (9, FAIL)), ran(2, 3)])
    moments, started = np.full(2, START + 10 * SECOND), np.zeros(2, bool)
    past, keys = Past.of(jobs), ["user", "all", "script", "partition"]
    found = past.build(jobs.table, moments, started, keys)
    each = list(past.each(jobs.table, moments, started, keys))
    assert list(found) == keys and [name for name, _ in each] == [
        "all",
        "user",
        "script",
        "partition",
    ]
    assert all(found[name].tobytes() == one.tobytes() for name, one in each)


# Random small tables.

events = st.builds(
    Event,
    time=MOMENTS,
    source=st.just("sacct"),
    undated=st.sampled_from([False] * 5 + [True]),
    state=st.sampled_from([*State, State.PENDING, State.RUNNING, State.RUNNING, State.COMPLETED]),
    code=st.sampled_from([None, None, 5, 9]),
    host=st.sampled_from([None, "n1", "n2"]),
    hold_code=st.sampled_from([None, 1, 13]),
)
sizes = st.sampled_from([None, None, -1, 0, 1, 3, 2**40])
names = st.sampled_from([None, "", "fit 1", "fit 22", "x"])
documents = st.builds(
    JobDocument,
    id=st.just(""),
    updated=MOMENTS,
    submission=st.builds(
        Submission, submitted=st.none() | MOMENTS, user=st.sampled_from([None, "ann", "bo"]),
        name=names, command=names, directory=names, script=names,
    ),
    request=st.builds(
        Request, cpus=sizes, memory_mb=sizes, gpus=sizes, nodes=sizes, time_limit_s=sizes,
        partition=names, account=st.sampled_from([None, "ann", "geo"]),
    ),
    timeline=st.lists(events, max_size=6).map(tuple),
    usage=st.builds(Usage, memory_mb=st.sampled_from([None, 0, 1, 5])),
)  # fmt: skip
ends = st.sampled_from([State.COMPLETED, State.COMPLETED, State.FAILED, *FAILURES, State.CANCELLED])
spans = st.lists(st.integers(0, 9_000 * SECOND), min_size=3, max_size=3).map(np.cumsum)
usual = st.builds(
    lambda spans, end, memory, limit, used: JobDocument(
        id="", updated=0, usage=Usage(memory_mb=used),
        submission=Submission(submitted=int(spans[0]), user="ann", name="fit 1"),
        request=Request(cpus=1, memory_mb=memory, time_limit_s=limit, partition="x"),
        timeline=tuple(
            Event(time=int(at), source="sacct", state=state, host="n1")
            for at, state in zip(spans, (State.PENDING, State.RUNNING, end), strict=True)
        ),
    ),
    spans, ends, sizes, sizes, st.none() | st.integers(1, 9),
)  # fmt: skip


def table_of(found: list[tuple[JobDocument, int]]) -> JobTable:
    return JobTable.read(
        msgspec.structs.replace(one, id=f"slurm:c:{group}_{number}")
        for number, (one, group) in enumerate(found)
    )


def lists(kind: st.SearchStrategy[JobDocument], most: int) -> st.SearchStrategy[JobTable]:
    return st.lists(st.tuples(kind, st.integers(1, 3)), max_size=most).map(table_of)


tables = lists(documents, 8) | lists(usual, 12)


def built(
    jobs: JobTable, asked: pl.DataFrame, moments: list[int], started: list[bool]
) -> dict[str, NDArray[np.float32]]:
    past, at = Past.of(jobs), (np.array(moments, np.int64), np.array(started, bool))
    queue = past.build(asked, *at, ["user", "request", SIZE], queue=True)
    return past.build(asked, *at, [*KEYS]) | {f"queue of {name}": queue[name] for name in queue}


@given(tables, st.data())
def test_all_columns_are_those_of_a_plain_reference(jobs: JobTable, data: st.DataObject) -> None:
    rows = (
        data.draw(st.lists(st.integers(0, len(jobs.table) - 1), max_size=4))
        if len(jobs.table)
        else []
    )
    moments = data.draw(st.lists(ASKED, min_size=len(rows), max_size=len(rows)))
    started = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    asked = jobs.table[rows]
    found = built(jobs, asked, moments, started)
    every = list(lives(jobs))
    for k, one in enumerate(asked.to_dicts()):
        rate = reference(every, "all", one, moments[k], started[k], 0.5)[COLUMNS.index("rate")]
        for name in KEYS:
            base = 0.5 if name == "all" else rate
            expected = reference(every, name, one, moments[k], started[k], base)
            shown = dict(zip(COLUMNS, found[name][k].tolist(), strict=True))
            wanted = dict(zip(COLUMNS, expected, strict=True))
            assert shown == pytest.approx(wanted, rel=2e-5, abs=2e-5, nan_ok=True), name


@given(lists(usual, 12), st.data())
def test_the_queue_is_that_of_a_plain_reference(jobs: JobTable, data: st.DataObject) -> None:
    every = list(lives(jobs))
    moment = data.draw(st.sampled_from([0, *(end.at + 1 for one in every for _, end in one.ends)]))
    count = len(jobs.table)
    names = ["all", "user", "request", "same again"]
    found = Past.of(jobs).build(
        jobs.table, np.full(count, moment), np.zeros(count, bool), names, queue=True
    )
    for k, one in enumerate(jobs.table.to_dicts()):
        for name in names:
            shown = dict(zip(QUEUE, found[name][k].tolist(), strict=True))
            wanted = dict(zip(QUEUE, queue_reference(every, name, one, moment), strict=True))
            assert shown == pytest.approx(wanted, rel=2e-3, abs=2e-3, nan_ok=True), name


@given(tables, st.data())
def test_a_table_cut_at_the_moment_gives_the_same_bytes(
    jobs: JobTable, data: st.DataObject
) -> None:
    moment = data.draw(ASKED)
    at, started = [moment] * len(jobs.table), [True] * len(jobs.table)
    whole = built(jobs, jobs.table, at, started)
    cut = built(jobs.as_of(moment), jobs.table, at, started)
    assert {name: one.tobytes() for name, one in whole.items()} == {
        name: one.tobytes() for name, one in cut.items()
    }


SOURCES = [
    *(SAMPLES / name for name in ("sacct.psv", "trace.swf", "eagle.csv", "graham.csv")),
    SAMPLES.parent / "forms" / "utc-sub_second" / "EventLog",
    *(
        pytest.param(SHARED / name, marks=pytest.mark.slow)
        for name in (
            "slurm-a.sacct.psv.gz", "xdmod-pozidriv-sacct.psv.gz", "eagle-sample.csv",
            "UniLu-Gaia-2014-1.swf.gz",
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_real_tables_cut_at_random_moments_give_the_same_bytes(path: Path) -> None:
    if not path.exists():
        pytest.skip(f"there is no {path.name} beside this checkout")
    found, _ = imported(path, options=Options(cluster="a"))
    jobs, draw = JobTable.read(found.values()), np.random.default_rng(7)
    rows = draw.choice(len(jobs.table), min(len(jobs.table), 12), replace=False)
    asked, started = jobs.table[rows], draw.random(len(rows)) < 0.7
    # At half of them another job starts or ends: those are not known yet.
    moments = np.where(
        draw.random(len(rows)) < 0.5,
        draw.choice(jobs.changes["known"].drop_nulls().to_physical().to_numpy(), len(rows)),
        asked["seen"].to_physical().to_numpy(),
    )
    whole = Past.of(jobs).build(asked, moments, started, list(KEYS))
    for k, moment in enumerate(moments.tolist()):
        past = Past.of(jobs.as_of(moment))
        cut = past.build(asked[[k]], moments[[k]], started[[k]], list(KEYS))
        for name in KEYS:
            assert whole[name][k].tobytes() == cut[name][0].tobytes(), (name, moment)
