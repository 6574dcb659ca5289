"""A real Redis or Valkey server, whose data folder outlives its process."""

import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tests.testbed.namespace import Namespace, free_ports, until
from tests.testbed.roots import root

__all__ = ["RedisServer"]


@dataclass
class RedisServer:
    """The server, on a port of 127.0.0.1 and on a socket.

    Attributes:
        server: which of the two; Debian 13's versions.
        appendonly: keep an append-only file (of fsync each second).
        password: asked of clients, or None.
        disk_mb: None, or the size of a small disk of its own for its data.
        settings: further lines of its configuration.
    """

    server: Literal["redis", "valkey"] = "redis"
    appendonly: bool = True
    password: str | None = None
    disk_mb: int | None = None
    settings: tuple[str, ...] = ()
    namespace: Namespace = field(init=False)
    port: int = field(init=False)

    @property
    def url(self) -> str:
        """`redis://127.0.0.1:PORT/0`; without the password."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def socket(self) -> Path:
        """The Unix socket."""
        return self.namespace.folder / "state/server.sock"

    @property
    def data(self) -> Path:
        """The data folder (not to be seen from outside where `disk_mb` is given)."""
        return self.namespace.folder / "state/data"

    def start(self) -> "RedisServer":
        """Start with an empty data folder."""
        base = root("trixie")
        self.namespace = Namespace(self.server, base, "store")
        with self.namespace.starting():
            self._configure()
            self.namespace.start()
            if self.disk_mb:
                options = f"size={self.disk_mb}m,mode=0777"
                self.namespace.run("mount", "-t", "tmpfs", "-o", options, "data", str(self.data))
            self.resume()
        return self

    def stop(self, *, keep_logs: bool = False) -> Path | None:
        """Stop for sure and forget the data; where the logs were kept, if so."""
        return self.namespace.stop(keep_logs=keep_logs)

    def __enter__(self) -> "RedisServer":
        return self.start()

    def __exit__(self, kind: object, *_: object) -> None:
        self.stop(keep_logs=kind is not None)

    def _configure(self) -> None:
        space = self.namespace
        (self.port,) = free_ports(1)
        space.own(space.folder / "state", self.server)
        space.own(self.data, self.server)
        space.own(space.folder / "logs", self.server)
        lines = [
            f"port {self.port}", "bind 127.0.0.1",
            f"unixsocket {self.socket}", "unixsocketperm 777",
            f"dir {self.data}", f"logfile {space.folder}/logs/server.log", 'save ""',
            f"appendonly {'yes' if self.appendonly else 'no'}", "appendfsync everysec",
            *self.settings,
        ]  # fmt: skip
        if self.password:
            lines.append(f"requirepass {self.password}")
        file = space.folder / "etc/server.conf"
        file.write_text("\n".join([*lines, ""]))
        space.own(file, self.server, 0o600)

    def resume(self) -> None:
        """Start the server again on the data it left, after `kill` or `shut_down`."""
        self.namespace.spawn(
            f"{self.server}-server", f"{self.namespace.folder}/etc/server.conf",
            user=self.server, log="server.out",
        )  # fmt: skip
        until(lambda: self.cli("PING", check=False).strip() == "PONG", f"{self.server} to answer")

    def kill(self) -> None:
        """`kill -9` the server."""
        self._signal(signal.SIGKILL)

    def shut_down(self) -> None:
        """Stop the server in order; the data stay for `resume`."""
        self._signal(signal.SIGTERM)

    def restart(self) -> None:
        """`shut_down` and `resume`."""
        self.shut_down()
        self.resume()

    def slow_disk(self, seconds: float) -> None:
        """From now on until it ends, each fsync of the server takes so long, as on a busy disk."""
        pid, calls = self._pid(), "fdatasync,fsync"
        self.namespace.spawn(
            "strace", "--follow-forks", "--quiet=all", f"--trace={calls}",
            f"--inject={calls}:delay_enter={round(seconds * 1e6)}",
            f"--attach={_status(pid, 'NSpid')}", log="strace.out",
        )  # fmt: skip
        until(lambda: _status(pid, "TracerPid") != "0", "strace to hold the server")

    def _signal(self, number: int) -> None:
        pid = self._pid()
        self.namespace.kill(f"{self.server}-server", number)
        # Who slows its disk would keep what is left of it, the port included, until its delay ends.
        if number == signal.SIGKILL:
            self.namespace.kill("strace")
        gone = lambda: not Path(f"/proc/{pid}").exists()  # noqa: E731
        until(gone, f"{self.server}-server to end", timeout=20)

    def _pid(self) -> int:
        """The server's process, as the host numbers it."""
        program = f"{self.server}-server"
        (pid,) = [pid for pid, name in self.namespace.processes().items() if name == program]
        return pid

    def cli(self, *command: str, check: bool = True) -> str:
        """Give the server a command by its own client; what it said.

        Raises:
            BedError: the server cannot be reached or refused (where `check`); holds its reason.
        """
        secret = ("-a", self.password, "--no-auth-warning") if self.password else ()
        return self.namespace.run(
            f"{self.server}-cli", "-e", "-s", str(self.socket), *secret, *command, check=check
        )


def _status(pid: int, name: str) -> str:
    """The last word of a line of `/proc/PID/status`: of NSpid, the number that itself has of it."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    told = dict(line.split(":", 1) for line in lines)
    return told[name].split()[-1]
