"""Job documents and their JSON."""

import json
import math
from typing import Any

import msgspec
import pytest

from jobsight.documents import (
    Event,
    JobDocument,
    Outcome,
    Prediction,
    Program,
    Request,
    State,
    Submission,
    decode,
    encode,
    to_json,
)
from jobsight.errors import DocumentError

JOB = JobDocument(
    id="htcondor:ap:1.0",
    updated=7,
    state=State.FAILED,
    request=Request(cpus=2, time_limit_s=-1),
    submission=Submission(user="a\x1b[31m", directives=("#SBATCH -n 1",)),
    program=Program(findings=({"unknown": {"a": 1}, "line": 3},)),
    timeline=(
        Event(time=1, source="log", position=0, code=0, state=State.PENDING),
        Event(time=2, source="log", position=90, code=5, state=State.FAILED, return_value=1),
    ),
    outcome=Outcome(state=State.FAILED, ended=2, exit_code=1),
    predictions=(
        Prediction(question="hold", model="m", time=3, inputs="x", answer={"unknown": None}),
    ),
)


def test_a_document_comes_back_as_it_was() -> None:
    assert decode(encode(JOB)) == JOB
    assert json.loads(encode(JOB)) == json.loads(json.dumps(to_json(JOB)))
    assert encode(JOB).startswith(b'{"schema":1,')


def test_what_is_not_known_is_not_written() -> None:
    assert encode(JobDocument(id="a", updated=1)) == b'{"schema":1,"id":"a","updated":1}'


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "truncated"),
        (b"[]", "array"),
        (b"null", "null"),
        (b'{"id":"a","updated":1}', "does not begin with its `schema`"),
        (b'{"schema":true,"id":"a","updated":1}', "schema"),
        (b'{"schema":"1","id":"a","updated":1}', "schema"),
        (b'{"schema":0,"id":"a","updated":1}', "schema"),
        (b'{"schema":2,"id":"a","updated":1,"new":1}', "schema"),
        (b'{"schema":1,"updated":1}', "missing required field `id`"),
        (b'{"schema":1,"id":"a","updated":1,"x":1}', "unknown field `x`"),
        (b'{"schema":1,"id":"a","updated":1,"unknown":{"x":1}}', "unknown field `unknown`"),
        (b'{"schema":1,"id":"a","updated":1,"request":{"unknown":{"x":1}}}', "unknown field"),
        (b'{"schema":1,"id":"a","updated":1,"request":{"x":1}}', r"\$.request"),
        (b'{"schema":1,"id":"a","updated":"1"}', r"\$.updated"),
        (b'{"schema":1,"id":"a","updated":1.5}', r"\$.updated"),
        (b'{"schema":1,"id":"a","updated":1,"state":"frozen"}', r"\$.state"),
        (b'{"schema":1,"id":"a","updated":1,"timeline":[3]}', r"\$.timeline"),
        (b'{"schema":1,"id":"a","updated":1} x', "trailing"),
        (b'{"schema":1,"id":"\xff","updated":1}', "UTF-8|utf-8"),
        (b"[" * 100_000, "array"),
        (
            b'{"schema":1,"id":"a","updated":1,"predictions":[{"answer":{"q":' + b"[" * 100_000,
            "recursion",
        ),
    ],
)
def test_what_is_no_document_is_told(data: bytes, why: str) -> None:
    with pytest.raises(DocumentError, match=why) as raised:
        decode(data)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "changed",
    [
        {"id": "a\ud800"},
        {"submission": Submission(name="\udcff")},
        {"program": Program(findings=({"a": {1: object()}},))},
    ],
)
def test_what_no_json_can_tell_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(DocumentError, match="cannot be written"):
        encode(msgspec.structs.replace(JobDocument(id="a", updated=1), **changed))


def test_numbers_that_json_lacks_become_null() -> None:
    answer = {"p": math.nan, "q": [math.inf]}
    one = Prediction(question="q", model="m", time=1, inputs="", answer=answer)
    back = decode(encode(JobDocument(id="a", updated=1, predictions=(one,))))
    assert back.predictions[0].answer == {"p": None, "q": [None]}


def test_an_event_has_every_column_of_the_event_table_that_is_not_the_jobs_own() -> None:
    from jobsight.history.eventlog.terms import event_schema

    of_the_job = {"cluster", "proc", "access_point", "log", "offset", "source"}
    fields = set(Event.__struct_fields__)
    assert set(event_schema().names) - of_the_job <= fields
    assert {"source", "position"} <= fields
