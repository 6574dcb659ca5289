import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.unit.store.sqlite_stores import sqlite_store

from jobsight.documents import JobDocument, Submission
from jobsight.errors import OutputError, StoreError
from jobsight.files import sha256
from jobsight.settings import StoreSettings
from jobsight.store import Put, archive
from jobsight.store.archive import Archive, Part, PartList, name_of
from jobsight.store.packing import pack
from jobsight.store.parquet import numbers_of, readable
from jobsight.store.rows import Keys, Row
from jobsight.testing import made_document

NOON = 1_700_000_000_000_000


def _rows(*numbers: int, revision: int = 1) -> list[Row]:
    documents = [made_document(number, time=NOON + number) for number in numbers]
    return [Row(Keys.of(one), revision, pack(one)) for one in documents]


def test_a_part_that_may_not_be_read_is_not_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "part"
    wanted = f"{path} may not be read; fix its permissions"
    with pytest.raises(StoreError, match=wanted), readable(path):
        raise PermissionError(errno.EACCES, "Permission denied")


def test_a_part_tells_what_is_in_it(tmp_path: Path) -> None:
    kept = Archive(tmp_path / "deep" / "archive")
    part = kept.write(name_of(3, 0), _rows(5, 6, 9), [])
    path = tmp_path / "deep" / "archive" / "part-00000003-000000.parquet"
    assert part.sha256 == sha256(path)
    assert (part.rows, part.size, part.again) == (3, path.stat().st_size, 0)
    assert (part.first, part.last) == (NOON + 5, NOON + 9)
    assert part.zones == {"htcondor:ap.example.org": (5, 9)}
    assert Part.from_text(part.to_text()) == part
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "rows_of", None)  # what is there again is counted by its ids
        later = kept.write(name_of(3, 1), _rows(6, 7), [part])
        assert later.again == 1
        ids = [made_document(number).id for number in (5, 6)]
        assert kept.newer([part, later], part, ids) == {ids[1]}
    table = pq.read_table(path)
    assert table["user"].to_pylist() == ["ada"] * 3
    assert b"ap.example.org:5.0" in table["document"][0].as_py()


def _told(name: str, zones: object) -> str:
    part = {"name": name, "rows": 1, "size": 1, "sha256": "", "first": 0, "last": 0, "again": 0}
    return json.dumps({**part, "zones": zones})


@pytest.mark.parametrize(
    "text",
    [
        *("", "{}", "[]", "[" * 100_000),
        *(_told(name, None) for name in ("../../etc/passwd", "part-00000001-00000x.parquet")),
        *(_told("part-00000001-000001.parquet", zones) for zones in ([1], {"a": [1]}, {"a": 1})),
    ],
)
def test_a_list_of_parts_that_is_damaged(text: str) -> None:
    with pytest.raises(StoreError, match="list of archive files is damaged"):
        Part.from_text(text)


def test_the_list_of_parts_survives_a_race_of_two_readers(tmp_path: Path) -> None:
    """One reads the list of a generation while the other, who sees an older one, reads it too."""
    part = Archive(tmp_path).write(name_of(1, 0), _rows(1), [])
    parts = PartList()

    def read() -> list[str]:
        assert list(parts.at(1, list)) == []
        return [part.to_text()]

    assert list(parts.at(2, read)) == list(parts.at(2, read)) == [part]


def test_what_a_kill_left_is_cleared_away_and_nothing_else(tmp_path: Path) -> None:
    kept = Archive(tmp_path)
    part = kept.write(name_of(1, 0), _rows(1), [])
    left = [name_of(1, 1), f"{name_of(2, 0)}.part", name_of(2, 3)]
    later = [name_of(3, 0), f"{name_of(3, 1)}.part", name_of(12_345_678, 0)]
    strange = ["notes.txt", "part-1.parquet", f"{part.name}.part.part", ".jobsight-x.part"]
    for name in (*left, *later, *strange):
        (tmp_path / name).touch()
    kept.clear([part], 2)
    assert {path.name for path in tmp_path.iterdir()} == {part.name, *later, *strange}
    Archive(tmp_path / "none").clear([], 2)


def test_two_stores_do_not_share_a_folder(tmp_path: Path) -> None:
    settings = StoreSettings(archive=str(tmp_path / "archive"))
    with (
        sqlite_store(tmp_path / "a.db", settings, create=True) as one,
        sqlite_store(tmp_path / "b.db", settings, create=True) as other,
    ):
        for store in (one, other):
            store.put([Put(made_document(number, time=NOON + number)) for number in range(9)])
        assert one.prune(NOON + 5).documents == 5
        with pytest.raises(StoreError, match=r"archive of another store.*store\.archive"):
            other.prune(NOON + 5)
        assert one.prune(2**60).documents == 4
        for store in (one, other):
            assert len(list(store.scan())) == 9
            assert store.check().problems == 0
    # A copy of a store is the same one, wherever it lies.
    (tmp_path / "c.db").write_bytes((tmp_path / "a.db").read_bytes())
    with sqlite_store(tmp_path / "c.db", settings) as copy:
        copy.prune(2**60)
        assert len(list(copy.scan())) == 9


def test_a_part_that_is_not_whole_is_not_counted(tmp_path: Path) -> None:
    kept = Archive(tmp_path)
    part = kept.write(name_of(1, 0), _rows(1), [])
    kept.require(part)
    path = tmp_path / part.name
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StoreError, match=r"has \d+ bytes, but \d+ were written"):
        kept.require(part)
    path.unlink()
    with pytest.raises(StoreError, match="is missing"):
        kept.require(part)


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_disk_that_fails_while_a_part_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "as told")

    with sqlite_store(tmp_path / "jobs.db", create=True) as store:
        store.put([Put(made_document(1))])
        with monkeypatch.context() as patch:
            patch.setattr(os, failing, fail)
            with pytest.raises(OutputError, match=r"cannot write .*part-00000001.*: Input/output"):
                store.prune(2**60)
        assert not list(store.require_archive().folder.glob("part-*"))
        assert len(list(store.scan())) == 1


def test_parts_that_are_gone_changed_or_damaged(tmp_path: Path) -> None:
    with sqlite_store(tmp_path / "jobs.db", create=True) as store:
        ids = [made_document(number).id for number in range(3)]
        store.put([Put(made_document(number)) for number in range(3)])
        store.prune(2**60)
        (file,) = (tmp_path / "jobs.db.archive").glob("part-*")
        whole = file.read_bytes()
        file.write_bytes(whole.replace(b"ap.example.org", b"ap.example.com"))
        assert "its hash differs" in store.check().first[0]
    for content in (b"", b"PAR1", whole[:-20], whole[: len(whole) // 2] * 2):
        file.write_bytes(content)
        with sqlite_store(tmp_path / "jobs.db") as store:
            for call in (lambda: store.get(ids), lambda: list(store.scan())):
                with pytest.raises(StoreError, match="restore it from a backup"):
                    call()
            assert store.check().problems == 1
    file.unlink()
    with sqlite_store(tmp_path / "jobs.db") as store:
        with pytest.raises(StoreError, match=r"is missing.*store\.archive"):
            store.get(ids)
        # What does not need the archive goes on.
        store.merge([made_document(77)], [])
        assert store.get([made_document(77).id])
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    (moved / file.name).write_bytes(whole)
    settings = StoreSettings(archive=str(moved))
    with sqlite_store(tmp_path / "jobs.db", settings) as store:
        assert len(store.get(ids)) == 3


def test_jobs_without_numbers_and_many_clusters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "_MOST_ZONES", 3)
    kept = Archive(tmp_path)
    documents = [made_document(1, access_point=f"ap{number}") for number in range(5)]
    rows = [Row(Keys.of(one), 1, pack(one)) for one in documents]
    part = kept.write(name_of(1, 0), rows, [])
    assert part.zones is None
    assert set(kept.find([part], [one.id for one in documents])) == {one.id for one in documents}
    assert kept.numbered([part], "1") == {one.id for one in documents}
    assert kept.find([part], ["slurm:a:s0123456789abc", "slurm:a:5"]) == {}


def test_raw_numbers_are_looked_for_only_where_they_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Archive(tmp_path)
    tasks = [
        JobDocument(id=f"slurm:c:7_{at}", updated=NOON, submission=Submission(raw_id=str(8 + at)))
        for at in range(3)
    ]
    rows = [Row(Keys.of(one), 1, pack(one)) for one in tasks]
    slurm, condor = kept.write(name_of(1, 0), rows, []), kept.write(name_of(1, 1), _rows(50), [])
    assert slurm.zones == {"slurm:c": (7, 10)}
    read: list[str] = []

    def numbers(file: pq.ParquetFile) -> Iterator[tuple[str, str | None]]:
        read.append(file.metadata.row_group(0).column(0).statistics.min)
        return numbers_of(file)

    monkeypatch.setattr(archive, "numbers_of", numbers)
    assert kept.numbered([slurm, condor], "11") == kept.numbered([slurm, condor], "5") == set()
    assert read == []
    assert kept.numbered([slurm, condor], "9") == {"slurm:c:7_1"}
    assert read == ["slurm:c:7_0"]


def test_the_latest_part_that_has_a_job_counts(tmp_path: Path) -> None:
    kept = Archive(tmp_path)
    parts: list[Part] = []
    for number in range(6):
        rows = _rows(number, 50, revision=number + 1)
        parts.append(kept.write(name_of(1, number), rows, parts))
    for number in range(6):
        assert kept.find(parts, [made_document(number).id])[made_document(number).id]
    assert kept.find(parts, [made_document(50).id])[made_document(50).id].revision == 6


def test_an_archive_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings = StoreSettings(archive=str(tmp_path / "file" / "archive"))
    with sqlite_store(tmp_path / "jobs.db", settings, create=True) as store:
        store.put([Put(made_document(1))])
        with pytest.raises(OutputError, match="cannot keep an archive in"):
            store.prune(2**60)
        assert len(list(store.scan())) == 1
