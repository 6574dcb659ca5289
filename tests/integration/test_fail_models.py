"""The questions `fail` and `start` from a file of accounting to a report, as a user asks."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.support import failing
from typer.testing import CliRunner

from jobsight.cli.main import app
from jobsight.questions.fail.question import FAIL

pytestmark = pytest.mark.slow

MODELS = {"constant", "last", "rates", "rates:50", "rates:5", "request", "linear", "boosted",
          "mixture"}  # fmt: skip
SCORES = {"roc_auc", "average_precision", "brier", "ece", "log_loss", "roc_auc_ci"}
TOP = {"examples", "base_rate", "base_rate_bounds", "censored", "chosen", "models", "cost_view"}
CONFIG = "fail: {bootstrap: 100}\ntimezone: UTC\nslurm: {timezone: UTC}\n"


def run(*words: object, codes: tuple[int, ...] = (0,)) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code in codes, done.output
    return done.stdout


@pytest.fixture(scope="module")
def place(fewest_trees: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the accounting, the settings, the model, and what its training said."""
    folder = tmp_path_factory.mktemp("fail")
    (folder / "jobs.psv").write_text(failing.sacct_text())
    (folder / "settings.yaml").write_text(CONFIG)
    said = run(
        "train", "fail", folder / "jobs.psv", "-o", folder / "model", "--no-registry",
        "--model", "mixture", "--config", folder / "settings.yaml", "--json",
    )  # fmt: skip
    (folder / "trained.json").write_text(said)
    return folder


def test_the_example_of_a_sweep_is_planned(place: Path, tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "fail-sweep.yaml"
    shutil.copy(place / "jobs.psv", tmp_path)
    config = Path(shutil.copy(example, tmp_path))
    planned = json.loads(
        run("sweep", "plan", config, "--config", place / "settings.yaml", "--json")
    )
    assert planned["runs"] == 20
    assert (tmp_path / "fail-sweep.sweep").is_dir()


def asked(verb: str, place: Path, *more: object, codes: tuple[int, ...] = (0,)) -> str:
    config = ("--config", place / "settings.yaml")
    return run(
        verb, "fail", place / "jobs.psv", "--model", place / "model", *config, *more, codes=codes
    )


def test_evaluating_the_same_file_gives_the_numbers_of_the_test(place: Path) -> None:
    trained = json.loads((place / "trained.json").read_text())
    found = json.loads(asked("evaluate", place, "--json"))
    assert found.pop("overview") == trained["overview"]
    trained = trained["test"]
    for one in (found, found["by_moment"]["start"], found["kinds"]):
        assert one["left_out"].pop("before_test_start") > 0
    found["kinds"].pop("by_moment", None), trained["kinds"].pop("by_moment", None)
    assert found == trained


def test_what_evaluations_say(place: Path) -> None:
    found = json.loads(asked("evaluate", place, "--json"))
    for one in (found, found["by_moment"]["start"]):
        assert one.keys() >= TOP
        assert one["models"].keys() == MODELS
        assert all(scores.keys() >= SCORES for scores in one["models"].values())
        low, high = one["base_rate_bounds"]
        assert low < one["base_rate"] < high
        assert one["censored"]["cancelled"] > 0
    assert found["censored"]["not_ended"] == 5
    assert set(found["strata"]) >= {"experience", "array", "length", "partition"}
    assert "user" not in found["strata"]  # reports name nobody
    assert "outcome_later" not in found["left_out"]  # jobs without outcome are counted once
    kinds = found["kinds"]
    assert found["censored"] == kinds["censored"]  # a success lacks a kind, but no outcome
    assert sum(kinds["counts"].values()) == kinds["examples"]
    assert 0.0 <= kinds["macro_f1"] <= 1.0 and kinds["roc_auc"].keys() == kinds["counts"].keys()
    assert kinds["models"]["boosted"]["macro_f1"] is not None
    shown = asked("evaluate", place)
    assert "at the moment start" in shown and "asked or stopped" in shown and "kinds:" in shown
    assert "lost most in one way" in shown and "ended with an error" in shown
    assert shown.index("with a known outcome") < shown.index("The model that answers, mixture, is")


def test_kinds_are_null_where_there_are_none(place: Path, tmp_path: Path) -> None:
    few = tmp_path / "few.psv"
    lines = (place / "jobs.psv").read_text().splitlines(keepends=True)
    kept = [line for line in lines if "TIMEOUT" not in line and "OUT_OF_MEMORY" not in line]
    few.write_text("".join(kept))
    words = ("--config", place / "settings.yaml", "--json")
    trained = run("train", "fail", few, "-o", tmp_path / "model", "--no-registry", *words)
    assert json.loads(trained)["test"]["kinds"] is None
    judged = run("evaluate", "fail", few, "--model", tmp_path / "model", *words)
    assert json.loads(judged)["kinds"] is None


def test_verified_and_reported(place: Path, tmp_path: Path) -> None:
    checked, page = tmp_path / "checked.json", tmp_path / "page.html"
    audit: dict[str, Any] = json.loads(
        asked("verify", place, "-o", checked, "--json", codes=(0, 3))
    )
    # It may fail on quality: the cluster changes half way.
    grades = {check["name"]: check["grade"] for check in audit["checks"]}
    assert grades["truncation"] == grades["split"] == "passed"
    truncation = next(one for one in audit["checks"] if one["name"] == "truncation")
    assert 50 < truncation["numbers"]["compared"] <= 100  # shared out among two moments
    assert grades["shuffled_outcomes"] != "failed" and audit["features"]
    assert {row["family"] for row in audit["families"]} <= set(FAIL.families)
    asked("report", place, "--verified", checked, "-o", page)
    html = page.read_text()
    assert "By time limit" in html and "The audit" in html and "core-hours" in html
    assert "The same at the moment start" in html and "By user" in html


@pytest.mark.parametrize(
    ("question", "metric", "model", "parameter"),
    [
        ("fail", "log_loss", "linear", "seed: {values: [0, 1]}"),
        ("start", "pinball", "boosted", "num_leaves: {values: [3, 8]}"),
    ],
)
def test_a_sweep_searches_settings(
    question: str, metric: str, model: str, parameter: str,
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    config = tmp_path / "sweep.yaml"
    config.write_text(
        f"question: {question}\ndata: {place / 'jobs.psv'}\nmethod: grid\n"
        f"metric: {{name: {metric}}}\nparameters: {{{parameter}}}\nmodel: {model}\n"
        "settings: {bootstrap: 100}\n"
    )
    run("sweep", "plan", config)
    folder = config.with_suffix(".sweep")
    monkeypatch.chdir(folder)
    for node in (("run", 1), ("run", 2), ("best",)):
        run("sweep", "node", *node, ".")
    found = json.loads(run("sweep", "best", folder, "--json"))
    assert found["model"]["test"][model][metric]
    results = [json.loads(one.read_text()) for one in folder.glob("runs/*/run.json")]
    assert model != "boosted" or len({one["metrics"][metric] for one in results}) == 2
