"""What a job table gives as of a moment is the table of documents that end there."""

from __future__ import annotations

from typing import Any

import msgspec
import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from jobsight.documents import Event, JobDocument, State, Submission, Usage
from jobsight.history.jobtable import JobTable

MOMENTS = st.integers(0, 12)
STATES = [None, *State]

events = st.builds(
    Event,
    time=MOMENTS,
    source=st.just("sacct"),
    undated=st.sampled_from([False, False, False, True]),
    state=st.sampled_from(STATES),
    word=st.sampled_from([None, "ELIGIBLE"]),
    code=st.sampled_from([None, 5, 9]),
    return_value=st.sampled_from([None, 0, 1]),
    signal=st.sampled_from([None, 9]),
    host=st.sampled_from([None, "n1", "n2"]),
)
jobs = st.builds(
    JobDocument,
    id=st.just("slurm:c:1"),
    updated=MOMENTS,
    submission=st.builds(Submission, submitted=st.none() | MOMENTS, user=st.just("ann")),
    timeline=st.lists(events, max_size=6).map(tuple),
    usage=st.builds(Usage, memory_mb=st.integers(0, 5), requeues=st.none() | st.integers(0, 2)),
)


def seen(document: JobDocument) -> int:
    dated = [event.time for event in document.timeline if not event.undated]
    submitted = document.submission.submitted
    return submitted if submitted is not None else dated[0] if dated else document.updated


def cut(document: JobDocument, moment: int, *, reported: bool) -> JobDocument | None:
    """The document as it was before the moment; None: there was none."""
    clock = seen(document)
    if clock >= moment:
        return None
    kept = []
    for event in document.timeline:
        if not event.undated:
            clock = max(clock, event.time)
            if clock < moment:
                kept.append(event)
    changed: dict[str, Any] = {} if reported else {"usage": Usage()}
    return msgspec.structs.replace(document, timeline=tuple(kept), **changed)


@given(st.lists(jobs, max_size=5), MOMENTS)
def test_as_of_is_the_table_of_truncated_documents(found: list[JobDocument], moment: int) -> None:
    documents = [
        msgspec.structs.replace(one, id=f"slurm:c:{number}") for number, one in enumerate(found)
    ]
    whole = JobTable.read(documents)
    ends = dict(whole.table.select("id", pl.col("reported").to_physical()).iter_rows())
    before = [
        cut(one, moment, reported=ends[one.id] is not None and ends[one.id] < moment)
        for one in documents
    ]
    truncated = JobTable.read(one for one in before if one is not None)
    view = whole.as_of(moment)
    for name in ("table", "starts", "ends", "changes"):
        assert_frame_equal(getattr(view, name), getattr(truncated, name))
    assert_frame_equal(whole.starts.head(len(truncated.starts)), truncated.starts)
    assert_frame_equal(whole.ends.head(len(truncated.ends)), truncated.ends)


@given(st.lists(jobs, min_size=1, max_size=5))
def test_no_end_is_reported_before_it_or_before_the_start(found: list[JobDocument]) -> None:
    documents = [
        msgspec.structs.replace(one, id=f"slurm:c:{number}") for number, one in enumerate(found)
    ]
    table = JobTable.read(documents).table
    over = table.filter(pl.col("end").is_not_null())
    assert (over["reported"] >= over["end"]).all()
    assert (over["end"] >= over["last_start"]).drop_nulls().all()
    assert table.filter(pl.col("state").is_in(["pending", "running"]))["end"].null_count() == len(
        table.filter(pl.col("state").is_in(["pending", "running"]))
    )
