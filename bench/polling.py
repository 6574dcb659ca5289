"""The cost of one poll of a real Slurm with 10 000 jobs, compared with one call per job."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.measure import Section, isolated, median, spread

if TYPE_CHECKING:
    from tests.testbed import SlurmCluster

    from jobsight.history.slurm.client import SlurmClient
    from jobsight.history.slurm.poller import SlurmSource

__all__ = ["measure", "run"]

_SIZES = (1000, 10_000)
_POLLS = 9
_SAMPLE = 150
_TICK = os.sysconf("SC_CLK_TCK")

Costs = dict[str, list[float]]


class _Meter:
    """Wall seconds, processor seconds of Jobsight and its commands, and those of slurmctld."""

    def __init__(self, cluster: SlurmCluster) -> None:
        found = cluster.namespace.processes().items()
        self._controller = next(pid for pid, name in found if name == "slurmctld")
        self.costs: Costs = {"seconds": [], "ours": [], "controller": []}
        self._before = self._now()

    def start(self) -> None:
        """Begin one measurement."""
        self._before = self._now()

    def stop(self) -> None:
        """End it."""
        for name, after, before in zip(self.costs, self._now(), self._before, strict=True):
            self.costs[name].append(after - before)

    def _now(self) -> tuple[float, float, float]:
        spent = os.times()
        ours = spent.user + spent.system + spent.children_user + spent.children_system
        stat = Path(f"/proc/{self._controller}/stat").read_text(encoding="ascii")
        ticks = stat.rpartition(")")[2].split()[11:13]  # utime and stime: proc(5)
        return time.perf_counter(), ours, sum(map(int, ticks)) / _TICK


def measure() -> Any:
    """All costs, or why they cannot be measured here."""
    from tests.testbed import SlurmCluster, Unavailable

    try:
        cluster = SlurmCluster().start()
    except Unavailable as reason:
        return {"unavailable": str(reason)}
    try:
        return _measure(cluster)
    finally:
        cluster.stop()


def _measure(cluster: SlurmCluster) -> Any:
    found: dict[str, Any] = {"version": cluster.run("sinfo", "--version").split()[-1], "sizes": []}
    array, there = "", 0
    for size in _SIZES:
        array = _submit(cluster, size - there)
        there = size
        source, client = _source(cluster)
        first = _Meter(cluster)
        first.start()
        documents, polls = 0, 0
        while (observed := source.poll()) is not None:
            documents += len(observed.documents)
            polls += 1
            if not observed.more:
                break
        first.stop()
        calls = sum(client.calls.values())
        steady = _Meter(cluster)
        for _ in range(_POLLS):
            steady.start()
            source.poll()
            steady.stop()
        per_poll = (sum(client.calls.values()) - calls) / _POLLS
        found["sizes"].append(
            {"jobs": size, "documents": documents, "first calls": calls, "calls": per_poll,
             "first": first.costs, "steady": steady.costs}
        )  # fmt: skip
    found["single"] = _one_by_one(cluster, array)
    return found


def _submit(cluster: SlurmCluster, count: int) -> str:
    """This many held jobs, each with its own record, as if submitted one by one."""
    job = cluster.submit("exit 0", "--hold", f"--array=0-{count - 1}")
    # What is said of some tasks of an array makes the controller part them from it.
    tasks = f"{job}_[1-{count - 1}]"
    cluster.run("scontrol", "update", f"JobId={tasks}", "Nice=7", timeout=120)
    for _ in range(600):
        if "DBD Agent queue size: 0\n" in cluster.run("sdiag"):
            return job
        time.sleep(0.2)
    raise RuntimeError("slurmdbd did not accept the records of the controller")


def _source(cluster: SlurmCluster) -> tuple[SlurmSource, SlurmClient]:
    from jobsight.history.slurm.client import SlurmClient
    from jobsight.history.slurm.poller import SlurmSource
    from jobsight.settings import SlurmSettings

    settings = SlurmSettings(cluster=cluster.name, bin=cluster.bin)
    client = SlurmClient(settings)
    source = SlurmSource(client, cluster.name, settings)
    source.resume(None, lambda _cluster: iter(()))
    return source, client


def _one_by_one(cluster: SlurmCluster, array: str) -> Costs:
    """``scontrol show job`` of single jobs: the cost of one call per job."""
    import subprocess

    meter = _Meter(cluster)
    for task in range(1, _SAMPLE + 1):
        meter.start()
        command = [str(cluster.bin / "scontrol"), "--oneliner", "show", "job", f"{array}_{task}"]
        subprocess.run(command, stdout=subprocess.PIPE, check=True)
        meter.stop()
    return meter.costs


def run() -> Section:
    """The benchmark."""
    section = Section("One poll of Slurm")
    found = isolated("bench.polling:measure")
    if "unavailable" in found:
        section.say(f"Not measured: no test bed here ({found['unavailable']}).")
        return section
    section.say(
        f"Slurm {found['version']} of the test bed, with accounting; pending jobs, each with its "
        f"own record. A steady poll is the median of {_POLLS}; the first one reports every "
        f"job. Per-job polling is `scontrol show job` of one job, the mean of {_SAMPLE}, times "
        "the jobs. Processor time of slurmctld is counted in hundredths of a second."
    )
    section.table(
        ["", "calls", "seconds", "our processor seconds", "slurmctld's"],
        [row for size in found["sizes"] for row in _rows(size, found["single"])],
    )
    last = found["sizes"][-1]
    ours, theirs = (median(last["steady"]["seconds"]), _mean(found["single"]["seconds"]))
    section.say(
        f"With {last['jobs']:,} jobs a poll takes {ours:.2f} s (runs "
        f"{spread(last['steady']['seconds'])}), 1/{theirs * last['jobs'] / ours:,.0f} of per-job "
        "polling, and as many calls as with a tenth of the jobs."
    )
    return section


def _rows(size: dict[str, Any], single: Costs) -> list[list[str]]:
    jobs = size["jobs"]
    each = [_mean(single[name]) * jobs for name in ("seconds", "ours", "controller")]
    steady = [median(size["steady"]["seconds"]), *(_mean(size["steady"][k]) for k in _SPENT)]
    first = [sum(costs) for costs in size["first"].values()]
    return [
        [f"{jobs:,} jobs, a steady poll", f"{size['calls']:.0f}", *_seconds(steady)],
        [f"{jobs:,} jobs, the first poll", f"{size['first calls']}", *_seconds(first)],
        [f"{jobs:,} jobs, per-job polling", f"{jobs:,}", *_seconds(each)],
    ]


_SPENT = ("ours", "controller")


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _seconds(values: list[float]) -> list[str]:
    return [f"{value:.2f}" if value < 100 else f"{value:,.0f}" for value in values]
