"""Labels of single records: the cause of a hold, the site and the owner of the job.

Each depends on its row and earlier rows of the same log. The cause and the site of a row are in the
row that has their source, so a decision knows them exactly if it sees that row. Owners and sites of
starts depend on no release (013), since a decision does not see those of its own second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.history import reasons
from jobsight.history.counts import at, factorize, number_texts, preceding, preceding_in
from jobsight.history.timelines import History, Ints

__all__ = ["RowLabels", "label_rows", "row_owners", "start_sites"]


@dataclass(frozen=True)
class RowLabels:
    """Labels of the n rows of a history.

    Attributes:
        masked: strings (n,), the masked reason of holds (`History.held`), null elsewhere.
        cause: int32 (n,), dense number of a hold's (code, sub-code, masked reason); −1 elsewhere.
        site: strings (n,), where the job runs or last ran, as of this row; null where unknown.
    """

    masked: pl.Series
    cause: NDArray[np.int32]
    site: pl.Series


def label_rows(history: History) -> RowLabels:
    """Label every row of `history`."""
    table = history.table
    held = pl.Series(history.held)
    masked = reasons.masked(table["reason"].set(~held, None)).set(~held, None)
    causes = pl.DataFrame(
        {
            "code": table["hold_code"].set(~held, None),
            "subcode": table["hold_subcode"].set(~held, None),
            "masked": masked,
        }
    )
    cause = causes.select(pl.struct(pl.all()).rank("dense")).to_series().to_numpy().astype(np.int32)
    cause[~held.to_numpy()] = -1
    return RowLabels(masked=masked, cause=cause, site=_sites(history))


def _sites(history: History) -> pl.Series:
    starts = history.code == EventCode.EXECUTE
    sources = pl.Series((starts | (history.code == EventCode.HELD)) & (history.job >= 0))
    rows = history.table.with_columns(job=history.job, start=starts).filter(sources)
    # Only a hold's own words are about the place where it ran.
    said = rows["reason"].set(rows["start"], None)
    found = reasons.sites(rows["attributes"], rows["slot"], rows["host"], said)
    # A start at an unknown place ends what was known of the place before it.
    marked = pl.when(rows["start"]).then(found.fill_null("")).otherwise(found)
    known = rows.select("job", site=marked).select(pl.col("site").forward_fill().over("job"))
    # Of each row, the number of its job's last source at or before it.
    of_jobs, is_source = history.job_rows, sources.to_numpy()
    place = np.where(is_source[of_jobs], np.arange(len(of_jobs)), -1)
    last = np.maximum.accumulate(place) if len(of_jobs) else place
    number = np.full(len(history), -1, np.int64)
    inside = last >= history.job_start[history.job[of_jobs]]
    number[of_jobs[inside]] = (np.cumsum(is_source) - 1)[of_jobs[last[inside]]]
    carried = pl.Series(number)
    filled = known["site"].gather(carried.set(carried < 0, None))
    return filled.set(filled == "", None)


def row_owners(history: History, rows: Ints) -> Ints:
    """Number of the owner of each row's job: int64 (n,), −1 where unknown at that row."""
    owner = history.table["owner"]
    # A 028 only repeats the owner of the record before it.
    silent = np.isin(history.code, (EventCode.RELEASED, EventCode.AD)) | (history.job < 0)
    known = np.flatnonzero(owner.is_not_null().to_numpy() & ~silent)
    # A row knows its own owner, so rows up to and with it count.
    last = preceding_in(history.job[known], known, history.job[rows], rows + 1)
    return at(number_texts(owner.gather(known))[0], last)


def start_sites(history: History, labels: RowLabels, holds: Ints, starts: Ints) -> pl.Series:
    """The site of each start (001), in lower case, null where unknown: strings (s,).

    That of the last hold (012) before it of a job started at the same address; else that of the
    start itself, which may be the site of the attempt before. Holds and starts are rows of jobs,
    int64 (h,), (s,).
    """
    own = labels.site.gather(starts)
    # The address of the startd: a starter's adds the slot before and a running number after.
    daemon = history.table["host"][starts].str.replace(
        r"\bsock=(?:slot\d+(?:_\d+)?_)?([^>&]*?)(?:_\d+)?([>&])", "sock=$1$2"
    )
    place = factorize(history.log[starts], number_texts(daemon)[0])
    site = labels.site.gather(holds)
    ran = preceding(history, starts, holds)
    before = np.flatnonzero(
        np.isin(history.code, (EventCode.SUBMIT, EventCode.HELD)) & (history.job >= 0)
    )
    attempt = at(before, preceding(history, before, holds))
    ran_place = at(place, ran)
    has_site = (at(starts, ran) > attempt) & (ran_place >= 0) & site.is_not_null().to_numpy()
    sources = np.flatnonzero(has_site)
    learned = preceding_in(ran_place[sources], holds[sources], place, starts)
    known = pl.Series(at(sources, learned), dtype=pl.Int64)
    known = known.set(pl.Series((learned < 0) | (place < 0)), None)
    return site.gather(known).fill_null(own) if len(site) else own
