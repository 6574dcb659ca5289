import sys
from pathlib import Path
from subprocess import run

import pytest

from jobsight.errors import ModelError, UsageError
from jobsight.models import NAMES, create, is_baseline, load, predicts
from jobsight.models.base import BINARY, Output
from jobsight.models.rules import Arm, RuleSet

ALWAYS = RuleSet("always", (Arm("release", True),))


def test_models_are_made_by_name() -> None:
    sets = {"always": ALWAYS}
    for name in (*NAMES, "rules:always"):
        kind = BINARY if predicts(name, BINARY) else Output("kinds", ("a", "b"))
        assert create(name, rule_sets=sets, output=kind).name == name


def test_baselines() -> None:
    assert [name for name in (*NAMES, "rules:x") if is_baseline(name)] == [
        "constant", "rates", "rates:learning", "text", "rules:x"
    ]  # fmt: skip


def test_an_unknown_name_lists_the_known() -> None:
    with pytest.raises(UsageError, match=r"'xgboost'; known are constant.*rules:always"):
        create("xgboost", rule_sets={"always": ALWAYS})
    with pytest.raises(UsageError, match="rules:other"):
        create("rules:other", rule_sets={"always": ALWAYS})
    with pytest.raises(UsageError, match="'xgboost'"):
        load("xgboost", Path())


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    create("constant").save(tmp_path)
    with pytest.raises(ModelError, match="holds the model 'constant', not 'rates'"):
        load("rates", tmp_path)
    assert load("constant", tmp_path).name == "constant"


def test_importing_the_package_imports_no_heavy_library() -> None:
    script = (
        "import sys, jobsight.models, jobsight.learning.dataset, jobsight.learning.backtest; "
        "print([m for m in ('torch', 'lightgbm', 'sklearn', 'numba') if m in sys.modules])"
    )
    done = run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
