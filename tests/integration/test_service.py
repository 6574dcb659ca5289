"""The service as a process: who is let in by the kernel's word, and commands that ask it."""

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from tests.support.calling import jobsight
from tests.support.limits import PROVE, limit
from tests.support.serving import documents, still_held
from tests.support.storedjobs import filled

from jobsight.store import open_store

pytestmark = pytest.mark.slow
JOBSIGHT = [str(Path(sys.executable).parent / "jobsight")]
NOBODY = 65534


class Running:
    """A service that runs, and its environment."""

    def __init__(self, folder: Path) -> None:
        self.url = filled(folder / "jobs.db", documents())
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LOGNAME": "ann",
            "JOBSIGHT_SERVE__SOCKET": str(folder / "serve.sock"),
            "NUMBA_CACHE_DIR": os.environ["NUMBA_CACHE_DIR"],
            "JOBSIGHT_STORE": self.url,
            "JOBSIGHT_SERVE__REQUESTS_PER_SECOND": "1e6",
            "JOBSIGHT_SERVE__AUDIT": str(folder / "audit.jsonl"),
        }
        self.process = subprocess.Popen(
            [*JOBSIGHT, "serve", "--listen", "127.0.0.1:0"],
            env=self.environment, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stderr is not None
        found = re.search(r'address="([^"]+)/"', self.process.stderr.readline())
        assert found is not None
        self.address = found[1]
        deadline = time.monotonic() + limit(120)
        while not httpx.get(f"{self.address}/api/v1/health").json()["ready"]:
            assert time.monotonic() < deadline
            time.sleep(0.2)

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command as a process, which asks the service."""
        return subprocess.run(
            [*JOBSIGHT, *words], env=self.environment, capture_output=True, text=True, check=False
        )


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    found = Running(tmp_path_factory.mktemp("service"))
    yield found
    found.process.send_signal(signal.SIGTERM)
    assert found.process.wait(limit(30)) == 0
    assert found.process.stderr is not None
    found.process.stderr.close()
    assert not Path(found.environment["JOBSIGHT_SERVE__SOCKET"]).exists()


def test_its_own_user_alone_needs_no_token(running: Running) -> None:
    assert httpx.get(f"{running.address}/api/v1/jobs").status_code == 200
    proxied = {"x-forwarded-for": "192.0.2.1"}
    assert httpx.get(f"{running.address}/api/v1/jobs", headers=proxied).status_code == 401
    if os.getuid() != 0:
        pytest.skip("another user needs root")
    program = f"import urllib.request as u; u.urlopen('{running.address}/api/v1/jobs')"
    done = subprocess.run(
        ["/usr/bin/python3", "-c", program],
        user=NOBODY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "HTTP Error 401" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("hold", "--all"), ("hold", "77.0", "--json"), ("hold", "12.3"),
        ("fail", "90"), ("fail", "--pending", "--json"), ("start", "slurm:grid:90"),
        ("start", "nonsense"), ("check", "{}/bad.sh", "--json"), ("fail", "{}/bad.sh"),
    ],
)  # fmt: skip
def test_commands_print_the_same_by_the_service(
    running: Running, tmp_path: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOBSIGHT_STORE", running.url)
    monkeypatch.setenv("LOGNAME", "ann")
    (tmp_path / "bad.sh").write_text("#!/bin/bash\n#SBATCH --mem=1G\nif true; then\n")
    named = [word.format(tmp_path) for word in words]
    # The moment asked about is that of the call.
    moment = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?Z?|\(\d[\d.]* (?:s|min|h|d)\)")
    by_service, own = running.command(*named), jobsight(*named)  # which does its own work
    assert by_service.returncode == own.returncode
    for one, other in ((by_service.stdout, own.stdout), (by_service.stderr, own.stderr)):
        assert moment.sub("T", one) == moment.sub("T", other)


def test_the_callers_jobs_are_shown_by_the_service(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOBSIGHT_STORE", running.url)
    monkeypatch.setenv("LOGNAME", "ann")
    for parts in (json.loads(called("--json").stdout) for called in (running.command, jobsight)):
        assert parts["counts"] == {"held": 1, "pending": 1, "running": 0, "failed": 0}
        assert parts["held"]["rows"][0]["answer"]["id"] == "htcondor:ap40:77.0"
        assert parts["pending"]["rows"][0]["answer"]["id"] == "slurm:grid:91"
        assert parts["pending"]["more"] == "jobsight start slurm:grid:91"


def test_a_new_hold_is_answered_at_once(running: Running) -> None:
    with open_store(running.url) as store:
        store.merge([still_held(9)])
    deadline = time.monotonic() + limit(5)
    while "htcondor:ap40:77.9" not in httpx.get(f"{running.address}/api/v1/held").text:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    done = running.command("hold", "77.9", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["id"] == "htcondor:ap40:77.9"


def test_a_command_that_asks_imports_nothing_heavy() -> None:
    program = "import sys, jobsight.cli.quick; print([m for m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    for heavy in ("typer", "click", "rich", "pydantic", "polars", "numpy", "msgspec", "json"):
        assert f"'{heavy}'" not in done.stdout


def test_no_request_that_the_schema_allows_breaks_it(running: Running) -> None:
    whole = schemathesis.openapi.from_url(f"{running.address}/openapi.json")
    schema = whole.exclude(path="/api/v1/events")

    @settings(
        max_examples=3000 if PROVE else 60, deadline=None,
        suppress_health_check=list(HealthCheck), database=None, derandomize=not PROVE,
    )  # fmt: skip
    @given(case=schema.as_strategy())
    def asked(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(checks=[not_a_server_error], timeout=limit(60))

    asked()


HEAD = "#!/bin/bash\n#SBATCH --mem=1G\n"
HOSTILE = [
    HEAD + "(" * 190_000, HEAD + "cat <<E\nx\nE\n" * 24_000, HEAD + "if a; then\n" * 20_000,
    HEAD + "a|" * 90_000, HEAD + "a&&" * 60_000, HEAD + "echo $(a)\n" * 20_000,
]  # fmt: skip
ENDLESS = HEAD + "".join(f"f{n}() {{ f{n + 1}; }}\nx{n}\n" for n in range(7_000))
"""Takes until a limit: functions and commands, each compared with each, and so does ShellCheck."""


def lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children(process: int) -> set[int]:
    """The processes that a process has started."""
    found = set[int]()
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # the thread has ended
            found.update(map(int, path.read_text().split()))
    return set(filter(lives, found))


def below(process: int) -> set[int]:
    """The processes that a process has started, and those that these have."""
    own = children(process)
    return own.union(*map(below, own))


async def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + limit(60)
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


def test_hostile_scripts_hold_up_nothing_else(tmp_path: Path) -> None:
    running = Running(tmp_path)
    pid = running.process.pid
    seconds: list[float] = []

    async def sent(client: httpx.AsyncClient, number: int) -> httpx.Response:
        text = HOSTILE[number % len(HOSTILE)]
        if number % 3:
            return await client.post("/api/v1/check", json={"script": text})
        return await client.post("/ask", data={"script": text[:199_000]})

    async def used() -> None:
        limits = httpx.Limits(max_connections=100)
        async with (
            httpx.AsyncClient(base_url=running.address, timeout=None, limits=limits) as client,
            httpx.AsyncClient(base_url=running.address, timeout=limit(10)) as other,
        ):
            tasks = [asyncio.create_task(sent(client, number)) for number in range(42)]
            await until(lambda: len(below(pid)) > 0)
            for path in ("/jobs", "/login", "/metrics", "/pending"):
                assert (await other.get(path)).status_code == 200
            while not any(one.done() for one in tasks) or len(seconds) < 100:
                begun = time.perf_counter()
                assert (await other.get("/api/v1/health")).status_code == 200
                seconds.append(time.perf_counter() - begun)
                assert len(children(pid)) <= 2
                await asyncio.sleep(0.02)
            refused = [one.result() for one in tasks if one.done()]
            assert {one.status_code for one in refused} <= {200, 429}
            waits = [one.headers for one in refused if one.status_code == 429]
            assert waits and all("retry-after" in one for one in waits)
            for one in tasks:
                one.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await until(lambda: len(below(pid)) <= 1)  # who goes ends what was done for them

        async with httpx.AsyncClient(base_url=running.address, timeout=None) as client:
            while (await client.post("/api/v1/check", json={"script": HEAD})).status_code == 429:
                await asyncio.sleep(0.02)  # tasks of those that have gone are still in the queue
            task = asyncio.create_task(client.post("/api/v1/check", json={"script": ENDLESS}))
            await until(lambda: len(below(pid)) > 1)  # an analyst, and what it has started
            left = below(pid)
            running.process.kill()
            running.process.wait()
            await until(lambda: not any(map(lives, left)))
            with pytest.raises(httpx.HTTPError):
                await task

    asyncio.run(used())
    assert running.process.stderr is not None
    running.process.stderr.close()
    assert sorted(seconds)[len(seconds) // 2] < limit(0.05)
