import json
import math
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from jobsight.errors import OutputError, UsageError
from jobsight.learning.tracking import (
    RECORD,
    RunEnd,
    Tracker,
    WandbOptions,
    create_sweep,
)


def lines(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / RECORD).read_text().splitlines()]


def test_the_record_of_a_run(tmp_path: Path) -> None:
    with Tracker(tmp_path / "runs" / "0007") as kept:
        kept.start(run=7, parameters={"j": 20, "network": "lstm"}, seed=3)
        kept.epoch(1, {"train_loss": 0.5, "select_loss": math.nan, "f1": math.inf, "roc_auc": None})
        kept.note("said")
        kept.model(tmp_path)
        kept.end(RunEnd("early", None, 1, 1, {"f1": 0.5, "brier": math.nan}, 2.0, 1.5, 1 << 30))
    start, epoch, note, end = lines(tmp_path / "runs" / "0007")
    assert start["event"] == "start"
    assert start["attempt"] == 1
    assert start["parameters"] == {"j": 20, "network": "lstm"}
    assert start["host"]
    assert epoch["select_loss"] is epoch["f1"] is epoch["roc_auc"] is None
    assert note["text"] == "said"
    assert end["metrics"] == {"f1": 0.5, "brier": None}
    assert end["status"] == "early"
    assert all(isinstance(line["time"], int) for line in (start, epoch, note, end))


def test_attempts_are_counted_and_a_cut_line_is_closed_off(tmp_path: Path) -> None:
    with Tracker(tmp_path) as kept:
        kept.start(run=1, parameters={})
        kept.stopped("evicted")
    with (tmp_path / RECORD).open("ab") as stream:
        stream.write(b'{"event": "epoch", "ti')
    with Tracker(tmp_path) as kept:
        kept.start(run=1, parameters={}, epoch=4)
        kept.epoch(5, {})
    text = (tmp_path / RECORD).read_text().splitlines()
    assert text[2] == '{"event": "epoch", "ti'
    again = json.loads(text[3])
    assert again["attempt"] == 2
    assert again["epoch"] == 4
    assert json.loads(text[4])["epoch"] == 5


def test_a_full_disk_is_one_clear_error_and_its_cut_line_is_closed_off(tmp_path: Path) -> None:
    code = f"""
import resource
from pathlib import Path
from jobsight.errors import OutputError
from jobsight.learning.tracking import Tracker
resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))
kept = Tracker(Path({str(tmp_path)!r}))
kept.start(run=1, parameters={{}})
try:
    kept.epoch(1, {{f"metric{{n}}": 0.5 for n in range(50)}})
except OutputError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
kept.epoch(2, {{}})
"""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "File too large; fix that and start the run again" in done.stdout
    assert len(done.stdout.splitlines()) == 1
    start, cut, epoch = (tmp_path / RECORD).read_text().splitlines()
    assert json.loads(start)["event"] == "start"
    assert not cut.endswith("}")
    assert json.loads(epoch)["epoch"] == 2


def test_what_is_no_file_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / RECORD).mkdir()
    with pytest.raises(OutputError, match=r"cannot write .*record\.jsonl: "):
        Tracker(tmp_path)


def test_closing_twice_does_no_harm(tmp_path: Path) -> None:
    kept = Tracker(tmp_path)
    kept.close()
    kept.close()


def test_off_neither_imports_nor_starts_the_sdk(tmp_path: Path) -> None:
    code = f"""
import sys
from pathlib import Path
from jobsight.learning.tracking import RunEnd, Tracker
with Tracker(Path({str(tmp_path)!r})) as kept:
    kept.start(run=1, parameters={{}})
    kept.end(RunEnd("finished"))
assert "wandb" not in sys.modules
assert not {{"torch", "optuna", "htcondor2"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert [path.name for path in tmp_path.iterdir()] == [RECORD]


def test_without_the_sdk_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"pip install 'jobsight\[sweep\]'"):
        Tracker(tmp_path, WandbOptions("offline"))
    with pytest.raises(UsageError, match="wandb: off"):
        create_sweep({}, project="proj")
    assert not list(tmp_path.iterdir())
