"""The collector as a process: real event logs that grow, a real store, signals and kills."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.limits import PROVE, limit
from tests.testbed.namespace import until
from tests.testbed.redis import RedisServer

from jobsight.documents import JobDocument, encode
from jobsight.store import open_store

POOL = Path(__file__).parents[2] / "data" / "pool-a.log.gz"
EVENTS_END = b"\n...\n"


@pytest.fixture(scope="module")
def pool() -> bytes:
    """The first few megabytes of a real pool's log, whole records."""
    with gzip.open(POOL) as file:
        head = file.read(3 << 20)
    return head[: head.rindex(EVENTS_END) + len(EVENTS_END)]


class Place:
    """A folder with a log, a store and settings; runs ``jobsight collect`` there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "EventLog"
        self.store = folder / "jobs.db"
        self.status_file = folder / "status.json"
        self.config = folder / "jobsight.yaml"
        self.config.write_text(
            f"store: {self.store}\n"
            f"eventlog: {{paths: [{self.log}], interval: 0.05}}\n"
            f"collect: {{status_file: {self.status_file}, status_seconds: 0.1, first_pause: 0.1,"
            " longest_pause: 0.5}\n"
        )
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("JOBSIGHT_", "NOTIFY_", "WATCHDOG_", "RUNTIME_"))
        } | {"HOME": str(folder)}
        # Kernels compiled once are not to be compiled anew in each process.
        self.environment.setdefault("XDG_CACHE_HOME", str(Path("~/.cache").expanduser()))

    def command(self, *arguments: str) -> list[str]:
        return [
            sys.executable,
            "-m",
            "jobsight",
            "collect",
            "--config",
            str(self.config),
            *arguments,
        ]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments), env=self.environment, capture_output=True, text=True,
            check=False, timeout=limit(120),
        )  # fmt: skip

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*arguments), env={**self.environment, **environment}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    @contextmanager
    def running(self, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
        process = self.start(*arguments, **environment)
        try:
            until(lambda: self.status(process.pid), "a status")
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def status(self, pid: int) -> dict[str, Any] | None:
        """The status that this process wrote, if it has."""
        try:
            told = json.loads(self.status_file.read_text())
        except (OSError, ValueError):
            return None
        return told if told["pid"] == pid else None

    def documents(self) -> dict[str, JobDocument]:
        with open_store(str(self.store)) as store:
            return {one.id: one for one in store.scan()}

    def events(self) -> int:
        return sum(len(one.timeline) + one.dropped for one in self.documents().values())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def reference(folder: Path, log: bytes, name: str = "EventLog") -> dict[str, bytes]:
    """What one undisturbed run makes of the log; compared in all but when it was looked at."""
    folder.mkdir()
    calm = Place(folder)
    (folder / name).write_bytes(log)
    done = calm.run("--once")
    assert done.returncode == 0, done.stderr
    return {job: encode(one) for job, one in calm.documents().items()}


def test_once_collects_what_is_there_and_the_next_run_what_is_new(
    place: Place, pool: bytes
) -> None:
    middle = pool.index(EVENTS_END, len(pool) // 2) + len(EVENTS_END)
    place.log.write_bytes(pool[:middle])
    done = place.run("--once", "--verbose", "--log-format", "json")
    assert (done.returncode, done.stdout) == (0, "")
    events = [json.loads(line)["event"] for line in done.stderr.splitlines()]
    assert events[0] == "collector started"
    assert events[-1] == "collector stopped"
    before = place.events()
    with place.log.open("ab") as file:
        file.write(pool[middle:])
    assert place.run("--once").returncode == 0
    assert before < place.events()
    whole = {job: encode(one) for job, one in place.documents().items()}
    again = place.run("--once")
    assert (again.stdout, again.stderr) == ("", "")
    assert again.returncode == 0
    assert {job: encode(one) for job, one in place.documents().items()} == whole


def test_once_does_not_wait_for_a_log_to_name_its_access_point(place: Place) -> None:
    rotated = POOL.with_name("forms") / "rot"
    done = place.run("--once", "--event-log", str(rotated / "EventLog"))
    assert done.returncode == 0, done.stderr
    with open_store(str(place.store)) as store:
        assert len(list(store.scan())) == 5


def test_it_follows_tells_its_status_and_stops_when_asked(place: Place, pool: bytes) -> None:
    place.log.write_bytes(b"")
    third = pool.index(EVENTS_END, len(pool) // 3) + len(EVENTS_END)
    with place.running() as process:
        with place.log.open("ab", buffering=0) as file:
            for start in range(0, third, 50_000):
                file.write(pool[start : min(start + 50_000, third)])
                time.sleep(0.01)
        source = f"eventlog:{place.log}"

        def caught_up() -> bool:
            told = place.status(process.pid) or {}
            one = told.get("sources", {}).get(source, {})
            return bool(one.get("documents")) and one["source"]["bytes_behind"] == 0

        until(caught_up, "the end of the log")
        told = place.run("--status")
        assert told.returncode == 0, told.stderr
        assert "runs well" in told.stdout
        assert source in told.stdout
        as_json = place.run("--status", "--json")
        answer = json.loads(as_json.stdout)
        assert answer["healthy"] is True
        assert answer["pid"] == process.pid
        process.send_signal(signal.SIGTERM)
        begun = time.monotonic()
        out, err = process.communicate(timeout=limit(10))
        assert time.monotonic() - begun < limit(5)
    assert process.returncode == 0
    assert out == ""
    assert "collector stopped" in err
    assert place.run("--status").returncode == 1
    got = {job: encode(one) for job, one in place.documents().items()}
    assert set(got) == set(reference(place.folder / "calm", pool[:third]))


def hanging(place: Place, **slurm: str) -> Path:
    """Settings with tools of Slurm that never end; where they write their process ids."""
    tools, called = place.folder / "tools", place.folder / "called"
    tools.mkdir()
    for name in ("squeue", "sacct", "scontrol"):
        # It tells when whoever began it surely knows of it.
        (tools / name).write_text(f"#!/bin/sh\nsleep 0.3\necho $$ >> {called}\nexec sleep 600\n")
        (tools / name).chmod(0o755)
    told = {
        "store": str(place.store),
        "slurm": {"bin": str(tools), **slurm},
        "collect": {"status_file": str(place.status_file), "stop_seconds": 0.5},
    }
    place.config.write_text(json.dumps(told))
    return called


def asked(called: Path) -> bool:
    """Whether a tool has been asked."""
    return called.exists() and called.read_text().endswith("\n")


def test_signals_at_one_moment_are_one_and_another_one_later_ends_it_at_once(place: Place) -> None:
    called = hanging(place, cluster="c1")
    place.config.write_text(place.config.read_text().replace("0.5", "120"))
    process = place.start("--slurm")
    until(lambda: asked(called), "a tool")
    for one in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
        process.send_signal(one)
    assert process.stderr is not None
    said = [next(process.stderr) for _ in range(3)]
    assert "collector stopping" in said[-1]
    assert process.poll() is None

    def ended() -> bool:
        process.send_signal(signal.SIGTERM)
        return process.poll() is not None

    until(ended, "the end", timeout=30)
    assert process.returncode == -signal.SIGTERM
    assert process.communicate()[1] == ""
    for number in map(int, called.read_text().split()):
        os.kill(number, signal.SIGKILL)


@pytest.mark.parametrize("cluster", [{}, {"cluster": "c1"}])
@pytest.mark.parametrize("once", [False, True])
def test_a_tool_that_hangs_does_not_outlive_a_collector_that_is_stopped(
    cluster: dict[str, str], once: bool, place: Place
) -> None:
    """While it asks what the cluster is called, and, where that is set, in its first poll."""
    called = hanging(place, **cluster)
    process = place.start("--slurm", *(["--once"] if once else []))
    until(lambda: asked(called), "a tool")
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=limit(30))
    assert (process.returncode, "Traceback" in said) == (int(once), False), said
    for number in map(int, called.read_text().split()):
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


def test_killed_at_random_moments_it_ends_with_the_same_documents(
    place: Place, pool: bytes
) -> None:
    rng = random.Random(11)
    kills = 40 if PROVE else 3
    place.log.write_bytes(b"")
    place.config.write_text(
        place.config.read_text().replace("interval: 0.05", "interval: 0.05, events_per_poll: 500")
    )
    written = 0
    for kill in range(kills):
        process = place.start()
        target = len(pool) * (kill + 1) // kills
        ends = time.monotonic() + 1.2 + rng.random() * 1.5
        with place.log.open("ab", buffering=0) as file:
            while time.monotonic() < ends:
                piece = pool[written : min(written + rng.randrange(1, 90_000), target)]
                written += len(piece)
                file.write(piece)
                time.sleep(0.02)
        process.kill()
        process.communicate()
    with place.log.open("ab") as file:
        file.write(pool[written:])
    assert place.run("--once").returncode == 0
    found, wanted = place.documents(), reference(place.folder / "calm", pool)
    assert set(found) == set(wanted)
    assert {job: encode(one) for job, one in found.items()} == wanted


def test_two_collectors_with_one_configuration_do_not_run_at_once(place: Place) -> None:
    place.log.write_bytes(b"")
    with place.running() as process:
        second = place.run("--once")
        assert second.returncode == 1
        assert f"runs already with the status file {place.status_file} (process {process.pid} " in (
            second.stderr
        )
        (place.folder / "b").mkdir()
        elsewhere = Place(place.folder / "b")
        third = subprocess.run(
            [*elsewhere.command("--once"), "--store", str(place.store)],
            env=elsewhere.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert third.returncode == 1
        assert "runs already into the store" in third.stderr


def test_a_collector_started_while_its_store_is_away_waits_for_it(
    place: Place, bed_ready: None
) -> None:
    place.log.write_bytes(b"")
    with RedisServer() as server:
        server.shut_down()
        with place.running("--store", server.url) as process:
            told = place.run("--status")
            assert told.returncode == 1
            assert f"the store {server.url} cannot be reached" in told.stderr
            server.resume()
            until(lambda: place.run("--status").returncode == 0, "a collector that is well")
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=limit(20))
        assert process.returncode == 0
        assert said.count("store opened") == 1
        assert "store failed" in said


def test_a_store_that_is_away_is_not_waited_for_once_nor_by_one_that_is_stopped(
    place: Place,
) -> None:
    place.log.write_bytes(b"")
    away = f"unix://{place.folder}/nobody.sock"
    once = place.run("--once", "--store", away)
    assert once.returncode == 1
    assert "cannot be reached: its socket is not there" in once.stderr
    with place.running("--store", away) as process:
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=limit(10))
    assert process.returncode == 0, said


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--json"], "--json goes with --status"),
        (["--status", "--once"], "--status goes with no source"),
        (["--status", "--slurm"], "--status goes with no source"),
        (["--log-format", "xml"], "log_format"),
        (["--kafka", "--once"], "no broker is named"),
        (["--store", "nonsense://x", "--once"], "no store is addressed"),
    ],
)
def test_a_wrong_call_is_status_2_and_one_line(
    place: Place, arguments: list[str], reason: str
) -> None:
    done = place.run(*arguments)
    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


def test_nothing_to_collect_is_told(place: Place) -> None:
    place.config.write_text(
        f"store: {place.store}\ncollect: {{status_file: {place.status_file}}}\n"
    )
    place.environment["PATH"] = str(place.folder)
    done = place.run("--once")
    assert done.returncode == 2
    assert "nothing to collect from" in done.stderr
