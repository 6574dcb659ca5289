"""Sending messages and knowing that they arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobsight.errors import OutputError
from jobsight.service.kafka import Connection, library

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message, Producer

__all__ = ["Sender"]

Headers = list[tuple[str, str | bytes | None]]


class Sender:
    """An idempotent producer: what it sends stands in its topic once, in order, on all replicas.

    One thread at a time. Where the library cannot go on (a fatal error: the brokers lost what the
    producer had sent, or did not let it in), the next message is sent by a new producer.

    Args:
        connection: how to reach the brokers.
        timeout: seconds for a delivery.

    Attributes:
        delivered: messages that the brokers have confirmed.
        failed: messages that they have not.

    Raises:
        OutputError: a property is unknown or bad.
    """

    def __init__(self, connection: Connection, timeout: float) -> None:
        self._kafka = library()
        self._connection = connection
        self._timeout = timeout
        self.delivered = self.failed = 0
        self._trouble: str | None = None
        self._broken = False
        self._producer = self._made()

    def send(self, topic: str, key: bytes | None, value: bytes, headers: Headers) -> None:
        """Hand over a message; `flush` says whether it arrived.

        Raises:
            OutputError: it is too large, or the queue stays full.
        """
        if self._broken:
            self._producer, self._broken = self._made(), False
        for _ in range(2):
            try:
                self._producer.produce(
                    topic, value=value, key=key, headers=headers, on_delivery=self._on_delivery
                )
            except BufferError:
                self._flushed(self._timeout)
            except (self._kafka.KafkaException, ValueError, TypeError) as error:
                self.failed += 1
                self._note(error)
                raise OutputError(f"kafka: {self._connection.shown(error)}") from None
            else:
                self._producer.poll(0)
                return
        raise OutputError(f"kafka: no broker takes messages ({self._connection.brokers})")

    def flush(self) -> None:
        """Wait until everything sent has arrived.

        Raises:
            OutputError: something has not; says why.
        """
        failed = self.failed
        left = self._flushed(self._timeout + 1.0)
        if left:
            self.close()
        if self.failed > failed or left:
            raise OutputError(f"kafka: not delivered: {self._trouble or 'no answer in time'}")

    def close(self) -> None:
        """Give up what has not been sent."""
        self._producer.purge()
        self._flushed(1.0)

    def _made(self) -> Producer:
        configuration = self._connection.configuration(
            {
                "enable.idempotence": True,
                "acks": "all",
                "delivery.timeout.ms": round(self._timeout * 1000),
                "linger.ms": 5,
                "error_cb": self._on_error,
            }
        )
        try:
            made: Producer = self._kafka.Producer(configuration)
        except (self._kafka.KafkaException, ValueError, TypeError) as error:
            raise OutputError(f"kafka: {self._connection.shown(error)}") from None
        return made

    def _flushed(self, seconds: float) -> int:
        """How many messages have neither arrived nor failed after a while."""
        try:
            return int(self._producer.flush(seconds))
        except self._kafka.KafkaException as error:
            self._trouble = self._connection.shown(error)
            self._note(error)
            return len(self._producer)

    def _note(self, error: Exception) -> None:
        """Note whether the library can go on. What is fatal is raised, not told to callbacks."""
        told = error.args[0] if error.args else None
        if isinstance(told, self._kafka.KafkaError):
            self._broken = self._broken or told.fatal() or told.code() == told._FATAL

    def _on_delivery(self, error: KafkaError | None, message: Message) -> None:
        del message
        if error is None:
            self.delivered += 1
        else:
            self.failed += 1
            self._trouble = self._connection.shown(error)

    def _on_error(self, error: KafkaError) -> None:
        self._trouble = self._connection.shown(error)
