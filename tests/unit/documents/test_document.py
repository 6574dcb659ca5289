"""The structs of the job document."""

import msgspec
import pytest

from jobsight.documents import (
    Event,
    JobDocument,
    Request,
    State,
)


def test_what_is_not_known_is_none_and_documents_are_frozen() -> None:
    job = JobDocument(id="slurm:c:1", updated=5)
    assert (job.state, job.outcome, job.timeline, job.predictions) == (None, None, (), ())
    assert job.request == Request()
    assert set(msgspec.structs.asdict(job.request).values()) == {None}
    with pytest.raises(AttributeError):
        job.updated = 6  # type: ignore[misc]


def test_an_event_has_every_column_of_the_event_table_that_is_not_the_jobs_own() -> None:
    from jobsight.history.eventlog.terms import event_schema

    of_the_job = {"cluster", "proc", "access_point", "log", "offset", "source"}
    fields = set(Event.__struct_fields__)
    assert set(event_schema().names) - of_the_job <= fields
    assert {"source", "position"} <= fields


def test_states_are_their_words() -> None:
    assert Event(time=1, source="squeue", state=State.HELD).state == "held"
