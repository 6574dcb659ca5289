"""The real W&B SDK: runs sent to a server, and files written without a network and sent later."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.limits import limit
from tests.wandb_server import KEY, Server, serving

from jobsight.learning.sweep.records import read_all
from jobsight.learning.tracking import RunEnd, Tracker

pytestmark = pytest.mark.skipif(find_spec("wandb") is None, reason="the SDK is not installed")

SEND = """
import sys
from pathlib import Path
from jobsight.errors import SweepError
from jobsight.learning.sweep.records import read_all
from jobsight.learning.tracking.wandb import send_runs
try:
    print(send_runs(read_all(Path(sys.argv[1])), "abcd1234", project="proj",
                    offline="offline" in sys.argv))
except SweepError as error:
    sys.exit(f"SweepError: {error}")
"""
RUN = "abcd1234-0001"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A run that ended, and one that did not."""
    for number in (1, 2):
        with Tracker(tmp_path / "runs" / f"{number:04d}") as kept:
            kept.start(run=number, parameters={"j": 20})
            for epoch in range(1, 5):
                kept.epoch(epoch, {"train_loss": 1 / epoch, "f1": float("nan")})
            if number == 1:
                kept.end(RunEnd("finished", None, 4, 2, {"f1": 0.5}))
    return tmp_path / "runs"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[dict[str, str]]:
    """An environment with a home and a scratch folder of the test's own."""
    given = {name: value for name, value in os.environ.items() if not name.startswith("WANDB_")}
    for name in ("home", "scratch"):
        (tmp_path / name).mkdir()
    yield {**given, "HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path / "scratch")}


def send(runs: Path, home: dict[str, str], url: str, *how: str) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", SEND, str(runs), *how],
        env={**home, "WANDB_BASE_URL": url, "WANDB_API_KEY": KEY},
        capture_output=True, text=True, check=False, timeout=limit(120),
        stdin=subprocess.DEVNULL, cwd=home["HOME"],
    )  # fmt: skip
    return done.stdout, done.stderr


def assert_sent(server: Server) -> None:
    rows = server.rows(RUN)
    assert [row["epoch"] for row in rows] == [row["_step"] for row in rows] == [1, 2, 3, 4]
    assert rows[3]["train_loss"] == 0.25
    assert "f1" not in rows[0]
    (config,) = {told["config"] for told in server.of("UpsertBucket")[:1]}
    assert '"j":{"value":20}' in config
    assert {told["name"] for told in server.of("UpsertBucket")} == {RUN}
    assert all(told["host"] in (None, "") for told in server.of("UpsertBucket"))


def test_runs_that_ended_are_sent_once(runs: Path, home: dict[str, str]) -> None:
    with serving() as server:
        assert send(runs, home, server.url)[0] == "[1]\n"
        assert_sent(server)
        sent = repr((server.queries, server.streamed, server.files))
        assert socket.gethostname() not in sent.replace(str(runs), "")
        assert send(runs, home, server.url)[0] == "[]\n"
    for path in runs.rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes(), path


def test_files_are_written_without_a_network_and_sent_later(
    runs: Path, home: dict[str, str]
) -> None:
    with serving() as server:
        assert send(runs, home, server.url, "offline")[0] == "[1]\n"
        assert not server.queries and not server.streamed
        attempts = sorted(str(path) for path in (runs / "0001/wandb").glob("*run-*"))
        subprocess.run(
            [sys.executable, "-m", "wandb", "sync", *attempts],
            env={**home, "WANDB_BASE_URL": server.url, "WANDB_API_KEY": KEY},
            capture_output=True, check=True, timeout=limit(60), cwd=home["HOME"],
        )  # fmt: skip
        assert_sent(server)


def test_a_server_that_refuses_is_one_clear_error(runs: Path, home: dict[str, str]) -> None:
    with serving(refuse_key=True) as server:
        said = send(runs, home, server.url)[1]
    assert "SweepError: Weights & Biases, run 1: " in said
    assert KEY not in said
    assert not (runs / "0001/wandb").exists()


def test_without_the_sdk_the_extra_is_named(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from jobsight.errors import UsageError
    from jobsight.learning.tracking.wandb import send_runs

    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"pip install 'jobsight\[sweep\]'"):
        send_runs(read_all(runs), "abcd1234", project="proj")
