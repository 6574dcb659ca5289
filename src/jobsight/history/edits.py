"""Was a job edited while it was held? Its ads at the hold and at the release show it, and the 033.

``condor_qedit`` writes no event of its own; what it changed shows in the ads (028) that some pools
write behind each event. HTCondor's attribute-update event (033) records some changes directly.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.history.adjson import parse_ad
from jobsight.history.timelines import History, Ints
from jobsight.history.whereabouts import at, preceding

__all__ = ["edited_releases"]

_REQUEST = r'"Request[A-Z][A-Za-z]*": ?(?:"(?:[^"\\]|\\.)*"|[^,}]*)'
"""One request in an ad (JSON) with its value."""

_BOOKKEEPING = re.compile(
    r"^(MyType|TargetType|Cluster|ClusterId|Proc|ProcId|Subproc|JobStatus|LastJobStatus|Reason"
    r"|Event.*|TriggerEvent.*|Hold.*|LastHold.*|Release.*|LastRelease.*|Vacate.*|LastVacate.*"
    r"|Num[A-Z].*|Job.*(Date|Count|Starts|Time)|Entered.*|Last.*Time|.*Usage(_RAW)?|Cumulative.*"
    r"|Remote.*|LastRemote.*|MATCH_.*|Shadow.*|.*SizeRaw|ImageSize.*|ResidentSetSize.*"
    r"|ServerTime|CurrentTime|Total.*|Bytes.*|Transfer.*(Stats|Queued|ing.*)|.*_RAW)$"
)
"""Attributes that HTCondor itself changes between a hold and a release."""


@lru_cache(1024)
def _is_kept_by_htcondor(name: str) -> bool:
    return _BOOKKEEPING.match(name) is not None


def _differ(before: str | None, after: str | None) -> bool:
    """Whether an attribute that only an edit changes differs between two ads (JSON)."""
    if before is None or after is None:
        return False
    old, new = parse_ad(before), parse_ad(after)
    if old is None or new is None:
        return False
    # Events carry attributes of their own, so only what stands in both ads can be compared; but
    # what a job requests is in every ad or in none.
    names = (old.keys() & new.keys()) | {n for n in old.keys() ^ new.keys() if n[:7] == "Request"}
    return any(old.get(n) != new.get(n) for n in names if not _is_kept_by_htcondor(n))


def edited_releases(
    history: History, hold_rows: Ints, rows: Ints, *, exact: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which releases let go a job that was not as it had been held: bool (n,).

    Known only where the log has a 033 between the two, or an ad (028) of both; else not edited.

    Args:
        history: the indexed log.
        hold_rows: int64 (n,), the holds.
        rows: int64 (n,), the releases (013) that ended them.
        exact: bool (n,): whose ads are compared in full. Of the others, turns of a loop of which
            there may be millions, only what the job requests is.
    """
    changes = np.flatnonzero((history.code == EventCode.ATTRIBUTE_UPDATE) & (history.job >= 0))
    changed: NDArray[np.bool_] = at(changes, preceding(history, changes, rows)) > hold_rows
    ads = history.table["attributes"]
    known = ads.is_not_null().to_numpy()
    asked = np.flatnonzero(~changed & known[hold_rows] & known[rows])
    before, after = ads.gather(hold_rows[asked]), ads.gather(rows[asked])
    differ = np.zeros(len(asked), np.bool_)
    full = exact[asked]
    pairs = zip(before.filter(pl.Series(full)), after.filter(pl.Series(full)), strict=True)
    differ[full] = [_differ(old, new) for old, new in pairs]
    short = pl.Series(~full)
    differ[~full] = (_requests(before.filter(short)) != _requests(after.filter(short))).to_numpy()
    changed[asked] = differ
    return changed


def _requests(ads: pl.Series) -> pl.Series:
    """What each ad requests, in one text whatever the order of its attributes."""
    return ads.str.extract_all(_REQUEST).list.sort().list.join("\n")
