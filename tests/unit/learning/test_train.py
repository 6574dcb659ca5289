from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.support import pools

from jobsight.errors import TrainingError, UsageError
from jobsight.files import sha256
from jobsight.history.timelines import History
from jobsight.learning import train as training
from jobsight.learning.backtest import backtest
from jobsight.learning.dataset import Dataset
from jobsight.learning.mixture import REFIT, Mixture
from jobsight.learning.targets import BinaryCalibrated
from jobsight.learning.train import fit_model, model_names, train
from jobsight.models.base import Floats, Inputs, Labelled, Model
from jobsight.models.calibration import Intervals, choose_calibration, cross_validated
from jobsight.questions.hold import question
from jobsight.questions.hold.answering.chances import delays_of
from jobsight.questions.hold.examples.builder import ExampleBuilder
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings

pytestmark = pytest.mark.usefixtures("fewest_trees")


def saved(
    folder: Path,
    settings: HoldSettings,
    names: Sequence[str] = ("constant", "rates", "boosted", "lstm"),
) -> dict[str, str]:
    made = train(Dataset.for_training(HOLD, pools.history(), settings), names=names)
    folder.mkdir()
    made.model.save(folder, seed=settings.seed, facts=made.facts())
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): sha256(path) for path in files}


def test_same_input_and_seed_give_the_same_bytes(tmp_path: Path) -> None:
    first = saved(tmp_path / "a", pools.settings(seed=3))
    assert first == saved(tmp_path / "b", pools.settings(seed=3))
    other = saved(tmp_path / "c", pools.settings(seed=4), names=("constant", "lstm"))
    network = "outcome/models/lstm/network.safetensors"
    assert first[network] != other[network]


def test_training_beats_the_constant_and_knows_its_parts() -> None:
    made = pools.trained()
    scores = made.main.evaluation.scores
    chosen = scores[made.model.chosen]
    assert (chosen["roc_auc"] or 0.0) > 0.8
    assert (chosen["log_loss"] or 1.0) < (scores["constant"]["log_loss"] or 0.0)
    facts = made.facts()
    assert sum(part["examples"] for part in facts["parts"].values()) < len(made.data.table)
    assert len(facts["borders"]) == 3
    assert made.model.seen.tolist() == sorted(made.model.seen.tolist())


def test_one_class_only_says_what_is_needed() -> None:
    events = pools.history().table.with_columns(
        return_value=pl.when(pl.col("code") == 5).then(1).cast(pl.Int32)
    )
    data = Dataset.for_training(HOLD, History.from_table(events), pools.settings())
    with pytest.raises(TrainingError, match=r"0 batches that succeeded.*at least 3 of each"):
        train(data, names=("constant",))


def test_too_few_batches_says_how_many_are_needed() -> None:
    data = Dataset.for_training(HOLD, pools.history(clusters=20), pools.settings())
    with pytest.raises(
        TrainingError, match=r"too few batches.*at least 30 to train with and 5 to test with"
    ):
        train(data, names=("constant",))


def test_a_model_that_cannot_be_trained_is_an_error_only_if_it_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Blind(ExampleBuilder):
        def inputs(self, decisions: pl.DataFrame, delay: float | Floats = 0.0) -> Inputs:
            return replace(super().inputs(decisions, delay), frames=None)

    monkeypatch.setattr(question, "ExampleBuilder", Blind)
    data = Dataset.for_training(HOLD, pools.history(), pools.settings())
    made = train(data, names=("constant", "lstm"))
    assert "without frames" in made.main.skipped["lstm"]
    with pytest.raises(TrainingError, match="without frames"):
        train(data, names=("constant", "lstm"), required="lstm")


def test_baselines_always_stand_beside_the_model_asked_for() -> None:
    assert model_names(HOLD, "boosted")[-1] == "boosted"
    assert {"constant", "rates", "rules:ospool"} < set(model_names(HOLD, "boosted"))
    assert {"boosted", "lstm"} < set(model_names(HOLD, "all"))
    with pytest.raises(
        UsageError, match=r"no model of hold is named 'nope'; known are all, constant"
    ):
        model_names(HOLD, "nope")


def test_delays_are_those_that_enough_batches_support() -> None:
    made = pools.trained()
    for delay, fitted in delays_of(made.model).items():
        assert delay in made.model.encoding.delays
        assert fitted.train_batches >= 30
        assert fitted.model.name == made.model.chosen
    inputs = made.main.parts["test"][1].inputs
    predicted = made.model.answering.predict(inputs)
    low, high = made.model.answering.bounds(predicted)
    assert bool(((low <= predicted) & (predicted <= high)).all())
    assert np.isfinite(predicted).all()


def test_a_model_is_calibrated_on_its_backtest_and_nothing_else() -> None:
    made = pools.trained()
    before = backtest(
        made.data,
        made.main.parts["train"],
        ["rates"],
        lambda name, rows: fit_model(name, made.data, rows),
    )
    raw = before.predictions["rates"]
    calibrated = made.model.fitted["rates"].calibrated
    assert isinstance(calibrated, BinaryCalibrated)
    assert calibrated.calibration == choose_calibration(raw, before.values, before.weight)
    validated = cross_validated(calibrated.calibration.kind, raw, before.values, before.weight)
    intervals = Intervals.fit(validated, before.values, before.weight)
    assert calibrated.intervals.to_json() == intervals.to_json()
    # It starts from a rate that follows what happens.
    follows = made.model.fitted["boosted"].calibrated
    assert isinstance(follows, BinaryCalibrated)
    assert follows.calibration.kind == "identity"


def test_a_model_that_could_not_be_fitted_early_enough_is_skipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = Dataset.for_training(HOLD, pools.history(), pools.settings())
    everything = len(data.labelled(data.part("train"))[1])

    def late(name: str, data: Dataset, rows: Labelled) -> Model:
        if name == "linear" and len(rows) < everything:
            raise TrainingError("linear: too little")
        return fit_model(name, data, rows)

    monkeypatch.setattr(training, "fit_model", late)
    made = train(data, names=("constant", "rates", "linear"))
    assert made.main.skipped == {"linear": "linear: too little"}
    assert set(made.model.fitted) == {"constant", "rates"}
    with pytest.raises(TrainingError, match="linear: too little"):
        train(data, names=("constant", "rates", "linear"), required="linear")


def test_a_mixture_has_rates_that_begin_from_training_with_several_caps() -> None:
    """Their own history cannot show which of them suits another one: they begin alike."""
    rates = ("rates:learning", "rates:learning:0", "rates:learning:20", "rates:learning:all")
    data = Dataset.for_training(HOLD, pools.history(), pools.settings(delays=()))
    made = train(data, names=("constant", "rates", *rates, "linear", "mixture"))
    mixture = made.model.fitted["mixture"].model
    assert isinstance(mixture, Mixture)
    assert list(mixture.members) == ["constant", *rates, "linear", REFIT]
    assert len(set(mixture.weights.now[:-1].tolist())) == 1
    assert np.array_equal(mixture.weights.now, mixture.weights.usual)
