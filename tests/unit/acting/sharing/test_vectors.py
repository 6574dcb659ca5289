"""Vectors of jobs, and their tokens."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.storedjobs import job, told

from jobsight.acting.sharing.vectors import (
    Key,
    Node,
    Vector,
    key_of,
    of_runs,
    of_time,
    unfit,
    vectors,
)
from jobsight.documents import JobDocument, Request, State, Submission, Usage

NODE = Node(cpus=16, saturating=4.0, disk_mb_s=200.0)
DISK = {"cpu": 0.2, "memory": None, "io": 0.6, "network": 0.0, "waiting": 0.2}


def run_of(name: str = "a1", script: str | None = None, **usage: Any) -> JobDocument:
    """An ended job on one node."""
    return job(
        f"slurm:c:{abs(hash((name, tuple(map(str, usage.items()))))) % 10**6}",
        told(0, State.RUNNING),
        told(60, State.COMPLETED),
        submission=Submission(user="ann", name=name, script=script),
        request=Request(nodes=1, cpus=4),
        usage=Usage(**{"cpus": 4, "nodes": 1, "wall_s": 60.0, **usage}),
    )


def bound(**shares: float | None) -> dict[str, Any]:
    return {"bound": {"source": "sampled", "shares": DISK | shares, "classes": ["io"]}}


def test_time_on_the_disk_is_a_share_of_the_disk_and_of_cpu_by_the_cpus_used() -> None:
    vector = of_runs([run_of(**bound(io=share)) for share in (0.3, 0.6, 0.6, 0.6, 0.6, 0.9)], NODE)
    assert vector is not None
    assert vector.shares == {"cpu": 0.2 * 4 / 16, "diskbw": 0.6, "netbw": 0.0}
    assert vector.tokens() == {"diskbw": 60}
    assert vector.source == "measured, 6 runs"


def test_four_cpus_that_move_memory_use_all_its_bandwidth() -> None:
    vector = of_runs([run_of(**bound(cpu=0.1, memory=0.8, io=0.1))] * 3, NODE)
    assert vector is not None
    assert vector.tokens() == {"membw": 80, "cpu": 25, "diskbw": 10}


def test_accounting_counts_where_no_run_was_watched() -> None:
    vector = of_runs([run_of(cpu_s=120.0, read_mb=6000.0, written_mb=0.0)] * 3, NODE)
    assert vector is not None
    assert vector.shares == {"cpu": 2 / 16, "diskbw": 0.5}


def test_two_measured_runs_are_too_few() -> None:
    assert of_runs([run_of(**bound())] * 2, NODE) is None


@pytest.mark.parametrize(
    ("script", "request_", "directives", "why"),
    [
        ("srun a &\nsrun b &\nwait\n", Request(nodes=1), (), "several steps"),
        ("srun -n 1 \\\n  a &  # one\nwait\n", Request(nodes=1), (), "several steps"),
        ("ls | xargs -P4 -n1 srun -n1 a\n", Request(nodes=1), (), "several steps"),
        ("srun a && echo done\nb > log 2>&1\n", Request(nodes=1), (), None),
        (None, Request(nodes=2), (), "not spread"),
        (None, Request(nodes=2), ("--nodes=2", "--ntasks-per-node=8"), None),
        (None, Request(), (), "not spread"),
    ],
)
def test_jobs_whose_use_of_each_node_is_unknown_get_no_tokens(
    script: str | None, request_: Request, directives: tuple[str, ...], why: str | None
) -> None:
    submission = Submission(user="ann", name="a", script=script, directives=directives or None)
    refusal = unfit(job("slurm:c:1", submission=submission, request=request_))
    assert refusal is None if why is None else why in (refusal or "")


def test_kinds_of_job_by_measured_runs_else_by_their_script_else_none() -> None:
    measured = [run_of("train_1"), *[run_of("train_2", **bound())] * 3]
    scripted, silent = run_of("copy", "cp a b\n"), run_of("odd")

    def judge(document: JobDocument) -> tuple[dict[str, float], str] | None:
        said = {"cpu": 0.0, "memory": 0.0, "io": 0.9, "network": 0.0}
        return (said, "model m") if document.submission.script else None

    found = vectors([*measured, scripted, silent], NODE, judge)
    assert next(iter(found)) == Key("ann", "train_#")
    assert found[Key("ann", "train_#")].tokens() == {"diskbw": 60}
    assert found[Key("ann", "copy")].tokens() == {"diskbw": 90}
    assert found[Key("ann", "copy")].why == "its script, by model m"
    assert found[Key("ann", "odd")].tokens() == {}
    assert "says too little" in found[Key("ann", "odd")].why


def test_what_was_not_measured_is_taken_from_the_script() -> None:
    runs = [run_of("a", "x", cpu_s=240.0, read_mb=0.0)] * 3
    said = {"cpu": 0.3, "memory": 0.5, "io": 0.2, "network": 0.0}
    found = vectors(runs, NODE, lambda _document: (said, "model m"))
    kind = found[Key("ann", "a")]
    assert kind.tokens() == {"cpu": 25, "membw": 50}
    assert kind.why == "measured, 3 runs; membw, netbw: its script, by model m"


@given(st.dictionaries(st.sampled_from(("cpu", "memory", "io", "network", "x")), st.floats()))
def test_shares_of_hostile_documents_stay_within_a_node(shares: dict[str, float]) -> None:
    found = of_time(shares)
    assert all(0 <= share <= 1 for share in found.values())
    assert all(
        10 <= count <= 100 and count % 5 == 0 for count in Vector(found, "").tokens().values()
    )


@given(
    st.one_of(st.none(), st.text(), st.lists(st.integers()), st.dictionaries(st.text(), st.text()))
)
def test_documents_without_shares_have_none(shares: object) -> None:
    assert of_time(shares) == {}


def test_names_are_equal_but_for_their_numbers() -> None:
    assert key_of("ann", "run12_v3") == key_of("ann", "run7_v10") != key_of("bob", "run7_v10")
