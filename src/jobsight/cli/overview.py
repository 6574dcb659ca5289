"""``jobsight`` without a verb: the caller's jobs on one screen.

Held jobs with answers, pending ones with start times and what blocks them, running ones at risk of
their time limit or memory, and those that failed in the last day with why; each part ends with the
command that says more. Jobs that are alike are one row, with the answer for the first of them. With
``--json`` one object has the same.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size

from jobsight.cli.common import caller, has_store, load_settings, opened_store
from jobsight.cli.output import print_json, say
from jobsight.cli.terminal import STATE_COLOURS, paint, width, wrap
from jobsight.clock import now_micros, zone_named
from jobsight.documents import JobDocument, State, number_of, parse_key
from jobsight.documents.spans import ran, runs, why
from jobsight.errors import JobsightError
from jobsight.format import UNKNOWN, memory, percent, span, timestamp
from jobsight.history.jobwords import job_facts
from jobsight.ids import parse_job_name
from jobsight.store.packing import ACTIVE, cluster_of, user_key
from jobsight.store.rows import Query
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.answering.question import Answer
    from jobsight.questions.hold.answering.answer import Answer as HoldAnswer
    from jobsight.questions.start.answering import Answer as StartAnswer
    from jobsight.settings import Settings
    from jobsight.store import Store

__all__ = ["overview"]

_ROWS = 3
"""Rows of a part: as many kinds of jobs are shown, and asked about."""
_READ = 2_000
"""Documents of each state that are read; of more jobs only the number is known."""
_LATE = 200
"""Runs near their limits that are asked about."""
_COLUMNS, _IDS = 80, 10
_DAY = 24 * 3600 * 1_000_000
_FAILED = (State.FAILED, State.TIMEOUT, State.DEADLINE, State.OUT_OF_MEMORY, State.NODE_FAIL)
_PART_OF = {State.SUSPENDED: State.RUNNING, **dict.fromkeys(_FAILED, State.FAILED)}
_ELAPSED, _REACHED, _FULL = 0.8, 0.98, 0.9
"""A run is at risk that has had this share of its time limit, where it may take that of it; or that
has used this share of its memory."""

Jobs = Sequence[JobDocument]


@dataclass(frozen=True)
class _Row:
    """Jobs that are alike, at least one; what is said of the first, in a word or two, and why."""

    jobs: Jobs
    lead: str
    text: str
    answer: Answer | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "jobs": len(self.jobs),
            "ids": [job.id for job in self.jobs[:_IDS]],
            "name": _name(self.jobs[0]) or None,
            "says": self.lead,
            "why": self.text,
            "answer": None if self.answer is None else self.answer.to_json(),
        }

    def cells(self) -> tuple[str, str, str, str]:
        first, size = parse_key(self.jobs[0].id), len(self.jobs)
        noun = "tasks" if first.scheduler == "slurm" else "procs"
        which = first.job if size == 1 else f"{size:,} {noun} of {number_of(first.job)}"
        if len({number_of(job.id) for job in self.jobs}) > 1:
            which = f"{size:,} jobs"
        name = printable(_name(self.jobs[0]) or UNKNOWN, 16)
        return printable(self.lead, 24), printable(which, 24), name, printable(self.text, 400)


@dataclass(frozen=True)
class _Part:
    """A part of the screen: of so many jobs some rows, and the command that says more.

    `problem` says why there are no rows; None: there are all.
    """

    title: str
    colour: str
    jobs: int = 0
    rows: Sequence[_Row] = ()
    more: str = ""
    problem: str | None = None

    def to_json(self) -> dict[str, Any]:
        rows = [row.to_json() for row in self.rows]
        return {"jobs": self.jobs, "rows": rows, "more": self.more, "problem": self.problem}

    def lines(self) -> Iterator[str]:
        columns = width() or _COLUMNS
        yield paint(self.title, f"1;{self.colour}") + f": {counted(self.jobs, 'job')}"
        if self.problem is not None:
            yield _cut(f"  {printable(self.problem)}", columns)
            return
        cells, spare = [row.cells() for row in self.rows], _ROWS - len(self.rows)
        sizes = [max(map(cell_len, column)) for column in list(zip(*cells, strict=True))[:-1]]
        indent = sum(sizes) + 2 * len(sizes) + 2
        for *first, text in cells:
            padded = (set_cell_size(*pair) for pair in zip(first, sizes, strict=True))
            lines = wrap(text, indent, least=10)
            # Where there are few rows they may have several lines.
            rest = _cut(" ".join(lines[spare:]), max(columns - indent, 10))
            lines = [*lines[:spare], rest] if len(lines) > spare else lines
            spare -= len(lines) - 1
            yield "  ".join(["", *padded, lines[0]])
            yield from (" " * indent + line for line in lines[1:])
        yield f"  more: {self.more}"


def overview(*, as_json: bool) -> bool:
    """Print the screen; False: for want of a store and a scheduler nothing is printed.

    Raises:
        JobsightError: the store cannot be read, or the scheduler gives no answer.
    """
    settings = load_settings(None, {})
    if not as_json and not has_store(settings):
        from jobsight.answering.machine import has_tools

        if not has_tools(settings):
            return False
    with opened_store(settings) as store:
        screen = _Screen(store, settings, caller())
        parts = {
            "held": screen.part("held", State.HELD, screen.held),
            "pending": screen.part("pending", State.PENDING, screen.pending),
            "at_risk": screen.part("running, at risk", State.RUNNING, screen.at_risk),
            "failed": screen.part("failed in the last 24 h", State.FAILED, screen.failed),
        }
    counts = {str(state): screen.counts[state] for state in screen.shown}
    if as_json:
        shown = {name: part.to_json() for name, part in parts.items()}
        print_json({"user": screen.user, "at": timestamp(screen.now), "counts": counts, **shown})
        return True
    numbers = ", ".join(f"{number:,} {state}" for state, number in counts.items())
    say(f"{printable(screen.user, 30)}: {numbers} in the last 24 h")
    for part in parts.values():
        if part.jobs:
            say("")
            for line in part.lines():
                say(line)
    return True


class _Screen:
    """The jobs of a user that are shown, read once, and the parts of the screen about them."""

    shown = (State.HELD, State.PENDING, State.RUNNING, State.FAILED)

    def __init__(self, store: Store, settings: Settings, user: str) -> None:
        self.user, self.now = user, now_micros()
        self.counts: Counter[State] = Counter()
        self._settings, self._zone = settings, zone_named(settings.timezone)
        self._input = "store:" if has_store(settings) else store.url
        self._jobs: dict[State, list[JobDocument]] = defaultdict(list)
        since, key, failed = self.now - _DAY, user_key(user), frozenset(map(str, _FAILED))
        for row in itertools.chain(
            store.rows(Query(states=ACTIVE - {""}, user=key)),
            store.rows(Query(since=since, states=failed, user=key, newest_first=True)),
        ):
            state = State(row.keys.state)
            of = _PART_OF.get(state, state)
            self.counts[of] += 1
            if self.counts[of] <= _READ:
                self._jobs[of].append(row.document())
        self._places = {cluster_of(job.id) for jobs in self._jobs.values() for job in jobs}

    def part(
        self, title: str, state: State, of: Callable[[Jobs], tuple[Sequence[_Row], str]]
    ) -> _Part:
        """The part that `of` makes of the jobs in a state; why not, where it fails."""
        jobs, number = self._jobs[state], self.counts[state]
        try:
            rows, more = of(jobs) if jobs else ((), "")
        except JobsightError as error:
            return _Part(title, STATE_COLOURS[state], number, problem=str(error))
        if state is State.RUNNING:
            number = sum(len(row.jobs) for row in rows)
        return _Part(title, STATE_COLOURS[state], number, rows[:_ROWS], more)

    def held(self, jobs: Jobs) -> tuple[Sequence[_Row], str]:
        """What to do about held jobs."""
        groups = _alike(jobs, _cause)[:_ROWS]
        of_condor = [group[0].id for group in groups if group[0].id.startswith("htcondor:")]
        answers = self._hold_answers(of_condor) if of_condor else {}
        rows = []
        for group in groups:
            if (answer := answers.get(group[0].id)) is None:
                reason = why(group[0])
                rows.append(_Row(group, "held", _obstacle(group[0]) or reason or "reason unknown"))
                continue
            lead = answer.verdict.verb.replace("_", " ")
            if answer.now is not None:
                lead += f", {percent(answer.now.probability)}"
            rows.append(_Row(group, lead, answer.advice.steps[0].text, answer))
        others = [row for row in rows if row.jobs[0].id not in of_condor]
        commands = ["jobsight hold"] if of_condor else []
        return rows, ", ".join([*commands, *([self._command("start", others)] if others else [])])

    def _hold_answers(self, ids: Sequence[str]) -> dict[str, HoldAnswer]:
        from jobsight.cli.asking import open_session
        from jobsight.cli.hold import own_pool
        from jobsight.questions.hold.answerable import HOLD_ANSWERS

        names = {id_: parse_job_name(id_) for id_ in ids}
        pool = own_pool(self._settings, list(names.values()))
        session = open_session(
            HOLD_ANSWERS, self._settings, [self._input], live=True, model=None, at=None,
            adapt=lambda answerer: answerer.within(pool),
        )  # fmt: skip
        answers = {id_: session.answer_names([name])[0] for id_, name in names.items()}
        return {id_: found[0] for id_, found in answers.items() if found}

    def pending(self, jobs: Jobs) -> tuple[Sequence[_Row], str]:
        """When pending jobs start, and what blocks them; those first that need somebody's hand."""
        groups = _alike(jobs, _cause)
        groups.sort(key=lambda group: _obstacle(group[0]) is None)
        groups = groups[:_ROWS]
        answers = self._start_answers([job.id for one in groups for job in (one[0], one[-1])])
        rows = []
        for group in groups:
            first, last = answers.get(group[0].id), answers.get(group[-1].id)
            if first is None or last is None:
                rows.append(_Row(group, UNKNOWN, why(group[0])))
            elif first.blocked is not None:
                rows.append(_Row(group, "blocked", first.blocked, first))
            else:
                waits, when = first.waits_for, UNKNOWN
                if first.starts is not None and last.starts is not None:
                    low, high = self._clock(first.starts[0]), self._clock(last.starts[2])
                    when = low if low == high else f"{low}–{high}"
                elif first.job["scheduler"] == "htcondor":
                    waits = waits[-1:]  # the sum of its analysis
                rows.append(_Row(group, when, "; ".join(waits) or why(group[0]), first))
        return rows, self._command("start", rows)

    def _start_answers(self, ids: Sequence[str]) -> dict[str | None, StartAnswer]:
        import polars as pl

        from jobsight.cli.asking import open_session
        from jobsight.cli.start import known_now
        from jobsight.questions.start.answering import START_ANSWERS

        session = open_session(
            START_ANSWERS, self._settings, [self._input], live=True, model=None, at=None,
            adapt=known_now(self._settings, ids),
        )  # fmt: skip
        answers = session.answer(pl.col("id").is_in(list(ids)))
        return {answer.id: answer for answer in answers}

    def at_risk(self, jobs: Jobs) -> tuple[Sequence[_Row], str]:
        """Runs that may reach their time limit, or have used most of their memory."""
        full, late = [], {}
        for job in jobs:
            used, asked = job.usage.memory_mb, job.request.memory_mb
            if used and asked and used >= _FULL * asked:
                full.append(job)
            run, limit = runs(job, self.now)[-1:], job.request.time_limit_s
            if run and limit and (run[0].seconds or 0.0) > _ELAPSED * limit > 0.0:
                late[job.id] = job, limit, limit - (run[0].seconds or 0.0)
        answers = self._start_answers(list(late)[:_LATE]) if late else {}
        slow = [job for job, limit, _ in late.values() if _may_reach(answers.get(job.id), limit)]
        rows = []
        for group in _alike(slow, _cause):
            _, limit, left = late[group[0].id]
            text = f"{span(max(left, 0.0))} left of {span(limit)}"
            answer = answers.get(group[0].id)
            if answer is not None and answer.ends is not None:
                low, _, high = map(self._clock, answer.ends)
                text += f"; it likely ends between {low} and {high}"
            rows.append(_Row(group, "time limit", text, answer))
        for group in _alike(full, _cause):
            used, asked = group[0].usage.memory_mb, group[0].request.memory_mb
            rows.append(_Row(group, "memory", f"{memory(used)} of {memory(asked)} in use"))
        return rows, self._command("fail", rows[:_ROWS])

    def failed(self, jobs: Jobs) -> tuple[Sequence[_Row], str]:
        """Why jobs failed, the last ones first."""
        rows = []
        for group in _alike(jobs, _cause, by_size=False)[:_ROWS]:
            job, facts = group[0], job_facts(group[0])
            reasons = [why(job), facts.get("meaning", "")]
            if job.state is State.TIMEOUT:
                limit = span(job.request.time_limit_s)
                reasons = [f"ran {span(ran(job, self.now))} of {limit}"]
            ended = None if job.outcome is None else job.outcome.ended
            when = [] if ended is None else [self._clock(ended)]
            words = str(job.state).replace("_", " ")
            rows.append(_Row(group, " ".join([words, *when]), "; ".join(filter(None, reasons))))
        return rows, self._command("job", rows)

    def _command(self, verb: str, rows: Sequence[_Row]) -> str:
        """The command of a verb for the first job of each row; their cluster is named if needed."""
        ids = [row.jobs[0].id for row in rows]
        alone = len(self._places) == 1
        return " ".join(["jobsight", verb, *(parse_key(id_).job if alone else id_ for id_ in ids)])

    def _clock(self, moment: int) -> str:
        from jobsight.cli.start import _clock

        return _clock(moment, self.now, self._zone)


def _may_reach(answer: StartAnswer | None, limit: int) -> bool:
    """Whether a run may take its whole time limit (s), where that is known; else yes."""
    return answer is None or answer.runtime is None or answer.runtime[2] >= _REACHED * limit


def _alike(
    jobs: Jobs, cause: Callable[[JobDocument], object], *, by_size: bool = True
) -> list[list[JobDocument]]:
    """Jobs of one cluster, partition, name but for digits, state and cause, the most first."""
    groups: dict[object, list[JobDocument]] = {}
    for job in jobs:
        name = re.sub(r"\d+", "#", _name(job)) or number_of(job.id)
        like = (cluster_of(job.id), job.request.partition, name, job.state, cause(job))
        groups.setdefault(like, []).append(job)
    return sorted(groups.values(), key=len, reverse=True) if by_size else list(groups.values())


def _name(job: JobDocument) -> str:
    return job.submission.name or PurePosixPath(job.submission.command or "").name


def _obstacle(job: JobDocument) -> str | None:
    """Why a job of Slurm does not start unless somebody acts; None: it may."""
    from jobsight.history.slurm.pendingreasons import refusal, stop

    return refusal(why(job)) or stop(why(job)) if job.id.startswith("slurm:") else None


def _cause(job: JobDocument) -> str:
    """Why jobs are in their state, but for numbers; of those that wait for free nodes nothing."""
    from jobsight.history.slurm.pendingreasons import is_busy

    return "" if is_busy(why(job)) else re.sub(r"\d+", "#", why(job))


def _cut(line: str, cells: int) -> str:
    return line if cell_len(line) <= cells else set_cell_size(line, cells - 1).rstrip() + "…"
