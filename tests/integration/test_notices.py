"""Job notices over the wire: a real broker process, real consumer groups, a real store.

The scheduler is one in memory, so that thousands of jobs, rebalances and kills are quick;
`test_notices_live` asks real ones.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from tests.integration.noticing import Collecting, Scheduler, committed, notice, settings, stored
from tests.support.limits import PROVE, limit
from tests.testbed.kafka import KafkaBroker
from tests.testbed.namespace import until

from jobsight.documents import State, slurm_id
from jobsight.errors import SourceError, StoreUnavailableError
from jobsight.service.notices.source import NoticeSource
from jobsight.service.notices.watching import MOST_WAITING
from jobsight.store import Store


def test_a_notice_makes_jobsight_collect_the_job_until_it_has_ended(
    kafka_broker: KafkaBroker, topic: str, store: Store
) -> None:
    told, scheduler = settings(kafka_broker, topic), Scheduler()
    scheduler.jobs = {"7": State.RUNNING, "8_1": State.COMPLETED}
    kafka_broker.produce(topic, [notice(7), notice("8_1", "COMPLETED"), notice(9)])
    with Collecting(store, told, scheduler) as worker:
        until(lambda: len(stored(store)) == 2, "two jobs")
        assert stored(store) == {"7": State.RUNNING, "8_1": State.COMPLETED}
        scheduler.jobs["7"] = State.FAILED
        until(lambda: stored(store)["7"] is State.FAILED, "the end of 7")
        scheduler.jobs["9"] = State.COMPLETED  # the notice was faster than the scheduler
        until(lambda: stored(store).get("9") is State.COMPLETED, "job 9")
        until(lambda: worker.snapshot()["source"]["watched"] == 0, "nothing to watch")
    until(lambda: committed(kafka_broker, told) == 3, "three offsets")
    document = store.get([slurm_id("here", "7")])[slurm_id("here", "7")].document
    assert document.submission.name == "job 7"
    assert {one.source for one in document.timeline} == {"notice", "squeue", "sacct"}
    assert worker.snapshot()["errors"] == 0


def test_messages_to_the_notices_topic_cannot_forge_a_job(
    kafka_broker: KafkaBroker, topic: str, store: Store
) -> None:
    told, scheduler = settings(kafka_broker, topic), Scheduler()
    scheduler.jobs = {"7": State.RUNNING}
    says = {"state": "COMPLETED", "username": "root", "script": "#!/bin/sh\nevil\n"}
    ended = {"jobid": 7, "cluster": "here", "@end": "2026-11-21T01:00:00", **says}
    forged = [ended, ended | {"jobid": 8}, notice(7) | says, notice(9) | says]
    kafka_broker.produce(topic, forged)
    with Collecting(store, told, scheduler) as worker:
        until(lambda: committed(kafka_broker, told) == 4, "all offsets")
        source = worker.snapshot()["source"]
    assert stored(store) == {"7": State.RUNNING}
    found = store.get([slurm_id("here", "7")])[slurm_id("here", "7")].document
    assert (found.submission.user, found.submission.script) == (None, None)
    assert found.timeline[-1].source == "squeue"
    assert (source["poison"], source["notices"]) == (2, 2)
    assert "kafka.jobcomp" in source["last_poison"]


def test_many_notices_take_few_calls(kafka_broker: KafkaBroker, topic: str, store: Store) -> None:
    told, scheduler = settings(kafka_broker, topic, gather_seconds=0.5), Scheduler()
    scheduler.jobs = {str(job): State.COMPLETED for job in range(1, 2001)}
    kafka_broker.produce(topic, [notice(job) for job in range(1, 2001)])
    with Collecting(store, told, scheduler) as worker:
        until(lambda: len(stored(store)) == 2000, "all jobs")
        until(lambda: worker.snapshot()["source"].get("lag") == 0, "no lag")
    assert len(scheduler.asked) <= 12
    assert max(scheduler.asked) <= 500


def test_poison_goes_to_the_dead_letters_with_its_reason_before_its_offset_is_committed(
    kafka_broker: KafkaBroker, topic: str, store: Store
) -> None:
    told, scheduler = settings(kafka_broker, topic, message_bytes=2048), Scheduler()
    scheduler.jobs = {"1": State.COMPLETED}
    poison: list[Any] = [
        b"\xff\xfe", b"{", b"[]", {"cluster": "here"}, notice("1; rm -rf /"), notice(-4),
        notice(2**50), b"x" * 5000, {"jobid": 1},
    ]  # fmt: skip
    kafka_broker.produce(topic, [*poison[:4], notice(1), *poison[4:]])
    with Collecting(store, told, scheduler) as worker:
        until(lambda: worker.snapshot()["source"].get("poison") == len(poison), "all poison")
        until(lambda: stored(store) == {"1": State.COMPLETED}, "the good one")
    until(lambda: committed(kafka_broker, told) == len(poison) + 1, "all offsets")
    letters = headers_of(kafka_broker, told.dead_letters, len(poison))
    assert len(letters) == len(poison)
    reasons = {headers["jobsight-reason"] for headers, _ in letters}
    assert {"no UTF-8", "no JSON", "no JSON object"} <= reasons
    assert {headers["jobsight-topic"] for headers, _ in letters} == {topic}
    assert any(headers["jobsight-bytes"] == "5000" for headers, _ in letters)
    assert b"\xff\xfe" in {value for _, value in letters}
    assert worker.snapshot()["errors"] == 0


def headers_of(broker: KafkaBroker, topic: str, count: int) -> list[tuple[dict[str, str], bytes]]:
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap, "group.id": f"{topic}-reader",
         "auto.offset.reset": "earliest"}
    )  # fmt: skip
    found: list[tuple[dict[str, str], bytes]] = []
    try:
        partitions = consumer.list_topics(topic, timeout=limit(10)).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
        deadline = time.monotonic() + limit(20)
        while len(found) < count and time.monotonic() < deadline:
            message = consumer.poll(0.2)
            if message is not None and message.error() is None:
                headers = dict(message.headers() or [])
                shown = {
                    name: value.decode() if isinstance(value, bytes) else str(value)
                    for name, value in headers.items()
                }
                found.append((shown, message.value() or b""))
    finally:
        consumer.close()
    return found


def test_offsets_are_not_committed_before_the_store_has_the_documents(
    kafka_broker: KafkaBroker, topic: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, scheduler = settings(kafka_broker, topic), Scheduler()
    scheduler.jobs = {str(job): State.COMPLETED for job in range(1, 21)}
    merge = store.merge
    failures: list[int] = []

    def failing(*arguments: Any) -> Any:
        if len(failures) < 4:
            failures.append(committed(kafka_broker, told))
            raise StoreUnavailableError("the disk is full")
        return merge(*arguments)

    monkeypatch.setattr(store, "merge", failing)
    kafka_broker.produce(topic, [notice(job) for job in range(1, 21)])
    with Collecting(store, told, scheduler) as worker:
        until(lambda: len(stored(store)) == 20, "all jobs")
        until(lambda: committed(kafka_broker, told) == 20, "all offsets")
    assert failures == [0, 0, 0, 0]
    assert worker.snapshot()["errors"] == 4


def test_a_scheduler_that_is_down_loses_no_notice_even_over_a_restart(
    kafka_broker: KafkaBroker, topic: str, store: Store
) -> None:
    told, scheduler = settings(kafka_broker, topic), Scheduler()
    scheduler.down = True
    kafka_broker.produce(topic, [notice(job) for job in range(1, 31)])
    with Collecting(store, told, scheduler) as worker:
        until(lambda: committed(kafka_broker, told) == 30, "all offsets: the position has them")
        until(lambda: not worker.healthy, "problem")
        assert "controller is down" in worker.snapshot()["last_error"]["text"]
    assert not stored(store)
    scheduler.down = False
    scheduler.jobs = {str(job): State.RUNNING for job in range(1, 31)}
    with Collecting(store, told, scheduler):
        until(lambda: len(stored(store)) == 30, "all jobs")
    scheduler.jobs = dict.fromkeys(scheduler.jobs, State.COMPLETED)
    with Collecting(store, told, scheduler):
        until(lambda: set(stored(store).values()) == {State.COMPLETED}, "all ends")


def test_notices_of_thousands_of_jobs_that_nobody_knows_delay_but_block_nothing(
    kafka_broker: KafkaBroker, topic: str, store: Store, quick: Path
) -> None:
    patience = limit(12.0)  # a busy machine must not give up the first before it has read them all
    told = settings(
        kafka_broker, topic, unknown_seconds=patience, collect_seconds=2.0, batch=2000,
        properties=quick,
    )  # fmt: skip
    unknown, scheduler = MOST_WAITING + 1000, Scheduler()
    scheduler.jobs = {"9000000": State.COMPLETED}
    kafka_broker.produce(topic, [notice(job) for job in range(1, unknown + 1)])
    with Collecting(store, told, scheduler) as worker:
        until(lambda: worker.snapshot()["source"].get("full"), "as many as can be kept")
        polls, begun = worker.snapshot()["polls"], time.monotonic()
        kafka_broker.produce(topic, [notice(9_000_000)])
        until(
            lambda: stored(store) == {"9000000": State.COMPLETED},
            "the job that is known",
            timeout=60,
        )
        spent = time.monotonic() - begun
        assert worker.snapshot()["polls"] - polls < 20 + 20 * spent, "it spins"
        until(
            lambda: worker.snapshot()["source"]["given_up"] == unknown,
            "no more to watch",
            timeout=60,
        )
        assert worker.snapshot()["source"]["rebalances"] == 1
        assert worker.snapshot()["errors"] == 0
    until(lambda: committed(kafka_broker, told) == unknown + 1, "all offsets")


def test_members_that_come_and_go_lose_and_double_nothing(
    kafka_broker: KafkaBroker, topic: str, store: Store, quick: Path
) -> None:
    scheduler = Scheduler()
    scheduler.jobs = {str(job): State.COMPLETED for job in range(1, 1201)}
    kafka_broker.produce(topic, [notice(job) for job in range(1, 401)])
    one = settings(kafka_broker, topic, member="one", batch=50, properties=quick)
    two = settings(kafka_broker, topic, member="two", batch=50, properties=quick)
    with Collecting(store, one, scheduler) as first:
        until(lambda: len(stored(store)) >= 100, "the first jobs")
        with Collecting(store, two, scheduler) as second:
            kafka_broker.produce(topic, [notice(job) for job in range(401, 801)])
            shared = lambda: all(  # noqa: E731
                (member.snapshot()["source"].get("partition_count") or 0) in (1, 2, 3)
                for member in (first, second)
            )
            until(shared, "both having partitions")
            kafka_broker.produce(topic, [notice(job) for job in range(801, 1001)])
            until(lambda: len(stored(store)) == 1000, "a thousand jobs")
        kafka_broker.produce(topic, [notice(job) for job in range(1001, 1201)])
        until(lambda: len(stored(store)) == 1200, "all jobs")
        assert first.snapshot()["source"]["rebalances"] >= 3
        # What was not committed when the other left comes again, and only then counts as done.
        until(lambda: committed(kafka_broker, one) == 1200, "all offsets")
    assert {len(document.timeline) for document in store.scan()} == {2}


MEMBER = """
import os, sys, threading
from jobsight.documents import State
from jobsight.service.worker import Worker
from jobsight.service.notices.source import NoticeSource
from jobsight.settings import CollectSettings, KafkaSettings
from jobsight.store import open_store
from tests.integration import noticing

told = KafkaSettings.model_validate_json(sys.argv[1])
scheduler = noticing.Scheduler()
scheduler.jobs = {str(job): State.COMPLETED for job in range(1, 601)}
store = open_store(sys.argv[2])
worker = Worker(NoticeSource(told, [scheduler]), CollectSettings(), threading.Event())
worker.start(store)
print("up", flush=True)
threading.Event().wait(120)
"""


def test_members_killed_at_random_moments_lose_and_double_nothing(
    kafka_broker: KafkaBroker, topic: str, store: Store, quick: Path, tmp_path: Path
) -> None:
    told = settings(kafka_broker, topic, batch=10, properties=quick)
    kafka_broker.produce(topic, [notice(job) for job in range(1, 601)])
    command = [sys.executable, "-c", MEMBER, told.model_dump_json(), str(tmp_path / "jobs.db")]
    rng = random.Random(3)
    kills = 12 if PROVE else 1
    for kill in range(kills + 1):
        last = kill == kills
        enough = 600 if last else len(stored(store)) + rng.randrange(10, 200)
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
        ) as member:
            assert member.stdout is not None
            assert member.stdout.readline() == "up\n"
            until(lambda: len(stored(store)) >= min(enough, 600), "more jobs")  # noqa: B023
            time.sleep(rng.random() / 10)
            member.send_signal(signal.SIGKILL)
    assert {len(document.timeline) for document in store.scan()} == {2}
    with Collecting(store, told, Scheduler()) as worker:
        until(lambda: worker.snapshot()["source"].get("lag") == 0, "no lag")
    until(lambda: committed(kafka_broker, told) == 600, "all offsets")


def test_a_broker_that_freezes_is_told_and_waited_for(topic: str, store: Store) -> None:
    with KafkaBroker() as broker:
        told, scheduler = settings(broker, topic), Scheduler()
        scheduler.jobs = {"1": State.COMPLETED, "2": State.COMPLETED}
        broker.produce(topic, [notice(1)])
        with Collecting(store, told, scheduler):
            until(lambda: "1" in stored(store), "job 1")
            broker.pause()
            time.sleep(1)
            broker.resume()
            broker.produce(topic, [notice(2)])
            until(lambda: "2" in stored(store), "job 2")


def test_a_topic_that_is_not_there_is_trouble_until_it_is(
    kafka_broker: KafkaBroker,
    topic: str,
    store: Store,
    quick: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("jobsight.service.notices.source._LACKING_S", 0.2)
    late = f"late-{topic}"
    told = settings(kafka_broker, topic, topics=[topic, late], properties=quick)
    scheduler = Scheduler()
    scheduler.jobs = {"1": State.COMPLETED, "2": State.COMPLETED}
    kafka_broker.produce(topic, [notice(1)])

    def said() -> list[str]:
        events = [one.message for one in caplog.records]
        return [one for one in events if one in ("source failed", "source recovered")]

    with caplog.at_level("INFO", "jobsight.service"), Collecting(store, told, scheduler) as worker:
        until(lambda: "1" in stored(store), "the job of the topic that is there")
        snapshot = worker.snapshot()
        assert (snapshot["healthy"], said()) == (False, [])
        assert f"no topic {late}; make it" in snapshot["problem"]
        kafka_broker.produce(late, [notice(2)])
        until(lambda: "2" in stored(store), "the job of the other topic")
        until(lambda: worker.healthy, "health")
        until(lambda: said() == ["source recovered"], "the word of it")


def test_a_property_that_is_wrong_is_told_without_secrets(
    kafka_broker: KafkaBroker, topic: str, tmp_path: Path
) -> None:
    properties = tmp_path / "p"
    properties.write_text("security.protocol=hunter2\nsasl.password=hunter2\n")
    properties.chmod(0o600)
    source = NoticeSource(settings(kafka_broker, topic, properties=properties))
    with pytest.raises(SourceError, match=r"security\.protocol") as caught:
        source.resume(None, lambda _: iter(()))
    assert "hunter2" not in str(caught.value)
    source.close()


@pytest.mark.parametrize("position", [{"version": 99}, {"waiting": 5}, {"waiting": [["slurm"]]}])
def test_a_damaged_position_is_one_clear_error(
    kafka_broker: KafkaBroker, topic: str, position: dict[str, Any]
) -> None:
    source = NoticeSource(settings(kafka_broker, topic))
    with pytest.raises(SourceError, match="damaged or of a newer version"):
        source.resume(position, lambda _: iter(()))
    source.close()
