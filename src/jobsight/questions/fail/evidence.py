"""How jobs like one ended, counted in words, and what to change so that it does not fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile, zip_longest
from math import comb
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.clock import format_span
from jobsight.documents import State
from jobsight.history.causes.cause import Cause
from jobsight.history.causes.endings import ending
from jobsight.history.jobtable import JobTable
from jobsight.history.past import KEYS, key_hashes
from jobsight.program.submission.proposals import Ceilings, proposed
from jobsight.questions.fail.question import KINDS
from jobsight.remembering import remembered
from jobsight.text import counted, printable

__all__ = ["LAST", "Advice", "Counted", "Ends", "Finding", "advise", "failures_in_a_row",
           "findings", "kinds_of", "refuted"]  # fmt: skip

Finding = dict[str, Any]
"""``what`` (like, user, request, all; check, model), ``runs``, ``failed``, ``kinds`` (counts),
and ``text``."""

LAST = 20
"""Runs that count as the last ones."""
ENOUGH = 10
"""Runs that make wider groups needless, and that a probability with a changed request needs."""
LIKELY = 0.1
"""P(the job fails so) from which advice is given."""
REPEATED = 3
"""Runs in a row that failed by themselves, from which the program is to be fixed."""
MARGIN = 1.15
"""A request that is as much above another one may suffice where that one did not."""
_MANY = 2000
"""Runs of a user that count in their rate."""
_FADING = 0.5 ** (1 / 10)
"""What a run counts against the one after it, in rates: the last ten as much as all before."""
_LEAN, _PRIOR = 4.0, 2.0
"""Runs that the rate of a wider group weighs, and one half where there is none."""
_LEAN_OF_REQUEST = 20.0
"""The same where runs are alike by their request alone: they may be other work."""
_UNLIKELY = 0.001
"""Probability of such runs, or more failures, under which they refute a model's answer."""
_OF_PROGRAM = ("program", "crash", "software", "permission")
"""Kinds of causes (`jobsight.history.causes.cause.Cause`) that the program itself is at fault."""
_LIKE = ("user and pattern", "user and script", "user and request")
"""Jobs are like those of the same user with the same name but for digits, else the same script,
else the same request."""
_KEYS = (*_LIKE, "user", "request")
_DONE = State.COMPLETED.value
_FAILED, _TIMEOUT, _MEMORY = State.FAILED.value, State.TIMEOUT.value, State.OUT_OF_MEMORY.value
_MEMORY_STEP_MB, _LIMIT_STEP_S = 128, 600
_AGAINST = {_MEMORY: "running out of memory", _TIMEOUT: "the time limit"}
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
            and scheduler of each run, the latest last.
    """

    what: str
    key: str
    all: pl.DataFrame

    @cached_property
    def runs(self) -> list[dict[str, Any]]:
        """The last runs, at most `LAST`."""
        return self.all.tail(LAST).to_dicts()

    @cached_property
    def _borne(self) -> Callable[..., list[str | None]]:
        return remembered(self._bear, 64)

    def _bear(self, memory: float | None, limit: float | None) -> list[str | None]:
        return [_bears(run, memory, limit, own=self.what == "like") for run in self.runs]

    def bearing(self, job: Mapping[str, Any]) -> list[str | None]:
        """How each of the last runs would have ended with the request of a job.

        None: it had less memory or time, and failed for that, so it shows nothing of the job.
        """
        return self._borne(job["request_memory_mb"], job["time_limit_s"])

    @cached_property
    def failed_of_many(self) -> tuple[float, float]:
        """How many of the last `_MANY` runs failed, and of how many."""
        states = self.all["state"].tail(_MANY)
        return float((states != _DONE).sum()), float(len(states))

    def fading(self, job: Mapping[str, Any]) -> tuple[float, float]:
        """The same of the last runs that bear on a job's request, the older the less."""
        ends = [end for end in reversed(self.bearing(job)) if end is not None]
        failed = sum(_FADING**n for n, end in enumerate(ends) if end != _DONE)
        return failed, sum(_FADING**n for n in range(len(ends)))

    def failing(self, job: Mapping[str, Any]) -> Counter[str]:
        """Number of the last runs that fail with a job's request, by kind; the latest first."""
        return Counter(end for end in reversed(self.bearing(job)) if end not in (None, _DONE))

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

    def finding(self, job: Mapping[str, Any]) -> Finding:
        """The counts in words, for a job that is compared with them."""
        runs = counted(len(self.runs), "run")
        about = {
            "user and request": f"of this user's last {runs} with this request",
            "user": f"of this user's last {runs}",
            "request": f"of the last {runs} of all users with this request",
        }.get(self.key) or (
            f"of this user's last {runs} of {printable(job['name'] or 'this script', 60)}"
        )
        ends = list(zip(self.runs, self.bearing(job), strict=True))
        killed = [run for run in self.runs if _was_killed(run)]
        ways = [text for kind in self.kinds for text in self._ways(kind, killed)]
        over = sum(run["state"] == _DONE != end for run, end in ends)
        ways += [f"{over} used more than this job asks for"] if over else []
        peak = self.largest("max_rss_mb") if over or killed or _MEMORY in self.kinds else 0
        most = f"; peak known {peak:,.0f} MB" if peak else ""
        less = sum(end is None for _, end in ends)
        had = f"; {less} of these had less memory or time than this job asks for" if less else ""
        return {
            "what": self.what,
            "runs": len(self.runs),
            "failed": sum(self.kinds.values()),
            "kinds": self.kinds,
            "text": f"{about} {', '.join(ways) or 'none failed'}{most}{had}",
        }

    def _ways(self, kind: str, killed: list[dict[str, Any]]) -> Iterator[str]:
        """How many of the last runs ended by a kind of failure, in words."""
        words, column, form = _WORDS[kind]
        if kind == _FAILED and killed:
            code = _alike(killed, column, form)
            yield f"{len(killed)} were killed{code}, as happens most often for memory"
        if left := [run for run in self.runs if run["state"] == kind and run not in killed]:
            yield f"{len(left)} {words}" + (_alike(left, column, form) if column else "")


def _alike(runs: Iterable[Mapping[str, Any]], column: str, form: Callable[[int], str]) -> str:
    """The one value that runs have in a column, in words; empty where they differ."""
    values = {run[column] for run in runs} - {None}
    return form(int(values.pop())) if len(values) == 1 and min(values) >= 0 else ""


def _was_killed(run: Mapping[str, Any]) -> bool:
    return run["state"] == _FAILED and _cause(run).name == "killed"


def _cause(run: Mapping[str, Any]) -> Cause:
    """The cause of a run that failed by itself."""
    of = ending(
        State.FAILED, run["exit_code"], run["signal"], used_mb=run["max_rss_mb"],
        limit_mb=run["request_memory_mb"], slurm=run["scheduler"] != "htcondor",
    )  # fmt: skip
    assert of is not None
    return of


def _bears(
    run: Mapping[str, Any], memory: float | None, limit: float | None, *, own: bool
) -> str | None:
    """See `Counted.bearing`; `own`: the run is of the same work, which needs as much again."""
    state, peak, ran = run["state"], run["max_rss_mb"] or 0, run["ran"] or 0
    had, span = run["request_memory_mb"], run["time_limit_s"]
    if state == _MEMORY and memory and had and memory >= max(had, peak) * MARGIN:
        return None
    if state == _TIMEOUT and limit:
        least = max(span or 0, ran) * MARGIN
        return None if limit < 0 or limit >= least > 0 else state
    if state == _DONE and own:
        # What a run used beyond its own request was not taken from it: nor will it be here.
        if memory and peak > memory and (had is None or had >= peak):
            return _MEMORY
        if limit and 0 < limit < ran and (span is None or span < 0 or span >= ran):
            return _TIMEOUT
    return str(state)


class Ends:
    """The runs of a job table that completed or failed, by what jobs are compared by."""

    def __init__(self, jobs: JobTable) -> None:
        ran = (pl.col("end") - pl.col("last_start")).dt.total_microseconds() / 1e6
        # A peak is of one node, a request of all.
        nodes = pl.when(pl.col("scheduler") == "slurm").then(pl.col("request_nodes").clip(1))
        table = jobs.table.with_columns(
            pl.col("state").cast(pl.String), ran=ran,
            max_rss_mb=pl.col("max_rss_mb") * nodes.fill_null(1),
        )  # fmt: skip
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
            "state", "request_memory_mb", "time_limit_s", "max_rss_mb", "ran", "exit_code",
            "signal", "scheduler",
        )  # fmt: skip
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

    def same_script(self, job: pl.DataFrame) -> bool:
        """Whether a run of the very text of the script of one job has completed."""
        value = int(key_hashes(job, KEYS["user and script"])[0])
        known = value and job["script_digest"][0] is not None
        return bool(known) and _DONE in self._of("user and script", value, "like").all["state"]

    def rate(self, groups: Mapping[str, Counted], job: Mapping[str, Any]) -> float:
        """The smoothed rate of failure of runs like a job's, with its request; uncalibrated.

        A chain from all jobs to those of the user (of a new user those with the same request) and
        those like it: each rate leans on the one before. Many runs of the user count alike; of
        those like it the last ones, the later the more, as far as they show anything of the job's
        request, see `Counted.bearing`. A group that has all runs of the wider one replaces it.
        """
        whats = ("user", "like") if "user" in groups else ("request",)
        chain = [groups[what] for what in whats if what in groups]
        rate, lean = 0.5, _PRIOR
        if not chain or len(chain[0].all) < len(self):
            rate, lean = (self._failed + lean * rate) / (len(self) + lean), _LEAN
        for group, narrower in zip_longest(chain, chain[1:]):
            if narrower is not None and len(narrower.all) == len(group.all):
                continue
            failed, runs = group.failed_of_many if group.what == "user" else group.fading(job)
            lean = _LEAN_OF_REQUEST if group.key == "user and request" else lean
            rate, lean = (failed + lean * rate) / (runs + lean), _LEAN
        return rate

    @cached_property
    def _failed(self) -> int:
        return int((self._table["state"] != _DONE).sum())

    def finding(self) -> Finding:
        """What is counted of a job that no run is like: all runs."""
        counts = Counter(self._table["state"].to_list())
        kinds = {kind: counts[kind] for kind in KINDS if counts[kind]}
        text = f"of all {counted(len(self), 'run')} known {self._failed or 'none'} failed"
        return {"what": "all", "runs": len(self), "failed": self._failed, "kinds": kinds,
                "text": f"{text}; none is of this user, nor has this request"}  # fmt: skip

    def _counted(self, key: str, value: int, what: str) -> Counted:
        order, hashes = self._rows[key]
        first, last = (hashes.searchsorted(np.uint64(value), side) for side in ("left", "right"))
        return Counted(what, key, self._table[order[first:last]])


def findings(groups: Mapping[str, Counted], job: Mapping[str, Any]) -> list[Finding]:
    """What was counted, from narrow to wide; a wider group only while the narrower are small."""
    counts: list[Finding] = []
    for what in ("like", "user", "request"):
        known = max((finding["runs"] for finding in counts), default=0)
        if what in groups and known < ENOUGH and len(groups[what].runs) > known:
            counts.append(groups[what].finding(job))
    return counts


def kinds_of(
    groups: Mapping[str, Counted], job: Mapping[str, Any], predicted: Mapping[str, float] | None
) -> dict[str, float]:
    """P(kind | it fails), the likeliest first, and of as likely ones that which failed last.

    As runs like the job failed, to which what a model predicts adds one run; else as it predicts;
    without a model as the narrowest group failed of which any run did.
    """
    wide = () if predicted else ("user", "request")
    counts = next((of for what in ("like", *wide) if what in groups
                   and (of := groups[what].failing(job))), Counter[str]())  # fmt: skip
    total = counts.total() + (1 if predicted else 0)
    shares = {
        kind: (counts[kind] + (predicted or {}).get(kind, 0.0)) / total
        for kind in (*counts, *(kind for kind in predicted or () if kind not in counts))
    }
    return dict(sorted(shares.items(), key=lambda pair: -pair[1]))


def refuted(ends: list[str | None], probability: float) -> bool:
    """Whether runs of the same work failed more often than a probability to fail allows."""
    known = [end != _DONE for end in ends if end is not None]
    runs, failed = len(known), sum(known)
    chances = (comb(runs, n) * probability**n * (1.0 - probability) ** (runs - n)
               for n in range(failed, runs + 1))  # fmt: skip
    return failed > probability * runs and sum(chances) < _UNLIKELY


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
    ranked = sorted(kinds, key=lambda kind: -kinds[kind])
    for kind in ranked:
        if probability * kinds[kind] < LIKELY or kind not in _ADVISE:
            continue
        # Of several kinds one has a request that helps: the program is fixed for the first alone.
        if kind == _FAILED != ranked[0] or (kind != _FAILED and not like.failing(job)[kind]):
            continue
        advice = _ADVISE[kind](job, like, most)
        if advice is not None:
            against = "" if kind == ranked[0] else f"against {_AGAINST[kind]}: "
            return replace(advice, text=against + advice.text)
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
    if least * MARGIN <= (asked or 0):
        least = asked  # what did not suffice is not recorded
    if not least:
        text = "ask for more memory than such runs had: how much that was is not recorded"
        return Advice(text, None, {})
    slurm = job["scheduler"] != "htcondor"
    nodes = max(job["request_nodes"] or 1, 1) if slurm else 1
    had = ((asked or 0) / nodes, too_small / nodes)
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
    timed_out = max(like.of(_TIMEOUT, "time_limit_s"), default=0)
    longest = max(like.largest("ran"), timed_out)
    if longest < (limit or 0):
        longest = limit  # what did not suffice is not recorded
    if not longest:
        text = "ask for more time than such runs had: how much that was is not recorded"
        return Advice(text, None, {})
    if job["scheduler"] == "htcondor":
        text = f"raise its limit of run time: such runs took {format_span(longest)} and more"
        return Advice(text, None, {})
    wanted = proposed(
        longest * MARGIN, had=(limit or 0, timed_out), most=most().time_s, step=_LIMIT_STEP_S
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


def failures_in_a_row(runs: Sequence[Mapping[str, Any]]) -> list[Cause]:
    """The causes of the last runs that failed by themselves one after the other, the latest first.

    `runs` are those of `Counted.runs`.
    """
    failed = takewhile(lambda run: run["state"] == _FAILED, reversed(runs))
    return [_cause(run) for run in failed]


def _fix(_job: Mapping[str, Any], like: Counted, _most: Callable[[], Ceilings]) -> Advice | None:
    """The program is to be fixed, where its last runs all failed by themselves.

    What ended it is to be found first, where that was not the program.
    """
    causes = failures_in_a_row(like.runs)
    if len(causes) < REPEATED:
        return None
    own = any(cause.kind in _OF_PROGRAM for cause in causes)
    lead = "fix the program first" if own else "find what ended it"
    text = f"{lead}: its last {len(causes)} runs failed"
    if len({cause.name for cause in causes}) > 1:
        return Advice(f"{text}, the last since {causes[0].text}", None, {})
    return Advice(f"{text}: {causes[0].text}; {causes[0].fix}", None, {})


_ADVISE = {_MEMORY: _more_memory, _TIMEOUT: _more_time, _FAILED: _fix}
