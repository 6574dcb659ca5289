"""A root entered by namespaces of its own: mounts, processes, host name; the network is the host's.

`Namespace.start` runs `keeper.py` as process 1. Nothing is mounted where the host could see it, the
cached root is read-only, and all that daemons write lies in `Namespace.folder`, which is shown
inside under the same path as outside. The kernel ends everything when the keeper ends, and the
keeper ends when the process that started it does, even by SIGKILL.
"""

import contextlib
import json
import os
import random
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeVar

from tests.support.limits import limit
from tests.testbed.errors import BedError, Unavailable

__all__ = [
    "Namespace",
    "free_ports",
    "keep",
    "logs_folder",
    "new_folder",
    "remove",
    "until",
    "users_of",
]

_KEEPER = Path(__file__).with_name("keeper.py")
_UNSHARE = (
    *("unshare", "--mount", "--uts", "--ipc", "--pid", "--fork"),
    *("--kill-child=SIGKILL", "--propagation", "private"),
)
_T = TypeVar("_T")
_ENTERED = {"mount": "mnt", "uts": "uts", "ipc": "ipc"}
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def free_ports(count: int) -> list[int]:
    """`count` different TCP ports of 127.0.0.1 that nobody uses now.

    Taken below the range that the kernel gives to outgoing connections, so none of these can take
    one before the daemon meant for it starts.
    """
    ports: list[int] = []
    generator = random.SystemRandom()
    while len(ports) < count:
        port = generator.randrange(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in ports:
            ports.append(port)
    return ports


def until(
    ask: Callable[[], _T], what: str = "it", *, timeout: float = 60.0, pause: float = 0.05
) -> _T:
    """Ask until the reply is true, and give it.

    Raises:
        BedError: it was not in `limit(timeout)` seconds; holds the last `BedError` of asking.
    """
    begun = time.monotonic()
    while True:
        trouble = ""
        try:
            reply = ask()
        except BedError as error:  # a daemon that is being started again, say
            trouble = f"; {error}"
        else:
            if reply:
                return reply
        if (spent := time.monotonic() - begun) > limit(timeout):
            raise BedError(f"gave up after {spent:.0f} s: {what}{trouble}")
        time.sleep(pause)


def new_folder(name: str) -> Path:
    """A clean folder for one start of one piece; every user may look in."""
    folder = Path(tempfile.mkdtemp(prefix=f"jobsight-testbed-{name}-"))
    folder.chmod(0o755)
    (folder / "logs").mkdir()
    return folder


def logs_folder() -> Path:
    """Where logs of failed tests go: `JOBSIGHT_TESTBED_LOGS`, else in the temporary folder."""
    named = os.environ.get("JOBSIGHT_TESTBED_LOGS")
    return Path(named) if named else Path(tempfile.gettempdir()) / "jobsight-testbed-logs"


def remove(folder: Path, *, keep_logs: bool) -> Path | None:
    """Remove a piece's folder; logs and configuration are moved to `logs_folder()` if wanted.

    Where they cannot be, the folder stays as it is: what went wrong is worth more than order.
    """
    kept = None
    if keep_logs:
        kept = logs_folder() / folder.name.removeprefix("jobsight-testbed-")
        try:
            for part in ("logs", "etc", "eventlog"):
                if (folder / part).is_dir():
                    shutil.copytree(folder / part, kept / part, dirs_exist_ok=True)
        except OSError:
            return folder
    shutil.rmtree(folder, ignore_errors=True)
    return kept


def keep(
    command: Sequence[str] | None, *, root: Mapping[str, object] | None = None,
    hostname: str | None = None, folder: Path | None = None, errors: IO[Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[str]:  # fmt: skip
    """Start the keeper in new namespaces, bound to the life of this process.

    Its standard error, and the command's, is `errors`, or this process's own.

    Raises:
        Unavailable: the machine lacks `unshare` or pidfds (Linux 5.3), or does not permit them.
    """
    if not hasattr(os, "pidfd_open") or not shutil.which("unshare"):
        raise Unavailable("no Linux namespaces here: util-linux and Linux 5.3 or later are needed")
    watch = os.pidfd_open(os.getpid())
    spec: dict[str, object] = {
        "watch": watch,
        "command": command,
        "hostname": hostname,
        "root": root,
    }
    spec["folder"] = str(folder) if folder else None
    try:
        return subprocess.Popen(
            [*_UNSHARE, sys.executable, "-I", str(_KEEPER), json.dumps(spec)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
            pass_fds=(watch,), start_new_session=True, env=environment,
        )  # fmt: skip
    finally:
        os.close(watch)


def users_of(root: Path) -> dict[str, tuple[int, int]]:
    """Users of a root: (uid, gid) by name."""
    lines = (root / "etc/passwd").read_text().splitlines()
    return {p[0]: (int(p[2]), int(p[3])) for p in (line.split(":") for line in lines)}


@dataclass
class Namespace:
    """One running root.

    Attributes:
        name: what it is for; part of the folder's name.
        root: the cached root (`roots.root`), never written to.
        hostname: the machine's name inside.
        binds: (host path, path inside, "rw" or "ro") shown besides `folder`, which always is.
        folder: state, logs, configuration, homes; same path inside and outside; new at each start.
    """

    name: str
    root: Path
    hostname: str
    binds: list[tuple[Path, str, str]] = field(default_factory=list)
    folder: Path = field(init=False)
    users: dict[str, tuple[int, int]] = field(init=False)
    _process: subprocess.Popen[str] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.folder = new_folder(self.name)
        self.users = users_of(self.root)
        for part in ("root", "bin", "etc", "home", "state", "work"):
            (self.folder / part).mkdir()
        (self.folder / "work").chmod(0o1777)
        for user in ("alice", "bob"):
            self.own(self.folder / "home" / user, user)
        hosts = self.folder / "etc/hosts"
        hosts.write_text(f"127.0.0.1 {self.hostname} {self.hostname.split('.')[0]} localhost\n")

    def own(self, path: Path, user: str, mode: int = 0o755) -> Path:
        """Make a folder (where missing), or take a file, and give it to a user of the root."""
        if not path.exists():
            path.mkdir(parents=True)
        os.chown(path, *self.users[user])
        path.chmod(mode)
        return path

    def start(self) -> None:
        """Enter. `BedError` names the log where mounting was refused."""
        binds = [(self.folder, str(self.folder), "rw"), (self.folder / "home", "/home", "rw")]
        binds += [(self.folder / "etc/hosts", "/etc/hosts", "ro"), *self.binds]
        if Path("/etc/localtime").exists():
            binds.append((Path("/etc/localtime").resolve(), "/etc/localtime", "ro"))
        target = {"source": str(self.root), "target": str(self.folder / "root")}
        log = self.folder / "logs/keeper.log"
        root = target | {"binds": [[str(a), b, mode] for a, b, mode in binds]}
        with log.open("ab") as errors:
            self._process = keep(
                None, root=root, hostname=self.hostname, folder=self.folder, errors=errors
            )
        assert self._process.stdout
        if self._process.stdout.readline() != "ready\n":
            said = log.read_text().strip().splitlines()
            self.stop()
            raise Unavailable(
                f"cannot enter a root of its own: {said[-1] if said else 'no reason'}"
            )

    @contextlib.contextmanager
    def starting(self) -> Iterator[None]:
        """Around all that starts a piece: if it fails, nothing stays but the logs."""
        try:
            yield
        except (BedError, OSError, subprocess.TimeoutExpired) as error:
            raise BedError(f"{error}; logs: {self.stop(keep_logs=True)}") from error
        except BaseException:
            self.stop()
            raise

    def entering(self, user: str, *, processes: bool) -> list[str]:
        """The start of a command line that runs the rest in here.

        With `processes` it runs among this namespace's processes, and a signal to it stays outside;
        without, it is the host's own process, which only sees this file system: what is killed
        outside is dead inside too.
        """
        assert self._process
        inside = f"/proc/{self._process.pid}"
        enter = ["nsenter", *(f"--{kind}={inside}/ns/{name}" for kind, name in _ENTERED.items())]
        enter += [f"--pid={inside}/ns/pid_for_children"] if processes else []
        uid, gid = self.users[user]
        return [*enter, f"--setuid={uid}", f"--setgid={gid}", "--"]

    def command(
        self, command: Sequence[str], user: str = "root", *, processes: bool = True
    ) -> list[str]:
        """The command line that runs `command` in here as `user`."""
        home = "/root" if user == "root" else f"/home/{user}"
        clean = ["env", "-i", f"PATH={_PATH}", "LC_ALL=C.UTF-8", f"HOME={home}", f"USER={user}"]
        return [*self.entering(user, processes=processes), *clean, *command]

    def run(
        self, *command: str, user: str = "root", timeout: float = 60.0, check: bool = True,
        input: str | None = None,  # noqa: A002 - as subprocess.run names it
        processes: bool = False,
    ) -> str:  # fmt: skip
        """Run a command in here to its end and give its standard output.

        With `processes`, as `entering` has it, the command finds itself in /proc.

        Raises:
            BedError: it ended with another status than 0 (where `check`); holds what it said.
        """
        done = subprocess.run(
            self.command(command, user, processes=processes),
            input=input, text=True, capture_output=True, timeout=limit(timeout), errors="replace",
            check=False,
        )  # fmt: skip
        if check and done.returncode != 0:
            said = (done.stderr or done.stdout).strip()[-2000:]
            raise BedError(f"{shlex.join(command)} ended with {done.returncode}: {said}")
        return done.stdout

    def spawn(self, *command: str, user: str = "root", log: str) -> None:
        """Start a daemon in here; its output goes to `logs/LOG`."""
        quoted = (
            f"exec setsid {shlex.join(command)} >>{shlex.quote(str(self.folder / 'logs' / log))}"
        )
        line = ["sh", "-c", f"({quoted} 2>&1 </dev/null) &"]
        done = subprocess.run(
            self.command(line, user), timeout=limit(60), check=False, capture_output=True, text=True
        )
        if done.returncode != 0:
            raise BedError(f"{command[0]} did not start: {done.stderr.strip()}")

    def tools(self, names: Iterable[str], user: str) -> Path:
        """Write commands of these names into `folder/bin`; each runs the real one in here.

        They run as `user` unless `JOBSIGHT_TESTBED_USER` names another (root, alice or bob), keep
        the caller's environment but for what names another cluster (HTCondor's own bindings set
        CONDOR_CONFIG when they are imported), and run in the caller's folder where that is seen
        from inside, else in `folder/work`.
        """
        cases = "".join(
            f"    {who}) HOME={'/root' if who == 'root' else f'/home/{who}'}; enter()"
            f' {{ exec {shlex.join(self.entering(who, processes=False))} "$@"; }} ;;\n'
            for who in ("root", "alice", "bob")
        )
        for name in names:
            script = self.folder / "bin" / name
            script.write_text(
                f"#!/bin/sh\n# Runs {name} of the test bed's {self.name}, inside its namespace.\n"
                f'USER="${{JOBSIGHT_TESTBED_USER:-{user}}}" PATH={_PATH}\n'
                f'case "$USER" in\n{cases}'
                '    *) echo "JOBSIGHT_TESTBED_USER: root, alice or bob" >&2; exit 2 ;;\nesac\n'
                "export HOME USER PATH\nunset LD_PRELOAD CONDOR_CONFIG SLURM_CONF\n"
                """enter /bin/sh -c 'cd "$0" 2>/dev/null || cd "$1"; shift; exec "$@"' """
                f'"$PWD" {shlex.quote(str(self.folder / "work"))} {name} "$@"\n'
            )
            script.chmod(0o755)
        return self.folder / "bin"

    def processes(self) -> dict[int, str]:
        """Everything that runs in here: process id (the host's) -> name of its program."""
        ours = self._mounts()
        found = _processes_in(ours) if ours else {}
        if self._process:
            found.pop(self._process.pid, None)
        return found

    def _mounts(self) -> Path | None:
        """The mount namespace's identity, or None where it is not running."""
        try:
            return Path(f"/proc/{self._process.pid}/ns/mnt").readlink() if self._process else None
        except OSError:
            return None

    def kill(self, program: str, number: int = signal.SIGKILL) -> int:
        """Send a signal to every process of this program; how many there were.

        It is named as `/proc/PID/comm` does, or with all its arguments, blanks between.
        """
        victims = [
            pid
            for pid, name in self.processes().items()
            if name == program[:15] or _command_line(pid) == program
        ]
        for pid in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        return len(victims)

    def stop(self, *, keep_logs: bool = False) -> Path | None:
        """End every process, drop every mount, remove the folder; where logs were kept, if so."""
        process, ours = self._process, self._mounts()
        if process is not None and process.stdin and process.stdout:
            try:
                with contextlib.suppress(BrokenPipeError), process.stdin:
                    process.stdin.write("stop")
                process.wait(timeout=limit(20))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(timeout=limit(20))
            process.stdout.close()
            # Tools entered from outside are no children of the keeper.
            for pid in _processes_in(ours) if ours else ():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self._process = None
        return remove(self.folder, keep_logs=keep_logs) if self.folder.exists() else None


def _command_line(pid: int) -> str:
    try:
        said = Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return ""  # it ended meanwhile
    return said.rstrip("\0").replace("\0", " ")


def _processes_in(mounts: Path) -> dict[int, str]:
    """Processes of a mount namespace, as the host numbers them, and the names of their programs."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "ns/mnt").readlink() == mounts:
                found[int(entry.name)] = (entry / "comm").read_text().strip()
        except OSError:
            continue  # it ended meanwhile
    return found
