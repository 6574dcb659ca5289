"""Write-back into a real cluster: what it writes and clears, and all that must stop it."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.support.limits import prove
from tests.support.pendinganswers import answers, answers_for
from tests.testbed.namespace import until
from tests.testbed.slurm import SlurmCluster

from jobsight.acting.control import Switch
from jobsight.acting.decisions import DecisionLog
from jobsight.acting.slurm.plan import TAG, Answers
from jobsight.acting.slurm.writeback import Writeback, take_back
from jobsight.cli.acting import judges
from jobsight.errors import OutputError, SourceError
from jobsight.history.slurm.client import SlurmError
from jobsight.settings import ActingSettings, Mode, Settings, SlurmSettings

pytestmark = pytest.mark.slow

VERSIONS = ["24.11", pytest.param("22.05", marks=prove)]
OTHERS = "another tool: x=1"
MANY, MINUTES = 10_000, 3
_numbers = itertools.count()


@pytest.fixture(scope="module", params=VERSIONS)
def cluster(bed_ready: None, request: pytest.FixtureRequest) -> Iterator[SlurmCluster]:
    """A cluster in which bob is an administrator of Slurm, and no more than that."""
    with SlurmCluster(version=request.param, name="acting") as cluster:
        level(cluster, "administrator")
        yield cluster


@pytest.fixture(autouse=True)
def empty_queue(cluster: SlurmCluster) -> Iterator[None]:
    yield
    cluster.cancel_all()


def level(cluster: SlurmCluster, name: str) -> None:
    cluster.run("sacctmgr", "-i", "modify", "user", "bob", "set", f"adminlevel={name}")


class Acting:
    """Write-back into the cluster with answers of a test."""

    def __init__(self, cluster: SlurmCluster, **settings: Any) -> None:
        self.cluster = cluster
        self.folder = cluster.folder / f"acting-{next(_numbers)}"
        self.folder.mkdir()
        given = {"every": 1, "renew": 4, "folder": self.folder, "slurm_per_minute": 1000}
        self.settings = ActingSettings.model_validate(given | settings)
        self.slurm = SlurmSettings(bin=cluster.bin, prefix=("env", "JOBSIGHT_TESTBED_USER=bob"))
        self.judge: Callable[[Collection[str]], Mapping[str, Answers]] = answers_for

    def writeback(self, mode: Mode = "advise") -> Writeback:
        settings = self.settings.model_copy(update={"mode": mode})
        return Writeback(self.slurm, settings, self.judge)

    def round(self) -> str:
        return self.writeback().round()

    def records(self, what: str = "") -> list[dict[str, Any]]:
        records = list(DecisionLog(self.folder).latest())[::-1]
        return [record for record in records if what in ("", record["what"])]


def held(cluster: SlurmCluster, *options: str) -> str:
    """A pending job that does not start."""
    return cluster.submit("exit 0", "--hold", *options)


def comments(cluster: SlurmCluster) -> dict[str, str]:
    """AdminComment by job, of all that have one."""
    form = "--Format=JobArrayID:0|,admin_comment:0"
    lines = cluster.run("squeue", "--noheader", "--all", form).splitlines()
    pairs = (line.split("|", 1) for line in lines if line)
    return {job: text for job, text in pairs if text not in ("", "(null)")}


def comment_on(cluster: SlurmCluster, job: str, text: str) -> None:
    cluster.run("scontrol", "update", f"JobId={job}", f"AdminComment={text}")


def system_comments(cluster: SlurmCluster, job: str) -> list[str]:
    """In lower case, as sacctmgr of 22.05 writes them."""
    rows = cluster.accounted("-j", job, "--delimiter=|", fields="SystemComment")
    return [row["SystemComment"].lower() for row in rows]


def test_from_observe_to_the_end_by_real_answers(
    cluster: SlurmCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs failed; the next one is said to fail, and its end is written next to that."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    name = ("--job-name=flaky", "--mem=10")
    for job in [cluster.submit("exit 3", *name) for _ in range(6)]:
        cluster.wait_accounted(job)
    waiting = cluster.submit("exit 3", "--hold", *name)
    acting = Acting(cluster)
    settings = Settings.model_validate({
        "slurm": acting.slurm.model_dump(), "machine": {"folder": str(tmp_path)},
        "registry": str(tmp_path / "models"),
    })  # fmt: skip
    acting.judge = judges(settings, [], wanted=False, model="none").pending
    (change,) = acting.writeback().plan().changes
    assert acting.records() == []
    acting.writeback("observe").round()
    (would,) = acting.records("would")
    assert (would["jobs"], would["said"]) == ([waiting], change.words)
    assert comments(cluster) == {}
    acting.round()
    (said,) = comments(cluster).values()
    assert said.startswith(TAG) and "does not start by itself" in said and "; until " in said
    cluster.release(waiting)
    cluster.wait_accounted(waiting)
    acting.round()
    (end,) = system_comments(cluster, waiting)
    assert f"said {change.words}; came started ".lower() in end and end.endswith("failed")
    # Nothing is left to be done, also by another process.
    made = len(acting.records("intent"))
    assert acting.writeback().round() and acting.round()
    assert len(acting.records("intent")) == made


def test_the_service_writes_and_off_takes_back(cluster: SlurmCluster, tmp_path: Path) -> None:
    acting = Acting(cluster, mode="advise")
    settings = {
        "slurm": {**acting.slurm.model_dump(mode="json"), "cluster": cluster.name},
        "acting": acting.settings.model_dump(mode="json"),
        "store": {"url": f"sqlite:///{tmp_path}/jobs.db"}, "condor": {"bin": str(tmp_path)},
        "registry": str(tmp_path / "models"), "serve": {"socket": str(tmp_path / "socket")},
    }  # fmt: skip
    file = tmp_path / "settings.yaml"
    file.write_text(json.dumps(settings))

    def command(*words: str) -> list[str]:
        return [sys.executable, "-m", "jobsight", *words, "--config", str(file)]

    waiting = held(cluster)
    subprocess.run(command("collect", "--slurm", "--once"), check=True, capture_output=True)
    serve = command("serve", "--listen", "127.0.0.1:0")
    service = subprocess.Popen(serve, stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: comments(cluster).get(waiting, "").startswith(TAG), "a comment")
        off = subprocess.run(command("acting", "off"), check=True, capture_output=True, text=True)
        assert "taken back: the comments of 1 record of Slurm" in off.stdout
        assert comments(cluster) == {}
    finally:
        service.terminate()
        _, log = service.communicate()
    assert "1 pending record, 1 written" in log


def test_what_another_tool_wrote_stays(cluster: SlurmCluster) -> None:
    """Also what it writes between the plan and the call."""
    before, meanwhile, ours = (held(cluster) for _ in range(3))
    comment_on(cluster, before, OTHERS)
    acting = Acting(cluster)

    def judge(names: Collection[str]) -> Mapping[str, Answers]:
        assert before not in names
        comment_on(cluster, meanwhile, "JS1:late")
        return answers_for(names)

    acting.judge = judge
    acting.round()
    said = comments(cluster)
    assert (said[before], said[meanwhile]) == (OTHERS, "JS1:late")
    assert said[ours].startswith(TAG)
    assert {r["edited"] for r in acting.records("result")} == {0, 1}
    # Over what we wrote it may write too.
    comment_on(cluster, ours, OTHERS)
    acting.judge = answers_for
    acting.round()
    take_back(acting.slurm, DecisionLog(acting.folder))
    assert comments(cluster)[ours] == OTHERS


def test_an_array_is_one_record_and_what_started_is_cleared(cluster: SlurmCluster) -> None:
    array = cluster.submit("sleep 600", "--array=0-40", "--cpus-per-task=4", "--mem=10")
    until(lambda: list(cluster.states(array).values()).count("RUNNING") == 14, "tasks to start")
    before = cluster.states(array)
    assert len(before) == 15
    acting = Acting(cluster)
    acting.round()
    assert cluster.states(array) == before
    ((waiting, said),) = comments(cluster).items()
    assert waiting.startswith(f"{array}_[") and "fails 60 % (out of memory), try --mem=8G" in said
    assert len(acting.records("intent")) == 1
    # Its first tasks end; those that start have the comment from the array.
    for task in range(3):
        cluster.cancel(f"{array}_{task}")
    until(lambda: len(comments(cluster)) >= 4, "more tasks to start")
    taken = next(job for job in comments(cluster) if "[" not in job)
    comment_on(cluster, taken, OTHERS)
    acting.round()
    after = comments(cluster)
    assert after.pop(taken) == OTHERS
    assert [job.startswith(f"{array}_[") for job in after] == [True]
    (cleared,) = [r for r in acting.records("intent") if r["said"] is None]
    assert cleared["why"] == "it started"


def test_heterogeneous_jobs_and_split_tasks_are_left_alone(cluster: SlurmCluster) -> None:
    cluster.submit("exit 0", "--hold", "-n1", ":", "-n1")
    array = held(cluster, "--array=0-3")
    cluster.run("scontrol", "update", f"JobId={array}_2", "TimeLimit=5")
    acting = Acting(cluster)
    comment_on(cluster, f"{array}_2", OTHERS)
    acting.round()
    form = "--Format=JobArrayID:0|,admin_comment:0"
    lines = cluster.run("squeue", "--noheader", "--array", form).splitlines()
    assert {line.partition("|")[0]: line.partition("|")[2][:12] for line in lines} == {
        f"{int(array) - 2}+0": "(null)", f"{int(array) - 2}+1": "(null)", f"{array}_2": OTHERS[:12],
        **{f"{array}_{task}": "jobsight: st" for task in (0, 1, 3)},
    }  # fmt: skip
    take_back(acting.slurm, DecisionLog(acting.folder))
    assert cluster.run("squeue", "--noheader", "--array", form).count(OTHERS) == 1


def test_equal_words_are_written_again_before_they_expire_alone(cluster: SlurmCluster) -> None:
    first, second = held(cluster), held(cluster)
    fixed = answers()
    acting = Acting(cluster)
    acting.judge = lambda names: dict.fromkeys(names, fixed)
    acting.round()
    acting.round()
    assert len(acting.records("intent")) == 2
    soon = time.strftime("%m-%d %H:%M", time.localtime(time.time() + 90))
    words = comments(cluster)[first].partition("; until ")[0]
    comment_on(cluster, first, f"{words}; until {soon}")
    comment_on(cluster, second, f"{TAG}what is gone; until {soon}")
    acting.judge = lambda names: {first: fixed}
    acting.round()
    why = [record["why"] for record in acting.records("intent")[2:]]
    assert why == ["out of date", "renewed"]
    assert list(comments(cluster)) == [first]


def test_the_cap_holds_and_most_at_stake_comes_first(cluster: SlurmCluster) -> None:
    small = [held(cluster, "--time=1") for _ in range(6)]
    large = [held(cluster, "--time=50", "--cpus-per-task=2") for _ in range(4)]
    acting = Acting(cluster, slurm_per_minute=5)
    assert acting.round().endswith("5 written, 5 left to later rounds")
    said = set(comments(cluster))
    assert set(large) < said and len(said & set(small)) == 1
    # Another process, in the same minute.
    assert "0 written" in acting.round()


def test_off_stops_in_the_middle_and_takes_back(cluster: SlurmCluster) -> None:
    for _ in range(60):
        held(cluster)
    acting = Acting(cluster)
    said: list[str] = []
    worker = threading.Thread(target=lambda: said.append(acting.round()))
    worker.start()
    until(lambda: len(acting.records("result")) >= 3, "some edits")
    begun = time.monotonic()
    with Switch(acting.folder).turn_off(5.0) as quiet:
        assert quiet and time.monotonic() - begun < 5
        written = len(comments(cluster))
        taken, left = take_back(acting.slurm, DecisionLog(acting.folder))
    worker.join()
    assert "stopped" in said[0]
    assert (taken, left, comments(cluster)) == (written, 0, {})
    assert 3 <= written < 60
    assert "nothing is done" in acting.round()
    Switch(acting.folder).turn_on()
    acting.round()
    assert len(comments(cluster)) == 60


def test_a_round_that_was_killed_is_finished_by_the_next(cluster: SlurmCluster) -> None:
    for _ in range(20):
        held(cluster)
    fixed = answers()
    acting = Acting(cluster)
    acting.judge = lambda names: dict.fromkeys(names, fixed)
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            acting.round()
        os._exit(0)
    until(lambda: len(acting.records("result")) >= 3, "some edits")
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    before, written = acting.records(), comments(cluster)
    acting.round()
    assert acting.records()[: len(before)] == before
    assert len(comments(cluster)) == 20
    made = [record["jobs"][0] for record in acting.records("intent")]
    assert not set(written) & set(made[len([r for r in before if r["what"] == "intent"]) :])


def test_a_controller_that_restarts_is_an_error_until_it_is_back(cluster: SlurmCluster) -> None:
    for _ in range(6):
        held(cluster)
    fixed = answers()
    acting = Acting(cluster)
    acting.judge = lambda names: dict.fromkeys(names, fixed)
    acting.settings = acting.settings.model_copy(update={"slurm_per_minute": 3})
    acting.round()

    def away(names: Collection[str]) -> Mapping[str, Answers]:
        cluster.stop_slurmctld()
        return answers_for(names)

    acting.judge = away
    acting.settings = acting.settings.model_copy(update={"slurm_per_minute": 100})
    with pytest.raises(SourceError):
        acting.round()
    assert "error" in acting.records()[-1]
    cluster.start_slurmctld()
    acting.judge = lambda names: dict.fromkeys(names, fixed)
    acting.round()
    assert len(comments(cluster)) == 6
    assert sum(record.get("edited", 0) for record in acting.records("result")) == 6


def test_an_operator_may_not_write_and_the_log_says_so(cluster: SlurmCluster) -> None:
    held(cluster)
    acting = Acting(cluster)
    level(cluster, "operator")
    try:
        with pytest.raises(SlurmError, match="denied"):
            acting.round()
    finally:
        level(cluster, "administrator")
    assert "denied" in acting.records()[-1]["error"]


def test_a_system_comment_of_another_tool_stays(cluster: SlurmCluster) -> None:
    job, other = held(cluster), held(cluster)
    acting = Acting(cluster)
    acting.round()
    for each in (job, other):
        cluster.cancel(each)
        cluster.wait_accounted(each)
    where = ("where", f"jobid={job}", "set", "systemcomment=theirs")
    cluster.run("sacctmgr", "-i", "update", "job", *where)
    acting.round()
    assert system_comments(cluster, job) == ["theirs"]
    assert system_comments(cluster, other)[0].endswith("; came cancelled")
    assert [record["jobs"] for record in acting.records("intent")[2:]] == [[other]]


def test_ends_that_cannot_be_written_hold_up_no_comment(cluster: SlurmCluster) -> None:
    job = held(cluster)
    acting = Acting(cluster)
    acting.round()
    cluster.cancel(job)
    cluster.wait_accounted(job)
    later = held(cluster)
    whole = acting.slurm
    folder = acting.folder / "bin"
    folder.mkdir()
    for tool in ("scontrol", "squeue"):
        (folder / tool).symlink_to(cluster.bin / tool)
    acting.slurm = whole.model_copy(update={"bin": folder})
    assert "; ends are not written: sacct" in acting.round()
    assert list(comments(cluster)) == [later]
    acting.slurm = whole
    acting.round()
    assert system_comments(cluster, job)[0].endswith("; came cancelled")


def test_the_end_of_an_array_is_one_call(cluster: SlurmCluster) -> None:
    array = cluster.submit("exit $((SLURM_ARRAY_TASK_ID / 3))", "--array=0-3", "--hold", "--mem=10")
    acting = Acting(cluster)
    acting.round()
    cluster.release(array)
    cluster.wait(array)
    cluster.wait_accounted(array)
    acting.round()
    (end,) = set(system_comments(cluster, array))
    assert end.endswith("3 completed, 1 failed")
    assert [record.get("came", "").lower() for record in acting.records("intent")] == ["", end]


def test_the_commands_that_show_it(cluster: SlurmCluster) -> None:
    job = held(cluster)
    acting = Acting(cluster)
    acting.round()
    script = files("jobsight.acting").joinpath("files/slurm/jobsight-formats.sh").read_text()
    (cluster.folder / "work/formats.sh").write_text(script)
    show = f". {cluster.folder}/work/formats.sh; "
    shown = cluster.run("sh", "-c", show + "jobsight_queue --all", user="alice")
    assert comments(cluster)[job] in shown
    cluster.release(job)
    cluster.wait_accounted(job)
    acting.round()
    (end,) = system_comments(cluster, job)
    # Without ids, sacct lists no job of the very second.
    ask = ("sh", "-c", show + "jobsight_ended")
    until(lambda: end in cluster.run(*ask, user="alice").lower(), "the end to be shown")


def test_nothing_is_done_that_cannot_be_written_down(cluster: SlurmCluster) -> None:
    held(cluster)
    acting = Acting(cluster)
    (acting.folder / "decisions.jsonl").mkdir()
    with pytest.raises(OutputError, match="cannot be written down"):
        acting.round()
    assert comments(cluster) == {}


@prove
def test_squeue_is_as_quick_as_before(
    cluster: SlurmCluster, record_property: Callable[[str, object], None]
) -> None:
    """With 10 000 pending jobs, in minutes with a round and in minutes without, in turn."""
    script = cluster.folder / "work/many.sh"
    script.write_text("#!/bin/sh\nexit 0\n")
    submit = f"sbatch --parsable --hold --chdir={cluster.folder}/work {script}"
    loop = f"for k in $(seq {MANY}); do {submit} || exit 1; done"
    cluster.run("sh", "-c", loop, user="alice", timeout=1200)
    acting = Acting(cluster, slurm_per_minute=50)
    seconds: dict[bool, list[float]] = {True: [], False: []}
    for minute in range(2 * MINUTES):
        worker = threading.Thread(target=acting.round)
        until_ = time.monotonic() + 60
        if minute % 2:
            worker.start()
        while time.monotonic() < until_:
            begun = time.monotonic()
            cluster.run("squeue", "--noheader", user="alice")
            seconds[bool(minute % 2)].append(time.monotonic() - begun)
        if minute % 2:
            worker.join()
    for acts, name in ((False, "p99 without, s"), (True, "p99 with, s")):
        record_property(name, round(_p99(seconds[acts]), 3))
    assert len(acting.records("intent")) == 50 * MINUTES == len(comments(cluster))
    assert _p99(seconds[True]) < 1.1 * _p99(seconds[False])


def _p99(values: list[float]) -> float:
    return sorted(values)[len(values) * 99 // 100]
