from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests import pools
from tests.histories import micros, table

from jobsight.history.timelines import History
from jobsight.questions.hold.training.dataset import Dataset
from jobsight.questions.hold.training.evaluation import evaluate, unseen
from jobsight.questions.hold.training.model import HoldModel
from jobsight.questions.hold.training.recipes import recipe_named
from jobsight.questions.hold.training.seed_recipe import first_holds, whole_life
from jobsight.questions.hold.training.train import Trained, train
from jobsight.settings import STATE_EVENTS


@pytest.fixture(scope="module")
def trained() -> Trained:
    return train(Dataset.for_training(pools.history(), pools.settings(recipe="seed")))


def test_each_held_job_is_one_decision_labelled_by_whether_it_ever_terminated() -> None:
    rows = [
        {"at": 0, "proc": 0, "code": 0},
        {"at": 1, "proc": 0, "code": 12, "hold_code": 13},
        {"at": 2, "proc": 0, "code": 13},
        {"at": 3, "proc": 0, "code": 12, "hold_code": 13},
        {"at": 4, "proc": 0, "code": 13},
        {"at": 5, "proc": 0, "code": 5, "return_value": 1},
        {"at": 6, "proc": 1, "code": 0},
        {"at": 7, "proc": 1, "code": 12, "hold_code": 1},
        {"at": 8, "proc": 1, "code": 9},
        {"at": 9, "proc": 2, "code": 12, "hold_code": 3},
        {"at": 10, "proc": 3, "code": 0},
        {"at": 11, "proc": 3, "code": 5, "return_value": 0},
    ]
    found = first_holds(History.from_table(table(rows)))
    assert found["proc"].to_list() == [0, 1, 2]
    assert found["outcome"].to_list() == [True, False, None]
    assert found["censored"].to_list() == [None, None, "log_ended"]
    assert found["hold_row"].to_list() == [1, 7, 9]
    assert found["cut"].to_list() == [2, 8, 10]
    assert found["resolved_row"].to_list() == [5, 8, None]
    life = whole_life(found)
    assert life["cut"].to_list() == [6, 9]
    assert life["time"].to_list() == [micros(5), micros(8)]


def test_nothing_held_is_no_decision() -> None:
    history = History.from_table(table([{"at": 0, "code": 0}, {"at": 1, "code": 5}]))
    assert len(first_holds(history)) == 0


def test_the_columns_are_those_of_every_decision_table() -> None:
    ours = Dataset.for_training(pools.history(), pools.settings()).decisions.table
    seeds = first_holds(pools.history())
    assert set(seeds.columns) == set(ours.columns)
    same = [name for name in ours.columns if name != "censored"]
    assert {name: seeds.schema[name] for name in same} == {name: ours.schema[name] for name in same}


def test_settings_that_the_recipe_fixes() -> None:
    recipe = recipe_named("seed")
    settings = recipe.settings(pools.settings())
    assert recipe.settings(settings) == settings
    assert (settings.recipe, settings.as_of, settings.success) == ("seed", "hold", "terminated")
    assert settings.lstm.network == "lstm-flat"
    own = pools.settings(lstm={"network": "mine:Net"})
    assert recipe.settings(own).lstm.network == "mine:Net"


def test_the_model_reads_frames_alone_and_answers(trained: Trained) -> None:
    assert trained.model.chosen == "lstm"
    assert trained.model.names == ()
    assert set(trained.model.fitted) >= {"constant", "rules:ospool", "lstm"}
    inputs = trained.parts["train"][1].inputs
    assert inputs.features.shape == (len(inputs), 0)
    assert not inputs.causes
    assert not len(trained.model.borders)
    assert not trained.model.delays


def test_frames_of_the_whole_life_end_with_what_the_label_says(trained: Trained) -> None:
    settled = trained.data.table.filter(pl.col("outcome").is_not_null())
    _, labelled = trained.data.examples(whole_life(settled))
    frames = labelled.inputs.frames
    assert frames is not None
    terminated = frames[:, -1, 0] == STATE_EVENTS.index(5) + 1
    assert np.array_equal(terminated, labelled.success)
    _, asked = trained.data.examples(settled)
    assert asked.inputs.frames is not None
    assert set(asked.inputs.frames[:, -1, 0].tolist()) == {STATE_EVENTS.index(12) + 1}


def test_it_is_judged_by_what_it_was_not_trained_on(trained: Trained, tmp_path: Path) -> None:
    trained.model.save(tmp_path, seed=0, facts=trained.facts())
    model = HoldModel.open(tmp_path)
    data = Dataset.for_judging(pools.history(), model)
    rows, left_out = unseen(model, data)
    report = evaluate(model, data, rows, left_out)
    assert left_out["trained_on"] == len(model.seen)
    assert len(report.table) == len(trained.parts["test"][0])
    assert report.to_json()["models"] == trained.model.report["models"]
