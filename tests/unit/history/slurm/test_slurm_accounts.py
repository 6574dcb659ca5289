"""What ended, asked of sacct again and again."""

import contextlib
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsight.documents import State, merge
from jobsight.history.slurm.accounts import Accounts, NewestFirst
from jobsight.history.slurm.client import FailureKind, SlurmClient, SlurmError
from jobsight.history.slurm.documents import of_runs
from jobsight.history.slurm.ids import SlurmId
from jobsight.history.slurm.sacct import Run
from jobsight.settings import SlurmSettings

SECOND = 1_000_000
HOUR = 3600 * SECOND


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


class Kept(SlurmClient):
    """Has one run an hour, and remembers which spans it was asked about, in seconds."""

    def __init__(self) -> None:
        super().__init__(SlurmSettings())
        self.spans: list[tuple[int, int]] = []

    def ended(self, since: int, until: int) -> list[Run]:
        self.spans.append((since // SECOND, until // SECOND))
        hours = range(-(-since // HOUR), until // HOUR + 1)
        return [run(id=SlurmId(hour), submit=hour * HOUR, end=hour * HOUR) for hour in hours]


def _read_all(client: Kept, now: int, position: dict[str, Any] | None = None) -> dict[str, Any]:
    """Poll until nothing is left, as one process after another does; the last position."""
    settings = SlurmSettings(lookback=30 * 86_400)
    position, polls = position or {}, 0
    while True:
        accounts = NewestFirst(client, settings)
        accounts.restore(position)
        accounts.poll(now)
        accounts.poll(now)
        position = accounts.position()
        polls += 1
        assert polls < 40, "it never comes to an end"
        if not accounts.behind:
            return position


def test_the_last_hour_is_asked_about_first_and_then_ever_longer_spans_before_it() -> None:
    client, now = Kept(), 500_000 * HOUR
    _read_all(client, now)
    late = SlurmSettings().overlap
    begins = [start + late for start, _ in client.spans[1:] if start + late < now // SECOND - 3600]
    assert client.spans[:1] == [(now // SECOND - 3600 - late, now // SECOND)]
    assert begins == sorted(begins, reverse=True)
    hours = [(end - start - late) / 3600 for start, end in client.spans if end < now // SECOND]
    assert hours[:4] == [1, 2, 4, 8]
    assert min(start for start, _ in client.spans) == now // SECOND - 30 * 86_400 - late


@given(gaps=st.lists(st.integers(60, 40 * 86_400), min_size=1, max_size=5))
def test_whenever_it_is_asked_again_no_span_of_the_last_month_is_left_out(gaps: list[int]) -> None:
    client, now, position = Kept(), 500_000 * HOUR, None
    first = now
    for gap in gaps:
        position = _read_all(client, now, position)
        now += gap * SECOND
    _read_all(client, now, position)
    reached = first // SECOND - 30 * 86_400
    for start, end in sorted(client.spans):
        assert start <= reached
        reached = max(reached, end)
    assert reached >= now // SECOND


def test_a_span_that_sacct_refused_is_asked_about_again(monkeypatch: pytest.MonkeyPatch) -> None:
    client, now = Kept(), 500_000 * HOUR
    accounts = NewestFirst(client, SlurmSettings(lookback=7200))
    accounts.poll(now)
    fails = SlurmError("too much", FailureKind.TOO_MUCH)
    monkeypatch.setattr(Kept, "ended", Mock(side_effect=fails))
    with pytest.raises(SlurmError):
        accounts.poll(now)
    monkeypatch.undo()
    assert accounts.position()["unread"] == [[now - 2 * HOUR, now - HOUR]]
    accounts.poll(now)
    assert accounts.behind == HOUR // 2
    accounts.poll(now)
    assert (accounts.behind, accounts.failure) == (0, None)
