"""What the sender does when Kafka's library cannot go on, with no broker at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from jobsight.documents import Prediction
from jobsight.errors import OutputError
from jobsight.service import kafka as publishing
from jobsight.service.kafka import Connection, Sender, send_answers
from jobsight.settings import KafkaSettings

SETTINGS = KafkaSettings(brokers="localhost:1")
LOST = KafkaError(KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER, "the brokers lost some", True)


class Library:
    """Kafka's library, whose producer breaks as the real one does."""

    KafkaError = KafkaError
    KafkaException = KafkaException

    def __init__(self) -> None:
        self.producer = Producer()

    def Producer(self, configuration: dict[str, Any]) -> Producer:  # noqa: N802  # as it is called
        del configuration
        return self.producer


class Producer:
    def __init__(self) -> None:
        self.told = False
        self.waiting: list[Callable[[Any, Any], None]] = []

    def produce(self, topic: str, on_delivery: Callable[[Any, Any], None], **_: Any) -> None:
        if self.told:
            raise KafkaException(KafkaError(KafkaError._FATAL))
        self.waiting.append(on_delivery)

    def poll(self, seconds: float) -> None:
        assert seconds == 0

    def flush(self, seconds: float) -> int:
        self.told = True
        raise KafkaException(LOST)

    def purge(self) -> None:
        self.waiting.clear()

    def __len__(self) -> int:
        return len(self.waiting)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    found = Library()
    monkeypatch.setattr(publishing, "confluent_kafka", found)
    return found


@pytest.mark.parametrize("told_before", [False, True])
def test_a_producer_that_broke_is_told_of(library: Library, told_before: bool) -> None:
    sender = Sender(Connection(SETTINGS), 1.0)
    library.producer.told = told_before
    with pytest.raises(OutputError, match=r"the brokers lost some|Fatal error"):
        sender.send("t", None, b"1", [])
        sender.flush()


def test_a_producer_that_broke_can_be_closed(library: Library) -> None:
    sender = Sender(Connection(SETTINGS), 1.0)
    sender.send("t", None, b"1", [])
    sender.close()
    assert not library.producer.waiting


@pytest.mark.usefixtures("library")
def test_an_answer_that_cannot_be_written_is_an_error() -> None:
    bad = Prediction(question="q", model="m", time=1, inputs="", answer={"x": "\ud800"})
    with pytest.raises(OutputError, match="slurm:c:1 cannot be written"):
        send_answers(SETTINGS, [("slurm:c:1", bad)])
