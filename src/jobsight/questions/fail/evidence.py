"""How jobs like one ended, counted in words, and what to change so that it does not fail."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import polars as pl

from jobsight.clock import format_span
from jobsight.documents import State
from jobsight.history.jobtable import JobTable
from jobsight.history.past import KEYS, key_hashes
from jobsight.questions.fail.decisions import KINDS
from jobsight.text import counted, printable

__all__ = ["Advice", "Counted", "Ends", "Finding", "advise", "findings"]

Finding = dict[str, Any]
"""``what`` (like, user or request), ``runs``, ``failed``, ``kinds`` (counts), and ``text``."""

LAST = 20
"""Runs that count as the last ones."""
ENOUGH = 10
"""Runs that make wider groups needless, and that a probability with a changed request needs."""
LIKELY = 0.1
"""P(the job fails so) from which advice is given."""
REPEATED = 3
"""Runs in a row that failed by themselves, from which the program is to be fixed."""
MARGIN = 1.15
_LIKE = ("user and pattern", "user and script")
_DONE = State.COMPLETED.value
_FAILED, _TIMEOUT, _MEMORY = State.FAILED.value, State.TIMEOUT.value, State.OUT_OF_MEMORY.value
_MEMORY_STEP_MB, _LIMIT_STEP_S = 128, 600
_WORDS = {
    _MEMORY: ("ran out of memory", "request_memory_mb"),
    _TIMEOUT: ("reached the time limit", "time_limit_s"),
    _FAILED: ("failed", "exit_code"),
    State.NODE_FAIL.value: ("lost a node", None),
}


class Counted(NamedTuple):
    """The last runs of jobs that are alike, the latest last.

    Attributes:
        what: ``like`` (same user, and name without numbers or script), ``user``, ``request`` (same
            partition and request, any user), or ``none``.
        runs: state, request_memory_mb, time_limit_s, max_rss_mb, ran (seconds), exit_code; at most
            `LAST` rows.
        all: the same of all runs known.
    """

    what: str
    runs: pl.DataFrame
    all: pl.DataFrame

    def of(self, state: str) -> pl.DataFrame:
        """The runs that ended so."""
        return self.runs.filter(pl.col("state") == state)

    def kinds(self) -> dict[str, int]:
        """Number of runs by kind of failure."""
        found = {kind: len(self.of(kind)) for kind in KINDS}
        return {kind: count for kind, count in found.items() if count}

    def finding(self, name: str | None) -> Finding:
        """The counts in words; `name`: of the job."""
        kinds, runs = self.kinds(), counted(len(self.runs), "run")
        called = printable(name or "this script", 60)
        about = {
            "like": f"of this user's last {runs} of {called}",
            "user": f"of this user's last {runs}",
            "request": f"of the last {runs} of all users with this request",
        }[self.what]
        ways = ", ".join(self._way(kind, count) for kind, count in kinds.items()) or "none failed"
        peak = _largest(self.runs["max_rss_mb"]) if _MEMORY in kinds else 0.0
        known = f"; peak known {peak:,.0f} MB" if peak else ""
        return {
            "what": self.what,
            "runs": len(self.runs),
            "failed": sum(kinds.values()),
            "kinds": kinds,
            "text": f"{about} {ways}{known}",
        }

    def _way(self, kind: str, count: int) -> str:
        words, column = _WORDS[kind]
        values = self.of(kind)[column].unique().to_list() if column else []
        if len(values) != 1 or values[0] is None or values[0] < 0:
            return f"{count} {words}"
        value = int(values[0])
        detail = {
            "request_memory_mb": f"at {value:,} MB",
            "time_limit_s": f"of {format_span(value)}",
            "exit_code": f"with exit code {value}",
        }[column or ""]
        return f"{count} {words} {detail}"


class Ends:
    """The runs of a job table that completed or failed, by what jobs are compared by."""

    def __init__(self, jobs: JobTable) -> None:
        ran = (pl.col("end") - pl.col("last_start")).dt.total_microseconds() / 1e6
        keys = ("user", "request", *_LIKE)
        table = jobs.table.with_columns(
            pl.col("state").cast(pl.String),
            ran=ran,
            **{key: pl.Series(key_hashes(jobs.table, KEYS[key])) for key in keys},
        )
        known = pl.col("reported").is_not_null() & pl.col("state").is_in([_DONE, *KINDS])
        self._table = table.filter(known).sort("reported").select(
            *keys, "state", "request_memory_mb", "time_limit_s", "max_rss_mb", "ran", "exit_code"
        )  # fmt: skip
        self._of = lru_cache(maxsize=4096)(self._counted)

    def __len__(self) -> int:
        return len(self._table)

    def about(self, asked: pl.DataFrame) -> list[dict[str, Counted]]:
        """The runs like each of n jobs: by ``like``, ``user``, ``request``, where there are any.

        Args:
            asked: `jobsight.history.past.asked_columns` of n jobs.
        """
        hashes = {key: key_hashes(asked, KEYS[key]).tolist() for key in (*_LIKE, "user", "request")}
        found = []
        for row in range(len(asked)):
            groups: dict[str, Counted] = {}
            for key, values in hashes.items():
                what = "like" if key in _LIKE else key
                if what not in groups and values[row]:
                    group = self._of(key, values[row], what)
                    if len(group.runs):
                        groups[what] = group
            found.append(groups)
        return found

    def _counted(self, key: str, value: int, what: str) -> Counted:
        runs = self._table.filter(pl.col(key) == value)
        return Counted(what, runs.tail(LAST), runs)


def findings(groups: Mapping[str, Counted], name: str | None) -> list[Finding]:
    """What was counted, from narrow to wide; a wider group only while the narrower are small."""
    found: list[Finding] = []
    for what in ("like", "user", "request"):
        known = max((one["runs"] for one in found), default=0)
        if what in groups and known < ENOUGH and len(groups[what].runs) > known:
            found.append(groups[what].finding(name))
    return found


@dataclass(frozen=True)
class Advice:
    """What to change.

    Attributes:
        text: in words.
        option: of the scheduler, such as ``--mem=13696M``; None: the request stays.
        changed: columns of the request that it changes, with their new values.
        known: runs of like jobs that had such a request.
    """

    text: str
    option: str | None
    changed: Mapping[str, int]
    known: int = 0

    @property
    def supported(self) -> bool:
        """Whether enough runs with such a request are known to give it a probability."""
        return bool(self.changed) and self.known >= ENOUGH


def advise(
    job: Mapping[str, Any], like: Counted | None, probability: float, kinds: Mapping[str, float]
) -> Advice | None:
    """What to change in a job that is likely to fail; None: nothing is known to help.

    Args:
        job: its row of the job table.
        like: runs of the same user with the same name or script.
        probability: P(it fails).
        kinds: P(kind | it fails).
    """
    if like is None:
        return None
    for kind in sorted(kinds, key=lambda kind: -kinds[kind]):
        if probability * kinds[kind] >= LIKELY and kind in _ADVISE:
            found = _ADVISE[kind](job, like)
            if found is not None:
                return found
    return None


def _more_memory(job: Mapping[str, Any], like: Counted) -> Advice | None:
    """Memory above the largest known peak, and above what did not suffice."""
    asked, too_small = job["request_memory_mb"], _largest(like.of(_MEMORY)["request_memory_mb"])
    # The peak of a run that was killed is what it was allowed, not what it needs.
    least = max(too_small, _largest(like.runs["max_rss_mb"]))
    if not too_small or asked is None:
        return None
    nodes = max(job["request_nodes"] or 1, 1)
    slurm = job["scheduler"] != "htcondor"
    each = _rounded(least * MARGIN / (nodes if slurm else 1), _MEMORY_STEP_MB)
    wanted = each * (nodes if slurm else 1)
    if wanted <= asked:
        return None
    option = f"--mem={each}M" if slurm else f"request_memory = {each}"
    peak = _largest(like.of(_DONE)["max_rss_mb"])
    why = (
        f"the largest peak known is {peak:,.0f} MB"
        if peak >= least
        else f"{least:,.0f} MB did not suffice"
    )
    enough = pl.col("request_memory_mb") >= wanted
    return Advice(
        f"ask for more memory: {why}", option, {"request_memory_mb": wanted},
        len(like.all.filter(enough)),
    )  # fmt: skip


def _more_time(job: Mapping[str, Any], like: Counted) -> Advice | None:
    """A limit above the longest run known, where such runs needed longer than this job asks for."""
    limit = job["time_limit_s"]
    if limit is None or limit < 0 or not len(like.of(_TIMEOUT)):
        return None
    longest = max(_largest(like.runs["ran"]), _largest(like.of(_TIMEOUT)["time_limit_s"]))
    wanted = _rounded(longest * MARGIN, _LIMIT_STEP_S)
    if longest < limit or wanted <= limit:
        return None
    hours, minutes = divmod(wanted // 60, 60)
    enough = (pl.col("time_limit_s") >= wanted) | (pl.col("time_limit_s") < 0)
    return Advice(
        f"ask for more time: such runs took {format_span(longest)} and more",
        f"--time={hours}:{minutes:02d}:00",
        {"time_limit_s": wanted},
        len(like.all.filter(enough)),
    )


def _fix(_job: Mapping[str, Any], like: Counted) -> Advice | None:
    """The program is to be fixed, where its last runs all failed by themselves."""
    states = like.runs["state"].to_list()
    streak = next((k for k, one in enumerate(reversed(states)) if one != _FAILED), len(states))
    if streak < REPEATED:
        return None
    codes = like.runs.tail(streak)["exit_code"].unique().to_list()
    ending = f" with exit code {codes[0]}" if len(codes) == 1 and codes[0] else ""
    return Advice(f"fix the program first: its last {streak} runs failed{ending}", None, {})


_ADVISE = {_MEMORY: _more_memory, _TIMEOUT: _more_time, _FAILED: _fix}


def _largest(column: pl.Series) -> float:
    found = column.drop_nulls().cast(pl.Float64).max()
    return float(found) if isinstance(found, float) else 0.0


def _rounded(amount: float, step: int) -> int:
    return math.ceil(amount / step) * step
