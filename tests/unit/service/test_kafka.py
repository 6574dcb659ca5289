"""Kafka's properties, and what the sender does when its library cannot go on; no broker at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from jobsight.documents import Prediction
from jobsight.errors import OutputError, SettingsError
from jobsight.service import kafka
from jobsight.service.kafka import Connection, Sender, send_answers
from jobsight.settings import KafkaSettings


def connection(tmp_path: Path, text: str, mode: int = 0o600) -> Connection:
    path = tmp_path / "kafka.properties"
    path.write_text(text)
    path.chmod(mode)
    return Connection(KafkaSettings(properties=path))


def test_the_file_the_environment_and_our_own_properties_are_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOBSIGHT_KAFKA_USERNAME", "me")
    text = "# ours\nbootstrap.servers = a:1\n\nsasl.mechanism=PLAIN\nsasl.password=x=y\n"
    made = connection(tmp_path, text).configuration({"acks": "all"})
    assert made["bootstrap.servers"] == "a:1"
    assert made["sasl.password"] == "x=y"
    assert made["sasl.username"] == "me"
    assert made["acks"] == "all"


def test_settings_name_the_brokers_before_the_file_does(tmp_path: Path) -> None:
    path = tmp_path / "p"
    path.write_text("bootstrap.servers=a:1\n")
    assert Connection(KafkaSettings(properties=path, brokers="b:2")).brokers == "b:2"


@pytest.mark.parametrize(
    "line",
    ["sasl.password=x", "ssl.key.password=x", "ssl.keystore.password=x", "ssl.key.pem=x",
     "sasl.oauthbearer.client.secret=x", "sasl.oauthbearer.config=secret=x"],
)  # fmt: skip
def test_a_file_with_secrets_that_others_can_read_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(SettingsError, match="chmod 600") as caught:
        connection(tmp_path, f"bootstrap.servers=a:1\n{line}\n", 0o640)
    assert "=x" not in str(caught.value)


def test_without_secrets_others_may_read_it(tmp_path: Path) -> None:
    assert connection(tmp_path, "bootstrap.servers=a:1\n", 0o644).brokers == "a:1"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("bootstrap.servers\n", ":1: write name=value"),
        ("a=b\nHELLO WORLD=1\n", ":2: write name=value"),
        ("plugin.library.paths=/tmp/evil.so\n", "may not be set"),
        ("ssl.engine.location=/tmp/evil.so\n", "may not be set"),
        ("enable.auto.commit=true\n", "may not be set"),
        ("group.id=other\n", "may not be set"),
        ("on_delivery_cb=x\n", "may not be set"),
        ("a=b\n", "no broker is named"),
        ("", "no broker is named"),
        ("x" * 70_000, "at most 64 KiB"),
    ],
)
def test_a_bad_file_is_one_clear_error(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(SettingsError, match=reason):
        connection(tmp_path, text)


def test_a_missing_or_odd_file_is_one_clear_error(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(SettingsError):
            Connection(KafkaSettings(properties=path))
    with pytest.raises(SettingsError, match="no broker is named"):
        Connection(KafkaSettings())


def test_secrets_are_struck_out_of_what_is_shown(tmp_path: Path) -> None:
    secrets = "sasl.password=hunter2\nssl.key.password=hunter2x\n"
    text = f"bootstrap.servers=a:1\nsasl.username=me\n{secrets}"
    made = connection(tmp_path, text)
    assert made.shown("refused: hunter2x and hunter2 of me\n\x1b") == "refused: *** and *** of me"


def test_no_secret_stands_in_the_settings() -> None:
    assert not [name for name in KafkaSettings.model_fields if "pass" in name or "secret" in name]


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
    monkeypatch.setattr(kafka, "confluent_kafka", found)
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
