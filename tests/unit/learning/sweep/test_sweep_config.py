import re
from pathlib import Path
from typing import Any

import pytest

from jobsight.errors import SettingsError
from jobsight.learning.metrics import HIGHER_IS_BETTER, METRICS
from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.parameters import DISTRIBUTIONS
from jobsight.learning.sweep.search import draw
from jobsight.learning.sweep.searched import searchable, with_parameters
from jobsight.learning.sweep.sections import SweepMetric
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings

ROOT = Path(__file__).resolve().parents[4]
EXAMPLE = ROOT / "examples" / "sweep.yaml"

HEAD = "data: [a.log]\nruns: 10\n"
ONE = HEAD + "parameters: {j: {value: 3}}\n"


def read(folder: Path, text: str | bytes) -> SweepConfig:
    path = folder / "sweep.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return SweepConfig.read(path)


def trouble(folder: Path, text: str | bytes) -> str:
    with pytest.raises(SettingsError) as caught:
        read(folder, text)
    said = str(caught.value)
    assert "\n" not in said
    return said.replace(f"{folder}/", "")


def test_the_example_is_the_seeds_search() -> None:
    config = SweepConfig.read(EXAMPLE)
    assert (config.runs, config.epochs, config.early_stopping.patience) == (100, 20, 5)
    assert (config.metric.name, config.metric.goal) == ("f1", "maximize")
    assert [one.name for one in config.space] == [
        "batch_size",
        "hidden_size",
        "j",
        "learning_rate",
        "lstm_layers",
        "m",
        "timeframe_len",
    ]
    for run in range(1, 60):
        settings = with_parameters(HOLD, config.fixed_settings, draw(config, run))
        assert isinstance(settings, HoldSettings)
        assert 10 <= settings.frames.j <= 100
        assert settings.lstm.batch_size % 8 == 0
        assert (settings.lstm.epochs, settings.lstm.patience, settings.seed) == (20, 5, 0)


def test_the_seeds_own_mistake_is_told_with_its_place(tmp_path: Path) -> None:
    said = trouble(tmp_path, HEAD + "parameters:\n  m:\n    min: 10\n    max: 50,\n")
    assert said == (
        "sweep.yaml:6:10: parameter 'm': max is the text '50,', not a number; "
        "write 50, without the comma"
    )


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        (
            'j: {min: 10, max: "50"}',
            "4:21: parameter 'j': max is the text '50', not a number; write",
        ),
        ("j: {min: 100, max: 10}", "4:12: parameter 'j': min 100 is above max 10; swap them"),
        ("j: {min: 3, max: 3}", "min and max are both 3; write {value: 3}"),
        ("j: {min: .inf, max: 3}", "min is inf; a number between"),
        ("j: {min: true, max: 3}", "min is True, not a number"),
        ("j: {values: []}", "4:15: parameter 'j' has 0 values; give 1 to"),
        ("j: {values: 3}", "values are a list, such as [1, 2, 3] (given 3)"),
        ("j: {values: [true]}", "4:16: parameter 'j': True is not allowed: it is a truth value"),
        ("lstm_layers: 9", "4:16: parameter 'lstm_layers' is 9, not a mapping; write {value: 9}"),
        ("lstm_layers: [1, 2]", "write {values: [1, 2]}"),
        ("lstm_layers:", "parameter 'lstm_layers' is None, not a mapping; write {value: …}"),
        ("lstm_layers: {values: [1, 9]}", "4:29: parameter 'lstm_layers': 9 is not allowed: "),
        ("lstm_layers: {min: 1, max: 9}", "4:30: parameter 'lstm_layers': int_uniform gives 9, wh"),
        ("j: {values: [1, 2], probabilities: [0.5, 0.6]}", "probabilities add up to 1.1, not to 1"),
        ("j: {values: [1, 2], probabilities: [1.0]}", "2 values, but 1 probabilities"),
        ("j: {values: [1, 2], probabilities: [2, -1]}", "probability -1.0 is below 0"),
        ("j: {values: [1, 2], probabilities: 1}", "probabilities are a list (given 1)"),
        (
            "j: {distribution: q_uniform, q: 0, min: 1, max: 9}",
            "4:35: parameter 'j': q is 0; it mu",
        ),
        ("dropout: {distribution: beta, a: 0}", "a is 0; it must be above 0"),
        ("dropout: {distribution: normal, sigma: 0}", "sigma is 0; it must be above 0"),
        (
            "learning_rate: {distribution: log_uniform_values, min: 0, max: 1}",
            "4:58: parameter 'learning_rate': log_uniform_values takes logarithms, so min must be",
        ),
        (
            "learning_rate: {distribution: log_uniform, min: 1, max: 9000}",
            "are exponents of e, and 9000 is too large for one; log_uniform_values takes",
        ),
        (
            "learning_rate: {distribution: loguniform, min: 0.1, max: 1}",
            "4:33: parameter 'learning_rate': there is no distribution 'loguniform'; the nearest "
            "are log_uniform, ",
        ),
        ("j: {distribution: gauss}", "there is no distribution 'gauss'; there are beta, categ"),
        ("j: {distribution: [1]}", "there is no distribution [1]; "),
        ("j: {distribution: uniform, min: 1}", "uniform needs 'max', which is missing"),
        ("j: {distribution: int_uniform, min: 1.0, max: 3}", "needs integers; min is 1.0"),
        (
            "learning_rat: {min: 0.1, max: 1.0}",
            "4:3: parameter 'learning_rat' is unknown; the near",
        ),
        ("lr: {min: 0.1, max: 1.0}", "parameter 'lr' is unknown; there are seed, windows, "),
        ("j: {min: 1, max: 2, values: [3]}", "4:12: parameter 'j': categorical has no 'min', only"),
        ("j: {min: 1, max: 2, q: 2}", "'q' needs a distribution: write distribution: q_uniform"),
        ("j: {mim: 1, max: 2}", "4:12: parameter 'j': there is no 'mim'; the nearest is min"),
        ("j: {max: 2}", "needs 'value', 'values', both 'min' and 'max', or a 'distribution'"),
        ("learning_rate: {min: 0, max: 0.1}", "write both as integers, or 0.0 and 0.1, or name a"),
        (
            "learning_rate: {distribution: q_uniform, min: 0.0, max: 0.1, q: 0.01}",
            "4:49: parameter 'learning_rate': q_uniform gives 0.0, which is not allowed",
        ),
        ("hidden_size: {min: 16.0, max: 64.0}", "int_uniform, and distributions with q: 1, give i"),
        (
            "learning_rate: {distribution: normal, mu: -3, sigma: 0.1}",
            "hardly one is allowed; norm",
        ),
        ("j: {min: 1, max: 9}\n  frames.j: {value: 3}", "'frames.j' and 'j' mean one setting"),
        ("j: {value: 3}\n  j: {value: 4}", 'sweep.yaml:5:3: found duplicate key "j"'),
        ("success: {values: [exit_zero]}", "says what is asked, or how it is judged"),
        ("costs.lost_job: {value: 3}", "give it under 'settings', for all runs"),
        ("epochs: {values: [1, 2]}", "is the same for all runs; it is set by epochs"),
        ("lstm.patience: {values: [1]}", "it is set by early_stopping: {patience: …}"),
        ("lstm.device: {values: [cpu]}", "is not searched; give it under 'settings'"),
        ("lstm: {parameters: {dropout: {value: 2}}}", "parameter 'lstm.dropout': 2 is not allowed"),
        ("lstm: {parameters: {dropout: {value: 0.2}}, min: 3}", "group 'lstm' has more than its"),
        ("lstm: {parameters: 3}", "parameters are a mapping of names to what they may be"),
        ('"a b": {value: 1}', "4:3: parameter 'a b' has no good name"),
        (
            "batch_size: {value: '1,000'}",
            "4:23: parameter 'batch_size': '1,000' is a text, not a num",
        ),
        ("learning_rate: {values: ['0,1']}", "write 0.1, with a decimal point"),
        ("learning_rate: {value: '3;'}", "write 3, without the semicolon"),
    ],
)
def test_wrong_parameters_are_told_with_their_place(
    tmp_path: Path, parameter: str, message: str
) -> None:
    said = trouble(tmp_path, f"{HEAD}parameters:\n  {parameter}\n")
    assert said.startswith("sweep.yaml:")
    assert message in said


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("metric: {name: accuracy}", "4:16: metric.name: there is no such metric; known are roc"),
        ("metric: {name: f1, goal: minimize}", "4:26: metric.goal: more of f1 is better; write go"),
        ("metric: {name: brier, goal: maximize}", "less of brier is better; write goal: minimize"),
        ("metric: f1", "4:9: metric is a mapping of names to values (given 'f1')"),
        ("where: k8s", "4:8: where: Input should be 'here', 'dagman' or 'slurm'"),
        ("method: gird", "4:9: method: Input should be 'random', 'grid' or 'bayes'"),
        ("method: grid", "2:7: runs: the grid has only 1 point; write runs: 1"),
        ("here: {processes: 501}", "here.processes: Input should be less than or equal to 500"),
        ("run_cap: 10", "4:1: there is no 'run_cap': the number of runs is 'runs'"),
        ("early_terminate: {}", "runs stop by themselves by 'early_stopping'"),
        ("epoch: 3", "there is no 'epoch' in a sweep's config; did you mean 'epochs'?"),
        ("resources: {cpu: 2}", "there is no 'resources.cpu' in a sweep's config; did you mean 'c"),
        ("resources: {memory: lots}", "4:21: resources.memory: write a size such as 4 GB"),
        ("resources: {time: soon}", "write a span such as 2 h, 90 min"),
        ("resources: {cpus: 0}", "resources.cpus: Input should be greater than or equal to 1"),
        ("drop: {after: 5, keep: 2}", "4:24: drop.keep: Input should be less than 1 (given 2)"),
        ("drop: {after: 60, keep: 0.5}", "runs are dropped after 60 epochs, but have 60 at most"),
        ("drop: {after: 6}", "'drop.keep' is missing"),
        ("drop: {after: 6, kep: 1}", "4:18: there is no 'drop.kep' in a sweep's config; did you"),
        ("shared: maybe", "4:9: shared: "),
        ("tracking: {wandb: on}", "Input should be 'online', 'offline' or 'off'"),
        ("tracking: {api_key: x}", "there is no 'tracking.api_key'"),
        ("program: {environment: {MY_TOKEN: x}}", "looks like a secret, which has no place in a c"),
        ("program: {image: a, pack: b}", "runs start from an image or from a pack; keep one"),
        ("dagman: {environment: WANDB_API_KEY=3}", "4:10: this looks like a key of Weights & Bias"),
        (
            "slurm: {comment: 0123456789abcdef0123456789abcdef01234567}",
            "looks like a key of Weights",
        ),
        ("dagman: {'a b': 1}", "dagman.a b: String should match pattern"),
        ("dagman: {a: {b: 1}}", "an option is a text, a number, or a list of such"),
        ("settings: {lstm: {epochs: 4}}", "4:27: settings.lstm.epochs: lstm.epochs is set by epoc"),
        ("settings: {seed: 4}", "seed is set by seed of the config"),
        ("settings: {frames: {j: 4}}", "4:24: settings.frames.j: frames.j is searched as well"),
        ("settings: {frames: {k: 4}}", "there is no setting 'frames.k'"),
        ("settings: {frames: {m: x}}", "4:24: settings.frames.m: Input should be a valid integer"),
        ("settings: 3", "settings is a mapping of names to values (given 3)"),
        ("seed: -1", "seed: Input should be greater than or equal to 0"),
        ("cluster: a b", "cluster: String should match pattern"),
        ('folder: "a\\nb"', "folder: String should match pattern"),
        ("early_stopping: 5", "early_stopping is a mapping of names to values (given 5)"),
    ],
)
def test_wrong_keys_are_told_with_their_place(tmp_path: Path, key: str, message: str) -> None:
    said = trouble(tmp_path, ONE + key + "\n")
    assert said.startswith("sweep.yaml:")
    assert message in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "sweep.yaml is empty; it needs at least data and parameters"),
        ("- 1\n", "a mapping of names to values"),
        (HEAD, "'parameters' is missing"),
        (
            HEAD + "paramaters: {j: {value: 3}}\n",
            "3:1: there is no 'paramaters' in a sweep's config; did you mean 'parameters'?",
        ),
        ("runs: 3\nparameters: {j: {value: 3}}\n", "'data' is missing"),
        ("data: a\n\truns: 1\n", "sweep.yaml:2:1: found character '\\t'"),
        ("data: [a\nruns: 3\n", "sweep.yaml:2:"),
        ("a:\n" + "- " * 5000, "nested too deeply"),
        ("data: a\n---\ndata: b\n", "another document"),
        ("data: !!python/name:os.system x\n", "sweep.yaml:1:1: this is not a text, number, list"),
        ('data: "\x07"\n', "unacceptable character"),
        (b"\xff\xfe\x00", "byte 1 is not UTF-8; save it as UTF-8"),
        (b"#" * (5 << 20), "larger than 256 KiB"),
        ("data: a\nruns: 2\nbase: &b {value: 1}\nparameters: {j: *b}\n", "there is no 'base'"),
        (
            "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
            + "".join(
                f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
                for old, new in zip("abcdef", "bcdefg", strict=True)
            ),
            "more than 100000 values, aliases counted",
        ),
        ("data: a\nparameters: {j: {min: 1, max: 9}}\n", "random needs 'runs', the number of runs"),
        (
            "data: a\nmethod: bayes\nparameters: {j: {min: 1, max: 9}}\n",
            "2:9: method: bayes needs 'runs'",
        ),
        (
            "data: a\nmethod: grid\nparameters: {dropout: {min: 0.1, max: 0.5}}\n",
            "3:14: parameter 'dropout': uniform has no countable values for a grid",
        ),
        (
            "data: a\nmethod: grid\nparameters: {j: {values: [1], probabilities: [1]}}\n",
            "a grid tries every value, so it has no probabilities",
        ),
        (
            "data: a\nmethod: grid\nparameters: {j: {min: 1, max: 9999}, m: {min: 1, max: 9999}}\n",
            "more than 100,000 runs cannot be planned",
        ),
        (HEAD.replace("10", "0") + "parameters: {j: {value: 3}}\n", "2:7: runs: 0 runs cannot be"),
        (HEAD.replace("10", "9999999") + "parameters: {j: {value: 3}}\n", "more than 100,000 runs"),
    ],
)
def test_files_that_are_no_config(tmp_path: Path, text: str | bytes, message: str) -> None:
    assert message in trouble(tmp_path, text)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"there is no sweep config .*none\.yaml$"):
        SweepConfig.read(tmp_path / "none.yaml")
    with pytest.raises(SettingsError, match="Is a directory"):
        SweepConfig.read(tmp_path)
    with pytest.raises(SettingsError, match="larger than 256 KiB"):
        SweepConfig.read(Path("/dev/zero"))


def test_defaults_and_shorthands(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        "data: a.log\nruns: 3\nparameters: {learning_rate: {min: 1e-3, max: 1e-1}}\n"
        "resources: {memory: 1.5 GB, disk: 10G, time: 1-12:00:00}\n"
        "slurm: {partition: main, exclusive: true, requeue: false, nodes: 2}\n"
        "dagman: {requirements: 'Memory > 3', +Big: true}\n"
        "program: {environment: {OMP_NUM_THREADS: 1}}\n",
    )
    assert config.data == ("a.log",)
    assert config.space[0].distribution == "uniform"
    assert (config.metric.name, config.metric.goal) == ("f1", "maximize")
    assert (config.resources.memory, config.resources.disk) == (1536, 10240)
    assert config.resources.time == 129_600
    assert config.slurm == {"partition": "main", "exclusive": "", "nodes": "2"}
    assert config.dagman == {"requirements": "Memory > 3", "+Big": "true"}
    assert config.program.environment == {"OMP_NUM_THREADS": "1"}
    assert config.tracking.wandb == "off"


def test_numbers_as_yaml_1_1_and_1_2_have_them(tmp_path: Path) -> None:
    body = "data: a\nruns: 2\nparameters: {learning_rate: {min: 1e-3, max: 1.0e-1}}\n"
    for head in ("", "%YAML 1.1\n---\n"):
        assert read(tmp_path, head + body).space[0].numbers == {"min": 0.001, "max": 0.1}
    assert read(tmp_path, "%YAML 1.1\n---\n" + body + "tracking: {wandb: off}\n")


def test_anchors_and_merge_keys_are_understood(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        "data: a\nruns: 2\nparameters:\n  j: &b {min: 1, max: 3}\n  m: {<<: *b, max: 5}\n",
    )
    assert [dict(one.numbers) for one in config.space] == [
        {"min": 1, "max": 3},
        {"min": 1, "max": 5},
    ]


def test_a_config_survives_json(tmp_path: Path) -> None:
    for text in (
        EXAMPLE.read_text(),
        ONE,
        "data: a\nmethod: grid\nparameters: {j: {min: 1, max: 4}, seed: {values: [1, 2]}}\n",
        ONE + "metric: {name: log_loss}\ndrop: {after: 3, keep: 0.5}\nresources: {memory: 4 GB}\n",
    ):
        config = read(tmp_path, text)
        again = SweepConfig.model_validate(config.model_dump(mode="json"))
        assert again == config
        assert again.space == config.space


def test_a_grid_has_all_its_points_unless_fewer_are_wanted(tmp_path: Path) -> None:
    body = "data: a\nmethod: grid\nparameters: {j: {min: 1, max: 5}, m: {values: [1, 2]}}\n"
    assert read(tmp_path, body).runs == 10
    assert read(tmp_path, body + "runs: 4\n").runs == 4
    assert "the grid has only 10 points" in trouble(tmp_path, body + "runs: 11\n")


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_has_its_goal(name: Any) -> None:
    wanted = "maximize" if name in HIGHER_IS_BETTER else "minimize"
    assert SweepMetric(name=name).goal == wanted


def test_settings_that_all_runs_share(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        HEAD + "epochs: 7\nseed: 5\nearly_stopping: {patience: 2}\n"
        "settings: {frames: {m: 30}, lstm: {dropout: 0.4}}\n"
        "parameters: {hidden_size: {values: [8]}, windows: {values: [[60, 240], auto]}}\n",
    )
    found = config.fixed_settings
    assert isinstance(found, HoldSettings)
    assert (found.lstm.epochs, found.lstm.patience, found.seed) == (7, 2, 5)
    assert (found.frames.m, found.lstm.dropout, found.lstm.device) == (30, 0.4, "cpu")


def test_runs_that_ask_for_gpus_use_them(tmp_path: Path) -> None:
    for more, device in (("", "auto"), ("settings: {lstm: {device: cuda}}\n", "cuda")):
        settings = read(tmp_path, ONE + "resources: {gpus: 1}\n" + more).fixed_settings
        assert isinstance(settings, HoldSettings)
        assert settings.lstm.device == device


@pytest.mark.parametrize(
    ("text", "value"),
    [("auto", "auto"), ("off", "off"), ("false", "off"), ("90", 90), ("10 min", 600)],
)
def test_when_runs_save(tmp_path: Path, text: str, value: Any) -> None:
    assert read(tmp_path, ONE + f"save_every: {text}\n").save_every == value


@pytest.mark.parametrize("text", ["0", "-3", "true", "1.5", "often", "[1]", "10 years", "{a: 1}"])
def test_when_runs_cannot_save(tmp_path: Path, text: str) -> None:
    said = trouble(tmp_path, ONE + f"save_every: {text}\n")
    assert re.match(r"sweep.yaml:4:\d+: save_every: write auto or off, or a span such as", said)


def test_the_page_tells_of_every_key_parameter_and_distribution(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "sweeps.md").read_text()
    section = page.partition("## The config file")[2].partition("\n## ")[0]
    told = set(re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", section, flags=re.DOTALL)))
    assert set(SweepConfig.model_fields) <= told
    assert {name for name in searchable(HOLD) if "." not in name} <= told
    assert set(DISTRIBUTIONS) - {"categorical_w_probabilities"} <= told
    example = re.search(r"```yaml\n(.*?)```", section, re.DOTALL)
    assert example
    assert read(tmp_path, example[1]).runs == 100
