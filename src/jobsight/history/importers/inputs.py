"""Which files are meant, and of which format each is."""

from __future__ import annotations

from collections.abc import Sequence

from jobsight.errors import SourceError
from jobsight.history.eventlog.discovery import find_logs
from jobsight.history.eventlog.logfiles import LogFile
from jobsight.history.importers.base import Importer, ImportReport
from jobsight.text import beginning, counted, printable

__all__ = ["choose", "find_files"]

_SURE = 0.5


def find_files(
    names: Sequence[str], importers: Sequence[Importer], report: ImportReport
) -> list[LogFile]:
    """The files that are named, as `find_logs` finds them; each once.

    Of a folder or archive, the files that one of the importers knows; the others are noted.

    Raises:
        SourceError: nothing is there, or it cannot be read.
    """
    others: list[str] = []
    files = find_logs(
        names,
        skipped=lambda name, _why: others.append(name),
        failed=lambda name, why: report.unreadable.append((name, why)),
        wanted=lambda file, _: any(importer.sniff(file) > _SURE for importer in importers),
        what="file of a known format",
    )
    if others:
        count = counted(len(others), "file")
        report.note(f"passed over {count} of no known format, such as {printable(others[0])}")
    return files


def choose(file: LogFile, importers: Sequence[Importer]) -> Importer:
    """The importer that is surest of a file.

    Raises:
        SourceError: none is sure enough; says what the file looks like.
    """
    sure = [(importer.sniff(file), importer) for importer in importers]
    best, importer = max(sure, key=lambda pair: pair[0])
    if best >= _SURE:
        return importer
    likely = f"; it is a little like {importer.name}" if best else ""
    names = ", ".join(one.name for one in importers)
    raise SourceError(
        f"{printable(file.name)} is of no known format: it begins with {beginning(file.head)}"
        f"{likely}. Name its format with --format ({names}), or say what its columns mean with "
        "--mapping"
    )
