"""When jobs start, asked on a real Slurm with a loaded queue, against what happened.

Users with different sizes, limits and runtimes keep the queue full, batch after batch. The first
batches are learned from; in the last ones, all pending jobs are asked about again and again: by
the model, by the play of the queue alone, and Slurm for its own estimates.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.chaos.collecting import Collecting
from tests.support.limits import prove
from tests.testbed import SlurmCluster
from tests.testbed.namespace import until
from typer.testing import CliRunner

from jobsight.cli.main import app
from jobsight.documents import JobDocument, State
from jobsight.store import open_store

BATCHES = int(os.environ.get("JOBSIGHT_START_BATCHES", "36"))
LEARNED = BATCHES * 2 // 3
FULL, LOW, LEAST = 18, 6, 100
"""Pending jobs after a batch, and before the next; predictions that are judged at least."""
PATIENCE = 120
PICTURE = Path(__file__).parents[2] / "docs" / "images" / "start-proof.svg"
SOURCES = {"model": "model", "play": "play of the queue", "slurm": "Slurm's estimate"}


class Habit(NamedTuple):
    """What a user submits: CPUs, a limit in minutes, seconds of the shortest and longest run."""

    user: str
    program: str
    often: int
    cpus: int
    limit: int
    seconds: tuple[int, int]


# The root has only alice and bob, so users of every Debian submit jobs too.
HABITS = (
    Habit("alice", "sweep", 8, 1, 30, (1, 3)),
    Habit("bob", "fit", 5, 2, 5, (3, 5)),
    Habit("games", "mesh", 4, 4, 2, (2, 6)),
    Habit("mail", "relax", 2, 1, 1, (8, 12)),
    Habit("news", "wide", 1, 8, 1, (2, 3)),
)


@dataclass
class Asked:
    """One question about one pending job, at `at` (µs): seconds that were expected, by source."""

    id: str
    at: int
    expected: dict[str, float | None]
    bounds: tuple[float, float] | None


@dataclass
class Site:
    """A cluster with its collector and store, and what was asked."""

    cluster: SlurmCluster
    folder: Path
    config: Path
    users: dict[str, str] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.url = str(self.folder / "jobs.db")
        self.draw = random.Random(7)

    def submit(self, number: int) -> None:
        """Submit jobs of users drawn by chance."""
        work, lines = self.cluster.folder / "work", defaultdict(list)
        for habit in self.draw.choices(HABITS, [one.often for one in HABITS], k=number):
            options = f"--parsable --output=/dev/null --chdir={work} --job-name={habit.program}"
            options += f" --ntasks={habit.cpus} --time={habit.limit} --mem=10"
            span = self.draw.uniform(*habit.seconds)
            lines[habit.user].append(f"sbatch {options} --wrap='sleep {span:.1f}'\n")
        for user, some in lines.items():
            text = "".join(some)
            found = self.cluster.namespace.run("sh", "-e", user=user, input=text, timeout=PATIENCE)
            self.users |= {f"slurm:{self.cluster.name}:{one}": user for one in found.split()}

    def documents(self) -> dict[str, JobDocument]:
        """What the collector has stored."""
        with open_store(self.url) as store:
            return {one.id: one for one in store.scan()}

    def pending(self) -> int:
        """How many of the submitted jobs have not started."""
        known = self.documents()
        states = (known[one].state if one in known else State.PENDING for one in self.users)
        return sum(state is State.PENDING for state in states)

    def wait(self, most: int) -> None:
        """Wait until no more jobs are pending."""
        until(
            lambda: self.pending() <= most,
            f"{most} jobs to be pending",
            timeout=PATIENCE,
            pause=0.3,
        )

    def estimates(self) -> dict[str, int]:
        """Slurm's own estimates of pending jobs, µs since 1970."""
        form = ("--noheader", "--states=PENDING", "--format=%i %S")
        text = self.cluster.run("env", "SLURM_TIME_FORMAT=%s", "squeue", *form)
        pairs = (line.split() for line in text.splitlines())
        return {
            f"slurm:{self.cluster.name}:{id_}": int(at) * 1_000_000
            for id_, at in pairs
            if at.isdecimal()
        }

    def ask(self, model: Path) -> None:
        """Ask about all pending jobs: the model, the play, and Slurm."""
        slurm, now = self.estimates(), time.time_ns() // 1000
        found: dict[str, dict[str, tuple[float, ...]]] = defaultdict(dict)
        for source, name in (("model", str(model)), ("play", "none")):
            for one in json.loads(self.said("start", "--pending", "--model", name, "--json")):
                if one["wait_s"] is not None:
                    found[one["id"]][source] = tuple(one["wait_s"])
        for id_, spans in found.items():
            expected: dict[str, float | None] = {name: one[1] for name, one in spans.items()}
            expected["slurm"] = (slurm[id_] - now) / 1e6 if id_ in slurm else None
            own = spans.get("model")
            self.asked.append(Asked(id_, now, expected, None if own is None else (own[0], own[2])))

    def said(self, *arguments: str) -> str:
        """What a command prints on this store."""
        call = [*arguments, "--config", str(self.config)]
        result = CliRunner().invoke(
            app, [*call, *(["--store", self.url] if call[0] == "start" else [])]
        )
        assert result.exit_code == 0, (result.exception, result.output)
        return result.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, bed_ready: None) -> Iterator[Site]:
    """A cluster of eight CPUs, each for one job at a time."""
    folder = tmp_path_factory.mktemp("start")
    with SlurmCluster(cpus=4, memory=8_000, name="loaded") as cluster:
        cluster.run("scontrol", "update", "PartitionName=main", "OverSubscribe=NO")
        slurm = {"bin": str(cluster.bin), "interval": 0.5, "backoff_most": 2}
        slurm |= {"details_per_poll": 60, "overlap": 60}
        found = Site(cluster, folder, folder / "collect" / "jobsight.yaml")
        collecting = Collecting(
            "start", found.url, folder / "collect", ["--slurm"], {"slurm": slurm}
        )
        open_store(found.url, create=True).close()
        collecting.start()
        try:
            yield found
            collecting.stop()
        finally:
            collecting.kill()


Judged = tuple[Asked, float]
"""A question, and the seconds that the job went on to wait."""


def _scores(jobs: list[Judged], source: str) -> tuple[int, float, float, float]:
    """Of what a source expected: how many, median error in seconds, shares within 2 and 3 times."""
    pairs = [(one.expected.get(source), waited) for one, waited in jobs]
    known = np.array([(value, waited) for value, waited in pairs if value is not None])
    ratios = np.abs(np.log(np.maximum(known[:, 0], 1.0) / np.maximum(known[:, 1], 1.0)))
    within = (float((ratios <= np.log(times)).mean()) for times in (2, 3))
    return len(known), float(np.median(np.abs(known[:, 0] - known[:, 1]))), *within  # type: ignore[return-value]


def _table(jobs: list[Judged]) -> list[str]:
    lines = ["| | answers | median error | within 2 × | within 3 × |", "|---" + "|---:" * 4 + "|"]
    for source, words in SOURCES.items():
        count, error, two, three = _scores(jobs, source)
        lines.append(f"| {words} | {count} | {error:.1f} s | {two:.0%} | {three:.0%} |")
    return lines


def _by_user(jobs: list[Judged], users: dict[str, str]) -> list[str]:
    lines = ["| user | answers | waited | " + " | ".join(SOURCES.values()) + " |"]
    lines.append("|---" + "|---:" * (len(SOURCES) + 2) + "|")
    for user in sorted(set(users.values())):
        own = [(one, waited) for one, waited in jobs if users[one.id] == user]
        if own:
            errors = " | ".join(f"{_scores(own, source)[1]:.1f} s" for source in SOURCES)
            waited = np.median([waited for _, waited in own])
            lines.append(f"| {user} | {len(own)} | {waited:.0f} s | {errors} |")
    return lines


def _draw(jobs: list[Judged], path: Path) -> None:
    """Expected against observed waits, of each source."""
    figure, axes = plt.subplots(1, len(SOURCES), figsize=(9, 3.2), sharex=True, sharey=True)
    for plot, (source, words) in zip(axes, SOURCES.items(), strict=True):
        pairs = [(waited, one.expected.get(source)) for one, waited in jobs]
        known = np.array([pair for pair in pairs if pair[1] is not None])
        plot.loglog(*np.maximum(known, 1.0).T, ".", markersize=3, rasterized=True)
        plot.plot([1, 1000], [1, 1000], color="gray", linewidth=0.8)
        plot.set(title=words, xlabel="waited (s)")
    axes[0].set_ylabel("expected (s)")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "start"}):
        figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


@prove
def test_expected_starts_against_what_happened(
    site: Site, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    model = tmp_path / "model"
    for batch in range(BATCHES):
        site.wait(LOW)
        if batch == LEARNED:
            site.said("train", "start", site.url, "-o", str(model))
        site.submit(FULL - site.pending())
        if batch >= LEARNED:
            site.ask(model)
            site.wait((FULL + LOW) // 2)
            site.ask(model)
    site.wait(0)
    begun = {
        id_: next(event.time for event in one.timeline if event.state is State.RUNNING)
        for id_, one in site.documents().items()
        if any(event.state is State.RUNNING for event in one.timeline)
    }
    jobs = [
        (one, (begun[one.id] - one.at) / 1e6)
        for one in site.asked
        if one.id in begun and begun[one.id] > one.at
    ]
    assert len(jobs) >= LEAST
    inside = [one.bounds[0] <= waited <= one.bounds[1] for one, waited in jobs if one.bounds]
    _draw(jobs, PICTURE)
    record_property("Slurm", site.cluster.run("sinfo", "--version").split()[-1])
    record_property("jobs", len(site.users))
    record_property("within the 80 % intervals of the model", f"{np.mean(inside):.0%}")
    record_property("sources", "\n".join(_table(jobs)))
    record_property("users", "Median errors by user:\n\n" + "\n".join(_by_user(jobs, site.users)))
    scores = {source: _scores(jobs, source) for source in SOURCES}
    assert min(scores["model"][1], scores["play"][1]) < scores["slurm"][1], scores
