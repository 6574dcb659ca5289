"""The real W&B SDK: offline without a network, sent later, and online where servers misbehave."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from tests.integration.wandb_server import KEY, black_hole, serving
from tests.support.limits import PROVE, limit
from tests.testbed.namespace import until

from jobsight.errors import SweepError
from jobsight.learning.sweep.records import RunStatus, read_record
from jobsight.learning.tracking import RunEnd, Tracker, WandbOptions, create_sweep, next_point

pytestmark = pytest.mark.skipif(find_spec("wandb") is None, reason="the SDK is not installed")

SWEEP = "0123456789abcdef" * 4
RUN = f"{SWEEP[:12]}-0007"


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A home and a current folder of the test's own, no settings of W&B, no process left behind."""
    for name in [name for name in os.environ if name.startswith("WANDB_")]:
        monkeypatch.delenv(name)
    for name in ("home", "cwd", "scratch"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    monkeypatch.chdir(tmp_path / "cwd")
    yield
    assert not list((tmp_path / "scratch").iterdir())
    assert not list((tmp_path / "cwd").iterdir())
    assert not processes(tmp_path)


def processes(folder: Path) -> list[str]:
    """Command lines of living processes whose environment names the folder, but ours."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if str(folder).encode() in environment and int(process.name) != os.getpid():
            found.append(command.replace(b"\0", b" ").decode())
    return found


def options(mode: Any, patience: float = 3) -> WandbOptions:
    return WandbOptions(mode, project="proj", tags=("t1",), sweep=SWEEP, patience=patience)


def attempt(
    folder: Path, chosen: WandbOptions, epochs: range, *, ends: bool, say: Callable[[str], None]
) -> None:
    model = folder / "model"
    model.mkdir(parents=True, exist_ok=True)
    (model / "weights[1].bin").write_bytes(b"123")
    with Tracker(folder, chosen, say=say) as told:
        told.start(run=7, parameters={"j": 20}, epoch=epochs.start - 1)
        for epoch in epochs:
            told.epoch(epoch, {"train_loss": 1 / epoch, "f1": float("nan")})
        if ends:
            told.model(model)
            told.end(RunEnd("finished", None, epochs.stop - 1, 2, {"f1": 0.5}))
        else:
            told.stopped("evicted")


def secretless(folder: Path) -> None:
    for path in folder.rglob("*"):
        assert not path.is_symlink()
        assert path.is_dir() or KEY.encode() not in path.read_bytes(), path


def sync(folder: Path, url: str) -> str:
    places = dict.fromkeys(("TMPDIR", "WANDB_CACHE_DIR"), os.environ["HOME"])
    attempts = sorted(str(path) for path in (folder / "wandb").glob("*run-*"))
    done = subprocess.run(
        [sys.executable, "-m", "wandb", "sync", "--include-online", *attempts],
        env={**os.environ, **places, "WANDB_BASE_URL": url, "WANDB_API_KEY": KEY},
        capture_output=True,
        text=True,
        check=True,
        timeout=limit(60),
        stdin=subprocess.DEVNULL,
        cwd=os.environ["HOME"],
    )
    return done.stdout + done.stderr


def test_offline_attempts_become_one_run_when_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder, said = tmp_path / "runs" / "0007", list[str]()
    before = "wandb" in sys.modules  # by another test
    with serving() as server:
        monkeypatch.setenv("WANDB_BASE_URL", server.url)
        monkeypatch.setenv("WANDB_API_KEY", KEY)
        attempt(folder, options("offline"), range(1, 3), ends=False, say=said.append)
        time.sleep(1.1)  # the SDK names attempts by the second
        attempt(folder, options("offline"), range(3, 5), ends=True, say=said.append)
        assert not server.queries
        assert not server.streamed
        assert said == []
        assert capfd.readouterr() == ("", "")
        assert ("wandb" in sys.modules) == before
        assert not list((tmp_path / "home").iterdir())
        secretless(folder)
        assert {path.name for path in folder.iterdir()} == {"record.jsonl", "wandb", "model"}
        sync(folder, server.url)
        rows = server.rows(RUN)
        assert [row["epoch"] for row in rows] == [row["_step"] for row in rows] == [1, 2, 3, 4]
        assert rows[3]["train_loss"] == 0.25
        assert "f1" not in rows[0]
        (config,) = {told["config"] for told in server.of("UpsertBucket")[:1]}
        assert '"j":{"value":20}' in config
        assert {told["name"] for told in server.of("UpsertBucket")} == {RUN}
        assert all(told["host"] in (None, "") for told in server.of("UpsertBucket"))
        files = {unquote(path): content for path, content in server.files.items()}
        assert files["/upload/model/weights[1].bin"] == b"123"
    record = read_record(folder)
    assert record.attempts == 2
    assert record.epochs.number.tolist() == [1, 2, 3, 4]
    secretless(folder)


def test_online_the_server_is_told_as_the_run_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, said = tmp_path / "run", list[str]()
    online = options("online", patience=limit(30))
    with serving() as server:
        monkeypatch.setenv("WANDB_BASE_URL", server.url)
        monkeypatch.setenv("WANDB_API_KEY", KEY)
        attempt(folder, online, range(1, 3), ends=False, say=said.append)
        time.sleep(1.1)
        attempt(folder, online, range(3, 5), ends=True, say=said.append)
        assert said == []
        assert [row["epoch"] for row in server.rows(RUN)] == [1, 2, 3, 4]
        sent = repr((server.queries, server.streamed, server.files))
        assert socket.gethostname() not in sent.replace(str(tmp_path), "")
        assert server.telemetry == 0
    secretless(folder)


def closed_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize("trouble", ["no key", "wrong key", "closed port", "black hole"])
def test_without_a_server_the_run_is_kept_offline_and_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], trouble: str
) -> None:
    folder, said, begun = tmp_path / "run", list[str](), time.monotonic()
    with black_hole() as hole, serving(refuse_key=True) as refusing:
        url = {"black hole": hole, "closed port": closed_port()}.get(trouble, refusing.url)
        monkeypatch.setenv("WANDB_BASE_URL", url)
        if trouble != "no key":
            monkeypatch.setenv("WANDB_API_KEY", KEY)
        attempt(folder, options("online"), range(1, 3), ends=True, say=said.append)
    assert time.monotonic() - begun < limit(20)
    (line,) = said
    assert "this run is kept in files; 'wandb sync' sends them" in line
    assert "\n" not in line
    assert KEY not in line + "".join(capfd.readouterr())
    assert read_record(folder).status is RunStatus.FINISHED
    assert json.dumps(line) in (folder / "record.jsonl").read_text()
    secretless(folder)
    secretless(tmp_path / "home")
    (kept,) = (folder / "wandb").iterdir()
    assert kept.name.startswith("offline-run-")
    if trouble != "wrong key" and not PROVE:
        return  # however it came about, an offline run is sent in the same way
    with serving() as server:
        sync(folder, server.url)
        assert [row["epoch"] for row in server.rows(RUN)] == [1, 2]


def test_a_server_that_goes_away_does_not_keep_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, said = tmp_path / "run", list[str]()
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    with serving() as server:
        monkeypatch.setenv("WANDB_BASE_URL", server.url)
        told = Tracker(folder, options("online"), say=said.append)
        told.start(run=7, parameters={})
        told.epoch(1, {"train_loss": 0.5})
    begun = time.monotonic()
    told.epoch(2, {"train_loss": 0.4})
    told.end(RunEnd("finished"))
    told.close()
    assert time.monotonic() - begun < limit(15)
    assert read_record(folder).status is RunStatus.FINISHED
    with serving() as server:
        sync(folder, server.url)
        assert [row["epoch"] for row in server.rows(RUN)] == [1, 2]


def test_a_training_that_is_killed_leaves_no_process_and_its_epochs(tmp_path: Path) -> None:
    code = f"""
import os, signal
from pathlib import Path
from jobsight.learning.tracking import Tracker, WandbOptions
told = Tracker(Path({str(tmp_path / "run")!r}), WandbOptions("offline", sweep={SWEEP!r}))
told.start(run=7, parameters={{}})
told.epoch(1, {{"train_loss": 0.5}})
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", code], check=False, timeout=limit(30))
    until(lambda: not processes(tmp_path))
    with serving() as server:
        sync(tmp_path / "run", server.url)
        assert [row["epoch"] for row in server.rows(RUN)] == [1]


def test_a_sweep_that_a_server_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"type": "run", "run_id": "r1", "args": {"j": {"value": 3}, "m": {"value": 20}}}
    with serving(points=[given]) as server:
        monkeypatch.setenv("WANDB_BASE_URL", server.url)
        monkeypatch.setenv("WANDB_API_KEY", KEY)
        definition = {"method": "random", "parameters": {"j": {"min": 1, "max": 3}}}
        sweep = create_sweep(definition, project="proj", entity="me", patience=20)
        assert sweep == "swp1"
        assert "method: random" in server.of("UpsertSweep")[0]["config"]
        point = next_point(sweep, project="proj", entity="me", patience=20)
        assert point == ("r1", {"j": 3, "m": 20})
        if not PROVE:
            return  # the SDK takes its time to believe that there is no more
        with pytest.raises(SweepError, match="no more points"):
            next_point(sweep, project="proj", entity="me", patience=30)


def test_a_server_of_sweeps_out_of_reach_is_one_clear_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    begun = time.monotonic()
    with black_hole() as hole:
        monkeypatch.setenv("WANDB_BASE_URL", hole)
        with pytest.raises(SweepError, match="check the network, WANDB_BASE_URL and the key"):
            create_sweep({"method": "random"}, project="proj", patience=2)
        with pytest.raises(SweepError, match="check the network"):
            next_point("swp1", project="proj", patience=2)
    assert time.monotonic() - begun < limit(15)
