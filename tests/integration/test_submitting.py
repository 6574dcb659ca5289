"""Submitting to real Slurm with Jobsight in the site's cli_filter: what is shown, and what it costs.

Whatever the service does, the same job is submitted, and waits for 0.3 s at most.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from tests.support.limits import PROVE, limit, prove
from tests.support.storedjobs import filled, job, told
from tests.testbed.fixtures import python_folders
from tests.testbed.namespace import until
from tests.testbed.slurm import SlurmCluster

from jobsight.documents import JobDocument, Request, State, Submission, slurm_id

pytestmark = pytest.mark.slow

HOOK = files("jobsight.acting") / "files/slurm/jobsight-cli.lua"
EXAMPLE = files("jobsight.acting") / "files/slurm/cli_filter.lua.example"
INSTALLED = "/etc/slurm/jobsight-cli.lua"
BROKEN = "#!/bin/bash\n#SBATCH --mem=100M\nif true; then\n"
RUBBISH = "\x1b]0;title\x07<html>no such thing</html>\n" + "\xfe\x9b31m" * 5_000
TITLE = "\x1b]0;title\x07"
_WAITS = 0.3
"""Seconds that a submission waits at most."""
_SUBMISSIONS = 1000 if PROVE else 40


class Login:
    """Users of a cluster who submit, and a site whose cli_filter.lua loads Jobsight."""

    def __init__(self, cluster: SlurmCluster) -> None:
        self.cluster = cluster
        self.socket = cluster.folder / "work/serve.sock"
        self.etc = cluster.folder / "etc/slurm"
        hook = HOOK.read_text("utf-8")
        hook = re.sub(r"(?m)^local SOCKET = .*$", f'local SOCKET = "{self.socket}"', hook)
        (self.etc / "jobsight-cli.lua").write_text(hook)
        example = EXAMPLE.read_text("utf-8")
        assert "/etc/jobsight/slurm/jobsight-cli.lua" in example
        example = example.replace("/etc/jobsight/slurm/jobsight-cli.lua", INSTALLED)
        (self.etc / "cli_filter.lua").write_text(example)
        conf = (self.etc / "slurm.conf").read_text()
        (self.etc / "plain.conf").write_text(conf.replace("CliFilterPlugins", "#CliFilterPlugins"))

    def run(
        self, *words: str, user: str = "alice", text: str | None = None, status: int = 0,
        quiet: str | None = "0", **environment: str,
    ) -> subprocess.CompletedProcess[str]:  # fmt: skip
        """Run a command of Slurm as a user whose standard error is not a terminal."""
        if quiet is not None:
            environment["JOBSIGHT_QUIET"] = quiet
        named = [f"{name}={value}" for name, value in environment.items()]
        line = self.cluster.namespace.command(("env", *named, *words), user, processes=False)
        done = subprocess.run(
            line, capture_output=True, text=True, input=text, cwd="/", timeout=limit(60),
            check=False, errors="replace",
        )  # fmt: skip
        assert done.returncode == status, done.stdout + done.stderr
        return done

    def script(self, text: str, name: str = "fit.sh") -> str:
        path = self.cluster.folder / "work" / name
        path.write_text(text)
        return str(path)

    def sbatch(self, *words: str, **more: str | None) -> tuple[str, str]:
        """The number of the job, and what was shown; the job is held."""
        done = self.run("sbatch", "--parsable", "--hold", *words, **more)  # type: ignore[arg-type]
        assert done.stdout.strip().isdecimal(), done.stdout
        return done.stdout.strip(), done.stderr

    def submitted(self, number: str) -> str:
        """What slurmctld has of a job, but for what differs between any two."""
        said = self.cluster.run("scontrol", "-o", "show", "job", number)
        return re.sub(r"\b(JobId|\w*Time|LastSchedEval|Priority|StdErr|StdOut)=\S*", "", said)


@pytest.fixture(scope="module", params=["24.11", pytest.param("22.05", marks=prove)])
def login(bed_ready: None, request: pytest.FixtureRequest) -> Iterator[Login]:
    settings = ["CliFilterPlugins=cli_filter/lua"]
    with SlurmCluster(
        request.param, accounting=False, settings=settings, shows=python_folders()
    ) as cluster:
        yield Login(cluster)


@pytest.fixture(autouse=True)
def empty_queue(login: Login) -> Iterator[None]:
    yield
    login.cluster.cancel_all()
    login.socket.unlink(missing_ok=True)


def runs(user: str, state: State) -> list[JobDocument]:
    """Twelve runs of a script that used up its memory, or succeeded; a minute each."""
    return [
        job(
            slurm_id("testbed", str(number)),
            *(told(100 * number + 60 * at, one) for at, one in enumerate(
                (State.PENDING, State.RUNNING, state)
            )),
            user=user,
            submission=Submission(user=user, name="fit.sh"),
            request=Request(cpus=1, memory_mb=100, time_limit_s=600),
        )
        for number in range(1 if user == "alice" else 101, 13 if user == "alice" else 113)
    ]  # fmt: skip


@contextlib.contextmanager
def service(login: Login) -> Iterator[None]:
    """The service, where alice's jobs fail and bob's succeed."""
    folder = login.cluster.folder / "work/service"
    folder.mkdir(exist_ok=True)
    documents = [*runs("alice", State.OUT_OF_MEMORY), *runs("bob", State.COMPLETED)]
    store = folder / "jobs.db"
    if not store.exists():
        filled(store, documents)
    environment = {
        "JOBSIGHT_SERVE__LOCAL_USERS": "true",
        "JOBSIGHT_SERVE__SOCKET": str(login.socket),
        "JOBSIGHT_SERVE__REQUESTS_PER_SECOND": "1000",
        "JOBSIGHT_STORE": str(store),
        "NUMBA_CACHE_DIR": os.environ["NUMBA_CACHE_DIR"],
    }
    named = [f"{name}={value}" for name, value in environment.items()]
    words = ["env", *named, sys.executable, "-m", "jobsight", "serve", "--listen", "127.0.0.1:0"]
    line = login.cluster.namespace.command(words, processes=False)
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(line, stderr=log, cwd="/")
    try:
        ask = ("curl", "-s", "--unix-socket", str(login.socket), "http://x/api/v1/health")
        until(
            lambda: '"ready":true' in login.cluster.run(*ask, check=False),
            f"the service: {(folder / 'log').read_text()}",
            timeout=120,
        )
        yield
    finally:
        process.terminate()
        process.wait(30)


@contextlib.contextmanager
def answering(login: Login, answer: Callable[[socket.socket], None] | None) -> Iterator[None]:
    """A service that accepts connections, and then does something else; None: nothing at all."""
    with socket.socket(socket.AF_UNIX) as server, contextlib.ExitStack() as open_ones:
        server.bind(str(login.socket))
        login.socket.chmod(0o666)
        server.listen(512)

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection = open_ones.enter_context(server.accept()[0])
                    if answer is not None:
                        with contextlib.suppress(OSError):
                            answer(connection)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(limit(10))
            login.socket.unlink()


def _rubbish(connection: socket.socket) -> None:
    body = RUBBISH.encode("latin-1")
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
    connection.sendall(head.encode() + body)


def _refusing(connection: socket.socket) -> None:
    body = b"jobsight: too many requests\n"
    connection.sendall(b"HTTP/1.1 429 No\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


def _endless(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(b"jobsight: " + b"x" * 100_000)


@contextlib.contextmanager
def dead(login: Login) -> Iterator[None]:
    """The socket of a service that was killed."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(login.socket))
    login.socket.chmod(0o666)
    yield
    login.socket.unlink()


FAULTS: dict[str, Callable[[Login], contextlib.AbstractContextManager[None]]] = {
    "away": lambda _login: contextlib.nullcontext(),
    "dead": dead,
    "hung": lambda login: answering(login, None),
    "rubbish": lambda login: answering(login, _rubbish),
    "refusing": lambda login: answering(login, _refusing),
}


def test_what_is_shown_is_of_the_user_who_submits(login: Login) -> None:
    path = login.script("#!/bin/bash\n#SBATCH --mem=100M\npython3 fit.py\n")
    broken = login.script(BROKEN, "broken.sh")
    with service(login):
        number, shown = login.sbatch(path)
        assert "to fail" in shown
        assert all(line.startswith("jobsight: ") for line in shown.splitlines())
        assert login.sbatch(path, user="bob")[1] == ""
        # The first check is late: its process is started for it.
        found = until(lambda: login.sbatch("--comment", str(time.time()), broken)[1], timeout=60)
        until(lambda: "broken.sh:3" in login.sbatch("--comment", str(time.time()), broken)[1])
        assert "broken.sh" in found or "to fail" in found
        # A script on standard input is judged by its options alone.
        by_options = login.sbatch("--job-name=fit.sh", "--mem=100M", text=BROKEN)[1]
        assert "to fail" in by_options
        assert "line" not in by_options
        assert login.sbatch(path, quiet="1")[1] == ""
        assert login.sbatch(path, quiet=None)[1] == ""  # programs read it, not a person
        assert login.sbatch(path, SLURM_JOB_ID="1")[1] == ""
        assert "to fail" in login.run("srun", "-Jfit.sh", "--mem=100M", "true").stderr
        assert "to fail" in login.run("salloc", "-Jfit.sh", "--mem=100M", "true").stderr
        within = login.run("salloc", "-Jfit.sh", "--mem=100M", "srun", "true").stderr
        assert within.count("to fail") == 1
    del number
