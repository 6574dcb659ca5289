"""A Kafka broker in a process of its own; it speaks the real protocol on a port of 127.0.0.1."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import uuid4

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    Message,
    Producer,
    TopicPartition,
)

from tests.support.limits import limit
from tests.testbed.errors import BedError
from tests.testbed.namespace import new_folder, remove, until

__all__ = ["KafkaBroker"]

_PROGRAM = Path(__file__).with_name("broker_process.py")


class KafkaBroker:
    """librdkafka's mock cluster: producers, consumer groups, offsets, rebalances, over the wire.

    It keeps everything in memory: a broker started again is an empty one at another address. Topics
    come into being when first used, with four partitions. It waits 3 s before a new group gets its
    partitions.

    Attributes:
        bootstrap: `127.0.0.1:PORT`, for `bootstrap.servers`; known once started.
        folder: where its log is, or None before the start.
    """

    bootstrap: str

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self.folder: Path | None = None

    def start(self) -> "KafkaBroker":
        """Start the broker."""
        self.folder = new_folder("kafka")
        watch = os.pidfd_open(os.getpid())
        try:
            with (self.folder / "logs/broker.log").open("ab") as log:
                self._process = subprocess.Popen(
                    [sys.executable, str(_PROGRAM), str(watch), str(self.folder)],
                    text=True, start_new_session=True,
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, pass_fds=(watch,),
                )  # fmt: skip
        finally:
            os.close(watch)
        assert self._process.stdout
        self.bootstrap = self._process.stdout.readline().strip()
        if not self.bootstrap:
            raise BedError(f"the Kafka broker did not start; logs: {self.stop(keep_logs=True)}")
        return self

    def stop(self, *, keep_logs: bool = False) -> Path | None:
        """Stop for sure; where the logs were kept, if so."""
        process, self._process = self._process, None
        if process is not None and process.stdin and process.stdout:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()
        return remove(self.folder, keep_logs=keep_logs) if self.folder else None

    def __enter__(self) -> "KafkaBroker":
        return self.start()

    def __exit__(self, kind: object, *_: object) -> None:
        self.stop(keep_logs=kind is not None)

    def pause(self) -> None:
        """Freeze the broker: connections stay open and nothing is answered, until `resume`."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a frozen broker go on."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        assert self._process
        self._process.send_signal(number)

    def produce(self, topic: str, values: Iterable[bytes | str | dict[str, Any]]) -> None:
        """Write messages (dictionaries as JSON) and wait until the broker has them all."""
        producer = Producer({"bootstrap.servers": self.bootstrap})
        for value in values:
            producer.produce(topic, json.dumps(value) if isinstance(value, dict) else value)
        if producer.flush(30):
            raise BedError(f"the Kafka broker did not take all messages for {topic}")

    def consume(self, topic: str, count: int, *, timeout: float = 30.0) -> list[bytes]:
        """Read the first `count` messages of a topic, as no member of any group.

        Raises:
            BedError: they have not come within `timeout` seconds.
        """
        consumer = Consumer({
            "bootstrap.servers": self.bootstrap, "group.id": uuid4().hex,
            "enable.auto.commit": False, "allow.auto.create.topics": True,
        })  # fmt: skip
        values: list[bytes] = []
        end = time.monotonic() + limit(timeout)
        try:
            parts = until(
                lambda: consumer.list_topics(topic, timeout=10).topics[topic].partitions,
                f"topic {topic} to come into being", timeout=timeout,
            )  # fmt: skip
            consumer.assign([TopicPartition(topic, part, OFFSET_BEGINNING) for part in parts])
            while len(values) < count:
                if time.monotonic() > end:
                    raise BedError(f"{len(values)} of {count} messages of {topic} in {timeout:g} s")
                message = consumer.poll(0.2)
                if message is not None and _sound(message):
                    values.append(message.value() or b"")
        finally:
            consumer.close()
        return values


def _sound(message: Message) -> bool:
    """Whether it is a message; what merely says "not yet" is none, any other error is raised."""
    error = message.error()
    if error is None:
        return True
    if error.code() not in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._PARTITION_EOF):
        raise BedError(f"Kafka: {error.str()}")
    return False
