"""Sending messages to Kafka and waiting until they arrived: answers, and dead letters.

An answer is one message in the topic ``kafka.answers``: the key is the job document's id, so that a
job's answers stay in order; the value is JSON, ``{"id": …, "question": …, "model": …, "time": …,
"inputs": …, "answer": {…}}`` with `time` in µs since 1970.

A dead letter is a message that names no job, copied to ``kafka.dead_letters`` with the headers
``jobsight-reason``, ``jobsight-topic``, ``jobsight-partition``, ``jobsight-offset``,
``jobsight-timestamp`` (ms since 1970, -1: unknown) and ``jobsight-bytes``, the length of the value,
of which the first 64 KiB are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import confluent_kafka
import msgspec

from jobsight.documents import Prediction
from jobsight.errors import OutputError
from jobsight.service.kafka import Connection
from jobsight.settings import KafkaSettings

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message, Producer

__all__ = ["Sender", "send_answers", "send_dead_letters"]

Headers = list[tuple[str, str | bytes | None]]

_DEAD_LETTER_BYTES = 64 << 10


class Sender:
    """An idempotent producer: its messages arrive once, in order, on all replicas.

    One thread at a time; `flush` to be sure that they arrived. After an error another sender is
    needed: the library's may be fatal.

    Args:
        connection: how to reach the brokers.
        timeout: seconds for a delivery.

    Raises:
        OutputError: a property is unknown or bad.
    """

    def __init__(self, connection: Connection, timeout: float) -> None:
        self._connection = connection
        self._timeout = timeout
        self._failed = 0
        self._error: str | None = None
        configuration = connection.configuration(
            {
                "enable.idempotence": True,
                "acks": "all",
                "delivery.timeout.ms": round(timeout * 1000),
                "linger.ms": 5,
                "error_cb": self._on_error,
            }
        )
        try:
            self._producer: Producer = confluent_kafka.Producer(configuration)
        except (confluent_kafka.KafkaException, ValueError, TypeError) as error:
            raise OutputError(f"kafka: {connection.shown(error)}") from None

    def send(self, topic: str, key: bytes | None, value: bytes, headers: Headers) -> None:
        """Queue a message; `flush` says whether it arrived.

        Raises:
            OutputError: it is too large, or the queue stays full.
        """
        for _ in range(2):
            try:
                self._producer.produce(
                    topic, value=value, key=key, headers=headers, on_delivery=self._on_delivery
                )
            except BufferError:
                self._flushed(self._timeout)
            except (confluent_kafka.KafkaException, ValueError, TypeError) as error:
                raise OutputError(f"kafka: {self._connection.shown(error)}") from None
            else:
                self._producer.poll(0)
                return
        raise OutputError(f"kafka: no broker takes messages ({self._connection.brokers})")

    def flush(self) -> None:
        """Wait until all messages have arrived.

        Raises:
            OutputError: some have not; says why.
        """
        failed = self._failed
        left = self._flushed(self._timeout + 1.0)
        if left:
            self.close()
        if self._failed > failed or left:
            raise OutputError(f"kafka: not delivered: {self._error or 'no answer in time'}")

    def close(self) -> None:
        """Drop what has not been sent."""
        self._producer.purge()
        self._flushed(1.0)

    def _flushed(self, seconds: float) -> int:
        """How many messages have neither arrived nor failed after that many seconds."""
        try:
            return int(self._producer.flush(seconds))
        except confluent_kafka.KafkaException as error:
            self._error = self._connection.shown(error)
            return len(self._producer)

    def _on_delivery(self, error: KafkaError | None, _: Message) -> None:
        if error is not None:
            self._failed += 1
            self._on_error(error)

    def _on_error(self, error: KafkaError) -> None:
        self._error = self._connection.shown(error)


def send_answers(settings: KafkaSettings, answers: Iterable[tuple[str, Prediction]]) -> None:
    """Send predictions, each with the id of its document, and wait for all to arrive.

    Raises:
        SettingsError: no brokers are named.
        OutputError: a property of librdkafka is bad, or some did not arrive.
    """
    sender = Sender(Connection(settings), settings.timeout_seconds)
    try:
        for id_, one in answers:
            try:
                # As msgspec writes it, NaN is null.
                value = msgspec.json.encode({"id": id_, **msgspec.to_builtins(one)})
            except ValueError as error:  # of half a surrogate pair
                raise OutputError(f"the answer for {id_} cannot be written: {error}") from None
            key = id_.encode("utf-8", "replace")
            sender.send(settings.answers, key, value, [("question", one.question)])
        sender.flush()
    finally:
        sender.close()


def send_dead_letters(sender: Sender, topic: str, messages: Sequence[tuple[Message, str]]) -> None:
    """Send messages, each with the reason why it is refused, and wait for all to arrive.

    Raises:
        OutputError: some did not; their offsets must not be committed.
    """
    for message, reason in messages:
        value, key = message.value() or b"", message.key()
        headers: Headers = [
            ("jobsight-reason", reason[:400]),
            ("jobsight-topic", message.topic() or ""),
            ("jobsight-partition", str(message.partition())),
            ("jobsight-offset", str(message.offset())),
            ("jobsight-timestamp", str(message.timestamp()[1])),
            ("jobsight-bytes", str(len(value))),
        ]
        sender.send(topic, key and key[:1024], value[:_DEAD_LETTER_BYTES], headers)
    sender.flush()
