"""All importers, and reading files of whatever formats by them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from jobsight.clock import zone_named
from jobsight.documents import JobDocument
from jobsight.errors import SourceError, UsageError
from jobsight.history.eventlog.discovery import find_logs
from jobsight.history.eventlog.logfiles import LogFile
from jobsight.history.importers.base import Importer, ImportReport, Options
from jobsight.history.importers.condorhistory import CondorHistory
from jobsight.history.importers.eventlogs import EventLogs
from jobsight.history.importers.mapped import Mapped
from jobsight.history.importers.queuelook import QueueLooks
from jobsight.history.importers.sacctdumps import Sacct
from jobsight.history.importers.shownjobs import QueueJson, ShownJobs
from jobsight.history.importers.slurmrecords import SacctJson, Slurmdbd
from jobsight.history.importers.swf import Swf
from jobsight.text import beginning, counted, printable

__all__ = ["IMPORTERS", "FileImport"]

_SURE = 0.5
_TABLE = re.compile(
    rb"\A(?:.{10,50}\n)?(?=.*\bJOBID\b)(?!.*\b(?:SUBMIT|START|END)\b)[A-Z \t|,;:/_()%*]{12,}$"
    rb"|\A *\d+\S* +\S+ +\S.*? (?:PD|R|CG|CF|S) +[\d:-]+ +\d+ +\S",
    re.MULTILINE,
)
"""Columns of squeue's tables, below the date of -l and -i; a line of the usual table, by itself."""

IMPORTERS: tuple[Importer, ...] = (
    Sacct(),
    SacctJson(),
    Slurmdbd(),
    Swf(),
    QueueLooks(),
    QueueJson(),
    ShownJobs(),
    Mapped(Path(__file__).with_name("eagle.yaml")),
    Mapped(Path(__file__).with_name("graham.yaml")),
    CondorHistory(),
    EventLogs(),
)
"""One of each format, in the order in which they are listed."""


_BINARY = 4096


def _is_binary(file: LogFile, importers: Sequence[Importer]) -> bool:
    """Whether a file is of no known format and no text, such as a core that ``*.log`` matches."""
    head = file.head[:_BINARY]
    no_text = b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff"))
    return no_text and all(importer.sniff(file) < _SURE for importer in importers)


def _surest(file: LogFile, importers: Sequence[Importer]) -> Importer:
    """The importer that is surest of a file.

    Raises:
        SourceError: none is sure enough; says how the file begins. Or it is a table of squeue.
    """
    if _TABLE.match(file.head):
        raise SourceError(
            f"{printable(file.name)} is a table of squeue, which cuts long values and does not say "
            "when it was made: import the output of scontrol show job or of squeue --json"
        )
    importer = max(importers, key=lambda candidate: candidate.sniff(file))
    sure = importer.sniff(file)
    if sure >= _SURE:
        return importer
    likely = f"; it is a little like {importer.name}" if sure else ""
    names = ", ".join(candidate.name for candidate in importers)
    raise SourceError(
        f"{printable(file.name)} is of no known format: it begins with {beginning(file.head)}"
        f"{likely}. Name its format with --format ({names}), or say what its columns mean with "
        "--mapping"
    )


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
        if isinstance(format, Importer):
            importers = (format,)
        elif format != "auto":
            importers = [importer for importer in IMPORTERS if importer.name == format]
            if not importers:
                names_of_all = ", ".join(importer.name for importer in IMPORTERS)
                raise UsageError(
                    f"no format is named {format[:40]!r}; there are auto, {names_of_all}"
                )
        others: list[str] = []
        files = find_logs(
            names,
            skipped=lambda name, _why: others.append(name),
            failed=lambda name, why: self.report.unreadable.append((name, why)),
            wanted=lambda file, _: any(importer.sniff(file) > _SURE for importer in importers),
            what="file of a known format",
        )
        if others:
            passed = f"{counted(len(others), 'file')} of no known format, such as"
            self.report.note(f"passed over {passed} {printable(others[0])}")
        groups: dict[Importer, list[LogFile]] = {importer: [] for importer in importers}
        binary = [file for file in files if format == "auto" and _is_binary(file, importers)]
        if 0 < len(binary) < len(files):
            passed = f"{counted(len(binary), 'file')} that {'is' if len(binary) == 1 else 'are'}"
            self.report.note(f"passed over {passed} not text, such as {printable(binary[0].name)}")
            files = [file for file in files if file not in binary]
        for file in files:
            if file.kind == "empty" and not file.head.strip():
                self.report.note(f"{printable(file.name)} is empty")
                continue
            importer = _surest(file, importers) if format == "auto" else importers[0]
            groups[importer].append(file)
            self.report.files.append((file.name, importer.name))
        self._groups = groups
        self.importers = [importer for importer, files in groups.items() if files]
        paths = {file.path for files in groups.values() for file in files}
        self.paths = sorted(path for path in paths if path is not None)

    @property
    def names_cluster(self) -> bool:
        """Whether all files say which cluster they are of."""
        return all(importer.names_cluster for importer in self.importers)

    def name_cluster(self, name: str) -> None:
        """Take files that do not say which cluster they are of for those of a cluster."""
        self._options = replace(self._options, unnamed=name)

    def batches(self) -> Iterator[list[JobDocument]]:
        """Documents of all files, in bounded batches; a job may come several times.

        Raises:
            SourceError: a file holds nothing of its format, or has gone.
            UsageError: an option is missing.
        """
        for importer, files in self._groups.items():
            if not files:
                continue
            found, bad = False, self.report.bad
            sound = self.report.rows - bad
            for batch in importer.read(files, self._options, self.report):
                found = True
                yield batch
            if (
                not found
                and not (importer.may_be_empty and self.report.bad == bad)
                and self.report.rows - self.report.bad <= sound
            ):
                rows, breaks = self.report.first_bad, self.report.breaks
                reason = rows[-1].reason if rows else breaks[-1][1] if breaks else "no rows"
                others = [one for one in IMPORTERS if one.sniff(files[0]) >= _SURE]
                like = [f"; it looks like {one.name}" for one in others if one is not importer]
                raise SourceError(
                    f"{', '.join(printable(file.name) for file in files[:3])}: no record of "
                    f"{importer.title} ({printable(reason)}){''.join(like[:1])}"
                )
