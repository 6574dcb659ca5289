import datetime as dt
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.support import pools

from jobsight.errors import TrainingError
from jobsight.history.timelines import History
from jobsight.learning.bootstrap import Bootstrap
from jobsight.learning.dataset import Dataset
from jobsight.learning.evaluation import Evaluation, _against_baselines, evaluate
from jobsight.learning.fingerprints import fingerprints
from jobsight.learning.modeldir import ModelDir
from jobsight.learning.targets import Binary
from jobsight.models import is_baseline
from jobsight.questions.hold.question import HOLD


@pytest.fixture(scope="module")
def model() -> ModelDir:
    return pools.trained().model


def judged(model: ModelDir, history: History) -> Evaluation:
    data = Dataset.for_judging(history, model)
    rows, left_out = data.unseen_by(model)
    return evaluate(model.main, data, rows, left_out)


def test_the_training_log_counts_only_from_the_test_start_on(model: ModelDir) -> None:
    report = judged(model, pools.history())
    assert (report.table["time"] >= model.borders[1]).all()
    assert report.left_out["before_test_start"] > 0
    assert report.scores.keys() == model.fitted.keys()
    # The same decisions as the training's own test part, and so the same numbers.
    assert report.to_json()["models"] == model.main.report["models"]


def test_a_grown_log_counts_only_from_the_test_start_on(model: ModelDir) -> None:
    shorter, grown = judged(model, pools.history()), judged(model, pools.grown())
    assert (grown.table["time"] >= model.borders[1]).all()
    assert len(grown.table) > len(shorter.table)


def test_another_log_counts_whole(model: ModelDir) -> None:
    events = pools.history(clusters=80, seed=9).table.with_columns(access_point=pl.lit("other"))
    report = judged(model, History.from_table(events))
    assert "before_test_start" not in report.left_out
    assert len(report.table) > 50
    rows = report.by_known()
    assert [row["known"] for row in rows[:2]] == [0, 25]
    assert sum(row["batches"] for row in rows) == pytest.approx(report.batches, abs=0.5)
    for name, scores in report.scores.items():
        losses = sum(row["batches"] * row["log_loss"][name] for row in rows) / report.batches
        assert losses == pytest.approx(scores["log_loss"], rel=0.01), name


def test_nothing_to_judge_by_is_said(model: ModelDir) -> None:
    data = Dataset.for_judging(pools.history(), model)
    with pytest.raises(TrainingError, match="no decision with an outcome is left"):
        evaluate(model.main, data, np.zeros(len(data.table), np.bool_), {})


def test_a_model_surely_worse_than_the_best_baseline_fails_its_test(model: ModelDir) -> None:
    data = Dataset.for_judging(pools.history(), model)
    rows, left_out = data.unseen_by(model)
    weak = replace(model.main, chosen="constant", moments={})
    assert evaluate(weak, data, rows, left_out).rejected is None
    tested = evaluate(weak, data, rows, left_out, test=True)
    assert tested.rejected is not None and tested.rejected["name"] == "constant"
    best = min(
        filter(is_baseline, tested.scores), key=lambda name: tested.scores[name]["log_loss"] or 0.0
    )
    assert tested.chosen == tested.to_json()["chosen"] == best != "constant"
    assert f"{best} (" in tested.rejected["why"]
    assert evaluate(model.main, data, rows, left_out, test=True).rejected is None


def test_a_mixture_only_fails_where_it_is_surely_worse_than_the_constant() -> None:
    """It has the constant as a member: what it loses by chance is no reason to stop following."""
    values = np.random.default_rng(0).random(60) < 0.5
    even = np.full(60, 0.5)
    noisy = even + 0.1 * np.where(np.arange(60) % 2, values - 0.5, 0.5 - values) - 0.002
    noisy = np.where(np.arange(60) < 2, np.where(values, 0.4, 0.6), noisy)
    bootstrap = Bootstrap(values, np.ones(60), np.arange(60))
    for name in ("linear", "mixture"):
        gains, failure = _against_baselines(
            name, Binary(), {"constant": even, name: noisy}, bootstrap
        )
        gain = gains[name]
        assert gain.value is not None and gain.value > 0.0
        assert gain.low is not None and gain.low < 0.0
        assert (failure is None) == (name == "mixture")


def test_strata_and_quality_add_up(model: ModelDir) -> None:
    report = judged(model, pools.history())
    for name in ("cause", "owner", "site", "releaser", "edited"):
        rows = report.stratum(name)
        assert sum(row["examples"] for row in rows) == len(report.table)
        assert sum(row["batches"] for row in rows) == pytest.approx(report.batches, abs=0.5)
    nothing = report.quality(np.zeros(len(report.table), np.bool_))
    assert nothing["base_rate"] is None and nothing["roc_auc"] is None


def test_quality_over_time_is_by_week_or_by_quarter_of_a_single_one(model: ModelDir) -> None:
    report = judged(model, pools.history())
    quarters = report.over_time()
    assert [row["span"] for row in quarters] == ["quarter"] * 4
    assert sum(row["examples"] for row in quarters) == len(report.table)
    assert max(row["examples"] for row in quarters) - min(r["examples"] for r in quarters) <= 2
    weeks = pl.int_range(pl.len()) * 3 // pl.len() * 7 * 86_400_000_000
    spread = replace(report, table=report.table.with_columns(decided=pl.col("decided") + weeks))
    rows = spread.over_time()
    assert len(rows) == 3 and {row["span"] for row in rows} == {"week"}
    assert all(dt.date.fromisoformat(row["from"]).weekday() == 0 for row in rows)
    for name in (report.chosen, report.best_baseline):
        loss = sum(row["batches"] * row["loss"][name] for row in rows) / report.batches
        assert loss == pytest.approx(report.scores[name]["log_loss"], rel=0.01)


def test_the_report_is_plain_data_with_the_promised_keys(model: ModelDir) -> None:
    report = judged(model, pools.history()).to_json()
    wanted = {"question", "examples", "batches", "base_rate", "censored", "models", "chosen"}
    assert wanted <= report.keys()
    scores = {"roc_auc", "average_precision", "f1", "brier", "ece", "log_loss", "roc_auc_ci"}
    for name, row in report["models"].items():
        assert scores <= row.keys()
        assert 0.0 <= row["ece_by_chance"] < 1.0
        if name != "constant" and row["roc_auc_ci"] is not None:
            assert row["roc_auc_ci"][0] <= row["roc_auc"] <= row["roc_auc_ci"][1]
    assert report["models"]["constant"]["roc_auc"] == 0.5
    assert {"always_release", "rules:ospool", report["chosen"]} <= report["costs"].keys()
    for row in report["costs"].values():
        assert row["low"] <= row["cost"] <= row["high"]
        assert row["against_baseline"]["value"] is not None


def test_a_release_in_the_test_part_counts_though_its_hold_was_before(model: ModelDir) -> None:
    asked = replace(model, settings=pools.settings(as_of="hold"))
    data = Dataset.for_judging(pools.history(), asked)
    begin = int(model.borders[1])
    across = (data.table["time"].to_numpy() < begin) & (data.table["released"].to_numpy() >= begin)
    assert across.any()
    seen = np.unique(fingerprints(data.table, HOLD.key))
    rows, _ = data.unseen_by(replace(asked, seen=seen))
    assert rows[across].all()
    assert (data.table["released"].to_numpy()[rows] >= begin).all()
