"""The command itself: too little to learn from, names of clusters, models that fail their test."""

import json
import random
from pathlib import Path

import pytest
from tests.support import failing
from tests.support.calling import jobsight
from tests.support.failingjobs import ran
from tests.support.storedjobs import filled

from jobsight.documents import JobDocument, State
from jobsight.history.past import Past
from jobsight.learning.registry import Registry

DAY = 86_400.0


def changing(jobs: int = 300, last: int = 80) -> list[JobDocument]:
    """Ann's jobs fail and Bob's do not, until all is the other way round, in one burst."""
    draw, made = random.Random(1), []
    for number in range(jobs + last):
        late = number >= jobs
        at = jobs * 300.0 + number if late else number * 300.0
        fails = (number % 2 == 0) != late
        if not late and draw.random() < 0.05:
            fails = not fails
        state = State.FAILED if fails else State.COMPLETED
        user = "bob" if number % 2 else "ann"
        made.append(ran(number + 1, at, state, span=3 * DAY if late else 60, user=user))
    return made


def trace(path: Path, jobs: int = 400) -> Path:
    """A trace without waits: every fourth user's jobs often fail."""
    draw, lines, at = random.Random(1), ["; UnixStartTime: 1163199901"], 0
    for number in range(1, jobs + 1):
        at += draw.randint(1, 900)
        user, run = draw.randint(1, 12), draw.randint(1, 9000)
        status = 5 if draw.random() < 0.05 else int(draw.random() > (0.7 if user % 4 == 0 else 0.1))
        lines.append(f"{number} {at} -1 {run} 8 -1 -1 8 7200 -1 {status} {user} -1 -1 1 1 -1 -1")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("question", ["fail", "start"])
def test_too_little_is_refused_before_features_are_built(
    question: str, registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def built(*_: object) -> None:
        raise AssertionError("features are built")

    monkeypatch.setattr(Past, "of", built)
    (tmp_path / "jobs.psv").write_text(failing.sacct_text(jobs=30))
    done = jobsight("train", question, tmp_path / "jobs.psv", "--timezone", "UTC")
    assert done.returncode == 1
    assert "at least 30 to train with and 5 to test with are needed" in done.stderr
    assert f"Until then `jobsight {question}` answers by " in done.stderr
    assert not Registry(registry).entries()


def test_a_trace_without_waits_teaches(registry: Path, tmp_path: Path) -> None:
    store = tmp_path / "jobs.db"
    assert jobsight("import", trace(tmp_path / "atlas.swf"), "--store", store).returncode == 0
    done = jobsight("train", "fail", store, "--model", "rates", "-o", tmp_path / "model")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "outcome counts as known at submission plus runtime" in said
    assert [(one.cluster, one.champion) for one in Registry(registry).entries()] == [
        ("atlas", True)
    ]
    parts = json.loads((tmp_path / "model" / "manifest.json").read_text())["facts"]["parts"]
    assert parts["train"]["examples"] > 200
    report = tmp_path / "report.html"
    asked = ("report", "fail", store, "--model", tmp_path / "model", "-o", report)
    assert jobsight(*asked).returncode == 0
    assert "counts as known at submission plus runtime" in report.read_text()
    # Without a start there is no wait to learn.
    waits = jobsight("train", "start", store)
    assert waits.returncode == 1
    assert "start unknown" in waits.stderr


def test_a_model_worse_than_the_constant_does_not_answer(registry: Path, tmp_path: Path) -> None:
    store = filled(tmp_path / "jobs.db", changing())
    found = json.loads(jobsight("train", "fail", store, "--model", "rates", "--json").stdout)
    rejected = found["test"]["rejected"]
    assert rejected["name"] not in ("constant", "request")
    assert rejected["loss"] > found["test"]["models"]["constant"]["log_loss"]
    chosen = found["test"]["chosen"]
    assert chosen in ("constant", "request")
    assert found["choice"]["name"] == chosen
    (entry,) = Registry(registry).entries()
    assert entry.cluster == "grid"
    for words in (("list",), ("show", entry.digest)):
        shown = " ".join(jobsight("models", *words).stdout.split())
        assert f"{rejected['name']}, chosen by the backtest, is worse than" in shown
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/bash\nsleep 1\n")
    answer = json.loads(jobsight("fail", script, "--store", store, "--json").stdout)
    assert answer["model"] == f"{chosen} ({rejected['name']} failed its test)@{entry.digest}"
    # The champion answers while there is too little for another.
    few = filled(tmp_path / "few.db", changing(20, 0))
    done = jobsight("train", "fail", few)
    assert f"answers by the champion {entry.digest}" in done.stderr
