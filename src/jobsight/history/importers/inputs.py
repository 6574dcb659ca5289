"""Which files are meant, and of which format each is."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path

from jobsight.errors import SourceError
from jobsight.history.eventlog.logfiles import LogFile, find_logs
from jobsight.history.importers.base import Importer, ImportReport
from jobsight.text import beginning, printable

__all__ = ["choose", "find_files"]

_SURE = 0.5


def find_files(
    names: Sequence[str], importers: Sequence[Importer], report: ImportReport
) -> list[LogFile]:
    """The files that are named: files, folders, globs, ``-`` for standard input; each once.

    Of a folder, the files right in it that one of the importers knows; the others are noted.

    Raises:
        SourceError: nothing is there, or it cannot be read.
    """
    found: dict[object, LogFile] = {}
    for name in names:
        for file in _named(name, importers, report):
            found.setdefault(_key(file), file)
    return list(found.values())


def _key(file: LogFile) -> object:
    return file.name if file.path is None else file.path.resolve()


def _named(name: str, importers: Sequence[Importer], report: ImportReport) -> list[LogFile]:
    if name == "-" or Path(name).is_file():
        return find_logs([name])
    places = sorted(glob.glob(name, recursive=True)) if glob.has_magic(name) else [name]  # noqa: PTH207
    files: list[LogFile] = []
    for place in places:
        files += _folder(place, importers, report) if Path(place).is_dir() else find_logs([place])
    return files or find_logs([name])


def _folder(place: str, importers: Sequence[Importer], report: ImportReport) -> list[LogFile]:
    known, strange = [], 0
    for path in sorted(Path(place).iterdir()):
        if not path.is_file():
            continue
        file = find_logs([str(path)])[0]
        if any(importer.sniff(file) > _SURE for importer in importers):
            known.append(file)
        else:
            strange += 1
    if not known:
        raise SourceError(f"no file in the folder {place!r} is of a known format; name files")
    if strange:
        report.note(f"passed over {strange} files of no known format in {printable(place)}")
    return known


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
