"""A job's first document is what joining it with nothing gives, whatever the way taken."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from jobsight.documents import Event, JobDocument, Request, State, merge

EVENTS = st.builds(
    Event,
    time=st.integers(0, 5).map(lambda second: second * 500_000),
    source=st.just("sacct"),
    state=st.sampled_from([None, *State]),
    word=st.sampled_from([None, "ELIGIBLE", "REQUEUED"]),
    code=st.sampled_from([None, None, 1]),
)


def at(second: int, state: State) -> Event:
    return Event(time=second * 1_000_000, source="sacct", state=state)


@given(st.lists(EVENTS, max_size=8))
@example([at(0, State.COMPLETED), at(1, State.SUSPENDED)])
@example([at(1, State.SUSPENDED), at(0, State.COMPLETED)])
def test_the_first_document_is_joined_with_nothing(events: list[Event]) -> None:
    new = JobDocument(id="slurm:c:1", updated=9, timeline=tuple(events), request=Request(cpus=2))
    empty = JobDocument(id="slurm:c:1", updated=0)
    first = merge(None, new)
    assert first == merge(empty, new)
    assert merge(first, new) is first
