"""Submissions to real Slurm with Jobsight in the site's cli_filter: what is shown, and the delay.

Whatever the service does, the same job is submitted, and waits for 0.3 s at most.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.resources import files
from pathlib import Path

import pytest
from tests.support.limits import PROVE, limit, prove
from tests.support.storedjobs import filled, job, told
from tests.testbed.fixtures import python_folders
from tests.testbed.namespace import free_ports, until
from tests.testbed.slurm import SlurmCluster

from jobsight.documents import JobDocument, Request, State, Submission, slurm_id
from jobsight.service.web.tokens import Tokens
from jobsight.settings import ServeSettings

pytestmark = pytest.mark.slow

FILES = files("jobsight.acting") / "files/slurm"
HOOK, EXAMPLE = "jobsight-cli.lua", "cli_filter.lua.example"
MEMORY = "#!/bin/bash\n#SBATCH --mem=100M\npython3 fit.py\n"
BROKEN = "#!/bin/bash\n#SBATCH --mem=100M\nif true; then\n"
RUBBISH = b"\x1b]0;title\x07<html>jobsight: none</html>\n" + b"\xfe\x9b31m" * 5_000
OPTIONS = shlex.split(
    "--array=0-3%2 --account=science --begin=now+1hour --cpus-per-task=2 --dependency=singleton "
    "--distribution=block:cyclic --error=%A_%a.err --exclusive=user --export=NONE "
    "--input=/dev/null --job-name=fit --kill-on-invalid-dep=yes --mail-type=END,FAIL --mem=3072M "
    "--mail-user=bob --nice=5 --nodes=1-2 --no-requeue --ntasks=2 --ntasks-per-node=2 "
    "--hint=nomultithread --open-mode=append --output=%A_%a.out --partition=main --profile=none "
    "--signal=B:10@60 --spread-job --switches=1@10:00 --time=0-1 --time-min=10 --tmp=100M"
)
WAITS = 0.3
"""Seconds that a submission waits at most."""
SUBMISSIONS = int(os.environ.get("JOBSIGHT_SUBMISSIONS", "1000" if PROVE else "20"))
BLOCK = 50
LOOP = """for ((k = 0; k < $1; k++)); do
    begun=$EPOCHREALTIME
    sbatch --hold --comment "$2 $k" "$3" >/dev/null
    echo "$begun $EPOCHREALTIME"
done 2>/dev/null"""


class Login:
    """Users of a cluster who submit jobs, where the site's cli_filter.lua loads Jobsight."""

    def __init__(self, cluster: SlurmCluster) -> None:
        self.cluster = cluster
        self.work = cluster.folder / "work"
        self.socket = self.work / "serve.sock"
        self.etc = cluster.folder / "etc/slurm"
        self.configure()
        example = (FILES / EXAMPLE).read_text("utf-8")
        assert f"/etc/jobsight/slurm/{HOOK}" in example
        example = example.replace("/etc/jobsight/slurm/", "/etc/slurm/")
        (self.etc / "cli_filter.lua").write_text(example)
        conf = (self.etc / "slurm.conf").read_text()
        (self.etc / "plain.conf").write_text(conf.replace("CliFilterPlugins", "#CliFilterPlugins"))

    def configure(self, **constants: str) -> None:
        """Write the hook with these values of its constants."""
        hook = (FILES / HOOK).read_text("utf-8")
        for name, value in ({"SOCKET": str(self.socket)} | constants).items():
            hook, count = re.subn(rf"(?m)^local {name} = .*$", f'local {name} = "{value}"', hook)
            assert count == 1
        (self.etc / HOOK).write_text(hook)

    def run(
        self, *words: str, user: str = "alice", text: str | None = None,
        quiet: str | None = "0", **environment: str,
    ) -> subprocess.CompletedProcess[str]:  # fmt: skip
        """Run a command as a user whose standard error is not a terminal."""
        if quiet is not None:
            environment["JOBSIGHT_QUIET"] = quiet
        named = [f"{name}={value}" for name, value in environment.items()]
        line = self.cluster.namespace.command(
            ("/usr/bin/env", *named, *words), user, processes=False
        )
        done = subprocess.run(
            line, capture_output=True, text=True, input=text, cwd="/", timeout=limit(60),
            check=False, errors="replace",
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def script(self, text: str, name: str = "fit.sh") -> str:
        """The path of a new script."""
        (self.work / name).write_text(text)
        return str(self.work / name)

    def sbatch(self, *words: str, **more: str | None) -> tuple[str, str]:
        """The number of the job, which is held, and what was shown."""
        command = ("/usr/bin/sbatch", "--parsable", "--hold", *words)
        done = self.run(*command, **more)  # type: ignore[arg-type]
        assert done.stdout.strip().isdecimal(), done.stdout
        return done.stdout.strip(), done.stderr

    def submitted(self, number: str) -> str:
        """What slurmctld has of a job, but for what differs between any two."""
        said = self.cluster.run("scontrol", "-o", "show", "job", number)
        return re.sub(r"\b(JobId|\w*Time|LastSchedEval|Priority|Std\w+)=\S*", "", said)


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


def runs(user: str, state: State, first: int) -> list[JobDocument]:
    """Twelve runs of a script, a minute each."""
    states = (State.PENDING, State.RUNNING, state)
    return [
        job(
            slurm_id("testbed", str(number)),
            *(told(100 * number + 60 * at, one) for at, one in enumerate(states)),
            user=user,
            submission=Submission(user=user, name="fit.sh"),
            request=Request(cpus=1, memory_mb=100, time_limit_s=600),
        )
        for number in range(first, first + 12)
    ]


@pytest.fixture(scope="module")
def service(login: Login) -> Iterator[Path]:
    """The socket of the service, which knows that alice's jobs use up their memory, bob's do not.

    It listens on TCP where the file ``address`` next to its socket says.
    """
    folder = login.work / "service"
    folder.mkdir()
    histories = [*runs("alice", State.OUT_OF_MEMORY, 1), *runs("bob", State.COMPLETED, 101)]
    store, at = filled(folder / "jobs.db", histories), folder / "up.sock"
    (folder / "address").write_text(f"127.0.0.1:{free_ports(1)[0]}")
    environment = {
        "JOBSIGHT_SERVE__LOCAL_USERS": "true",
        "JOBSIGHT_SERVE__SOCKET": str(at),
        "JOBSIGHT_SERVE__TOKENS": str(folder / "tokens.json"),
        "JOBSIGHT_STORE": store,
        "NUMBA_CACHE_DIR": os.environ["NUMBA_CACHE_DIR"],
    }
    named = [f"{name}={value}" for name, value in environment.items()]
    words = ["env", *named, sys.executable, "-m", "jobsight", "serve", "--listen"]
    words.append((folder / "address").read_text())
    with (folder / "log").open("w") as log:
        line = login.cluster.namespace.command(words, processes=True)
        process = subprocess.Popen(line, stderr=log, cwd="/")
    ask = ("curl", "-s", "--unix-socket", str(at), "http://x/api/v1/health")
    ready = lambda: '"ready":true' in login.cluster.run(*ask, check=False)  # noqa: E731
    until(ready, "the service to be ready", timeout=120)
    yield at
    login.cluster.namespace.kill("python", signal.SIGTERM)
    process.wait(limit(30))


@contextlib.contextmanager
def up(login: Login, at: Path) -> Iterator[None]:
    """The service at the place where users ask."""
    login.socket.hardlink_to(at)
    try:
        yield
    finally:
        login.socket.unlink()


@contextlib.contextmanager
def answering(login: Login, answer: Callable[[socket.socket], None] | None) -> Iterator[None]:
    """A service that accepts connections, and answers so; None: never."""
    with socket.socket(socket.AF_UNIX) as server, contextlib.ExitStack() as connections:
        server.bind(str(login.socket))
        login.socket.chmod(0o666)
        server.listen(512)

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection = connections.enter_context(server.accept()[0])
                    if answer is not None:
                        with contextlib.suppress(OSError), connection:
                            connection.recv(1)
                            answer(connection)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(limit(10))
            login.socket.unlink()


def _reply(status: str, body: bytes, times: int = 1) -> Callable[[socket.socket], None]:
    def answer(connection: socket.socket) -> None:
        connection.sendall(f"HTTP/1.1 {status}\r\nConnection: close\r\n\r\n".encode())
        for _ in range(times):
            connection.sendall(body)

    return answer


@contextlib.contextmanager
def dead(login: Login) -> Iterator[None]:
    """The socket that a service left behind which was killed."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(login.socket))
    login.socket.chmod(0o666)
    try:
        yield
    finally:
        login.socket.unlink()


FAULTS: dict[str, Callable[[Login], contextlib.AbstractContextManager[None]]] = {
    "away": lambda _login: contextlib.nullcontext(),
    "dead": dead,
    "hung": lambda login: answering(login, None),
    "rubbish": lambda login: answering(login, _reply("200 OK", RUBBISH)),
    "endless": lambda login: answering(login, _reply("200 OK", b"x" * 99_999, 99_999)),
    "refusing": lambda login: answering(login, _reply("429 No", b"jobsight: too many\n")),
}


def shown(login: Login, wanted: str, *words: str, **more: str | None) -> str:
    """What is shown once a text is in it: on a busy machine an answer may be late."""

    def attempt() -> str:
        said = login.run(words[0], f"--comment={time.time()}", *words[1:], **more)  # type: ignore[arg-type]
        printed = said.stdout + said.stderr
        return printed if wanted in printed else ""

    return until(attempt, f"{wanted} to be shown", timeout=30)


def test_what_is_shown_is_about_the_user_who_submits(login: Login, service: Path) -> None:
    path, broken = login.script(MEMORY), login.script(BROKEN, "broken.sh")
    held = ("sbatch", "--parsable", "--hold")
    with up(login, service):
        lines = shown(login, "to fail", *held, path).splitlines()
        assert lines[0].isdecimal()
        assert all(line.startswith("jobsight: ") for line in lines[1:])
        assert "out of memory" in lines[1]
        assert login.sbatch(path, user="bob")[1] == ""
        shown(login, "jobsight: broken.sh:3: ", *held, broken)
        # Options as Slurm writes them are none that `check` finds fault with.
        found = shown(login, "jobsight: broken.sh:3: ", *held, *OPTIONS, broken, user="bob")
        assert found.count("jobsight: ") == 1
        # A script on standard input is judged by its options alone.
        assert ":3: " not in shown(login, "to fail", *held, "-Jfit.sh", "--mem=100M", text=BROKEN)
        for command in ("srun", "salloc"):
            shown(login, "to fail", command, "-Jfit.sh", "--mem=100M", "true")
        within = ("salloc", "-Jfit.sh", "--mem=100M", "srun", "-Jfit.sh", "true")
        assert shown(login, "to fail", *within).count("to fail") == 1


def test_it_is_silent_where_that_is_wanted(login: Login, service: Path) -> None:
    path = login.script(MEMORY)
    with up(login, service):
        shown(login, "to fail", "sbatch", "--hold", path)
        for more in ({"quiet": "1"}, {"quiet": None}, {"SLURM_JOB_ID": "1"}):
            assert login.sbatch(path, **more)[1] == ""
        assert login.run("sbatch", "--quiet", "--hold", path).stderr == ""
        components = ("sbatch", "--hold", "--mem=100M", ":", "--mem=200M", path)
        assert shown(login, "to fail", *components).count("to fail") == 1

        def on_a_terminal() -> str:
            # One that stops what writes to it from the background.
            line = f"stty tostop; sbatch --hold --comment={time.time()} {shlex.quote(path)}"
            said = login.run("script", "-qec", line, "/dev/null", quiet=None).stdout
            assert "Submitted batch job" in said
            return said if "to fail" in said else ""

        until(on_a_terminal, "the terminal to show it", timeout=30)


def test_another_machine_is_asked_with_a_token(login: Login, service: Path) -> None:
    address = f"http://{(service.parent / 'address').read_text()}"
    token = Tokens(ServeSettings(tokens=service.parent / "tokens.json")).add("alice", "user", 1)
    header = login.cluster.folder / "home/alice/token.header"
    path = login.script(MEMORY)
    try:
        login.configure(SOCKET="/none", ADDRESS=address, TOKEN="~/token.header")
        assert login.sbatch(path)[1] == ""
        header.write_text(f"Authorization: Bearer {token}\n")
        shown(login, "to fail", "sbatch", "--hold", path)
        header.write_text("Authorization: Bearer jobsight_wrong\n")
        assert login.sbatch(path)[1] == ""
    finally:
        login.configure()


@pytest.mark.parametrize("fault", FAULTS)
def test_the_same_job_is_submitted_whatever_the_service_does(login: Login, fault: str) -> None:
    path = login.script(MEMORY)
    commands = {
        "srun": ("srun", "--mem=100M", "echo", "done"),
        "salloc": ("salloc", "--mem=100M", "echo", "done"),
    }
    expected = login.submitted(login.sbatch(path, quiet="1")[0])
    usual = {name: login.run(*words, quiet="1") for name, words in commands.items()}
    with FAULTS[fault](login):
        number, shown = login.sbatch(path)
        assert shown == ""
        assert login.submitted(number) == expected
        for name, words in commands.items():
            done = login.run(*words)
            assert done.stdout == usual[name].stdout
            assert all(line.startswith(f"{name}: ") for line in done.stderr.splitlines())


def test_it_does_without_what_it_needs(login: Login, service: Path) -> None:
    """No curl, no tools, no standard error, no more processes, no hook; a script in a pipe."""
    path, bash = login.script(MEMORY), ("/bin/bash", "-c")
    tools = login.work / "tools"
    tools.mkdir()
    for tool in ("cat", "grep", "head", "sh", "timeout"):
        (tools / tool).symlink_to(f"/usr/bin/{tool}")
    wrapped = f"--wrap=# {'x' * 100_000}"
    for where in (up(login, service), contextlib.nullcontext()):
        with where:
            for folder in (str(tools), "/none"):
                assert login.sbatch(path, PATH=folder)[1] == ""
                assert login.sbatch(wrapped, PATH=folder)[1] == ""
            login.sbatch(wrapped)
            login.run(*bash, f"sbatch --hold {path} 2>&-")
            for processes in range(1, 12):
                login.run(*bash, f"ulimit -u {processes}; exec sbatch --hold {path}")
            login.run(*bash, f"mkfifo $HOME/p; cat {path} >$HOME/p & sbatch --hold $HOME/p")
            login.run("rm", "-f", "/home/alice/p")
    for text in (None, "this is not Lua", "return {}"):
        (login.etc / HOOK).unlink()
        if text is not None:
            (login.etc / HOOK).write_text(text)
        assert login.sbatch(path)[1] == ""
        (login.etc / HOOK).touch()
    login.configure()


def test_a_submission_waits_no_longer_than_it_may(
    login: Login, service: Path, record_property: Callable[[str, object], None]
) -> None:
    """Seconds of sbatch without cli_filter, with it, and with each fault; in turns."""
    path = login.script(MEMORY)
    arms: dict[str, Callable[[], contextlib.AbstractContextManager[None]]] = {
        "without cli_filter": contextlib.nullcontext,
        "JOBSIGHT_QUIET=1": contextlib.nullcontext,
        "service up": lambda: up(login, service),
        **{f"service {name}": partial(fault, login) for name, fault in FAULTS.items()},
    }
    spent: dict[str, list[float]] = {name: [] for name in arms}
    for begin in range(0, SUBMISSIONS, BLOCK):
        count = min(BLOCK, SUBMISSIONS - begin)
        for name, arm in arms.items():
            plain = {"SLURM_CONF": "/etc/slurm/plain.conf"} if "without" in name else {}
            quiet = "1" if "QUIET" in name else "0"
            with arm():
                said = login.run(
                    "/bin/bash", "-c", LOOP, "bash", str(count), str(begin), path,
                    quiet=quiet, **plain,
                ).stdout  # fmt: skip
            spans = [line.split() for line in said.splitlines()]
            spent[name] += [float(end) - float(start) for start, end in spans]
        jobs = login.cluster.run("squeue", "-h", "-o", "%A").split()
        assert len(jobs) == count * len(arms)
        login.cluster.cancel_all()
    rows = [f"| Slurm {login.cluster.version} | submissions | p50 | p95 | p99 | most |",
            "|---|---:|---:|---:|---:|---:|"]  # fmt: skip
    for name, seconds in spent.items():
        low, high, highest = (statistics.quantiles(seconds, n=100)[at] for at in (49, 94, 98))
        figures = " | ".join(f"{1000 * one:.0f}" for one in (low, high, highest, max(seconds)))
        rows.append(f"| {name} | {len(seconds)} | {figures} |")
    table = "\n".join(["ms of sbatch:", "", *rows])
    record_property("submissions", table)
    usual = statistics.median(spent["without cli_filter"])
    medians = {name: statistics.median(seconds) - usual for name, seconds in spent.items()}
    assert max(medians.values()) <= limit(WAITS), medians
    assert medians["service hung"] > medians["service away"]
