"""Job notices of real Slurm and real HTCondor, over a real broker."""

from __future__ import annotations

from pathlib import Path

from tests.integration.noticing import Collecting, notice, settings, stored
from tests.testbed.condor import HtcondorPool
from tests.testbed.kafka import KafkaBroker
from tests.testbed.namespace import until
from tests.testbed.slurm import SlurmCluster

from jobsight.documents import State, slurm_id
from jobsight.history.condor.client import CondorClient
from jobsight.history.slurm.client import SlurmClient
from jobsight.service.notices.watching import CondorAsker, SlurmAsker
from jobsight.settings import CondorSettings, SlurmSettings
from jobsight.store import Store


def test_real_slurm_tells_by_jobcomp_and_is_asked_for_the_rest(
    bed_ready: None, kafka_broker: KafkaBroker, topic: str, store: Store, quick: Path
) -> None:
    name = topic.replace("notices-", "kc").replace("-", "x")
    with SlurmCluster(kafka=kafka_broker.bootstrap, name=name, nodes=1) as cluster:
        asked = SlurmSettings(bin=cluster.bin, cluster=name)
        told = settings(
            kafka_broker, topic, jobcomp={name: name}, collect_seconds=1.0, properties=quick
        )
        with Collecting(store, told, SlurmAsker(SlurmClient(asked), name, asked)) as worker:
            failed = cluster.submit("#SBATCH --job-name=bad\nsleep 1; exit 3")
            array = cluster.submit("exit 0", "--array=0-2")
            never = cluster.submit("exit 0", "--array=4-5", "--hold")
            cluster.cancel(never)
            running = cluster.submit("sleep 600")
            waits = cluster.submit("echo real", "--hold")
            says = {"state": "COMPLETED", "username": "root", "script": "#!/bin/sh\nevil\n"}
            ended = {"jobid": int(waits), "cluster": name, "@end": "2026-11-21T01:00:00", **says}
            named = [{"cluster": name, "job_id": job, **says} for job in (waits, 999_999)]
            kafka_broker.produce(topic, [ended, ended | {"jobid": 999_999}, *named])
            # Slurm 24.11 tells of ends alone: the start is told by a notice of ours.
            kafka_broker.produce(topic, [notice(running, "PENDING") | {"cluster": name}])
            until(lambda: stored(store).get(running) is State.RUNNING, "a running job", timeout=90)
            cluster.cancel(running)
            until(lambda: worker.snapshot()["source"]["poison"] == 2, "what is not believed")
            assert stored(store).get(waits) is State.HELD
            held = store.get([slurm_id(name, waits)])[slurm_id(name, waits)].document
            assert held.submission.user != "root"
            assert "echo real" in (held.submission.script or "")
            cluster.cancel(waits)
            wanted = {
                failed: State.FAILED,
                running: State.CANCELLED,
                waits: State.CANCELLED,
                **{f"{array}_{task}": State.COMPLETED for task in range(3)},
                **{f"{never}_{task}": State.CANCELLED for task in (4, 5)},
            }
            until(lambda: stored(store) == wanted, "all ends")
            until(lambda: worker.snapshot()["source"]["jobcomp"] == 7, "all messages")
            # Nobody knows the job 999999, which was noticed.
            until(
                lambda: worker.snapshot()["source"]["watched"] == 1, "nothing to watch", timeout=60
            )
        rows = {row["JobID"]: row for row in cluster.accounted("-X", fields="JobID,End,User")}
    found = store.get([slurm_id(name, failed)])[slurm_id(name, failed)].document
    assert found.outcome is not None
    assert found.outcome.exit_code == 3
    assert {"jobcomp", "sacct"} & {event.source for event in found.timeline}
    assert found.submission.user == rows[failed]["User"]
    assert found.submission.script is not None
    assert "exit 3" in found.submission.script
    ends = [event for event in found.timeline if event.state is not None and event.state.ended]
    assert len(ends) == 1, "what jobcomp and sacct tell of one end counts once"


def test_real_htcondor_is_asked_about_a_noticed_job(
    condor_pool: HtcondorPool, kafka_broker: KafkaBroker, topic: str, store: Store
) -> None:
    asker = CondorAsker(CondorClient(CondorSettings(bin=condor_pool.bin)), "ap.testbed.example")
    told = settings(kafka_broker, topic, collect_seconds=1.0)
    cluster = condor_pool.submit("sleep 3; exit 5", count=2)
    kafka_broker.produce(
        topic,
        [{"cluster": "ap.testbed.example", "job_id": f"{cluster}.{proc}"} for proc in range(2)],
    )
    with Collecting(store, told, asker) as worker:
        until(lambda: len(stored(store)) == 2, "two jobs")
        until(lambda: set(stored(store).values()) == {State.FAILED}, "their ends", timeout=90)
        until(lambda: worker.snapshot()["source"]["watched"] == 0, "nothing to watch")
    outcomes = [document.outcome for document in store.scan()]
    assert [one.exit_code for one in outcomes if one is not None] == [5, 5]
