"""``jobsight sweep``, run on this machine on a small log: planned, trained, chosen, tidied."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support import small_sweeps
from tests.testbed.namespace import until
from typer.testing import CliRunner, Result

from jobsight.cli.main import app
from jobsight.cluster.slurmstatus import Record
from jobsight.cluster.states import plan_digest
from jobsight.errors import (
    ClusterError,
    JobsightError,
    SettingsError,
    SourceError,
    SweepError,
    UsageError,
)
from jobsight.learning.bootstrap import Bootstrap
from jobsight.learning.modeldir import ModelDir
from jobsight.learning.registry import Registry
from jobsight.learning.sweep.layout import Layout
from jobsight.learning.sweep.planning import read_plan
from jobsight.learning.sweep.records import read_all
from jobsight.questions.hold.question import HOLD


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["sweep", *map(str, arguments)])


def said(*arguments: object) -> str:
    result = call(*arguments)
    assert result.exit_code == 0, (result.exception, result.stderr)
    return result.stdout


def told(*arguments: object) -> Any:
    return json.loads(said(*arguments, "--json"))


def refused(*arguments: object, kind: type[JobsightError] = SweepError) -> str:
    result = call(*arguments)
    assert isinstance(result.exception, kind), (result.exception, result.output)
    return str(result.exception)


@pytest.fixture(autouse=True)
def settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    registry = tmp_path_factory.getbasetemp() / "registry"
    monkeypatch.setenv("JOBSIGHT_REGISTRY", str(registry))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("COLUMNS", raising=False)
    return registry


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The config of a sweep that was run here, one of its three runs failing by its parameters."""
    folder = tmp_path_factory.mktemp("swept")
    small_sweeps.write_log(folder / "pool.log")
    file = small_sweeps.config(
        folder,
        method="grid",
        runs=None,
        parameters={
            "learning_rate": {"values": [0.003, 0.03]},
            "j": {"values": [3]},
            "m": {"value": 4},
        },
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JOBSIGHT_REGISTRY", str(tmp_path_factory.getbasetemp() / "registry"))
        patch.setenv("TZ", "UTC")
        said("submit", file)
    return file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The config of a sweep of which nothing ran."""
    small_sweeps.write_log(tmp_path / "pool.log", clusters=20)
    return small_sweeps.config(tmp_path)


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_planning_twice_gives_the_same_bytes_and_starts_nothing(file: Path) -> None:
    out = said("plan", file)
    assert "3 runs of at most 2 epochs, random, seed 0; best by the highest f1" in out
    assert "nodes     parse 1, runs 3, best 1, register 1" in out
    folder = file.with_suffix(".sweep")
    first = content(folder)
    assert "nothing has changed" in said("plan", file)
    assert content(folder) == first
    shutil.rmtree(folder)
    assert told("plan", file)["points"]["2"].keys() == small_sweeps.SPACE.keys()
    assert content(folder) == first
    assert not read_all(folder / "runs")[0].status.ended
    assert "not submitted yet (here)" in said("status", file)


def test_before_anything_ran_a_plan_is_replaced(file: Path) -> None:
    before = told("plan", file)
    small_sweeps.config(file.parent, seed=7, runs=2)
    after = told("plan", file)
    assert len(after["points"]) == 2 and after["points"]["1"] != before["points"]["1"]
    assert not (file.with_suffix(".sweep") / "runs/0003").exists()


def test_a_sweep_here_ends_with_the_best_model(swept: Path, settings: Path) -> None:
    progress = told("status", swept)
    assert not progress["active"] and progress["done"]
    assert progress["states"] == {"finished": 2}
    assert all(stage["done"] == stage["total"] for stage in progress["stages"])
    facts = told("best", swept)
    records = read_all(swept.with_suffix(".sweep") / "runs")
    assert facts["value"] == max(one.metrics["f1"] for one in records)
    best = next(one for one in records if one.run == facts["run"])
    assert facts["value"] == best.metrics["f1"] and facts["parameters"] == best.parameters
    assert {"constant", "rates", "lstm"} <= facts["model"]["test"].keys()
    assert facts["model"]["looks"] == 1
    model = ModelDir.open(swept.with_suffix(".sweep") / "best/model", HOLD)
    assert model.manifest is not None and model.manifest.digest == facts["model"]["digest"]
    champion = Registry(settings).champion("hold", facts["registry"]["cluster"])
    assert champion is not None and champion.digest == facts["model"]["digest"]
    assert "<svg" in (swept.with_suffix(".sweep") / "report.html").read_text()


def test_bestmodel_info_is_a_line_a_value(swept: Path) -> None:
    text = (swept.with_suffix(".sweep") / "best/bestmodel.info").read_text()
    values = {
        key: json.loads(value)
        for key, _, value in (line.partition(" = ") for line in text.splitlines())
    }
    facts = told("best", swept)
    assert values["run"] == facts["run"] and values["parameters.j"] == 3
    assert values["model.test.rates.log_loss"] == facts["model"]["test"]["rates"]["log_loss"]
    assert values["model.test.lstm.log_loss_gain.value"] != 0.0
    assert values["data.source.1"] == str(swept.parent / "pool.log")
    folder = swept.with_suffix(".sweep") / values["model.path"]
    assert ModelDir.open(folder, HOLD).chosen == values["model.chosen"]


def test_what_is_best_is_said_in_few_lines(swept: Path) -> None:
    lines, facts = said("best", swept).splitlines(), told("best", swept)
    best = swept.with_suffix(".sweep") / "best"
    assert lines[0].startswith(
        f"run {facts['run']} of 2: f1 {facts['value']:.4g} on the validation"
    )
    assert f"learning_rate {facts['parameters']['learning_rate']}" in lines[1]
    assert lines[2].startswith("  epochs      2; the weights kept are of epoch ")
    assert "looked at once" in lines[3]
    assert f"the baseline's ({Bootstrap.level * 100:.0f} %)" in lines[4]
    assert any(re.search(r"lstm, .*the run's .* [-+]0\.\d+ \([-+]0", line) for line in lines)
    assert any("the best baseline" in line for line in lines)
    assert not any("rules:" in line for line in lines if "best baseline" not in line)
    assert lines[-3:] == [
        f"model     {best / 'model'}",
        f"registry  {facts['registry']['digest']}, champion of cluster "
        f"{facts['registry']['cluster']}, in {facts['registry']['path']}",
        f"all else  {best / 'bestmodel.info'}, or --json",
    ]
    assert len(lines) < 12


def test_submitting_and_collecting_what_is_done_changes_nothing(swept: Path) -> None:
    folder = swept.with_suffix(".sweep")
    before = content(folder)
    assert said("submit", swept) == ""
    assert said("collect", swept) == said("best", swept)
    assert content(folder) == before


def test_what_a_finished_sweep_searched_cannot_change(swept: Path, tmp_path: Path) -> None:
    copied = tmp_path / "again"
    shutil.copytree(swept.parent, copied)
    moved = copied / swept.name
    assert "and moved since" in refused("collect", moved)
    shown = call("status", moved)
    assert shown.exit_code == 0 and "and moved since: no scheduler is asked" in shown.stderr
    assert shown.stdout.startswith("done (here)\nruns: 2 finished; 4 of at most 4 epochs\n")
    for name in ("record.jsonl", "result.json"):
        (moved.with_suffix(".sweep") / "runs/0002" / name).unlink()
    assert said("status", moved).startswith("not done; submit again to continue (here)\n")
    body = json.loads(swept.read_text())
    try:
        swept.write_text(json.dumps(body | {"epochs": 3}))
        message = refused("plan", swept)
        assert "epochs was 2 and is 3" in message and "another `folder`" in message
        swept.write_text(json.dumps(body | {"resources": {"memory": "3 GB"}}))
        said("plan", swept)  # how it runs may
    finally:
        swept.write_text(json.dumps(body))
        said("plan", swept)


def test_collect_finishes_by_hand_what_ended(swept: Path) -> None:
    folder = swept.with_suffix(".sweep")
    digest = told("best", swept)["model"]["digest"]
    (folder / "best/bestmodel.json").unlink()
    shutil.rmtree(folder / "best/model")
    assert "has no best run yet" in refused("best", swept)
    ended = folder / "runs/0002"
    kept = ended.rename(folder / "kept")
    try:
        assert "1 run of 2 have not ended" in refused("collect", swept)
    finally:
        shutil.rmtree(ended, ignore_errors=True)
        kept.rename(ended)
    assert told("collect", swept)["model"]["digest"] == digest


def test_cleanup_keeps_records_and_the_best(swept: Path, tmp_path: Path) -> None:
    folder = swept.with_suffix(".sweep")
    facts = told("best", swept)
    with pytest.raises(UsageError, match="--yes"):
        raise call("cleanup", swept).exception or AssertionError
    removed = told("cleanup", swept, "--yes")
    assert removed["bytes"] > 0
    assert not (folder / "submitted").exists()
    models = [int(path.parent.name) for path in folder.glob("runs/*/model")]
    assert models == [facts["run"]] and not list(folder.glob("runs/*/checkpoint"))
    assert told("cleanup", swept, "--yes")["removed"] == []
    assert told("best", swept) == facts
    assert [one.status.value for one in read_all(folder / "runs")] == ["finished"] * 2
    assert said("status", swept).startswith("done (here)")


def test_another_terminal_cancels_it(file: Path) -> None:
    small_sweeps.config(file.parent, runs=1, epochs=9999, early_stopping={"patience": 9999})
    folder = file.with_suffix(".sweep")
    command = [sys.executable, "-m", "jobsight", "sweep", "submit", str(file)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            until(lambda: [len(run.epochs) for run in read_all(folder / "runs")] > [2], "epochs")
            assert f"jobsight sweep cancel {folder}" in refused("submit", file, kind=ClusterError)
            assert f"continue with: jobsight sweep submit {file}" in said("cancel", file).lower()
            assert "cancelled when 1 of 4 nodes were done" in process.communicate()[1]
        finally:
            process.kill()
    assert "stopped with 3 nodes not done; submit again to continue" in said("status", file)
    assert "there is nothing to cancel" in refused("cancel", folder, kind=ClusterError)
    assert read_all(folder / "runs")[0].history[-1].ending == "evicted"


def test_slurms_tools_are_those_of_the_settings_named(file: Path, tmp_path: Path) -> None:
    told = json.loads(file.read_text())
    file.write_text(json.dumps(told | {"where": "slurm"}))
    settings = tmp_path / "settings.yaml"
    settings.write_text(f"slurm: {{bin: {tmp_path}/tools}}\n")
    said("plan", file, "--config", settings)
    missing = f"is not in {tmp_path}/tools"
    assert missing in refused("submit", file, "--config", settings, kind=ClusterError)
    folder = file.with_suffix(".sweep")
    digest = plan_digest(read_plan(Layout(folder)))
    Record(digest, 1, {"12": {0: "parse-s01"}}).write(folder)
    for verb in ("submit", "cancel"):
        assert missing in refused(verb, file, "--config", settings, kind=ClusterError)
    shown = said("status", file, "--config", settings)
    assert shown.startswith("running, by its files") and missing in shown
    for verb in ("collect", "cleanup"):  # for all we know it is being worked on
        assert "being worked on" in refused(verb, file, "--config", settings)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("sweep.json", "{", "sweep.json is damaged"),
        ("sweep.json", '{"schema": "jobsight.sweep/9"}', "use the version that planned it"),
        ("plan.json", "[]", "plan.json is damaged"),
        ("plan.json", None, "has no plan"),
        ("sweep.json", None, "is no sweep's folder"),
    ],
)
def test_damage_is_told_in_a_line(file: Path, name: str, text: str | None, message: str) -> None:
    said("plan", file)
    path = file.with_suffix(".sweep") / name
    path.unlink()
    if text is not None:
        path.write_text(text)
    assert message in refused("status", file)


def test_errors_of_calls(file: Path, tmp_path: Path) -> None:
    folder = file.with_suffix(".sweep")
    assert "is no sweep's folder" in refused("status", file)
    assert "there is no" in refused("plan", tmp_path / "none.yaml", kind=SettingsError)
    folder.mkdir()
    (folder / "letter.txt").write_text("mine")
    assert "'letter.txt', but no sweep" in refused("plan", file)
    assert "name the sweep's config" in refused("submit", folder, kind=UsageError)
    shutil.rmtree(folder)
    said("plan", file)
    assert "none of 3 runs has ended yet" in refused("collect", file, "--without-missing")
    assert "has no best run yet" in refused("best", file)
    (folder / "plan.json").write_text("{")
    said("plan", file)
    (folder / "plan.json").unlink()
    said("plan", file)
    small_sweeps.config(file.parent, data=["pool.log", "none.log"])
    missing = refused("plan", file, kind=SourceError)
    assert re.match(rf"{re.escape(str(file))}:\d+:\d+: there is no file '.*/none.log'", missing)


def test_a_node_that_cannot_do_its_work_says_why(file: Path) -> None:
    small_sweeps.config(file.parent, runs=1)
    said("plan", file)
    (file.parent / "pool.log").unlink()
    message = refused("submit", file, kind=JobsightError)
    assert "there is no file" in message
    small_sweeps.write_log(file.parent / "pool.log", clusters=20)
    message = refused("submit", file)  # too small a log to judge the best run by
    assert "the sweep is not done: best failed" in message and "too few batches" in message
    assert told("status", file)["ended"] == 1
