"""Which noticed jobs are looked up when, and how HTCondor is asked about them."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.limits import limit
from tests.unit.history.condor.condor_fakes import Tools

from jobsight.documents import (
    JSON,
    Event,
    JobDocument,
    JobKey,
    State,
    Submission,
    encode,
    merge,
    slurm_id,
)
from jobsight.errors import SourceError
from jobsight.history.condor.client import CondorClient
from jobsight.service.notices import watching
from jobsight.service.notices.watching import (
    MOST_WAITING,
    Asker,
    CondorAsker,
    Notice,
    PoisonError,
    Watched,
    read_notice,
)
from jobsight.settings import CondorSettings, KafkaSettings

NOW = 1_795_224_900_000_000
SETTINGS = KafkaSettings(
    message_bytes=10_000, jobcomp={"c1": "c1", "c1-job-start": "c1", "all": "*", "big": "Blue"}
)


ENDED = {"jobid": 1, "state": "FAILED", "@end": "2026-11-21T01:00:00"}


def read(value: bytes | str | dict[str, Any] | None, topic: str = "notices") -> Notice:
    if isinstance(value, dict):
        value = json.dumps(value)
    data = value.encode() if isinstance(value, str) else value
    return read_notice(data, topic, SETTINGS, sent=NOW, now=NOW)


@pytest.mark.parametrize(
    ("job", "name"),
    [("123", "123"), (123, "123"), (" 123_4 ", "123_4"), ("123+1", "123+1"),
     ("sABCDEFGHIJKLM", "sABCDEFGHIJKLM"), ("123.4", "123.4"), ("123.004", "123.4")],
)  # fmt: skip
def test_a_notice_names_its_job(job: str | int, name: str) -> None:
    scheduler = "htcondor" if "." in name else "slurm"
    assert read({"cluster": "c1", "job_id": job}) == Notice(JobKey(scheduler, "c1", name), NOW)


def test_a_notice_names_a_job_and_no_more_is_read() -> None:
    forged = ENDED | {"cluster": "c1", "job_id": 5, "time": "never", "script": "evil"}
    assert read(forged) == Notice(JobKey("slurm", "c1", "5"), NOW)


def test_what_a_message_may_say_is_decided_by_its_topic() -> None:
    with pytest.raises(PoisonError, match="its topic is not one of"):
        read(ENDED | {"cluster": "c1"}, "notices")
    with pytest.raises(PoisonError, match="jobcomp: jobid: missing"):
        read({"cluster": "c1", "job_id": 5}, "c1")
    with pytest.raises(PoisonError, match="jobcomp: not of the cluster"):
        read(ENDED | {"cluster": "c2"}, "c1")
    with pytest.raises(PoisonError, match="not of the cluster"):
        read(ENDED, "all")
    assert read(ENDED, "c1").key.cluster == "c1"
    assert read(ENDED | {"cluster": "c2"}, "all").key.cluster == "c2"


def test_a_slurm_cluster_is_called_as_slurm_calls_it() -> None:
    assert read({"cluster": "Blue", "job_id": "1"}).key.cluster == "blue"
    assert read({"cluster": "AP.Example", "job_id": "1.0"}).key.cluster == "AP.Example"
    for notice in (read(ENDED | {"cluster": "Blue"}, "big"), read(ENDED, "big")):
        assert notice.document is not None
        assert (notice.key.cluster, notice.document.id) == ("blue", "slurm:blue:1")


def test_an_end_in_the_future_is_refused_beyond_the_skew_of_clocks() -> None:
    assert read(ENDED | {"@end": "2026-11-21T01:35:10"}, "c1").document is not None
    with pytest.raises(PoisonError, match="a time in the future; see that the clocks agree"):
        read(ENDED | {"@end": "2026-11-21T01:35:11"}, "c1")


def test_a_job_cancelled_before_it_was_eligible_is_no_job_of_the_future() -> None:
    waited = {"state": "CANCELLED", "@submit": "2026-11-21T00:00:00"}
    notice = read(ENDED | waited | {"@eligible": "2026-12-24T00:00:00"}, "c1")
    assert notice.document is not None
    assert [event.word for event in notice.document.timeline] == ["PENDING", "CANCELLED"]


def test_slurm_hands_on_whatever_bytes_a_script_holds() -> None:
    told = b'{"jobid": 1, "state": "FAILED", "@end": "2026-11-21T01:00:00", '
    notice = read(told + b'"script": "#!/bin/sh\\n# caf\xe9\\n", "job_name": "\xff"}', "c1")
    assert notice.document is not None
    assert notice.document.submission.script == "#!/bin/sh\n# caf\ufffd\n"


NO_JOBS = (None, True, 1.5, -1, 0, 2**40, "9" * 400, "99999999999.0", "1; rm -rf /", "1.batch")
NO_CLUSTERS = ("", 7, "c" * 300, "a\x1b[31mb", "\ud800")
ENDS = {"jobid": 12, "state": "FAILED"}


@pytest.mark.parametrize(
    ("topic", "value", "reason"),
    [
        ("notices", None, "no value"),
        ("notices", b"", "no JSON"),
        ("notices", b"\xff\xfe{}", "no UTF-8"),
        ("notices", b"{", "no JSON"),
        ("notices", b"[1]", "no JSON object"),
        ("notices", b'"text"', "no JSON object"),
        ("notices", b"[" * 9_000, "no JSON"),
        ("notices", b" " * 10_001, "bytes are more than"),
        ("notices", {}, "cluster"),
        *(("notices", {"cluster": name, "job_id": 1}, "cluster") for name in NO_CLUSTERS),
        ("notices", {"cluster": "c"}, "job_id"),
        *(("notices", {"cluster": "c", "job_id": job}, "job_id") for job in NO_JOBS),
        ("notices", {"cluster": "c", "job_id": "0.0"}, "out of range"),
        ("notices", {"cluster": "c", "job_id": "1_[0-9]"}, "several tasks"),
        ("c1", {"jobid": "12"}, "jobcomp: jobid"),
        ("c1", {"jobid": 12, "state": "NAPPING"}, "jobcomp: state"),
        ("c1", {"jobid": 12, "state": ["FAILED"]}, "jobcomp: state"),
        ("c1", ENDS, "jobcomp: no time"),
        ("c1", ENDS | {"@submit": "9999-01-01T00:00:00"}, "in the future"),
        ("c1", ENDS | {"@submit": 7}, "jobcomp: @submit"),
        ("c1", ENDS | {"@submit": "soon"}, "jobcomp"),
        ("c1", ENDS | {"@submit": "1970-01-01T00:00:01"}, "cannot be"),
    ],
)
def test_poison_has_a_reason(topic: str, value: bytes | dict[str, Any] | None, reason: str) -> None:
    with pytest.raises(PoisonError, match=reason) as caught:
        read(value, topic)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


def test_a_message_of_jobcomp_tells_of_the_whole_job() -> None:
    message = {
        "jobid": 12, "array_job_id": 10, "array_task_id": 2, "username": "ann", "state": "FAILED",
        "@submit": "2026-11-21T01:00:00", "@eligible": "2026-11-21T01:00:00", "nodes": "n1",
        "@start": "2026-11-21T01:05:00", "@end": "2026-11-21T01:06:00", "exit_code": "3:0",
        "elapsed": 60, "total_cpus": 2, "tres_req": "cpu=2,mem=4G,node=1", "job_name": "x",
    }  # fmt: skip
    notice = read(message, "c1-job-start")
    assert notice.key == JobKey("slurm", "c1", "10_2")
    assert notice.document is not None
    document = merge(None, notice.document)
    assert document.id == "slurm:c1:10_2"
    assert document.state is State.FAILED
    assert document.outcome is not None
    assert document.outcome.exit_code == 3
    assert document.submission.array == "10"
    assert document.request.memory_mb == 4096


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(
    ["cluster", "job_id", "state", "time", "jobid", "array_job_id", "array_task_id", "het_job_id",
     "het_job_offset", "@submit", "@start", "@end", "nodes", "exit_code", "tres_req", "script",
     "time_limit", "elapsed", "username"]
)  # fmt: skip
LIKELY = st.sampled_from(
    ["c", 12, "12", "1_2", "COMPLETED", "FAILED", "2026-11-21T01:00:00", "0:9", "cpu=1,mem=1G"]
)


@given(st.dictionaries(NAMES, LIKELY | JSON_VALUES, max_size=12))
@pytest.mark.parametrize("topic", ["notices", "all"])
def test_any_object_is_a_notice_that_can_be_stored_or_poison(
    topic: str, told: dict[str, Any]
) -> None:
    try:
        notice = read(json.dumps(told), topic)
    except PoisonError:
        return
    assert str(notice.key).count(":") == 2
    if notice.document is not None:
        try:
            encode(merge(None, notice.document))
        except Exception as error:
            assert "surrogates" in str(error)  # the store leaves such a document out


@given(st.binary(max_size=200))
def test_any_bytes_are_a_notice_or_poison(value: bytes) -> None:
    with pytest.raises(PoisonError):
        read(value)


class Cluster(Asker):
    """A cluster in memory."""

    scheduler = "slurm"

    def __init__(self, cluster: str = "here") -> None:
        self.cluster = cluster
        self.jobs: dict[str, State] = {}
        self.asked: list[list[str]] = []
        self.down = False
        self.known_of: list[str] | None = None

    def collect(self, jobs: Collection[str]) -> list[JobDocument]:
        self.asked.append(sorted(jobs))
        if self.down:
            raise SourceError("down")
        return [
            document(name, state, self.cluster)
            for name, state in self.jobs.items()
            if name in jobs or name.partition("_")[0] in jobs
        ]

    def calls(self) -> dict[str, JSON]:
        return {"squeue": len(self.asked)}

    def resume(self) -> None:
        self.known_of = []

    def known(self, document: JobDocument) -> None:
        assert self.known_of is not None
        self.known_of.append(document.id)


def document(job: str, state: State, cluster: str = "here", source: str = "squeue") -> JobDocument:
    event = Event(time=1, source=source, state=state)
    return JobDocument(
        slurm_id(cluster, job), 1, submission=Submission(submitted=1), timeline=(event,)
    )


def key(job: str, cluster: str = "here") -> JobKey:
    return JobKey("slurm", cluster, job)


NOTICED = Event(time=1, source="notice", word="NOTICED")


def notice(job: JobKey, sent: float = 1e9) -> Notice:
    return Notice(job, round(sent * 1e6))


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(watching, "time", made)
    return made


def watch(*clusters: Cluster, most: int = 1000, per_look: int = 100) -> Watched:
    return Watched(clusters, most=most, per_look=per_look, every=30, unknown_after=600)


def test_a_job_is_looked_at_at_once_then_now_and_then_until_it_has_ended(clock: Clock) -> None:
    cluster = Cluster()
    watched = watch(cluster)
    cluster.jobs["1"] = State.RUNNING
    watched.add(notice(key("1")))
    (found,) = watched.look()
    assert NOTICED in found.timeline
    assert watched.look() == []
    clock.now += 30
    cluster.jobs["1"] = State.FAILED
    assert watched.due
    watched.look()
    assert len(watched) == 0
    assert len(cluster.asked) == 2


def test_an_array_is_watched_until_all_its_tasks_have_ended(clock: Clock) -> None:
    cluster = Cluster()
    cluster.jobs = {"1_0": State.COMPLETED, "1_1": State.RUNNING, "12_0": State.RUNNING}
    watched = watch(cluster)
    watched.add(notice(key("1")))
    found = watched.look()
    assert [one.id for one in found] == ["slurm:here:1_0", "slurm:here:1_1"]
    assert [NOTICED in one.timeline for one in found] == [False, True]
    assert len(watched) == 1
    cluster.jobs["1_1"] = State.COMPLETED
    clock.now += 30
    watched.look()
    assert len(watched) == 0


def test_another_notice_brings_another_look_at_once(clock: Clock) -> None:
    cluster = Cluster()
    cluster.jobs["1"] = State.RUNNING
    watched = watch(cluster)
    watched.add(notice(key("1")))
    watched.look()
    watched.add(notice(key("1")))
    assert watched.due
    (again,) = watched.look()
    (first, second) = again.timeline
    assert (first.state, second) == (State.RUNNING, NOTICED), "however often it is noticed"


@pytest.mark.parametrize("seen", [False, True])
def test_what_a_scheduler_never_knew_or_forgot_is_given_up_after_a_while(
    clock: Clock, seen: bool
) -> None:
    cluster = Cluster()
    cluster.jobs = {"1": State.RUNNING} if seen else {}
    watched = watch(cluster)
    watched.add(notice(key("1")))
    clock.now += 500 if seen else 0
    watched.look()
    cluster.jobs.clear()
    clock.now += 599
    watched.look()
    assert len(watched) == 1
    clock.now += 31
    watched.look()
    assert (len(watched), watched.given_up) == (0, 1)


def test_of_many_jobs_those_longest_not_looked_at_come_first(clock: Clock) -> None:
    cluster = Cluster()
    cluster.jobs = {str(job): State.RUNNING for job in range(10, 60)}
    watched = watch(cluster, per_look=20)
    for job in cluster.jobs:
        watched.add(notice(key(job)))
    for _ in range(3):
        watched.look()
    assert sorted(job for asked in cluster.asked for job in asked) == sorted(cluster.jobs)
    assert max(map(len, cluster.asked)) == 20


def test_jobs_of_others_are_counted_and_jobs_too_many_are_kept_but_no_more_taken(
    clock: Clock,
) -> None:
    cluster = Cluster()
    watched = watch(cluster, most=2)
    watched.add(notice(key("1", "elsewhere")))
    before = watched.full
    for job in ("1", "2", "3"):
        watched.add(notice(key(job)))
    assert (before, watched.full) == (False, True)
    assert (watched.foreign, len(watched)) == (1, 3)
    watched.look()
    assert cluster.asked == [["1", "2", "3"]]


def test_living_jobs_of_the_store_are_all_watched_and_no_more_notices_taken(clock: Clock) -> None:
    cluster = Cluster()
    watched = watch(cluster, most=2)
    living = [document(str(job), State.RUNNING, source="notice") for job in range(1, 6)]
    watched.restore([], living)
    assert (len(watched), watched.full) == (5, True)
    assert cluster.known_of == [one.id for one in living]


def test_what_was_found_is_in_no_position(clock: Clock) -> None:
    cluster = Cluster()
    watched = watch(cluster)
    for _ in range(100):
        watched.add(notice(key("1")))
    assert [one[:3] for one in watched.waiting()] == [list(key("1"))]
    cluster.jobs["1"] = State.RUNNING
    watched.look()
    watched.add(notice(key("1")))
    assert watched.waiting() == []


def test_jobs_whose_end_a_message_told_fill_nothing(clock: Clock) -> None:
    watched = watch(Cluster(), most=10 * MOST_WAITING, per_look=10 * MOST_WAITING)
    for job in range(1, 2 * MOST_WAITING):
        told = document(str(job), State.COMPLETED, source="jobcomp")
        watched.add(Notice(key(str(job)), 10**15, document=told))
    assert not watched.full
    assert len(watched.waiting()) == MOST_WAITING
    watched.add(notice(key("999999")))
    assert len(watched.waiting()) == MOST_WAITING
    assert watched.waiting()[0][:3] == list(key("999999"))


def test_an_old_notice_of_a_job_that_nobody_knows_is_given_up_at_once(clock: Clock) -> None:
    watched = watch(Cluster())
    watched.add(notice(key("1"), sent=clock.now - 601))
    watched.add(notice(key("2"), sent=clock.now - 599))
    watched.look()
    assert (len(watched), watched.given_up) == (1, 1)


def test_one_scheduler_in_trouble_does_not_silence_another(clock: Clock) -> None:
    good, bad = Cluster("good"), Cluster("bad")
    good.jobs["1"] = State.RUNNING
    bad.down = True
    watched = watch(bad, good)
    watched.add(notice(key("1", "good")))
    watched.add(notice(key("1", "bad")))
    assert [one.id for one in watched.look()] == ["slurm:good:1"]
    assert watched.status()["asking_failures"] == {"slurm:bad": "down"}
    assert watched.due
    with pytest.raises(SourceError, match="down"):
        watched.look()
    bad.down = False
    watched.look()
    assert watched.status()["asking_failures"] == {}


def test_a_restart_goes_on_with_what_was_not_found_and_what_lives(clock: Clock) -> None:
    cluster = Cluster()
    before = watch(cluster)
    before.add(notice(key("1")))
    before.add(notice(key("2")))
    before.look()
    living = [
        merge(
            document("7", State.RUNNING), JobDocument(slurm_id("here", "7"), 1, timeline=(NOTICED,))
        ),
        document("8", State.RUNNING, source="jobcomp"),
        document("9", State.RUNNING),
        document("7", State.RUNNING, "elsewhere", source="notice"),
    ]
    after = watch(cluster)
    after.restore(before.waiting(), living)
    assert len(after) == 4
    assert after.waiting() == before.waiting()
    after.look()
    assert cluster.asked[-1] == ["1", "2", "7", "8"]


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    return Tools(tmp_path)


def asker(tools: Tools, **others: Any) -> CondorAsker:
    client = CondorClient(CondorSettings(bin=tools.folder, timeout=limit(10)), **others)
    return CondorAsker(client, "ap")


def ad(cluster: int, proc: int, status: int, **others: Any) -> dict[str, Any]:
    return {
        "ClusterId": cluster, "ProcId": proc, "JobStatus": status, "QDate": 1_795_000_000,
        "JobStartDate": 1_795_000_100, "EnteredCurrentStatus": 1_795_000_200, "Owner": "ann",
        **others,
    }  # fmt: skip


def test_the_queue_is_asked_once_and_the_history_for_what_it_lacks(tools: Tools) -> None:
    tools.answer("condor_q", [ad(1, 0, 2), ad(5, 5, 2)])
    tools.answer("condor_history", [ad(2, 1, 4, ExitCode=3, ExitBySignal=False)])
    found = asker(tools).collect(["1.0", "2.1", "3.0"])
    states = {one.id: merge(None, one).state for one in found}
    assert states == {"htcondor:ap:1.0": State.RUNNING, "htcondor:ap:2.1": State.FAILED}
    queue, history = tools.calls()
    assert queue == ["condor_q", "-allusers", "-json", "1.0", "2.1", "3.0"]
    assert history[0] == "condor_history"
    assert history[-3:] == ["-json", "2.1", "3.0"]
    assert history[history.index("-match") + 1] == "2"


def test_calls_do_not_grow_with_jobs(tools: Tools) -> None:
    asked = asker(tools, schedd="far")
    asked.collect([f"{job}.0" for job in range(1, 2000)])
    assert len(tools.calls()) == 2
    assert tools.calls()[0][1:4] == ["-allusers", "-name", "far"]
    assert asked.calls() == {"condor_q": 1, "condor_history": 1, "ads_refused": 0}


def test_hostile_bytes_and_ads_of_nothing_are_borne(tools: Tools) -> None:
    tools.answer("condor_q", b'[{"ClusterId": 1, "ProcId": 0, "Cmd": "\xff\x1b[31m"}, {"x": 1}, 7]')
    asked = asker(tools)
    (found,) = asked.collect(["1.0"])
    assert found.id == "htcondor:ap:1.0"
    assert asked.calls()["ads_refused"] == 1
