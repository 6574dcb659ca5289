"""The source: what it tells while the controller or the accounts are down, slow, or wrong."""

from __future__ import annotations

import pytest
from tests.unit.history.slurm.slurm_fakes import T0, FakeJob, cluster, kept, polled

from jobsight.documents import State
from jobsight.errors import SourceError
from jobsight.history.slurm.client import FailureKind

SECOND = 1_000_000


def test_a_controller_that_is_down_is_a_source_error_and_sacct_catches_up() -> None:
    slurm, keeper = polled(FakeJob("7", "7"), interval=1e-6, backoff_most=1e-6)
    slurm.down = {
        "squeue": FailureKind.DOWN,
        "sacct": FailureKind.DOWN,
        "scontrol": FailureKind.DOWN,
    }
    for _ in range(3):
        with pytest.raises(SourceError, match="in trouble"):
            keeper.poll()
    assert keeper.source.status()["problem"] == "down"
    assert keeper.source.problem is not None and "squeue" in keeper.source.problem
    slurm.start("7")
    slurm.end("7", "COMPLETED")
    slurm.queue["8"] = FakeJob("8", "8", submit=slurm.now)
    slurm.start("8")
    slurm.end("8", "FAILED", "1:0")
    slurm.down = {}
    keeper.poll(5000)
    assert keeper.job("7").state is State.COMPLETED
    assert keeper.job("8").state is State.FAILED
    assert keeper.source.status()["problem"] is None
    assert keeper.source.problem is None


def test_a_controller_in_trouble_is_asked_less_while_accounts_go_on() -> None:
    slurm, keeper = polled(FakeJob("7", "7"), interval=60)
    slurm.down = {"squeue": FailureKind.SLOW}
    slurm.start("7")
    slurm.end("7", "COMPLETED")
    for _ in range(5):
        keeper.poll()
    assert keeper.client.calls["squeue"] == 2
    assert keeper.job("7").state is State.COMPLETED
    assert keeper.source.status()["backoff_s"] > 0


def test_a_controller_in_trouble_is_asked_less_by_scontrol_too() -> None:
    slurm, keeper = polled(
        *(FakeJob(str(number), str(number)) for number in range(1, 10)),
        interval=60,
        config_every=1e-6,
        details_per_poll=1,
    )
    before = keeper.client.calls["scontrol"]
    slurm.down = {"squeue": FailureKind.SLOW, "scontrol": FailureKind.SLOW}
    for _ in range(5):
        keeper.poll()
    assert keeper.client.calls["squeue"] == 2
    assert keeper.client.calls["scontrol"] - before == 1


def test_without_slurmdbd_a_job_that_scontrol_refuses_holds_up_no_other() -> None:
    slurm = cluster(FakeJob("7", "7"), FakeJob("8", "8"))
    slurm.accounting = "(null)"
    keeper = kept(slurm, unknown_end_after=100, details=False, scripts=False)
    keeper.poll()
    slurm.queue.clear()
    slurm.down = {"scontrol": FailureKind.OTHER}
    for _ in range(10):
        keeper.poll()
    assert {keeper.job(job).state for job in ("7", "8")} == {State.UNKNOWN_END}


def test_without_slurmdbd_the_controller_tells_ends() -> None:
    slurm = cluster(FakeJob("7", "7"), FakeJob("8", "8"))
    slurm.accounting = "(null)"
    keeper = kept(slurm, unknown_end_after=100)
    keeper.poll()
    slurm.start("7")
    slurm.end("7", "FAILED", "2:0", listed=True)
    slurm.queue.pop("8")
    keeper.poll()
    outcome = keeper.job("7").outcome
    assert outcome is not None
    assert (outcome.state, outcome.exit_code) == (State.FAILED, 2)
    assert keeper.job("8").state is State.PENDING
    assert keeper.client.calls["sacct"] == 0
    for _ in range(4):
        keeper.poll()
    assert keeper.job("8").state is State.UNKNOWN_END
    assert keeper.poll() == 0


def test_an_outage_of_slurmdbd_breaks_nothing_and_loses_nothing() -> None:
    slurm, keeper = polled(FakeJob("7", "7"), interval=1e-6, backoff_most=1e-6, overlap=60)
    slurm.down = {"sacct": FailureKind.DOWN}
    slurm.start("7")
    slurm.end("7", "TIMEOUT", listed=True)
    keeper.poll()
    assert keeper.job("7").state is State.TIMEOUT
    slurm.queue.clear()
    short = FakeJob("8", "8", state="FAILED", start=slurm.now, end=slurm.now, exit="5:0")
    for _ in range(10):
        keeper.poll()
    slurm.down = {}
    keeper.poll()
    slurm.accounts.append(short)  # the controller's backlog arrives after the outage
    keeper.poll()
    outcome = keeper.job("8").outcome
    assert outcome is not None and outcome.exit_code == 5


def test_a_job_of_which_nobody_tells_has_an_unknown_end_until_somebody_does() -> None:
    slurm = cluster(FakeJob("7", "7"))
    slurm.start("7")
    keeper = kept(slurm, unknown_end_after=600)
    keeper.poll()
    job = slurm.queue.pop("7")
    for _ in range(25):
        keeper.poll()
    assert keeper.job("7").state is State.UNKNOWN_END
    asked = [call for call in slurm.log if any(part.startswith("--jobs=") for part in call)]
    assert len(asked) < 10
    job.state, job.end = "COMPLETED", slurm.now
    slurm.accounts.append(job)
    keeper.poll()
    assert keeper.job("7").state is State.COMPLETED


def test_what_was_requeued_as_it_left_has_an_unknown_end_too() -> None:
    slurm = cluster(FakeJob("7", "7"))
    slurm.start("7")
    keeper = kept(slurm, unknown_end_after=600)
    keeper.poll()
    job = slurm.queue.pop("7")
    # The accounts know it as requeued, by a clock a little ahead, and of no run since.
    job.state, job.end = "REQUEUED", slurm.now + 31
    slurm.accounts.append(job)
    for _ in range(25):
        keeper.poll()
    assert keeper.job("7").state is State.UNKNOWN_END


def test_what_could_not_be_saved_is_told_again() -> None:
    slurm, keeper = polled(FakeJob("7", "7"))
    slurm.start("7")
    slurm.now += 30
    assert keeper.source.poll() is not None  # lost: the store refused it
    keeper.source.resume(keeper.position, keeper.active)
    keeper.poll()
    assert keeper.job("7").state is State.RUNNING


def test_too_much_output_of_sacct_halves_its_window() -> None:
    slurm = cluster()
    keeper = kept(slurm, lookback=36000, interval=1e-6)
    keeper.client.accounts(["1"])  # so that it knows its columns
    slurm.down = {"sacct": FailureKind.TOO_MUCH}
    for _ in range(3):
        keeper.poll()
    slurm.down = {}
    keeper.poll()
    spans = [
        [int(part.partition("=uts")[2]) for part in call if "time=uts" in part]
        for call in slurm.log
        if call[0] == "sacct" and any(part.startswith("--endtime") for part in call)
    ]
    assert spans[1][1] - spans[1][0] < spans[0][1] - spans[0][0]


def test_a_skewed_clock_is_measured_and_corrected() -> None:
    slurm = cluster(FakeJob("7", "7", submit=T0 + 500))
    slurm.skew = 500
    keeper = kept(slurm)
    keeper.poll()
    assert keeper.source.status()["clock_skew_s"] == 500
    waiting = [event for event in keeper.job("7").timeline if event.reason]
    assert waiting[0].time == (T0 + 30 + 500 - 1) * SECOND


def test_an_end_that_the_accounts_never_tell_is_told_by_the_queue() -> None:
    slurm, keeper = polled(FakeJob("7+0", "7"), FakeJob("7+1", "8"))
    for name in list(slurm.queue):
        slurm.start(name)
        slurm.end(name, "FAILED", listed=True)
    slurm.accounts.clear()
    keeper.poll()
    assert keeper.job("7+1").state is State.PENDING
    for _ in range(4):
        keeper.poll()
    assert {keeper.job(f"7+{part}").state for part in range(2)} == {State.FAILED}
    assert keeper.source.status()["jobs_unsettled"] == 2


def test_a_list_of_tasks_that_was_cut_short_hides_nobody() -> None:
    slurm, keeper = polled(FakeJob("5_[0-5]", "5"), overlap=30)
    slurm.queue = {"5_[0-1,...]": FakeJob("5_[0-1,...]", "5")}
    for _ in range(5):
        keeper.poll()
    assert {keeper.job(f"5_{task}").state for task in range(6)} == {State.PENDING}
