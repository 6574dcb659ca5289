"""The service as a process: who is let in by the kernel's word, and commands that ask it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from tests.calling import jobsight
from tests.limits import PROVE, limit
from tests.serving import documents, still_held
from tests.storedjobs import filled

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
    (tmp_path / "bad.sh").write_text("#!/bin/bash\n#SBATCH --mem=1G\nif true; then\n")
    named = [word.format(tmp_path) for word in words]
    # The moment asked about is that of the call.
    moment = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?Z?|\(\d[\d.]* (?:s|min|h|d)\)")
    by_service, own = running.command(*named), jobsight(*named)  # which does its own work
    assert by_service.returncode == own.returncode
    for one, other in ((by_service.stdout, own.stdout), (by_service.stderr, own.stderr)):
        assert moment.sub("T", one) == moment.sub("T", other)


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
