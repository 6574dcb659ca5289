"""Prolog and epilog on real clusters: jobs are profiled, and whatever fails, nodes stay up."""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from tests.support.limits import limit
from tests.testbed.fixtures import python_folders
from tests.testbed.namespace import until
from tests.testbed.slurm import SlurmCluster

from jobsight.program.slurmjob import cgroup_processes
from jobsight.store import open_store

pytestmark = pytest.mark.slow

LOOP = "import time\nend = time.time() + 4\nwhile time.time() < end: pass"
SCRIPTS = ("prolog", "epilog")
FREEZER = Path("/sys/fs/cgroup/freezer")
SITES_OWN = """#!/bin/sh
PATH=/usr/bin:/bin
began=$(date +%s%N)
{work}/jobsight-{name}.sh
status=$?
took=$(( ($(date +%s%N) - began) / 1000 ))
echo "$SLURM_JOB_ID $SLURMD_NODENAME $status $took" >>{work}/{name}.log
{work}/jobsight-{name}.sh || true
"""
"""A site's own. It calls ours with exit status and µs in a log, then as documented."""


class Hooks:
    """A cluster whose Prolog and Epilog call those of Jobsight, with values of a test."""

    def __init__(self, cluster: SlurmCluster) -> None:
        self.cluster = cluster
        self.work = cluster.folder / "work"
        self.profiles = self.work / "profiles"
        self.account = "munge"
        for name in SCRIPTS:
            self._write(f"site-{name}.sh", SITES_OWN.format(work=self.work, name=name))
        self.reset()

    def reset(self) -> None:
        cluster = self.cluster
        cluster.run("sh", "-c", f"umount {self.profiles}; rm -rf {self.profiles}", check=False)
        cluster.namespace.own(self.profiles, self.account, 0o711)
        for name in SCRIPTS:
            (self.work / f"{name}.log").unlink(missing_ok=True)
        self.set()

    def set(self, **values: object) -> None:
        """Write the scripts with these values, as ``jobsight setup`` does."""
        jobsight = Path(sys.prefix, "bin/jobsight")
        given = {"SHARE": 1.0, "PROFILES": self.profiles, "JOBSIGHT": jobsight, **values}
        for name in SCRIPTS:
            script = files("jobsight.acting").joinpath(f"files/slurm/jobsight-{name}.sh")
            text = script.read_text("utf-8")
            for key, value in given.items():
                text = re.sub(rf"^{key}=.*$", f"{key}={value}", text, flags=re.M)
            self._write(f"jobsight-{name}.sh", text)

    def _write(self, name: str, text: str) -> Path:
        path = self.work / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def interpreter(self, text: str) -> Path:
        """A program in the place of jobsight."""
        return self._write("other-jobsight", text)

    def run(self, script: str = "exit 0", *options: str) -> str:
        job = self.cluster.submit(script, *options)
        states = self.cluster.wait(job)
        assert set(states.values()) == {"COMPLETED"}
        return job

    def ended(self, name: str, job: str) -> list[tuple[str, int, float]]:
        """Node, exit status and seconds of a script, by the site's log."""
        log = self.work / f"{name}.log"
        rows = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
        return [(row[1], int(row[2]), int(row[3]) / 1e6) for row in rows if row[0] == job]

    def samplers(self) -> list[int]:
        """Processes of the cluster that sample."""
        found = []
        for pid in self.cluster.namespace.processes():
            try:
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"--drawn" in words and b"timeout" not in words[0]:
                found.append(pid)
        return found

    def results(self) -> list[Path]:
        return sorted(self.profiles.glob("*.json"))

    def assert_nodes_are_up(self) -> None:
        states = self.cluster.run("sinfo", "-h", "-N", "-p", "main", "-o", "%t").split()
        assert set(states) <= {"idle", "mix", "comp"}


@pytest.fixture(scope="module", params=["24.11", "22.05"])
def on_cluster(request: pytest.FixtureRequest, bed_ready: None) -> Iterator[Hooks]:
    if request.param == "22.05":
        request.getfixturevalue("other_versions")
    with SlurmCluster(version=request.param, settings=SETTINGS, shows=python_folders()) as cluster:
        yield Hooks(cluster)


SETTINGS = [f"{name.title()}=@FOLDER@/work/site-{name}.sh" for name in SCRIPTS]


class CgroupCluster(SlurmCluster):
    """A node whose jobs are in control groups, version 1. Version 2 needs a machine without 1."""

    def _configure(self) -> None:
        super()._configure()
        (self.folder / "etc/slurm/cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        self.namespace.binds.append((FREEZER, str(FREEZER), "rw"))

    def _slurm_conf(self) -> str:
        return super()._slurm_conf().replace("proctrack/linuxproc", "proctrack/cgroup")


@pytest.fixture
def hooks(on_cluster: Hooks) -> Iterator[Hooks]:
    on_cluster.reset()
    yield on_cluster
    on_cluster.cluster.cancel_all()
    until(lambda: not on_cluster.samplers(), "samplers to end", timeout=30)


def test_a_job_of_two_nodes_and_four_tasks_has_one_sampler_per_node(
    hooks: Hooks, tmp_path: Path
) -> None:
    program = hooks.work / "loop.py"
    program.write_text(LOOP)
    job = hooks.cluster.submit(
        f"srun {sys.executable} {program}; sleep 1",
        *("--array=7-7", "--nodes=2", "--ntasks-per-node=2", "--job-name=x;$(touch /tmp/bad)'"),
        "--comment=`touch /tmp/bad`; --slurm 1",
    )
    until(lambda: len(hooks.samplers()) == 2, "the samplers")
    uids = [_uids(pid) for pid in hooks.samplers()]
    users = hooks.cluster.namespace.users
    alice, account = users["alice"][0], users["munge"][0]
    # Its real account keeps the user's processes out; /proc says so, as it is root's.
    assert uids == [(account, alice, alice, alice)] * 2
    assert {Path(f"/proc/{pid}/fd").stat().st_uid for pid in hooks.samplers()} == {0}
    hooks.cluster.wait(job)
    until(lambda: len(hooks.results()) == 2, "the results of both nodes", timeout=20)
    assert not hooks.cluster.run("sh", "-c", "ls /tmp/bad || true").strip()
    contents = [json.loads(path.read_text()) for path in hooks.results()]
    assert {one["drawn"]["node"] for one in contents} == {"node1", "node2"}
    assert all(one["shares"]["network"] is not None for one in contents)
    for path in hooks.results():  # a minute has passed
        os.utime(path, (time.time() - 90,) * 2)
    _collect(hooks, tmp_path)
    assert hooks.results() == []
    with open_store(str(tmp_path / "jobs.db")) as store:
        bound = store.get([f"slurm:testbed:{job}_7"])[f"slurm:testbed:{job}_7"].document.usage.bound
    assert bound is not None
    assert (bound["nodes"], bound["probability"]) == (2, 1.0)
    walls = [one["signals"]["wall_s"] for one in contents]
    cpu = sum(one["shares"]["cpu"] * wall for one, wall in zip(contents, walls, strict=True))
    assert bound["shares"]["cpu"] == pytest.approx(cpu / sum(walls))
    call = [sys.executable, "-m", "jobsight", "job", job, "--store", str(tmp_path / "jobs.db")]
    shown = subprocess.run(call, check=True, capture_output=True, text=True).stdout
    assert f"{' or '.join(bound['classes'])} (measured)" in shown
    assert cpu > 1  # of eight seconds in all, on a machine that others use
    hooks.assert_nodes_are_up()


def _uids(pid: int) -> tuple[int, ...]:
    status = Path(f"/proc/{pid}/status").read_text()
    return tuple(map(int, re.findall(r"^Uid:\t(.*)$", status, re.M)[0].split()))


def _collect(hooks: Hooks, folder: Path) -> None:
    settings = {
        "store": str(folder / "jobs.db"),
        "slurm": {"bin": str(hooks.cluster.bin)},
        "acting": {"profiles": str(hooks.profiles)},
        "collect": {"status_file": str(folder / "collect.json")},
    }
    file = folder / "settings.yaml"
    file.write_text(json.dumps(settings))
    call = [sys.executable, "-m", "jobsight", "collect", "--slurm", "--once", "--config", str(file)]
    subprocess.run(call, check=True, timeout=limit(60))


def test_a_job_waits_for_its_prolog_less_than_a_tenth_of_a_second(hooks: Hooks) -> None:
    jobs = [hooks.run() for _ in range(5)]
    ran = [row for name in SCRIPTS for job in jobs for row in hooks.ended(name, job)]
    assert len(ran) >= 10
    assert {status for _, status, _ in ran} == {0}
    assert statistics.median(seconds for _, _, seconds in ran) < limit(0.1)


def _away(hooks: Hooks) -> None:
    hooks.set(JOBSIGHT="/opt/missing/jobsight")


def _without_python(hooks: Hooks) -> None:
    hooks.set(JOBSIGHT=hooks.interpreter("#!/opt/missing/python\n"))


def _raising(hooks: Hooks) -> None:
    hooks.set(JOBSIGHT=hooks.interpreter("#!/bin/sh\necho error >&2\nexit 1\n"))


def _endless(hooks: Hooks) -> None:
    hooks.set(
        JOBSIGHT=hooks.interpreter("#!/bin/sh\nexec head -c 20000000 /dev/zero | tr '\\0' x\n")
    )


def _full(hooks: Hooks) -> None:
    path = hooks.profiles
    hooks.cluster.run("mount", "-t", "tmpfs", "-o", "size=4k,mode=711", "none", str(path))
    hooks.cluster.run("chown", hooks.account, str(path))
    hooks.cluster.run("sh", "-c", f"head -c 4096 /dev/zero >{path}/filling")


def _many(hooks: Hooks) -> None:
    for number in range(5001):
        (hooks.profiles / f"other-{number}").touch()


def _unwritable(hooks: Hooks) -> None:
    hooks.profiles.chmod(0o555)


def _roots(hooks: Hooks) -> None:
    hooks.cluster.namespace.own(hooks.profiles, "root")


def _missing(hooks: Hooks) -> None:
    hooks.profiles.rmdir()


def _off(hooks: Hooks) -> None:
    (hooks.profiles / "off").touch()


def _never(hooks: Hooks) -> None:
    hooks.set(SHARE=0)


def _odd(hooks: Hooks) -> None:
    hooks.set(SHARE="0.1$(id)x")


@pytest.mark.parametrize(
    "failure",
    [_away, _without_python, _raising, _endless, _full, _many, _unwritable, _roots, _missing, _off,
     _never, _odd],
    ids=lambda failure: failure.__name__.strip("_"),
)  # fmt: skip
def test_whatever_fails_the_node_stays_up_and_nothing_is_left(
    hooks: Hooks, failure: object
) -> None:
    assert callable(failure)
    failure(hooks)
    job = hooks.run("sleep 1.5")
    until(lambda: hooks.ended("epilog", job), "the epilog")
    ran = [row for name in SCRIPTS for row in hooks.ended(name, job)]
    assert [status for _, status, _ in ran] == [0, 0]
    assert max(seconds for _, _, seconds in ran) < limit(0.5)
    until(lambda: not hooks.samplers(), "what was started to end")
    inside = hooks.cluster.run("sh", "-c", f"ls {hooks.profiles} 2>/dev/null || true").split()
    assert [name for name in inside if job in name.split(".")] == []
    hooks.assert_nodes_are_up()


def test_an_interpreter_that_hangs_is_killed_after_the_job(hooks: Hooks) -> None:
    hang = "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 1; done\n"
    hooks.set(JOBSIGHT=hooks.interpreter(hang))
    job = hooks.cluster.submit("sleep 2")
    until(hooks.samplers, "the one that hangs")
    hooks.cluster.wait(job)
    until(lambda: hooks.ended("epilog", job), "the epilog")
    assert hooks.ended("epilog", job)[0][2] < limit(0.5)
    until(lambda: not hooks.samplers(), "it to be killed", timeout=10)
    hooks.assert_nodes_are_up()


def test_the_kill_file_ends_a_running_sampler_within_five_seconds(hooks: Hooks) -> None:
    hooks.cluster.submit("sleep 100")
    until(hooks.samplers, "the sampler")
    time.sleep(1)  # of sampling
    (hooks.profiles / "off").touch()
    until(lambda: not hooks.samplers(), "it to end", timeout=5)
    assert hooks.results() == []


def test_a_prolog_that_is_run_twice_starts_one_sampler(hooks: Hooks) -> None:
    """The site's Prolog of these tests calls it twice for each job."""
    hooks.cluster.submit("sleep 30")
    until(hooks.samplers, "the sampler")
    time.sleep(2)
    assert len(hooks.samplers()) == 1


@pytest.mark.skipif(not FREEZER.is_dir(), reason="no control groups of version 1 here")
def test_the_processes_in_a_control_group_are_those_that_are_sampled(bed_ready: None) -> None:
    with CgroupCluster(
        settings=SETTINGS, shows=python_folders(), accounting=False, nodes=1
    ) as cluster:
        hooks = Hooks(cluster)
        (hooks.work / "loop.py").write_text(LOOP)
        job = cluster.submit(f"exec {sys.executable} {hooks.work}/loop.py")
        until(hooks.samplers, "the sampler")
        pids = until(lambda: cgroup_processes(int(job)), "the job's control group")
        names = [Path(f"/proc/{pid}/comm").read_text() for pid in pids]
        assert not any("slurm" in name for name in names)
        cluster.wait(job)
        content = json.loads(until(hooks.results, "the result")[0].read_text())
        # Unmeasured if a process of root, such as slurmstepd, were among those sampled.
        assert content["shares"]["network"] is not None
        assert content["signals"]["cpu_s"] > 0.1
        hooks.assert_nodes_are_up()
    for folder in FREEZER.glob("slurm_node1"):
        folder.rmdir()
