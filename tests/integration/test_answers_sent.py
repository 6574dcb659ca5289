"""Answers over the wire: sent to a real broker process, and whether they arrived."""

from __future__ import annotations

import itertools
import json
import os

import pytest
from tests.integration.noticing import NOW, settings
from tests.testbed.kafka import KafkaBroker

from jobsight.documents import Prediction
from jobsight.errors import OutputError
from jobsight.service.kafka import send_answers

_numbers = itertools.count()


@pytest.fixture
def topic() -> str:
    return f"answers-of-{os.getpid()}-{next(_numbers)}"


def prediction(number: int) -> Prediction:
    return Prediction(
        question="hold",
        model="rules+rates",
        time=NOW * 1_000_000 + number,
        inputs="ab" * 32,
        answer={"answer": "release", "probability": 0.5, "nan": float("nan")},
    )


def test_answers_arrive_by_job_in_order(kafka_broker: KafkaBroker, topic: str) -> None:
    told = settings(kafka_broker, topic)
    send_answers(told, [(f"htcondor:ap:{at % 7}.0", prediction(at)) for at in range(100)])
    values = [json.loads(value) for value in kafka_broker.consume(told.answers, 100)]
    assert values[0]["question"] == "hold"
    assert values[0]["answer"] == {"answer": "release", "probability": 0.5, "nan": None}
    for job in range(7):
        times = [one["time"] for one in values if one["id"] == f"htcondor:ap:{job}.0"]
        assert times == sorted(times)
        assert len(times) in (14, 15)


def test_an_answer_that_does_not_arrive_is_an_error(topic: str) -> None:
    with KafkaBroker() as broker:
        told = settings(broker, topic, timeout_seconds=1.0)
    with pytest.raises(OutputError, match="not delivered"):
        send_answers(told, [("htcondor:ap:1.0", prediction(1))])
