"""A real Slurm cluster: controller, nodes, slurmdbd with MariaDB; Slurm 24.11 or 22.05."""

import itertools
import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.testbed.containers import bind
from tests.testbed.errors import BedError
from tests.testbed.namespace import Namespace, free_ports, until
from tests.testbed.roots import root

__all__ = ["SlurmCluster"]

_ROOTS = {"24.11": "trixie", "22.05": "bookworm"}
_ASKING = ("sacct", "sacctmgr", "scontrol", "sdiag", "sinfo", "sprio", "squeue", "sreport", "sstat")
_ACTING = ("salloc", "sbatch", "scancel", "srun")
_STARTS = 3
_ENDED = frozenset(
    (
        *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED"),
        *("NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT"),
    )
)


@dataclass
class SlurmCluster:
    """The cluster. Jobs run as alice or bob, in `folder/work`.

    Attributes:
        version: "24.11" or "22.05".
        accounting: with slurmdbd and MariaDB; without, `sacct` fails as on a site that has none.
        kafka: address of a broker for jobcomp/kafka (24.11 alone), or None. The topic of end
            messages is the cluster's name.
        nodes: how many nodes, each a slurmd of its own with `cpus` cores and `memory` MB (claimed,
            not had).
        min_job_age: seconds for which slurmctld remembers an ended job.
        settings: further lines of slurm.conf.
        files: further files of /etc/slurm: their texts by name.
        shows: folders of the host that jobs see too, read-only, under the same path.
        name: the cluster's name.
    """

    version: str = "24.11"
    accounting: bool = True
    kafka: str | None = None
    nodes: int = 2
    cpus: int = 4
    memory: int = 8_000
    min_job_age: int = 300
    settings: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    shows: Sequence[Path] = ()
    name: str = "testbed"
    hostname: str = "ctl"
    namespace: Namespace = field(init=False)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count, init=False)

    @property
    def folder(self) -> Path:
        """Folder of this cluster, the same path inside and outside."""
        return self.namespace.folder

    @property
    def bin(self) -> Path:
        """Folder of `squeue`, `sacct`, `scontrol`, … for PATH: they run inside the cluster."""
        return self.folder / "bin"

    def start(self) -> "SlurmCluster":
        """Start the daemons and wait until every node is idle and accounting answers (seconds)."""
        if self.kafka and self.version == "22.05":
            raise BedError("jobcomp/kafka came with Slurm 23.02")
        base = root(_ROOTS[self.version])
        self.namespace = Namespace(f"slurm{self.version.replace('.', '')}", base, self.hostname)
        space = self.namespace
        with space.starting():
            self._configure()
            space.binds += [(path, str(path), "ro") for path in self.shows]
            bind(space, self.shows)
            space.start()
            space.tools(_ASKING, "root")
            space.tools(_ACTING, "alice")
            space.run("install", "-d", "-o", "munge", "/run/munge")
            space.spawn("munged", "--foreground", "--force", user="munge", log="munged.out")
            until(lambda: self._succeeds("munge", "-n"), "munged to answer", timeout=20)
            if self.accounting:
                self._start_database()
                self.start_slurmdbd()
            self.start_slurmctld()
            for number in range(1, self.nodes + 1):
                self.start_node(f"node{number}")
            until(self._all_idle, "the nodes to be idle", timeout=60)
            if self.accounting:
                self._open_accounts()
        return self

    def stop(self, *, keep_logs: bool = False) -> Path | None:
        """Stop for sure; where the logs were kept, if so."""
        return self.namespace.stop(keep_logs=keep_logs)

    def __enter__(self) -> "SlurmCluster":
        return self.start()

    def __exit__(self, kind: object, *_: object) -> None:
        self.stop(keep_logs=kind is not None)

    def run(
        self, *command: str, user: str = "root", check: bool = True, timeout: float = 60.0
    ) -> str:
        """Run any Slurm command inside; its output. `BedError` holds what it said."""
        return self.namespace.run(*command, user=user, check=check, timeout=timeout)

    def _configure(self) -> None:
        """Write what is shown as /etc/slurm and /etc/munge, and the database's folder."""
        space = self.namespace
        self._ports = free_ports(2 + self.nodes)
        etc = space.folder / "etc/slurm"
        etc.mkdir()
        (etc / "slurm.conf").write_text(self._slurm_conf())
        for name, text in self.files.items():
            (etc / name).write_text(text)
        plugin = "cgroup/v1" if self.version == "22.05" else "disabled"
        (etc / "cgroup.conf").write_text(f"CgroupPlugin={plugin}\n")
        (etc / "slurmdbd.conf").write_text(self._slurmdbd_conf())
        space.own(etc / "slurmdbd.conf", "slurm", 0o600)
        if self.kafka:
            (etc / "kafka.conf").write_text(f"bootstrap.servers={self.kafka}\n")
        space.binds.append((etc, "/etc/slurm", "ro"))
        munge = space.own(space.folder / "state/munge", "munge", 0o700)
        (munge / "munge.key").write_bytes(secrets.token_bytes(128))
        space.own(munge / "munge.key", "munge", 0o400)
        space.binds.append((munge, "/etc/munge", "ro"))
        for part in ("ctld", "dbd"):
            space.own(space.folder / "state" / part, "slurm")
        for part in ("munge.log", "mariadbd.log"):
            (space.folder / "logs" / part).touch()
        space.own(space.folder / "logs", "slurm", 0o777)
        if self.accounting:
            self._copy_database()

    def _slurm_conf(self) -> str:
        lines = [Path(__file__).with_name("slurm.conf").read_text(), *self.settings]
        lines += self._accounting_lines()
        names = ",".join(f"node{number}" for number in range(1, self.nodes + 1))
        for number in range(1, self.nodes + 1):
            lines.append(
                f"NodeName=node{number} NodeHostname={self.hostname} NodeAddr=127.0.0.1"
                f" Port={self._ports[1 + number]} CPUs={self.cpus} RealMemory={self.memory}"
            )
        shared = f"Nodes={names} State=UP OverSubscribe=FORCE:7"
        lines.append(f"PartitionName=main Default=YES MaxTime=60 DefaultTime=10 {shared}")
        lines.append(f"PartitionName=short MaxTime=1 DefaultTime=1 {shared}")
        text = "\n".join([*lines, ""])
        for name, value in {
            "NAME": self.name, "HOSTNAME": self.hostname, "FOLDER": self.folder,
            "CTLD_PORT": self._ports[0], "MIN_JOB_AGE": self.min_job_age,
        }.items():  # fmt: skip
            text = text.replace(f"@{name}@", str(value))
        return text

    def _accounting_lines(self) -> list[str]:
        lines = []
        if self.accounting:
            kept = "job_script,job_env,job_comment" + (
                "" if self.version == "22.05" else ",job_extra"
            )
            lines += [
                "AccountingStorageType=accounting_storage/slurmdbd",
                "AccountingStorageHost=127.0.0.1",
                f"AccountingStoragePort={self._ports[1]}",
                f"AccountingStoreFlags={kept}",
            ]
        if self.kafka:
            lines += [
                "JobCompType=jobcomp/kafka",
                "JobCompLoc=/etc/slurm/kafka.conf",
                "JobCompParams=flush_timeout=500,poll_interval=1",
            ]
        return lines

    def _slurmdbd_conf(self) -> str:
        return (
            "AuthType=auth/munge\nDbdHost=localhost\nDbdAddr=127.0.0.1\n"
            f"DbdPort={self._ports[1]}\nSlurmUser=slurm\nLogFile={self.folder}/logs/slurmdbd.log\n"
            f"DebugLevel=info\nPidFile={self.folder}/state/dbd/slurmdbd.pid\nStorageType=accounting_storage/mysql\n"
            "StorageHost=localhost\nStorageUser=slurm\nStorageLoc=slurm_acct_db\n"
            # What is private in slurmctld is so here: each has a setting of its own.
            + "".join(f"{line}\n" for line in self.settings if line.startswith("PrivateData="))
        )

    def _copy_database(self) -> None:
        """A clean data folder from the root's empty one; slurmdbd enters by its Unix user."""
        data = self.folder / "state/mariadb"
        shutil.copytree(self.namespace.root / "var/lib/testbed-mysql", data)
        for path in (data, *data.rglob("*")):
            os.chown(path, *self.namespace.users["mysql"])
        (self.folder / "etc/database.sql").write_text(
            "CREATE DATABASE slurm_acct_db;\n"
            "CREATE USER slurm@localhost IDENTIFIED VIA unix_socket;\n"
            "GRANT ALL ON slurm_acct_db.* TO slurm@localhost;\n"
        )

    def _start_database(self) -> None:
        space = self.namespace
        space.run("install", "-d", "-o", "mysql", "/run/mysqld")
        space.spawn(
            *("mariadbd", "--no-defaults", "--user=mysql", "--skip-networking"),
            *(f"--datadir={self.folder}/state/mariadb", "--socket=/run/mysqld/mysqld.sock"),
            *("--innodb-flush-log-at-trx-commit=0", "--innodb-log-file-size=8M"),
            *(f"--init-file={self.folder}/etc/database.sql", "--pid-file=/run/mysqld/mariadbd.pid"),
            log="mariadbd.log",
        )
        ask = (
            "mariadb",
            "--no-defaults",
            "-N",
            "-e",
            "SELECT 1 FROM mysql.user WHERE user='slurm'",
        )
        until(lambda: self.run(*ask, check=False).strip(), "MariaDB to answer", timeout=60)

    def start_slurmdbd(self) -> None:
        """Start slurmdbd (again) and wait until it answers."""
        self.namespace.spawn("slurmdbd", "-D", user="slurm", log="slurmdbd.out")
        ask = ("sacctmgr", "-n", "show", "cluster")
        until(lambda: self._succeeds(*ask), "slurmdbd to answer", timeout=60)

    def stop_slurmdbd(self) -> None:
        """Kill slurmdbd; slurmctld keeps what it has to say until it is back."""
        self._stop("slurmdbd")

    def start_slurmctld(self, *, timeout: float = 60.0) -> None:
        """Start the controller (again) and wait until it answers.

        That of 24.11.5 may die of a division by zero as it comes back to a slurmdbd that was away;
        then it is started anew, as a site's service manager would.
        """
        for _ in range(_STARTS):
            ended = self.folder / f"state/ctld/ended-{next(self._numbers)}"
            start = ("sh", "-c", 'slurmctld -D; : >"$0"', str(ended))
            self.namespace.spawn(*start, user="slurm", log="slurmctld.out")

            def answers(ended: Path = ended) -> bool:
                said = self.run("scontrol", "ping", check=False)
                return ended.exists() or "UP" in said

            until(answers, "slurmctld to answer", timeout=timeout)
            if not ended.exists():
                return
        raise BedError(f"slurmctld ended {_STARTS} times while it started; see logs/slurmctld.log")

    def stop_slurmctld(self) -> None:
        """Stop the controller in order: its state is saved, and jobs run on."""
        self._stop("slurmctld")

    def kill_slurmctld(self) -> None:
        """`kill -9` the controller: what it did since it saved its state, up to 5 s, is forgotten.

        So are the numbers that it gave to jobs: it gives them again.
        """
        self._stop("slurmctld", 9)

    def resume_nodes(self) -> None:
        """Put nodes back to work, which Slurm drains where two jobs of one number meet."""
        names = ",".join(f"node{number}" for number in range(1, self.nodes + 1))
        self.run("scontrol", "update", f"NodeName={names}", "State=RESUME", check=False)

    def start_node(self, node: str) -> None:
        """Start the slurmd of a node (again)."""
        self.namespace.own(self.folder / "state" / node, "root")
        self.namespace.spawn("slurmd", "-D", "-N", node, log=f"{node}.out")

    def kill_node(self, node: str) -> None:
        """`kill -9` the slurmd of a node: it is down, and its jobs NODE_FAIL, in half a minute."""
        self.namespace.kill(f"slurmd -D -N {node}")

    def _stop(self, daemon: str, number: int = 15) -> None:
        self.namespace.kill(daemon, number)
        gone = lambda: daemon[:15] not in self.namespace.processes().values()  # noqa: E731
        # As long as the unit file that Slurm ships lets systemd wait.
        until(gone, f"{daemon} to stop", timeout=90)

    def _succeeds(self, *command: str) -> bool:
        try:
            self.run(*command, timeout=10)
        except (BedError, subprocess.TimeoutExpired):
            return False
        return True

    def _all_idle(self) -> bool:
        states = self.run("sinfo", "-h", "-N", "-p", "main", "-o", "%t", check=False).split()
        return states == ["idle"] * self.nodes

    def _open_accounts(self) -> None:
        add = ("sacctmgr", "-i", "add")
        self.run(*add, "account", "science")
        self.run(*add, "user", "alice,bob", "account=science")

    def submit(self, script: str = "exit 0", *options: str, user: str = "alice") -> str:
        """`sbatch` a script's body with these options (`"--array=0-3"`, …); the job's number.

        Heterogeneous jobs: give the options of all components, `":"` between them.
        """
        number = next(self._numbers)
        file = self.folder / "work" / f"job-{number}.sh"
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        output = f"--output={self.folder}/work/%j.out"
        work = f"--chdir={self.folder}/work"
        said = self.run("sbatch", "--parsable", output, work, *options, str(file), user=user)
        return said.strip().split(";")[0]

    def cancel(self, job: str, *options: str, user: str = "root") -> None:
        """`scancel` a job, an array task (`12_3`) or a step."""
        self.run("scancel", *options, job, user=user)

    def hold(self, job: str) -> None:
        """`scontrol hold`."""
        self.run("scontrol", "hold", job)

    def release(self, job: str) -> None:
        """`scontrol release`."""
        self.run("scontrol", "release", job)

    def requeue(self, job: str) -> None:
        """`scontrol requeue` a running or an ended job."""
        self.run("scontrol", "requeue", job)

    def cancel_all(self) -> None:
        """Cancel every job and wait until the queue is empty."""
        for user in ("alice", "bob", "root"):
            self.run("scancel", f"--user={user}", check=False)
        until(lambda: not self.run("squeue", "-h").strip(), "the queue to be empty", timeout=60)

    def states(self, job: str) -> dict[str, str]:
        """States now, by id as users see it, from `scontrol show job` (array tasks, components)."""
        said = self.run("scontrol", "-o", "show", "job", job, check=False)
        found = {}
        for line in said.splitlines():
            ad = dict(re.findall(r"(\w+)=(\S*)", line))
            if "JobId" in ad:
                found[_shown_id(ad)] = ad["JobState"]
        return found

    def accounted(
        self, *options: str, fields: str = "JobID,State,ExitCode"
    ) -> list[dict[str, str]]:
        """Rows of `sacct -a -P -X` with these fields and options, e.g. `"-j", "12"`."""
        said = self.run("sacct", "-a", "-P", "-n", "-X", f"--format={fields}", *options)
        names = fields.split(",")
        return [dict(zip(names, line.split("|"), strict=True)) for line in said.splitlines()]

    def wait(self, job: str, *, timeout: float = 90.0) -> dict[str, str]:
        """Wait until every part of a job has ended; states by id."""
        return self.wait_for(job, lambda state: state in _ENDED, "to end", timeout=timeout)

    def wait_running(self, job: str, *, timeout: float = 60.0) -> dict[str, str]:
        """Wait until every part of a job runs; states by id."""
        return self.wait_for(job, lambda state: state == "RUNNING", "to run", timeout=timeout)

    def wait_for(
        self, job: str, true: Callable[[str], bool], what: str, *, timeout: float = 60.0
    ) -> dict[str, str]:
        """Wait until `true` of the state of every part of a job; states by id."""

        def ask() -> dict[str, str]:
            states = self.states(job)
            return states if states and all(true(state) for state in states.values()) else {}

        return until(ask, f"job {job} {what}", timeout=timeout, pause=0.2)

    def wait_accounted(self, job: str, *, timeout: float = 60.0) -> list[dict[str, str]]:
        """Wait until `sacct` has the end of every part of a job; its rows."""
        parts = set(self.states(job))

        def ask() -> list[dict[str, str]]:
            rows = self.accounted("-j", job)
            ended = all(row["State"].split()[0] in _ENDED for row in rows)
            return rows if rows and ended and parts <= {row["JobID"] for row in rows} else []

        return until(ask, f"sacct to tell the end of job {job}", timeout=timeout, pause=0.3)


def _shown_id(ad: dict[str, str]) -> str:
    """`12_3` for an array task, `12+1` for a component of a heterogeneous job, else the number."""
    if "ArrayTaskId" in ad:
        return f"{ad['ArrayJobId']}_{ad['ArrayTaskId']}"
    if "HetJobOffset" in ad:
        return f"{ad['HetJobId']}+{ad['HetJobOffset']}"
    return ad["JobId"]
