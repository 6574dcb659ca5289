"""Details and scripts: what is remembered, what is given up, what is shown."""

from __future__ import annotations

import pytest
from tests.unit.history.slurm.slurm_fakes import T0, FakeClient, FakeJob, FakeSlurm, Keeper

from jobsight.documents import JobDocument, State, merge
from jobsight.history.slurm.client import FailureKind
from jobsight.history.slurm.lookup import SlurmLookup
from jobsight.settings import SlurmSettings


def kept(slurm: FakeSlurm, **settings: object) -> Keeper:
    return Keeper(slurm, SlurmSettings.model_validate({"lookback": 0} | settings))


def status(keeper: Keeper) -> dict[str, object]:
    return dict(keeper.source.status())


@pytest.mark.parametrize("accounting", ["accounting_storage/slurmdbd", "accounting_storage/none"])
def test_a_hundred_restarts_forget_what_ended_long_ago(accounting: str) -> None:
    slurm = FakeSlurm(accounting=accounting)
    keeper = kept(slurm, overlap=60)
    for hour in range(100):
        name = str(7 + 3 * hour)
        slurm.queue = {name: FakeJob(name, name, submit=slurm.now)}
        keeper.restart()
        keeper.poll(900)
    assert keeper.position is not None
    fetched = keeper.position["fetched"]
    assert isinstance(fetched, dict)
    assert 4 <= len(",".join(fetched.values()).split(",")) <= 12


def test_a_job_that_lives_long_is_fetched_once_over_restarts() -> None:
    slurm = FakeSlurm(queue={"7": FakeJob("7", "7")})
    keeper = kept(slurm, overlap=60)
    for _ in range(20):
        keeper.restart()
        keeper.poll(1800)
    assert len([call for call in slurm.log if call[0] == "scontrol" and "job" in call]) == 1


def end_before_its_turn(slurm: FakeSlurm, keeper: Keeper, *names: str) -> None:
    for name in names:
        slurm.queue[name] = FakeJob(name, name, submit=slurm.now)
        slurm.end(name, "COMPLETED")
    keeper.poll()


def test_scripts_that_nobody_keeps_are_not_waited_for() -> None:
    slurm = FakeSlurm(flags="job_comment")
    keeper = kept(slurm)
    keeper.poll()
    end_before_its_turn(slurm, keeper, "7", "8", "9")
    assert keeper.job("9").state is not None
    assert status(keeper)["details_pending"] == 0
    assert keeper.position is not None and keeper.position["late"] == {}


def test_scripts_wait_until_it_is_known_that_nobody_keeps_them() -> None:
    slurm = FakeSlurm(flags="job_comment", down={"scontrol": FailureKind.DOWN})
    keeper = kept(slurm)
    keeper.poll()
    end_before_its_turn(slurm, keeper, "7")
    assert status(keeper)["details_pending"] == 1
    del slurm.down["scontrol"]
    keeper.restart()
    keeper.poll()
    assert status(keeper)["details_pending"] == 0


def test_a_script_that_can_never_be_fetched_starves_nobody() -> None:
    slurm = FakeSlurm(unreadable={"7": FailureKind.OTHER})
    slurm.scripts["8"] = "#!/bin/sh\ntrue\n"
    keeper = kept(slurm, details_per_poll=1)
    keeper.poll()
    end_before_its_turn(slurm, keeper, "7", "8")
    for _ in range(3):
        keeper.poll()
    assert keeper.job("8").submission.script == slurm.scripts["8"]
    told = status(keeper)
    assert (told["details_pending"], told["details_refused"]) == (0, 1)
    assert "in trouble" in str(told["last_detail_refused"])


def test_a_script_that_is_always_slow_waits_behind_the_others() -> None:
    slurm = FakeSlurm(unreadable={"7": FailureKind.SLOW})
    slurm.scripts["8"] = "#!/bin/sh\ntrue\n"
    keeper = kept(slurm, details_per_poll=1)
    keeper.poll()
    end_before_its_turn(slurm, keeper, "7", "8")
    assert "in trouble" in str(status(keeper)["details_failure"])
    keeper.poll()
    assert keeper.job("8").submission.script == slurm.scripts["8"]
    assert status(keeper)["details_failure"] is None
    assert status(keeper)["details_pending"] == 1


def test_a_living_job_whose_script_the_accounts_refuse_is_told_without() -> None:
    slurm = FakeSlurm(unreadable={"7": FailureKind.NO_PERMISSION})
    slurm.queue["7"] = FakeJob("7", "7")
    keeper = kept(slurm)
    keeper.poll()
    assert keeper.job("7").submission.command == "/home/alice/job.sh"
    assert (status(keeper)["details_pending"], status(keeper)["details_refused"]) == (0, 1)


def test_a_script_that_is_not_ours_to_read_is_counted_and_told() -> None:
    slurm = FakeSlurm(private=True, queue={name: FakeJob(name, name) for name in ("7", "8")})
    keeper = kept(slurm)
    slurm.scripts["8"] = "#!/bin/sh\ntrue\n"  # the accounts have this one
    keeper.poll()
    assert keeper.job("8").submission.script == slurm.scripts["8"]
    assert status(keeper)["details_refused"] == 1
    assert "Invalid user id" in str(status(keeper)["last_detail_refused"])


def test_tasks_that_ended_before_the_look_at_their_array_have_its_script() -> None:
    slurm = FakeSlurm(down={"scontrol": FailureKind.DOWN})
    slurm.queue = {f"7_{task}": FakeJob(f"7_{task}", str(7 + task)) for task in range(3)}
    slurm.scripts["7"] = "#!/bin/sh\ntrue\n"
    keeper = kept(slurm)
    keeper.poll()
    slurm.end("7_0", "COMPLETED")
    keeper.poll()
    del slurm.down["scontrol"]
    keeper.poll()
    keeper.poll()
    assert [keeper.job(f"7_{task}").submission.script for task in range(3)] == [
        slurm.scripts["7"]
    ] * 3


class Looking:
    """A lookup of job 7, with a store in memory."""

    def __init__(self, slurm: FakeSlurm) -> None:
        self.slurm = slurm
        self.client = FakeClient(SlurmSettings(), slurm)
        clock = lambda: float(slurm.now)  # noqa: E731
        self.lookup = SlurmLookup(self.client, "fake", SlurmSettings(), clock=clock)
        self.job: JobDocument | None = None

    def look(self, times: int = 1) -> JobDocument:
        for _ in range(times):
            self.slurm.now += 30
            for document in self.lookup.collect(["7"]):
                self.job = merge(self.job, document)
        assert self.job is not None
        return self.job


def test_a_job_that_is_as_it_was_is_not_told_of_at_each_look() -> None:
    slurm = FakeSlurm(queue={"7": FakeJob("7", "7")})
    looking = Looking(slurm)
    looking.look(50)
    slurm.queue["7"].reason = "Resources"
    looking.look(50)
    slurm.start("7")
    looking.look(50)
    slurm.queue["7"].state = "SUSPENDED"
    assert looking.look(50).state is State.SUSPENDED
    slurm.queue["7"].state = "RUNNING"
    told = looking.look(50)
    assert told.state is State.RUNNING
    reasons = [event.reason for event in told.timeline if event.reason]
    assert reasons == ["Priority", "Resources"]
    assert len([event for event in told.timeline if event.state]) == 6


def test_what_a_lookup_told_and_nobody_saved_is_told_again() -> None:
    looking = Looking(FakeSlurm(queue={"7": FakeJob("7", "7")}, scripts={"7": "#!/bin/sh\n"}))
    first = looking.look()
    looking.job = None
    looking.lookup.resume()
    assert looking.look().submission.script == first.submission.script == "#!/bin/sh\n"
    assert [event.word for event in first.timeline if event.reason] == ["PENDING"]


def test_a_script_that_the_store_has_is_not_looked_up_again() -> None:
    slurm = FakeSlurm(queue={"7": FakeJob("7", "7")}, scripts={"7": "#!/bin/sh\n"})
    saved = Looking(slurm).look()
    anew = Looking(slurm)
    anew.lookup.known(saved)
    anew.look()
    assert anew.client.calls == {"squeue": 1, "sacct": 2}


def test_an_older_job_of_the_same_number_is_another() -> None:
    slurm = FakeSlurm(queue={"7": FakeJob("7", "7", name="new")})
    years = 3 * 365 * 86_400
    old = FakeJob("7", "7", "COMPLETED", submit=T0 - years, start=T0 - years, end=T0 - years + 9)
    old.name, old.user = "old", "bob"
    slurm.accounts = [old]
    looking = Looking(slurm)
    for _ in range(2):
        told = looking.look()
        assert (told.submission.name, told.submission.user) == ("new", "alice")
        assert told.submission.submitted == T0 * 1_000_000
        slurm.start("7")
        slurm.end("7", "FAILED", "1:0")
        slurm.queue["7"] = FakeJob("7", "7", name="new", submit=slurm.now, restarts=1)
    slurm.queue.clear()
    told = looking.look()
    assert (told.state, told.usage.starts, told.submission.name) == (State.FAILED, 2, "new")
    assert min(event.time for event in told.timeline) == T0 * 1_000_000


def test_what_is_slow_each_time_is_given_up_at_last() -> None:
    slurm = FakeSlurm(unreadable={"7": FailureKind.SLOW})
    keeper = kept(slurm)
    keeper.poll()
    end_before_its_turn(slurm, keeper, "7")
    for _ in range(25):
        keeper.poll()
    told = status(keeper)
    assert (told["details_pending"], told["details_refused"]) == (0, 1)
    assert told["details_failure"] is None


@pytest.mark.parametrize(("seconds", "ended"), [(60, True), (400, False)])
def test_a_noticed_task_that_left_the_queue_unstarted_is_cancelled(
    seconds: int, ended: bool
) -> None:
    slurm = FakeSlurm(queue={"5_[0-3]": FakeJob("5_[0-3]", "5")})
    settings = SlurmSettings()
    lookup = SlurmLookup(
        FakeClient(settings, slurm), "fake", settings, clock=lambda: float(slurm.now)
    )
    assert len(lookup.collect(["5"])) == 4
    slurm.queue = {"5_[0,2-3]": FakeJob("5_[0,2-3]", "5")}
    slurm.now += seconds  # MinJobAge is 300
    found = {one.id: merge(None, one).state for one in lookup.collect(["5"])}
    assert found.get("slurm:fake:5_1") is (State.CANCELLED if ended else None)
    assert len(found) == 3 + ended
