"""The conformance suite of stores, over real Redis and Valkey servers; what else they must do."""

import functools
import itertools
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.limits import PROVE
from tests.testbed import RedisServer
from tests.testbed.namespace import free_ports, until

from jobsight.documents import JobDocument, State, Submission
from jobsight.errors import StoreError, StoreUnavailableError, UsageError
from jobsight.settings import StoreSettings
from jobsight.store import Move, Put, Store, open_store
from jobsight.testing import StoreContract, made_document
from jobsight.testing.madejobs import NOON
from jobsight.testing.stores import polled

redis = pytest.importorskip("redis", reason="the redis package is not installed")

NUMBERS = itertools.count()
STORE_GUIDE = Path(__file__).parents[2] / "docs" / "store.md"
UNBOUNDED = {"keys", "smembers", "hgetall", "hkeys", "hvals", "sort", "flushall", "flushdb"}


class _OverServer(StoreContract):
    sequences = 300 if PROVE else 12
    kills = 40 if PROVE else 5
    server: Any

    @pytest.fixture(autouse=True)
    def places(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def new_opener(self) -> Callable[[], Store]:
        name = f"contract{os.getpid()}-{next(NUMBERS)}"
        settings = StoreSettings(prefix=name, archive=str(self.folder / name))
        return functools.partial(open_store, self.server.url, settings=settings, create=True)


class TestRedisStore(_OverServer):
    @pytest.fixture(autouse=True)
    def using(self, redis_server: Any) -> None:
        self.server = redis_server


class TestValkeyStore(_OverServer):
    @pytest.fixture(autouse=True)
    def using(self, valkey_server: Any) -> None:
        self.server = valkey_server


def _open(server: RedisServer, folder: Path, **settings: Any) -> Store:
    told = {"archive": str(folder / "archive"), "busy_timeout_s": 5.0, **settings}
    return open_store(server.url, settings=StoreSettings(**told), create=True)


def test_a_server_that_goes_away_and_comes_back(server: RedisServer, tmp_path: Path) -> None:
    with _open(server, tmp_path) as store:
        store.put([Put(made_document(1))], [Move("log", None, {"at": 1})])
        server.kill()
        for call in (
            store.generation,
            store.status,
            lambda: list(store.scan()),
            lambda: store.put([Put(made_document(2))]),
        ):
            with pytest.raises(StoreUnavailableError, match=r"redis://127\.0\.0\.1:\d+/0 cannot"):
                call()
        with pytest.raises(StoreUnavailableError):
            _open(server, tmp_path)
        server.resume()
        assert [one.id for one in store.scan()] == [made_document(1).id]
        assert store.position("log") == {"at": 1}
        store.merge([made_document(2)], [Move("log", {"at": 1}, {"at": 2})])
        server.restart()
        assert len(list(store.scan())) == 2
        assert store.check().problems == 0


def test_what_was_put_outlives_a_kill_on_a_slow_disk(server: RedisServer, tmp_path: Path) -> None:
    """During an fsync, a server answers what it only has in its memory."""
    with _open(server, tmp_path) as store:
        _be_in_an_fsync(server)
        store.put([Put(made_document(1))], [Move("log", None, {"at": 1})])
        server.kill()
        server.resume()
        assert [one.id for one in store.scan()] == [made_document(1).id]
        assert store.position("log") == {"at": 1}


def test_a_prune_that_a_loss_of_power_took_back(server: RedisServer, tmp_path: Path) -> None:
    ended = made_document(1, State.COMPLETED)
    with _open(server, tmp_path) as store:
        store.put([Put(ended)])
        assert store.prune(10**18).documents == 1
        assert store.status().archived == 1
        server.cli("RPOP", "{jobsight}:parts")
        server.cli("HINCRBY", "{jobsight}:meta", "generation", "-1")
        store.put([Put(ended)])
        assert store.status().archived == 0
        assert [one.id for one in store.scan()] == [ended.id]


def test_a_disk_that_is_too_slow(server: RedisServer, tmp_path: Path) -> None:
    with _open(server, tmp_path, busy_timeout_s=0.2) as store:
        _be_in_an_fsync(server)
        with pytest.raises(StoreUnavailableError, match="disk is too slow"):
            store.put([Put(made_document(1))])


def _be_in_an_fsync(server: RedisServer) -> None:
    """Leave the server within an fsync that ends long after what the caller does next."""
    server.slow_disk(10.0)

    def begun() -> bool:
        server.cli("SET", "other", "word")
        return "aof_pending_bio_fsync:1" in server.cli("INFO", "persistence")

    until(begun, "the server to begin an fsync")


def test_killed_in_the_middle_of_a_batch(server: RedisServer, tmp_path: Path) -> None:
    with _open(server, tmp_path) as store:
        step = 0
        for _ in range(3):
            killer = threading.Timer(0.05, server.kill)
            killer.start()
            with pytest.raises(StoreUnavailableError):
                while True:
                    position = store.position("log")
                    step = position["step"] if position else 0
                    store.merge(polled(step), [Move("log", position, {"step": step + 1})])
            killer.join()
            server.resume()
            position = store.position("log")
            assert position is not None
            # What was lost in its answer only is there whole.
            assert position["step"] in (step, step + 1)
            wanted: dict[str, int] = {}
            for number in range(position["step"]):
                for part in polled(number):
                    wanted[part.id] = wanted.get(part.id, 0) + 1
            assert {one.id: len(one.timeline) for one in store.scan()} == wanted
            assert store.check().problems == 0


def test_nothing_is_asked_that_looks_at_all_keys(server: RedisServer, tmp_path: Path) -> None:
    with _open(server, tmp_path) as store:
        documents = [
            made_document(at, State.RUNNING if at % 9 else State.HELD) for at in range(900)
        ]
        store.put([Put(one) for one in documents])
        server.cli("CONFIG", "RESETSTAT")
        store.merge(documents[:5], [Move("log", None, {"at": 1})])
        list(store.scan(limit=3))
        list(store.scan(states=[State.HELD], limit=3, newest_first=True))
        list(store.scan(user="ada", limit=3))
        next(iter(store.active()))
        store.numbered("7")
        store.positions()
        store.status()
        calls = _calls(server)
        assert not UNBOUNDED & calls.keys()
        # Each page gets its documents, and not many more than a page.
        assert calls["get"] <= 4 * 510
        assert calls["zrange"] <= 16
        assert "scan" not in calls
        store.prune(0)
        store.check()
        assert not UNBOUNDED & _calls(server).keys()


def _calls(server: RedisServer) -> dict[str, int]:
    lines = server.cli("INFO", "commandstats").splitlines()
    told = (line.removeprefix("cmdstat_").split(":", 1) for line in lines if "calls=" in line)
    return {name: int(numbers.split(",")[0].removeprefix("calls=")) for name, numbers in told}


def test_what_does_not_keep_jobs_is_refused(bed_ready: None, tmp_path: Path) -> None:
    with RedisServer(appendonly=False) as server:
        with pytest.raises(StoreError, match=r"append-only file.*set appendonly yes"):
            _open(server, tmp_path)
        server.cli("CONFIG", "SET", "appendonly", "yes")
        server.cli("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        with pytest.raises(StoreError, match=r"evicts keys.*set noeviction"):
            _open(server, tmp_path)
        server.cli("CONFIG", "SET", "maxmemory-policy", "noeviction")
        server.cli("REPLICAOF", "127.0.0.1", "1")
        with pytest.raises(StoreError, match="replica"):
            _open(server, tmp_path)
        server.cli("REPLICAOF", "NO", "ONE")
        _open(server, tmp_path).close()
        with pytest.raises(StoreError, match="no store of prefix 'other'"):
            open_store(server.url, settings=StoreSettings(prefix="other"))


def test_a_password_is_asked_for_and_never_told(
    bed_ready: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "s3cret/?@word"
    with RedisServer(password=secret) as server:
        with pytest.raises(StoreError, match="wants a password"):
            _open(server, tmp_path)
        wrong = server.url.replace("//", "//:wr0ng-word@")
        with pytest.raises(StoreError, match="refused user name and password") as told:
            open_store(wrong)
        assert "wr0ng" not in str(told.value)
        with pytest.raises(UsageError, match="percent-encode") as odd:
            open_store(server.url.replace("//", f"//:{secret}@"))
        assert "s3cret" not in str(odd.value)
        monkeypatch.setenv("JOBSIGHT_STORE_PASSWORD", secret)
        with _open(server, tmp_path) as store:
            assert secret not in repr(store.status())
        monkeypatch.delenv("JOBSIGHT_STORE_PASSWORD")
        file = tmp_path / "password"
        file.write_text(f"{secret}\n")
        file.chmod(0o644)
        with pytest.raises(StoreError, match="chmod 600"):
            _open(server, tmp_path, password_file=str(file))
        file.chmod(0o600)
        _open(server, tmp_path, password_file=str(file)).close()


def test_a_user_with_few_rights(server: RedisServer, tmp_path: Path) -> None:
    """The commands that docs/store.md lists are enough; CONFIG is not needed."""
    told = re.search(r"ACL SETUSER jobs on >PASSWORD ([^`]+)", STORE_GUIDE.read_text())
    assert told is not None
    server.cli("ACL", "SETUSER", "jobs", "on", ">word", *told[1].split())
    address = server.url.replace("//", "//jobs:word@")
    settings = StoreSettings(archive=str(tmp_path / "archive"))
    with open_store(address, settings=settings, create=True) as store:
        store.merge([made_document(1), made_document(2)], [Move("log", None, {"at": 1})])
        assert len(list(store.scan())) == 2
        assert list(store.active()) == []
        status = store.status()
        assert status.bytes > 0
        assert status.details["appendfsync"] == "unknown"
        assert store.prune(10**18).documents == 2
        assert store.check().problems == 0
        assert store.numbered("1") == [made_document(1).id]
        for user in ("ada", "eve"):
            told_raw = Submission(raw_id="1237", user=user)
            store.merge([JobDocument(id="slurm:c:1234_5", updated=NOON, submission=told_raw)])
        assert store.numbered("1237") == ["slurm:c:1234_5", "slurm:c:1234_5@2"]
        assert store.check().problems == 0
    for right in ("-zadd", "-evalsha"):
        server.cli("ACL", "SETUSER", "jobs", right)
        with (
            open_store(address, settings=settings) as store,
            pytest.raises(StoreError, match="ACL forbids"),
        ):
            store.put([Put(made_document(3))])


def test_a_connection_by_tls(server: RedisServer, tmp_path: Path) -> None:
    if not shutil.which("openssl"):
        pytest.skip("openssl, which makes certificates, is not installed")
    state = server.socket.parent
    cert, key = state / "cert.pem", state / "key.pem"
    (port,) = free_ports(1)
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert],
        check=True, capture_output=True,
    )  # fmt: skip
    for file in (cert, key):
        file.chmod(0o644)
    told = server.cli(
        "CONFIG", "SET", "tls-auth-clients", "no", "tls-cert-file", str(cert),
        "tls-key-file", str(key), "tls-port", str(port),
    )  # fmt: skip
    assert told.strip() == "OK"
    address = f"rediss://127.0.0.1:{port}/0"
    with pytest.raises(StoreUnavailableError, match="certificate cannot be verified"):
        open_store(address)
    with open_store(f"{address}?ssl_ca_certs={cert}", create=True) as store:
        store.put([Put(made_document(1))])
        assert store.url == address


def test_memory_that_is_full(server: RedisServer, tmp_path: Path) -> None:
    with _open(server, tmp_path) as store:
        store.put([Put(made_document(1))])
        server.cli("CONFIG", "SET", "maxmemory", "1")
        with pytest.raises(StoreUnavailableError, match="memory is full"):
            store.put([Put(made_document(2))], [Move("log", None, {"at": 1})])
        assert [one.id for one in store.scan()] == [made_document(1).id]
        assert store.position("log") is None
        server.cli("CONFIG", "SET", "maxmemory", "0")
        store.put([Put(made_document(2))])


def test_a_disk_that_is_full(bed_ready: None, tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("a small disk is mounted by root alone")
    with RedisServer(disk_mb=4, settings=("auto-aof-rewrite-percentage 0",)) as server:
        with _open(server, tmp_path) as store:
            stored: list[str] = []
            noise = "".join(f"{at * 2654435761 % 2**32:08x}" for at in range(20_000))
            with pytest.raises(StoreUnavailableError):
                for number in range(500):
                    document = made_document(number, script=noise + str(number))
                    store.put([Put(document)], [Move("log", _at(number - 1), {"at": number})])
                    stored.append(document.id)
            server.namespace.run("mount", "-o", "remount,size=64m", str(server.data))
            server.kill()
            server.resume()
            found = sorted(one.id for one in store.scan())
            position = store.position("log")
        assert stored
        # What was lost in its answer only may be there, then with its position.
        assert position == {"at": len(found) - 1}
        assert len(found) in (len(stored), len(stored) + 1)
        assert set(stored) <= set(found)


def _at(number: int) -> dict[str, int] | None:
    return {"at": number} if number >= 0 else None


def test_a_server_that_was_emptied(server: RedisServer, tmp_path: Path) -> None:
    with _open(server, tmp_path) as store:
        store.put([Put(made_document(1))])
        server.cli("FLUSHALL")
        with pytest.raises(StoreError, match="is gone"):
            store.put([Put(made_document(2))])


def test_a_store_of_another_schema_is_refused(server: RedisServer, tmp_path: Path) -> None:
    """Also where it became so after it was opened."""
    with _open(server, tmp_path) as store:
        store.put([Put(made_document(1))])
        uses: list[Callable[[], object]] = [
            lambda: store.put([Put(made_document(2))]), lambda: list(store.scan()),
            lambda: _open(server, tmp_path),
        ]  # fmt: skip
        for schema, use in itertools.product(("0", "1", "2", "3b"), uses):
            server.cli("HSET", "{jobsight}:meta", "schema", schema)
            with pytest.raises(StoreError, match=f"schema {schema}; this version reads 3; import"):
                use()
        server.cli("HSET", "{jobsight}:meta", "schema", "3")
        assert len(list(store.scan())) == 1


def test_another_program_has_the_keys(server: RedisServer, tmp_path: Path) -> None:
    server.cli("SET", "{jobsight}:meta", "mine")
    with pytest.raises(StoreError, match="belong to another program"):
        _open(server, tmp_path)


def test_an_archive_without_a_folder(server: RedisServer) -> None:
    with (
        open_store(server.url, create=True) as store,
        pytest.raises(StoreError, match=r"store\.archive"),
    ):
        store.prune(0)


def test_check_finds_what_was_tampered_with(server: RedisServer, tmp_path: Path) -> None:
    with _open(server, tmp_path) as store:
        documents = [made_document(number, user=None) for number in range(4)]
        task = JobDocument(id="slurm:c:7_3", updated=NOON, submission=Submission(raw_id="11"))
        store.put([Put(one) for one in documents])
        server.cli("APPEND", f"{{jobsight}}:d:{documents[0].id}", "x")
        server.cli("SETRANGE", f"{{jobsight}}:d:{documents[1].id}", "60", "zzzzzzzz")
        server.cli("ZREM", "{jobsight}:i", documents[2].id)
        server.cli("ZADD", "{jobsight}:a", "0", f"{NOON + 2**63:016x}{documents[3].id}")
        store.put([Put(task)])
        server.cli("ZREM", "{jobsight}:r", f"11:{task.id}")
        report = store.check()
        assert report.problems >= 3
        told = "\n".join(report.first)
        assert documents[1].id in told
        assert documents[3].id in told
        assert task.id in told
        assert "by id" in told
