"""Taking whole records from the beginning of some bytes, whatever comes behind them.

Where a piece may end is where the reader may cut (`eventlog.chunks`): behind a separator, or the
brace of an ad. So the records are the same whenever the file is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jobsight.codes import EventCode
from jobsight.history.eventlog import record, scanner
from jobsight.history.eventlog.adcolumns import batch_from_ads
from jobsight.history.eventlog.chunks import LARGEST, Chunk, last_end, last_header
from jobsight.history.eventlog.columns import Batch, Origin, batch_from_rows
from jobsight.history.eventlog.headers import Header, parse_header
from jobsight.history.eventlog.structured import StructuredParser
from jobsight.history.events import scan_chunk
from jobsight.history.following.position import Place

__all__ = ["Taken", "take"]

_LINE = 4096


@dataclass(frozen=True)
class Taken:
    """Records taken from the beginning of some bytes.

    Attributes:
        batch: the records, times not yet resolved, offsets in the file.
        end: how many bytes are done with.
        header: what the first record says of the file, if it is a header.
    """

    batch: Batch
    end: int
    header: Header | None


def take(
    data: bytearray, place: Place, *, most: int, full: bool, final: bool, origin: Origin
) -> Taken | None:
    """The whole records at the beginning of `data`; None where there is none yet.

    Args:
        data: bytes of the file from `place.offset` on.
        place: where they stand.
        most: records taken at most.
        full: the file has more behind `data`.
        final: nothing will be written any more: what has not ended is given up.
        origin: see `columns.Origin`.
    """
    if place.kind in ("xml", "json"):
        return _take_ads(data, place, most, final=final, origin=origin)
    cut = len(data) if final else last_end(data, len(data))
    if not cut and full:
        cut = last_header(data, len(data)) or (len(data) if len(data) >= LARGEST else 0)
    if not cut:
        return None
    text = np.frombuffer(data, np.uint8)[:cut]
    rows, skips = scan_chunk(Chunk(text, place.offset, last=final))
    header, end = _border(data, rows, most, cut)
    rows = rows[rows[:, record.OFFSET_START] < end]
    skips = skips[skips[:, 0] < end]
    reasons = scanner.SKIP_REASONS
    batch = batch_from_rows(text, rows, skips, base=place.offset, origin=origin, reasons=reasons)
    return Taken(batch, end, header)


def _border(data: bytearray, rows: record.Row, most: int, cut: int) -> tuple[Header | None, int]:
    """The header that the rows begin with, and where to stop: at `most`, or before a header."""
    end = int(rows[most, record.OFFSET_START]) if len(rows) > most else cut
    first = None
    generic = (rows[:, record.CODE] == EventCode.GENERIC) & (rows[:, record.CLUSTER] < 0)
    for row in np.flatnonzero(generic).tolist():
        at = int(rows[row, record.OFFSET_START])
        header = parse_header(bytes(data[at : at + _LINE]))
        if header is not None and row > 0:
            return first, min(end, at)
        first = header if row == 0 else first
    return first, end


def _take_ads(
    data: bytearray, place: Place, most: int, *, final: bool, origin: Origin
) -> Taken | None:
    parser = StructuredParser("xml" if place.kind == "xml" else "json")
    found = parser.feed(bytes(data)) + (parser.close() if final else [])
    end = len(data) if final else parser.position
    if not end:
        return None
    if len(found) > most:
        end = found[most].offset
        del found[most:]
    ads = [ad._replace(offset=ad.offset + place.offset) for ad in found]
    skips = [
        skip._replace(offset=skip.offset + place.offset)
        for skip in parser.skipped
        if skip.offset < end
    ]
    return Taken(batch_from_ads(ads, skips, origin=origin, size=end), end, None)
