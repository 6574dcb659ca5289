"""Job documents ↔ JSON: strict and versioned.

The first field is ``schema``, the version. An unknown field, a wrong type, a missing field or
another version is an error. JSON has no NaN and no infinity: they are written as null.
"""

from __future__ import annotations

import msgspec

from jobsight.documents.document import JSON, SCHEMA, JobDocument
from jobsight.errors import DocumentError
from jobsight.text import printable

__all__ = ["decode", "encode", "to_json"]

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(JobDocument)
_START = f'{{"schema":{SCHEMA},'.encode()
_MOST_SHOWN = 300


def encode(document: JobDocument) -> bytes:
    """The document as UTF-8 JSON.

    Raises:
        DocumentError: a text is not valid Unicode (a lone surrogate), or a value has no JSON form.
    """
    try:
        return _ENCODER.encode(document)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise DocumentError(
            f"{document.id[:80]!r} cannot be written: {printable(error, _MOST_SHOWN)}"
        ) from None


def decode(data: bytes) -> JobDocument:
    """The document of JSON that `encode` wrote.

    Raises:
        DocumentError: it is not JSON, or not a document of this version; says where.
    """
    try:
        document = _DECODER.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise DocumentError(f"not a job document: {printable(error, _MOST_SHOWN)}") from None
    if not data.startswith(_START):  # msgspec accepts a document without its tag
        raise DocumentError(f"not a job document: it does not begin with its `schema`, {SCHEMA}")
    return document


def to_json(document: JobDocument) -> dict[str, JSON]:
    """The document as plain dicts and lists, as in its JSON."""
    tree: dict[str, JSON] = msgspec.to_builtins(document)
    return tree
