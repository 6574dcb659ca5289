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
from typing import TYPE_CHECKING

from jobsight.documents import JSON, JobDocument, parse_key
from jobsight.errors import OutputError, SourceError
from jobsight.history.sources import Observed, Position, Source
from jobsight.service.kafka import Connection
from jobsight.service.notices.intake import Intake
from jobsight.service.notices.messages import Notice, PoisonError, read_notice
from jobsight.service.notices.watching import Asker, Watched, has_ended, meant
from jobsight.service.publishing import Sender, send_dead_letters
from jobsight.settings import KafkaSettings
from jobsight.text import printable

if TYPE_CHECKING:
    from confluent_kafka import Message

__all__ = ["NoticeSource"]

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
        saved = position or {}
        try:
            if saved.get("version", _VERSION) != _VERSION:
                raise ValueError("of a newer version")
            self._watched.restore(saved.get("waiting", []), active(None))
        except (ValueError, TypeError) as error:
            raise SourceError(
                f"the position of {self.name} is damaged or of a newer version of jobsight "
                f"({error}); update jobsight, or remove the position to begin anew"
            ) from None
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
                    notices.append(self._read(message))
                except PoisonError as error:
                    refused.append((message, str(error)))
            self._send_dead_letters(refused)
            # Only now is the batch ours: before, it would have been counted again at each try.
            self._count(notices, refused)
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

    def _read(self, message: Message) -> Notice:
        stamp = message.timestamp()[1]
        now = time.time_ns() // 1000
        sent = stamp * 1000 if 0 < stamp * 1000 <= now else now
        topic = message.topic() or ""
        notice = read_notice(message.value(), topic, self._settings, sent=sent, now=now)
        self._last_message = sent
        return notice

    def _count(self, notices: list[Notice], refused: list[tuple[Message, str]]) -> None:
        jobcomp = sum(one.document is not None for one in notices)
        self._counts["messages"] += len(notices) + len(refused)
        self._counts["jobcomp"] += jobcomp
        self._counts["notices"] += len(notices) - jobcomp
        self._counts["poison"] += len(refused)
        if refused:
            message, reason = refused[-1]
            place = f"{message.topic()}[{message.partition()}] at {message.offset()}"
            self._last_poison = f"{place}: {reason}"

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
