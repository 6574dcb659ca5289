import sys
from dataclasses import replace
from pathlib import Path
from subprocess import run

import numpy as np
import pytest

from jobsight.errors import ModelError
from jobsight.models.base import Inputs
from jobsight.models.boosted import Boosted
from jobsight.models.trees import Trees
from jobsight.settings import BoostedSettings
from jobsight.testing import made_examples

TRAIN, LATER = (made_examples(rows, seed=rows) for rows in (400, 200))


@pytest.fixture(scope="module")
def model() -> Boosted:
    model = Boosted()
    model.fit(TRAIN, seed=0)
    return model


def with_gaps(inputs: Inputs) -> Inputs:
    features = inputs.features.copy()
    random = np.random.default_rng(0)
    features[random.random(features.shape) < 0.3] = np.nan
    features[random.random(features.shape) < 0.1] = 0.0
    features[random.random(features.shape) < 0.05] = np.inf
    return replace(inputs, features=features)


def test_arrays_answer_as_lightgbm_does(model: Boosted, tmp_path: Path) -> None:
    import lightgbm

    model.save(tmp_path)
    booster = lightgbm.Booster(model_file=tmp_path / "lightgbm.txt")
    for inputs in (LATER.inputs, with_gaps(LATER.inputs)):
        columns = model._columns(inputs)
        margin = booster.predict(columns, raw_score=True) + columns[:, -2]
        expected = 1.0 / (1.0 + np.exp(-margin))
        np.testing.assert_allclose(model.predict(inputs), expected, rtol=0, atol=1e-14)


def test_its_settings_hold_for_every_fit_and_are_saved(tmp_path: Path) -> None:
    given = BoostedSettings(num_leaves=2, feature_fraction=1.0)
    model = Boosted(given)
    model.fit(TRAIN, seed=0)
    model.save(tmp_path)
    for one in (model, Boosted.load(tmp_path).refitted(TRAIN, seed=0)):
        text = one._text
        assert "[num_leaves: 2]" in text and "[feature_fraction: 1]" in text


def test_trees_start_from_the_rate_of_the_finest_cause(model: Boosted) -> None:
    assert model._causes.names[-2] == "rate of subcode"


@pytest.mark.parametrize(
    "parameters", [{}, {"zero_as_missing": True}, {"use_missing": False}], ids=str
)
def test_every_kind_of_missing_value(
    parameters: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    import lightgbm

    random = np.random.default_rng(3)
    columns = random.normal(size=(400, 3)).round(1)
    columns[random.random(columns.shape) < 0.3] = np.nan
    columns[random.random(columns.shape) < 0.3] = 0.0
    success = np.nan_to_num(columns[:, 0], nan=1.0) + (columns[:, 1] == 0.0) > 0.5
    settings = {"objective": "binary", "verbosity": -1, "num_threads": 1, **parameters}
    booster = lightgbm.train(settings, lightgbm.Dataset(columns, success.astype(float)), 20)
    asked = np.concatenate([columns, [[np.nan] * 3, [0.0] * 3, [1e-36, -1e-36, 0.0]]])
    trees = Trees.from_dump(booster.dump_model())
    margin = trees.margin(asked)
    expected = booster.predict(asked, raw_score=True)
    np.testing.assert_allclose(margin, expected, rtol=0, atol=1e-12)
    monkeypatch.setattr("jobsight.models.trees._FEW", 0)
    assert trees.margin(asked).tobytes() == margin.tobytes()  # many rows, by the kernel


def test_it_learns_and_stops_early(model: Boosted) -> None:
    probability = model.predict(LATER.inputs)
    right = np.where(LATER.success, probability, 1 - probability)
    base = TRAIN.success.mean()
    assert -np.log(right).mean() < -np.log(np.where(LATER.success, base, 1 - base)).mean() - 0.05
    assert len(model.trees.roots) < 600


def test_a_dozen_rows_are_enough_to_say_something() -> None:
    model = Boosted()
    model.fit(made_examples(12, seed=1), seed=0)
    assert np.ptp(model.predict(LATER.inputs)) < 0.5


def test_answering_imports_neither_lightgbm_nor_scikit_learn(
    model: Boosted, tmp_path: Path
) -> None:
    model.save(tmp_path)
    script = (
        "import sys, pathlib; from jobsight.models import load; "
        "from jobsight.testing import made_examples; "
        f"load('boosted', pathlib.Path({str(tmp_path)!r})).predict(made_examples(3, seed=0).inputs)"
        "; print([m for m in ('lightgbm', 'sklearn', 'torch') if m in sys.modules])"
    )
    done = run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_other_features_are_refused_by_name(model: Boosted) -> None:
    with pytest.raises(ModelError, match="'other' stands where 'load'"):
        model.predict(replace(LATER.inputs, names=("other", "age", "wait", "same")))


@pytest.mark.parametrize("field", ["left", "feature", "roots"])
def test_arrays_that_would_lead_astray_are_refused(
    model: Boosted, tmp_path: Path, field: str
) -> None:
    broken = getattr(model.trees, field).copy()
    broken[0] = 10**6 if field != "left" else 0
    replace(model.trees, **{field: broken}).save(tmp_path / "trees.safetensors")
    with pytest.raises(ModelError, match="do not form trees"):
        Trees.load(tmp_path / "trees.safetensors", 99)


def test_a_rising_feature_never_speaks_against_success() -> None:
    train = replace(TRAIN, inputs=replace(TRAIN.inputs, rising=frozenset({"load"})))
    model = Boosted()
    model.fit(train, seed=1)
    steps = np.sort(train.inputs.features[:, 0])
    asked = train.inputs.take(np.zeros(len(steps), np.int64))
    asked = replace(asked, features=np.column_stack([steps, asked.features[:, 1:]]))
    assert np.all(np.diff(model.predict(asked)) >= 0.0)
