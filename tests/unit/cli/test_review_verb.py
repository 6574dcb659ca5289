"""``jobsight review`` on stores with answers that were kept."""

import json
from pathlib import Path

import pytest
from tests.support.failingjobs import model, ran
from tests.support.storedjobs import HOSTILE, SECOND, START, filled, held_job
from typer.testing import CliRunner

from jobsight.cli.main import app
from jobsight.documents import JobDocument, Prediction, merge
from jobsight.files import Kind, new_folder
from jobsight.learning.registry import Registry


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["review", *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def answered(number: int, probability: float, label: str) -> JobDocument:
    time = START + (number * 600 + 1) * SECOND
    document = ran(number, number * 600, user=f"u{number}")
    answer = {"probability": probability, "moment": "submission"}
    one = Prediction(question="fail", model=label, time=time, inputs="x", answer=answer)
    return merge(document, JobDocument(id=document.id, updated=time, predictions=(one,)))


def test_answers_for_held_jobs_are_compared_with_their_release(tmp_path: Path) -> None:
    store = filled(tmp_path / "jobs.db", [held_job()])
    shown = run("hold", "--store", store)
    first, second = (line.split() for line in shown.splitlines()[1:])
    assert first[:2] == ["all", "boosted"] and second[:2] == ["2026-11-16", "boosted"]
    (every, week) = json.loads(run("hold", "--store", store, "--json"))["weeks"]
    assert every["known"] == week["known"] == 1
    assert week["observed"] == 0.0 and week["week"] == "2026-11-16" and week["worse"] is None


def test_a_model_of_the_registry_is_held_to_its_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOBSIGHT_REGISTRY", str(tmp_path / "registry"))
    with new_folder(tmp_path / "model", Kind.MODEL) as folder:
        model().save(folder, seed=0, facts={})
    digest = Registry(tmp_path / "registry").put(tmp_path / "model", "fail", "grid")
    label = f"mixture@{digest}"
    store = filled(tmp_path / "jobs.db", [answered(n, 0.95, label) for n in range(1, 30)])
    shown = run("fail", "--store", store)
    assert "in 1 week the log loss is above that of the model's test" in shown
    every, _ = json.loads(run("fail", "--store", store, "--json"))["weeks"]
    assert every["worse"] is True and 0 < every["promised"] < 1 < every["log_loss"]


def test_what_is_not_there_is_said_and_hostile_names_are_harmless(tmp_path: Path) -> None:
    store = filled(tmp_path / "jobs.db", [ran(1, 0)])
    assert run("fail", "--store", store) == (
        "no answer of fail is in the store; `jobsight fail --save` keeps them\n"
    )
    store = filled(tmp_path / "more.db", [answered(1, 0.5, HOSTILE)])
    shown = run("fail", "--store", store)
    assert all(letter.isprintable() or letter == "\n" for letter in shown)
