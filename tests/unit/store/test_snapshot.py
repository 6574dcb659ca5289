import json
from pathlib import Path

import pytest
from tests.unit.store.sqlite_stores import sqlite_store

from jobsight.documents import State
from jobsight.errors import OutputError, SourceError
from jobsight.store import Put, Store, snapshot
from jobsight.store.snapshot import export, is_snapshot, read_documents, read_manifest
from jobsight.testing import made_document

NOON = 1_700_000_000_000_000


def _store(folder: Path) -> Store:
    store = sqlite_store(folder / "jobs.db", create=True)
    states = [State.COMPLETED, State.RUNNING, State.HELD]
    documents = [made_document(at, states[at % 3], time=NOON + at) for at in range(2500)]
    store.put([Put(one) for one in documents])
    return store


def test_what_was_exported_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "_FILE_ROWS", 1000)
    with _store(tmp_path) as store:
        store.prune(NOON + 1200)
        made = export(store, tmp_path / "out")
        assert list(read_documents(tmp_path / "out")) == list(store.scan())
        assert read_manifest(tmp_path / "out") == made
        assert (made.documents, made.first, made.last) == (2500, NOON, NOON + 2499)
        assert list(made.rows.values()) == [1000, 1000, 500]
        assert is_snapshot(tmp_path / "out")
        held = export(store, tmp_path / "held", states=[State.HELD], since=NOON + 10, user="ada")
        assert held.documents == 830
        assert held.asked == {
            "since": NOON + 10, "until": None, "states": ["held"], "user": "ada", "cluster": None,
        }  # fmt: skip


def test_the_same_documents_give_the_same_bytes(tmp_path: Path) -> None:
    with _store(tmp_path) as store:
        export(store, tmp_path / "one")
        # Other revisions, another history of being stored, the same documents.
        ids = [document.id for document in store.scan(limit=50)]
        store.put([Put(one.document, one.revision) for one in store.get(ids).values()])
        store.prune(NOON + 500)
        export(store, tmp_path / "other")
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert names == ["jobs-000001.parquet", "manifest.json"]
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_nothing_to_export(tmp_path: Path) -> None:
    with sqlite_store(tmp_path / "jobs.db", create=True) as store:
        made = export(store, tmp_path / "out")
    assert (made.documents, made.first, made.files) == (0, None, {})
    assert list(read_documents(tmp_path / "out")) == []


def test_a_snapshot_takes_the_place_of_another_alone(tmp_path: Path) -> None:
    with _store(tmp_path) as store:
        export(store, tmp_path / "out")
        export(store, tmp_path / "out", until=NOON + 5)
        assert len(list(read_documents(tmp_path / "out"))) == 5
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "thesis.tex").touch()
        with pytest.raises(OutputError, match="not written by jobsight"):
            export(store, tmp_path / "mine")


def test_snapshots_that_are_damaged(tmp_path: Path) -> None:
    with _store(tmp_path) as store:
        export(store, tmp_path / "out")
    out = tmp_path / "out"
    file, manifest = out / "jobs-000001.parquet", out / "manifest.json"
    whole, told = file.read_bytes(), json.loads(manifest.read_text())
    file.write_bytes(whole[:-1] + b"x")
    with pytest.raises(SourceError, match="its hash differs"):
        list(read_documents(out))
    file.unlink()
    with pytest.raises(SourceError, match=r"jobs-000001\.parquet is missing"):
        list(read_documents(out))
    file.write_bytes(whole)
    for change, words in (
        ({"schema": "jobsight.snapshot/2"}, "export again"),
        ({"schema": "jobsight.model/1"}, "is 'jobsight.model/1'"),
        ({"files": {"../x": "0"}}, "damaged"),
        ({"rows": {}}, "damaged"),
        ({"documents": "many"}, "damaged"),
        ({"extra": 1}, "damaged"),
        ({"documents": 7, "rows": {"jobs-000001.parquet": 7}}, "has 2500 documents, not 7"),
    ):
        manifest.write_text(json.dumps({**told, **change}))
        with pytest.raises(SourceError, match=words):
            list(read_documents(out))
    for text in ("", "[]", "{", "\x00"):
        manifest.write_text(text)
        assert not is_snapshot(out)
        with pytest.raises(SourceError):
            read_manifest(out)
    manifest.unlink()
    with pytest.raises(SourceError, match="is not a snapshot"):
        read_manifest(out)
    assert not is_snapshot(tmp_path / "none")
