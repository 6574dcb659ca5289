import hashlib
import struct
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard

from jobsight.documents import Event, JobDocument, State, Submission, decode, encode
from jobsight.errors import DocumentError, StoreError
from jobsight.store import packing
from jobsight.store.packing import (
    numbered_ranges,
    pack,
    position_from_text,
    position_to_text,
    read_text,
    unzip,
    user_key,
)
from jobsight.store.rows import Keys
from jobsight.testing import made_document

NOON = 1_700_000_000_000_000


def unpack(data: bytes, id_: str) -> JobDocument:
    return read_text(unzip(data, id_), id_)


def test_the_dictionary_belongs_to_the_schema() -> None:
    """A store that was written with another dictionary cannot be read."""
    text = Path(packing.__file__).with_name("typical.jsonl").read_bytes()
    digest = "f156e7339b4e9708527cb5119c1d320a63ae4a2e44d1ed4e2932486585e40dd7"
    assert (packing.SCHEMA, hashlib.sha256(text).hexdigest()) == (3, digest)
    for line in text.splitlines():
        assert encode(decode(line)) == line
        assert len(pack(decode(line))) < 40


def test_bytes_that_are_damaged() -> None:
    document = made_document(3)
    data = pack(document)
    for bad in (b"", b"x", data[:-3], data[:10] + b"\xff\xff\xff" + data[13:]):
        with pytest.raises(StoreError, match=r"'htcondor:ap\.example\.org:3\.0' is damaged"):
            unpack(bad, document.id)
    with pytest.raises(StoreError, match="is the document of"):
        unpack(data, made_document(4).id)
    with pytest.raises(StoreError, match="not a job document"):
        unpack(zstandard.compress(b'{"schema": 1}'), document.id)


def test_a_frame_that_promises_too_much_is_not_unpacked() -> None:
    bomb = zstandard.compress(b"\0" * (packing.MOST_BYTES + 1))
    assert len(bomb) < 100_000
    with pytest.raises(StoreError, match="damaged: 67108865 bytes"):
        unzip(bomb, "slurm:a:1")
    # The same without a size in its head.
    writer = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    with pytest.raises(StoreError, match="damaged"):
        unzip(writer.compress(b"\0" * 1000) + writer.flush(), "slurm:a:1")
    # And one that lies about its size.
    liar = bytearray(zstandard.compress(b"\0" * 300))
    at = bytes(liar).index(struct.pack("<H", 300 - 256))
    liar[at : at + 2] = struct.pack("<H", 20)
    with pytest.raises(StoreError, match="damaged"):
        unzip(bytes(liar), "slurm:a:1")


@pytest.mark.parametrize(
    "id_", ["", "x", "slurm:a:b", "slurm:a b:1", "slurm:\x07:1", "slurm:\u202e:1", "slurm:a:1:2"]
)
def test_ids_that_are_none(id_: str) -> None:
    with pytest.raises(DocumentError):
        pack(JobDocument(id=id_, updated=0))


def test_what_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DocumentError, match="too large"):
        pack(JobDocument(id=f"slurm:{'a' * 1000}:1", updated=0))
    monkeypatch.setattr(packing, "MOST_BYTES", 1000)
    with pytest.raises(DocumentError, match="too large"):
        pack(made_document(1, script="x" * 1000))


def test_keys() -> None:
    assert Keys.of(made_document(1)) == Keys(
        "htcondor:ap.example.org:1.0", "htcondor:ap.example.org", "completed", "ada", NOON
    )
    bare = JobDocument(id="slurm:a:1", updated=7)
    assert Keys.of(bare) == Keys("slurm:a:1", "slurm:a", "", None, 7)
    assert Keys.of(bare).active
    submitted = msgspec.structs.replace(bare, submission=Submission(submitted=5, user=""))
    assert (Keys.of(submitted).time, Keys.of(submitted).user) == (5, "")
    back = (Event(time=9, source="a"), Event(time=8, source="a"))
    assert Keys.of(msgspec.structs.replace(submitted, timeline=back)).time == 9
    far = msgspec.structs.replace(bare, updated=-(2**63))
    assert Keys.of(far).time == -(2**62)
    for state in State:
        told = Keys.of(msgspec.structs.replace(bare, state=state))
        assert told.active is not state.ended


def test_users_are_told_apart() -> None:
    names = ["", "a", "A", "x" * 128, "x" * 129, "sha256:", user_key("x" * 129), "ü" * 65, "\ud800"]
    keys = [user_key(name) for name in names]
    assert len(set(keys)) == len(names)
    assert all(len(key.encode("utf-8", "surrogatepass")) <= 128 for key in keys)


def test_positions_are_texts_of_one_form() -> None:
    text = position_to_text("log", {"b": [1, 0.1, None], "a": "ö\ud800"})
    assert text == position_to_text("log", {"a": "ö\ud800", "b": [1, 0.1, None]})
    assert position_from_text("log", text) == {"a": "ö\ud800", "b": [1, 0.1, None]}
    assert text.isascii()
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    bad: tuple[Any, ...] = ({"a": float("nan")}, {"a": {1}}, {"a": deep}, {"a": "x" * 5_000_000})
    for position in bad:
        with pytest.raises(StoreError, match="position of 'log'"):
            position_to_text("log", position)
    for damaged in ("", "[]", "{", '"x"', "[" * 100_000):
        with pytest.raises(StoreError, match="damaged"):
            position_from_text("log", damaged)


def test_ranges_of_ids_of_a_number() -> None:
    ranges = numbered_ranges("slurm:c", "12")

    def within(id_: str) -> bool:
        return any(low <= id_ < high for low, high in ranges)

    assert all(map(within, ["slurm:c:12", "slurm:c:12_3", "slurm:c:12+1", "slurm:c:12.0"]))
    assert not any(map(within, ["slurm:c:120", "slurm:c:1", "slurm:c:13", "slurm:d:12"]))
