import subprocess
import sys
from pathlib import Path

import pytest

from jobsight.errors import UsageError
from jobsight.tuning.config import TrackingSettings
from jobsight.tuning.tracking import open_tracker
from jobsight.tuning.wandbchild import explained


def test_off_neither_imports_nor_starts_the_sdk_nor_writes(tmp_path: Path) -> None:
    code = f"""
import sys
from pathlib import Path
from jobsight.tuning.config import TrackingSettings
from jobsight.tuning.tracking import open_tracker
tracker = open_tracker(TrackingSettings(), Path({str(tmp_path)!r}), "night")
tracker.start(1, {{"j": 20}}, {{}})
tracker.log(1, {{"f1": 0.5}})
tracker.finish({{}})
assert "wandb" not in sys.modules
assert not {{"torch", "optuna", "htcondor2"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert not list(tmp_path.iterdir())


def test_without_the_sdk_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"pip install .*'jobsight\[sweep\]'.*wandb: off"):
        open_tracker(TrackingSettings(wandb="offline"), tmp_path, "night")


def test_errors_of_the_sdk_are_one_line_without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "short-key")
    other = "0123456789abcdef" * 3
    said = explained(ValueError(f"bad key short-key\nor {other}\x1b[31m"))
    assert said == "bad key … or … [31m"
    assert explained(SystemExit()) == "SystemExit"
