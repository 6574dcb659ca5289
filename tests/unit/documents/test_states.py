"""The life cycle."""

import pytest

from jobsight.documents.states import (
    CONDOR_EVENTS,
    CONDOR_STATUS,
    SLURM_STATES,
    SWF_STATUS,
    State,
    condor_state,
    end_of,
    removed_for,
    slurm_state,
)


def test_what_is_not_an_end_may_still_change() -> None:
    assert {state for state in State if not state.ended} == {
        State.PENDING, State.HELD, State.RUNNING, State.SUSPENDED,
    }  # fmt: skip
    assert State.UNKNOWN_END.ended


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("CANCELLED by 1000", State.CANCELLED),
        ("CANCELLED+", State.CANCELLED),
        ("OUT_OF_ME+", State.OUT_OF_MEMORY),
        ("NODE_FAIL,REQUEUED", State.NODE_FAIL),
        ("completed", State.COMPLETED),
        (" PD ", State.PENDING),
        ("OOM", State.OUT_OF_MEMORY),
        ("DEADLINE", State.DEADLINE),
        ("NF", State.NODE_FAIL),
        ("CG", State.RUNNING),
        ("REQUEUE_HOLD", State.HELD),
        ("R", State.RUNNING),
    ],
)
def test_words_of_slurm_with_their_suffixes(word: str, state: State) -> None:
    assert slurm_state(word) is state


@pytest.mark.parametrize("word", ["", " ", "17", "NO_SUCH", "CANCEL", "RE+", "\x00", "é", "+"])
def test_what_is_no_word_of_slurm(word: str) -> None:
    assert slurm_state(word) is None


def test_every_word_of_slurm_reads_whole() -> None:
    for word, state in SLURM_STATES.items():
        assert slurm_state(word) is state
        assert slurm_state(f"{word} by 0") is state


def test_tables_of_htcondor_and_of_swf() -> None:
    assert (CONDOR_EVENTS[12], CONDOR_EVENTS[13]) == (State.HELD, State.PENDING)
    assert 5 not in CONDOR_EVENTS  # depends on how it terminated
    assert CONDOR_STATUS[5] is State.HELD
    assert SWF_STATUS == {
        0: State.FAILED, 1: State.COMPLETED, 5: State.CANCELLED, -1: State.UNKNOWN_END,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("code", "signal", "reason", "used", "state"),
    [
        (137, None, None, 4090, State.OUT_OF_MEMORY),
        (None, 9, None, 4096, State.OUT_OF_MEMORY),
        (None, 9, None, 9000, State.OUT_OF_MEMORY),  # where memory is not confined
        (1, None, "oom-kill event in step", 4090, State.OUT_OF_MEMORY),
        (1, None, "OutOfMemory", None, State.OUT_OF_MEMORY),
        (137, None, None, 300, State.FAILED),
        (137, None, None, None, State.FAILED),
        (1, None, "zoomed out", 4090, State.FAILED),
        (1, None, None, 4090, State.FAILED),
        (143, None, None, 4090, State.FAILED),
        (9, None, None, 4090, State.OUT_OF_MEMORY),  # so sacct writes 137
        (9, None, None, 300, State.FAILED),
    ],
)
def test_a_kill_with_all_memory_in_use_is_an_end_out_of_memory(
    code: int | None, signal: int | None, reason: str | None, used: int | None, state: State
) -> None:
    found = end_of(State.FAILED, code, signal, reason, used_mb=used, limit_mb=4096)
    assert found is state


def test_other_ends_stay_what_they_are() -> None:
    for state in set(State) - {State.FAILED}:
        assert end_of(state, 137, 9, "oom", used_mb=4096, limit_mb=4096) is state


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        (None, State.CANCELLED),
        (" ", State.CANCELLED),
        ("via condor_rm (by user ann)", State.CANCELLED),
        ("it ran too long for me, memory too (by user ann)", State.CANCELLED),
        ("removed because <OtherJobRemoveRequirements = DAGManJobId =?= 7> fired when job (7.0) "
         "was removed", State.CANCELLED),
        ("Python-initiated action. (by user ann)", State.CANCELLED),
        ("The job attribute PeriodicRemove expression 'NumJobStarts > 3' evaluated to TRUE",
         State.FAILED),
        ("The job attribute PeriodicRemove expression 'JobStatus == 5 && (time() - "
         "EnteredCurrentStatus) > 86400' evaluated to TRUE", State.FAILED),
        ("The job attribute PeriodicRemove expression 'JobStatus =?= 2 && (time() - "
         "EnteredCurrentStatus) > 86400' evaluated to TRUE", State.TIMEOUT),
        ("removed by SYSTEM_PERIODIC_REMOVE due to job exceeding MaxRuntime", State.TIMEOUT),
        ("The system macro SYSTEM_PERIODIC_REMOVE expression 'MemoryUsage > 2000' evaluated to "
         "TRUE", State.OUT_OF_MEMORY),
        ("The job attribute PeriodicRemove expression 'MemoryUsage > 2000 || RemoteWallClockTime "
         "> WallTime' evaluated to TRUE", State.FAILED),
        ("Job used up its 5 retries", State.FAILED),
        ("x" * 100_000, State.FAILED),
    ],
)  # fmt: skip
def test_a_removal_by_a_policy_is_a_failure(reason: str | None, state: State) -> None:
    assert condor_state(9, None, reason) is state


_OF_JOB = "The job attribute PeriodicRemove expression '{}' evaluated to TRUE"
_OF_SITE = "The system macro SYSTEM_PERIODIC_REMOVE expression '{}' evaluated to TRUE"


@pytest.mark.parametrize(
    ("reason", "before", "what"),
    [
        # Written by HTCondor 23.9.6; the words of user_job_policy.cpp are those of 9 to 25.
        (_OF_JOB.format("JobStatus == 2 && time() - JobCurrentStartDate > 2"), None, "time"),
        (_OF_JOB.format("(JobStatus == 2) && ((CurrentTime - EnteredCurrentStatus) > 2)"), None,
         "time"),
        (_OF_JOB.format("JobStatus == 2 && ResidentSetSize > 1"), None, "memory"),
        (_OF_JOB.format("JobStatus == 5 && time() - EnteredCurrentStatus > 2"), None, "held"),
        (_OF_SITE.format('Custom =?= "x" && JobStatus == 5 && time() - EnteredCurrentStatus > 2'),
         None, "held"),
        (_OF_JOB.format("NumJobStarts > 0"), None, "starts"),
        (_OF_JOB.format("JobStatus == 1 && time() - QDate > 2"), None, "queue"),
        ("The job attribute TimerRemove expression '1795879889' evaluated to TRUE", None, "queue"),
        ("Job exceeded its wall time of 2 s", None, "time"),
        (_OF_JOB.format("time() > 0"), None, None),
        (_OF_JOB.format("JobStatus != 5 && NumJobStarts > 3"), None, "starts"),
        ("Job has been on hold for more than 24 hours", None, "held"),
        ("Removed by SYSTEM_PERIODIC_REMOVE due to being in hold state for 5 days.", None, "held"),
        # Of several the state decides in which the job was.
        (_OF_JOB.format("JobStatus == 2 && DiskUsage > 9 || MemoryUsage > 9"), State.RUNNING, None),
        (_OF_JOB.format("(JobStatus == 5 && time() - EnteredCurrentStatus > 9) || "
                        "RemoteWallClockTime > 9"), State.HELD, "held"),
        (_OF_JOB.format("(JobStatus == 5 && time() - EnteredCurrentStatus > 9) || "
                        "RemoteWallClockTime > 9"), State.RUNNING, "time"),
        (_OF_JOB.format("(JobStatus == 5 && time() - EnteredCurrentStatus > 9) || "
                        "RemoteWallClockTime > 9"), None, None),
        (_OF_JOB.format("(JobStatus == 2 && MemoryUsage > 9) || (JobStatus == 5 && time() - "
                        "EnteredCurrentStatus > 9)"), State.RUNNING, "memory"),
        (None, None, None),
    ],
)  # fmt: skip
def test_what_a_policy_removed_a_job_for(
    reason: str | None, before: State | None, what: str | None
) -> None:
    assert removed_for(reason, before) == what


def test_other_events_of_htcondor() -> None:
    assert condor_state(5, 0, None) is State.COMPLETED
    assert condor_state(5, 1, None) is condor_state(5, None, None) is State.FAILED
    assert condor_state(6, None, None) is None
