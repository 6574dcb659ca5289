"""The event table indexed for questions "as of": which rows a decision may see, and whose they are.

A decision sees in its own log the rows before its own row, and in every other log the rows whose
clock is strictly before its moment; of the releases (013) it sees none of its own second. So what a
decision may know is a prefix of each log, and cutting the logs there changes no result.

The event table has each ad in the row of its 028. Where several processes write one log, other
records may be between an 028 and the record that triggered it, so that a decision may see only one.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.errors import SourceError
from jobsight.history.jobads import parse_ad, submitted_on_hold
from jobsight.history.vacates import faulty_vacates
from jobsight.jit import kernel

__all__ = [
    "TRIGGER",
    "History",
    "Ints",
    "Views",
    "as_seen",
    "attach_ads",
    "delayed",
    "span",
    "views_of",
    "with_submission_holds",
]

TRIGGER = "TriggerEventTypeNumber"
"""Attribute of every 028: the number of the event that it belongs to."""

_SUBMITTED_ON_HOLD = 15
_INPUT_STARTED = 2
"""Types 1 and 2 of the 040, `detail` of the event table: input is queued, is transferred."""
_HOLD_COLUMNS = {
    "hold_code": "HoldReasonCode",
    "hold_subcode": "HoldReasonSubCode",
    "reason": "HoldReason",
}

Ints = NDArray[np.int64]
SECOND = 1_000_000
_NEEDED = ("cluster", "proc", "time", "code", "owner", "access_point", "log")
_REST = 7 * 86_400 * SECOND
"""A log may well rest for a week: a step so far is followed at once."""

_LONG_REST = 366 * 86_400 * SECOND
"""A step so far is borne out only by a record of about the same date."""

_KEPT = ("log", "time", "source", "offset")
_LIFE = tuple(map(int, (EventCode.SUBMIT, EventCode.EXECUTE, EventCode.TERMINATED,
                        EventCode.ABORTED, EventCode.HELD, EventCode.RELEASED)))  # fmt: skip


def attach_ads(table: pl.DataFrame) -> pl.DataFrame:
    """The event table, each record with the ad and owner of the 028 that it triggered.

    Only where the 028 is the very next record and of the same time, so that a decision sees both or
    none. Every other ad stays with its 028, and every 028 keeps its owner.
    """
    if "attributes" not in table.columns:
        return table
    code, ad, owner = pl.col("code"), pl.col("attributes"), pl.col("owner")
    same = pl.col("log", "cluster", "proc", "time")
    trigger = ad.str.extract(rf'"{TRIGGER}": ?"?(-?\d+)').cast(pl.Int64, strict=False)
    given = table.select(
        pl.all_horizontal(
            code == EventCode.AD,
            same == same.shift(1),
            trigger == code.shift(1),
            code.shift(1) != EventCode.AD,
            ad.shift(1).is_null(),
        ).fill_null(value=False)
    ).to_series()
    takes = given.shift(-1, fill_value=False)
    return table.with_columns(
        attributes=pl.when(takes).then(ad.shift(-1)).when(~given).then(ad),
        owner=pl.when(takes).then(owner.shift(-1)).otherwise(owner),
    )


def with_submission_holds(table: pl.DataFrame) -> tuple[pl.DataFrame, NDArray[np.bool_]]:
    """The event table with the holds of jobs submitted on hold: (table, held rows: bool (n,)).

    The row whose ad (`attach_ads`) reports such a hold (a 000, or its 028) gets the ad's code (15
    where it has none), sub-code and reason, which otherwise 012 alone has.
    """
    held = (table["code"] == EventCode.HELD).to_numpy(writable=True)
    if "attributes" not in table.columns:
        return table, held
    candidates = table.select("code", "attributes", row=pl.int_range(pl.len())).filter(
        (pl.col("code") == EventCode.SUBMIT) | (pl.col("code") == EventCode.AD),
        pl.col("attributes").str.contains(r'"JobStatus": ?5\b'),
    )
    parsed = [(row, parse_ad(text) or {}) for _, text, row in candidates.iter_rows()]
    ads = {row: ad for row, ad in parsed if submitted_on_hold(ad)}
    held[list(ads)] = True
    for column, attribute in _HOLD_COLUMNS.items():
        if ads and column in table.columns:
            default = _SUBMITTED_ON_HOLD if column == "hold_code" else None
            values = [ad.get(attribute, default) for ad in ads.values()]
            found = pl.Series(values, dtype=table[column].dtype, strict=False)
            table = table.with_columns(table[column].clone().scatter(list(ads), found))
    return table, held


@dataclass(frozen=True)
class History:
    """An event table of n rows from some logs, and its index.

    A job's key is (log, access point, cluster, proc): a job in two logs is two timelines, since
    neither log says how its records interleave with the other's.

    Attributes:
        table: the event table, rows in order, 028s attached (`jobsight.history.timelines`).
        time: int64 (n,), µs since 1970, as written.
        clock: int64 (n,), running maximum of `time` within each log; a step of more than a week
            waits for the next record of a job to confirm it.
        code: int16 (n,), event numbers.
        held: bool (n,), rows that hold their job: 012, and the ad of a submission on hold.
        vacated: bool (n,), 004s by a fault (`jobsight.history.vacates`). The table has their codes
            as those of holds.
        begun: bool (n,), of these the rows that show that a hold or vacate begins: a 012 with the
            codes of the job's 004 before it is of the same hold; of a 004 without codes only what
            follows shows whether it is a vacate.
        resumed: bool (n,), the first row of a job that shows that it runs again after such a 004:
            what a release is to a hold.
        log: int32 (n,), the number of the log; never decreases.
        job: int32 (n,), dense job number in order of first row; −1 for records of no job.
        log_start: int64 (logs + 1,); rows of log k are ``log_start[k] … log_start[k + 1] - 1``.
        job_rows: int64 (rows of jobs,), the rows of each job in order, job after job.
        job_start: int64 (jobs + 1,); rows of job q are ``job_rows[job_start[q]:job_start[q + 1]]``.
        jobs: one row per job number: `log`, `access_point`, `cluster`, `proc`, `first_row` (n for a
            job that has only releases), `owner` (of the first record that has one and is no
            release) and `owner_row` (that record): a decision knows the owner only if it sees that
            row.
    """

    table: pl.DataFrame
    time: Ints
    clock: Ints
    code: NDArray[np.int16]
    held: NDArray[np.bool_]
    vacated: NDArray[np.bool_]
    begun: NDArray[np.bool_]
    resumed: NDArray[np.bool_]
    log: NDArray[np.int32]
    job: NDArray[np.int32]
    log_start: Ints
    job_rows: Ints
    job_start: Ints
    jobs: pl.DataFrame

    def __len__(self) -> int:
        return len(self.time)

    @classmethod
    def from_table(cls, table: pl.DataFrame) -> History:
        """Index an event table.

        Raises:
            SourceError: a column is missing, or the rows of one log are not together.
        """
        missing = [name for name in _NEEDED if name not in table.columns]
        if missing:
            raise SourceError(f"the event table lacks the columns {', '.join(missing)}")
        table, held = with_submission_holds(attach_ads(table))
        table, vacated, coded = faulty_vacates(table)
        # Kernels are compiled once for arrays that may be written, so all of these are.
        log = table["log"].cast(pl.Int32).to_numpy(writable=True)
        if len(log) and (log[0] < 0 or bool((np.diff(log) < 0).any())):
            raise SourceError("the event table is not ordered by its column log")
        log_start = np.searchsorted(log, np.arange((log[-1] if len(log) else -1) + 2)).astype(
            np.int64
        )
        time = table["time"].cast(pl.Datetime("us", "UTC")).to_physical().to_numpy(writable=True)
        job, jobs = _number_jobs(table)
        job_start = np.zeros(len(jobs) + 1, np.int64)
        np.cumsum(np.bincount(job[job >= 0], minlength=len(jobs)), out=job_start[1:])
        rows = np.flatnonzero(job >= 0)
        job_rows = rows[np.argsort(job[rows], kind="stable")]
        code = table["code"].cast(pl.Int16).to_numpy(writable=True)
        again, resumed = _after_vacates(table, code, vacated, coded, job, job_rows)
        return cls(
            table=table,
            time=time,
            clock=_running_maximum(time, (job >= 0) | (code != EventCode.GENERIC), log_start),
            code=code,
            held=held,
            vacated=vacated,
            begun=(held | coded) & ~again,
            resumed=resumed,
            log=log,
            job=job,
            log_start=log_start,
            job_rows=job_rows,
            job_start=job_start,
            jobs=jobs,
        )

    @property
    def logs(self) -> int:
        """Number of logs."""
        return len(self.log_start) - 1

    @cached_property
    def life(self) -> NDArray[np.bool_]:
        """The rows that show whether their job is held, or vacated by a fault: bool (n,)."""
        life = np.isin(self.code, _LIFE) | self.held | self.vacated | self.resumed
        return life & (self.job >= 0)

    @cached_property
    def clusters(self) -> Ints:
        """Number of each job's cluster, from 0, one in two logs being two: int64 (jobs,)."""
        cluster = self.jobs["cluster"].to_numpy()
        place = self.jobs["log"].to_numpy().astype(np.int64) * (cluster.max(initial=0) + 1)
        return np.unique(place + cluster, return_inverse=True)[1].astype(np.int64)

    def rows_of(self, job: int) -> Ints:
        """All rows of job number `job`, in order: int64 (rows,)."""
        return self.job_rows[self.job_start[job] : self.job_start[job + 1]]

    def rows_at(self, log: NDArray[np.integer], moment: Ints) -> Ints:
        """The first row of each `log` whose clock is not before `moment` (µs): int64 (n,)."""
        found = np.empty(len(moment), np.int64)
        for number in np.unique(log):
            start, end = self.log_start[number], self.log_start[number + 1]
            mine = log == number
            found[mine] = start + np.searchsorted(self.clock[start:end], moment[mine])
        return found

    def cuts_many(self, log: NDArray[np.integer], row: Ints, moment: Ints) -> Ints:
        """First row of each log that n decisions at a row of a log and a moment (µs) cannot see.

        From whole numbers (n,) each: int64 (n, logs).
        """
        cuts = self._first_not_before(moment)
        cuts[np.arange(len(row)), log] = row
        return cuts

    def release_cuts_many(self, moment: Ints) -> Ints:
        """First release (013) of each log hidden from decisions at moments (µs): int64 (n, logs).

        No decision sees another release of its own second, wherever its cut is.
        """
        return self._first_not_before(moment - moment % SECOND)

    def _first_not_before(self, moment: Ints) -> Ints:
        cuts: Ints = np.empty((len(moment), self.logs), np.int64)
        for number in range(self.logs):
            start, end = self.log_start[number], self.log_start[number + 1]
            cuts[:, number] = start + np.searchsorted(self.clock[start:end], moment)
        return cuts


def _after_vacates(
    table: pl.DataFrame, code: NDArray[np.int16], vacated: NDArray[np.bool_],
    coded: NDArray[np.bool_], job: NDArray[np.int32], job_rows: Ints,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:  # fmt: skip
    """The 012s of the same hold as the 004 before them, and `History.resumed`: each bool (n,).

    A job runs again with its first start (001), or input transfer (040).
    """
    again, resumed = np.zeros((2, len(table)), np.bool_)
    if not vacated.any():
        return again, resumed
    transfer = table.select((pl.col("detail") <= _INPUT_STARTED).fill_null(value=False))
    starts = (code == EventCode.EXECUTE) | transfer.to_series().to_numpy()
    rows = job_rows[(np.isin(code, _LIFE) | starts | vacated)[job_rows]]
    before, after = rows[:-1], rows[1:]
    follows = vacated[before] & (job[after] == job[before])
    resumed[after[follows & starts[after]]] = True
    codes = table.select(pl.col("hold_code", "hold_subcode").fill_null(-1)).to_numpy()
    same = (codes[after] == codes[before]).all(axis=1)
    again[after[follows & coded[before] & same & (code[after] == EventCode.HELD)]] = True
    return again, resumed


def _running_maximum(time: Ints, moving: NDArray[np.bool_], log_start: Ints) -> Ints:
    # The header of a rotated file, an 008 of no job, carries the time of its rotation, later than
    # the records behind it, so it does not move the clock.
    clock = np.where(moving, time, np.iinfo(np.int64).min)
    for start, end in itertools.pairwise(log_start):
        inside, moves = clock[start:end], moving[start:end]
        if not moves.any():
            inside[:] = time[start:end]
            np.maximum.accumulate(inside, out=inside)
        else:
            moved = inside[moves]
            highest: Ints = np.maximum.accumulate(moved)
            steps = moved[1:] - highest[:-1]
            # Most logs have no record that is dated far in the future.
            steady = (steps <= _REST).all() and (steps[:1] >= -_REST).all()
            inside[moves] = highest if steady else _follow(moved)
            inside[: np.argmax(moves)] = inside[np.argmax(moves)]
            np.maximum.accumulate(inside, out=inside)
    return clock


@kernel
def _follow(time: Ints) -> Ints:
    """The clock at each record of a job in one log, of which some may be dated in the far future.

    A step of more than `_REST` waits for the next record. If that is dated before the step, the
    step was an error; if after, it is followed, but one of more than `_LONG_REST` only if both
    records are within `_REST`. So the clock at a row depends on no later row, but for the first
    ones. Times in µs; int64 (n,), never decreasing.
    """
    clock = np.empty_like(time)
    begin = 0
    # With nothing before it, the first record is judged by the one behind it.
    while begin + 1 < len(time) and time[begin + 1] < time[begin] - _REST:
        begin += 1
    clock[: begin + 1] = time[begin]
    now = waiting = time[begin]
    for row in range(begin + 1, len(time)):
        here = time[row]
        if waiting > now and here >= waiting - _REST:
            if here <= waiting + _REST:
                now = max(waiting, here)
            elif waiting - now <= _LONG_REST:
                now = waiting
        if here - now <= _REST:
            now = waiting = max(now, here)
        else:
            waiting = here
        clock[row] = now
    return clock


def _number_jobs(table: pl.DataFrame) -> tuple[NDArray[np.int32], pl.DataFrame]:
    """Dense job numbers (n,), and one row a job."""
    keys = table.select(
        pl.col("log").cast(pl.Int32),
        pl.col("access_point").cast(pl.String),
        pl.col("cluster").cast(pl.Int64),
        pl.col("proc").cast(pl.Int32),
    )
    rows = np.flatnonzero(((table["cluster"] >= 0) & (table["proc"] >= 0)).to_numpy())
    named = keys["access_point"].cast(pl.Categorical).to_physical().cast(pl.Int64).fill_null(-1)
    parts = [named, *(keys[name] for name in ("log", "cluster", "proc"))]
    dense, count = _dense([part.to_numpy()[rows] for part in parts])
    # A release may be hidden from a decision of its own second, so none begins a job.
    begins = (table["code"] != EventCode.RELEASED).to_numpy()[rows]
    knows = begins & table["owner"].is_not_null().to_numpy()[rows]
    seen, first, owner = np.full((3, count), len(table), np.int64)  # its first rows, or none
    for found, which in ((seen, np.ones(len(rows), np.bool_)), (first, begins), (owner, knows)):
        found[dense[which][::-1]] = rows[which][::-1]
    order = np.lexsort((seen, first))
    number = np.empty(count, np.int32)
    number[order] = np.arange(count)
    job = np.full(len(table), -1, np.int32)
    job[rows] = number[dense]
    at_owner = pl.Series(owner[order]).set(pl.Series(owner[order] == len(table)), None)
    jobs = keys[seen[order]].with_columns(
        first_row=pl.Series(first[order]),
        owner=table["owner"].gather(at_owner),
        owner_row=at_owner,
    )
    return job, jobs


def _dense(parts: list[NDArray[np.integer]]) -> tuple[Ints, int]:
    """The combinations of columns, numbered from 0 in any order: int64 (n,); and how many."""
    whole, count = np.zeros(len(parts[0]), np.int64), 1
    for part in parts:
        values = part.astype(np.int64) - part.min(initial=0)
        size = int(values.max(initial=0)) + 1
        if count * size >= 1 << 62:
            found, whole = np.unique(whole, return_inverse=True)
            count = len(found)
        whole, count = whole * size + values, count * size
    found, dense = np.unique(whole, return_inverse=True)
    return dense.astype(np.int64), len(found)


@dataclass(frozen=True)
class Views:
    """The cuts of n decisions.

    Attributes:
        job: int32 (n,), the held job.
        log: int32 (n,), the log that records it.
        hold_row: int64 (n,), the row of its hold, which each decision sees.
        moment: int64 (n,), µs: the decision's time.
        cuts: int64 (n, logs), first row of each log that is not seen (`History.cuts`).
        clean_cuts: int64 (n, logs), the same or earlier, with no hidden release before them.
        hold_starts: int64 (n, logs), first row of each log after the hold.
        before_hold: int64 (n, logs), cuts as of the hold itself: its row, and what was earlier.
    """

    job: NDArray[np.int32]
    log: NDArray[np.int32]
    hold_row: Ints
    moment: Ints
    cuts: Ints
    clean_cuts: Ints
    hold_starts: Ints
    before_hold: Ints

    def __len__(self) -> int:
        return len(self.moment)


def views_of(history: History, decisions: pl.DataFrame) -> Views:
    """The views of a table with the columns `job`, `log`, `hold_row`, `cut` and `time`."""
    log = decisions["log"].to_numpy()
    hold_row = decisions["hold_row"].to_numpy()
    moment = decisions["time"].to_numpy()
    cuts = history.cuts_many(log, decisions["cut"].to_numpy(), moment)
    held = history.clock[hold_row]
    return Views(
        job=decisions["job"].to_numpy(),
        log=log,
        hold_row=hold_row,
        moment=moment,
        cuts=cuts,
        clean_cuts=np.minimum(cuts, history.release_cuts_many(moment)),
        hold_starts=history.cuts_many(log, hold_row + 1, held + 1),
        before_hold=history.cuts_many(log, hold_row, held),
    )


def delayed(history: History, decisions: pl.DataFrame, seconds: float) -> pl.DataFrame:
    """The decisions as of `seconds` before their release, of the jobs that were held by then.

    `cut` and `time` move back: all rows of the own log at or after that moment are hidden, but the
    hold itself and what stands before it are seen. All other columns stay; a column `delay` (float,
    seconds) says how far the release, and so the outcome, lies ahead.
    """
    back = round(seconds * SECOND)
    if not back:
        return decisions.with_columns(delay=pl.lit(0.0))
    early = decisions.filter(pl.col("time") - back >= pl.col("hold_time"))
    moment = early["time"].to_numpy() - back
    first_hidden = history.rows_at(early["log"].to_numpy(), moment)
    cut = np.maximum(first_hidden, early["hold_row"].to_numpy() + 1)
    # The release hides what follows it, however long before it the question is asked.
    cut = np.minimum(cut, early["cut"].to_numpy())
    return early.with_columns(
        time=pl.Series(moment), cut=pl.Series(cut), delay=pl.lit(float(seconds))
    )


def span(seconds: NDArray[np.float64], time_scale: float) -> NDArray[np.float64]:
    """``log(1 + span / time scale)``; a clock that stepped back gives 0, NaN stays."""
    scales: NDArray[np.float64] = np.log1p(np.maximum(seconds, 0.0) / time_scale)
    return scales


def as_seen(history: History, decision: pl.DataFrame) -> pl.DataFrame:
    """The event table as one decision (a row of a decision table) sees it.

    Rows after the cut are gone. Of releases (013) of the decision's own second, and of the ads
    (028) after them, only time and place in the file remain: that some record was there.
    """
    log, cut, moment = (int(decision[name][0]) for name in ("log", "cut", "time"))
    own = history.log == log
    seen = np.where(own, np.arange(len(history)) < cut, history.clock < moment)
    hidden: NDArray[np.bool_] = (history.code == EventCode.RELEASED) & (
        history.clock >= moment - moment % SECOND
    )
    its_ad = (history.code == EventCode.AD)[1:] & (history.job[1:] == history.job[:-1])
    # An 028 that records an ad by itself follows another record than its own.
    of_other = history.table["attributes"].is_not_null().to_numpy()
    hidden[1:] |= its_ad & hidden[:-1] & ~of_other[1:]
    table = history.table.with_columns(blank=hidden).filter(seen)
    # Negative ids are those of records of no job.
    values = dict.fromkeys(("cluster", "proc", "subproc"), pl.lit(-1))
    values["code"] = pl.lit(EventCode.AD)
    return table.select(
        pl.when("blank").then(values.get(name, pl.lit(None))).otherwise(name).cast(kind).alias(name)
        if name not in _KEPT
        else pl.col(name)
        for name, kind in history.table.schema.items()
    )
