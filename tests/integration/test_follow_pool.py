"""A real pool whose event log rotates every few kilobytes, followed through restarts."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from tests.support.calling import jobsight
from tests.support.growing import Follower, read_at_once
from tests.support.limits import limit
from tests.testbed import EventLogOptions, HtcondorPool

from jobsight.clock import format_micros
from jobsight.documents import State
from jobsight.ids import JobId
from jobsight.questions.hold.answering.advice import Group

JOBS = 12
DOCUMENTED = Path(__file__).parents[2] / "docs" / "collecting.md"
DEADLINE = 120.0


def _attributes() -> tuple[str, ...]:
    """The attributes that the documentation recommends for the event log."""
    found = re.search(r"_INFORMATION_ATTRS = ((?:[^\n]*\\\n)*[^\n]*)", DOCUMENTED.read_text())
    assert found is not None
    return tuple(re.findall(r"\w+", found[1]))


def _run(pool: HtcondorPool, one: Follower) -> dict[str, int]:
    """Jobs that succeed, fail, are held, released and removed, followed meanwhile."""
    chance = random.Random(5)
    asked = {
        "ends": pool.submit("exit 0", count=JOBS),
        "fails": pool.submit("exit 3", count=3),
        "held": pool.submit("sleep 60", count=3, MyMaxSeconds=1),
        "waits": pool.submit("exit 0", hold=True),
        "stays": pool.submit("exit 0", leave_in_queue="JobStatus == 4", batch_name="night's work"),
    }
    begun = time.monotonic()
    released = False
    while time.monotonic() - begun < limit(DEADLINE):
        one.poll()
        if chance.random() < 0.1:
            one.close()
            one.restart()
        time.sleep(chance.random() / 5)
        if chance.random() < 0.1:
            queue = pool.queue()
            held = [ad["ClusterId"] for ad in queue if ad["JobStatus"] == 5]
            stays = {ad["JobStatus"] for ad in queue if ad["ClusterId"] == asked["stays"]}
            if not released and held.count(asked["held"]) == 3 and stays == {4}:
                one.catch_up()
                assert set(_states(one, asked["waits"]).values()) == {State.HELD}
                pool.remove(asked["stays"])
                pool.release(asked["waits"])
                pool.remove(asked["held"])
                released = True
            if not queue:
                return asked
    raise AssertionError(f"jobs are left: {pool.queue()}")


@pytest.mark.parametrize("form", ["ISO_DATE", "JSON"])
def test_nothing_is_lost_nor_doubled(bed_ready: None, form: str) -> None:
    options = EventLogOptions(
        max_size=3000, max_rotations=300, format_options=form, attributes=_attributes()
    )
    with HtcondorPool(event_log_options=options) as pool:
        log = pool.event_log
        one = Follower(log, events_per_poll=7)
        asked = _run(pool, one)
        time.sleep(1)
        one.catch_up()
        one.close()
        files = sorted(log.parent.glob("EventLog*"))
        status = one.source.status()
        assert len(files) > 5
        assert status["gaps"] == status["skipped"] == 0, status
        assert one.documents == read_at_once(files)
        assert len(_states(one, asked["ends"])) == JOBS
        for cluster in (asked["ends"], asked["fails"]):
            assert _states(one, cluster) == _told(pool, cluster)
        assert State.COMPLETED in _states(one, asked["ends"]).values()
        assert set(_states(one, asked["fails"]).values()) == {State.FAILED}
        assert set(_states(one, asked["waits"]).values()) == {State.COMPLETED}
        stays = one.documents[f"htcondor:ap.testbed.example:{asked['stays']}.0"]
        assert (stays.state, stays.timeline[-2].code) == (State.COMPLETED, 9)
        assert stays.submission.name == "night's work"
        names = {document.submission.name for document in one.documents.values()}
        assert all(name == "night's work" or name.startswith("job-") for name in names if name)
        assert None not in names
        for ad in pool.history(f"ClusterId == {asked['held']}"):
            job = f"{ad['ClusterId']}.{ad['ProcId']}"
            document = one.documents[f"htcondor:ap.testbed.example:{job}"]
            codes = [entry.code for entry in document.timeline]
            assert document.state is State.CANCELLED
            # NumHolds counts a hold of a running job by policy twice (23.9).
            assert (codes.count(12), codes.count(1)) == (1, ad["NumJobStarts"])


def _states(one: Follower, cluster: int) -> dict[str, State | None]:
    """What was followed of the jobs of a cluster: the state of each."""
    mark = f"htcondor:ap.testbed.example:{cluster}."
    return {key: one.documents[key].state for key in one.documents if key.startswith(mark)}


def _told(pool: HtcondorPool, cluster: int) -> dict[str, State | None]:
    """What HTCondor itself tells of them: a job of an unlucky machine may end otherwise."""
    return {
        f"htcondor:ap.testbed.example:{cluster}.{ad['ProcId']}": State.COMPLETED
        if ad.get("ExitCode") == 0
        else State.FAILED
        for ad in pool.history(f"ClusterId == {cluster}")
    }


def _answered(clusters: dict[str, int], *options: str) -> dict[str, dict[str, Any]]:
    """What ``jobsight hold`` answers for the held ones of these jobs, with their commands."""
    run = jobsight("hold", *(f"{one}.0" for one in clusters.values()), *options, "--json")
    found = {one["job"]: one for one in json.loads(run.stdout)}
    return {
        name: one | {"commands": [step["command"] for step in one["advice"]["steps"]]}
        for name, cluster in clusters.items()
        if (one := found.get(f"{cluster}.0"))
    }


@pytest.mark.parametrize("attributes", [(), _attributes()], ids=["plain", "ads"])
def test_policies_that_hold_or_remove_jobs_are_read(
    bed_ready: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, attributes: tuple[str, ...]
) -> None:
    over = "JobStatus == 2 && (time() - EnteredCurrentStatus > 2)"
    with HtcondorPool(event_log_options=EventLogOptions(attributes=attributes)) as pool:
        removed = pool.submit("sleep 300", periodic_remove=over)
        asked = {
            "over": pool.submit("sleep 300", periodic_hold=over),
            "slow": pool.submit("sleep 300", periodic_hold=over, periodic_hold_reason='"slow"'),
            "fails": pool.submit("exit 1", on_exit_hold="ExitCode != 0"),
            "lacks": pool.submit(
                transfer_output_files="none", periodic_hold="JobStatus == 1 && NumJobStarts > 0"
            ),
            "waits": pool.submit("exit 0", hold=True),
        }
        for cluster in asked.values():
            pool.wait_held(cluster)
        pool.wait(removed)
        monkeypatch.setenv("PATH", f"{pool.bin}:{os.environ['PATH']}")
        for name, value in (("XDG_CACHE_HOME", tmp_path), ("JOBSIGHT_STORE", tmp_path / "s.db")):
            monkeypatch.setenv(name, str(value))
        log = ("--log", str(pool.event_log))
        found = _answered(asked, *log)
        at = format_micros(time.time_ns() // 1000)
        alone = _answered(asked, *log, "--timezone", "UTC", "--at", at.removesuffix("Z"))
        imported = jobsight("import", pool.event_log)
        ended = jobsight("job", f"{removed}.0")
    policies = {"over": "PeriodicHold", "slow": "PeriodicHold", "fails": "OnExitHold"}
    for name, policy in policies.items():
        one, job = found[name], f"{asked[name]}.0"
        assert (one["answer"], one["probability"]) == ("fix", None)
        assert one["commands"] == [
            None, f"condor_qedit {job} {policy} false", f"condor_release {job}",
        ]  # fmt: skip
        if name != "slow":  # of which the log has its own words alone
            assert alone[name]["commands"] == one["commands"]
    assert "exit code 1" in found["fails"]["advice"]["steps"][0]["text"]
    lacks, job = found["lacks"], f"{asked['lacks']}.0"
    assert "never wrote none" in lacks["advice"]["steps"][0]["text"]
    assert lacks["commands"][1] == f"condor_qedit {job} PeriodicHold false"
    # Without attributes the log does not say which policy; with them, not what it asks for.
    command = f"condor_qedit {asked['slow']}.0 PeriodicHold false"
    shown = f"condor_q {asked['slow']}.0 -af:ln PeriodicHold OnExitHold PeriodicRemove"
    assert (command if attributes else shown) in alone["slow"]["commands"]
    waits = found["waits"]
    assert (waits["answer"], waits["hold_code"]) == ("user_hold", 15)
    assert waits["commands"] == [f"condor_release {asked['waits']}.0"]
    # Without the queue the log must have the job's ad.
    assert ("waits" in alone) is bool(attributes)
    assert imported.returncode == 0
    assert ended.stdout.startswith("TIMEOUT")
    assert "PeriodicRemove" in ended.stdout


@pytest.mark.parametrize("site", ["ALPHA", "BETA"])
def test_the_step_that_keeps_a_job_off_a_site_is_obeyed(
    condor_pool: HtcondorPool, site: str
) -> None:
    cluster = condor_pool.submit(hold=True, requirements="TARGET.Memory > 0")
    step = Group([JobId(cluster, 0)], avoid=[site.lower()]).elsewhere()[0]
    environment = {"PATH": f"{condor_pool.bin}:/bin", "JOBSIGHT_TESTBED_USER": "alice"}
    subprocess.run(["sh", "-c", str(step.command)], check=True, env=environment)
    asked = condor_pool.job(cluster)["Requirements"]
    condor_pool.release(cluster)
    (ended,) = condor_pool.wait(cluster)
    assert site.lower() not in str(ended["LastRemoteHost"]).lower(), asked
