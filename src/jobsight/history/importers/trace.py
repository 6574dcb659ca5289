"""Importers of published tables of Slurm jobs: a table of columns, and what becomes of each."""

from __future__ import annotations

import datetime as dt
import itertools
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from jobsight.clock import zone_named
from jobsight.documents import JobDocument
from jobsight.documents.states import State, slurm_state
from jobsight.errors import SourceError
from jobsight.history.eventlog.logfiles import LogFile
from jobsight.history.importers.base import BATCH, Importer, ImportReport, Options
from jobsight.history.importers.lines import Meter
from jobsight.history.importers.tables import columns_of, rows

__all__ = ["Reader", "TableImporter", "state_of"]


def state_of(word: str | None) -> State | None:
    """The state of Slurm's word in a table.

    Raises:
        ValueError: Slurm has no such word.
    """
    if word is None:
        return None
    state = slurm_state(word)
    if state is None:
        raise ValueError(f"{word[:40]!r} is no state of Slurm's")
    return state


class Reader:
    """One file's rows to documents.

    Args:
        cluster: stands for the cluster's name.
        zone: of times without one.
    """

    def __init__(self, cluster: str, zone: dt.tzinfo) -> None:
        self.cluster, self.zone = cluster, zone

    def document(self, row: Mapping[str, Any]) -> JobDocument:
        """What a row tells.

        Raises:
            ValueError: it tells nothing that makes sense.
        """
        raise NotImplementedError


class TableImporter(Importer):
    """What the importers of such tables share.

    Attributes:
        columns: columns that are read.
        telling: columns that, all together, only this table has.
    """

    columns: ClassVar[Sequence[str]]
    telling: ClassVar[frozenset[str]]

    def sniff(self, file: LogFile) -> float:
        """By the names of the columns."""
        try:
            return 1.0 if self.telling <= columns_of(file) else 0.0
        except SourceError:
            return 0.0

    @abstractmethod
    def place(self, file: LogFile, options: Options) -> tuple[str, str]:
        """The name of the cluster, and its time zone's."""

    @abstractmethod
    def reader(self, file: LogFile, cluster: str, zone: dt.tzinfo, report: ImportReport) -> Reader:
        """What reads the file's rows."""

    def read(
        self, files: Sequence[LogFile], options: Options, report: ImportReport
    ) -> Iterator[list[JobDocument]]:
        """Documents of the tables, one after another."""
        meter = Meter(files, report, options.progress)
        for file in files:
            missing = sorted(self.telling - columns_of(file))
            if missing:
                raise SourceError(
                    f"{file.name} is no table of {self.title}: it lacks the column {missing[0]!r}; "
                    "name its format with --format"
                )
            cluster, zone = self.place(file, options)
            reader = self.reader(file, cluster, zone_named(options.timezone or zone), report)
            documents = self._documents(file, reader, report, meter)
            while batch := list(itertools.islice(documents, BATCH)):
                yield batch

    def _documents(
        self, file: LogFile, reader: Reader, report: ImportReport, meter: Meter
    ) -> Iterator[JobDocument]:
        for number, row in rows(file, self.columns, report, meter):
            try:
                document = reader.document(row)
            except ValueError as error:
                shown = ",".join("" if value is None else str(value) for value in row.values())
                report.refuse(file.name, number, str(error), shown)
                continue
            yield document
