"""Job notices in tests: a cluster in memory, and who collects what is noticed of it."""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from tests.support.limits import limit
from tests.testbed.kafka import KafkaBroker

from jobsight.documents import JSON, Event, JobDocument, State, Submission, parse_key, slurm_id
from jobsight.errors import SourceError
from jobsight.service.notices.source import NoticeSource
from jobsight.service.notices.watching import Asker
from jobsight.service.worker import Worker
from jobsight.settings import CollectSettings, KafkaSettings
from jobsight.store import Store

NOW = 1_795_224_000
# The mock broker rebalances a group only when its members' sessions may have ended; one that is
# shorter than its first delay of 3 s never begins.
QUICK = (
    "session.timeout.ms=6000\nheartbeat.interval.ms=300\ntopic.metadata.refresh.interval.ms=1000\n"
)


class Scheduler(Asker):
    """A cluster in memory: jobs by their ids, and how often it was asked."""

    scheduler = "slurm"
    cluster = "here"

    def __init__(self) -> None:
        self.jobs: dict[str, State] = {}
        self.asked: list[int] = []
        self.down = False

    def collect(self, jobs: Collection[str]) -> list[JobDocument]:
        self.asked.append(len(jobs))
        if self.down:
            raise SourceError("the controller is down")
        return [self._document(job, self.jobs[job]) for job in sorted(jobs) if job in self.jobs]

    def calls(self) -> dict[str, JSON]:
        return {"squeue": len(self.asked)}

    def _document(self, job: str, state: State) -> JobDocument:
        start = Event(time=NOW * 1_000_000, source="squeue", state=State.RUNNING)
        end = Event(time=(NOW + 9) * 1_000_000, source="sacct", state=state, return_value=0)
        timeline = (start, end) if state.ended else (start,)
        told = Submission(name=f"job {job}", submitted=NOW * 1_000_000)
        return JobDocument(slurm_id("here", job), end.time, submission=told, timeline=timeline)


def settings(broker: KafkaBroker, topic: str, **others: Any) -> KafkaSettings:
    return KafkaSettings.model_validate(
        {
            "brokers": broker.bootstrap,
            "group": f"group-{topic}",
            "topics": [topic],
            "dead_letters": f"dead-{topic}",
            "answers": f"answers-{topic}",
            "poll_seconds": 0.2,
            "gather_seconds": 0.1,
            "collect_seconds": 0.3,
            "timeout_seconds": 10.0,
            **others,
        }
    )


def notice(job: str | int, state: str = "PENDING") -> dict[str, Any]:
    return {"cluster": "here", "job_id": job, "state": state, "time": NOW}


class Collecting:
    """A member of the group at work in a thread, stopped for sure."""

    def __init__(self, store: Store, told: KafkaSettings, scheduler: Asker) -> None:
        self.source = NoticeSource(told, [scheduler])
        self.stop = threading.Event()
        self.store = store
        pauses = CollectSettings(first_pause=0.1, longest_pause=0.5)
        self.worker = Worker(self.source, pauses, self.stop)

    def __enter__(self) -> Worker:
        self.worker.start(self.store)
        return self.worker

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        assert self.worker.join(limit(30))


def stored(store: Store) -> dict[str, State | None]:
    return {parse_key(one.id).job: one.state for one in store.scan()}


def committed(broker: KafkaBroker, told: KafkaSettings) -> int:
    """The sum of the group's committed offsets, over the topic's partitions."""
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": told.group})
    try:
        (topic,) = told.topics
        partitions = consumer.list_topics(topic, timeout=limit(10)).topics[topic].partitions
        asked = [TopicPartition(topic, number) for number in partitions]
        return sum(max(one.offset, 0) for one in consumer.committed(asked, timeout=limit(10)))
    finally:
        consumer.close()
