"""Job documents ↔ JSON: strict, versioned, and careful with what a newer version wrote.

The first field is ``schema``. A document of this version is decoded strictly: an unknown field, a
wrong type or a missing field is an error. A document of a newer version is split: what this
version knows is decoded as strictly, the rest is kept in the `unknown` of the section where it
stood, and is written back to its place, under the newer version's number. ``unknown`` itself never
stands in JSON as a field of ours. JSON has no NaN and no infinity: they are written as null.
"""

from __future__ import annotations

from functools import cache
from typing import Any, get_args, get_origin

import msgspec

from jobsight.documents.document import JSON, SCHEMA, JobDocument
from jobsight.errors import DocumentError
from jobsight.text import printable

__all__ = ["decode", "encode", "from_json", "to_json"]

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(JobDocument)
_ANY = msgspec.json.Decoder()
_USUAL = f'{{"schema":{SCHEMA},'.encode()
_KEPT = "unknown"
_KEPT_FIELD = b'"unknown":'
_MOST_SHOWN = 300


def encode(document: JobDocument) -> bytes:
    """The document as UTF-8 JSON.

    Raises:
        DocumentError: a text is no Unicode (a lone surrogate), a value is no JSON, or fields of a
            newer version lack that version's number.
    """
    try:
        data = _ENCODER.encode(document)
        # Within a text the quotes would be escaped: so most are known to keep nothing at once.
        kept = _KEPT_FIELD in data and _keeps(document)
        return _ENCODER.encode(to_json(document)) if kept else data
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise DocumentError(
            f"{document.id[:80]!r} cannot be written: {printable(error, _MOST_SHOWN)}"
        ) from None


def decode(data: bytes) -> JobDocument:
    """The document of UTF-8 JSON.

    Raises:
        DocumentError: it is no JSON, or no document of this or a newer version; says where.
    """
    try:
        document = _DECODER.decode(data)
        # msgspec takes a document without its tag, and `unknown` is a field to it.
        if data.startswith(_USUAL) and not _keeps(document):
            return document
    except msgspec.ValidationError:
        pass
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise DocumentError(f"not a job document: {printable(error, _MOST_SHOWN)}") from None
    try:
        return from_json(_ANY.decode(data))
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise DocumentError(f"not a job document: {printable(error, _MOST_SHOWN)}") from None


def to_json(document: JobDocument) -> dict[str, JSON]:
    """The document as plain dicts and lists, as they stand in its JSON.

    Raises:
        DocumentError: as by `encode`.
    """
    if not _keeps(document):
        tree: dict[str, JSON] = msgspec.to_builtins(document)
        return tree
    schema = (document.unknown or {}).get("schema")
    if type(schema) is not int or schema <= SCHEMA:
        raise DocumentError(
            f"{document.id[:80]!r} cannot be written: it holds fields of a newer version, "
            "but not the number of that version"
        )
    return {"schema": schema, **_joined(document)}


def from_json(tree: JSON) -> JobDocument:
    """The document of plain dicts and lists, as strict as `decode`.

    Raises:
        DocumentError: as by `decode`.
    """
    if not isinstance(tree, dict):
        raise DocumentError("not a job document: no JSON object")
    schema = tree.get("schema")
    if type(schema) is not int:
        raise DocumentError("not a job document: it has no number as its `schema`")
    try:
        known = _split(tree, JobDocument) if schema > SCHEMA else tree
        document = msgspec.convert(known, JobDocument)
    except (msgspec.ValidationError, ValueError, TypeError, RecursionError) as error:
        raise DocumentError(f"not a job document: {printable(error, _MOST_SHOWN)}") from None
    if schema <= SCHEMA and _keeps(document):
        raise DocumentError("not a job document: Object contains unknown field `unknown`")
    return document


def _keeps(document: JobDocument) -> bool:
    """Whether fields of a newer version are kept anywhere in the document."""
    sections = (document.request, document.submission, document.program, document.usage)
    return (
        document.unknown is not None
        or any(one.unknown is not None for one in sections)
        or (document.outcome is not None and document.outcome.unknown is not None)
        or any(one.unknown is not None for one in document.timeline)
        or any(one.unknown is not None for one in document.predictions)
    )


def _joined(struct: msgspec.Struct) -> dict[str, JSON]:
    """The struct's fields, those at their default left out, and what `unknown` kept of it."""
    tree: dict[str, JSON] = {}
    kept: dict[str, JSON] = {}
    for field in _fields(type(struct)):
        value = getattr(struct, field.name)
        if field.name == _KEPT:
            kept = value or {}
        elif isinstance(value, msgspec.Struct):
            inner = _joined(value)
            if inner:
                tree[field.name] = inner
        elif isinstance(value, tuple) and value and isinstance(value[0], msgspec.Struct):
            tree[field.name] = [_joined(one) for one in value]
        elif field.required or value != field.default:
            tree[field.name] = msgspec.to_builtins(value)
    return {**tree, **{name: kept[name] for name in kept if name not in tree and name != "schema"}}


def _split(value: Any, kind: Any) -> Any:
    """Move what a struct of this version has no field for into its `unknown`."""
    struct = _struct_of(kind)
    if struct is None:
        return value
    if isinstance(value, list):
        return [_split(item, struct) for item in value]
    if not isinstance(value, dict):
        return value
    fields = {field.name: field.type for field in _fields(struct)}
    del fields[_KEPT]
    known = {name: _split(item, fields[name]) for name, item in value.items() if name in fields}
    strange = {name: item for name, item in value.items() if name not in fields}
    if struct is JobDocument:
        known["schema"] = SCHEMA
    return {**known, _KEPT: strange} if strange else known


@cache
def _fields(struct: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(struct)


@cache
def _struct_of(kind: Any) -> type[msgspec.Struct] | None:
    """The struct in ``Struct``, ``Struct | None`` or ``tuple[Struct, ...]``."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind
    inner = [_struct_of(part) for part in get_args(kind)] if get_origin(kind) else []
    return next((struct for struct in inner if struct is not None), None)
