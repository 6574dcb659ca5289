"""Stores on a server that another version wrote, and the way from schema to schema."""

from pathlib import Path
from typing import Any

import pytest
from tests.testbed import RedisServer

from jobsight.documents import JobDocument, Submission
from jobsight.errors import StoreError
from jobsight.settings import StoreSettings
from jobsight.store import Put, Store, open_store, redisraws
from jobsight.store.redis import STEPS
from jobsight.testing import made_document
from jobsight.testing.storedocuments import NOON

pytest.importorskip("redis", reason="the redis package is not installed")


@pytest.fixture
def settings(tmp_path: Path) -> StoreSettings:
    return StoreSettings(archive=str(tmp_path / "archive"))


def _made(server: RedisServer, settings: StoreSettings) -> Store:
    return open_store(server.url, settings=settings, create=True)


def test_who_opened_a_store_before_it_was_migrated_is_told(
    server: RedisServer, settings: StoreSettings
) -> None:
    with _made(server, settings) as store:
        store.put([Put(made_document(1))])
        server.cli("HSET", "{jobsight}:meta", "schema", "3")
        for use in (lambda: store.put([Put(made_document(2))]), lambda: list(store.scan())):
            with pytest.raises(StoreError, match="brought to schema 3 meanwhile"):
                use()
        server.cli("HSET", "{jobsight}:meta", "schema", "2")
        assert len(list(store.scan())) == 1


def test_schemas(
    server: RedisServer, settings: StoreSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _made(server, settings) as store:
        store.put([Put(made_document(1))])
    server.cli("HSET", "{jobsight}:meta", "schema", "3")
    with pytest.raises(StoreError, match=r"has schema.*3.*newer"):
        open_store(server.url, settings=settings)
    server.cli("HSET", "{jobsight}:meta", "schema", "0")
    with pytest.raises(StoreError, match="jobsight store migrate"):
        open_store(server.url, settings=settings)
    with open_store(server.url, settings=settings, older=True) as store:
        with pytest.raises(StoreError, match="no released version"):
            store.migrate()
        seen = []
        monkeypatch.setitem(STEPS, 0, lambda client, prefix: seen.append((client.ping(), prefix)))
        assert store.migrate() == (0, 2)
        assert seen == [(True, "{jobsight}")]
        assert len(list(store.scan())) == 1


def test_raw_numbers_come_into_a_store_of_schema_1(
    server: RedisServer, settings: StoreSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = [
        JobDocument(id=f"slurm:c:7_{at}", updated=NOON, submission=Submission(raw_id=str(8 + at)))
        for at in range(500)
    ]
    with _made(server, settings) as store:
        store.put([Put(one) for one in (*tasks, made_document(1))])
        assert store.check().problems == 0
    server.cli("DEL", "{jobsight}:k", "{jobsight}:r")
    server.cli("HSET", "{jobsight}:meta", "schema", "1")
    fill, writes = redisraws._fill, [3]

    def filled(client: Any, prefix: str) -> None:
        """As if an older collector had written meanwhile, some times."""
        fill(client, prefix)
        if writes[0]:
            writes[0] -= 1
            server.cli("HINCRBY", "{jobsight}:meta", "revision", "1")

    monkeypatch.setattr(redisraws, "_fill", filled)
    with open_store(server.url, settings=settings, older=True) as store:
        assert store.migrate() == (1, 2)
        assert writes == [0]
    with open_store(server.url, settings=settings) as store:
        assert store.raw("507") == ["slurm:c:7_499"]
        assert store.check().problems == 0
        server.cli("HSET", "{jobsight}:k", "slurm:c:7_3", "12")
        assert store.check().problems == 1
        server.cli("DEL", "{jobsight}:r")
        assert store.check().problems == 500
    server.cli("HSET", "{jobsight}:meta", "schema", "1")
    writes[0] = 10**6
    with (
        open_store(server.url, settings=settings, older=True) as store,
        pytest.raises(StoreError, match="others write to the store"),
    ):
        store.migrate()


def test_a_store_that_another_process_migrated_meanwhile_is_left_as_it_is(
    server: RedisServer, settings: StoreSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = JobDocument(id="slurm:c:7_1", updated=NOON, submission=Submission(raw_id="8"))
    with _made(server, settings) as store:
        store.put([Put(task)])
    server.cli("HSET", "{jobsight}:meta", "schema", "1")
    read = redisraws._raw

    def overtaken(id_: str, data: bytes) -> str | None:
        """As if the other had come to its end, and a collector had told of another number."""
        server.cli("HSET", "{jobsight}:meta", "schema", "2")
        with open_store(server.url, settings=settings) as other:
            told = Submission(raw_id="9")
            other.merge([JobDocument(id=task.id, updated=NOON + 1, submission=told)])
        return read(id_, data)

    monkeypatch.setattr(redisraws, "_raw", overtaken)
    with open_store(server.url, settings=settings, older=True) as store:
        assert store.migrate() == (1, 2)
    with open_store(server.url, settings=settings) as store:
        assert (store.raw("8"), store.raw("9")) == ([], [task.id])
        assert store.check().problems == 0
