import numpy as np
import pytest

from jobsight.errors import TrainingError
from jobsight.learning.backtest import Choice, choose_model
from jobsight.learning.bootstrap import Bootstrap
from jobsight.learning.targets import Binary
from jobsight.models.base import Floats

RANDOM = np.random.default_rng(0)
TRUTH = RANDOM.choice([0.1, 0.9], 300)
SUCCESS = RANDOM.random(300) < TRUTH
BOOTSTRAP = Bootstrap(SUCCESS, np.ones(300), np.arange(300), 300)
CONSTANT = np.full(300, 0.5)
# Drawn once: a test must not depend on which others ran before it.
NOISY, SLIGHTLY = (
    np.clip(TRUTH + RANDOM.normal(scale=scale, size=300), 0.01, 0.99) for scale in (0.4, 0.002)
)
BASES = ("constant", "rates")


def chosen(predictions: dict[str, Floats], bootstrap: Bootstrap, **more: str) -> Choice:
    return choose_model(predictions, BASES, bootstrap, target=Binary(), **more)


@pytest.mark.parametrize("metric", ["log_loss", "brier", "roc_auc", "f1", "f1_failure"])
def test_a_model_that_surely_beats_every_baseline_answers(metric: str) -> None:
    predictions = {"constant": CONSTANT, "rates": NOISY, "boosted": TRUTH, "linear": NOISY}
    choice = chosen(predictions, BOOTSTRAP, metric=metric)
    assert choice.name == "boosted"
    assert f"boosted answers: {metric} " in choice.reason
    assert set(choice.values) == set(predictions)


def test_a_model_no_better_leaves_the_best_baseline_to_answer() -> None:
    choice = chosen({"constant": CONSTANT, "rates": TRUTH, "boosted": SLIGHTLY}, BOOTSTRAP)
    assert choice.name == "rates"
    assert "No model surely beats every baseline" in choice.reason


def test_it_must_beat_the_other_baselines_too() -> None:
    choice = chosen({"constant": CONSTANT, "worse": np.full(300, 0.4)}, BOOTSTRAP)
    assert choice.name == "constant"


def test_only_baselines() -> None:
    choice = chosen({"constant": CONSTANT, "rates": TRUTH}, BOOTSTRAP)
    assert choice.name == "rates"
    assert "only baselines" in choice.reason


def test_one_class_is_compared_by_log_loss() -> None:
    one = Bootstrap(np.ones(50, bool), np.ones(50), np.arange(50), 200)
    choice = chosen({"constant": np.full(50, 0.5)}, one, metric="roc_auc")
    assert "constant answers: log_loss 0.693" in choice.reason


def test_nothing_to_choose_from() -> None:
    nothing = Bootstrap(np.zeros(0, bool), np.zeros(0), np.zeros(0, np.int64))
    with pytest.raises(TrainingError, match="no decisions"):
        chosen({"constant": np.zeros(0)}, nothing)


def test_what_is_safe_answers_unless_surely_worse_than_the_best_baseline() -> None:
    worse = np.clip(1.0 - TRUTH, 0.2, 0.8)
    base = {"constant": CONSTANT, "rates": TRUTH, "boosted": SLIGHTLY}
    for mixture, name in ((SLIGHTLY, "mixture"), (worse, "rates")):
        choice = chosen({**base, "mixture": mixture}, BOOTSTRAP, safe="mixture")
        assert choice.name == name
    choice = chosen({**base, "mixture": SLIGHTLY}, BOOTSTRAP)
    assert choice.name == "rates"  # without the safety it must win


def test_what_is_safe_answers_before_a_model_that_surely_wins() -> None:
    near = 0.9 * TRUTH + 0.05
    predictions = {"constant": CONSTANT, "rates": NOISY, "boosted": TRUTH, "mixture": near}
    assert chosen(predictions, BOOTSTRAP).name == "boosted"
    assert chosen(predictions, BOOTSTRAP, safe="mixture").name == "mixture"
    assert chosen(predictions, BOOTSTRAP, safe="absent").name == "boosted"
