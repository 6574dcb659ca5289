"""The source `kafka`: notices of jobs, each of which makes Jobsight look that job up by itself.

A poll takes a bounded batch of messages. Messages that name no job are sent to the topic of dead
letters. The jobs noticed are looked up together, at once and then from time to time until they have
ended. Offsets are committed only when the store has the documents and, in this source's position,
the jobs not found yet. So every message counts at least once, and since documents are merged, no
more than once.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import confluent_kafka

from jobsight.clock import now_micros
from jobsight.documents import JSON, JobDocument, parse_key
from jobsight.errors import OutputError, SourceError
from jobsight.history.sources import Observed, Position, Source, resumed
from jobsight.service.kafka import Connection, Sender, send_dead_letters
from jobsight.service.notices.watching import (
    Asker,
    Notice,
    PoisonError,
    Watched,
    has_ended,
    meant,
    read_notice,
)
from jobsight.settings import KafkaSettings
from jobsight.text import printable

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

__all__ = ["Intake", "NoticeSource"]

_VERSION = 1
_JOIN_S = 60.0
"""A member that the group gave nothing by then has nothing to catch up with."""


class NoticeSource(Source):
    """A member of a consumer group that takes job notices.

    Raises:
        SettingsError: no brokers are named, or the file of properties is bad.
    """

    def __init__(self, settings: KafkaSettings, askers: Sequence[Asker] = ()) -> None:
        member = settings.member or socket.gethostname()
        self.name = f"kafka:{settings.group}@{member}"
        self.interval = 0.0  # the wait for messages is the pause
        self._settings = settings
        self._connection = Connection(settings)
        self._sender: Sender | None = None
        self._watched = Watched(
            askers,
            most=settings.watched,
            per_look=settings.jobs_per_look,
            every=settings.collect_seconds,
            unknown_after=settings.unknown_seconds,
        )
        self._intake: Intake | None = None
        self._active: Callable[[str | None], Iterator[JobDocument]] = lambda _: iter(())
        self._held: list[Message] = []
        self._opened = 0.0
        self._counts = dict.fromkeys(("messages", "notices", "jobcomp", "poison"), 0)
        self._last_poison: str | None = None
        self._last_message: int | None = None

    def resume(
        self, position: Position | None, active: Callable[[str | None], Iterator[JobDocument]]
    ) -> None:
        """Go on: messages not committed come again; jobs noticed are watched as before.

        Raises:
            SourceError: the position is damaged or of a newer version, or Kafka refuses us.
        """
        self._active = active
        with resumed(self.name, position, _VERSION) as saved:
            self._watched.restore(saved.get("waiting", []), active(None))
        self._held = []
        self._sound_intake().rewind()

    def poll(self) -> Observed | None:
        """Messages and what their jobs' schedulers say of them; or a look at the jobs watched.

        Raises:
            SourceError: Kafka, or a scheduler, gives no answer, or takes no dead letters.
        """
        intake = self._sound_intake()
        if intake.grown:
            # Jobs noticed by a member that is gone are watched by who gets its partitions.
            intake.grown = False
            self._watched.adopt(self._active(None))
        if not self._held:
            # Where no more jobs can be kept, messages wait at the brokers.
            settings, full = self._settings, self._watched.full
            intake.pause(full)
            most = 1 if full else settings.batch
            self._held = intake.take(most, settings.poll_seconds, settings.gather_seconds)
        if self._held:
            refused: list[tuple[Message, str]] = []
            notices: list[Notice] = []
            for message in self._held:
                try:
                    stamp, now = message.timestamp()[1] * 1000, now_micros()
                    sent = stamp if 0 < stamp <= now else now
                    value, topic = message.value(), message.topic() or ""
                    notices.append(read_notice(value, topic, self._settings, sent=sent, now=now))
                    self._last_message = sent
                except PoisonError as error:
                    refused.append((message, str(error)))
            self._send_dead_letters(refused)
            # Only now is the batch ours: before, it would have been counted again at each try.
            jobcomp = sum(notice.document is not None for notice in notices)
            self._counts["messages"] += len(notices) + len(refused)
            self._counts["jobcomp"] += jobcomp
            self._counts["notices"] += len(notices) - jobcomp
            self._counts["poison"] += len(refused)
            if refused:
                message, reason = refused[-1]
                place = f"{message.topic()}[{message.partition()}] at {message.offset()}"
                self._last_poison = f"{place}: {reason}"
            for notice in notices:
                self._watched.add(notice)
            reported = [one.document for one in notices if one.document is not None]
            looked: list[JobDocument] = []
            self._held = []
            # The jobs not looked up are in the position, and the next poll raises the error.
            with contextlib.suppress(SourceError):
                looked = self._watched.look()
            return self._observed([*_believed(reported, looked), *looked], more=True)
        if self._watched.due:
            return self._observed(self._watched.look())
        if self._catching_up(intake):
            return self._observed([], more=True)
        return None

    def committed(self) -> None:
        """Commit the offsets of the last batch."""
        if self._intake is not None:
            self._intake.done()

    @property
    def problem(self) -> str | None:
        """See `Source.problem`: a topic does not exist (yet); the others are read."""
        lacking = sorted(self._intake.lacking) if self._intake is not None else []
        if not lacking:
            return None
        return (
            f"kafka: no topic {', '.join(lacking[:5])}; make it, or set kafka.topics, kafka.jobcomp"
        )

    def status(self) -> dict[str, JSON]:
        """Lag, counters and calls; no content of messages but the last that was refused."""
        intake = self._intake.status() if self._intake is not None else {}
        return {
            "brokers": self._connection.brokers,
            "topics": list(self._settings.read[:20]),
            **self._counts,
            "last_message": self._last_message,
            "last_poison": self._last_poison,
            **intake,
            **self._watched.status(),
        }

    def close(self) -> None:
        """Leave the group."""
        self._leave()
        self._close_sender()

    def _close_sender(self) -> None:
        if self._sender is not None:
            self._sender.close()
            self._sender = None

    def _send_dead_letters(self, refused: list[tuple[Message, str]]) -> None:
        if not refused:
            return
        topic = self._settings.dead_letters
        try:
            if self._sender is None:
                self._sender = Sender(self._connection, self._settings.timeout_seconds)
            send_dead_letters(self._sender, topic, refused)
        except OutputError as error:
            self._close_sender()
            raise SourceError(
                f"messages that name no job cannot be sent to {printable(topic, 100)!r}, so no "
                "message is taken; check that the topic exists (kafka.dead_letters) and that "
                f"jobsight may write to it: {error}"
            ) from None

    def _observed(self, documents: list[JobDocument], *, more: bool = False) -> Observed:
        position = {"version": _VERSION, "waiting": self._watched.waiting()}
        return Observed(documents, position, more=more)

    def _catching_up(self, intake: Intake) -> bool:
        """Whether messages wait, or that is not known yet."""
        lag = intake.lag()
        if lag is None:
            if intake.lacking.keys() >= set(self._settings.read):
                return False  # the group gives nothing of topics that are not there
            return time.monotonic() - self._opened < _JOIN_S
        return lag > 0

    def _sound_intake(self) -> Intake:
        """The intake, a new one where there is none or the library cannot go on with it."""
        if self._intake is None or self._intake.broken:
            self._leave()
            self._held = []  # not committed: the messages come again
            self._intake = Intake(self._connection, self._settings)
            self._opened = time.monotonic()
        return self._intake

    def _leave(self) -> None:
        if self._intake is not None:
            self._intake.close()
            self._intake = None


def _believed(reported: Sequence[JobDocument], looked: Sequence[JobDocument]) -> list[JobDocument]:
    """What messages report, without ends of jobs that their scheduler shows as not ended.

    And without what Slurm reports of an array, as if it were one job, that is cancelled before a
    task of it started.
    """
    wholes = {str(key) for one in looked for key in meant(parse_key(one.id))[1:]}
    living = {one.id for one in looked if not has_ended(one)}
    believed = [one for one in reported if one.id not in wholes]
    return [one for one in believed if one.id not in living or not has_ended(one)]


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
                continue
            place, offset = (message.topic() or "", message.partition() or 0), message.offset() or 0
            # Messages of partitions that went meanwhile are left out.
            if self.assigned is not None and place in self.assigned:
                first, following = self._open.get(place, (offset, offset))
                self._open[place] = (first, max(following, offset + 1))
                taken.append(message)
        return taken

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
