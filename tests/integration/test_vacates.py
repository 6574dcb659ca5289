"""What a real schedd does with jobs that it vacates, or that its policies remove."""

import json
from pathlib import Path
from typing import Any

from tests.support.calling import jobsight
from tests.testbed.condor import HtcondorPool

from jobsight.history.condor.client import CondorClient
from jobsight.history.eventtables import queue_table
from jobsight.history.timelines import History
from jobsight.settings import CondorSettings


def log_of(pool: HtcondorPool, name: str) -> Path:
    return pool.namespace.own(pool.folder / "work" / "vacates", "alice") / f"{name}.log"


def test_a_job_vacated_by_a_failed_transfer_is_asked_about_like_a_held_one(
    condor_pool: HtcondorPool,
) -> None:
    """With a cool-down HTCondor does not hold it; 23.9 writes the 004 without codes."""
    condor_pool.configure(["SYSTEM_ON_VACATE_COOL_DOWN = CoolDown ?: 0"])
    condor_pool.fail(origin="again", status=11, message="Pelican Client Error: timeout")
    log, other = log_of(condor_pool, "again"), log_of(condor_pool, "other")
    job = condor_pool.submit(transfer_input_files="testbed://again/a", MyCoolDown=600, log=log)
    evicted = condor_pool.submit("sleep 300", log=other, MyCoolDown=600)
    condor_pool.wait_running(evicted)
    condor_pool.run("condor_vacate_job", str(evicted))
    for cluster in (job, evicted):
        condor_pool.wait_for(
            cluster, lambda ad: ad["JobStatus"] == 1 and "LastVacateTime" in ad, "to be vacated"
        )
    try:
        said = jobsight("hold", f"{job}.0", "--log", str(log), "--model", "none", "--json")
        found = json.loads(said.stdout)
        assert (found["vacated"], found["hold_code"], found["answer"]) == (True, 13, "unsure")
        assert "testbed://again/a" in found["reason"]
        # As condor_q has it, which knows the codes.
        ads = CondorClient(CondorSettings(bin=condor_pool.bin)).held([f"{job}.0", f"{evicted}.0"])
        history = History.from_table(queue_table(ads, "ap"))
        asked = history.table.filter(history.vacated)
        assert asked.select("cluster", "hold_code", "hold_subcode").rows() == [(job, 13, 2816)]
        said = jobsight("hold", f"{evicted}.0", "--log", str(other), "--model", "none")
        assert said.returncode == 1 and "it was evicted and waits to start" in said.stderr
    finally:
        condor_pool.mend(origin="again")
        condor_pool.remove(job)
        condor_pool.remove(evicted)


def test_a_removal_by_a_policy_is_a_failure_with_its_cause(
    condor_pool: HtcondorPool, tmp_path: Path
) -> None:
    rules: dict[str, dict[str, Any]] = {
        "time": {"periodic_remove": "JobStatus == 2 && time() - JobCurrentStartDate > 1"},
        "memory": {"periodic_remove": "JobStatus == 2 && ResidentSetSize > 1"},
        "held": {"periodic_hold": "JobStatus == 2", "periodic_remove": "(JobStatus == 5 && time() "
                 "- EnteredCurrentStatus > 1) || RemoteWallClockTime > 1000"},
    }  # fmt: skip
    logs = {name: log_of(condor_pool, name) for name in (*rules, "person")}
    jobs = {
        name: condor_pool.submit("sleep 300", log=logs[name], **rules.get(name, {}))
        for name in logs
    }
    condor_pool.wait_running(jobs["person"])
    condor_pool.run("condor_rm", "-reason", "too much memory", str(jobs["person"]))
    for job in jobs.values():
        condor_pool.wait(job)
    store = ("--store", str(tmp_path / "jobs.db"))
    assert not jobsight("import", *map(str, logs.values()), *store).returncode
    states, causes = {}, {}
    for name, job in jobs.items():
        shown = jobsight("job", f"{job}.0", *store).stdout
        states[name] = shown.split()[0]
        causes[name] = shown.partition("  why ")[2].splitlines()[0].strip()
    assert states == {
        "time": "TIMEOUT", "memory": "OUT_OF_MEMORY", "held": "FAILED", "person": "CANCELLED",
    }  # fmt: skip
    assert causes["time"].endswith("it ran longer than that allows")
    assert causes["memory"].endswith("it used more memory than that allows")
    assert causes["held"].endswith("it was held too long")
    assert "a policy" not in causes["person"]
    said = jobsight("hold", f"{jobs['held']}.0", "--log", str(logs["held"])).stderr
    assert "a policy removed it at" in said
