"""Importing as tests do it: text to files, files to merged documents."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from jobsight.documents import JobDocument, merge
from jobsight.history.importers import FileImport, Importer, ImportReport, Options

__all__ = ["SAMPLES", "imported", "states", "written"]

SAMPLES = Path(__file__).parents[1] / "data" / "samples"


def written(folder: Path, text: str | bytes, name: str = "input") -> Path:
    """A file of that content."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def imported(
    *paths: Path,
    format: str | Importer = "auto",  # noqa: A002
    options: Options | None = None,
) -> tuple[dict[str, JobDocument], ImportReport]:
    """What a store would have after the import, by job (the id's last part), and the report."""
    options = options or Options()
    reading = FileImport([str(path) for path in paths], format=format, options=options)
    found: dict[str, JobDocument] = {}
    for batch in reading.batches():
        for document in batch:
            found[document.id] = merge(found.get(document.id), document)
    return {id_.rpartition(":")[2]: document for id_, document in found.items()}, reading.report


def states(documents: dict[str, JobDocument]) -> Counter[str]:
    """Number of jobs by state."""
    return Counter(str(document.state) for document in documents.values())
