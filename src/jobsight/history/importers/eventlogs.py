"""HTCondor's event logs, read by `jobsight.history.events`, rotated files as one log."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from jobsight.documents import JobDocument
from jobsight.errors import SourceError
from jobsight.history.eventlog.logfiles import LogFile, looks_like_log
from jobsight.history.importers.base import BATCH, Importer, ImportReport, Options, Unknowable
from jobsight.history.jobdocuments import documents_of_batch, unnamed_access_point

if TYPE_CHECKING:
    pass

__all__ = ["EventLogs"]

_RECORD = re.compile(rb"\d{3} \(-?\d+\.-?\d+\.-?\d+\) ")
_OF_JOB_ADS = re.compile(rb'"ClusterId"|<a n="ClusterId">')


class EventLogs(Importer):
    """Global event logs and logs of users, in every form that HTCondor writes."""

    name = "eventlog"
    title = "HTCondor event logs (text, XML or JSON; rotated files are joined)"
    unknowable = (
        Unknowable("request, user, project", "only where event 028 records them"),
        Unknowable("submission.command, arguments, directory", "only where event 028 records them"),
        Unknowable("why a job waits", "logs say nothing between submission and start"),
        Unknowable("who released or removed a job", "only the reason that was given"),
        Unknowable("edits by condor_qedit", "written as no event, but seen in a later 028"),
        Unknowable("the access point", "where neither 028, 008 nor 000 names it"),
    )

    def sniff(self, file: LogFile) -> float:
        """By an event record at the start."""
        if _RECORD.match(file.head.removeprefix(b"\xef\xbb\xbf").lstrip()):
            return 1.0
        if file.kind in ("xml", "json"):
            return 0.9 if b"EventTypeNumber" in file.head else 0.0
        return 0.8 if looks_like_log(file.head) and not _OF_JOB_ADS.search(file.head) else 0.0

    def read(
        self, files: Sequence[LogFile], options: Options, report: ImportReport
    ) -> Iterator[list[JobDocument]]:
        """Documents of the logs, stretch after stretch.

        Raises:
            SourceError: there is no event record in any of them.
        """
        # Only importers of HTCondor's text wait for Numba.
        from jobsight.history.eventlog.generations import segment_name
        from jobsight.history.events import EventReader

        reader = EventReader(
            files,
            access_point=options.access_point,
            timezone=options.timezone or options.site_timezone,
            progress=options.progress,
            generations=True,
        )
        names: dict[int, str] = {}
        for batch in reader.batches():
            if not batch.num_rows:
                continue
            number = batch.column("log")[0].as_py()
            if number not in names:
                log = next(log for log in reader.logs if log.number == number)
                names[number] = log.access_point or unnamed_access_point(
                    segment_name(log.segments[0])
                )
            documents = documents_of_batch(batch, names[number])
            for start in range(0, len(documents), BATCH):
                yield documents[start : start + BATCH]
        report.rows += reader.report.events
        report.bytes += reader.report.bytes
        if reader.report.unreadable and not reader.report.events:
            raise SourceError(reader.report.unreadable[0][1])
        report.unreadable += reader.report.unreadable
        for stretch in reader.report.skipped:
            if stretch.length:
                report.rows += 1
                reason = f"{stretch.reason} ({stretch.length} bytes)"
                report.refuse(stretch.file, stretch.offset, reason, unit="byte")
            else:
                report.breaks.append((stretch.file, stretch.reason))
