"""The config of a sweep: what is read, what is refused with its place, what is drawn from it."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jobsight.errors import SettingsError
from jobsight.questions.hold.question import HOLD
from jobsight.tuning.config import SweepConfig, megabytes, seconds
from jobsight.tuning.space import parse, searchable, with_parameters
from jobsight.tuning.study import points

BASE = "data: pool.log\nruns: 3\nparameters:\n  m: {min: 4, max: 8}\n"


def read(tmp_path: Path, text: str) -> SweepConfig:
    (tmp_path / "s.yaml").write_text(text)
    return SweepConfig.read(tmp_path / "s.yaml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("runs: 3\n", "'data' is missing"),
        ("data: x\nparameters: {m: {min: 1, max: 5}}\n", "random needs 'runs'"),
        (
            BASE + "rans: 4\n",
            r"s.yaml:5:1: there is no 'rans' in a sweep's config; did you mean 'r",
        ),
        (BASE + "drop: {after: 3}\n", "'drop': hopeless runs are stopped by 'early_terminate'"),
        (BASE + "wandb: offline\n", "it belongs to 'tracking'"),
        (
            BASE + "resources: {memori: 3}\n",
            "s.yaml:5:13: there is no 'resources.memori'.*'memory'",
        ),
        (BASE + "resources: {memory: 3 XB}\n", "write a size such as 4 GB"),
        (BASE + "question: why\n", "no such question; known are hold"),
        (BASE + "model: forest\n", "hold has no such model"),
        (BASE + "metric: {name: f2}\n", "no such metric; known are"),
        (BASE + "metric: {name: f1, goal: minimize}\n", "s.yaml:5:26: .*write goal: maximize"),
        (BASE + "settings: {bootstrap: 3}\n", "s.yaml:5:23: settings.bootstrap: "),
        (BASE + "settings: {lstm: {epochs: 3}}\n", "lstm.epochs is set by epochs of the config"),
        (BASE + "settings: {frames: {m: 3}}\n", "frames.m is under 'settings' as well"),
        (BASE + "early_terminate: {type: hyperband}\n", "give min_iter, or max_iter and s"),
        (BASE + "where: dagman\nearly_terminate: {min_iter: 2}\n", "write shared: true"),
        (BASE + "model: boosted\nearly_terminate: {min_iter: 2}\n", "boosted have no epochs"),
        (BASE + "where: slurm\nshared: false\n", "Slurm transfers no files"),
        (BASE + f"description: {'a1' * 20}\n", "s.yaml:5: this looks like a key"),
        (BASE + "program: {environment: {MY_TOKEN: x}}\n", "this looks like a secret"),
        (BASE + "program: {pack: a.tar}\n", "there is no 'program.pack'"),
        (BASE.replace("runs: 3", "runs: 9\nmethod: grid"), "grid has only 5 points; write runs: 5"),
    ],
)
def test_a_bad_config_is_refused_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("[1, 2]", r"m' is \[1, 2\], not a mapping; write {values"),
        ("{min: 4}", "needs 'value', 'values', both 'min' and 'max'"),
        (
            "{min: 4, max: '50,'}",
            "s.yaml:4:20: .*the text '50,', not a number; write 50, without th",
        ),
        ("{min: 4, max: 5.5}", "one of min and max is an integer"),
        ("{min: 8, max: 4}", "min 8 is not below max 4"),
        ("{min: 4, max: 8, q: 2}", "write distribution: q_uniform"),
        ("{distribution: normal, mu: 3}", "no such distribution; write uniform"),
        ("{distribution: log_uniform, min: 0, max: 3}", "exponents; write log_uniform_values"),
        ("{distribution: unifrom, min: 0, max: 3}", "did you mean uniform"),
        ("{values: [4, 8], probabilities: [0.1, 0.9]}", "draws all values alike"),
        ("{values: [4, [5]]}", r"\[5\] is not a text, number or truth value"),
        ("{values: [4, 0]}", "s.yaml:4:19: .*0 is not allowed: Input should be greater"),
        ("{value: true}", "it is a truth value"),
        ("{min: -1, max: 5}", "s.yaml:4:12: .*-1 is not allowed"),
        ("{distribution: log_uniform_values, min: 0, max: 5}", "min must be above 0"),
        ("{min: 4, max: 8}\n  frames.m: {value: 3}", "'frames.m' and 'm' mean one setting"),
        ("{min: 4, max: 8}\n  mm: {value: 3}", "'mm' is unknown; there is m"),
        ("{min: 4, max: 8}\n  success: {value: 3}", "says what is asked"),
        ("{min: 4, max: 8}\n  epochs: {value: 3}", "is set by epochs"),
    ],
)
def test_a_bad_parameter_is_refused_with_its_place(tmp_path: Path, spec: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        read(tmp_path, BASE.replace("{min: 4, max: 8}", spec))


def test_wandbs_own_keys_are_read(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        "name: mine\nmethod: bayes\nmetric: {name: log_loss, goal: minimize}\nrun_cap: 7\n"
        "early_terminate: {type: hyperband, s: 2, eta: 3, max_iter: 27}\ndata: x\n"
        "parameters:\n  lstm: {parameters: {dropout: {min: 0.1, max: 0.5}}}\n",
    )
    assert (config.runs, config.metric.goal) == (7, "minimize")
    assert config.early_terminate is not None and config.early_terminate.first == 3
    assert [one.name for one in config.space] == ["lstm.dropout"]


def test_the_same_seed_gives_the_same_points_and_more_runs_more(tmp_path: Path) -> None:
    text = BASE + (
        "  learning_rate: {distribution: log_uniform_values, min: 0.001, max: 0.1}\n"
        "  batch_size: {distribution: q_log_uniform_values, q: 8, min: 8, max: 250}\n"
        "  hidden_size: {distribution: q_log_uniform_values, min: 2, max: 9}\n"
        "  dropout: {distribution: q_uniform, q: 0.05, min: 0.1, max: 0.5}\n"
    )
    drawn = list(points(read(tmp_path, text.replace("runs: 3", "runs: 300"))))
    assert list(points(read(tmp_path, text))) == drawn[:3]
    assert list(points(read(tmp_path, text + "seed: 1\n")))[:3] != drawn[:3]
    sizes = [point["batch_size"] for point in drawn]
    assert {size % 8 for size in sizes} == {0} and min(sizes) == 8 and max(sizes) > 200
    assert 30 < float(np.median(sizes)) < 70, "logarithmic"
    rates = np.log10([point["learning_rate"] for point in drawn])
    assert -2.2 < float(np.median(rates)) < -1.8 and rates.min() >= -3
    assert {round(point["dropout"] / 0.05, 6) % 1 for point in drawn} == {0.0}
    assert {type(point["hidden_size"]) for point in drawn} == {int}


def test_a_grid_has_all_points(tmp_path: Path) -> None:
    text = "data: x\nmethod: grid\nparameters:\n  m: {values: [4, 8, 4]}\n  j: {min: 2, max: 4}\n"
    found = list(points(read(tmp_path, text)))
    assert found == [{"j": j, "m": m} for j in (2, 3, 4) for m in (4, 8)]
    with pytest.raises(SettingsError, match="no countable values"):
        read(tmp_path, text + "  dropout: {min: 0.1, max: 0.5}\n")


@pytest.mark.parametrize(
    ("value", "expected"),
    [("4 GB", 4096), ("512M", 512), ("1.5 TiB", 1_572_864), (100, 100), ("1 k", 1)],
)
def test_sizes_are_binary(value: Any, expected: int) -> None:
    assert megabytes(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2 h", 7200),
        ("90 min", 5400),
        ("1-12:00:00", 129_600),
        ("00:01:30", 90),
        (5, 5),
        ("off", 0),
    ],
)
def test_spans_are_seconds(value: Any, expected: int) -> None:
    assert seconds(value) == expected


def test_points_become_settings_of_the_question(tmp_path: Path) -> None:
    config = read(tmp_path, BASE + "epochs: 5\nresources: {gpus: 1}\n")
    settings: Any = with_parameters(HOLD, config.fixed_settings, {"m": 7, "lstm.dropout": 0.3})
    assert (settings.frames.m, settings.lstm.dropout, settings.lstm.epochs) == (7, 0.3, 5)
    assert settings.lstm.device == "auto"
    with pytest.raises(SettingsError, match=r"lstm\.dropout: Input should be less"):
        with_parameters(HOLD, config.fixed_settings, {"dropout": 3.0})
    assert "frames.m" in searchable(HOLD) and "epochs" not in searchable(HOLD)
    (parameter,) = parse({"m": {"distribution": "uniform", "min": 0.0, "max": math.pi}})
    assert parameter.distribution.single() is False
