"""The real W&B SDK: offline without a network, sent later, and online where servers misbehave."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

import pytest
from tests.integration.wandb_server import KEY, black_hole, serving
from tests.support.limits import PROVE, limit
from tests.testbed.namespace import until

from jobsight.tuning.config import TrackingSettings
from jobsight.tuning.tracking import Tracker, open_tracker

pytestmark = pytest.mark.skipif(find_spec("wandb") is None, reason="the SDK is not installed")

SWEEP = "night 01234567"
RUN = "night-01234567-0007-86f2f405"
POINT = {"j": 20}


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


def tracker(
    folder: Path, mode: Literal["online", "offline"], said: list[str], patience: float = 3
) -> Tracker:
    settings = TrackingSettings(wandb=mode, project="proj", tags=("t1",))
    return open_tracker(settings, folder, SWEEP, say=said.append, patience=patience)


def attempt(tracked: Tracker, epochs: range, failed: str | None = None) -> None:
    tracked.start(7, POINT, {"seed": 3})
    for epoch in epochs:
        tracked.log(epoch, {"train_loss": 1 / epoch, "f1": float("nan")})
    tracked.finish({"best_epoch": 2, "f1": 0.5}, failed)


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
        attempt(tracker(folder, "offline", said), range(1, 3), failed="evicted")
        time.sleep(1.1)  # the SDK names attempts by the second
        attempt(tracker(folder, "offline", said), range(3, 5))
        assert not server.queries
        assert not server.streamed
        assert said == []
        assert capfd.readouterr() == ("", "")
        assert ("wandb" in sys.modules) == before
        assert not list((tmp_path / "home").iterdir())
        secretless(folder)
        sync(folder, server.url)
        rows = server.rows(RUN)
        assert [row["epoch"] for row in rows] == [row["_step"] for row in rows] == [1, 2, 3, 4]
        assert rows[3]["train_loss"] == 0.25
        assert "f1" not in rows[0]
        (first,) = server.of("UpsertBucket")[:1]
        assert '"j":{"value":20}' in first["config"]
        assert '"seed":{"value":3}' in first["config"]
        assert first["groupName"] == SWEEP
        assert {query["name"] for query in server.of("UpsertBucket")} == {RUN}
        assert all(query["host"] in (None, "") for query in server.of("UpsertBucket"))
        sent = repr((server.streamed, {unquote(path): file for path, file in server.files.items()}))
        assert "best_epoch" in sent
    secretless(folder)


def test_online_the_server_gets_the_run_as_it_goes_and_a_later_attempt_continues_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, said = tmp_path / "run", list[str]()
    with serving() as server:
        monkeypatch.setenv("WANDB_BASE_URL", server.url)
        monkeypatch.setenv("WANDB_API_KEY", KEY)
        attempt(tracker(folder, "online", said, limit(30)), range(1, 3), failed="evicted")
        time.sleep(1.1)
        attempt(tracker(folder, "online", said, limit(30)), range(3, 5))
        assert said == []
        assert [row["epoch"] for row in server.rows(RUN)] == [1, 2, 3, 4]
        codes = [body["exitcode"] for _, body in server.streamed if "exitcode" in body]
        assert codes == [1, 0]
        sent = repr((server.queries, server.streamed, server.files))
        assert socket.gethostname() not in sent.replace(str(tmp_path), "")
        assert server.telemetry == 0
    secretless(folder)


def closed_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize("problem", ["no key", "wrong key", "closed port", "black hole"])
def test_without_a_server_the_run_is_kept_offline_and_one_line_says_so(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    problem: str,
) -> None:
    folder, said, begun = tmp_path / "run", list[str](), time.monotonic()
    with black_hole() as hole, serving(refuse_key=True) as refusing:
        url = {"black hole": hole, "closed port": closed_port()}.get(problem, refusing.url)
        monkeypatch.setenv("WANDB_BASE_URL", url)
        if problem != "no key":
            monkeypatch.setenv("WANDB_API_KEY", KEY)
        tracked = tracker(folder, "online", said)
        tracked.start(7, POINT, {})
        tracked.log(1, {"train_loss": 1.0})
        tracked.log(2, {"train_loss": 0.5})
        assert time.monotonic() - begun < limit(1)
        tracked.finish({})
    assert time.monotonic() - begun < limit(20)
    (line,) = said
    assert "this run is kept in files, which 'wandb sync' sends" in line
    assert "\n" not in line
    assert KEY not in line + "".join(capfd.readouterr())
    secretless(folder)
    secretless(tmp_path / "home")
    (kept,) = (folder / "wandb").iterdir()
    assert kept.name.startswith("offline-run-")
    if problem != "wrong key" and not PROVE:
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
        tracked = tracker(folder, "online", said)
        tracked.start(7, POINT, {})
        tracked.log(1, {"train_loss": 0.5})
        until(lambda: server.of("UpsertBucket"))
    begun = time.monotonic()
    tracked.log(2, {"train_loss": 0.4})
    assert time.monotonic() - begun < limit(1)
    tracked.finish({})
    assert time.monotonic() - begun < limit(15)
    with serving() as server:
        sync(folder, server.url)
        assert [row["epoch"] for row in server.rows(RUN)] == [1, 2]


def test_a_process_that_hangs_delays_the_end_of_a_run_alone_and_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobsight.tuning.tracking._BEGINS", 0.0)
    folder, said = tmp_path / "run", list[str]()
    tracked: Any = tracker(folder, "offline", said, patience=1)
    tracked.start(7, POINT, {})
    until(lambda: list(folder.rglob("*.wandb")))
    os.kill(tracked._process.pid, signal.SIGSTOP)
    begun = time.monotonic()
    for epoch in range(1, 2000):  # more than a pipe takes
        tracked.log(epoch, {"train_loss": 0.5, "select_loss": 0.4})
    assert time.monotonic() - begun < limit(2)
    tracked.finish({})
    assert time.monotonic() - begun < limit(10)
    assert said == ["Weights & Biases: it does not end in time; 'wandb sync' sends what is kept"]
    until(lambda: not processes(tmp_path))


def test_a_training_that_is_killed_leaves_no_process_and_its_epochs(tmp_path: Path) -> None:
    code = f"""
import os, signal
from pathlib import Path
from jobsight.tuning.config import TrackingSettings
from jobsight.tuning.tracking import open_tracker
folder = Path({str(tmp_path / "run")!r})
tracked = open_tracker(TrackingSettings(wandb="offline"), folder, {SWEEP!r})
tracked.start(7, {POINT}, {{}})
tracked.log(1, {{"train_loss": 0.5}})
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", code], check=False, timeout=limit(30))
    until(lambda: not processes(tmp_path))
    with serving() as server:
        sync(tmp_path / "run", server.url)
        assert [row["epoch"] for row in server.rows(RUN)] == [1]
