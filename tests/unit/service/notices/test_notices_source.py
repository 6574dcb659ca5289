"""What the source of notices does when Kafka's library fails, with no broker at all."""

from collections.abc import Collection, Iterator
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from jobsight.documents import JSON, Event, JobDocument, State, merge
from jobsight.errors import OutputError, SourceError
from jobsight.service.kafka import Connection
from jobsight.service.notices import source as source_module
from jobsight.service.notices.source import Intake, NoticeSource
from jobsight.service.notices.watching import Asker
from jobsight.settings import KafkaSettings

SETTINGS = KafkaSettings(
    brokers="localhost:1", topics=("t",), poll_seconds=0.01, gather_seconds=0.5, member="m"
)


class Message:
    def __init__(self, offset: int, value: bytes = b"{") -> None:
        self._offset = offset
        self._value = value

    def error(self) -> None:
        return None

    def topic(self) -> str:
        return "t"

    def partition(self) -> int:
        return 0

    def offset(self) -> int:
        return self._offset

    def key(self) -> None:
        return None

    def value(self) -> bytes:
        return self._value

    def timestamp(self) -> tuple[int, int]:
        return (1, 1_795_000_000_000)


class Library:
    """Kafka's library, whose consumers do what they are told."""

    KafkaError = KafkaError
    KafkaException = KafkaException

    def __init__(self) -> None:
        self.script: list[Any] = []
        self.made: list[Library.Consumer] = []
        outer = self

        class Consumer(Library.Consumer):
            def __init__(self, configuration: dict[str, Any]) -> None:
                super().__init__(outer, configuration)

        self.Consumer: Any = Consumer  # type: ignore[misc, assignment]

    class Topics:
        error = None

        @property
        def topics(self) -> "dict[str, Library.Topics]":
            return {"t": self}

    class TopicPartition:
        error = None

        def __init__(self, topic: str, partition: int, offset: int = -1001) -> None:
            self.topic, self.partition, self.offset = topic, partition, offset

    class Consumer:
        def __init__(self, library: "Library", configuration: dict[str, Any]) -> None:
            self.library = library
            self.on_error = configuration["error_cb"]
            self.on_commit = configuration["on_commit"]
            self.commits: list[int] = []
            self.committed_calls = self.closed = 0
            library.made.append(self)

        def subscribe(self, topics: list[str], on_assign: Any, **_: Any) -> None:
            on_assign(self, [Library.TopicPartition("t", 0), Library.TopicPartition("t", 1)])

        def consume(self, most: int, timeout: float) -> list[Message]:
            told = self.library.script.pop(0) if self.library.script else []
            if isinstance(told, KafkaError) and told.fatal():
                self.on_error(told)
                return []
            if isinstance(told, KafkaError):
                raise KafkaException(told)
            return list(told)[:most]

        def commit(self, offsets: list["Library.TopicPartition"], asynchronous: bool) -> None:
            assert asynchronous
            self.commits += [one.offset for one in offsets]

        def get_watermark_offsets(self, place: object, cached: bool) -> tuple[int, int]:
            return 3, 10

        def position(self, places: list["Library.TopicPartition"]) -> list[Any]:
            return places

        def committed(self, places: list["Library.TopicPartition"], timeout: float) -> list[Any]:
            self.committed_calls += 1
            told = self.library.script.pop(0) if self.library.script else 5
            if isinstance(told, KafkaError):
                raise KafkaException(told)
            return [Library.TopicPartition(one.topic, one.partition, told) for one in places]

        def list_topics(self, topic: str, timeout: float) -> Any:
            told = self.library.script.pop(0)
            if isinstance(told, KafkaError):
                raise KafkaException(told)
            return told

        def close(self) -> None:
            self.closed += 1


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    made = Library()
    monkeypatch.setattr(source_module, "confluent_kafka", made)
    yield made


def passing() -> KafkaError:
    return KafkaError(KafkaError._TIMED_OUT, "slow")


def test_what_was_taken_before_trouble_is_handed_out_and_the_trouble_told_next(
    library: Library,
) -> None:
    intake = Intake(Connection(SETTINGS), SETTINGS)
    library.script = [[Message(7)], passing()]
    assert [message.offset() for message in intake.take(10, 0.01, 5.0)] == [7]
    intake.done()
    assert library.made[0].commits == [8]
    with pytest.raises(SourceError, match="slow"):
        intake.take(10, 0.01, 0.0)
    assert intake.take(10, 0.01, 0.0) == []


def test_brokers_that_all_went_are_trouble_until_one_answers(library: Library) -> None:
    intake = Intake(Connection(SETTINGS), SETTINGS)
    library.made[0].on_error(KafkaError(KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down"))
    # Told once by the library; then a look at the topic is what tells, until one succeeds.
    scripts: list[list[Any]] = [[[]], [[], passing()], [[], passing()]]
    for script in scripts:
        library.script = script
        with pytest.raises(SourceError, match="no broker answers at localhost:1; see that"):
            intake.take(10, 0.01, 0.0)
    library.script = [[], "topics", []]
    assert intake.take(10, 0.01, 0.0) == []
    assert intake.take(10, 0.01, 0.0) == []
    assert not library.script


def test_dead_letters_that_nobody_takes_are_told_with_their_topic_and_sent_by_another_sender(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    class Refusing:
        def __init__(self, *_: object) -> None:
            made.append("open")

        def send(self, *_: object) -> None:
            raise OutputError("kafka: not delivered: Unknown topic")

        def close(self) -> None:
            made[-1] = "closed"

    monkeypatch.setattr(source_module, "Sender", Refusing)
    source = NoticeSource(SETTINGS, [])
    source.resume(None, lambda _: iter(()))
    library.script = [[Message(7)]]
    for _ in range(2):
        with pytest.raises(SourceError, match=r"'jobsight-dead-letters'.*exists.*Unknown topic"):
            source.poll()
    assert made == ["closed", "closed"]


BELIEVED = SETTINGS.model_copy(update={"topics": (), "jobcomp": {"t": "here"}})
CANCELLED = b'{"jobid": %d, "state": "CANCELLED", "@end": "2024-11-18T00:00:00"}'


class Living(Asker):
    """A cluster whose job 8 waits."""

    scheduler, cluster = "slurm", "here"

    def collect(self, jobs: Collection[str]) -> list[JobDocument]:
        del jobs
        return [JobDocument("slurm:here:8", 1)]

    def calls(self) -> dict[str, JSON]:
        return {}


def test_an_end_is_not_believed_of_a_job_that_its_scheduler_shows_as_living(
    library: Library,
) -> None:
    source = NoticeSource(BELIEVED, [Living()])
    source.resume(None, lambda _: iter(()))
    library.script = [[Message(7, CANCELLED % 8), Message(8, CANCELLED % 9)]]
    seen = source.poll()
    assert seen is not None
    ended = {one.id: merge(None, one).state for one in seen.documents}
    assert ended == {"slurm:here:8": None, "slurm:here:9": State.CANCELLED}


class Array(Asker):
    """A cluster whose job 8 is an array, of two tasks."""

    scheduler, cluster = "slurm", "here"

    def collect(self, jobs: Collection[str]) -> list[JobDocument]:
        end = Event(time=1_795_000_000_000_000, source="sacct", state=State.CANCELLED)
        return [JobDocument(f"slurm:here:8_{task}", 1, timeline=(end,)) for task in range(2)]

    def calls(self) -> dict[str, JSON]:
        return {}


def test_an_array_that_jobcomp_tells_of_as_one_job_is_none(library: Library) -> None:
    source = NoticeSource(BELIEVED, [Array()])
    source.resume(None, lambda _: iter(()))
    library.script = [[Message(7, CANCELLED % 8), Message(8, CANCELLED % 9)]]
    seen = source.poll()
    assert seen is not None
    assert {one.id.rpartition(":")[2] for one in seen.documents} == {"8_0", "8_1", "9"}


def test_commits_that_are_refused_are_counted(library: Library) -> None:
    intake = Intake(Connection(SETTINGS), SETTINGS)
    library.made[0].on_commit(passing(), [])
    library.made[0].on_commit(None, [Library.TopicPartition("t", 0, 8)])
    assert intake.commit_failures == 1


def test_a_consumer_that_cannot_go_on_is_replaced_without_being_resumed(library: Library) -> None:
    source = NoticeSource(SETTINGS)
    source.resume(None, lambda _: iter(()))
    library.script = [KafkaError(KafkaError._FATAL, "fenced", fatal=True)]
    with pytest.raises(SourceError, match="fenced"):
        source.poll()
    source.poll()
    assert [one.closed for one in library.made] == [1, 0]
    source.close()
    assert [one.closed for one in library.made] == [1, 1]


def test_the_lag_asks_once_for_all_partitions_and_forgets_a_failure(library: Library) -> None:
    intake = Intake(Connection(SETTINGS), SETTINGS)
    library.script = [passing()]
    assert intake.lag() is None
    assert intake.lag() == 10
    assert intake.lag() == 10
    assert library.made[0].committed_calls == 2
