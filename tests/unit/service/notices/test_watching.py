"""Which noticed jobs are looked up when, and how HTCondor is asked about them."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from tests.support.limits import limit
from tests.unit.history.condor.condor_fakes import Tools

from jobsight.documents import JSON, Event, JobDocument, JobKey, State, Submission, merge, slurm_id
from jobsight.errors import SourceError
from jobsight.history.condor.client import CondorClient
from jobsight.service.notices import watching
from jobsight.service.notices.watching import MOST_WAITING, Asker, CondorAsker, Notice, Watched
from jobsight.settings import CondorSettings


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
