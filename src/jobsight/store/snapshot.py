"""Snapshots: the documents of a store as a folder of Parquet files with a manifest, for training.

The files have the columns of `parquet` (``revision`` is 0), rows by time and id, each job once.
The same documents give the same bytes, whatever store they lay in and whenever it was asked.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from jobsight import __version__
from jobsight.documents import SCHEMA as DOCUMENT_SCHEMA
from jobsight.documents import JobDocument, State, encode
from jobsight.errors import SourceError, StoreError
from jobsight.files import MANIFEST, Kind, new_folder, read_json, sha256, write_json
from jobsight.store.parquet import verified_rows, write_rows
from jobsight.store.rows import Keys, Row
from jobsight.store.store import Store

__all__ = ["Snapshot", "export", "is_snapshot", "read_documents", "read_manifest"]

_FILE_ROWS = 100_000
_REPORT_EVERY = 1000
_NAME = re.compile(r"jobs-\d{6}\.parquet", re.ASCII)


class Snapshot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a snapshot's ``manifest.json``.

    Attributes:
        documents: their number.
        first: least time, µs since 1970; None: there are no documents.
        last: greatest time.
        asked: what was asked for: since, until, states, user, cluster.
        files: SHA-256 by file name.
        rows: documents by file name.
        versions: of Jobsight, the document's schema and the packages that shape the bytes.
    """

    documents: int
    first: int | None
    last: int | None
    asked: dict[str, Any]
    files: dict[str, str]
    rows: dict[str, int]
    versions: dict[str, str]


def export(
    store: Store,
    folder: Path,
    *,
    since: int | None = None,
    until: int | None = None,
    states: Collection[State] | None = None,
    user: str | None = None,
    cluster: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> Snapshot:
    """Write the documents that `Store.scan` gives, with the arguments of these names, to a folder.

    In bounded memory. The folder is new, empty, or a snapshot, which is replaced; `progress` is
    called with the number of documents written, now and then.

    Raises:
        OutputError: the folder cannot be written, or holds something else.
        StoreError: the store cannot be read.
    """
    scanned = store.scan(since=since, until=until, states=states, user=user, cluster=cluster)
    names = None if states is None else sorted(str(state) for state in states)
    asked = {"since": since, "until": until, "states": names, "user": user, "cluster": cluster}
    files: dict[str, str] = {}
    counts: dict[str, int] = {}
    first = last = None

    def rows(documents: Iterable[JobDocument]) -> Iterator[Row]:
        nonlocal first, last
        for document in documents:
            keys = Keys.of(document)
            first, last = keys.time if first is None else first, keys.time
            counts[name] += 1
            if progress is not None and counts[name] % _REPORT_EVERY == 0:
                progress(sum(counts.values()))
            yield Row(keys, 0, encode(document), archived=True)

    with new_folder(folder, Kind.SNAPSHOT) as new:
        for document in scanned:
            name = f"jobs-{len(files) + 1:06d}.parquet"
            counts[name] = 0
            group = itertools.chain([document], itertools.islice(scanned, _FILE_ROWS - 1))
            write_rows(rows(group), new / name)
            files[name] = sha256(new / name)
        versions = {"jobsight": __version__, "document": str(DOCUMENT_SCHEMA)}
        versions["pyarrow"] = version("pyarrow")
        made = Snapshot(sum(counts.values()), first, last, asked, files, counts, versions)
        write_json(new / MANIFEST, {"schema": Kind.SNAPSHOT.schema, **msgspec.to_builtins(made)})
    return made


def is_snapshot(path: Path) -> bool:
    """Whether a folder says that it is a snapshot, of this or another version."""
    try:
        return str(read_json(path / MANIFEST, dict).get("schema")).startswith("jobsight.snapshot/")
    except (OSError, ValueError):
        return False


def read_manifest(folder: Path) -> Snapshot:
    """The manifest of a snapshot; `SourceError`: it is missing, damaged, or of another version."""
    path = folder / MANIFEST
    try:
        content = read_json(path, dict)
    except FileNotFoundError:
        raise SourceError(f"{folder} is not a snapshot: it has no {MANIFEST}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SourceError(f"cannot read the snapshot {folder}: {reason}") from None
    schema, wanted = content.pop("schema", None), Kind.SNAPSHOT.schema
    if schema != wanted:
        raise SourceError(
            f"{folder} is {str(schema)[:60]!r}, and this version reads {wanted!r}; export again"
        )
    try:
        made = msgspec.convert(content, Snapshot)
    except msgspec.ValidationError:
        made = None
    if (
        made is None
        or not all(map(_NAME.fullmatch, made.files))
        or made.rows.keys() != made.files.keys()
        or sum(made.rows.values()) != made.documents
    ):
        raise SourceError(f"{path} is damaged; export again")
    return made


def read_documents(folder: Path) -> Iterator[JobDocument]:
    """The documents of a snapshot, by time and id, in bounded memory.

    Each file is checked against its hash before it is read.

    Raises:
        SourceError: the folder is not a snapshot, or a file in it is missing, changed or damaged.
    """
    made = read_manifest(folder)
    changed = "was changed since the export (its hash differs); export again"
    for name in sorted(made.files):
        path, count = folder / name, 0
        if not path.is_file():
            raise SourceError(f"{path} is missing, which the manifest lists; export again")
        try:
            for row in verified_rows(path, made.files[name], changed):
                count += 1
                yield row.document()
        except StoreError as error:
            raise SourceError(str(error)) from None
        if count != made.rows[name]:
            raise SourceError(f"{path} has {count} documents, not {made.rows[name]}; export again")
