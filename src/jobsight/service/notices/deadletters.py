"""Messages that tell of no job go to a topic of their own, with the reason in their headers.

Headers: ``jobsight-reason``, ``jobsight-topic``, ``jobsight-partition``, ``jobsight-offset``,
``jobsight-timestamp`` (ms since 1970, -1: unknown) and ``jobsight-bytes``, the length of the value,
of which the first 64 KiB are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jobsight.errors import OutputError, SourceError
from jobsight.service.kafka import Connection
from jobsight.service.producing import Sender
from jobsight.settings import KafkaSettings
from jobsight.text import printable

if TYPE_CHECKING:
    from confluent_kafka import Message

__all__ = ["KEPT_BYTES", "DeadLetters"]

KEPT_BYTES = 64 << 10


class DeadLetters:
    """Delivers dead letters, and says so only when they have arrived. One thread at a time."""

    def __init__(self, connection: Connection, settings: KafkaSettings) -> None:
        self._connection = connection
        self._settings = settings
        self._sender: Sender | None = None

    def deliver(self, letters: Sequence[tuple[Message, str]]) -> None:
        """Send messages, each with the reason why it is dead, and wait for all to arrive.

        Raises:
            SourceError: some did not; their offsets must not be committed.
        """
        if not letters:
            return
        try:
            if self._sender is None:
                self._sender = Sender(self._connection, self._settings.timeout_seconds)
            for message, reason in letters:
                self._send(self._sender, message, reason)
            self._sender.flush()
        except OutputError as error:
            topic = printable(self._settings.dead_letters, 100)
            raise SourceError(
                f"messages that tell of no job cannot be sent to {topic!r}, so none is taken; see "
                f"that the topic is there (kafka.dead_letters) and may be written to: {error}"
            ) from None

    def close(self) -> None:
        """Let go of the connection."""
        if self._sender is not None:
            self._sender.close()
            self._sender = None

    def _send(self, sender: Sender, message: Message, reason: str) -> None:
        value, key = message.value() or b"", message.key()
        headers: list[tuple[str, str | bytes | None]] = [
            ("jobsight-reason", reason[:400]),
            ("jobsight-topic", message.topic() or ""),
            ("jobsight-partition", str(message.partition())),
            ("jobsight-offset", str(message.offset())),
            ("jobsight-timestamp", str(message.timestamp()[1])),
            ("jobsight-bytes", str(len(value))),
        ]
        topic = self._settings.dead_letters
        sender.send(topic, None if key is None else key[:1024], value[:KEPT_BYTES], headers)
