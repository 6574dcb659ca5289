"""Training and judging `start`: a report for each target, and what is saved answers the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.support import failing

from jobsight.learning.dataset import Dataset
from jobsight.learning.evaluation import evaluate_all
from jobsight.learning.modeldir import ModelDir, by_target
from jobsight.learning.train import train
from jobsight.questions.start.question import START, StartSettings


@pytest.mark.slow
def test_both_targets_are_learned_reported_and_opened_again(tmp_path: Path) -> None:
    jobs = failing.table(300)
    data = Dataset.for_training(START, jobs, StartSettings(bootstrap=100))
    names = ("constant", "last", "limit", "boosted", "mixture")
    trained = train(data, names=names)
    (tmp_path / "m").mkdir()
    trained.model.save(tmp_path / "m", seed=0, facts=trained.facts())
    model = ModelDir.open(tmp_path / "m", START)
    found = evaluate_all(model, jobs)
    report = by_target(START, {name: one.to_json() for name, one in found.items()})
    assert set(report["chosen"]) == {"wait", "runtime"}
    assert report["examples"] == len(found["wait"].table) > 20
    own = {"wait": "last", "runtime": "limit"}
    for target, baseline in own.items():
        scores = report[target]["models"]
        assert set(scores) == {"constant", baseline, "boosted", "mixture"}
        for one in scores.values():
            assert {"log10_mse", "within_2", "within_3", "pinball", "coverage_80"} <= set(one)
        assert scores["mixture"]["pinball"] < 1.1 * scores["constant"]["pinball"]
        before = trained.targets[target].evaluation.predictions["mixture"]
        assert np.allclose(before, found[target].predictions["mixture"])
