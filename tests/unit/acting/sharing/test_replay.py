"""Traces played on nodes that jobs share."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.unit.acting.sharing.test_slowdown import matrix

from jobsight.acting.sharing.replay import ARMS, Trace, drawn, fidelity, play, replayed, result
from jobsight.acting.sharing.vectors import RESOURCES
from jobsight.errors import SourceError

WEIGHTS = np.ones(len(RESOURCES))
DISK = list(RESOURCES).index("diskbw")


def trace(*jobs: tuple[float, float, int], nodes: int = 2, cpus_each: int = 4) -> Trace:
    """Jobs of (submission, runtime, CPUs)."""
    submit, runtime, cpus = (np.array(column) for column in zip(*jobs, strict=True))
    return Trace(
        submit.astype(float), runtime.astype(float), 2.0 * runtime, np.zeros(len(jobs)),
        cpus.astype(np.int64), np.arange(len(jobs)), nodes, cpus_each,
    )  # fmt: skip


def of_disk(*shares: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    found = np.zeros((len(shares), len(RESOURCES)))
    found[:, DISK] = shares
    return found, np.ceil(found * 20) * 5


def spans(made: Trace, arm: str, *shares: float) -> list[tuple[float, float]]:
    begin, end = play(made, arm, *of_disk(*shares), WEIGHTS)
    return [(round(a, 3), round(b, 3)) for a, b in zip(begin, end, strict=True)]


def test_two_jobs_of_the_disk_wait_for_each_other_unless_they_have_tokens() -> None:
    made = trace((0, 100, 1), (0, 100, 1), nodes=1)
    assert spans(made, "exclusive", 1.0, 1.0) == [(0, 100), (100, 200)]
    assert spans(made, "packing", 1.0, 1.0) == [(0, 200), (0, 200)]
    assert spans(made, "tokens", 1.0, 1.0) == [(0, 100), (100, 200)]
    assert spans(made, "tokens", 1.0, 0.0) == [(0, 100), (0, 100)]


def test_work_that_remains_goes_on_at_the_new_speed() -> None:
    made = trace((0, 100, 1), (50, 100, 1), nodes=1)
    # Half is done alone; the rest takes twice as long, and so does half of the other's.
    assert spans(made, "packing", 1.0, 1.0) == [(0, 150), (50, 200)]


def test_a_large_job_takes_whole_nodes_and_is_not_overtaken_for_ever() -> None:
    made = trace((0, 10, 1), (1, 10, 8), (2, 100, 1), (3, 5, 1))
    found = spans(made, "packing", 0, 0, 0, 0)
    # The second waits for both nodes, which the third would delay, and the fourth would not.
    assert found == [(0, 10), (10, 20), (20, 120), (3, 8)]


def test_short_jobs_run_before_a_large_one_that_waits() -> None:
    made = trace((0, 100, 1), (1, 10, 8), (2, 20, 1))
    assert spans(made, "packing", 0, 0, 0)[2] == (2, 22)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 50), st.floats(1, 40), st.integers(1, 12), st.floats(0, 1)),
        min_size=1, max_size=30,
    )
)  # fmt: skip
def test_no_node_is_ever_overfull_and_every_job_does_its_work(
    jobs: list[tuple[float, float, int, float]],
) -> None:
    jobs.sort()
    made = trace(*(job[:3] for job in jobs), nodes=3)
    shares, tokens = of_disk(*(job[3] for job in jobs))
    for arm in ARMS:
        begin, end = play(made, arm, shares, tokens, WEIGHTS)
        assert (begin >= made.submit - 1e-9).all()
        assert (end - begin >= made.runtime - 1e-6).all()
        for moment in begin:
            live = (begin <= moment) & (end > moment + 1e-6)
            cpus = np.where(made.cpus > 4, np.ceil(made.cpus / 4) * 4, made.cpus)
            assert cpus[live].sum() <= 12
            if arm == "tokens":
                assert tokens[live & (made.cpus <= 4), DISK].sum() <= 300
            if arm == "exclusive":
                assert np.ceil(made.cpus[live] / 4).sum() <= 3
        if arm != "packing":
            slow = (end - begin) / made.runtime
            assert slow.max() < (1.0001 if arm == "exclusive" else 2.0)


def test_vectors_are_drawn_for_each_kind_of_job() -> None:
    made = trace(*((0.0, 10.0, 2) for _ in range(40)))._replace(kind=np.arange(40) % 4)
    shares, tokens = drawn(made, matrix(), 1)
    for kind in range(4):
        assert len(np.unique(shares[made.kind == kind], axis=0)) == 1
    assert (tokens[:, list(RESOURCES).index("cpu")] == 0).all()


def test_tokens_gain_over_exclusive_nodes_and_slow_no_job_down() -> None:
    random = np.random.default_rng(0)
    jobs = [(float(at), float(random.integers(50, 500)), 1) for at in range(400)]
    made = trace(*jobs, nodes=4)
    found = replayed(made, matrix(), 2, lambda _done, _of: None)
    assert min(found["tokens"]["throughput"]) > 0.5
    assert max(found["tokens"]["slowdown"]) < min(found["packing"]["slowdown"])


def test_a_history_that_the_play_fits_is_accepted_and_another_is_not() -> None:
    jobs = [(600.0 * at, 4000.0, 1) for at in range(100)]
    made = trace(*jobs)
    assert fidelity(made).refusal is None
    late = made._replace(wait=np.full(100, 30_000.0))
    assert "wait" in (fidelity(late).refusal or "") or "differs" in (fidelity(late).refusal or "")


def test_figures_of_a_play() -> None:
    made = trace((0, 100, 1), (200, 100, 2))
    found = result(made, np.array([[0.0, 210.0], [100.0, 350.0]]))
    assert found == {
        "throughput": pytest.approx(0.5), "wait_s": 5.0, "slowdown": pytest.approx(1.2),
        "slowdown_95": pytest.approx(1.38), "slower": 0.5,
    }  # fmt: skip


def test_a_history_without_ends_is_refused() -> None:
    columns = ["submit", "start", "end"]
    empty = pl.DataFrame(schema={
        **dict.fromkeys(columns, pl.Datetime("us")),
        **dict.fromkeys(("cpus", "request_cpus", "time_limit_s"), pl.Int64),
        **dict.fromkeys(("owner", "account", "name"), pl.String),
    })  # fmt: skip
    with pytest.raises(SourceError, match="no job of the history"):
        Trace.of(empty, 1, 1)
