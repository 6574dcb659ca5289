"""The cause of an end, by state, exit code, signal and memory."""

from __future__ import annotations

import pytest

from jobsight.documents import State
from jobsight.history.causes.cause import KINDS
from jobsight.history.causes.endings import ending

FAILED = State.FAILED


@pytest.mark.parametrize(("code", "signal"), [(137, None), (9, None), (0, 9), (None, 9), (1, None)])
def test_a_kill_with_its_memory_used_up_is_out_of_memory(
    code: int | None, signal: int | None
) -> None:
    cause = ending(FAILED, code, signal, used_mb=1000, limit_mb=1024)
    assert cause is not None
    assert (cause.kind == "memory") == (code != 1)
    assert ("--mem" in cause.fix) == (code != 1)


@pytest.mark.parametrize(("code", "signal"), [(137, None), (9, None), (0, 9), (None, 9)])
def test_a_bare_kill_is_no_fault_of_the_program(code: int | None, signal: int | None) -> None:
    cause = ending(FAILED, code, signal)
    assert cause is not None
    assert cause.kind == "killed"
    assert not cause.sure
    assert "memory" in cause.text


def test_exit_code_9_of_condor_is_the_programs_own() -> None:
    cause = ending(FAILED, 9, slurm=False)
    assert cause is not None
    assert cause.kind == "program"


@pytest.mark.parametrize(
    ("code", "signal", "name"),
    [
        (139, None, "segmentation-fault"), (0, 11, "segmentation-fault"), (None, 7, "bus-error"),
        (132, None, "illegal-instruction"), (134, None, "aborted"), (143, None, "terminated"),
        (127, None, "command-not-found"), (126, None, "not-executable"), (2, None, "failed"),
        (11, None, "segmentation-fault"),
    ],
)  # fmt: skip
def test_signals_and_codes_of_shells_are_explained(
    code: int | None, signal: int | None, name: str
) -> None:
    cause = ending(FAILED, code, signal)
    assert cause is not None
    assert cause.name == name
    assert "None" not in cause.text


@pytest.mark.parametrize(
    ("state", "expression", "name"),
    [
        (State.TIMEOUT, "JobStatus == 2 && RemoteWallClockTime > 9", "removed-for-time"),
        (State.OUT_OF_MEMORY, "MemoryUsage > 9", "removed-for-memory"),
        (FAILED, "DiskUsage > 9", "removed-for-disk"),
        (FAILED, "JobStatus == 5 && HoldReasonCode == 34", "removed-held"),
        (FAILED, "NumJobStarts > 9", "removed-for-starts"),
        (FAILED, "JobStatus == 1 && time() - QDate > 9", "removed-queued"),
        (FAILED, "x > 3", "policy-removed"),
    ],
)
def test_a_removal_by_a_policy_has_its_cause(state: State, expression: str, name: str) -> None:
    reason = f"The job attribute PeriodicRemove expression '{expression}' evaluated to TRUE"
    cause = ending(state, reason=reason, slurm=False)
    assert cause is not None and cause.name == name
    assert "a policy" in cause.text and expression not in cause.text + cause.fix
    # Tables that have no reasons know by the state, and that neither exit nor signal is recorded.
    bare = ending(state, slurm=False)
    known = {State.TIMEOUT: "removed-for-time", State.OUT_OF_MEMORY: "removed-for-memory"}
    assert bare is not None and bare.name == known.get(state, "policy-removed")


def test_every_state_that_is_an_end_has_a_cause_of_a_known_kind() -> None:
    for state in State:
        cause = ending(state)
        assert (cause is None) == (not state.ended or state is State.COMPLETED)
        assert cause is None or (cause.kind in KINDS and cause.fix)


def test_what_was_measured_is_said() -> None:
    cause = ending(State.OUT_OF_MEMORY, used_mb=600, limit_mb=1024)
    assert cause is not None
    assert "between two samples" in cause.text
    late = ending(State.TIMEOUT, ran_s=3610, limit_s=3600)
    assert late is not None
    assert "60 min" in late.text
