"""A question is one file that the table names: four toys, one for each kind of target."""

import json
from pathlib import Path

import pytest
from tests.toys.starts import log_text
from typer.testing import CliRunner

from jobsight.cli.main import app
from jobsight.questions import ANSWERABLES, QUESTIONS

METRICS = {"evicted": "log_loss", "ending": "log_loss", "runtime": "pinball",
           "waiting": "divergence"}  # fmt: skip

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fewest_trees")]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The log that models learn from, and one of another pool."""
    folder = tmp_path_factory.mktemp("logs")
    for name, seed in (("pool.log", 3), ("other.log", 4)):
        (folder / name).write_bytes(log_text(seed=seed))
    return folder / "pool.log", folder / "other.log"


@pytest.fixture(autouse=True)
def entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in METRICS:
        monkeypatch.setitem(QUESTIONS, name, f"tests.toys.{name}:QUESTION")
        monkeypatch.setitem(ANSWERABLES, name, "tests.toys:LEARNED")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("toy", METRICS)
def test_a_question_trains_evaluates_verifies_and_reports(
    toy: str, logs: tuple[Path, Path], tmp_path: Path
) -> None:
    own, other = logs
    model, checked, page = tmp_path / "model", tmp_path / "checked.json", tmp_path / "page.html"
    trained = json.loads(run("train", toy, own, "-o", model, "--timezone", "UTC", "--json"))
    assert trained["choice"]["name"] != "constant"  # sites differ
    assert trained["registry"]["champion"]

    judged = json.loads(
        run("evaluate", toy, other, "--model", model, "--timezone", "UTC", "--json")
    )
    loss = METRICS[toy]
    scores = {name: one[loss] for name, one in judged["models"].items()}
    assert judged["loss"] == loss and scores["boosted"] < scores["constant"]
    assert 0.6 < judged["interval_coverage"] <= 1.0
    shown = run("evaluate", toy, other, "--model", "champion", "--timezone", "UTC")
    assert f"{trained['choice']['name']} *" in shown

    words = ("verify", toy, own, "--model", model, "-o", checked, "--timezone", "UTC", "--json")
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    audit = json.loads(done.stdout)
    # So few trees, and outcomes made by chance: how good the toy is may well be found wanting.
    assert done.exit_code == (3 if audit["grade"] == "failed" else 0)
    grades = {check["name"]: check["grade"] for check in audit["checks"]}
    assert grades["truncation"] == grades["split"] == "passed"
    assert grades["shuffled_outcomes"] != "failed" and audit["families"]

    run("report", toy, other, "--model", model, "--verified", checked, "-o", page,
        "--timezone", "UTC")  # fmt: skip
    html = page.read_text()
    assert "How well the models predict" in html and "By site" in html and "The audit" in html

    listed = json.loads(run("models", "list", "--question", toy, "--json"))
    assert [one["digest"] for one in listed] == [trained["registry"]["digest"]]
    compared = run("models", "compare", model, "champion", other, "--question", toy,
                   "--timezone", "UTC")  # fmt: skip
    assert "not surely better" in compared


@pytest.mark.parametrize("toy", METRICS)
def test_a_sweep_searches_the_settings_of_a_question(
    toy: str, logs: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, loss = tmp_path / "sweep.yaml", METRICS[toy]
    config.write_text(
        f"question: {toy}\ndata: {logs[0]}\nmethod: grid\nmetric: {{name: {loss}}}\n"
        "parameters: {recent: {values: [5, 20]}}\nmodel: boosted\n"
    )
    monkeypatch.setenv("JOBSIGHT_TIMEZONE", "UTC")
    run("sweep", "plan", config)
    folder = config.with_suffix(".sweep")
    monkeypatch.chdir(folder)  # each run is started there
    for node in (("run", 1), ("run", 2), ("best",), ("register",)):
        run("sweep", "node", *node, ".")
    found = json.loads(run("sweep", "best", folder, "--json"))
    assert found["parameters"]["recent"] in (5, 20) and found["model"]["test"]["boosted"][loss]
    run("report", "sweep", folder, "-o", tmp_path / "sweep.html")
    assert "recent" in (tmp_path / "sweep.html").read_text()
