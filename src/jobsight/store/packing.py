"""Documents as bytes, and what a store must know of them to find them again.

A packed document is the JSON of `jobsight.documents.codec` as one zstd frame (RFC 8878) of level 1
that contains its own size and checksum. ``typical.jsonl``, a document of each kind of source, is
the dictionary: with it frames have a third of the size and take half the time. A store is read with
the dictionary it was written with, so another dictionary is another `SCHEMA`. Positions and the
list of archive files begin with a checksum too (`sealed`).
"""

from __future__ import annotations

import hashlib
import json
import threading
import zlib
from functools import cache
from pathlib import Path

import zstandard

from jobsight.documents import JobDocument, decode, encode
from jobsight.documents.keys import require_key
from jobsight.documents.states import State
from jobsight.errors import DocumentError, StoreError, UsageError
from jobsight.text import printable

__all__ = [
    "ACTIVE",
    "ENDED",
    "LEAST_TIME",
    "MOST_TIME",
    "SCHEMA",
    "cluster_of",
    "numbered_ranges",
    "pack",
    "position_from_text",
    "position_to_text",
    "read_text",
    "require_schema",
    "sealed",
    "unsealed",
    "unzip",
    "user_key",
]

SCHEMA = 3
"""Of all stores, in files and on servers; there is no way from one schema to another."""

MOST_BYTES = 64 << 20
"""Bytes of JSON that a document may have; a larger one is refused, packed or unpacked."""

MOST_ID_BYTES = 1000

LEAST_TIME, MOST_TIME = -(2**62), 2**62
"""Bounds of the times in a store's indexes: none is lost to an overflow, or to its sign."""

ENDED = frozenset(str(state) for state in State if state.ended)
"""States of jobs that have ended, as indexes have them."""

ACTIVE = frozenset({"", *(str(state) for state in State)} - ENDED)
"""States of jobs that have not ended as far as is known."""

_MOST_POSITION_BYTES = 4 << 20
_MOST_USER_BYTES = 128
_LEVEL = 1

# Neither may be used by two threads at once.
_tools = threading.local()


def cluster_of(id_: str) -> str:
    """An id up to its last colon: ``slurm:mycluster``."""
    return id_.rpartition(":")[0]


def numbered_ranges(cluster: str, number: str) -> list[tuple[str, str]]:
    """Ranges of ids, the first in and the last out, in which a cluster's jobs of a number are."""
    start = f"{cluster}:{number}"
    # The job itself, then its components, procs, later jobs of its number, and tasks: each range
    # ends at the next character.
    marks = ((mark, chr(ord(mark) + 1)) for mark in "+.@_")
    return [(start, f"{start}!"), *((start + mark, start + end) for mark, end in marks)]


def require_schema(shown: str, schema: str) -> None:
    """Refuse a store, named `shown`, that does not have this version's schema.

    Raises:
        StoreError: says what to do.
    """
    if schema != str(SCHEMA):
        raise StoreError(
            f"{shown} has schema {printable(schema, 20)}; this version reads {SCHEMA}; import the "
            "sources again into another store"
        )


def user_key(user: str) -> str:
    """A user's name as an index has it: hashed where it is longer than any real one."""
    data = user.encode("utf-8", "surrogatepass")
    if len(data) <= _MOST_USER_BYTES and not user.startswith("sha256:"):
        return user
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def pack(document: JobDocument) -> bytes:
    """A document as bytes.

    Raises:
        DocumentError: its id or a text in it is not valid, or it is too large.
    """
    try:
        require_key(document.id)
    except UsageError as error:
        raise DocumentError(str(error)) from None
    if " " in document.id or not document.id.isprintable():
        raise DocumentError(
            f"{printable(document.id, 60)!r} is not an id: it has a blank or control"
        )
    data = encode(document)
    if len(document.id.encode()) > MOST_ID_BYTES or len(data) > MOST_BYTES:
        raise DocumentError(
            f"{printable(document.id, 60)!r} is too large to be stored: an id may have "
            f"{MOST_ID_BYTES} bytes and a document {MOST_BYTES >> 20} MB"
        )
    compressor: zstandard.ZstdCompressor | None = getattr(_tools, "compressor", None)
    if compressor is None:
        compressor = zstandard.ZstdCompressor(_LEVEL, dict_data=_dictionary(), write_checksum=True)
        _tools.compressor = compressor
    return compressor.compress(data)


@cache
def _dictionary() -> zstandard.ZstdCompressionDict:
    text = Path(__file__).with_name("typical.jsonl").read_bytes()
    dictionary = zstandard.ZstdCompressionDict(text, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    dictionary.precompute_compress(_LEVEL)
    return dictionary


def unzip(data: bytes, id_: str) -> bytes:
    """The JSON of a packed document; never more than `MOST_BYTES`, whatever the frame promises.

    Raises:
        StoreError: the bytes are damaged.
    """
    decompressor: zstandard.ZstdDecompressor | None = getattr(_tools, "decompressor", None)
    if decompressor is None:
        decompressor = zstandard.ZstdDecompressor(dict_data=_dictionary())
        _tools.decompressor = decompressor
    try:
        size = zstandard.get_frame_parameters(data).content_size
        if size > MOST_BYTES:
            raise StoreError(f"the document of {printable(id_, 60)!r} is damaged: {size} bytes")
        return decompressor.decompress(data)
    except zstandard.ZstdError as error:
        raise StoreError(f"the document of {printable(id_, 60)!r} is damaged ({error})") from None


def read_text(text: bytes, id_: str) -> JobDocument:
    """The document of its JSON; `StoreError`: it is damaged, or is another job's document."""
    try:
        document = decode(text)
    except DocumentError as error:
        raise StoreError(f"the document of {printable(id_, 60)!r} is damaged ({error})") from None
    if document.id != id_:
        raise StoreError(
            f"under {printable(id_, 60)!r} is the document of {printable(document.id, 60)!r}"
        )
    return document


def sealed(text: str) -> str:
    """A text behind the CRC-32 of its UTF-8 bytes: eight hexadecimal digits and a blank."""
    return f"{zlib.crc32(text.encode()):08x} {text}"


def unsealed(data: str | bytes) -> str:
    """The text of `sealed`; `ValueError`: it was changed."""
    text = data.decode() if isinstance(data, bytes) else data
    if sealed(text[9:]) != text:
        raise ValueError("its checksum is that of another text")
    return text[9:]


def position_to_text(source: str, position: dict[str, object]) -> str:
    """A position as ASCII JSON, `sealed`; equal positions give equal texts.

    Raises:
        StoreError: it is not JSON, or too large.
    """
    try:
        text = json.dumps(position, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(
            f"the position of {printable(source, 80)!r} is not JSON: {error}"
        ) from None
    if len(text) > _MOST_POSITION_BYTES:
        raise StoreError(
            f"the position of {printable(source, 80)!r} has {len(text)} bytes; at most "
            f"{_MOST_POSITION_BYTES >> 20} MB can be stored"
        )
    return sealed(text)


def position_from_text(source: str, text: str | bytes) -> dict[str, object]:
    """The position of its text; `StoreError`: the text is damaged."""
    try:
        position = json.loads(unsealed(text))
    except (TypeError, ValueError, RecursionError):
        position = None
    if not isinstance(position, dict):
        raise StoreError(f"the position of {printable(source, 80)!r} in the store is damaged")
    return position
