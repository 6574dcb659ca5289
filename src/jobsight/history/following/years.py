"""The year of a log that leaves it out, when it is first followed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from jobsight.history.eventlog import record
from jobsight.history.eventlog.chunks import chunks
from jobsight.history.eventlog.columns import Batch
from jobsight.history.eventlog.times import LOCAL_NO_YEAR, YearCounter
from jobsight.history.events import scan_chunk
from jobsight.history.following.tail import Part

__all__ = ["first_year"]


def first_year(batch: Batch, parts: Sequence[Part], zone: dt.tzinfo, now: float) -> int:
    """The year of the first record of the log whose files are `parts`, oldest first.

    As the reader finds it (`times.YearCounter`), from what is there now; all of it is looked
    through once, if the first records, `batch`, tell no year.

    Args:
        batch: the first records.
        parts: files, open.
        zone: of the log's wall clock.
        now: seconds since 1970, for files that are gone.

    Raises:
        OSError: as the system tells.
    """
    counter = YearCounter()
    if not len(batch.form) or batch.form[0] < LOCAL_NO_YEAR:
        return counter.first_year(now, zone)
    for part in parts:
        if part.header is not None and part.header.ctime is not None:
            counter.begin_segment(part.header.ctime, zone)
        for chunk in chunks(part.stream()):
            rows, _ = scan_chunk(chunk)
            counter.feed(rows[:, record.STAMP], rows[:, record.FORM].astype("uint8"))
            if counter.settled:
                break
        if counter.settled:
            break
    modified = max((part.modified() for part in parts), default=now)
    return counter.first_year(modified, zone)
