"""How jobs like one ended, counted in words, and what to change so that it does not fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from signal import SIGKILL
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.clock import format_span
from jobsight.codes import exit_meaning
from jobsight.documents import State
from jobsight.documents.states import KILLED, MAYBE_KILLED, was_killed
from jobsight.history.jobtable import JobTable
from jobsight.history.past import KEYS, key_hashes
from jobsight.program.submission.proposals import Ceilings, proposed
from jobsight.questions.fail.question import KINDS
from jobsight.remembering import remembered
from jobsight.text import counted, printable

__all__ = ["LAST", "Advice", "Counted", "Ends", "Finding", "advise", "findings"]

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
_OF_SHELL = 126
"""Exit codes from here on are those of the shell; below, each program has its own."""
_LIKE = ("user and pattern", "user and script", "user and request")
"""Jobs are like those of the same user with the same name but for digits, else the same script,
else the same request."""
_KEYS = (*_LIKE, "user", "request")
_DONE = State.COMPLETED.value
_FAILED, _TIMEOUT, _MEMORY = State.FAILED.value, State.TIMEOUT.value, State.OUT_OF_MEMORY.value
_MEMORY_STEP_MB, _LIMIT_STEP_S = 128, 600
_WORDS: dict[str, tuple[str, str, Callable[[int], str]]] = {
    _MEMORY: ("ran out of memory", "request_memory_mb", lambda amount: f" at {amount:,} MB"),
    _TIMEOUT: ("reached the time limit", "time_limit_s", lambda span: f" of {format_span(span)}"),
    _FAILED: ("failed", "exit_code", lambda code: f" with exit code {code}"),
    State.NODE_FAIL.value: ("lost a node", "", str),
    State.HELD.value: ("held at the start", "", str),
}
"""Of each kind of failure words, and the column whose one value is said too, and how."""


@dataclass(frozen=True, eq=False)
class Counted:
    """The runs of jobs that are alike.

    Attributes:
        what: ``like`` (see `_LIKE`), ``user``, or ``request`` (same partition and request, any
            user).
        key: of `jobsight.history.past.KEYS` that they share.
        all: state, request_memory_mb, time_limit_s, max_rss_mb, ran (seconds), exit_code, signal
            of each run, the latest last.
    """

    what: str
    key: str
    all: pl.DataFrame

    @cached_property
    def runs(self) -> list[dict[str, Any]]:
        """The last runs, at most `LAST`."""
        return self.all.tail(LAST).to_dicts()

    def of(self, state: str, column: str) -> list[Any]:
        """What is known in a column of the last runs that ended so."""
        values = (run[column] for run in self.runs if run["state"] == state)
        return [value for value in values if value is not None]

    def largest(self, column: str) -> float:
        """The largest known number of the last runs; 0 where none is known."""
        return float(max((run[column] or 0 for run in self.runs), default=0))

    @cached_property
    def kinds(self) -> dict[str, int]:
        """Number of the last runs by kind of failure."""
        counts = Counter(run["state"] for run in self.runs)
        return {kind: counts[kind] for kind in KINDS if counts[kind]}

    def finding(self, name: str | None) -> Finding:
        """The counts in words; `name`: of the job."""
        runs = counted(len(self.runs), "run")
        about = {
            "user and request": f"of this user's last {runs} with this request",
            "user": f"of this user's last {runs}",
            "request": f"of the last {runs} of all users with this request",
        }.get(self.key) or f"of this user's last {runs} of {printable(name or 'this script', 60)}"
        ways = []
        for kind, count in self.kinds.items():
            words, column, form = _WORDS[kind]
            values = set(self.of(kind, column)) if column else set()
            alike = len(values) == 1 and min(values) >= 0
            ways.append(f"{count} {words}" + (form(int(values.pop())) if alike else ""))
        peak = self.largest("max_rss_mb") if _MEMORY in self.kinds else 0
        most = f"; peak known {peak:,.0f} MB" if peak else ""
        return {
            "what": self.what,
            "runs": len(self.runs),
            "failed": sum(self.kinds.values()),
            "kinds": self.kinds,
            "text": f"{about} {', '.join(ways) or 'none failed'}{most}",
        }


class Ends:
    """The runs of a job table that completed or failed, by what jobs are compared by."""

    def __init__(self, jobs: JobTable) -> None:
        ran = (pl.col("end") - pl.col("last_start")).dt.total_microseconds() / 1e6
        table = jobs.table.with_columns(pl.col("state").cast(pl.String), ran=ran)
        known = pl.col("reported").is_not_null() & pl.col("state").is_in([_DONE, *KINDS])
        holds = jobs.states().filter("fails")
        held = table[holds["row"]].with_columns(
            holds["known"].alias("reported"),
            state=pl.lit(State.HELD.value), ran=pl.lit(None, pl.Float64),
            exit_code=pl.lit(None, pl.Int64), signal=pl.lit(None, pl.Int64),
            max_rss_mb=pl.lit(None, pl.Int64),
        )  # fmt: skip
        table = pl.concat([table.filter(known), held]).sort("reported", maintain_order=True)
        self._table = table.select(
            "state", "request_memory_mb", "time_limit_s", "max_rss_mb", "ran", "exit_code", "signal"
        )
        self._rows: dict[str, tuple[NDArray[np.intp], NDArray[np.uint64]]] = {}
        for key in _KEYS:
            hashes = key_hashes(table, KEYS[key])
            order = np.argsort(hashes, kind="stable")
            self._rows[key] = order, hashes[order]
        self._of = remembered(self._counted, 4096)

    def __len__(self) -> int:
        return len(self._table)

    def about(self, asked: pl.DataFrame) -> list[dict[str, Counted]]:
        """The runs like each of n jobs: by ``like``, ``user``, ``request``, where there are any.

        Args:
            asked: `jobsight.history.past.asked_columns` of n jobs.
        """
        hashes = {key: key_hashes(asked, KEYS[key]).tolist() for key in _KEYS}
        of_jobs = []
        for row in range(len(asked)):
            groups: dict[str, Counted] = {}
            for key, values in hashes.items():
                what = "like" if key in _LIKE else key
                if what not in groups and values[row]:
                    group = self._of(key, values[row], what)
                    if len(group.all):
                        groups[what] = group
            of_jobs.append(groups)
        return of_jobs

    def _counted(self, key: str, value: int, what: str) -> Counted:
        order, hashes = self._rows[key]
        first, last = (hashes.searchsorted(np.uint64(value), side) for side in ("left", "right"))
        return Counted(what, key, self._table[order[first:last]])


def findings(groups: Mapping[str, Counted], name: str | None) -> list[Finding]:
    """What was counted, from narrow to wide; a wider group only while the narrower are small."""
    counts: list[Finding] = []
    for what in ("like", "user", "request"):
        known = max((finding["runs"] for finding in counts), default=0)
        if what in groups and known < ENOUGH and len(groups[what].runs) > known:
            counts.append(groups[what].finding(name))
    return counts


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
    job: Mapping[str, Any],
    like: Counted | None,
    probability: float,
    kinds: Mapping[str, float],
    most: Callable[[], Ceilings] = Ceilings,
) -> Advice | None:
    """What to change in a job that is likely to fail; None: nothing is known to help.

    Args:
        job: its row of the job table.
        like: runs of the same user with the same name or script.
        probability: P(it fails).
        kinds: P(kind | it fails).
        most: gives the most that it may ask for; asked only where it needs another request.
    """
    if like is None:
        return None
    for kind in sorted(kinds, key=lambda kind: -kinds[kind]):
        if probability * kinds[kind] >= LIKELY and kind in _ADVISE:
            advice = _ADVISE[kind](job, like, most)
            if advice is not None:
                return advice
    return None


def _more_memory(
    job: Mapping[str, Any], like: Counted, most: Callable[[], Ceilings]
) -> Advice | None:
    """Memory above the largest known peak, and above what did not suffice."""
    asked = job["request_memory_mb"]
    too_small = max(like.of(_MEMORY, "request_memory_mb"), default=0)
    # The peak of a run that was killed is what it was allowed, not what it needs.
    used = like.largest("max_rss_mb")
    least = max(too_small, used)
    if not too_small or asked is None or least * MARGIN <= asked:
        return None
    slurm = job["scheduler"] != "htcondor"
    nodes = max(job["request_nodes"] or 1, 1) if slurm else 1
    had = (asked / nodes, too_small / nodes)
    each = proposed(
        least * MARGIN / nodes, had=had, used=used / nodes, most=most().memory_mb,
        step=_MEMORY_STEP_MB,
    )  # fmt: skip
    if each is None:
        where = f"no {'node' if slurm else 'slot'} known has more"
        text = f"let it use less memory: {least:,.0f} MB did not suffice, and {where}"
        return Advice(text, None, {})
    wanted = each * nodes
    option = f"--mem={each}M" if slurm else f"request_memory = {each}"
    peak = max(like.of(_DONE, "max_rss_mb"), default=0)
    known = f"the largest peak known is {peak:,.0f} MB"
    why = known if peak >= least else f"{least:,.0f} MB did not suffice"
    enough = pl.col("request_memory_mb") >= wanted
    return Advice(
        f"ask for more memory: {why}", option, {"request_memory_mb": wanted},
        len(like.all.filter(enough)),
    )  # fmt: skip


def _more_time(
    job: Mapping[str, Any], like: Counted, most: Callable[[], Ceilings]
) -> Advice | None:
    """A limit above the longest run known, where such runs needed longer than this job asks for."""
    limit = job["time_limit_s"]
    if limit is None or limit < 0 or _TIMEOUT not in like.kinds:
        return None
    timed_out = max(like.of(_TIMEOUT, "time_limit_s"), default=0)
    longest = max(like.largest("ran"), timed_out)
    if longest < limit:
        return None
    wanted = proposed(
        longest * MARGIN, had=(limit, timed_out), most=most().time_s, step=_LIMIT_STEP_S
    )
    if wanted is None:
        text = f"such runs took {format_span(longest)} and more, and its partition allows no longer"
        return Advice(f"split the work, or save its progress: {text}", None, {})
    hours, minutes = divmod(wanted // 60, 60)
    enough = (pl.col("time_limit_s") >= wanted) | (pl.col("time_limit_s") < 0)
    return Advice(
        f"ask for more time: such runs took {format_span(longest)} and more",
        f"--time={hours}:{minutes:02d}:00",
        {"time_limit_s": wanted},
        len(like.all.filter(enough)),
    )


def _fix(job: Mapping[str, Any], like: Counted, _most: Callable[[], Ceilings]) -> Advice | None:
    """The program is to be fixed, where its last runs all failed by themselves.

    What kills it is to be found first, where they were all killed from outside.
    """
    ends = [run["state"] for run in reversed(like.runs)]
    streak = next((k for k, end in enumerate(ends) if end != _FAILED), len(ends))
    if streak < REPEATED:
        return None
    last = like.runs[-streak:]
    if all(was_killed(run["exit_code"], run["signal"]) for run in last):
        return Advice(f"find what ended it: its last {streak} runs were {KILLED}", None, {})
    codes = list({run["exit_code"] for run in last})
    if codes == [SIGKILL] and job["scheduler"] == "slurm":
        return Advice(f"find what ended it: its last {streak} runs had {MAYBE_KILLED}", None, {})
    ending = f" with exit code {codes[0]}" if len(codes) == 1 and codes[0] else ""
    if ending and codes[0] >= _OF_SHELL and (meaning := exit_meaning(codes[0], None)):
        ending += f" ({meaning})"
    return Advice(f"fix the program first: its last {streak} runs failed{ending}", None, {})


_ADVISE = {_MEMORY: _more_memory, _TIMEOUT: _more_time, _FAILED: _fix}
