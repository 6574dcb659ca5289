"""Job documents ↔ JSON: strict, versioned, and careful with what a newer version wrote.

The first field is ``schema``. A document of this version is decoded strictly: an unknown field, a
wrong type or a missing field is an error. A document of a newer version is split: what this
version knows is decoded as strictly, the rest is kept in the `unknown` of the section where it
stood, and is written back to its place, under the newer version's number.
"""

from __future__ import annotations

from typing import Any, get_args, get_origin

import msgspec

from jobsight.documents.document import JSON, SCHEMA, JobDocument
from jobsight.errors import DocumentError

__all__ = ["decode", "encode", "from_json", "to_json"]

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(JobDocument)
_ANY = msgspec.json.Decoder()
_MOST_DEEP = 64


def encode(document: JobDocument) -> bytes:
    """The document as UTF-8 JSON.

    Raises:
        DocumentError: a text is no Unicode (a lone surrogate), or a number has more than 64 bits.
    """
    try:
        return _ENCODER.encode(document if document.unknown is None else to_json(document))
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise DocumentError(f"{document.id[:80]!r} cannot be written: {error}") from None


def decode(data: bytes) -> JobDocument:
    """The document of UTF-8 JSON.

    Raises:
        DocumentError: it is no JSON, or no document of this or a newer version; says where.
    """
    try:
        return _DECODER.decode(data)
    except msgspec.ValidationError as error:
        problem = error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DocumentError(f"not a job document: {error}") from None
    return _decode_newer(data, problem)


def _decode_newer(data: bytes, problem: msgspec.ValidationError) -> JobDocument:
    try:
        tree = _ANY.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DocumentError(f"not a job document: {error}") from None
    schema = tree.get("schema") if isinstance(tree, dict) else None
    if type(schema) is not int or schema <= SCHEMA:
        raise DocumentError(f"not a job document: {problem}") from None
    return from_json(tree)


def to_json(document: JobDocument) -> dict[str, JSON]:
    """The document as plain dicts and lists, as they stand in its JSON."""
    tree: dict[str, JSON] = _join(msgspec.to_builtins(document))
    return tree


def from_json(tree: dict[str, JSON]) -> JobDocument:
    """The document of plain dicts and lists, as strict as `decode`.

    Raises:
        DocumentError: as by `decode`.
    """
    newer = isinstance(tree.get("schema"), int) and tree["schema"] > SCHEMA
    try:
        known = _split(tree, JobDocument, 0) if newer else tree
        return msgspec.convert(known, JobDocument)
    except (msgspec.ValidationError, RecursionError) as error:
        raise DocumentError(f"not a job document: {error}") from None


def _join(value: Any) -> Any:
    """Put the fields of each `unknown` back to where they stood."""
    if isinstance(value, list | tuple):
        return [_join(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = value.get("unknown")
    known = {name: _join(item) for name, item in value.items() if name != "unknown"}
    if not isinstance(kept, dict):
        return known
    return {**known, **{name: kept[name] for name in kept if name not in known or name == "schema"}}


def _split(value: Any, kind: Any, depth: int) -> Any:
    """Move what a struct of this version has no field for into its `unknown`."""
    if depth > _MOST_DEEP:
        raise DocumentError("not a job document: nested too deeply")
    struct = _struct_of(kind)
    if struct is None:
        return value
    if isinstance(value, list):
        return [_split(item, struct, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    fields = {field.name: field.type for field in msgspec.structs.fields(struct)}
    known = {
        name: _split(item, fields[name], depth + 1)
        for name, item in value.items()
        if name in fields
    }
    strange = {name: item for name, item in value.items() if name not in fields}
    if struct is JobDocument:
        known["schema"] = SCHEMA
    return {**known, "unknown": strange} if strange else known


def _struct_of(kind: Any) -> type[msgspec.Struct] | None:
    """The struct in ``Struct``, ``Struct | None`` or ``tuple[Struct, ...]``."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind
    inner = [_struct_of(part) for part in get_args(kind)] if get_origin(kind) else []
    return next((struct for struct in inner if struct is not None), None)
