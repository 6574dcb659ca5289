"""What a history says of its records and jobs: causes, sites, owners, who is held, what was edited.

A label of a row depends on it and earlier rows of the same log. The cause and the site of a row are
in the row that has their source, so a decision knows them exactly if it sees that row. Owners and
sites of starts depend on no release (013), since a decision does not see those of its own second.

``condor_qedit`` writes no event of its own; what it changed shows in the ads (028) that some pools
write behind each event. HTCondor's attribute-update event (033) records some changes directly.

A history keeps the timelines of different logs apart, since neither log says how its records
interleave with the other's: a job that two logs record, a user's own and the access point's, is two
jobs there. What teaches or counts as evidence takes it once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.history import reasons
from jobsight.history.counts import at, factorize, number_texts, preceding, preceding_in
from jobsight.history.jobads import parse_ad
from jobsight.history.outcomes import held_by_hand
from jobsight.history.timelines import History, Ints

__all__ = [
    "RowLabels",
    "after_hold",
    "current_jobs",
    "edited_releases",
    "first_recorded",
    "groups_of",
    "held_rows",
    "label_rows",
    "start_sites",
]

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
_LEFT = (5, 9)
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class RowLabels:
    """Labels of the n rows of a history, and of its jobs.

    Attributes:
        masked: strings (n,), the masked reason of holds (`History.held`) and of vacates by a fault
            (`History.vacated`), null elsewhere.
        cause: int32 (n,), dense number of a hold's (code, sub-code, masked reason); −1 elsewhere.
        by_hand: bool (n,), of holds, see `held_by_hand`.
        site: strings (n,), where the job runs or last ran, as of this row; null where unknown.
        owner: int64 (n,), number of the job's owner as of this row; −1 where unknown.
        first: int64 (jobs,), the number under which each job is recorded first.
    """

    masked: pl.Series
    cause: NDArray[np.int32]
    by_hand: NDArray[np.bool_]
    site: pl.Series
    owner: Ints
    first: Ints


def label_rows(history: History) -> RowLabels:
    """Label every row of `history`."""
    table, held = history.table, pl.Series(history.held | history.vacated)
    site, owner, first = _sites(history), _owners(history), first_recorded(history)
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
    by_hand = table.select(held_by_hand()).to_series().to_numpy()
    return RowLabels(masked, cause, by_hand, site, owner, first)


def _sites(history: History) -> pl.Series:
    starts = history.code == EventCode.EXECUTE
    vacated = history.vacated & history.begun
    sources = (starts | vacated | (history.code == EventCode.HELD)) & (history.job >= 0)
    rows = history.table.with_columns(job=history.job, start=starts).filter(pl.Series(sources))
    # Only a hold's own words are about the place where it ran.
    said = rows["reason"].set(rows["start"], None)
    named = reasons.sites(rows["attributes"], rows["slot"], rows["host"], said)
    # A start at an unknown place ends what was known of the place before it.
    marked = pl.when(rows["start"]).then(named.fill_null("")).otherwise(named)
    known = rows.select("job", site=marked).select(pl.col("site").forward_fill().over("job"))
    carried = pl.Series(_last_source(history, sources))
    filled = known["site"].gather(carried.set(carried < 0, None))
    return filled.set(filled == "", None)


def _owners(history: History) -> Ints:
    owner = history.table["owner"]
    # A 028 only repeats the owner of the record before it.
    silent = np.isin(history.code, (EventCode.RELEASED, EventCode.AD)) | (history.job < 0)
    sources = owner.is_not_null().to_numpy() & ~silent
    numbers = owner.filter(pl.Series(sources)).rank("dense").cast(pl.Int64).to_numpy() - 1
    return np.append(numbers, -1)[_last_source(history, sources)]


def _last_source(history: History, sources: NDArray[np.bool_]) -> Ints:
    """Of each row, the number of its job's last source at or before it: int64 (n,), −1 for none."""
    rows = history.job_rows
    place = np.where(sources[rows], np.arange(len(rows)), -1)
    last = np.maximum.accumulate(place) if len(rows) else place
    inside = last >= history.job_start[history.job[rows]]
    number = np.full(len(history), -1, np.int64)
    number[rows[inside]] = (np.cumsum(sources) - 1)[rows[last[inside]]]
    return number


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


def first_recorded(history: History) -> Ints:
    """The job number under which each job is recorded first: int64 (jobs,).

    Two are one job where access point, cluster and proc are the same and the second does not begin
    after the first has left the queue (005, 009): an access point that was set up anew counts its
    clusters from 1 again. Logs that do not name their access point may come from different ones, so
    their jobs are different jobs. Which comes first rests on the first rows alone (of one moment:
    the lower log), so that cutting the logs off does not change it but for a decision of that very
    moment, which sees its own log alone.
    """
    alone = np.arange(len(history.jobs), dtype=np.int64)
    if history.logs < 2:
        return alone
    leaves = np.full(len(alone), _NEVER)
    rows = np.flatnonzero(np.isin(history.code, _LEFT) & (history.job >= 0))
    np.minimum.at(leaves, history.job[rows], history.clock[rows])
    begins = np.append(history.clock, _NEVER)[history.jobs["first_row"].to_numpy()]
    key = ["access_point", "cluster", "proc"]
    jobs = (
        history.jobs.select(
            *key,
            "log",
            job=pl.Series(alone),
            begins=pl.Series(begins),
            leaves=pl.Series(leaves),
        )
        .filter(pl.col("access_point").is_not_null() & pl.struct(key).is_duplicated())
        .sort(*key, "begins", "log", "job")
        # A job that begins when all of its id have left is another one.
        .with_columns(
            another=pl.col("begins") > pl.col("leaves").cum_max().shift().over(key),
        )
        .with_columns(turn=pl.col("another").fill_null(value=True).cum_sum().over(key))
        .with_columns(first=pl.col("job").first().over(*key, "turn"))
    )
    alone[jobs["job"].to_numpy()] = jobs["first"].to_numpy()
    return alone


def current_jobs(
    history: History, moment: int, clusters: Sequence[int] | None = None
) -> NDArray[np.int32]:
    """Numbers of the jobs that were known at `moment` (µs), each once; all, or of some clusters.

    A job that several logs record (a user's own and the access point's) is taken from the log
    that recorded it last, and of jobs that were given the same id the last one. Jobs of different
    access points are different jobs; a log that does not name its access point is taken for the
    other's where the ids are the same.
    """
    last = np.full(len(history.jobs), -1, np.int64)
    rows = np.flatnonzero((history.clock <= moment) & (history.job >= 0))
    np.maximum.at(last, history.job[rows], history.clock[rows])
    mine = last >= 0
    if clusters is not None:
        mine &= np.isin(history.jobs["cluster"].to_numpy(), clusters)
    known = np.flatnonzero(mine)
    same_id = ["cluster", "proc"]
    jobs = history.jobs[known].select(
        *same_id,
        pl.col("access_point").fill_null(pl.col("access_point").drop_nulls().first().over(same_id)),
        job=pl.Series(known, dtype=pl.Int32),
        last=pl.Series(last[known], dtype=pl.Int64),
    )
    chosen = jobs.sort("last", "job").unique(
        ["access_point", *same_id], keep="last", maintain_order=True
    )
    return np.sort(chosen["job"].to_numpy())


def held_rows(
    history: History, moment: int, jobs: NDArray[np.integer] | None = None
) -> tuple[Ints, Ints]:
    """The holds of the jobs (None: all) held, or vacated by a fault, at `moment`, and what is seen.

    Rows at the moment (µs) are seen. Returns int64 (n,), rows of the holds or vacates, ascending;
    int64 (n,), the first row of its own log that each does not see.
    """
    asked = np.arange(len(history.jobs)) if jobs is None else np.asarray(jobs)
    logs = np.arange(history.logs)
    ends = history.rows_at(logs, np.full(history.logs, moment + 1))
    cuts = ends[history.jobs["log"].to_numpy()[asked]]
    # The last row of each job before its cut that shows whether it is held, −1 if none.
    first, sizes = history.job_start[asked], np.diff(history.job_start)[asked]
    number = np.repeat(np.arange(len(asked)), sizes)
    places = np.arange(len(number)) + np.repeat(first - np.cumsum(sizes) + sizes, sizes)
    rows = history.job_rows[places]
    of_life = (rows < cuts[number]) & history.life[rows]
    last = np.full(len(asked), -1, np.int64)
    last[number[of_life]] = rows[of_life]  # of several of one job the last stays
    held = np.flatnonzero((last >= 0) & (history.held | history.vacated)[last])
    held = held[np.argsort(last[held], kind="stable")]
    return last[held], cuts[held]


def after_hold(history: History, hold_rows: Ints) -> Ints:
    """The row after each hold, and after the 028 that directly follows it: int64 (n,)."""
    after = hold_rows + 1
    inside = np.minimum(after, len(history) - 1)
    its_ad = (
        (after < len(history))
        & (history.code[inside] == EventCode.AD)
        & (history.job[inside] == history.job[hold_rows])
        & (history.log[inside] == history.log[hold_rows])
    )
    return np.where(its_ad, after + 1, after)


def groups_of(history: History) -> pl.Series:
    """What must not be torn apart by a split, by job number: a DAG's node, else a cluster.

    HTCondor's DAGMan puts ``DAGManJobId`` and ``DAGNodeName`` into the ads of its nodes' jobs; a
    node that is tried again is a new cluster of the same group.
    """
    text = pl.col("attributes")
    known = (
        history.table.select("attributes", "dag_node", job=pl.Series(history.job))
        .filter(
            pl.col("job") >= 0,
            text.str.contains("DAG", literal=True) | pl.col("dag_node").is_not_null(),
        )
        .select(
            "job",
            dag=text.str.extract(r'"DAGManJobId": ?"?(\d+)'),
            node=text.str.extract(r'"DAGNodeName": ?"([^"]*)"').fill_null(pl.col("dag_node")),
        )
        .group_by("job")
        .agg(pl.col("dag").drop_nulls().first(), pl.col("node").drop_nulls().first())
    )
    # Logs that do not name their access point may come from different ones.
    where = pl.coalesce("access_point", pl.format("log {}", "log"))
    cluster = pl.format("cluster {} {}", where, "cluster")
    return (
        history.jobs.with_row_index("job")
        .with_columns(pl.col("job").cast(pl.Int32))
        .join(known, on="job", how="left", maintain_order="left")
        .select(group=pl.coalesce(pl.format("dag {} {} {}", where, "dag", "node"), cluster))
        .to_series()
    )


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

    Known only where the log has a 033 between the two, or an ad (028) of both; else not edited. The
    rows are those of the holds, and of the releases (013) that ended them, int64 (n,). Ads are
    compared in full where `exact`, bool (n,); of the others, turns of a loop of which there may be
    millions, only what the job requests is.
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
