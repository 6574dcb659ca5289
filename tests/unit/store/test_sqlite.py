"""What only the embedded store must do: files that are none, locks, disks that are full."""

import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.unit.store.sqlite_stores import QUICK, sqlite_store

from jobsight.documents import State
from jobsight.errors import StoreError, StoreUnavailableError
from jobsight.modes import set_group_access
from jobsight.settings import StoreSettings
from jobsight.store import Move, Put, Store
from jobsight.store.rows import Query
from jobsight.store.sqlite import selection
from jobsight.testing import made_document


def test_a_file_that_is_no_store(path: Path) -> None:
    path.write_bytes(b"SQLite format 4\0 and much else" * 100)
    with pytest.raises(StoreError, match="not an SQLite database"):
        sqlite_store(path, QUICK)
    path.write_text("a" * 10_000)
    with pytest.raises(StoreError, match="not an SQLite database"):
        sqlite_store(path, QUICK, create=True)
    assert path.read_text() == "a" * 10_000


def test_a_database_of_another_program(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE jobs (id)")
    db.close()
    before = path.read_bytes()
    for create in (False, True):
        with pytest.raises(StoreError, match="database of another program"):
            sqlite_store(path, QUICK, create=create)
    assert path.read_bytes() == before


def test_places_where_no_file_can_be(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is no file"):
        sqlite_store(tmp_path, QUICK, create=True)
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="its folder is a file; name another with --store"):
        sqlite_store(tmp_path / "file" / "jobs.db", QUICK, create=True)
    with pytest.raises(StoreError, match="File name too long"):
        sqlite_store(tmp_path / ("x" * 300), QUICK, create=True)


def test_an_empty_file_becomes_a_store_if_asked(path: Path) -> None:
    path.touch()
    with pytest.raises(StoreError):
        sqlite_store(path, QUICK)
    sqlite_store(path, QUICK, create=True).close()
    sqlite_store(path, QUICK).close()


def test_what_a_store_keeps_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "jobs.db"
    link = tmp_path / "link.db"
    link.symlink_to(path)
    path.parent.mkdir(mode=0o700)
    with sqlite_store(link, QUICK, create=True) as store:
        store.put([Put(made_document(1)), Put(made_document(2))])
        assert store.prune(2**62).documents == 2
        kept = {one.name: one.stat().st_mode & 0o777 for one in path.parent.rglob("*")}
        assert kept.pop("jobs.db.archive") == 0o700
        assert set(kept.values()) == {0o600}
        assert {"jobs.db", "jobs.db-wal", "jobs.db-shm"} < kept.keys()
        assert len(kept) == 5  # and a part, and whose it is
        assert store.check().wider == ()
        path.chmod(0o664)
        (part,) = (tmp_path / "deep" / "jobs.db.archive").glob("part-*")
        part.chmod(0o604)
        told = [f"{one} is open to others (mode {mode}); run: chmod 600 {one}"
                for one, mode in ((path, "0664"), (part, "0604"))]  # fmt: skip
        assert list(store.check().wider) == told
        set_group_access("write")
        try:
            assert len(store.check().wider) == 2
        finally:
            set_group_access("none")


def test_a_store_makes_its_folder_its_owners_alone(tmp_path: Path) -> None:
    sqlite_store(tmp_path / "a" / "b" / "jobs.db", QUICK, create=True).close()
    modes = {one.stat().st_mode & 0o777 for one in (tmp_path / "a", tmp_path / "a" / "b")}
    assert modes == {0o700}


def test_a_file_whose_maker_was_killed_is_made_anew(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("PRAGMA auto_vacuum = INCREMENTAL")
    db.execute("PRAGMA journal_mode = WAL")
    db.close()
    assert path.stat().st_size
    with pytest.raises(StoreError, match="killed; run that again"):
        sqlite_store(path, QUICK)
    with sqlite_store(path, QUICK, create=True) as store:
        store.put([Put(made_document(1))])


def test_several_make_a_store_at_once(path: Path) -> None:
    failures: list[BaseException] = []

    def make(number: int) -> None:
        try:
            with sqlite_store(path, StoreSettings(), create=True) as store:
                store.put([Put(made_document(number))])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=make, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    with sqlite_store(path, QUICK) as store:
        assert len(list(store.scan())) == 8


def test_network_file_systems_are_refused(path: Path) -> None:
    for kind in ("nfs4", "lustre", "fuse.sshfs"):
        with pytest.raises(StoreError, match=f"network file system .{kind}.*redis://"):
            sqlite_store(path, QUICK, create=True, filesystem=lambda _, kind=kind: kind)
    assert not path.exists()
    sqlite_store(path, QUICK, create=True, filesystem=lambda _: None).close()


def test_a_lock_that_is_never_released(store: Store, path: Path) -> None:
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailableError, match=r"kept it locked for 0\.1 s.*fuser"):
        store.put([Put(made_document(1))])
    # Readers are not kept out.
    assert list(store.scan()) == []
    holder.execute("ROLLBACK")
    holder.close()
    store.put([Put(made_document(1))])


def test_a_store_by_two_names_has_one_archive(path: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.db"
    link.symlink_to(path)
    documents = [made_document(number) for number in range(3)]
    with sqlite_store(path, create=True) as store, sqlite_store(link) as other:
        store.put([Put(one) for one in documents])
        assert other.prune(2**62).documents == 3
        assert list(store.scan()) == list(other.scan()) == documents
        assert other.status().bytes == store.status().bytes
    assert list(link.parent.iterdir()) == [link]


def test_a_copy_without_a_log_gets_one(store: Store, path: Path) -> None:
    """VACUUM INTO makes such a copy; without a log, readers and writers shut each other out."""
    store.put([Put(made_document(1))])
    copy = path.with_name("copy.db")
    db = sqlite3.connect(path)
    db.execute("VACUUM INTO ?", (str(copy),))
    db.close()
    reader = sqlite3.connect(copy, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM jobs").fetchall()
    with sqlite_store(copy, QUICK) as copied:
        assert len(list(copied.scan())) == 1
    reader.close()
    with sqlite_store(copy, QUICK) as copied:
        view = copied.scan()
        next(view)
        copied.put([Put(made_document(2))])
        assert list(view) == []


def test_a_file_that_gives_nothing_back_is_pruned_too(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobsight.store.sqlitefile._SHRINK_PAGES", 1)
    sqlite_store(path, QUICK, create=True).close()
    db = sqlite3.connect(path, isolation_level=None)
    for statement in ("journal_mode = DELETE", "auto_vacuum = NONE"):
        db.execute(f"PRAGMA {statement}")
    db.execute("VACUUM")
    db.close()
    with sqlite_store(path, QUICK) as store:
        store.put([Put(made_document(number, script=str(number) * 9000)) for number in range(99)])
        assert store.prune(2**62).documents == 99


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("collecting", [True, False])
@pytest.mark.parametrize("folder_mode", [0o755, 0o777])
def test_a_file_that_may_not_be_written(collecting: bool, folder_mode: int) -> None:
    """Nor may who reads it leave a log of their own, which would keep its owner from writing."""
    with (
        tempfile.TemporaryDirectory() as folder,
        sqlite_store(path := Path(folder) / "jobs.db", QUICK, create=True) as store,
    ):
        path.parent.chmod(folder_mode)
        store.put([Put(made_document(1))])
        if not collecting:
            store.close()
        for one in path.parent.iterdir():
            one.chmod(0o644)
        program = """
import os, sys
from jobsight.errors import StoreError
from jobsight.store import Put, open_store
from jobsight.testing import made_document
import jobsight.store.sqlite, pyarrow.parquet
os.setuid(65534)
with open_store(sys.argv[1]) as store:
    assert store.status().details["read_only"]
    print(len(list(store.scan())))
    try:
        store.put([Put(made_document(2))])
    except StoreError as error:
        print(error)
"""
        done = subprocess.run(
            [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False
        )
        owners = {one.stat().st_uid for one in path.parent.iterdir()}
    assert owners == {0}
    assert done.stdout.splitlines()[:1] == ["1"], done.stderr
    assert "read-only here" in done.stdout


def test_what_is_read_while_a_writer_begins_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who may not write takes no locks; torn pages could be taken for what was stored."""
    with sqlite_store(path, QUICK, create=True) as writer:
        writer.put([Put(made_document(number)) for number in range(1200)])
    with monkeypatch.context() as patch:
        patch.setattr("os.access", lambda *_: False)
        reader = sqlite_store(path, QUICK)
    with reader:
        scan = reader.scan()
        next(scan)
        with sqlite_store(path, QUICK) as writer:
            assert writer.prune(2**62).documents == 1200
        with pytest.raises(StoreUnavailableError, match="written while it was read; try again"):
            list(scan)
        assert len(list(reader.scan())) == 1200
        assert reader.status().archived == 1200


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder with room for 2 MB."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)], check=False
    )
    if mounted.returncode:
        pytest.skip("this machine mounts nothing")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_loses_nothing(small_disk: Path) -> None:
    with sqlite_store(small_disk / "jobs.db", QUICK, create=True) as store:
        noise = "".join(f"{at * 2654435761 % 2**32:08x}" for at in range(10_000))
        number = -1
        with pytest.raises(StoreUnavailableError, match=r"disk is full.*free some space"):
            while True:
                number += 1
                old = {"at": number - 1} if number else None
                document = made_document(number, script=noise + str(number))
                store.put([Put(document)], [Move("log", old, {"at": number})])
        assert number > 3
        assert len(list(store.scan())) == number
        assert store.position("log") == {"at": number - 1}
        assert store.check().problems == 0
        with pytest.raises(StoreUnavailableError):
            store.put([Put(document)], [Move("log", old, {"at": number})])
        subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
        store.put([Put(document)], [Move("log", old, {"at": number})])
        assert len(list(store.scan())) == number + 1


def test_a_disk_too_full_to_read_is_told_as_full(small_disk: Path) -> None:
    """SQLite calls it a fault of the disk, where only the memory it shares finds no room."""
    path = small_disk / "jobs.db"
    sqlite_store(path, QUICK, create=True).close()
    with (small_disk / "other").open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    with pytest.raises(StoreUnavailableError, match="disk is full"):
        sqlite_store(path, QUICK)


def test_every_page_is_read_off_an_index(path: Path) -> None:
    sqlite_store(path, QUICK, create=True).close()
    db = sqlite3.connect(path)
    queries = [
        Query(),
        Query(newest_first=True, since=1, until=2),
        Query(states=frozenset({"held"})),
        Query(states=frozenset({"held", "running"}), newest_first=True),
        Query(states=frozenset({"failed", "running"})),
        Query(states=frozenset()),
        Query(user="ada", states=frozenset({"failed"}), cluster="slurm:a"),
    ]
    after = (5, "slurm:a:1")
    for query in queries:
        for behind in (None, after):
            text, values = selection(query, behind if not query.newest_first else None)
            plan = db.execute(f"EXPLAIN QUERY PLAN {text}", (*values, 10)).fetchall()
            told = " ".join(row[3] for row in plan)
            assert "USING INDEX jobs_" in told, told
            assert "TEMP B-TREE" not in told, told
    asked = "EXPLAIN QUERY PLAN SELECT id FROM jobs WHERE raw = '7' ORDER BY id"
    (plan,) = db.execute(asked).fetchall()
    assert plan[3] == "SEARCH jobs USING COVERING INDEX jobs_by_raw (raw=?)"
    db.close()


def test_connections_of_threads_that_ended_are_closed(store: Store) -> None:
    def count() -> int:
        return sum(
            "jobs.db" in str(link.readlink())
            for link in Path("/proc/self/fd").iterdir()
            if link.is_symlink()
        )

    before = count()
    for _ in range(20):
        thread = threading.Thread(target=store.generation)
        thread.start()
        thread.join()
    assert count() <= before + 6


def test_new_and_changed_documents_in_a_put_of_several_statements(store: Store) -> None:
    users = ("ada", None, "")
    documents = [made_document(at, user=users[at % 3]) for at in range(450)]
    store.put([Put(one) for one in documents[::2]])
    before = store.get([one.id for one in documents])
    after = [made_document(at, State.FAILED, user=users[-at % 3]) for at in range(450)]
    store.put(
        [Put(one, old.revision if old else None) for one in after for old in [before.get(one.id)]]
    )
    found = store.get([one.id for one in after])
    assert [found[one.id].document for one in after] == after
    assert store.check().documents == 450
    assert not store.check().problems


def test_room_is_given_back(store: Store, path: Path) -> None:
    noise = "".join(f"{at * 2654435761 % 2**32:08x}" for at in range(1000))
    for start in range(0, 4000, 500):
        store.put([Put(made_document(n, script=noise + str(n))) for n in range(start, start + 500)])
    before = path.stat().st_size
    assert store.prune(2**60).documents == 4000
    store.put([], [Move("log", None, {})])
    store.close()
    assert path.stat().st_size < before * 0.75


def test_a_child_process_opens_connections_of_its_own(store: Store) -> None:
    store.put([Put(made_document(1))])
    child = os.fork()
    if not child:
        try:
            store.put([Put(made_document(2))])
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert len(list(store.scan())) == 2
