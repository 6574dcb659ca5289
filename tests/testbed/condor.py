"""A real HTCondor pool: one access point, several sites, transfers that fail on demand."""

import itertools
import json
import shlex
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.testbed.containers import bind
from tests.testbed.errors import BedError
from tests.testbed.namespace import Namespace, free_ports, until
from tests.testbed.roots import root

__all__ = ["EventLogOptions", "HtcondorPool"]

Ad = dict[str, Any]
_ASKING = ("condor_config_val", "condor_history", "condor_q", "condor_status", "condor_version")
_ACTING = (
    "condor_hold", "condor_prio", "condor_qedit", "condor_release", "condor_rm", "condor_submit",
    "condor_submit_dag", "condor_suspend", "condor_continue", "condor_vacate_job", "condor_wait",
)  # fmt: skip


@dataclass(frozen=True)
class EventLogOptions:
    """Settings of the global event log, under HTCondor's names without `EVENT_LOG_`.

    Attributes:
        max_size: bytes at which it rotates (0: never).
        max_rotations: 1 keeps `EventLog.old`, N > 1 keeps `EventLog.1` (newest) … `.N`.
        format_options: e.g. `"UTC, SUB_SECOND"`, `"JSON"`, `"XML"`, `"LEGACY"`; empty for
            HTCondor's own default.
        attributes: job attributes written into events 028; empty for no such events.
    """

    max_size: int = 1_000_000
    max_rotations: int = 1
    format_options: str = "ISO_DATE"
    attributes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """As configuration."""
        said = {
            "MAX_SIZE": str(self.max_size),
            "MAX_ROTATIONS": str(self.max_rotations),
            "FORMAT_OPTIONS": self.format_options,  # set to nothing, it would mean LEGACY
            "JOB_AD_INFORMATION_ATTRS": ", ".join(self.attributes),
        }
        return [f"EVENT_LOG_{name} = {value}" for name, value in said.items() if value]


@dataclass
class HtcondorPool:
    """The pool. Not safe for several threads that configure or stop it; asking is.

    Attributes:
        sites: names of the sites; each is a startd with `cpus` cores and `memory` MB and the
            attribute `TestbedSite`.
        event_log_options: how the global event log is written.
        settings: further configuration lines.
        shows: folders of the host that jobs see too, read-only, under the same path.
    """

    sites: Sequence[str] = ("ALPHA", "BETA")
    cpus: int = 8
    memory: int = 16_000
    event_log_options: EventLogOptions = EventLogOptions()
    settings: Sequence[str] = ()
    shows: Sequence[Path] = ()
    hostname: str = "ap.testbed.example"
    namespace: Namespace = field(init=False)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count, init=False)

    @property
    def folder(self) -> Path:
        """Folder of this pool, same path inside and outside; `folder/work` is for jobs' files."""
        return self.namespace.folder

    @property
    def event_log(self) -> Path:
        """The global event log, as the host sees it (and as `condor_config_val EVENT_LOG` says)."""
        return self.folder / "eventlog" / "EventLog"

    @property
    def bin(self) -> Path:
        """Folder of `condor_q`, `condor_history`, … for PATH: they run inside the pool."""
        return self.folder / "bin"

    def start(self) -> "HtcondorPool":
        """Start the daemons and wait until every site has reported (some seconds)."""
        base = root("trixie")
        self.namespace = Namespace("condor", base, self.hostname)
        space = self.namespace
        with space.starting():
            space.binds.append((self._configure(), "/etc/condor", "ro"))
            space.binds += [(path, str(path), "ro") for path in self.shows]
            bind(space, self.shows)
            space.start()
            space.tools(_ASKING, "root")
            space.tools(_ACTING, "alice")
            space.spawn("condor_master", "-f", log="master.out")
            until(self._all_there, "the sites to report to the collector", timeout=90, pause=0.3)
        return self

    def stop(self, *, keep_logs: bool = False) -> Path | None:
        """Stop for sure; where the logs were kept, if so."""
        return self.namespace.stop(keep_logs=keep_logs)

    def __enter__(self) -> "HtcondorPool":
        return self.start()

    def __exit__(self, kind: object, *_: object) -> None:
        self.stop(keep_logs=kind is not None)

    def tools_as(self, user: str) -> Path:
        """Folder of the same tools; these run as `user`, whatever the environment names."""
        folder = self.folder / f"tools-{user}"
        folder.mkdir(exist_ok=True)
        for tool in self.bin.iterdir():
            command = shlex.join(self.namespace.command((tool.name,), user, processes=False))
            (folder / tool.name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
            (folder / tool.name).chmod(0o755)
        return folder

    def run(
        self, *command: str, user: str = "root", check: bool = True, timeout: float = 60.0
    ) -> str:
        """Run any HTCondor command inside; its output. `BedError` holds what it said."""
        return self.namespace.run(*command, user=user, check=check, timeout=timeout)

    def _all_there(self) -> bool:
        said = self.run("condor_status", "-af", "TestbedSite", check=False)
        schedd = self.run("condor_status", "-schedd", "-af", "Name", check=False)
        return set(self.sites) <= set(said.split()) and bool(schedd.strip())

    def _configure(self) -> Path:
        """Write the configuration; the folder to be shown as /etc/condor."""
        space = self.namespace
        etc = space.folder / "etc/condor"
        etc.mkdir()
        ports = free_ports(2)
        ids = space.users["condor"]
        text = Path(__file__).with_name("condor.conf").read_text()
        for name, value in {
            "FOLDER": space.folder, "HOSTNAME": self.hostname, "CONDOR_IDS": f"{ids[0]}.{ids[1]}",
            "COLLECTOR_PORT": ports[0], "SHARED_PORT": ports[1],
        }.items():  # fmt: skip
            text = text.replace(f"@{name}@", str(value))
        lines = [text, *self.event_log_options.lines(), *self._site_lines(), *self.settings]
        # Containers of jobs see no more than is named, and nothing below /tmp as it is.
        seen = " ".join([*map(str, self.shows), f"{space.folder}/work:/scratch"])
        lines.append(f'SINGULARITY_BIND_EXPR = "{seen}"')
        lines.append(f"LOCAL_CONFIG_FILE = {etc}/local.conf")
        (etc / "condor_config").write_text("\n".join([*lines, ""]))
        (etc / "local.conf").touch()
        for part in ("spool", "execute", "lock", "run", "credentials"):
            space.own(space.folder / "state" / part, "condor")
        for site in self.sites:
            jobs = space.own(space.folder / "state" / f"execute-{site}", "condor")
            space.binds.append((jobs, self._execute(site), "rw"))
        space.own(space.folder / "logs", "condor")
        space.own(space.folder / "eventlog", "condor")
        self._install_plugin()
        return etc

    def _execute(self, site: str) -> str:
        """Where jobs of a site run; not below /tmp, of which every container has its own."""
        return f"/execute/{self.folder.name}/{site}"

    def _site_lines(self) -> list[str]:
        names = " ".join(self.sites)
        lines = [f"DAEMON_LIST = MASTER SHARED_PORT COLLECTOR NEGOTIATOR SCHEDD {names}"]
        lines.append(f"DC_DAEMON_LIST =+ {names}")
        for site in self.sites:
            own = {
                "STARTD_NAME": site.lower(), "EXECUTE": self._execute(site),
                "STARTD_LOG": f"$(LOG)/StartLog.{site}", "STARTER_LOG": f"$(LOG)/StarterLog.{site}",
                "STARTD_ADDRESS_FILE": f"$(LOG)/.startd_address.{site}",
                "NUM_CPUS": self.cpus, "MEMORY": self.memory,
                "TestbedSite": f'"{site}"', "STARTD_ATTRS": "$(STARTD_ATTRS) TestbedSite",
            }  # fmt: skip
            lines += [f"{site} = $(STARTD)", f"{site}_ARGS = -f -local-name {site}"]
            lines += [f"{site}.{name} = {value}" for name, value in own.items()]
        return lines

    def _install_plugin(self) -> None:
        faults = self.folder / "faults"
        faults.mkdir()
        for site in ("any", *self.sites):
            (faults / site).mkdir()
        shutil.copy(Path(__file__).with_name("faultplugin.py"), faults / "faultplugin.py")
        plugin = faults / "plugin"
        plugin.write_text(f'#!/bin/sh\nexec /usr/bin/python3 -IS {faults}/faultplugin.py "$@"\n')
        plugin.chmod(0o755)

    def fail(
        self, *, site: str = "any", origin: str = "any", status: int = 1, message: str = "broken",
        delay: float = 0.0, share: float = 1.0,
    ) -> None:  # fmt: skip
        """Make transfers of `testbed://ORIGIN/…` at a site fail.

        HTCondor holds the job with code 13 (input) or 12 (output), sub-code `status` · 256.

        A job's input comes by `transfer_input_files = testbed://ORIGIN/NAME`. `delay` seconds pass
        first; only the `share` (0 to 1) of transfers fails.
        """
        fault = {"status": status, "message": message, "delay": delay, "share": share}
        place = self.folder / "faults" / site / origin
        place.with_suffix(".new").write_text(json.dumps(fault))
        place.with_suffix(".new").rename(place)

    def mend(self, *, site: str = "any", origin: str = "any") -> None:
        """Take a `fail` of the same site and origin back."""
        (self.folder / "faults" / site / origin).unlink(missing_ok=True)

    def submit(
        self, script: str = "exit 0", *, user: str = "alice", count: int = 1,
        site: str | None = None, **commands: object,
    ) -> int:  # fmt: skip
        """Submit `count` jobs that run a shell script; gives the cluster's number.

        `commands` are submit commands; a name that begins with `My` followed by a capital becomes a
        job attribute (`MyMaxSeconds=2` writes `My.MaxSeconds = 2`). What is not given: request_cpus
        1, request_memory 64, request_disk 1 MB, no output files.
        """
        number = next(self._numbers)
        program = self.folder / "work" / f"job-{number}.sh"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        asked: dict[str, object] = {
            "executable": program, "request_cpus": 1, "request_memory": 64, "request_disk": "1MB",
            "should_transfer_files": "YES", "when_to_transfer_output": "ON_EXIT",
        }  # fmt: skip
        if site:
            asked["requirements"] = self.at(site)
        asked |= commands
        lines = [f"{_command_name(name)} = {value}" for name, value in asked.items()]
        return self.submit_text("\n".join([*lines, f"queue {count}", ""]), user=user)

    def at(self, site: str) -> str:
        """The requirement that a job run at this site."""
        return f'TestbedSite == "{site}"'

    def submit_text(self, description: str, *, user: str = "alice") -> int:
        """Submit a whole submit description; gives the cluster's number."""
        file = self.folder / "work" / f"description-{next(self._numbers)}.sub"
        file.write_text(description)
        said = self.run(
            "env", "-C", self.home(user), "condor_submit", "-terse", str(file), user=user
        )
        return int(said.split(".")[0])

    def home(self, user: str) -> str:
        """Where a user's jobs are submitted from, and their output goes."""
        return f"/home/{user}"

    def queue(self, constraint: str = "true") -> list[Ad]:
        """Ads of the jobs now in the queue."""
        return self._ads("condor_q", "-allusers", "-json", "-constraint", constraint)

    def history(self, constraint: str = "true") -> list[Ad]:
        """Ads of the jobs that left the queue, newest first."""
        return self._ads("condor_history", "-json", "-constraint", constraint)

    def _ads(self, *command: str) -> list[Ad]:
        said = self.run(*command).strip()
        ads: list[Ad] = json.loads(said) if said else []
        return ads

    def job(self, cluster: int, proc: int = 0) -> Ad:
        """One job's ad, from the queue or else from the history. `BedError` if neither has it."""
        constraint = f"ClusterId == {cluster} && ProcId == {proc}"
        found = self.queue(constraint) or self.history(constraint)
        if not found:
            raise BedError(f"the pool knows no job {cluster}.{proc}")
        return found[0]

    def hold(self, job: str | int, *, reason: str = "held by a test") -> None:
        """Hold a cluster (`12`) or a job (`"12.3"`)."""
        self.run("condor_hold", "-reason", reason, str(job))

    def release(self, job: str | int) -> None:
        """Release a cluster or a job."""
        self.run("condor_release", str(job))

    def remove(self, job: str | int) -> None:
        """Remove a cluster or a job."""
        self.run("condor_rm", str(job))

    def remove_all(self) -> None:
        """Empty the queue, and mend all faults."""
        for fault in (self.folder / "faults").glob("*/*"):
            fault.unlink()
        if self.queue():
            self.run("condor_rm", "-all", check=False)
            until(lambda: not self.queue(), "the queue to be empty", timeout=60)

    def config_val(self, name: str) -> str:
        """`condor_config_val NAME`, stripped."""
        return self.run("condor_config_val", name).strip()

    def configure(self, lines: Iterable[str]) -> None:
        """Append configuration lines and reconfigure the daemons."""
        with (self.folder / "etc/condor/local.conf").open("a") as file:
            file.writelines(f"{line}\n" for line in lines)
        self.run("condor_reconfig")

    def wait(self, cluster: int, *, timeout: float = 90.0) -> list[Ad]:
        """Wait until all jobs of a cluster left the queue; their last ads."""
        constraint = f"ClusterId == {cluster}"
        until(lambda: not self.queue(constraint), f"cluster {cluster} to end", timeout=timeout)
        return until(
            lambda: self.history(constraint), f"the history of cluster {cluster}", timeout=10
        )

    def wait_for(
        self, cluster: int, true: Callable[[Ad], bool], what: str, *, timeout: float = 90.0
    ) -> Ad:
        """Wait until `true` of the ad of the cluster's first job; that ad."""

        def ask() -> Ad:
            ad = self.job(cluster)
            return ad if true(ad) else {}

        return until(ask, f"job {cluster}.0 {what}", timeout=timeout)

    def wait_held(self, cluster: int, *, timeout: float = 90.0) -> Ad:
        """Wait until the cluster's first job is held; its ad."""
        return self.wait_for(
            cluster, lambda ad: ad["JobStatus"] == 5, "to be held", timeout=timeout
        )

    def wait_running(self, cluster: int, *, timeout: float = 90.0) -> Ad:
        """Wait until the cluster's first job runs; its ad."""
        return self.wait_for(cluster, lambda ad: ad["JobStatus"] == 2, "to run", timeout=timeout)

    def kill(self, daemon: str) -> int:
        """`kill -9` a daemon (`schedd`, `startd`, `negotiator`, …); the master starts it again."""
        return self.namespace.kill(f"condor_{daemon}")

    def restart_schedd(self, *, timeout: float = 60.0) -> None:
        """Kill the schedd and wait until its successor answers."""
        self.kill("schedd")
        time.sleep(0.5)
        ask = ("condor_q", "-totals")
        until(
            lambda: "ob" in self.run(*ask, check=False),
            "the schedd to answer",
            timeout=timeout,
        )


def _command_name(name: str) -> str:
    """`MyMaxSeconds` -> `My.MaxSeconds`; other names as they are."""
    return f"My.{name[2:]}" if name.startswith("My") and name[2:3].isupper() else name
