"""Taking messages out of Kafka, and committing those that are done.

Offsets are only committed by `done`, and only for partitions that are still ours: messages that
were taken and not done when a partition goes to another member, or when the process is killed, are
taken again by the next owner.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import confluent_kafka

from jobsight.documents import JSON
from jobsight.errors import SourceError
from jobsight.service.kafka import Connection
from jobsight.settings import KafkaSettings

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

__all__ = ["Intake"]

_Partition = tuple[str, int]
_COMMITTED_S = 2.0
_PROBE_S = 2.0
_LACKING_S = 30.0


class Intake:
    """A member of the consumer group. One thread at a time.

    Attributes:
        assigned: partitions that are ours now; None: the group has not answered yet.
        rebalances: how often partitions came or went.
        commit_failures: commits that the group refused; a later one counts for them, else their
            messages come again, which changes nothing.
        grown: partitions came since this was last set to false.
        lacking: topics that do not exist, and when they were last looked for.
        broken: after a fatal error of the library; close this one and make another.

    Raises:
        SourceError: a property is unknown or bad.
    """

    def __init__(self, connection: Connection, settings: KafkaSettings) -> None:
        self._connection = connection
        self.assigned: set[_Partition] | None = None
        self.rebalances = self.commit_failures = 0
        self.grown = False
        self.lacking: dict[str, float] = {}
        self._open: dict[_Partition, tuple[int, int]] = {}
        self._paused: set[_Partition] = set()
        self._base: dict[_Partition, int] = {}
        self._failure: str | None = None
        self._down = False
        self._topic = settings.read[0]
        self.broken = False
        configuration = connection.configuration(
            {
                "group.id": settings.group,
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "auto.offset.reset": "earliest",
                # Memory is bounded by this, and by what one batch may hold.
                "queued.max.messages.kbytes": 16_384,
                "fetch.max.bytes": max(8 << 20, settings.message_bytes),
                "error_cb": self._on_error,
                "on_commit": self._on_commit,
            }
        )
        with self._explained():
            self._consumer: Consumer = confluent_kafka.Consumer(configuration)
            self._consumer.subscribe(
                list(settings.read),
                on_assign=self._on_assign,
                on_revoke=self._on_revoke,
                on_lost=self._on_revoke,
            )

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Raises `SourceError` in place of the library's errors."""
        try:
            yield
        except (confluent_kafka.KafkaException, RuntimeError, ValueError, TypeError) as error:
            raise SourceError(f"kafka: {self._connection.shown(error)}") from None

    def take(self, most: int, seconds: float, gather: float) -> list[Message]:
        """Messages, at most so many; from the first on, more are gathered for a while.

        Raises:
            SourceError: no broker answers, or access is refused; nothing was taken then.
        """
        taken = self._consume(most, seconds)
        until = time.monotonic() + gather
        while taken and len(taken) < most and (left := until - time.monotonic()) > 0:
            try:
                taken += self._consume(most - len(taken), left)
            except SourceError as error:
                # What was taken counts as open: it must be returned; the next call raises.
                self._failure = self._failure or str(error).removeprefix("kafka: ")
                break
        if not taken and self._failure is not None:
            failure, self._failure = self._failure, None
            raise SourceError(f"kafka: {failure}")
        if self._down and not taken:
            try:
                self._consumer.list_topics(self._topic, timeout=_PROBE_S)
            except confluent_kafka.KafkaException:
                raise SourceError(f"kafka: {self._nobody()}") from None
        self._down = False
        if self.lacking and not taken:
            now = time.monotonic()
            for topic in [one for one, at in self.lacking.items() if now - at >= _LACKING_S]:
                self.lacking[topic] = now
                with contextlib.suppress(confluent_kafka.KafkaException):
                    found = self._consumer.list_topics(topic, timeout=_PROBE_S).topics.get(topic)
                    if found is not None and found.error is None:
                        del self.lacking[topic]
        return taken

    def _nobody(self) -> str:
        return (
            f"no broker answers at {self._connection.brokers}; see that they run and that their "
            "addresses are right"
        )

    def pause(self, wanted: bool) -> None:
        """Let messages wait at the brokers, or no more.

        `take` is to be called all the same: a member that does not ask is put out of the group. It
        may still give messages of partitions that came in that very call.

        Raises:
            SourceError: that cannot be done now.
        """
        chosen = (self.assigned or set()) - self._paused if wanted else set(self._paused)
        if chosen:
            places = [confluent_kafka.TopicPartition(*place) for place in sorted(chosen)]
            with self._explained():
                (self._consumer.pause if wanted else self._consumer.resume)(places)
            self._paused = self._paused | chosen if wanted else set()

    def done(self) -> None:
        """Commit the offsets behind everything taken, as far as its partitions are still ours."""
        offsets = [confluent_kafka.TopicPartition(*at, end) for at, (_, end) in self._open.items()]
        self._open.clear()
        if offsets:
            try:
                # Not waiting: a lost commit makes a message come again, which changes nothing.
                self._consumer.commit(offsets=offsets, asynchronous=True)
            except (confluent_kafka.KafkaException, RuntimeError):
                self.commit_failures += 1

    def rewind(self) -> None:
        """Take everything that is not done once more; `SourceError`: that cannot be done now."""
        for (topic, partition), (first, _) in self._open.items():
            with self._explained():
                self._consumer.seek(confluent_kafka.TopicPartition(topic, partition, first))
        self._open.clear()

    def lag(self) -> int | None:
        """Messages that wait in our partitions; None: not known (yet)."""
        if self.assigned is None:
            return None
        asked = [confluent_kafka.TopicPartition(*place) for place in self.assigned]
        try:
            # Each with its first and last offset.
            spans = {
                _place(one): self._consumer.get_watermark_offsets(one, cached=True) for one in asked
            }
            at = {_place(one): one.offset for one in self._consumer.position(asked)}
            # Where nothing was taken yet, the group is at what is committed, or at the first.
            new = [one for one in asked if at[_place(one)] < 0 and _place(one) not in self._base]
            for one in self._consumer.committed(new, timeout=_COMMITTED_S) if new else ():
                if one.error is not None:
                    return None
                self._base[_place(one)] = max(one.offset, spans[_place(one)][0], 0)
        except (confluent_kafka.KafkaException, RuntimeError):
            return None
        if any(end < 0 for _, end in spans.values()):
            return None
        return sum(
            max(end - (at[place] if at[place] >= 0 else self._base[place]), 0)
            for place, (_, end) in spans.items()
        )

    def status(self) -> dict[str, JSON]:
        """Counters, and which partitions are ours."""
        assigned = sorted(self.assigned or ())
        return {
            "partitions": [f"{topic}[{partition}]" for topic, partition in assigned[:50]],
            "partition_count": len(assigned),
            "lag": self.lag(),
            "rebalances": self.rebalances,
            "commit_failures": self.commit_failures,
        }

    def close(self) -> None:
        """Leave the group."""
        # One that is broken may refuse even that.
        with contextlib.suppress(confluent_kafka.KafkaException, RuntimeError):
            self._consumer.close()

    def _consume(self, most: int, seconds: float) -> list[Message]:
        with self._explained():
            found = self._consumer.consume(most, timeout=seconds)
        if self.broken:
            raise SourceError(f"kafka: {self._failure}; it must be resumed")
        taken = []
        for message in found:
            error = message.error()
            if error is not None:
                if error.code() == confluent_kafka.KafkaError.UNKNOWN_TOPIC_OR_PART:
                    self.lacking[message.topic() or ""] = time.monotonic()
                else:
                    self._on_error(error)
            elif self._ours(message):
                taken.append(message)
        return taken

    def _ours(self, message: Message) -> bool:
        """Note the message as open; messages of partitions that went meanwhile are left out."""
        place, offset = (message.topic() or "", message.partition() or 0), message.offset() or 0
        if self.assigned is None or place not in self.assigned:
            return False
        first, following = self._open.get(place, (offset, offset))
        self._open[place] = (first, max(following, offset + 1))
        return True

    # called by the library, within `_consume`, `done` and `close`

    def _on_assign(self, consumer: Any, partitions: list[TopicPartition]) -> None:
        del consumer
        self.assigned = (self.assigned or set()) | {_place(one) for one in partitions}
        for topic, _ in self.assigned:
            self.lacking.pop(topic, None)
        self.rebalances += 1
        self.grown = True

    def _on_revoke(self, consumer: Any, partitions: list[TopicPartition]) -> None:
        del consumer
        for place in map(_place, partitions):
            (self.assigned or set()).discard(place)
            self._base.pop(place, None)
            self._paused.discard(place)
            self._open.pop(place, None)
        self.rebalances += 1

    def _on_commit(self, error: KafkaError | None, partitions: list[TopicPartition]) -> None:
        refused = error is not None or any(one.error is not None for one in partitions)
        self.commit_failures += refused

    def _on_error(self, error: KafkaError) -> None:
        ignored = (confluent_kafka.KafkaError._PARTITION_EOF, confluent_kafka.KafkaError._TRANSPORT)
        if error.code() in ignored and not error.fatal():
            return  # one broker of several went away; when all have, that is reported too
        if error.code() == confluent_kafka.KafkaError._ALL_BROKERS_DOWN:
            self._down = True
            self._failure = self._failure or self._nobody()  # refused access says more
            return
        self._failure = self._connection.shown(error)
        self.broken = self.broken or error.fatal()


def _place(one: TopicPartition) -> _Partition:
    return one.topic, one.partition
