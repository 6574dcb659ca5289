"""The placement policy: what scripts get tokens for, and the map of HTCondor."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.storedjobs import job

from jobsight.acting.sharing.policy import found_in, map_text, matrix_of, said_by
from jobsight.acting.sharing.vectors import Key, Kind, Node, Vector
from jobsight.documents import Request, Submission
from jobsight.errors import SourceError
from jobsight.questions.bound.answering import Answer
from jobsight.settings import ActingSettings, Settings
from jobsight.store import open_store

SHARES = {"cpu": 0.5, "memory": 0.1, "io": 0.3, "network": 0.0, "gpu": 0.0, "waiting": 0.1}


def bound(kind: str, *, is_job: bool = True, confidence: float = 0.8) -> Answer:
    return Answer("a.py", kind, is_job, SHARES, confidence, (), "m", 0, "")


def test_a_script_gets_tokens_of_what_binds_it_alone() -> None:
    assert said_by(bound("io")) == {"cpu": 0.0, "io": 0.8}
    assert said_by(bound("cpu", confidence=0.4)) == {"cpu": 0.5}
    for other in (bound("unsure"), bound("gpu"), bound("waiting"), bound("io", is_job=False)):
        assert said_by(other) is None


def test_kinds_of_job_of_a_store(tmp_path: Path) -> None:
    script = "#!/usr/bin/env python3\nwhile i < 10**9:\n    i += i * i % 7\n"
    submission = Submission(user="ann", name="train_7", script=script)
    with open_store(f"sqlite:///{tmp_path}/jobs.db", create=True) as store:
        store.merge([job("slurm:c:1", submission=submission, request=Request(nodes=1, cpus=4))])
        found = found_in(store, Node(cpus=8, saturating=4.0), Settings())
    (key,) = found
    assert key == Key("ann", "train_#")
    assert found[key].why.startswith("its script, by ") or found[key].vector is None


NAMES = st.text(min_size=1, max_size=30)


@given(st.dictionaries(st.tuples(NAMES, NAMES), st.floats(0, 1), max_size=5))
def test_the_map_has_a_line_for_each_name_that_it_can_hold(
    shares: dict[tuple[str, str], float],
) -> None:
    found = {
        Key(*key): Kind(Vector({"membw": share, "cpu": 1.0}, ""), "", 1)
        for key, share in shares.items()
    }
    date, *lines = map_text(found, 1_795_000_000.5).splitlines()
    assert date == "* date 1795000000"
    for line in lines:
        assert re.fullmatch(r'\* membw/[^\s"\\*#/][^\s"\\]*/[^\s"\\]+ \d{2,3}', line, re.ASCII)


def test_without_a_matrix_it_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="jobsight share measure --output"):
        matrix_of(ActingSettings(folder=tmp_path))
