"""The shared verbs on programs: train, evaluate, verify, report, compare, sweep, frames."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jobsight.cli.main import app

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fewest_trees")]

CORPUS = Path(__file__).parents[3] / "corpus" / "programs"


def said(*call: object, status: int = 0) -> str:
    result = CliRunner().invoke(app, list(map(str, call)))
    assert result.exit_code == status, (result.output, result.exception)
    return result.stdout + str(result.exception or "")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lines of some programs of every second family."""
    families: dict[str, list[dict[str, object]]] = {}
    for line in (CORPUS / "measured.jsonl").read_text().splitlines():
        row = json.loads(line)
        row["path"] = str(CORPUS / row["path"])
        families.setdefault(row["family"], []).append(row)
    rows = [row for name in islice(sorted(families), 0, None, 2) for row in families[name][:2]]
    path = tmp_path_factory.mktemp("programs") / "programs.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def model(programs: Path, fewest_trees: None) -> Path:
    folder = programs.parent / "model"
    said("train", "bound", programs, "--model", "forest", "--no-registry", "-o", folder)
    return folder


def test_an_audit_asks_nothing_of_time(programs: Path, model: Path) -> None:
    call = ("verify", "bound", programs, "--model", model, "--json")
    result = CliRunner().invoke(app, list(map(str, call)))
    checks = {one["name"]: one for one in json.loads(result.stdout)["checks"]}
    assert "over_time" not in checks
    assert checks["truncation"]["grade"] == checks["split"]["grade"] == "passed"
    assert "their own source alone" in checks["truncation"]["detail"]


def test_a_report_counts_programs_and_shows_no_dates(programs: Path, model: Path) -> None:
    page = programs.parent / "page.html"
    said("report", "bound", programs, "--model", model, "-o", page)
    text = page.read_text()
    count = len(programs.read_text().splitlines())
    assert f"{count} programs were read" in text
    assert "of families that the training did not have" in text
    assert "over time" not in text and "weakest" not in text
    assert f"{count} measured programs are bound: " in text
    assert "later than the training" not in text


def test_models_are_compared_on_programs(programs: Path, model: Path) -> None:
    evaluated = json.loads(said("evaluate", "bound", programs, "--model", model, "--json"))
    assert (evaluated["target"], evaluated["shares"]["target"]) == ("class", "shares")
    assert " measured programs are bound: " in evaluated["overview"]["points"][0]
    text = said("models", "compare", model, model, programs)
    assert "judged on the same" in text
    assert "from 19" not in text


def test_a_sweep_plans_reads_and_trains(programs: Path) -> None:
    config = programs.parent / "sweep.yaml"
    config.write_text(
        "question: bound\ndata: programs.jsonl\nruns: 1\nmodel: boosted\n"
        "metric: {name: macro_f1}\nparameters:\n  num_leaves: {min: 4, max: 16}\n"
    )
    said("sweep", "plan", config)
    folder = config.with_suffix(".sweep")
    said("sweep", "node", "run", "1", folder)
    result = json.loads((folder / "runs" / "0001" / "run.json").read_text())
    assert (result["state"], result["params"].keys()) == ("complete", {"num_leaves"})
    config.write_text(config.read_text().replace("programs.jsonl", ".") + "folder: other\n")
    assert "has no measured programs" in said("sweep", "plan", config, status=1)


def test_programs_have_no_frames(programs: Path) -> None:
    text = said("frames", "bound", programs, "-o", programs.parent / "frames", status=1)
    assert "no frames" in text
