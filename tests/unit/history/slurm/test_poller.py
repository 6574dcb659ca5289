"""The source: what it tells of each course of things, and how many calls that takes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.unit.history.slurm.slurm_fakes import T0, FakeJob, Keeper, cluster, kept, polled

from jobsight.documents import State
from jobsight.errors import SourceError

SECOND = 1_000_000


def test_a_life_from_submission_to_end() -> None:
    slurm = cluster(FakeJob("7", "7"))
    slurm.scripts["7"] = "#!/bin/sh\n#SBATCH -n 2\ntrue\n"
    keeper = kept(slurm)
    keeper.poll()
    first = keeper.job("7")
    assert first.state is State.PENDING
    assert first.submission.submitted == T0 * SECOND
    assert first.submission.script == slurm.scripts["7"]
    assert first.submission.directives == ("-n 2",)
    assert first.request.memory_mb == 200
    slurm.start("7")
    keeper.poll()
    assert keeper.job("7").state is State.RUNNING
    slurm.now += 10
    slurm.end("7", "FAILED", "3:0")
    keeper.poll()
    last = keeper.job("7")
    assert last.outcome is not None
    assert (last.outcome.state, last.outcome.exit_code) == (State.FAILED, 3)
    assert last.outcome.ended == (T0 + 70) * SECOND
    assert keeper.words("7") == ["ELIGIBLE", "PENDING", "PENDING", "RUNNING", "FAILED"]
    assert [event.reason for event in last.timeline][2] == "Priority"


def test_polling_again_tells_nothing_new() -> None:
    slurm, keeper = polled(FakeJob("7", "7"), FakeJob("8", "8"))
    slurm.start("7")
    slurm.end("7", "COMPLETED", listed=True)
    keeper.poll()
    before = dict(keeper.documents)
    assert [keeper.poll() for _ in range(5)] == [0] * 5
    assert keeper.documents == before


def test_a_short_job_is_told_by_the_accounts_alone() -> None:
    keeper = kept(cluster())
    keeper.poll()
    keeper.slurm.queue["9"] = FakeJob("9", "9", submit=keeper.slurm.now)
    keeper.slurm.start("9")
    keeper.slurm.end("9", "COMPLETED")
    keeper.poll()
    assert keeper.job("9").state is State.COMPLETED


def test_reasons_and_suspensions_are_told_as_they_change() -> None:
    slurm, keeper = polled(FakeJob("7", "7"))
    slurm.queue["7"].reason = "Resources"
    keeper.poll()
    slurm.queue["7"].reason = "JobHeldUser"
    keeper.poll()
    assert keeper.job("7").state is State.HELD
    slurm.start("7")
    keeper.poll()
    slurm.queue["7"].state = "SUSPENDED"
    keeper.poll()
    assert keeper.job("7").state is State.SUSPENDED
    slurm.queue["7"].state = "RUNNING"
    keeper.poll()
    assert keeper.job("7").state is State.RUNNING
    reasons = [event.reason for event in keeper.job("7").timeline if event.reason]
    assert reasons == ["Priority", "Resources", "JobHeldUser"]
    assert [event.word for event in keeper.job("7").timeline][-3:] == [
        "RUNNING",
        "SUSPENDED",
        "RUNNING",
    ]


@pytest.mark.parametrize("restart", [False, True])
def test_a_released_job_is_held_no_more_though_the_queue_gives_no_reason(restart: bool) -> None:
    slurm, keeper = polled(FakeJob("7", "7", reason="JobHeldUser"))
    assert keeper.job("7").state is State.HELD
    slurm.queue["7"].reason = "None"
    if restart:
        keeper.restart()
    keeper.poll()
    assert keeper.job("7").state is State.PENDING
    assert keeper.job("7").timeline[-1].reason is None
    assert keeper.poll() == 0
    slurm.queue["7"].reason = "JobHeldAdmin"
    keeper.poll()
    assert keeper.job("7").state is State.HELD
    # Slurm dates the end of a suspended job back: what the queue showed later is no new life.
    slurm.queue["7"].reason = "None"
    keeper.poll()
    slurm.queue["7"].end = slurm.now - 90
    slurm.queue["7"].state = "CANCELLED"
    slurm.accounts.append(slurm.queue.pop("7"))
    keeper.poll()
    assert keeper.job("7").state is State.CANCELLED


@pytest.mark.parametrize("then", ["None", "Priority"])
def test_a_hold_and_its_release_within_one_second(then: str) -> None:
    slurm, keeper = polled(FakeJob("7", "7"))
    slurm.queue["7"].reason = "JobHeldUser"
    keeper.poll()
    slurm.queue["7"].reason = then
    keeper.poll(0)
    keeper.poll(1)
    assert keeper.job("7").state is State.PENDING


def test_a_job_that_is_requeued_and_held_at_once_is_held() -> None:
    slurm, keeper = polled(FakeJob("7", "7"))
    slurm.start("7")
    keeper.poll()
    slurm.accounts.append(replace(slurm.queue["7"], state="REQUEUED", end=slurm.now + 30))
    again = FakeJob("7", "7", reason="JobHeldUser", submit=slurm.now + 30, restarts=1)
    slurm.queue["7"] = again
    keeper.poll()
    keeper.poll(1)
    assert keeper.job("7").state is State.HELD


def test_a_hold_in_the_second_of_a_requeue_is_dated_behind_it() -> None:
    """The accounts report the requeue too: of one second, it would go after the hold."""
    slurm, keeper = polled(FakeJob("7", "7"))
    slurm.start("7")
    keeper.poll()
    slurm.end("7", "FAILED", "1:0")
    keeper.poll()
    requeued = slurm.now + 30
    slurm.queue["7"] = FakeJob("7", "7", reason="JobHeldUser", submit=requeued, restarts=1)
    keeper.poll()
    keeper.poll(1)
    assert keeper.job("7").state is State.HELD
    held = next(event for event in keeper.job("7").timeline if event.state is State.HELD)
    assert held.time // 1_000_000 > requeued


def test_the_queue_tells_no_start_of_a_job_that_completes() -> None:
    # Of one requeued meanwhile it shows when it may start again.
    slurm, keeper = polled(FakeJob("7", "7"))
    slurm.start("7")
    slurm.queue["7"].state = "COMPLETING"
    keeper.poll()
    assert [event.word for event in keeper.job("7").timeline][-1] == "COMPLETING"
    slurm.end("7", "CANCELLED")
    keeper.poll()
    words = [event.word for event in keeper.job("7").timeline]
    assert words.count("RUNNING") == 1, "as the accounts tell it"
    assert keeper.job("7").state is State.CANCELLED


@pytest.mark.parametrize("restart", [False, True])
def test_a_requeued_job_is_pending_again(restart: bool) -> None:
    slurm, keeper = polled(FakeJob("7", "7"))
    slurm.start("7")
    keeper.poll()
    slurm.end("7", "NODE_FAIL")
    slurm.queue["7"] = FakeJob("7", "7", reason="BeginTime", submit=slurm.now, restarts=1)
    if restart:
        keeper.restart()
    keeper.poll()
    assert keeper.job("7").state is State.PENDING
    assert keeper.job("7").submission.submitted == T0 * SECOND
    slurm.now += 120
    slurm.start("7")
    slurm.end("7", "COMPLETED")
    keeper.poll()
    assert keeper.job("7").state is State.COMPLETED
    assert [word for word in keeper.words("7") if word not in ("PENDING", "ELIGIBLE")] == [
        "RUNNING",
        "NODE_FAIL",
        "REQUEUED",
        "RUNNING",
        "COMPLETED",
    ]
    assert keeper.job("7").usage.requeues == 1


def test_arrays_are_expanded_up_to_a_bound() -> None:
    slurm = cluster(FakeJob("5_[0-99%2]", "5"))
    slurm.scripts["5"] = "#!/bin/sh\n"
    keeper = kept(slurm, array_tasks=10, details_per_poll=1)
    keeper.poll()
    assert len(keeper.documents) == 10
    assert keeper.source.status()["array_tasks_unlisted"] == 90
    assert keeper.job("5_3").submission.array == "5"
    assert keeper.job("5_3").submission.submitted == T0 * SECOND
    assert keeper.job("5_9").submission.script == "#!/bin/sh\n"
    slurm.queue = {"5_50": FakeJob("5_50", "60"), "5_[51-99%2]": FakeJob("5_[51-99%2]", "5")}
    slurm.start("5_50")
    keeper.restart()
    keeper.poll()
    task = keeper.job("5_50")
    assert (task.state, task.submission.raw_id) == (State.RUNNING, "60")
    assert task.submission.script == "#!/bin/sh\n"
    assert [call for call in slurm.log if "write" in call] == [
        ("scontrol", "write", "batch_script", "5", "-")
    ]


@pytest.mark.parametrize("restart", [False, True])
def test_an_array_task_taken_out_of_the_queue_is_cancelled_at_once(restart: bool) -> None:
    slurm, keeper = polled(FakeJob("5_[0-3]", "5"))
    slurm.queue = {"5_[0,2-3]": FakeJob("5_[0,2-3]", "5")}
    if restart:
        keeper.restart()
    keeper.poll()
    assert keeper.job("5_1").state is State.CANCELLED
    assert keeper.job("5_0").state is State.PENDING
    slurm.accounts.append(FakeJob("5_1", "5", "CANCELLED by 7", end=slurm.now - 20))
    keeper.poll()
    outcome = keeper.job("5_1").outcome
    assert outcome is not None
    assert (outcome.reason, keeper.words("5_1").count("GONE")) == ("cancelled by user id 7", 0)


def test_a_task_that_may_have_run_unseen_is_cancelled_once_the_accounts_do_not_know_it() -> None:
    slurm, keeper = polled(FakeJob("5_[0-3]", "5"), overlap=60)
    slurm.queue = {"5_[0,2-3]": FakeJob("5_[0,2-3]", "5")}
    keeper.poll(400)  # longer than MinJobAge
    assert keeper.job("5_1").state is State.PENDING
    for _ in range(3):
        keeper.poll()
    assert keeper.job("5_1").state is State.CANCELLED


def test_what_was_cancelled_before_it_started_has_ended_without_the_accounts_word() -> None:
    slurm, keeper = polled(FakeJob("5_[0-3]", "5"), FakeJob("7", "7"))
    for job in slurm.queue.values():
        job.state, job.end = "CANCELLED", slurm.now + 25
    keeper.poll()
    for name in ("5_0", "5_3", "7"):
        outcome = keeper.job(name).outcome
        assert outcome is not None
        assert (outcome.state, outcome.ended) == (State.CANCELLED, (slurm.now - 5) * SECOND)


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("listed", [False, True])
def test_components_that_never_started_are_known_by_their_raw_numbers(
    listed: bool, restart: bool
) -> None:
    slurm, keeper = polled(FakeJob("7+0", "7"), FakeJob("7+1", "8"), FakeJob("7+2", "9"))
    slurm.queue.clear()
    for number in (7, 8, 9):  # as sacct of 24.11 lists them
        one = FakeJob(str(number), str(number), "CANCELLED by 0", end=slurm.now + 20)
        slurm.accounts.append(one)
        if listed:
            slurm.queue[one.id] = replace(one, id=f"7+{number - 7}", state="CANCELLED")
    for _ in range(3):
        if restart:
            keeper.restart()
        keeper.poll()
    assert set(keeper.documents) == {f"slurm:fake:7+{n}" for n in range(3)}
    assert {one.state for one in keeper.documents.values()} == {State.CANCELLED}
    slurm.queue.clear()
    keeper.poll(7200)
    keeper.poll(7200)
    assert "components" not in (keeper.position or {})


def test_details_are_fetched_under_the_cap_and_never_twice() -> None:
    slurm = cluster(*(FakeJob(str(n), str(n)) for n in range(1, 8)))
    slurm.scripts = {str(n): f"#!/bin/sh\n# {n}\n" for n in range(1, 8)}
    keeper = kept(slurm, details_per_poll=2)
    for _ in range(3):
        keeper.poll()
        keeper.restart()
    assert len([call for call in slurm.log if "write" in call]) == 6
    assert keeper.client.calls["scontrol"] <= 5
    for _ in range(3):
        keeper.poll()
        keeper.restart()
    asked = [call[-2] for call in slurm.log if "write" in call]
    assert sorted(asked) == [str(n) for n in range(1, 8)]
    assert all(keeper.job(str(n)).submission.script for n in range(1, 8))


def test_scripts_of_jobs_that_ended_first_come_from_the_accounts() -> None:
    slurm, keeper = polled(details_per_poll=2)
    for number in ("1", "2", "3"):
        slurm.queue[number] = FakeJob(number, number, submit=slurm.now)
        slurm.scripts[number] = f"#!/bin/sh\n# {number}\n"
        slurm.start(number)
        slurm.end(number, "COMPLETED")
    keeper.poll()
    keeper.restart()
    keeper.poll()
    assert [keeper.job(number).submission.script for number in "123"] == [
        slurm.scripts[number] for number in "123"
    ]
    keeper.poll()
    assert len([call for call in slurm.log if "--batch-script" in call]) == 3


def test_calls_do_not_depend_on_the_number_of_jobs() -> None:
    counted = []
    for jobs in (1, 3000):
        slurm = cluster(*(FakeJob(str(n), str(n)) for n in range(1, jobs + 1)))
        keeper = kept(slurm, details=False, scripts=False, lookback=0)
        keeper.poll()
        for number in list(slurm.queue)[: jobs // 2]:
            slurm.start(number)
        keeper.poll()
        for number in list(slurm.queue)[: jobs // 2]:
            slurm.end(number, "COMPLETED")
        keeper.poll()
        counted.append(dict(keeper.client.calls))
    assert counted[0] == counted[1]


def test_many_documents_come_in_bounded_pieces_and_the_position_with_the_last() -> None:
    slurm = cluster(*(FakeJob(str(n), str(n)) for n in range(1, 101)))
    keeper = kept(slurm, documents_per_poll=30, details=False, scripts=False, lookback=0)
    sizes, positions = [], []
    while (seen := keeper.source.poll()) is not None:
        sizes.append(len(seen.documents))
        positions.append(seen.position)
        if not seen.more:
            break
    assert sizes == [30, 30, 30, 10]
    assert positions[:3] == [{}, {}, {}]
    assert positions[3]["since"] == T0 * SECOND
    assert keeper.client.calls["squeue"] == 1


def test_old_times_are_caught_up_in_windows_with_one_look_at_the_queue() -> None:
    slurm = cluster()
    slurm.accounts = [
        FakeJob(
            str(n),
            str(n),
            state="COMPLETED",
            submit=T0 - 900 * n,
            start=T0 - 900 * n,
            end=T0 - 900 * n,
        )
        for n in range(1, 90)
    ]
    keeper = kept(slurm, lookback=86400, window=7200, details=False, scripts=False)
    keeper.poll()
    assert len(keeper.documents) == 89
    assert keeper.client.calls["squeue"] == 1
    assert 12 <= keeper.client.calls["sacct"] <= 15


def test_names_of_any_kind_do_no_harm() -> None:
    name = 'a|b\n8|COMPLETED\x1f"; $(rm) JobState=COMPLETED ExitCode=9:9'
    slurm, keeper = polled(FakeJob("7", "7", name=name))
    assert set(keeper.documents) == {"slurm:fake:7"}
    assert keeper.job("7").submission.name == name
    assert keeper.job("7").state is State.PENDING
    slurm.start("7")
    slurm.end("7", "FAILED", "1:0")
    keeper.poll()
    assert keeper.job("7").submission.name == name
    outcome = keeper.job("7").outcome
    assert outcome is not None and outcome.exit_code == 1


@pytest.mark.parametrize(
    "position",
    [
        {"version": 2},
        {"since": "now"},
        {"fetched": "5"},
        {"fetched": {"5": "x-y"}},
        {"late": 3},
        {"late": ["x"]},
        {"open": {"7": "x"}},
        {"components": {"7": ["x", 1]}},
        {"looked": "now"},
    ],
)
def test_a_damaged_position_is_refused(position: dict[str, object]) -> None:
    keeper = kept(cluster())
    with pytest.raises(SourceError, match="slurm:fake is damaged"):
        keeper.source.resume(position, keeper.active)


def test_status_and_position_are_small_json() -> None:
    _, keeper = polled(*(FakeJob(str(n), str(n)) for n in range(1, 501)), details_per_poll=250)
    keeper.poll()
    assert len(json.dumps(keeper.position)) < 200
    assert json.loads(json.dumps(keeper.source.status()))["jobs_living"] == 500


def test_single_polls_of_many_processes_advance_and_give_up_too() -> None:
    """As cron runs `jobsight collect --once`."""
    slurm, keeper = polled(FakeJob("7", "7"), FakeJob("8", "8"), unknown_end_after=9000)
    slurm.queue.pop("7")
    for _ in range(6):
        keeper.restart()
        keeper.poll(3600)
    assert keeper.job("7").state is State.UNKNOWN_END
    assert keeper.job("8").state is State.PENDING
    since = (keeper.position or {})["since"]
    assert isinstance(since, int)
    assert slurm.now - since // SECOND <= 3600


def test_a_state_without_an_end_is_no_end_yet() -> None:
    """slurmdbd can have the one before the other."""
    slurm, keeper = polled(FakeJob("7", "7"))
    slurm.start("7")
    job = slurm.queue.pop("7")
    job.state = "FAILED"
    slurm.accounts.append(job)
    keeper.poll()
    assert keeper.job("7").state is State.RUNNING
    job.end, job.exit = slurm.now, "6:0"
    keeper.poll()
    outcome = keeper.job("7").outcome
    assert outcome is not None
    assert outcome.exit_code == 6


def test_living_jobs_are_read_once_and_of_this_cluster_alone() -> None:
    keeper = kept(cluster(FakeJob("7", "7")))
    keeper.poll()
    keeper.asked.clear()
    keeper.restart()
    assert keeper.asked == ["slurm:fake"]


@pytest.mark.parametrize("state", ["CANCELLED by 1", "FAILED", "RUNNING", "PENDING"])
def test_what_follows_a_requeue_within_its_second_is_behind_it(state: str) -> None:
    slurm, keeper = polled(FakeJob("7", "7"))
    slurm.start("7")
    keeper.poll()
    first = slurm.queue.pop("7")
    first.state, first.end = "NODE_FAIL", slurm.now
    slurm.accounts.append(first)
    again = FakeJob("7", "7", submit=slurm.now, restarts=1)
    slurm.queue["7"] = again
    if state in ("FAILED", "RUNNING"):
        slurm.start("7")
    if state not in ("RUNNING", "PENDING"):
        slurm.end("7", state)
    keeper.poll()
    document = keeper.job("7")
    assert str(document.state) == state.partition(" ")[0].lower()
    words = keeper.words("7")
    assert words.index("NODE_FAIL") < words.index("REQUEUED") < len(words) - 1


def _reused(keeper: Keeper) -> list[tuple[str, str | None, State | None]]:
    return [
        (one.id.removeprefix("slurm:fake:"), one.submission.user, one.state)
        for one in keeper.documents.values()
    ]


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("user", ["alice", "bob"])
@pytest.mark.parametrize("missed", ["nothing", "the gap", "the end"])
def test_a_number_that_a_killed_controller_gives_again_is_another_job(
    user: str, missed: str, restart: bool
) -> None:
    slurm = cluster(FakeJob("7", "7", reason="JobHeldUser"))
    slurm.scripts["7"] = "#!/bin/sh\nfirst\n"
    keeper = kept(slurm, unknown_end_after=600)
    keeper.poll()
    slurm.accounts.append(slurm.queue.pop("7"))  # it pends there for ever
    if missed == "nothing":
        keeper.poll()
    if restart:
        keeper.restart()
    slurm.now += 1
    slurm.queue["7"] = FakeJob("7", "7", user=user, submit=slurm.now)
    slurm.scripts["7"] = "#!/bin/sh\nsecond\n"
    slurm.start("7")
    if missed != "the end":
        keeper.poll()
        assert _reused(keeper) == [
            ("7", "alice", State.UNKNOWN_END), ("7@2", user, State.RUNNING)
        ]  # fmt: skip
    slurm.end("7", "COMPLETED")
    for _ in range(100):
        keeper.poll()
    assert _reused(keeper) == [
        ("7", "alice", State.UNKNOWN_END), ("7@2", user, State.COMPLETED)
    ]  # fmt: skip
    assert keeper.words("7@2").count("RUNNING") == 1
    assert keeper.words("7")[-1] == "GONE"
    assert keeper.job("7").submission.script == "#!/bin/sh\nfirst\n"
    if missed != "the end" and not restart:
        assert keeper.job("7@2").submission.script == "#!/bin/sh\nsecond\n"
    keeper.restart()
    assert keeper.poll() == 0 or _reused(keeper)[0][2] is State.UNKNOWN_END


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("row", ["alone", "with the wait"])
def test_a_job_that_was_lost_while_requeued_ends_though_no_queue_showed_it(
    row: str, restart: bool
) -> None:
    slurm, keeper = polled(FakeJob("8", "8"), unknown_end_after=600)
    slurm.queue["7"] = FakeJob("7", "7")
    slurm.start("7")
    slurm.now += 20
    slurm.accounts.append(replace(slurm.queue.pop("7"), state="REQUEUED", end=slurm.now))
    keeper.poll()
    if row == "with the wait":
        slurm.accounts.append(FakeJob("7", "7", submit=slurm.now, restarts=1))
    if restart:
        keeper.restart()
    for _ in range(100):
        keeper.poll()
    assert keeper.job("7").state is State.UNKNOWN_END


def test_a_lost_job_that_ended_before_has_its_end() -> None:
    slurm, keeper = polled(FakeJob("7", "7"))
    slurm.start("7")
    keeper.poll()
    slurm.now += 20
    slurm.end("7", "TIMEOUT")
    slurm.now += 5
    slurm.queue["7"] = FakeJob("7", "7", submit=slurm.now)
    keeper.poll()
    assert _reused(keeper) == [("7", "alice", State.TIMEOUT), ("7@2", "alice", State.PENDING)]


@pytest.mark.parametrize("accounts", [False, True])
def test_an_ended_job_that_is_requeued_is_the_same_job(accounts: bool) -> None:
    none = "accounting_storage/none"
    slurm = cluster(FakeJob("7", "7"))
    slurm.accounting = slurm.accounting if accounts else none
    keeper = kept(slurm)
    slurm.start("7")
    keeper.poll()
    slurm.end("7", "COMPLETED", listed=True)
    keeper.poll()
    assert keeper.job("7").state is State.COMPLETED
    slurm.queue["7"] = FakeJob("7", "7", submit=slurm.now + 20, restarts=1)
    keeper.poll()
    assert _reused(keeper) == [("7", "alice", State.PENDING)]


def test_a_resized_job_is_the_same_job() -> None:
    slurm, keeper = polled(FakeJob("7", "7"))
    slurm.start("7")
    keeper.poll()
    resized = slurm.now + 10
    # slurmdbd ends the row and begins another, as if the job had been submitted then.
    slurm.accounts.append(replace(slurm.queue["7"], state="RESIZING", end=resized))
    keeper.poll()
    slurm.queue["7"].submit = slurm.queue["7"].start = resized
    slurm.now += 4000
    slurm.end("7", "COMPLETED")
    keeper.poll()
    assert [one[::2] for one in _reused(keeper)] == [("7", State.COMPLETED)]


def test_a_job_that_was_lost_unseen_is_not_reported_as_one_that_runs() -> None:
    # Asked for the later job of its number, sacct reports it too.
    slurm = cluster()
    lost = FakeJob("7", "7", state="RUNNING", start=slurm.now, user="bob")
    slurm.accounts += [lost, replace(lost, id="7_0", raw_id="8")]
    slurm.queue["7"] = FakeJob("7", "7", submit=slurm.now + 20)
    slurm.now += 20
    keeper = kept(slurm)
    keeper.poll()
    slurm.start("7")
    slurm.end("7", "COMPLETED")
    ended = slurm.accounts.pop()
    keeper.poll()
    slurm.accounts.append(ended)
    for _ in range(4):
        keeper.poll()
    assert _reused(keeper) == [("7", "alice", State.COMPLETED)]
