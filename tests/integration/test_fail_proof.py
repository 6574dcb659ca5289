"""Whether jobs fail, asked on a real Slurm whose users have habits, against what happened.

Jobs come in waves. While a wave waits the partitions are down; while all of it runs, each job waits
for a lock. So every job of the later waves is asked about twice, before its outcome is decided.
"""

from __future__ import annotations

import fcntl
import json
import os
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from tests.chaos.collecting import Collecting
from tests.support.limits import prove
from tests.support.storedjobs import filled
from tests.testbed import SlurmCluster
from tests.testbed.namespace import until
from typer.testing import CliRunner, Result

from jobsight.cli.main import app
from jobsight.documents import JobDocument, State
from jobsight.learning.metrics import log_loss, roc_auc
from jobsight.store import open_store

WAVES = int(os.environ.get("JOBSIGHT_FAIL_JOBS", "500")) // 25
"""Waves of 25 jobs; the first half of them is learned from."""
LEARNED = max(WAVES // 2, 10)
"""Fewer have too few outcomes before each part of the history begins."""
ENDS = {State.COMPLETED, State.FAILED, State.TIMEOUT}
"""What is seen at least. Without cgroups, Slurm ends a job that takes too much memory as failed."""
PATIENCE = 300
BAD_INPUTS, BAD_TASK = {3, 7, 11}, 2
BODIES = {
    # Needs 50 MB or more, for long enough to be killed where it asked for less.
    "assemble": "perl -e '$n = 50_000_000; $x = \"a\" x $n; sleep 8'",
    "parse": f"case ${{SLURM_JOB_NAME#parse-}} in {'|'.join(map(str, BAD_INPUTS))}) exit 2; esac",
    "relax": "sleep 120",
    "scan": f"[ $SLURM_ARRAY_TASK_ID -ne {BAD_TASK} ]",
    "simulate": "[ $((SLURM_JOB_ID * 7919 % 29)) -ne 0 ]",
}
"""What each program does; how it ends is not in its options, but for what is to be learned."""


class Habit(NamedTuple):
    """What a user does: in words, by which program, and options of each of its jobs of a wave."""

    words: str
    user: str
    program: str
    options: Callable[[random.Random], list[str]]


# The root has only alice and bob, so users of every Debian submit jobs too.
HABITS = (
    Habit(
        "asks for too little memory at times", "games", "assemble",
        lambda _: ["--mem=24"] * 3 + ["--mem=200"] * 2,
    ),
    Habit(
        "3 of 12 inputs are bad", "news", "parse",
        lambda draw: [f"--job-name=parse-{one}" for one in draw.sample(range(1, 13), 5)],
    ),
    Habit(
        "forgets the time limit at times", "mail", "relax",
        lambda _: ["--partition=short", "--time=5"],
    ),
    Habit("one task of an array is bad", "bob", "scan", lambda _: ["--array=0-3"]),
    Habit("healthy", "bob", "simulate", lambda _: [""] * 3),
    Habit("healthy", "alice", "simulate", lambda _: [""] * 6),
)  # fmt: skip


@dataclass
class Site:
    """A cluster with its collector and store, and what was submitted and answered."""

    cluster: SlurmCluster
    folder: Path
    habits: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    answers: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))

    def __post_init__(self) -> None:
        self.url = str(self.folder / "jobs.db")
        work = self.cluster.folder / "work"
        (work / "gate").touch()
        self.gate = (work / "gate").open()
        for program, body in BODIES.items():
            (work / program).write_text(f"#!/bin/sh\nflock -s {work}/gate true\n{body}\n")

    def open_gate(self, *, open_: bool) -> None:
        """Let jobs that run go on, or have those that start wait."""
        fcntl.flock(self.gate, fcntl.LOCK_UN if open_ else fcntl.LOCK_EX)

    def open_partitions(self, *, open_: bool) -> None:
        """Let jobs start or not; they are pending either way."""
        for name in ("main", "short"):
            state = "UP" if open_ else "DOWN"
            self.cluster.run("scontrol", "update", f"PartitionName={name}", f"State={state}")

    def submit(self, habit: Habit, options: list[str]) -> set[str]:
        """Submit jobs; the ids of their documents."""
        work = self.cluster.folder / "work"
        usual = f"--parsable --output=/dev/null --chdir={work} --job-name={habit.program}"
        lines = "".join(f"sbatch {usual} {one} {work}/{habit.program}\n" for one in options)
        said = self.cluster.namespace.run(
            "sh", "-e", user=habit.user, input=lines, timeout=PATIENCE
        )
        numbers = said.split()
        if "--array" in options[0]:
            numbers = [f"{number}_{task}" for number in numbers for task in range(4)]
        ids = {f"slurm:{self.cluster.name}:{number}" for number in numbers}
        self.habits |= dict.fromkeys(ids, f"{habit.user}: {habit.words}")
        return ids

    def documents(self) -> dict[str, JobDocument]:
        """What the collector has stored."""
        with open_store(self.url) as store:
            return {one.id: one for one in store.scan()}

    def wait(self, ids: set[str], true: Callable[[State], bool], what: str) -> None:
        """Wait until the store has these jobs in such states."""

        def ready() -> bool:
            states = {one.id: one.state for one in self.documents().values()}
            return all((state := states.get(one)) is not None and true(state) for one in ids)

        until(ready, f"the store to have {len(ids)} jobs {what}", timeout=PATIENCE, pause=0.3)

    def wave(self, draw: random.Random, model: Path | None) -> set[str]:
        """Submit a wave and let it run, all but the long jobs to their ends; its ids.

        With a model, each of its jobs is asked about while it waits, and when it has started.
        """
        self.open_partitions(open_=False)
        submitted = {habit: self.submit(habit, habit.options(draw)) for habit in HABITS}
        ids = set().union(*submitted.values())
        self.wait(ids, lambda state: state is State.PENDING, "that wait")
        if model is not None:
            self.ask("--pending", "submission", model, ids)
            self.ask("--pending", "user", "none", ids)
        self.open_gate(open_=False)
        self.open_partitions(open_=True)
        self.wait(ids, lambda state: state is State.RUNNING, "that run")
        if model is not None:
            self.ask("--running", "start", model, ids)
        self.open_gate(open_=True)
        long = set().union(*(of for habit, of in submitted.items() if habit.program == "relax"))
        self.wait(ids - long, lambda state: state.ended, "that have ended")
        return ids

    def ask(self, queue: str, moment: str, model: object, ids: set[str]) -> None:
        """Ask about all jobs of a queue in one call, and keep what is said of these."""
        answers = json.loads(said("fail", queue, "--store", self.url, "--model", model, "--json"))
        found = {one["id"]: one for one in answers}
        assert ids <= found.keys()
        for id_ in ids:
            self.answers[id_][moment] = found[id_]["probability"]
            self.kinds.setdefault(id_, found[id_]["kind"])


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def said(*arguments: object) -> str:
    result = call(*arguments)
    assert result.exit_code == 0, (result.exception, result.output)
    return result.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, bed_ready: None) -> Iterator[Site]:
    """A cluster on which a whole wave and the long jobs of others run at once."""
    folder = tmp_path_factory.mktemp("fail")
    with SlurmCluster(cpus=8, memory=32_000, name="habits") as cluster:
        found = Site(cluster, folder)
        slurm = {"bin": str(cluster.bin), "interval": 0.5, "backoff_most": 2}
        slurm |= {"details_per_poll": 60, "overlap": 60}
        collecting = Collecting(
            "fail", found.url, folder / "collect", ["--slurm"], {"slurm": slurm}
        )
        open_store(found.url, create=True).close()
        collecting.start()
        try:
            yield found
            collecting.stop()
        finally:
            collecting.kill()
            found.gate.close()


Judged = tuple[dict[str, float], bool]
"""What was predicted for a job, by moment, and whether it failed."""
_PREDICTED = {"user": "user's rate", "submission": "at submission", "start": "at start"}


def _table(rows: dict[str, list[Judged]]) -> list[str]:
    """Means by habit."""
    lines = [f"| habit | jobs | {' | '.join(_PREDICTED.values())} | failed |"]
    lines.append("|---" + "|---:" * (len(_PREDICTED) + 2) + "|")
    for habit, jobs in sorted(rows.items()):
        means = [np.mean([answers[name] for answers, _ in jobs]) for name in _PREDICTED]
        means.append(np.mean([failed for _, failed in jobs]))
        lines.append(f"| {habit} | {len(jobs)} | {' | '.join(f'{one:.0%}' for one in means)} |")
    return lines


def _scores(jobs: list[Judged]) -> dict[str, tuple[float, float]]:
    """ROC AUC and log loss by what predicted."""
    failed, weight = np.array([bad for _, bad in jobs]), np.ones(len(jobs))
    found = {}
    for name in _PREDICTED:
        predicted = np.array([answers[name] for answers, _ in jobs])
        auc, loss = (score(predicted, failed, weight) for score in (roc_auc, log_loss))
        found[name] = float(auc), float(loss)
    return found


def _in_words(jobs: list[Judged], scores: dict[str, tuple[float, float]], right: int) -> str:
    words = {name: f"{auc:.3f} and {loss:.3f}" for name, (auc, loss) in scores.items()}
    failed = sum(bad for _, bad in jobs)
    return (
        f"Of {len(jobs)} jobs of the later waves {failed} failed, {right} of these in the way that "
        "was predicted as the likeliest while they were pending. ROC AUC and log loss are "
        f"{words['submission']} at submission, and {words['start']} at the start. The failure rate "
        f"of the job's user, asked for at submission too, has {words['user']}."
    )


@prove
def test_answers_against_what_happened(
    site: Site, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    draw, model = random.Random(7), tmp_path / "model"
    for _ in range(LEARNED):
        site.wave(draw, None)
    said("train", "fail", site.url, "-o", model)
    later = set().union(*(site.wave(draw, model) for _ in range(WAVES - LEARNED)))
    site.wait(later, lambda state: state.ended, "that have ended")
    ends = {id_: one.state for id_, one in site.documents().items() if id_ in later}
    assert set(ends.values()) >= ENDS, Counter(ends.values())
    rows: dict[str, list[Judged]] = defaultdict(list)
    for id_, end in sorted(ends.items()):
        rows[site.habits[id_]].append((site.answers[id_], end is not State.COMPLETED))
    right = sum(end is not State.COMPLETED and site.kinds[id_] == end for id_, end in ends.items())
    jobs = [one for some in rows.values() for one in some]
    scores = _scores(jobs)
    record_property("Slurm", site.cluster.run("sinfo", "--version").split()[-1])
    record_property("habits", "\n".join([*_table(rows), "", _in_words(jobs, scores, right)]))
    assert scores["submission"][0] > scores["user"][0]
    assert scores["submission"][1] < scores["user"][1]


@prove
def test_bad_questions_about_a_live_store(site: Site) -> None:
    unknown = call("fail", "99999999", "--store", site.url, "--model", "none")
    assert unknown.exit_code == 1
    assert "no job 99999999 is known as of" in str(unknown.exception) + unknown.stderr


@prove
def test_a_history_of_one_user(site: Site, tmp_path: Path) -> None:
    site.open_partitions(open_=False)
    parse = next(habit for habit in HABITS if habit.program == "parse")
    good, bad = ["--job-name=parse-1"], ["--job-name=parse-3"]
    ids = [site.submit(parse, options).pop() for options in (good, bad)]
    site.wait(set(ids), lambda state: state is State.PENDING, "that wait")
    documents = site.documents().values()
    own = [one for one in documents if one.submission.user == parse.user]
    assert 0 < len(own) < len(documents)
    store = filled(tmp_path / "one.db", own)
    said("train", "fail", store, "-o", tmp_path / "model")
    answers = json.loads(
        said("fail", *ids, "--store", store, "--model", tmp_path / "model", "--json")
    )
    by_id = {one["id"]: one["probability"] for one in answers}
    assert 0 < by_id[ids[0]] < by_id[ids[1]] < 1
