"""What ended, asked of sacct again and again."""

import contextlib
from typing import Any

import msgspec
import pytest

from jobsight.documents import State, merge
from jobsight.history.slurm.accounts import Accounts
from jobsight.history.slurm.client import FailureKind, SlurmClient, SlurmError
from jobsight.history.slurm.documents import of_runs
from jobsight.history.slurm.ids import SlurmId
from jobsight.history.slurm.sacct import Run
from jobsight.settings import SlurmSettings

SECOND = 1_000_000


def run(**told: Any) -> Run:
    plain: dict[str, Any] = {"id": SlurmId(7), "state": "COMPLETED", "submit": 9 * SECOND}
    return Run(**{**plain, **told})


class Answers(SlurmClient):
    """Says what it is told to."""

    def __init__(self, *answers: list[Run]) -> None:
        super().__init__(SlurmSettings())
        self.left = list(answers)

    def ended(self, since: int, until: int) -> list[Run]:
        return self.left.pop(0)


class Narrow(SlurmClient):
    """Answers for spans of two hours at most; counts what it was asked in vain."""

    def __init__(self) -> None:
        super().__init__(SlurmSettings())
        self.vain = 0

    def ended(self, since: int, until: int) -> list[Run]:
        if until - since > 7200 * SECOND:
            self.vain += 1
            raise SlurmError("Too wide of a date range in query", FailureKind.TOO_MUCH)
        return []


def test_what_is_too_much_at_once_is_asked_for_in_parts_until_now_is_reached() -> None:
    client, now = Narrow(), 2_000_000_000 * SECOND
    accounts = Accounts(client, SlurmSettings(lookback=86_400))
    polls = 0
    while accounts.since != now:
        polls += 1
        assert polls < 50, "it never comes to an end"
        with contextlib.suppress(SlurmError):
            accounts.poll(now)
    assert (accounts.failure, accounts.behind) == (None, 0)
    assert client.vain == 2


def test_a_run_that_slurmdbd_hardly_knows_is_told_of_when_it_does() -> None:
    early = run(id=SlurmId(116), name="allocation")
    whole = run(id=SlurmId(99, task=5), name="scan", directory="/home/ann")
    settings = SlurmSettings()
    accounts = Accounts(Answers([early], [whole]), settings)
    assert accounts.poll(2_000_000_000 * SECOND) == []
    assert accounts.poll(2_000_000_001 * SECOND) == [whole]


def test_a_job_of_that_name_is_a_job() -> None:
    job = run(name="allocation", directory="/home/ann")
    assert Accounts(Answers([job]), SlurmSettings()).poll(2_000_000_000 * SECOND) == [job]


@pytest.mark.parametrize("nodes", [0, 1, None])
def test_what_was_cancelled_while_it_waited_has_no_start(nodes: int | None) -> None:
    # As 22.05 prints it: with a start and processors, but no list of nodes.
    cancelled = run(
        state="CANCELLED by 0", start=12 * SECOND, end=12 * SECOND, alloc_cpus=2, alloc_nodes=nodes,
        elapsed_s=0.0,
    )  # fmt: skip
    document = of_runs("c", SlurmId(7), [cancelled], 20 * SECOND)
    assert [event.state for event in document.timeline] == [State.PENDING, State.CANCELLED]
    before = msgspec.structs.replace(cancelled, state="RUNNING", end=None)
    document = of_runs("c", SlurmId(7), [before], 20 * SECOND)
    assert [event.state for event in document.timeline] == [State.PENDING]
    assert (document.usage.starts, document.usage.cpus) == (None, None)


def test_what_was_requeued_and_cancelled_before_it_started_again_has_ended() -> None:
    # As 22.05 prints it: the second run has the start and the end of the first.
    told = {"start": 9 * SECOND, "end": 9 * SECOND, "elapsed_s": 0.0}
    first = run(state="REQUEUED", alloc_nodes=1, alloc_cpus=1, hosts="n1", **told)
    second = run(state="CANCELLED by 0", alloc_nodes=0, **{**told, "submit": 10 * SECOND})
    document = merge(None, of_runs("c", SlurmId(7), [first, second], 20 * SECOND))
    assert document.state is State.CANCELLED
    assert document.outcome is not None
    assert document.outcome.ended == 10 * SECOND + 1
