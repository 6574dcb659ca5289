"""What acting gives a site besides releases: idle jobs, warnings, cool-down, scripts for DAGMan."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.support.actingcondor import QUICK, condor_of, pool_with_policy, run
from tests.support.heldanswers import answers_for
from tests.testbed.condor import HtcondorPool
from tests.testbed.namespace import until

from jobsight.acting.condor.installing import WARNINGS, file_texts
from jobsight.acting.condor.plan import ATTRIBUTES
from jobsight.acting.condor.writeback import Writeback
from jobsight.history.condor.client import CondorClient
from jobsight.questions.hold.answering.verdict import Verb

pytestmark = pytest.mark.slow

COOL_DOWN = 4
GPUS = """#!/bin/sh
cat <<'end'
DetectedGPUs = "GPU-a, GPU-b"
Common = [ DriverVersion = 12.2; ]
GPU_a = [ id = "GPU-a"; Capability = 7.5; GlobalMemoryMb = 15109; DeviceName = "$(SPOOL)\\"x"; ]
GPU_b = [ id = "GPU-b"; Capability = 8.0; GlobalMemoryMb = 40000; DeviceName = "A 100"; ]
end
"""


@pytest.fixture(scope="module")
def pool(bed_ready: None) -> Iterator[HtcondorPool]:
    with pool_with_policy(QUICK.model_copy(update={"cool_down": COOL_DOWN})) as pool:
        yield pool


@pytest.fixture(autouse=True)
def empty_queue(pool: HtcondorPool) -> Iterator[None]:
    yield
    pool.remove_all()


def said(pool: HtcondorPool, cluster: int) -> dict[str, Any]:
    """What the ad of a job says."""
    ad = pool.job(cluster)
    return {name: ad[name] for name in ATTRIBUTES if ad.get(name) is not None}


def test_idle_jobs_get_what_is_expected_of_them(pool: HtcondorPool) -> None:
    """By how like jobs ended; what was said of an earlier hold is said no more."""
    failing = pool.submit("exit 3", count=8)
    pool.wait(failing)
    never = {"requirements": "false", "executable": pool.history()[0]["Cmd"]}
    idle = pool.submit(**never)
    released = pool.submit(hold="true", **never)
    pool.wait_held(released)
    client = CondorClient(condor_of(pool))
    marked = {"JobsightVerb": '"release"', "JobsightAct": "true", "JobsightReleaseAfter": "0"}
    client.edit(f"ClusterId == {released}", {**marked, "JobsightAsOf": "time()"})
    pool.release(released)
    pool.wait_for(released, lambda ad: ad["JobStatus"] == 1, "to be idle")
    second = int(time.time())
    until(lambda: int(time.time()) > second, "a second to pass")
    assert "2 decisions" not in run(pool, "acting", "run", "--once", mode="observe", idle=True)
    assert said(pool, idle) == {}
    run(pool, "acting", "run", "--once", mode="enforce", idle=True)
    for cluster in (idle, released):
        answer = said(pool, cluster)
        assert answer["JobsightFailure"] > 0.5
        assert "rates" in answer["JobsightModel"]
        assert "failed" in answer["JobsightReason"]
        assert not {"JobsightVerb", "JobsightAct", "JobsightProbability"} & set(answer)
    again = run(pool, "acting", "run", "--once", mode="enforce", idle=True)
    assert "2 idle jobs, 0 edited" in again
    folder = pool.folder / "work/files"
    run(pool, "setup", "htcondor", "--install", str(folder))
    shown = pool.run("condor_q", "-allusers", "-print-format", str(folder / "idle-jobs.cpf"))
    assert shown.count("failed") == 2


def test_held_jobs_say_nothing_of_when_they_were_idle(pool: HtcondorPool) -> None:
    cluster = pool.submit(periodic_hold="(NumHolds ?: 0) == 0", requirements="false")
    pool.wait_held(cluster)
    CondorClient(condor_of(pool)).edit(f"ClusterId == {cluster}", {"JobsightFailure": "0.5"})
    _write(pool, "fix")
    assert said(pool, cluster)["JobsightVerb"] == "fix"
    assert "JobsightFailure" not in said(pool, cluster)


def _write(pool: HtcondorPool, verb: Verb, mode: Any = "advise") -> None:
    """One round of write-back with this answer for all held jobs, once their second is over."""
    second = int(time.time())
    until(lambda: int(time.time()) > second, "a second to pass")
    folder = pool.folder / "acting-site"
    folder.mkdir(exist_ok=True)
    settings = QUICK.model_copy(update={"folder": folder, "mode": mode})
    judge = lambda: answers_for(pool.queue("JobStatus == 5"), verb)  # noqa: E731
    Writeback(condor_of(pool), settings, pool.hostname, judge).round()


@pytest.fixture(scope="module")
def warnings(pool: HtcondorPool) -> None:
    """The file of warnings, made from a pool that has GPUs, one with a hostile name."""
    detects = pool.folder / "work/gpus.sh"
    detects.write_text(GPUS)
    detects.chmod(0o755)
    pool.configure([f"MACHINE_RESOURCE_INVENTORY_GPUs = {detects}"])
    pool.kill("startd")
    count = ("condor_status", "-af", "TotalGPUs")
    until(lambda: "2" in pool.run(*count, check=False).split(), "the GPUs", timeout=90)
    folder = pool.folder / "work/warnings"
    run(pool, "setup", "htcondor", "--install", str(folder), "--warnings")
    text = (folder / WARNINGS).read_text()
    assert "SPOOL" not in text
    assert "[ Capability = 7.5; DriverVersion = 12.2;" in text
    pool.configure([f"include : {folder / WARNINGS}"])


@pytest.mark.parametrize(
    ("lines", "warned"),
    [
        ("", []),
        ("request_memory = 20GB", ["request_memory = 20480 MB: the largest slot of this pool"]),
        ("request_cpus = 9", ["request_cpus = 9: the largest slot of this pool has 8"]),
        ("request_disk =", ["request_disk is not set"]),
        ("request_disk = 900TB", ["request_disk = "]),
        ("request_gpus = 2", []),
        ("request_gpus = 3", ["request_gpus = 3: the largest slot of this pool has 2"]),
        ("request_gpus = 1\nrequire_gpus = Capability >= 8", []),
        ("request_gpus = 1\nrequire_gpus = Capability >= 9", ["no GPU of this pool"]),
        ("request_gpus = 1\ngpus_minimum_memory = 30GB", []),
        ("request_gpus = 1\ngpus_minimum_memory = 50GB", ["no GPU of this pool"]),
        ("request_memory = 20GB\nmax_materialize = 1", ["request_memory = 20480 MB"]),
        # Nothing that can be known at submission.
        ("request_memory = undefined", []),
        ("request_memory = error", []),
        ('request_memory = "much"', []),
        ("request_memory = 64 * (NumHolds + 1)", []),
        ("universe = local\nrequest_memory = 20GB", []),
    ],
)
def test_a_submission_is_warned_of_and_goes_through(
    pool: HtcondorPool, warnings: None, lines: str, warned: list[str]
) -> None:
    file = pool.folder / "work/warned.sub"
    file.write_text(
        "executable = /bin/true\nrequest_memory = 64\nrequest_disk = 1MB\nhold = true\n"
        f"{lines}\nqueue 1\n"
    )
    shown = pool.run("sh", "-c", f"cd /home/alice; condor_submit {file} 2>&1", user="alice")
    assert "1 job(s) submitted" in shown
    assert shown.count("QMGMT") == len(warned), shown
    for words in warned:
        assert words in shown


def test_a_run_that_a_fault_ended_is_not_repeated_at_once(pool: HtcondorPool) -> None:
    """Twice as long after the second; not where somebody vacates the job."""
    cluster = pool.submit("sleep 600")
    first = pool.wait_for(cluster, _executes, "to run")
    pool.run("condor_vacate_job", str(cluster))
    ad = pool.wait_for(
        cluster, lambda ad: ad.get("JobCurrentStartDate") != first["JobCurrentStartDate"], "again"
    )
    assert "NumJobCoolDowns" not in ad
    for count in (1, 2):
        pool.wait_for(cluster, _executes, "to run")
        until(lambda: pool.namespace.kill("condor_starter"), "its starter")
        cooled = partial(_cooled, count)
        ad = pool.wait_for(cluster, cooled, "to cool down")
        assert (ad["JobStatus"], ad["VacateReasonCode"]) == (1, 1008)
        end = ad["JobCoolDownExpiration"]
        assert end - ad["LastVacateTime"] == COOL_DOWN * count
        time.sleep(max(0.0, end + 1 - time.time()))
        # 23.9 looks for such jobs only when its list of jobs changes, else every 20 minutes.
        pool.submit()
        pool.wait_running(cluster)
        assert pool.job(cluster)["JobCurrentStartDate"] >= end


def _executes(ad: dict[str, Any]) -> bool:
    """Whether the program runs: not only its shadow, or the transfer of its input."""
    begun = ad.get("JobCurrentStartExecutingDate", 0)
    return ad["JobStatus"] == 2 and bool(begun >= ad.get("JobCurrentStartDate", time.time()))


def _cooled(count: int, ad: dict[str, Any]) -> bool:
    return ad.get("NumJobCoolDowns") == count


def _dag(pool: HtcondorPool, verb: str, program: str) -> Path:
    """A DAG of one node, whose job is held once, with our scripts; submitted."""
    folder = pool.folder / "work" / f"dag-{verb}-{time.monotonic_ns()}"
    folder.mkdir()
    script = folder / "jobsight-dag.sh"
    script.write_text(file_texts(QUICK)["jobsight-dag.sh"].replace("PAUSE=15", "PAUSE=1"))
    script.chmod(0o755)
    (folder / "node.sh").write_text(f"#!/bin/sh\n{program}\n")
    (folder / "node.sh").chmod(0o755)
    (folder / "node.sub").write_text(
        "executable = node.sh\nrequest_cpus = 1\nrequest_memory = 64\nrequest_disk = 1MB\n"
        "periodic_hold = (NumHolds ?: 0) == 0\nlog = node.log\nqueue\n"
    )
    (folder / "small.dag").write_text(
        f"JOB A.b node.sub\nSCRIPT HOLD ALL_NODES {'jobsight-dag.sh'} {verb} $JOB\n"
        f"SCRIPT POST ALL_NODES {'jobsight-dag.sh'} post $JOB $RETURN $RETRY $MAX_RETRIES\n"
    )
    pool.namespace.own(folder, "alice")
    pool.run("sh", "-c", f"cd {folder} && condor_submit_dag small.dag", user="alice")
    return folder


def _node(pool: HtcondorPool) -> dict[str, Any]:
    held = "DAGNodeName isnt undefined && JobStatus == 5"
    (ad,) = until(lambda: pool.queue(held), "the node to be held")
    return ad


def _log(folder: Path) -> str:
    file = folder / "jobsight-dag.log"
    return file.read_text() if file.exists() else ""


def _ended(pool: HtcondorPool, folder: Path) -> str:
    """How DAGMan ended, once it did."""
    until(lambda: not pool.queue("JobUniverse == 7"), "DAGMan to end", timeout=90)
    return (folder / "small.dag.dagman.out").read_text().rpartition("EXITING WITH STATUS ")[2][:1]


@pytest.mark.parametrize("code", [0, 3])
def test_dagman_has_a_node_released_and_its_exit_code_is_kept(
    pool: HtcondorPool, code: int
) -> None:
    folder = _dag(pool, "hold-and-act", f"exit {code}")
    _node(pool)
    _write(pool, "release")
    assert _ended(pool, folder) == str(int(code != 0))
    log = _log(folder)
    assert ".0 release 0.8 HOLD" in log or ".0 release 0.8 " in log
    assert "A.b is released" in log
    assert f"A.b ended: exit code {code}, retry 0 of 0" in log


def test_dagman_gives_up_a_node_that_is_to_be_removed(pool: HtcondorPool) -> None:
    folder = _dag(pool, "hold-and-act", "exit 0")
    _node(pool)
    _write(pool, "remove")
    assert _ended(pool, folder) == "1"
    assert "A.b is given up" in _log(folder)
    assert "A.b ended: exit code -" in _log(folder)


def test_dagman_notes_an_answer_and_does_nothing_unless_asked(pool: HtcondorPool) -> None:
    folder = _dag(pool, "hold", "exit 0")
    ad = _node(pool)
    _write(pool, "release")
    until(lambda: "A.b is held" in _log(folder), "the answer to be noted")
    # The script that acts would have by now: it notes before it acts.
    time.sleep(2)
    assert pool.job(ad["ClusterId"])["JobStatus"] == 5
    pool.release(ad["ClusterId"])
    assert _ended(pool, folder) == "0"
