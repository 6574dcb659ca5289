"""How to reach Kafka: librdkafka's properties from settings, a file and the environment.

Secrets are in the file (mode 0600) or in the environment, and are struck out of every text that
is shown. Names: librdkafka's CONFIGURATION.md.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import confluent_kafka
import msgspec

from jobsight.documents import Prediction
from jobsight.errors import OutputError, SettingsError
from jobsight.settings import KafkaSettings
from jobsight.text import printable

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message, Producer

__all__ = ["Connection", "Sender", "send_answers", "send_dead_letters"]

_SECRET = re.compile(r"password|secret|\.pem$|oauthbearer\.config|sasl\.jaas")
_FORBIDDEN = re.compile(
    r"plugin\.library\.paths|ssl\.engine\.location|ssl\.providers|.*_cb|"
    r"enable\.auto\.commit|enable\.auto\.offset\.store|group\.id|opaque"
)
"""What would load code, or take from us the promise that offsets follow documents."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._]{0,99}", re.ASCII)
_MOST_BYTES = 64 << 10
_FROM_ENVIRONMENT = {
    "JOBSIGHT_KAFKA_USERNAME": "sasl.username",
    "JOBSIGHT_KAFKA_PASSWORD": "sasl.password",
    "JOBSIGHT_KAFKA_KEY_PASSWORD": "ssl.key.password",
}
_WIDTH = 300


class Connection:
    """How to reach the brokers.

    Raises:
        SettingsError: no brokers are named, or the file is missing, malformed, open to others
            though it holds secrets, or sets what it may not.
    """

    def __init__(self, settings: KafkaSettings) -> None:
        self._properties = _read(settings.properties) if settings.properties else {}
        if settings.brokers is not None:
            self._properties["bootstrap.servers"] = settings.brokers
        for variable, name in _FROM_ENVIRONMENT.items():
            if value := os.environ.get(variable):
                self._properties[name] = value
        if not self._properties.get("bootstrap.servers"):
            raise SettingsError(
                "kafka: no broker is named; set kafka.brokers, or bootstrap.servers in the file "
                "that kafka.properties names"
            )
        self._secrets = sorted(
            (value for name, value in self._properties.items() if _SECRET.search(name)),
            key=len,
            reverse=True,
        )

    @property
    def brokers(self) -> str:
        """The brokers named, to be shown."""
        return printable(self._properties["bootstrap.servers"], _WIDTH)

    def configuration(self, ours: Mapping[str, Any]) -> dict[str, Any]:
        """Properties for a client; `ours` win over those of the file."""
        return {
            "client.id": "jobsight",
            "socket.timeout.ms": 10_000,
            # A topic may come into being after us: jobcomp's does with the first job that ends.
            "topic.metadata.refresh.interval.ms": 30_000,
            # Its own pause between two tries of a broker that refuses does not grow.
            "reconnect.backoff.ms": 1000,
            # It would log the same line at each try of a broker; `error_cb` reports it once.
            "log_level": 2,
            **self._properties,
            **ours,
        }

    def shown(self, error: object) -> str:
        """An error of the library as one line, in its words and without secrets."""
        inner = error.args[0] if isinstance(error, Exception) and error.args else error
        text = str(inner.str() if hasattr(inner, "str") else error)
        for secret in self._secrets:
            text = text.replace(secret, "***") if len(secret) > 2 else text
        return printable(text, _WIDTH)


def _read(path: Path) -> dict[str, str]:
    try:
        # Opened once, so that what is judged is what is read.
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
                raise SettingsError(f"{path} is not a file of properties of at most 64 KiB")
            text = file.read(_MOST_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot read Kafka's properties from {path}: {error}") from None
    properties: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()  # noqa: PLW2901
        if not line or line.startswith("#"):
            continue
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not _NAME.fullmatch(name):
            raise SettingsError(f"{path}:{number}: write name=value")
        if _FORBIDDEN.fullmatch(name):
            raise SettingsError(f"{path}:{number}: {name} may not be set for jobsight")
        properties[name] = value
    if any(_SECRET.search(name) for name in properties) and status.st_mode & 0o077:
        raise SettingsError(f"{path} holds secrets, and others may read it; run: chmod 600 {path}")
    return properties


Headers = list[tuple[str, str | bytes | None]]

_DEAD_LETTER_BYTES = 64 << 10


class Sender:
    """An idempotent producer: its messages arrive once, in order, on all replicas.

    One thread at a time; `flush` to be sure that they arrived, each within `timeout` seconds. After
    an error another sender is needed: the library's may be fatal.

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
        """Wait until all messages have arrived; `OutputError`: some have not; says why."""
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
