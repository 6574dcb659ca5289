"""Write-back into a real pool, whose own policy acts on it, and all that must stop it."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.support.actingcondor import QUICK, VALID, command, condor_of, pool_with_policy, run
from tests.support.heldanswers import answer_for, answers_for
from tests.testbed.condor import HtcondorPool
from tests.testbed.errors import BedError
from tests.testbed.namespace import until

from jobsight.acting.condor.plan import ATTRIBUTES
from jobsight.acting.condor.writeback import Writeback
from jobsight.acting.control import Switch
from jobsight.acting.decisions import DecisionLog
from jobsight.errors import OutputError, SourceError
from jobsight.history.condor.client import CondorClient
from jobsight.questions.hold.answering.answer import Answer
from jobsight.settings import CondorSettings, Mode

pytestmark = pytest.mark.slow

HELD_ONCE = "(NumHolds ?: 0) == 0"
"""A policy that holds a job when it is submitted, and never again."""
_numbers = itertools.count()


@pytest.fixture(scope="module")
def pool(bed_ready: None) -> Iterator[HtcondorPool]:
    """A pool whose access point has the policy file."""
    with pool_with_policy() as pool:
        yield pool


@pytest.fixture(autouse=True)
def empty_queue(pool: HtcondorPool) -> Iterator[None]:
    yield
    pool.remove_all()


class Acting:
    """Write-back into the pool with answers of a test."""

    def __init__(self, pool: HtcondorPool, *, user: str = "condor", **settings: Any) -> None:
        self.pool = pool
        self.folder = pool.folder / f"acting-{next(_numbers)}"
        self.folder.mkdir()
        self.settings = QUICK.model_copy(update={"folder": self.folder, **settings})
        self.condor = condor_of(pool, user)
        self.judged: Callable[[Sequence[Mapping[str, Any]]], list[Answer]] = answers_for

    def judge(self) -> list[Answer]:
        return self.judged(self.pool.queue("JobStatus == 5"))

    def writeback(self, mode: Mode = "enforce") -> Writeback:
        settings = self.settings.model_copy(update={"mode": mode})
        return Writeback(self.condor, settings, self.pool.hostname, self.judge)

    def records(self) -> list[dict[str, Any]]:
        return list(DecisionLog(self.folder).latest())[::-1]


def held(
    pool: HtcondorPool, count: int = 1, *, periodic_hold: str = HELD_ONCE, **commands: Any
) -> int:
    """A cluster of held jobs, whose hold began before this second."""
    cluster = pool.submit(count=count, periodic_hold=periodic_hold, **commands)
    mine = f"ClusterId == {cluster} && JobStatus == 5 && EnteredCurrentStatus < {{}}"
    until(lambda: len(pool.queue(mine.format(int(time.time())))) == count, "jobs to be held")
    return cluster


def released(pool: HtcondorPool, cluster: int) -> None:
    pool.wait_for(cluster, lambda ad: ad["JobStatus"] != 5, "to be released")


def marks(pool: HtcondorPool) -> list[dict[str, Any]]:
    return pool.queue("JobsightAct =?= true")


def three_to_release(pool: HtcondorPool) -> str:
    """Jobs whose transfers failed, of which three wait; the released ones succeeded."""
    pool.fail(origin="flaky")
    cluster = pool.submit(count=6, transfer_input_files="testbed://flaky/a?bytes=1000")
    mine = f"ClusterId == {cluster}"
    until(lambda: len(pool.queue(f"{mine} && JobStatus == 5")) == 6, "jobs to be held")
    pool.mend(origin="flaky")
    for proc in range(3):
        pool.release(f"{cluster}.{proc}")
    until(lambda: len(pool.history(mine)) == 3, "the released jobs to end")
    return mine


def test_from_observe_to_enforce_by_real_answers(pool: HtcondorPool) -> None:
    mine = three_to_release(pool)
    before = _written(pool, mine)
    assert "release" in run(pool, "acting", "run", "--dry-run", mode="enforce")
    run(pool, "acting", "run", "--once", mode="observe")
    assert _written(pool, mine) == before
    log = DecisionLog(pool.folder / "cli")
    would = next(record for record in log.latest() if record["what"] == "would")
    assert (would["jobs"], would["said"]["act"]) == ([f"{mine.split()[-1]}.3-5"], True)
    run(pool, "acting", "run", "--once", mode="advise")
    ads = pool.queue(mine)
    assert {(ad["JobsightVerb"], ad["JobStatus"], ad["NumHolds"]) for ad in ads} == {
        ("release", 5, 1)
    }
    assert marks(pool) == []
    shown = pool.run("condor_q", "-allusers", "-print-format", str(_print_format(pool)))
    assert shown.count("alice        release") == 3
    run(pool, "acting", "run", "--once", mode="enforce")
    until(lambda: len(pool.history(mine)) == 6, "HTCondor to release and run the others")
    # By a policy: a release by condor_release has its reason and user.
    assert pool.event_log.read_text().count("Job was released.\n...") == 3


def test_the_service_acts_on_what_its_store_has(pool: HtcondorPool) -> None:
    mine = three_to_release(pool)
    store = f"sqlite:///{pool.folder}/served.db"
    environment = {**os.environ, "XDG_DATA_HOME": str(pool.folder / "data")}
    collect = command(pool, "collect", "--once", "--store", store)
    subprocess.run(collect, env=environment, check=True)
    serve = command(pool, "serve", "--listen", "127.0.0.1:0", "--store", store, mode="enforce")
    service = subprocess.Popen(serve, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: len(pool.history(mine)) == 6, "HTCondor to release and run the others")
    finally:
        service.terminate()
        _, log = service.communicate()
    assert "3 for the policy to act on" in log
    # The next one to act need not wait for it.
    assert "0 held jobs" in run(pool, "acting", "run", "--once", mode="enforce")


def _written(pool: HtcondorPool, constraint: str) -> list[dict[str, Any]]:
    """The ads without the time of the look."""
    return [{**ad, "ServerTime": 0} for ad in pool.queue(constraint)]


def _print_format(pool: HtcondorPool) -> Path:
    run(pool, "setup", "htcondor", "--install", str(pool.folder / "work/files"))
    return pool.folder / "work/files/held-jobs.cpf"


def test_hundreds_of_jobs_take_few_calls(pool: HtcondorPool) -> None:
    clusters = [held(pool, 100) for _ in range(4)]
    acting = Acting(pool)
    acting.judged = lambda ads: [
        answer_for(ad, "fix" if ad["ProcId"] % 2 else "unsure", ad["ClusterId"] % 4 / 4)
        for ad in ads
    ]
    acting.writeback().round()
    edits = [record for record in acting.records() if record["what"] == "result"]
    assert sum(edit["edited"] for edit in edits) == 400
    assert len(edits) <= 8
    assert len(pool.queue("JobsightReason isnt undefined")) == 400
    # Nothing differs: nothing is edited.
    acting.writeback().round()
    assert acting.records()[-1]["what"] == "round"
    assert len(clusters) == 4


def test_held_again_it_is_not_released_by_the_old_answer(pool: HtcondorPool) -> None:
    pool.fail(origin="gone")
    cluster = held(pool, periodic_hold="false", transfer_input_files="testbed://gone/a?bytes=1")
    acting = Acting(pool)
    acting.writeback().round()
    again = pool.wait_for(
        cluster, lambda ad: ad["JobStatus"] == 5 and ad["NumHolds"] == 2, "to be held again"
    )
    assert (again["JobsightAct"], again["JobsightVerb"]) == (True, "release")
    # A job that is released shows that the policy was evaluated; it is renewed meanwhile.
    for _ in range(2):
        control = held(pool)
        acting.judged = lambda ads: answers_for(ad for ad in ads if ad["ClusterId"] != cluster)
        acting.writeback().round()
        released(pool, control)
    after = pool.job(cluster)
    assert (after["JobStatus"], after["NumHolds"]) == (5, 2)
    assert after["JobsightAsOf"] == again["JobsightAsOf"]
    assert after.get("JobsightAct") is not True


def test_renewal_leaves_an_answer_for_an_earlier_hold_as_it_is(pool: HtcondorPool) -> None:
    """Even if a job is held again after the look at the queue: the constraint has it."""
    old, new = held(pool), held(pool)
    acting = Acting(pool, removal=True, renew=1)
    acting.judged = lambda ads: answers_for(ads, "remove")
    acting.writeback().round()
    as_of, since = pool.job(new)["JobsightAsOf"], pool.job(old)["EnteredCurrentStatus"]
    client = CondorClient(acting.condor)

    def held_again(ads: Sequence[Mapping[str, Any]]) -> list[Answer]:
        # As if it were held again now: its hold is younger than its answer.
        client.edit(f"ClusterId == {old}", {"JobsightAsOf": str(since)})
        return answers_for(ads, "remove")

    acting.judged = held_again
    until(lambda: int(time.time()) > as_of, "a second to pass")
    acting.writeback().round()
    assert pool.job(new)["JobsightAsOf"] > as_of
    assert pool.job(old)["JobsightAsOf"] == since


def test_nothing_is_released_after_the_loop_died(pool: HtcondorPool) -> None:
    """Marked answers expire: at most `valid` seconds after their time HTCondor leaves them."""
    cluster = held(pool)
    environment = {**os.environ, "XDG_DATA_HOME": str(pool.folder / "data")}
    line = command(pool, "acting", "run", mode="enforce", every=0.5)
    loop = subprocess.Popen(line, env=environment, stderr=subprocess.PIPE, text=True)
    assert loop.stderr is not None
    assert "round" in loop.stderr.readline()
    assert "process" in run(pool, "acting", "status")
    loop.kill()
    loop.wait()
    loop.stderr.close()
    acting = Acting(pool)
    asked_at = int(time.time())
    # What the loop marked, to be released later than it is valid.
    CondorClient(acting.condor).edit(
        f"ClusterId == {cluster}",
        {"JobsightAct": "true", "JobsightVerb": '"release"', "JobsightAsOf": str(asked_at),
         "JobsightReleaseAfter": str(asked_at + VALID)},
    )  # fmt: skip
    # Held twice at once where its shadow evaluates the policy as well as the schedd.
    holds = pool.job(cluster)["NumHolds"]
    until(lambda: time.time() > asked_at + VALID, "the answer to expire")
    control = held(pool)
    acting.judged = lambda ads: answers_for(ad for ad in ads if ad["ClusterId"] == control)
    CondorClient(acting.condor).edit(
        f"ClusterId == {control}",
        {"JobsightAct": "true", "JobsightVerb": '"release"', "JobsightReleaseAfter": "0",
         "JobsightAsOf": str(int(time.time()))},
    )  # fmt: skip
    released(pool, control)
    assert (pool.job(cluster)["JobStatus"], pool.job(cluster)["NumHolds"]) == (5, holds)


def slow_edits(pool: HtcondorPool, condor: CondorSettings) -> CondorSettings:
    """The same tools, of which an edit takes a while."""
    assert condor.bin is not None
    folder = pool.folder / "slow-tools"
    shutil.copytree(condor.bin, folder)
    tool = folder / "condor_qedit"
    tool.write_text(tool.read_text().replace("#!/bin/sh\n", "#!/bin/sh\nsleep 0.2\n", 1))
    return CondorSettings(bin=folder)


def test_off_stops_in_the_middle_of_a_batch(pool: HtcondorPool) -> None:
    held(pool, 60)
    acting = Acting(pool, removal=True)  # the policy of the pool removes none
    acting.condor = slow_edits(pool, acting.condor)
    acting.judged = lambda ads: [
        answer_for(ad, "remove", ad["ProcId"] % 20 / 20, reason=f"group {ad['ProcId'] % 30}")
        for ad in ads
    ]
    said: list[str] = []
    worker = threading.Thread(target=lambda: said.append(acting.writeback().round()))
    worker.start()
    until(lambda: len([r for r in acting.records() if r["what"] == "result"]) >= 3, "some edits")
    begun = time.monotonic()
    shown = run(pool, "acting", "off", folder=str(acting.folder))
    worker.join()
    assert time.monotonic() - begun < 5
    assert "stopped" in said[0]
    assert "taken back" in shown
    assert marks(pool) == []
    kinds = [record["what"] for record in acting.records()]
    assert kinds.count("intent") == kinds.count("result") < 60
    assert "intent" not in kinds[kinds.index("off") :]
    assert "nothing is done" in acting.writeback().round()
    run(pool, "acting", "on", folder=str(acting.folder))
    acting.writeback().round()
    assert len(marks(pool)) == 60


def test_a_round_that_was_killed_is_finished_by_the_next(pool: HtcondorPool) -> None:
    held(pool, 60)
    acting = Acting(pool)
    acting.judged = lambda ads: [answer_for(ad, "fix", ad["ProcId"] / 60) for ad in ads]
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            acting.writeback().round()
        os._exit(0)
    until(lambda: [r["what"] for r in acting.records()].count("result") >= 3, "some edits")
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    before = acting.records()
    acting.writeback().round()
    after = acting.records()
    assert after[: len(before)] == before
    # The edit under way when it was killed may have been made, or not.
    edited = sum(record.get("edited", 0) for record in after)
    lost = [r for r in before if r["what"] == "intent"][len(_results(before)) :]
    assert 60 - 60 * len(lost) <= edited <= 60
    assert len(pool.queue('JobsightVerb =?= "fix"')) == 60


def _results(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [record for record in records if record["what"] == "result"]


def test_a_schedd_that_is_away_is_an_error_until_it_is_back(pool: HtcondorPool) -> None:
    cluster = held(pool)
    acting = Acting(pool)
    judged: list[Answer] = answers_for(pool.queue("JobStatus == 5"))

    def away(ads: Sequence[Mapping[str, Any]]) -> list[Answer]:
        pool.kill("schedd")
        return judged

    acting.judged = away
    with pytest.raises(SourceError):
        acting.writeback().round()
    until(lambda: pool.queue(f"ClusterId == {cluster}"), "the schedd to be back")
    acting.judged = answers_for
    acting.writeback().round()
    released(pool, cluster)


def test_the_loop_ends_on_a_signal(pool: HtcondorPool) -> None:
    line = command(pool, "acting", "run", mode="observe")
    loop = subprocess.Popen(line, stderr=subprocess.PIPE, text=True)
    assert loop.stderr is not None
    assert "round" in loop.stderr.readline()
    second = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (second.returncode, "acts already" in second.stderr) == (1, True)
    loop.terminate()
    assert loop.wait(20) == 0
    loop.stderr.close()


FORGED = {
    "JobsightAct": "true", "JobsightVerb": '"release"', "JobsightAsOf": "time()",
    "JobsightReleaseAfter": "0", "JobsightFailure": "0.0", "JobsightStart": "1",
}  # fmt: skip


@pytest.mark.parametrize("more", [{}, {"max_materialize": 1}])
def test_a_submission_brings_no_answer_along(pool: HtcondorPool, more: dict[str, Any]) -> None:
    forged: dict[str, Any] = {f"My{name}": value for name, value in FORGED.items()}
    cluster = pool.submit(periodic_hold=HELD_ONCE, **forged, **more)
    ad = pool.wait_held(cluster)
    assert {name.lower(): value for name, value in ad.items() if "jobsight" in name.lower()} == (
        dict.fromkeys(map(str.lower, FORGED))
    )


def test_users_edit_no_answer(pool: HtcondorPool) -> None:
    cluster = held(pool)
    Acting(pool).writeback("advise").round()
    before = pool.job(cluster)
    for name, value in FORGED.items():
        with pytest.raises(BedError):
            pool.run("condor_qedit", str(cluster), f"{name}={value}", user="alice")
    assert {name: pool.job(cluster).get(name) for name in ATTRIBUTES} == {
        name: before.get(name) for name in ATTRIBUTES
    }


def test_jobs_write_no_answer_into_their_own_ads(pool: HtcondorPool) -> None:
    """By condor_chirp, which may set other attributes."""
    attributes = {**FORGED, "JobsightAsOf": "$(($(date +%s) + 30))", "Harmless": "1"}
    chirp = "/usr/libexec/condor/condor_chirp set_job_attr"
    script = "; ".join(f"{chirp} {name} {value}" for name, value in attributes.items())
    cluster = pool.submit(f"{script}; exit 3", on_exit_hold="true", MyWantIOProxy="true")
    ad = pool.wait_held(cluster)
    assert ad["Harmless"] == 1
    assert not {"JobsightAsOf", *ATTRIBUTES} & set(ad)


def test_holds_of_users_are_left_alone(pool: HtcondorPool) -> None:
    cluster = pool.submit(hold="true")
    pool.wait_held(cluster)
    Acting(pool).writeback().round()
    assert "JobsightVerb" not in pool.job(cluster)


def test_a_schedd_that_refuses_is_an_error_and_in_the_log(pool: HtcondorPool) -> None:
    held(pool)
    acting = Acting(pool, user="bob")
    with pytest.raises(SourceError, match="condor_qedit"):
        acting.writeback().round()
    assert "condor_qedit" in acting.records()[-1]["error"]


def test_jobs_that_left_meanwhile_are_no_error(pool: HtcondorPool) -> None:
    cluster = held(pool)
    acting = Acting(pool)

    def judged(ads: Sequence[Mapping[str, Any]]) -> list[Answer]:
        pool.release(cluster)
        return answers_for(ads)

    acting.judged = judged
    acting.writeback().round()
    assert acting.records()[-1]["edited"] == 0


def test_nothing_is_done_that_cannot_be_written_down(pool: HtcondorPool) -> None:
    cluster = held(pool)
    acting = Acting(pool)
    (acting.folder / "decisions.jsonl").mkdir()
    with pytest.raises(OutputError, match="cannot be written down"):
        acting.writeback().round()
    assert "JobsightVerb" not in pool.job(cluster)
    assert Switch(acting.folder).refusal() is None
