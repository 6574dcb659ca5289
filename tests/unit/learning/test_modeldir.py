import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.support import pools
from tests.unit.learning.manifests import forge, relist

from jobsight.errors import ModelError
from jobsight.learning.fingerprints import fingerprints
from jobsight.learning.modeldir import ModelDir
from jobsight.questions.hold.question import HOLD

RATES = "outcome/models/rates/model.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = pools.trained()
    (tmp_path / "model").mkdir()
    made.model.save(tmp_path / "model", seed=0, facts=made.facts())
    return tmp_path / "model"


def test_an_opened_model_is_the_saved_one(folder: Path) -> None:
    made = pools.trained()
    opened = ModelDir.open(folder, HOLD)
    inputs = made.main.parts["test"][1].inputs
    assert opened.settings == made.model.settings
    assert opened.encoding == made.model.encoding
    assert opened.names == made.model.names
    assert opened.borders.tolist() == made.model.borders.tolist()
    assert opened.seen.tolist() == made.model.seen.tolist()
    assert opened.main.report["chosen"] == opened.chosen
    assert list(opened.fitted) == list(made.model.fitted)
    for name, fitted in opened.fitted.items():
        before = made.model.fitted[name].predict(inputs)
        np.testing.assert_allclose(fitted.predict(inputs), before, atol=1e-12)
    assert opened.label.startswith(opened.chosen)
    assert opened.main.moments.keys() == made.model.main.moments.keys()


def test_only_the_answering_model_can_be_loaded(folder: Path) -> None:
    opened = ModelDir.open(folder, HOLD, only_chosen=True)
    assert list(opened.fitted) == [opened.chosen]
    assert opened.answering is opened.fitted[opened.chosen]


def edit(path: Path, **changed: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


def test_another_schema_or_question_is_refused(folder: Path) -> None:
    edit(folder / "model.json", schema=99)
    relist(folder, "model.json")
    with pytest.raises(ModelError, match="schema 99"):
        ModelDir.open(folder, HOLD)
    forge(folder, question="fail")
    with pytest.raises(ModelError, match="'fail'"):
        ModelDir.open(folder, HOLD)
    forge(folder, schema="jobsight.model/9")
    with pytest.raises(ModelError, match=r"jobsight\.model/9"):
        ModelDir.open(folder, HOLD)


def test_a_damaged_body_is_one_clear_error(folder: Path) -> None:
    edit(folder / "model.json", encoding={"time_scale": 1})
    relist(folder, "model.json")
    with pytest.raises(ModelError, match="damaged"):
        ModelDir.open(folder, HOLD)
    with pytest.raises(ModelError, match="no model directory"):
        ModelDir.open(folder / "outcome", HOLD)


def edit_outcome(folder: Path, **changed: object) -> None:
    body = json.loads((folder / "model.json").read_text())
    edit(folder / "model.json", targets={"outcome": body["targets"]["outcome"] | changed})
    relist(folder, "model.json")


def rename(folder: Path, old: str, new: object) -> None:
    fitted = json.loads((folder / "model.json").read_text())["targets"]["outcome"]["fitted"]
    for data in fitted:
        if data["name"] == old:
            data["name"] = new
    edit_outcome(folder, fitted=fitted)


@pytest.mark.parametrize("name", ["rules:/../../../outside", "rules:none", "oracle", "", 3, ["x"]])
def test_a_name_of_no_model_is_refused(folder: Path, name: object) -> None:
    (folder / "outcome" / "models" / "rules-" / "x").mkdir(parents=True)
    rename(folder, "rates", name)
    with pytest.raises(ModelError, match="no model is named"):
        ModelDir.open(folder, HOLD)


@pytest.mark.parametrize(
    "changed",
    [
        {"borders": [1, 2]},
        {"borders": []},
        {"borders": [10**30] * 3},
        {"names": None},
        {"targets": {}},
        {"targets": 7},
    ],
)
def test_an_odd_body_is_one_clear_error(folder: Path, changed: dict[str, object]) -> None:
    edit(folder / "model.json", **changed)
    relist(folder, "model.json")
    with pytest.raises(ModelError, match="damaged"):
        ModelDir.open(folder, HOLD)


@pytest.mark.parametrize(
    "changed",
    [
        {"chosen": "lstm"},
        {"chosen": ["rates"]},
        {"fitted": [3]},
        {"fitted": {"rates": {}}},
        {"moments": [[1]]},
        {"moments": 7},
    ],
)
def test_an_odd_target_is_one_clear_error(folder: Path, changed: dict[str, object]) -> None:
    edit_outcome(folder, **changed)
    with pytest.raises(ModelError, match="damaged"):
        ModelDir.open(folder, HOLD)


@pytest.mark.parametrize("name", ["model.json", "report.json", RATES])
@pytest.mark.parametrize("text", ["[]", "null", "[" * 100_000, '{"a":' * 100_000])
def test_a_file_that_holds_something_else_is_one_clear_error(
    folder: Path, name: str, text: str
) -> None:
    (folder / name).write_text(text)
    relist(folder, name)
    with pytest.raises(ModelError):
        ModelDir.open(folder, HOLD)


def test_labels_tell_models_apart(folder: Path) -> None:
    before = ModelDir.open(folder, HOLD).label
    assert ModelDir.open(folder, HOLD).label == before
    # Files alike in all models, such as that of the constant, do not decide.
    edit(folder / "report.json", more=1)
    relist(folder, "report.json")
    assert ModelDir.open(folder, HOLD).label != before


def test_a_label_names_the_models_that_failed_their_tests(folder: Path) -> None:
    model = ModelDir.open(folder, HOLD)
    passed, failed = {"rejected": None}, {"rejected": {"name": "mixture"}}
    first = replace(model.main, chosen="rates", moments={}, report=failed)
    later = replace(first, chosen="boosted", report={})
    other = replace(first, chosen="constant")
    report = {**failed, "by_moment": {"later": passed}}
    first = replace(first, moments={"later": later}, report=report)
    both = replace(model, targets={"outcome": first, "kind": other}, manifest=None)
    assert both.label == "rates (mixture failed its test); kind: constant (not mixture)"
    assert both.label_at("later") == "boosted; kind: constant (not mixture)"


def test_fingerprints_tell_decisions_apart_and_again() -> None:
    table = pools.trained().data.table
    one = fingerprints(table, HOLD.key)
    assert one.dtype == np.uint64
    assert len(np.unique(one)) == len(table)
    assert fingerprints(table.reverse(), HOLD.key).tolist() == one[::-1].tolist()
    assert len(fingerprints(table.clear(), HOLD.key)) == 0
