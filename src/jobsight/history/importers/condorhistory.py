"""Ads of jobs that left the queue, as ``condor_history`` prints and schedds keep them.

Forms: ``condor_history -l``, ``-json``, ``-jsonl``, and the history files of a schedd (``HISTORY``,
also of ``PER_JOB_HISTORY_DIR``). ``condor_q -l`` and ``-json`` are read as well.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from jobsight.documents import JobDocument
from jobsight.errors import DocumentError, SourceError
from jobsight.history.eventlog.logfiles import LogFile, looks_like_log
from jobsight.history.importers.adtext import Piece, cut_json, cut_text, parse_text
from jobsight.history.importers.base import (
    BATCH,
    Importer,
    ImportReport,
    Meter,
    Options,
    Unknowable,
    blocks,
)
from jobsight.history.jobads import access_point_of, document_from_ad

__all__ = ["CondorHistory"]

_ATTRIBUTE = re.compile(rb"^[A-Za-z_][\w.]* = \S", re.M)
_JOB = re.compile(
    rb'^(ClusterId|ProcId|GlobalJobId|JobStatus) = |"(ClusterId|ProcId|GlobalJobId)"', re.M
)


class CondorHistory(Importer):
    """Ads of jobs, in text or JSON."""

    name = "condor-history"
    may_be_empty = True
    title = "HTCondor history (condor_history -l or -json, a schedd's history files)"
    unknowable = (
        Unknowable("evictions, releases, earlier holds", "an ad keeps the last; NumHolds counts"),
        Unknowable("starts between the first and the last", "NumJobStarts counts them"),
        Unknowable("when it was suspended", "only the time spent so"),
        Unknowable("who released it", "no ad says so; nor do event logs, but by the reason"),
        Unknowable("usage.memory_mb", "ResidentSetSize is rounded up, in steps of up to 25 %"),
    )

    def sniff(self, file: LogFile) -> float:
        """By attributes of jobs, in lines or in JSON objects."""
        head = file.head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if head.startswith((b"{", b"[")):
            numbered = b'"EventTypeNumber"' not in head
            if _JOB.search(head) and numbered:
                return 1.0
            return 0.6 if re.fullmatch(rb"\[\s*\]\s*", head) else 0.3 if numbered else 0.0
        found = len(_ATTRIBUTE.findall(head))
        if found < 3 or looks_like_log(head) or found < head.count(b"\n") // 2:
            return 0.0
        return 1.0 if _JOB.search(head) else 0.6

    def read(
        self, files: Sequence[LogFile], options: Options, report: ImportReport
    ) -> Iterator[list[JobDocument]]:
        """Documents of the ads, file after file."""
        meter = Meter(files, report, options.progress)
        first: str | None = None  # access point that an ad names

        def documents_of(file: LogFile) -> Iterator[JobDocument]:
            nonlocal first
            data = blocks(file, report, meter)
            start = file.head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
            for piece, ad in cut_json(data) if start in (b"{", b"[") else _text_ads(data):
                report.rows += 1
                shown = piece.data[:200].decode("utf-8", "replace")
                if ad is None:
                    report.refuse(file.name, piece.line, piece.fault or "no ad", shown)
                    continue
                try:
                    given, point = options.access_point, access_point_of(ad)
                    if given is not None and point is not None:
                        first = first or point
                        if point != first:  # ids would be taken twice
                            raise DocumentError(
                                f"it is of the access point {point[:100]!r}, the first of "
                                f"{first[:100]!r}, and all were to be named {given[:100]!r}; "
                                "import each access point by itself"
                            )
                    yield document_from_ad(ad, options.access_point)
                except DocumentError as error:
                    report.refuse(file.name, piece.line, str(error), shown)

        for file in files:
            documents, good = documents_of(file), False
            while batch := list(itertools.islice(documents, BATCH)):
                good = True
                yield batch
            if not good and report.first_bad:
                raise SourceError(
                    f"{file.name} holds no ad of a job ({report.first_bad[-1].reason}); "
                    "name its format with --format"
                )


def _text_ads(data: Iterator[bytes]) -> Iterator[tuple[Piece, dict[str, Any] | None]]:
    for piece in cut_text(data):
        if piece.fault:
            yield piece, None
            continue
        try:
            yield piece, parse_text(piece.data)
        except ValueError as error:
            yield piece._replace(fault=str(error)), None
