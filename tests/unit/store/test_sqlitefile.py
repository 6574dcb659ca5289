"""An embedded store whose file was damaged, or tampered with: one error, which says so."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.store.sqlite_stores import QUICK, sqlite_store

from jobsight.documents import JobDocument, Submission
from jobsight.errors import StoreError
from jobsight.store import Move, Put, Store
from jobsight.store.sqlitefile import filesystem_of, is_remote
from jobsight.testing import made_document
from jobsight.testing.madejobs import NOON

MOUNTS = r"""22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/root rw
30 22 0:26 / /home rw shared:2 - nfs4 server:/home rw,vers=4.2
31 30 0:27 / /home/ada/local rw - xfs /dev/sdb rw
32 22 0:28 / /mnt/with\040blank rw - fuse.sshfs ada@host: rw
33 22 0:29 / /scratch rw - ext4 /dev/sdc rw
34 33 0:30 / /scratch rw - lustre 10.0.0.1@tcp:/scratch rw
nonsense
35 22
"""


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    file = tmp_path / "mountinfo"
    file.write_text(MOUNTS)
    return file


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "ext4"),
        ("/var/lib/x.db", "ext4"),
        ("/home/ada/x.db", "nfs4"),
        ("/home", "nfs4"),
        ("/home/ada/local/not/there/yet.db", "xfs"),
        ("/home/ada/localhost", "nfs4"),
        ("/homes", "ext4"),
        ("/mnt/with blank/x", "fuse.sshfs"),
        ("/scratch/x", "lustre"),
    ],
)
def test_the_mount_a_path_lies_on(path: str, kind: str, mounts: Path) -> None:
    assert filesystem_of(Path(path), mounts) == kind


def test_links_are_followed(tmp_path: Path, mounts: Path) -> None:
    (tmp_path / "link").symlink_to("/home/ada")
    assert filesystem_of(tmp_path / "link" / "x.db", mounts) == "nfs4"


def test_what_is_mounted_when_the_path_is_followed_counts(
    mounts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def follow(path: Path) -> str:
        mounts.write_text(MOUNTS + "36 22 0:31 / /data/ada rw - nfs server:/ada rw\n")
        return str(path)

    mounts.write_text(MOUNTS + "35 22 0:31 / /data rw - autofs auto.data rw\n")
    monkeypatch.setattr("os.path.realpath", follow)
    assert filesystem_of(Path("/data/ada/jobs.db"), mounts) == "nfs"


def test_where_the_kernel_does_not_tell(tmp_path: Path) -> None:
    assert filesystem_of(tmp_path, tmp_path / "none") is None
    (tmp_path / "empty").touch()
    assert filesystem_of(tmp_path, tmp_path / "empty") is None


def test_this_machine_tells(tmp_path: Path) -> None:
    assert filesystem_of(tmp_path)


def test_kinds() -> None:
    remote = "nfs nfs4 cifs smb3 lustre gpfs beegfs ceph fuse.sshfs fuse.glusterfs 9p fuse NFS"
    assert all(is_remote(kind) for kind in remote.split())
    local = "ext4 xfs btrfs zfs tmpfs overlay fuseblk fuse.fuse-overlayfs f2fs"
    assert not any(is_remote(kind) for kind in local.split())


def test_check_tells_of_an_index_that_is_damaged(path: Path) -> None:
    """Also where no document is: what reads documents reads another index."""
    with sqlite_store(path, QUICK, create=True) as store:
        store.put([Put(made_document(number)) for number in range(600)])
    with sqlite3.connect(path) as db:
        (root,) = db.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'jobs_by_state'"
        ).fetchone()
    db.close()
    with path.open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(bytes(4096))
    with sqlite_store(path, QUICK) as store, pytest.raises(StoreError, match="damaged"):
        store.check()


@pytest.mark.parametrize(
    "tamper",
    [
        "UPDATE jobs SET document = 5",
        "UPDATE jobs SET revision = 'x'",
        "UPDATE jobs SET user = x'ff'",
        "DELETE FROM numbers",
    ],
)
def test_whatever_type_a_damaged_page_gives_is_one_error(
    store: Store, path: Path, tamper: str
) -> None:
    store.put([Put(made_document(1, user="u"))])
    with sqlite3.connect(path) as db:
        db.execute(tamper)
    db.close()
    reads: list[Callable[[], object]] = [
        lambda: list(store.scan()), store.check, lambda: store.prune(2**62),
    ]  # fmt: skip
    for read in reads:
        with pytest.raises(StoreError, match="damaged"):
            read()


def test_check_finds_what_was_tampered_with(store: Store, path: Path) -> None:
    documents = [made_document(number, user="u") for number in range(5)]
    ids = [document.id for document in documents]
    task = JobDocument(id="slurm:c:7_3", updated=NOON, submission=Submission(raw_id="11"))
    store.put([Put(document) for document in (*documents, task)])
    assert store.check().problems == 0
    with sqlite3.connect(path) as db:
        db.execute("UPDATE jobs SET document = x'00' WHERE id = ?", (ids[0],))
        db.execute("UPDATE jobs SET time = 5 WHERE id = ?", (ids[1],))
        db.execute("UPDATE jobs SET state = 'running' WHERE id = ?", (ids[2],))
        db.execute("UPDATE jobs SET raw = '5' WHERE id = ?", (task.id,))
    db.close()
    report = store.check()
    problems = "\n".join(report.first)
    assert report.problems == 4
    for sign in (*ids[:3], "raw='5'"):
        assert sign in problems
    assert store.numbered("5") == []


@pytest.mark.parametrize("schema", [0, 2, 4])
def test_a_file_of_another_schema_is_refused(path: Path, schema: int) -> None:
    """Also where it became so after it was opened."""
    refusal = rf"has schema {schema}; this version reads 3; import the sources again"
    with sqlite_store(path, QUICK, create=True) as store:
        store.put([Put(made_document(1))])
        with sqlite3.connect(path) as db:
            db.execute(f"PRAGMA user_version = {schema}")
        db.close()
        with pytest.raises(StoreError, match=refusal):
            store.put([Put(made_document(2))], [Move("log", None, {"at": 1})])
        assert len(list(store.scan())) == 1
        assert store.positions() == {}
    with pytest.raises(StoreError, match=refusal):
        sqlite_store(path, QUICK, create=True)


def test_a_changed_bit_is_found_or_changes_nothing(path: Path) -> None:
    """Pages have free bytes, and pages that no index uses: what changes there changes nothing."""
    documents = {one.id: one for one in (made_document(number) for number in range(12))}
    moves = [Move(f"log {number}", None, {"offset": 7 << number}) for number in range(4)]
    with sqlite_store(path, QUICK, create=True) as store:
        store.put([Put(one) for one in documents.values()], moves)
        before = store.positions()
    whole = path.read_bytes()
    found = 0
    for at in range(0, len(whole), 61):
        changed = bytearray(whole)
        changed[at] ^= 1 << at % 8
        path.write_bytes(changed)
        try:
            with sqlite_store(path, QUICK) as store:
                if store.check().problems:
                    raise StoreError("found")
                same = {id_: one.document for id_, one in store.get(documents).items()}
                assert (same, store.positions()) == (documents, before), f"byte {at}"
        except StoreError:
            found += 1
    assert found > 50
