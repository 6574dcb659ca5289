"""Lines of a file, block by block, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from jobsight.history.eventlog.logfiles import LogFile
from jobsight.history.importers.base import ImportReport

__all__ = ["LONGEST_LINE", "Line", "Meter", "blocks", "lines"]

LONGEST_LINE = 4 << 20
"""Bytes of the longest line that is read; a longer one is counted as bad."""

_BLOCK = 1 << 20
_MARK = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """A line without its end; bytes that are not UTF-8 become replacement characters."""

    number: int
    text: str


class Meter:
    """Counts bytes over several files, for the report and a progress bar."""

    def __init__(
        self, files: Sequence[LogFile], report: ImportReport, progress: Callable[[int, int], None]
    ) -> None:
        known = all(file.compression is None for file in files)
        self._total = sum(file.size for file in files) if known else 0
        self._report = report
        self._progress = progress

    def add(self, count: int) -> None:
        """So many more bytes were read."""
        self._report.bytes += count
        self._progress(self._report.bytes, self._total)


def blocks(file: LogFile, report: ImportReport, meter: Meter) -> Iterator[bytes]:
    """The file's bytes, a MiB at a time; a break is reported at the end.

    Raises:
        SourceError: the file is gone.
    """
    view = memoryview(bytearray(_BLOCK))
    with file.open() as stream:
        while count := stream.readinto(view):
            meter.add(count)
            yield bytes(view[:count])
        if stream.problem is not None:
            report.breaks.append((file.name, stream.problem))


def lines(file: LogFile, report: ImportReport, meter: Meter) -> Iterator[Line]:
    """All lines of a file in order, without the mark of byte order.

    Raises:
        SourceError: the file is gone.
    """
    number, rest, skipping = 0, b"", False
    for block in blocks(file, report, meter):
        parts = (rest + block if number or rest else block.removeprefix(_MARK)).split(b"\n")
        rest = parts.pop()
        if skipping and parts:
            number, skipping = number + 1, False
            del parts[0]
        for text in b"\n".join(parts).decode("utf-8", "replace").split("\n") if parts else ():
            number += 1
            yield Line(number, text.removesuffix("\r"))
        if len(rest) > LONGEST_LINE or skipping:
            if not skipping:
                shown = rest[:200].decode("utf-8", "replace")
                report.rows += 1
                report.refuse(file.name, number + 1, f"longer than {LONGEST_LINE} bytes", shown)
            rest, skipping = b"", True
    last = Line(number + 1, rest.decode("utf-8", "replace").removesuffix("\r"))
    if rest and report.breaks[-1:] and report.breaks[-1][0] == file.name:
        report.rows += 1
        report.refuse(file.name, last.number, "the file breaks off in it", last.text)
    elif rest:
        yield last
