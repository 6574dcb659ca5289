"""A site's own cluster or server in place of ours, named by environment variables.

    JOBSIGHT_TEST_CONDOR=1      the HTCondor tools in PATH
    JOBSIGHT_TEST_SLURM=1       the Slurm tools in PATH
    JOBSIGHT_TEST_REDIS=URL     a server whose database may be written to
    JOBSIGHT_TEST_KAFKA=H:P     a broker on which topics may be made

What only our own piece can do (break transfers, kill daemons, change settings) raises `Unavailable`
here, so that the test that wants it skips. Jobs run as whoever runs the tests.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Never

from tests.support.limits import limit
from tests.testbed.condor import HtcondorPool
from tests.testbed.errors import BedError, Unavailable
from tests.testbed.kafka import KafkaBroker
from tests.testbed.namespace import new_folder
from tests.testbed.redis import RedisServer
from tests.testbed.slurm import SlurmCluster

__all__ = ["SiteBroker", "SiteCluster", "SitePool", "SiteServer", "of_the_site"]


def of_the_site(variable: str) -> str:
    """The value of an environment variable that names a site's own piece; empty if none does."""
    return os.environ.get(variable, "").removeprefix("0")


def _ours_alone(what: str) -> Never:
    raise Unavailable(f"{what} needs the test bed's own piece, not a site's")


def _run(command: tuple[str, ...], *, check: bool, timeout: float) -> str:
    """Run a tool of the site to its end; its output."""
    done = subprocess.run(
        command,
        text=True,
        capture_output=True,
        errors="replace",
        timeout=limit(timeout),
        check=False,
    )
    if check and done.returncode != 0:
        raise BedError(f"{command[0]} ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def _tool_folder(name: str) -> Path:
    path = shutil.which(name)
    if path is None:
        raise Unavailable(f"a cluster of the site is named, but {name} is not in PATH")
    return Path(path).parent


class _NotOurs:
    """Tools in PATH, and a folder of its own; no namespace, so a test that looks inside skips."""

    @cached_property
    def _own(self) -> Path:
        folder = new_folder("site")
        (folder / "work").mkdir()
        (folder / "work").chmod(0o1777)  # jobs may run as another user
        return folder

    @property
    def folder(self) -> Path:
        return self._own

    def stop(self, *, keep_logs: bool = False) -> Path | None:
        shutil.rmtree(self._own, ignore_errors=True)
        return None

    def run(
        self, *command: str, user: str = "root", check: bool = True, timeout: float = 60.0
    ) -> str:
        if user == "bob":
            _ours_alone("choosing a job's user")
        return _run(command, check=check, timeout=timeout)

    def __getattr__(self, name: str) -> Never:
        if name == "namespace":
            _ours_alone("looking inside")
        raise AttributeError(name)


class SitePool(_NotOurs, HtcondorPool):
    """The site's own pool, through the tools in PATH."""

    @property
    def event_log(self) -> Path:
        return Path(self.config_val("EVENT_LOG"))

    @property
    def bin(self) -> Path:
        return _tool_folder("condor_q")

    def start(self) -> "SitePool":
        _tool_folder("condor_submit")
        return self

    def home(self, user: str) -> str:
        return str(self.folder / "work")

    def at(self, site: str) -> str:
        _ours_alone("choosing a job's site")

    def fail(
        self, *, site: str = "any", origin: str = "any", status: int = 1, message: str = "broken",
        delay: float = 0.0, share: float = 1.0,
    ) -> None:  # fmt: skip
        _ours_alone("breaking transfers")

    def remove_all(self) -> None:
        _ours_alone("emptying the queue")

    def configure(self, lines: Iterable[str]) -> None:
        _ours_alone("changing settings")

    def kill(self, daemon: str) -> int:
        _ours_alone("killing daemons")


class SiteCluster(_NotOurs, SlurmCluster):
    """The site's own Slurm, through the tools in PATH."""

    @property
    def bin(self) -> Path:
        return _tool_folder("squeue")

    def start(self) -> "SiteCluster":
        _tool_folder("sbatch")
        return self

    def cancel_all(self) -> None:
        _ours_alone("emptying the queue")

    def start_slurmdbd(self) -> None:
        _ours_alone("starting daemons")

    def start_slurmctld(self, *, timeout: float = 60.0) -> None:
        _ours_alone("starting daemons")

    def start_node(self, node: str) -> None:
        _ours_alone("starting daemons")

    def stop_slurmdbd(self) -> None:
        _ours_alone("stopping daemons")

    def stop_slurmctld(self) -> None:
        _ours_alone("stopping daemons")

    def kill_node(self, node: str) -> None:
        _ours_alone("killing daemons")


class SiteServer(_NotOurs, RedisServer):
    """The site's own Redis or Valkey."""

    @property
    def url(self) -> str:
        return of_the_site("JOBSIGHT_TEST_REDIS")

    @property
    def socket(self) -> Path:
        _ours_alone("a server's socket")

    @property
    def data(self) -> Path:
        _ours_alone("a server's data folder")

    def start(self) -> "SiteServer":
        return self

    def stop(self, *, keep_logs: bool = False) -> Path | None:
        return None

    def resume(self) -> None:
        _ours_alone("starting the server")

    def kill(self) -> None:
        _ours_alone("killing the server")

    def shut_down(self) -> None:
        _ours_alone("stopping the server")

    def cli(self, *command: str, check: bool = True) -> str:
        _tool_folder("redis-cli")
        return _run(("redis-cli", "-u", self.url, *command), check=check, timeout=60)


class SiteBroker(KafkaBroker):
    """The site's own Kafka."""

    def start(self) -> "SiteBroker":
        self.bootstrap = of_the_site("JOBSIGHT_TEST_KAFKA")
        return self

    def pause(self) -> None:
        _ours_alone("freezing the broker")

    def resume(self) -> None:
        _ours_alone("freezing the broker")
