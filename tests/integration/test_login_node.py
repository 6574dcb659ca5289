"""Answers on a login node: nothing is set up, and the scheduler's tools say what they say to users.

Real clusters, as alice and bob.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.limits import prove
from tests.support.users import User
from tests.testbed import HtcondorPool, SlurmCluster
from tests.testbed.namespace import until

from jobsight.answering import machine
from jobsight.history.slurm.client import SlurmClient
from jobsight.settings import MachineSettings, Settings, SlurmSettings
from jobsight.store import open_store

_SCRIPT = "#!/bin/bash\n#SBATCH --time=5\n#SBATCH --mem=100\nsleep 3\n"


def test_a_user_of_slurm_gets_every_answer_without_a_store(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    failed = cluster.submit("exit 3")
    waits = cluster.submit("exit 0", "--begin=now+3600")
    cluster.wait_accounted(failed)
    alice = User("alice", cluster.bin, tmp_path)
    (alice.home / "job.sh").write_text(_SCRIPT)
    pending = alice.run("start", "--pending").stdout
    assert waits in pending
    assert "BeginTime" in pending
    assert 0 < alice.json("fail", "job.sh")["probability"] < 1
    assert waits in alice.json("start", waits)["job"]
    assert "exit code 3" in alice.run("job", failed).stdout
    assert "exit 0" in alice.json("job", waits)[0]["submission"]["script"]
    assert alice.json("bound", waits)["class"]
    known = alice.jobs()
    assert (known[failed], known[waits]) == ("failed", "pending")
    cluster.cancel(waits)
    cluster.wait_accounted(waits)
    assert alice.jobs()[waits] == "cancelled"


def test_what_slurm_says_of_a_waiting_job_is_in_its_answer(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    failed = cluster.submit("exit 3", "--job-name=prep")
    runs = cluster.submit("sleep 300", "--job-name=sim", "--time=30", user="bob")
    vain, later = (
        cluster.submit("exit 0", f"--dependency=afterok:{job}") for job in (failed, runs)
    )
    held = cluster.submit("exit 0", "--hold")
    begins = cluster.submit("exit 0", "--begin=now+3600")
    cluster.wait_accounted(failed)
    until(
        lambda: "NeverSatisfied" in cluster.run("squeue", "-h", "-j", vain, "-o", "%r"),
        "Slurm to see that a dependency failed",
    )
    cluster.wait_running(runs)
    alice = User("alice", cluster.bin, tmp_path)
    answers = {job: alice.json("start", job) for job in (vain, later, held, begins)}
    assert f"job {failed} (prep, failed, exit code 3)" in answers[vain]["blocked"]
    assert f"job {runs} (sim, running)" in answers[later]["waits_for"][0]
    assert answers[later]["wait_s"] is None
    assert answers[later]["not_before"]
    assert f"`scontrol release {held}`" in answers[held]["blocked"]
    begin = answers[begins]
    assert begin["start"][0][:19] == begin["scheduler_estimate"][:19]
    for words in (("update", f"JobId={vain}", "Dependency="), ("release", held)):
        cluster.run("scontrol", *words, user="alice")  # as the answers say
    cluster.wait_accounted(vain)
    cluster.wait_accounted(held)
    for job in (runs, later, begins):
        cluster.cancel(job)


def test_an_answer_asks_at_most_four_times_once_it_is_warm(
    cluster: SlurmCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Counter[str]] = []
    run = SlurmClient.run

    def counted(client: SlurmClient, tool: str, *words: str) -> str:
        calls[-1][tool] += 1
        return run(client, tool, *words)

    monkeypatch.setattr(SlurmClient, "run", counted)
    settings = Settings(
        slurm=SlurmSettings(bin=User("alice", cluster.bin, tmp_path).home / "bin"),
        machine=MachineSettings(folder=tmp_path / "own", every=0),
    )
    for _ in range(3):
        cluster.wait_accounted(cluster.submit("exit 0"))
        calls.append(Counter())
        url = machine.own_history(settings, lambda _step: None, print)
    assert max(call.total() for call in calls[1:]) <= 4, calls
    with open_store(url) as store:
        assert len(list(store.scan())) >= 3


def test_the_rest_of_the_past_is_read_in_the_background(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    cluster.wait_accounted(cluster.submit("exit 0"))
    alice = User(
        "alice", cluster.bin, tmp_path, machine__background="true", machine__patience="0.001"
    )
    assert "which goes on in the background" in alice.run("jobs").stderr

    def read() -> bool:
        with open_store(str(alice.home / ".cache/jobsight/machine/jobs.db")) as store:
            (position,) = store.positions().values()
            return "unread" not in position

    until(read, "the rest of the past to be read", timeout=60)
    assert "background" not in alice.run("jobs").stderr


@contextmanager
def _own_cluster(**settings: Any) -> Iterator[SlurmCluster]:
    with SlurmCluster(**settings) as cluster:
        yield cluster


@pytest.mark.parametrize("version", ["24.11", pytest.param("22.05", marks=prove)])
def test_where_data_is_private_each_user_knows_their_own_jobs_also_without_slurmdbd(
    version: str, bed_ready: None, tmp_path: Path
) -> None:
    with _own_cluster(version=version, settings=("PrivateData=jobs",)) as cluster:
        own = {user: cluster.submit("exit 3", user=user) for user in ("alice", "bob")}
        waits = {user: cluster.submit("exit 0", "--begin=now+3600", user=user) for user in own}
        for job in own.values():
            cluster.wait_accounted(job)
        users = {name: User(name, cluster.bin, tmp_path) for name in own}
        for name, user in users.items():
            assert user.jobs() == {own[name]: "failed", waits[name]: "pending"}
            assert user.json("start", waits[name])["only_jobs_of"] == name
        cluster.stop_slurmdbd()
        later = cluster.submit("exit 0", "--begin=now+3600", user="alice")
        alice = users["alice"]
        ended = alice.run("start", later)
        assert "BeginTime" in ended.stdout
        assert "what is known may be old: sacct" in ended.stderr
        assert alice.jobs().keys() == {own["alice"], waits["alice"], later}


@prove
def test_a_cluster_without_accounting_answers_from_its_queue(
    bed_ready: None, tmp_path: Path
) -> None:
    with _own_cluster(accounting=False) as cluster:
        waits = cluster.submit("exit 0", "--begin=now+3600")
        alice = User("alice", cluster.bin, tmp_path)
        ended = alice.run("start", "--pending")
        assert "BeginTime" in ended.stdout
        assert "Slurm keeps no accounts here" in ended.stderr
        assert alice.jobs() == {waits: "pending"}


def test_a_user_of_htcondor_gets_answers_without_a_store_or_the_event_log(
    condor_pool: HtcondorPool, tmp_path: Path
) -> None:
    held = condor_pool.submit_text("executable=/no/program\ntransfer_executable=false\nqueue\n")
    failed = condor_pool.submit_text("executable=/bin/sh\narguments=-c 'exit 3'\nqueue\n")
    condor_pool.wait_held(held)
    condor_pool.wait(failed)
    # Root may read every event log.
    alice = User("alice", condor_pool.bin, tmp_path, eventlog__paths="[]")
    (answer,) = alice.json("hold", str(held))
    assert (answer["answer"], answer["owner"]) == ("fix", "alice")
    known = alice.jobs()
    assert (known[f"{held}.0"], known[f"{failed}.0"]) == ("held", "failed")
    assert "held" in alice.run("fail", f"{held}.0").stdout
    condor_pool.remove(held)
    condor_pool.wait(held)
    assert alice.jobs()[f"{held}.0"] == "cancelled"


def test_without_a_scheduler_the_error_says_what_to_name(tmp_path: Path) -> None:
    alice = User("alice", tmp_path / "none", tmp_path, eventlog__paths="[]")
    ended = alice.run("start", "--pending", status=2)
    assert "--store URL" in ended.stderr
    assert "no tools of Slurm (squeue) or HTCondor" in ended.stderr
