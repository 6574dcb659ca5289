"""A user of a real access point whose global event log is not read: tools and user logs alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.calling import jobsight
from tests.support.growing import read_at_once
from tests.testbed import HtcondorPool
from tests.testbed.namespace import until

from jobsight.documents import JobDocument, State
from jobsight.errors import SourceError
from jobsight.history.condor.client import CondorClient
from jobsight.history.condor.poller import CondorSource
from jobsight.history.eventlog.terms import GATHERED
from jobsight.settings import CondorSettings
from jobsight.store import Move, Store

POINT = "ap.testbed.example"


@pytest.fixture
def pool(bed_ready: None) -> Iterator[HtcondorPool]:
    with HtcondorPool() as started:
        yield started


class Poller:
    """Polls the pool as alice, each time from the position in the store, as a command does."""

    def __init__(self, pool: HtcondorPool, store: Store, **settings: Any) -> None:
        # The tools run inside as alice; a prefix that ends with env hands on no settings of ours.
        prefix = pool.namespace.command([], "alice", processes=False)
        self.settings = CondorSettings(**{"user": "alice", "prefix": tuple(prefix)} | settings)
        self.store = store
        self.schedd: str | None = None

    def poll(self) -> CondorSource:
        client = CondorClient(self.settings, schedd=self.schedd)
        source = CondorSource(client, POINT, self.settings)
        saved = self.store.position(source.name)
        source.resume(saved, self.store.active)
        more = True
        while more:
            observed = source.poll()
            assert observed is not None
            self.store.merge(observed.documents, [Move(source.name, saved, observed.position)])
            saved, more = observed.position, observed.more
            assert not observed.missed
        assert set(client.calls.values()) <= {1}
        return source

    def job(self, cluster: int, proc: int = 0) -> JobDocument:
        id_ = f"htcondor:{POINT}:{cluster}.{proc}"
        return self.store.get([id_])[id_].document

    def until(self, true: Callable[[], bool], what: str) -> None:
        until(lambda: (self.poll(), true())[1], what, timeout=60, pause=0.3)


def log_of(pool: HtcondorPool, name: str) -> Path:
    folder = pool.namespace.own(pool.folder / "work" / "logs", "alice")
    return folder / f"{name}.log"


def codes(document: JobDocument, source: str = "") -> list[int]:
    of_source = (entry for entry in document.timeline if entry.source.startswith(source))
    return [entry.code for entry in of_source if entry.code is not None]


def answers(store: Store, question: str, *jobs: int) -> dict[str, dict[str, Any]]:
    """What ``jobsight QUESTION`` answers of jobs, on a machine without HTCondor."""
    names = [f"{job}.0" for job in jobs]
    run = jobsight(question, *names, "--store", store.url, "--json")
    assert not run.returncode, run.stderr
    found = json.loads(run.stdout)
    return {one["job"]: one for one in (found if isinstance(found, list) else [found])}


def submitted(pool: HtcondorPool) -> dict[str, int]:
    """Jobs of every kind, those called bare without a log."""
    jobs: dict[str, dict[str, Any]] = {
        "ends": {}, "ends bare": {}, "fails": {"script": "exit 3"}, "waits": {"hold": True},
        "held": {"script": "sleep 300", "MyMaxSeconds": 1},
        "held bare": {"script": "sleep 300", "MyMaxSeconds": 1},
        "idle": {"requirements": "false"}, "idle bare": {"requirements": "false"},
        "runs": {"script": "sleep 300"}, "runs bare": {"script": "sleep 300"},
    }  # fmt: skip
    for name, commands in jobs.items():
        if "bare" not in name:
            commands["log"] = log_of(pool, name)
    return {name: pool.submit(**commands) for name, commands in jobs.items()}


def dag(pool: HtcondorPool) -> None:
    """A DAG of one node without a log of its own."""
    folder = pool.namespace.own(pool.folder / "work" / "dag", "alice")
    node = "executable = /bin/true\nrequest_memory = 64\nrequest_disk = 1MB\nqueue\n"
    for name, text in (("a.sub", node), ("x.dag", "JOB A a.sub\n")):
        (folder / name).write_text(text)
    words = ("env", "-C", str(folder), "condor_submit_dag", "-force", "x.dag")
    pool.run(*words, user="alice")


def test_a_user_is_answered_as_if_the_global_log_had_been_followed(
    pool: HtcondorPool, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    poller = Poller(pool, store)
    jobs = submitted(pool)
    dag(pool)
    for name in ("held", "held bare"):
        pool.wait_held(jobs[name])
    for name in ("runs", "runs bare"):
        pool.wait_running(jobs[name])
    for name in ("ends", "ends bare", "fails"):
        pool.wait(jobs[name])
    source = poller.poll()
    assert source.problem is None and source.status()["ads_refused"] == 0
    assert {name: poller.job(cluster).state for name, cluster in jobs.items()} == {
        "ends": State.COMPLETED, "ends bare": State.COMPLETED, "fails": State.FAILED,
        "waits": State.HELD, "held": State.HELD, "held bare": State.HELD, "idle": State.PENDING,
        "idle bare": State.PENDING, "runs": State.RUNNING, "runs bare": State.RUNNING,
    }  # fmt: skip
    held = answers(store, "hold", jobs["held"], jobs["held bare"], jobs["waits"])
    assert [(one["hold_code"], one["hold_subcode"]) for one in held.values()] == [
        (26, 120), (26, 120), (15, None),
    ]  # fmt: skip
    assert {one["owner"] for one in held.values()} == {"alice"}
    names = ("held", "held bare", "idle", "idle bare", "runs")
    assert len(answers(store, "fail", *(jobs[name] for name in names))) == len(names)

    runs, bare = jobs["runs"], jobs["runs bare"]
    for cluster in (runs, bare):
        pool.hold(cluster)
    poller.until(lambda: poller.job(bare).state is poller.job(runs).state is State.HELD, "holds")
    for cluster in (runs, bare):
        pool.release(cluster)
    poller.until(lambda: poller.job(bare).usage.starts == 2, "a second start")
    pool.run("condor_vacate_job", str(bare))
    poller.until(lambda: poller.job(bare).usage.starts == 3, "a third start")
    assert poller.job(bare).usage.holds == 1
    assert 12 in codes(poller.job(bare))

    for cluster in jobs.values():
        pool.run("condor_rm", str(cluster), user="alice", check=False)
    poller.until(lambda: not any(store.active(f"htcondor:{POINT}")), "all jobs to end")
    ends = {ad["ClusterId"]: ad for ad in pool.history('Owner == "alice"')}
    assert all(
        (poller.job(cluster).state is State.CANCELLED) == (ends[cluster]["JobStatus"] == 3)
        for cluster in jobs.values()
    )
    written = as_written(pool)
    for name, cluster in jobs.items():
        if "bare" not in name:
            logged = codes(poller.job(cluster), GATHERED)
            assert logged == codes(written[f"htcondor:{POINT}:{cluster}.0"]), name
            assert {12, 13} <= set(logged) if name == "runs" else True
    nodes = [ad["ClusterId"] for ad in ends.values() if ad.get("DAGNodeName") == "A"]
    node = poller.job(nodes[0])
    assert node.submission.dag is not None and node.submission.dag.endswith(":A")
    assert {0, 1, 5} <= set(codes(node, GATHERED))


def as_written(pool: HtcondorPool) -> dict[str, JobDocument]:
    """What the global event log has."""
    return read_at_once(sorted(pool.event_log.parent.glob("EventLog*")))


def test_a_schedd_elsewhere_or_one_that_is_down(pool: HtcondorPool, store: Store) -> None:
    poller = Poller(pool, store)
    cluster = pool.submit(hold=True, log=log_of(pool, "elsewhere"))
    ended = pool.submit("exit 0")
    poller.schedd = POINT
    poller.poll()
    held = poller.job(cluster)
    assert (held.state, codes(held, GATHERED)) == (State.HELD, [0])
    assert held.timeline[-1].hold_code == 15
    poller.schedd = "nowhere.example"
    with pytest.raises(SourceError, match=r"nowhere\.example|no record"):
        poller.poll()
    pool.wait(ended)
    for daemon in ("master", "schedd"):  # the one would start the other again
        pool.kill(daemon)
    poller.schedd = None
    source = poller.poll()
    assert source.problem is not None and "condor_q" in source.problem
    assert poller.job(ended).state is State.COMPLETED
    assert poller.job(cluster).state is State.HELD
