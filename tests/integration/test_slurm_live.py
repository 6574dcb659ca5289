"""The Slurm source against real clusters, 24.11 and 22.05: afterwards it knows what they know."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.importing import imported, written
from tests.support.limits import PROVE, limit, prove
from tests.testbed.namespace import until
from tests.testbed.slurm import SlurmCluster

from jobsight.documents import JobDocument, State, merge
from jobsight.documents.states import slurm_state
from jobsight.errors import SourceError
from jobsight.history.importers import Options
from jobsight.history.slurm.client import FailureKind, SlurmClient, SlurmError
from jobsight.history.slurm.lookup import SlurmLookup
from jobsight.history.slurm.poller import SlurmSource
from jobsight.settings import SlurmSettings

HOSTILE = "a|b\n9|COMPLETED|0:0\x1f JobState=COMPLETED 'x' $(id) <b>"
"""Double quotes are missing: Slurm makes back ticks of them."""


class _Client(SlurmClient):
    """Remembers what it ran."""

    def __init__(self, settings: SlurmSettings) -> None:
        super().__init__(settings)
        self.log: list[tuple[str, ...]] = []

    def run(self, tool: str, *arguments: str) -> str:
        self.log.append((tool, *arguments))
        return super().run(tool, *arguments)


class Live:
    """A source on a real cluster, with a store in memory."""

    def __init__(self, cluster: SlurmCluster, **settings: object) -> None:
        self.cluster = cluster
        given = {"bin": cluster.bin, "interval": 0.2, "backoff_most": 0.5, "lookback": 0}
        self.settings = SlurmSettings.model_validate(given | {"details_per_poll": 200} | settings)
        self.documents: dict[str, JobDocument] = {}
        self.position: dict[str, object] | None = None
        self.scripts: list[str] = []
        self.restart()

    def restart(self) -> None:
        self.client = _Client(self.settings)
        self.source = SlurmSource(self.client, self.cluster.name, self.settings)
        self.source.resume(self.position, self._active)

    def _active(self, cluster: str | None) -> Iterator[JobDocument]:
        return iter([one for one in self.documents.values() if not (one.state and one.state.ended)])

    def poll(self) -> None:
        while (seen := self.source.poll()) is not None:
            for document in seen.documents:
                old = self.documents.get(document.id)
                self.documents[document.id] = merge(old, document)
            self.position = dict(seen.position)
            if not seen.more:
                break
        self.scripts += [call[3] for call in self.client.log if "write" in call]
        self.client.log.clear()

    def until(self, *ids: str, timeout: float = 60) -> None:
        """Poll until these jobs have ended."""

        def ended() -> bool:
            self.poll()
            return all((job := self.get(one)) and job.state and job.state.ended for one in ids)

        until(ended, f"{ids} to end", timeout=timeout)

    def get(self, job: str) -> JobDocument | None:
        return self.documents.get(f"slurm:{self.cluster.name}:{job}")

    def job(self, job: str) -> JobDocument:
        found = self.get(job)
        assert found is not None, f"no document of {job}"
        return found

    def words(self, job: str) -> list[str | None]:
        return [event.word for event in self.job(job).timeline if event.state]


def _as_accounted(live: Live, *jobs: str) -> None:
    """What the documents tell is what sacct tells, job by job, field by field."""
    fields = "JobID,JobIDRaw,State,ExitCode,User,Partition,ElapsedRaw,NodeList"
    rows = [row for job in jobs for row in live.cluster.accounted("-j", job, fields=fields)]
    assert rows
    for row in rows:
        document = live.job(row["JobID"])
        outcome = document.outcome
        assert outcome is not None
        assert outcome.state is slurm_state(row["State"])
        assert document.submission.user == row["User"]
        assert document.request.partition == row["Partition"]
        if row["NodeList"] != "None assigned":
            code, signal = (int(part) for part in row["ExitCode"].split(":"))
            assert (outcome.exit_code or 0, outcome.signal or 0) == (code, signal)
            assert document.usage.hosts == row["NodeList"]
            assert document.usage.wall_s == int(row["ElapsedRaw"])
            # A look that catches a job as it ends records that too, dated at its end.
            starts = [event for event in document.timeline if event.word == "RUNNING"]
            assert (outcome.ended or 0) - starts[-1].time == int(row["ElapsedRaw"]) * 1_000_000


def test_every_course_of_things(cluster: SlurmCluster) -> None:
    live = Live(cluster)
    live.poll()
    good = cluster.submit("sleep 1", "--comment=fine")
    bad = cluster.submit("exit 3")
    array = cluster.submit("exit $((SLURM_ARRAY_TASK_ID % 2))", "--array=0-3%2")
    het = cluster.submit("sleep 1", "-n1", ":", "-n1")
    held = cluster.submit("sleep 1", "--hold")
    stopped = cluster.submit("sleep 300")
    never = cluster.submit("sleep 1", "--hold")
    named = cluster.submit("exit 4", f"--job-name={HOSTILE}")
    refused = cluster.submit("sleep 1", "--partition=short", "--time=30")
    cluster.wait_running(stopped)
    for _ in range(3):
        live.poll()
        live.restart()
    assert live.job(held).state is State.HELD
    waiting = [event.reason for event in live.job(refused).timeline if event.reason]
    assert waiting == ["PartitionTimeLimit"]
    cluster.release(held)
    for job in (stopped, never, refused):
        cluster.cancel(job)
    ended = [good, bad, held, stopped, never, named, refused]
    ended += [f"{array}_{task}" for task in range(4)] + [f"{het}+0", f"{het}+1"]
    live.until(*ended)
    for job in (good, bad, array, het, held, stopped, never, refused):
        cluster.wait_accounted(job)
    live.poll()
    _as_accounted(live, good, bad, array, het, held, stopped, never, named, refused)
    assert live.job(named).submission.name == HOSTILE
    assert live.job(f"{array}_3").submission.array == array
    assert live.job(good).submission.script == "#!/bin/sh\nsleep 1\n"
    assert live.job(f"{array}_2").submission.script == live.job(f"{array}_1").submission.script
    assert live.job(f"{het}+0").request.memory_mb
    outcome = live.job(stopped).outcome
    assert outcome is not None
    assert outcome.reason == "cancelled by user id 0"
    assert live.words(good)[-2:] == ["RUNNING", "COMPLETED"]
    assert live.client.last_refused is None
    assert sorted(live.scripts) == sorted(set(live.scripts))


def test_a_requeued_job_is_pending_again_and_its_runs_are_kept(cluster: SlurmCluster) -> None:
    live = Live(cluster)
    job = cluster.submit("sleep 300")
    cluster.wait_running(job)
    live.poll()
    assert live.job(job).state is State.RUNNING
    first = live.job(job).submission.submitted
    cluster.requeue(job)
    cluster.wait_for(job, lambda state: state == "PENDING", "to be pending again")
    time.sleep(1)
    live.restart()
    live.poll()
    assert live.job(job).state in (State.PENDING, State.HELD)
    assert live.words(job).count("REQUEUED") >= 1
    cluster.cancel(job)
    live.until(job)
    assert live.job(job).state is State.CANCELLED
    assert live.job(job).submission.submitted == first
    assert live.job(job).usage.requeues == 1


def test_suspension_is_seen(cluster: SlurmCluster) -> None:
    live = Live(cluster)
    job = cluster.submit("sleep 300")
    cluster.wait_running(job)
    live.poll()
    cluster.run("scontrol", "suspend", job)
    live.poll()
    assert live.job(job).state is State.SUSPENDED
    cluster.run("scontrol", "resume", job)
    time.sleep(1)
    live.poll()
    assert live.job(job).state is State.RUNNING
    cluster.cancel(job)
    live.until(job)


def test_what_is_cancelled_while_it_waits_ends_with_the_next_poll(cluster: SlurmCluster) -> None:
    live = Live(cluster)
    lookup = SlurmLookup(live.client, cluster.name, live.settings)
    array = cluster.submit("exit 0", "--array=0-5", "--hold")
    lookup.collect([f"{array}_2", array])
    het = cluster.submit("exit 0", "-n1", "--hold", ":", "-n1", "--hold", ":", "-n1", "--hold")
    live.poll()
    cluster.cancel(f"{array}_[2-3]")
    live.poll()
    assert live.job(f"{array}_2").state is live.job(f"{array}_3").state is State.CANCELLED
    assert live.job(f"{array}_1").state is State.HELD
    noticed = {one.id: merge(None, one).state for one in lookup.collect([f"{array}_2", array])}
    assert noticed[f"slurm:{cluster.name}:{array}_2"] is State.CANCELLED
    cancelled = time.time()
    cluster.cancel(array)
    cluster.cancel(het)
    live.restart()
    live.poll()
    parts = [f"{array}_{task}" for task in range(6)] + [f"{het}+{part}" for part in range(3)]
    for job in parts:
        outcome = live.job(job).outcome
        assert outcome is not None
        assert outcome.state is State.CANCELLED
        assert (outcome.ended or 0) < (cancelled + limit(10)) * 1_000_000
    # sacct, once it knows them, must find the same jobs: by their own numbers, or as components.
    raw = [str(int(het) + part) for part in range(3)]
    until(lambda: all(cluster.accounted("-j", one) for one in raw), "sacct to know them")
    for _ in range(2):
        live.restart()
        live.poll()
    base = f"slurm:{cluster.name}:"
    known = {name.removeprefix(base) for name in live.documents}
    assert known >= set(parts)
    assert not known & {array, *raw}
    found = lookup.collect([f"{het}+1"])
    assert {one.id for one in found} == {f"{base}{het}+1"}


def test_thousands_of_jobs_take_no_more_calls(cluster: SlurmCluster) -> None:
    live = Live(cluster, details=False, scripts=False)
    few = {"squeue": 1, "sacct": 1}

    def calls() -> dict[str, int]:
        before = live.client.calls.copy()
        live.poll()
        return dict(live.client.calls - before)

    # What ended shortly before is asked about once more.
    until(lambda: calls() == few, "a look with nothing to settle")
    arrays = [cluster.submit("exit 0", "--array=0-999", "--hold") for _ in range(4)]
    squares = ",".join(str(number * number) for number in range(30))
    arrays.append(cluster.submit("exit 0", f"--array={squares}", "--hold"))
    live.poll()
    assert live.job(f"{arrays[-1]}_{29 * 29}").state is State.HELD
    assert sum(f":{arrays[0]}_" in name for name in live.documents) == 1000
    # Jobs of other tests may end meanwhile, each of which is asked about once more.
    until(lambda: [calls() for _ in range(3)] == [few] * 3, "three looks with nothing to settle")
    for array in arrays:
        cluster.cancel(array)


def test_a_controller_that_stops_and_comes_back(cluster: SlurmCluster) -> None:
    live = Live(cluster, accounting=False, timeout=limit(3))
    enough = cluster.folder / "work/enough"
    enough.unlink(missing_ok=True)
    job = cluster.submit(f"while [ ! -e {enough} ]; do sleep 0.3; done")
    cluster.wait_running(job)
    live.poll()
    assert live.job(job).state is State.RUNNING
    cluster.stop_slurmctld()
    try:
        with pytest.raises(SourceError):
            live.poll()
        status = live.source.status()
        assert status["problem"] in ("down", "slow")
        assert status["last_error"]["text"]
    finally:
        cluster.start_slurmctld()
    time.sleep(0.6)
    enough.touch()
    live.until(job)
    assert live.job(job).state is State.COMPLETED
    assert live.source.status()["problem"] is None


def test_an_outage_of_slurmdbd(cluster: SlurmCluster) -> None:
    live = Live(cluster, overlap=30)
    live.poll()
    cluster.stop_slurmdbd()
    try:
        job = cluster.submit("exit 6")
        cluster.wait(job)
        time.sleep(1)
        live.poll()
        assert live.job(job).state is State.FAILED
        assert live.source.status()["problem"] in ("down", "slow", "other")
    finally:
        cluster.start_slurmdbd()
    cluster.wait_accounted(job)
    time.sleep(1)
    live.poll()
    outcome = live.job(job).outcome
    assert outcome is not None
    assert outcome.exit_code == 6


def test_jobs_collected_by_their_ids(cluster: SlurmCluster) -> None:
    settings = SlurmSettings(bin=cluster.bin)
    running = cluster.submit("sleep 300")
    array = cluster.submit("exit 1", "--array=0-1")
    het = cluster.submit("sleep 1", "-n1", ":", "-n1")
    cluster.wait(array)
    cluster.wait_accounted(array)
    cluster.wait_running(running)
    client = SlurmClient(settings)
    collector = SlurmLookup(client, cluster.name, settings)
    found = {one.id: one for one in collector.collect([running, array, f"{het}+1", "999999", "x"])}
    names = {running, f"{array}_0", f"{array}_1", f"{het}+1"}
    assert {name.rpartition(":")[2] for name in found} == names
    assert found[f"slurm:{cluster.name}:{running}"].state is State.RUNNING
    assert found[f"slurm:{cluster.name}:{array}_1"].state is State.FAILED
    assert found[f"slurm:{cluster.name}:{running}"].submission.script
    calls = client.calls.copy()
    (again,) = collector.collect([running])
    assert again.state is State.RUNNING
    assert client.calls - calls == {"squeue": 1, "sacct": 1}
    cluster.cancel(running)


def test_all_forms_of_accounting_are_imported_alike(cluster: SlurmCluster, tmp_path: Path) -> None:
    """sacct's text, its JSON in each shape it has, and slurmdbd's table."""
    options = ("--mem=50", f"--comment={HOSTILE[:3]}")
    jobs = [cluster.submit(script, *options) for script in ("exit 3", "")]
    for job in jobs:
        cluster.wait_accounted(job)
    asked = ("-j", ",".join(jobs), "--duplicates")
    requests = ("sacct", "-nPX", *asked, "-o", "ReqTRES")
    until(lambda: cluster.run(*requests).count("mem=50M") == 2, "slurmdbd to know the requests")
    shapes = ["--json", *(f"--json=v0.0.{at}" for at in (40, 41, 42) if cluster.version == "24.11")]
    texts = {
        "sacct.psv": cluster.run("sacct", "-P", *asked, "-o", "JobID,Cluster,State,ExitCode,Submit,"
                                 "Eligible,Start,End,ElapsedRaw,ReqTRES,NodeList,Comment"),
        f"{cluster.name}_job_table.tsv": cluster.run(
            "mariadb", "--no-defaults", "-B", "slurm_acct_db", "-e",
            f"SELECT * FROM {cluster.name}_job_table WHERE id_job IN ({','.join(jobs)})"),
        **{f"{shape}.json": cluster.run("sacct", shape, *asked) for shape in shapes},
    }  # fmt: skip
    found = {name: imported(written(tmp_path, text, name)) for name, text in texts.items()}
    native, _ = found["sacct.psv"]
    for name, (documents, report) in found.items():
        assert not report.bad, name
        for job in jobs:
            lost = name == "--json.json" and cluster.version == "22.05"  # has no exit codes
            told, known = (
                [
                    (one.time, one.state, one.word, one.host, None if lost else one.return_value)
                    for one in some[job].timeline
                ]
                for some in (documents, native)
            )
            assert told == known, name
            assert documents[job].request.memory_mb == native[job].request.memory_mb == 50
            assert documents[job].submission.comment in (None, HOSTILE[:3])


def test_all_forms_of_the_queue_are_imported_alike(cluster: SlurmCluster, tmp_path: Path) -> None:
    """squeue's and scontrol's JSON in each shape it has, scontrol's text, a snapshot of squeue."""
    failed = cluster.submit("exit 3", "--mem=50")
    cluster.wait(failed)
    array = cluster.submit("", "--hold", "--array=1-600:2,700%2", "--mem=50", "--job-name=a|b")
    runs = cluster.submit("sleep 600", "--time=30", "--mem=50")
    cluster.wait_running(runs)
    ours, new = (failed, array, runs), cluster.version == "24.11"
    shapes = ["--json", *(f"--json=v0.0.{at}" for at in (40, 41, 42) if new)]
    whole = ("env", "SLURM_BITSTR_LEN=0")
    squeue = (*whole, "squeue", "--states=all")
    show = (*whole, "scontrol", "show", "job")
    look = "-o1795856602|%i|%T|%u|%P|%r|%S|%Q"
    texts = {
        # One by one: in text, a line end in the name of another test's job begins a record.
        "text": "\n".join(cluster.run(*show, job) for job in ours),
        "line": "".join(cluster.run(*show, "-o", job) for job in ours),
        "look": cluster.run(*squeue, "-h", look),
        "cut": cluster.run("squeue", "-h", look),
        **{f"squeue{shape}": cluster.run(*squeue, shape) for shape in shapes},
        **{f"scontrol{shape}": cluster.run(*show, shape) for shape in shapes if new},
    }
    options = Options(cluster=cluster.name, timezone="UTC")
    found = {
        name: imported(written(tmp_path, text, name), options=options)
        for name, text in texts.items()
    }
    tasks = [f"{array}_{task}" for task in (*range(1, 600, 2), 700)]
    for name, (documents, report) in found.items():
        assert not report.bad and not report.doubts, name
        own = [task for task in tasks if task in documents]
        assert own == tasks or (name == "cut" and own == tasks[: len(own)] and own), name
        assert any("cut short" in note for note in report.notes) is (name == "cut")
        assert {documents[task].state for task in own} == {State.HELD}, name
        assert documents[tasks[0]].timeline[-1].reason == "JobHeldUser"
        if name in ("look", "cut"):
            continue
        outcome = documents[failed].outcome
        assert outcome is not None
        assert (outcome.state, outcome.exit_code, outcome.signal) == (State.FAILED, 3, None), name
        assert (documents[runs].state, documents[runs].usage.cpus) == (State.RUNNING, 1)
        assert {documents[job].request.memory_mb for job in (failed, runs, *tasks)} == {50}
        assert documents[runs].request.time_limit_s == 1800
        assert documents[tasks[0]].submission.name == "a|b"
    cluster.cancel_all()


def test_without_slurmdbd(bed_ready: None) -> None:
    with SlurmCluster(accounting=False, min_job_age=5, name="plain") as cluster:
        live = Live(cluster, accounting=None, unknown_end_after=3)
        live.poll()
        assert live.source.status()["accounting"] is False
        array = cluster.submit("sleep 300", "--array=0-2%1")
        cluster.wait_for(array, lambda state: state in ("RUNNING", "PENDING"), "to be queued")
        good, bad = cluster.submit("sleep 1"), cluster.submit("exit 5")
        gone = cluster.submit("sleep 2")
        live.poll()
        cluster.cancel(f"{array}_2")  # nobody tells of it any more
        live.until(good, bad)
        outcome = live.job(bad).outcome
        assert outcome is not None
        assert (outcome.state, outcome.exit_code) == (State.FAILED, 5)
        assert live.job(good).state is State.COMPLETED
        cluster.wait(gone)
        unseen = cluster.submit("sleep 1")
        live.poll()
        cluster.wait(unseen)
        if PROVE:  # the controller forgets jobs only every half minute
            until(lambda: not cluster.states(unseen), "the controller to forget the job")
        live.until(unseen, gone, f"{array}_2")
        assert live.job(unseen).state in (State.UNKNOWN_END, State.COMPLETED)
        assert "sacct" not in live.client.calls
        with pytest.raises(SlurmError) as caught:
            live.client.accounts([good])
        assert caught.value.kind is FailureKind.NO_ACCOUNTING


def test_times_are_right_in_any_zone(
    cluster: SlurmCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = cluster.submit("sleep 300")
    cluster.wait_running(job)
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    client = SlurmClient(SlurmSettings(bin=Path(cluster.bin)))
    (line,) = client.queue([job])
    while not (runs := client.accounts([job])):  # the controller tells slurmdbd in its own time
        time.sleep(0.3)
    (run,) = runs
    (shown,) = client.show(job)
    assert line.start is not None
    assert line.start == run.start == shown.times["Start"]
    assert abs(line.start / 1e6 - time.time()) < 120
    assert client.config().cluster == cluster.name
    assert client.config().version == cluster.version
    cluster.cancel(job)


def test_a_kill_for_memory_is_an_end_out_of_memory(cluster: SlurmCluster) -> None:
    live = Live(cluster)
    job = cluster.submit("x=$(head -c 200000000 /dev/zero | tr '\\0' x); sleep 60", "--mem=50")
    cluster.wait_accounted(job)
    live.until(job)

    def measured() -> bool:
        live.poll()
        return live.job(job).usage.memory_mb is not None

    until(measured, "the memory used")
    assert live.job(job).state is State.OUT_OF_MEMORY
    assert live.words(job)[-1] in ("OUT_OF_MEMORY", "FAILED")


@prove
def test_a_job_over_its_time_limit(cluster: SlurmCluster) -> None:
    live = Live(cluster)
    job = cluster.submit("sleep 300", "--partition=short", "--time=1")
    live.until(job, timeout=180)
    cluster.wait_accounted(job)
    live.poll()
    assert live.job(job).state is State.TIMEOUT
    assert live.job(job).request.time_limit_s == 60
    _as_accounted(live, job)
