"""All importers, and reading files of whatever formats by them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from jobsight.clock import zone_named
from jobsight.documents import JobDocument
from jobsight.errors import UsageError
from jobsight.history.eventlog.logfiles import LogFile
from jobsight.history.importers.base import Importer, ImportReport, Options
from jobsight.history.importers.condorhistory import CondorHistory
from jobsight.history.importers.eventlogs import EventLogs
from jobsight.history.importers.inputs import choose, find_files
from jobsight.history.importers.mapped import Mapped
from jobsight.history.importers.sacct import Sacct
from jobsight.history.importers.slurmrecords import SacctJson, Slurmdbd
from jobsight.history.importers.swf import Swf
from jobsight.text import printable

__all__ = ["IMPORTERS", "FileImport", "importer_named"]

IMPORTERS: tuple[Importer, ...] = (
    Sacct(),
    SacctJson(),
    Slurmdbd(),
    Swf(),
    Mapped(Path(__file__).with_name("eagle.yaml")),
    Mapped(Path(__file__).with_name("graham.yaml")),
    CondorHistory(),
    EventLogs(),
)
"""One of each format, in the order in which they are listed."""


def importer_named(name: str) -> Importer:
    """The importer of a format.

    Raises:
        UsageError: there is none of that name.
    """
    found = next((one for one in IMPORTERS if one.name == name), None)
    if found is None:
        names = ", ".join(one.name for one in IMPORTERS)
        raise UsageError(f"no format is named {name[:40]!r}; there are auto, {names}")
    return found


class FileImport:
    """Files to be imported, each with its importer; one pass, one thread.

    Args:
        names: files, folders, globs, ``-`` for standard input.
        format: name of an importer, or ``auto``, or an importer itself.
        options: what the user says of the files.

    Attributes:
        report: what was read; whole when `batches` has ended.
        importers: those of the files.
        paths: the files on disk, archives in place of their members.

    Raises:
        SourceError: a file is missing, unreadable, or of no known format.
        UsageError: there is no such format, or no such time zone.
    """

    def __init__(self, names: Sequence[str], *, format: str | Importer, options: Options) -> None:  # noqa: A002
        self.report = ImportReport()
        self._options = options
        zone_named(options.timezone)  # now, before anything is imported
        importers: Sequence[Importer] = IMPORTERS
        if format != "auto":
            importers = (importer_named(format) if isinstance(format, str) else format,)
        groups: dict[Importer, list[LogFile]] = {one: [] for one in importers}
        for file in find_files(names, importers, self.report):
            if file.kind == "empty" and not file.head.strip():
                self.report.note(f"{printable(file.name)} is empty")
                continue
            importer = choose(file, importers) if format == "auto" else importers[0]
            groups[importer].append(file)
            self.report.files.append((file.name, importer.name))
        self._groups = groups
        self.importers = [importer for importer, files in groups.items() if files]
        paths = {file.path for files in groups.values() for file in files}
        self.paths = sorted(path for path in paths if path is not None)

    def batches(self) -> Iterator[list[JobDocument]]:
        """Documents of all files, in bounded batches; a job may come several times.

        Raises:
            SourceError: a file holds nothing of its format, or has gone.
            UsageError: an option is missing.
        """
        for importer, files in self._groups.items():
            if files:
                yield from importer.read(files, self._options, self.report)
