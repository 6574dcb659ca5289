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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from pathlib import PurePosixPath
from shlex import quote
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size

from jobsight.cli.common import caller, has_store, load_settings, opened_store
from jobsight.cli.output import print_json, say
from jobsight.cli.terminal import STATE_COLOURS, TERMINAL, paint, width, wrap
from jobsight.clock import now_micros
from jobsight.documents import JobDocument, State, number_of, parse_key
from jobsight.documents.spans import ran, runs, why
from jobsight.errors import JobsightError
from jobsight.format import UNKNOWN, clock, memory, percent, span, timestamp
from jobsight.history.causes.endings import ending_of
from jobsight.store.packing import ACTIVE, cluster_of, user_key
from jobsight.store.rows import Query
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.answering.question import Answer
    from jobsight.questions.start.answering import Answer as StartAnswer
    from jobsight.settings import Settings
    from jobsight.store import Store

__all__ = ["overview"]

_ROWS = 3
"""Rows of a part: as many kinds of jobs are shown, and asked about."""
_READ, _LATE = 2_000, 200
"""Documents of each state that are read (of more jobs only the number is known); and runs near
their time limits that are asked about."""
_COLUMNS, _IDS, _DAY = 80, 10, 24 * 3600 * 1_000_000
_FAILED = (State.FAILED, State.TIMEOUT, State.DEADLINE, State.OUT_OF_MEMORY, State.NODE_FAIL)
_STATES = {State.SUSPENDED: State.RUNNING, **dict.fromkeys(_FAILED, State.FAILED)}
_KEYS = {State.RUNNING: "at_risk"}
_TITLES = {State.RUNNING: "running, at risk", State.FAILED: "failed in the last 24 h"}
_ELAPSED, _REACHED, _FULL = 0.8, 0.98, 0.9
"""A run is at risk that has had this share of its time limit, where it may take that of it; or that
has used this share of its memory."""
_BLOCKS = re.compile(r"^No machines matched|are able to run your job$|^[0-9,]+ running job")
"""What keeps an idle job of HTCondor: the last of these, as ``condor_q -better-analyze`` ends."""


_Jobs = Sequence[JobDocument]


@dataclass(frozen=True)
class _Row:
    """Jobs that are alike, at least one; what is said of the first, in a word or two, and why."""

    jobs: _Jobs
    lead: str
    text: str
    answer: Answer | None = None

    def to_json(self) -> dict[str, Any]:
        ids, name = [job.id for job in self.jobs], _name(self.jobs[0]) or None
        answer = None if self.answer is None else self.answer.to_json()
        row = {"jobs": len(ids), "ids": ids[:_IDS], "name": name, "says": self.lead}
        return {**row, "why": self.text, "answer": answer}

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
    """Of so many jobs some rows, and the command that says more; or why they cannot be shown."""

    state: State
    jobs: int
    rows: Sequence[_Row] = ()
    more: str = ""
    problem: str | None = None

    def to_json(self) -> dict[str, Any]:
        rows = [row.to_json() for row in self.rows]
        return {"jobs": self.jobs, "rows": rows, "more": self.more, "problem": self.problem}

    def lines(self) -> Iterator[str]:
        room, title = width() or _COLUMNS, _TITLES.get(self.state, str(self.state))
        yield paint(title, f"1;{STATE_COLOURS[self.state]}") + f": {counted(self.jobs, 'job')}"
        if self.problem is not None:
            yield _cut(f"  {printable(self.problem)}", room)
            return
        *columns, texts = zip(*(row.cells() for row in self.rows), strict=True)
        known = [column for column in columns if set(column) != {UNKNOWN}]
        sizes = [max(map(cell_len, column)) for column in known]
        indent, spare = sum(sizes) + 2 * len(sizes) + 2, _ROWS - len(self.rows)
        for *first, text in zip(*known, texts, strict=True):
            padded = (set_cell_size(*pair) for pair in zip(first, sizes, strict=True))
            lines = wrap(text, indent, least=10)
            if len(lines) > spare:  # where there are few rows they may have several lines
                lines[spare:] = [_cut(" ".join(lines[spare:]), max(room - indent, 10))]
            spare -= len(lines) - 1
            yield "  ".join(["", *padded, lines[0]])
            yield from (" " * indent + line for line in lines[1:])
        yield f"  more: {self.more}"


def overview(store_url: str | None, *, as_json: bool) -> bool:
    """Print the screen; False: for want of a store and a scheduler nothing is printed.

    `store_url`: the store that is named; None: that of the settings, else the scheduler is asked.

    Raises:
        JobsightError: the store cannot be read, or the scheduler gives no answer.
    """
    settings = load_settings(None, {"store": store_url})
    if TERMINAL.get() is not None:  # in a service, which answers of its own store alone
        from jobsight.cli.served import ready_for
        from jobsight.questions.start.question import START

        ready_for(["store:"], settings, START, now=True)
    if not as_json and not has_store(settings):
        from jobsight.answering.machine import has_tools

        if not has_tools(settings):
            return False
    with opened_store(settings) as store:
        screen = _Screen(store, settings, caller())
        parts = {_KEYS.get(state, str(state)): screen.part(state) for state in screen.states}
    counts = {str(state): screen.counts[state] for state in screen.states}
    if as_json:
        shown = {name: part.to_json() for name, part in parts.items()}
        print_json({"user": screen.user, "at": timestamp(screen.now), "counts": counts, **shown})
        return True
    numbers = ", ".join(f"{number:,} {state}" for state, number in counts.items())
    say(f"{printable(screen.user, 30)}: {numbers} in the last 24 h")
    if not screen.counts:
        say("jobsight --help lists what can be asked about jobs, scripts and programs")
    for part in parts.values():
        if part.jobs:
            say("\n" + "\n".join(part.lines()))
    return True


class _Screen:
    """The jobs of a user that are shown, read once, and the parts of the screen about them."""

    states = (State.HELD, State.PENDING, State.RUNNING, State.FAILED)

    def __init__(self, store: Store, settings: Settings, user: str) -> None:
        self.user, self.now = user, now_micros()
        self.counts: Counter[State] = Counter()
        self._settings = settings
        self._inputs = ["store:" if has_store(settings) else store.url]
        self._jobs: dict[State, list[JobDocument]] = defaultdict(list)
        since, key, failed = self.now - _DAY, user_key(user), frozenset(map(str, _FAILED))
        for row in itertools.chain(
            store.rows(Query(states=ACTIVE - {""}, user=key)),
            store.rows(Query(since=since, states=failed, user=key, newest_first=True)),
        ):
            state = State(row.keys.state)
            of = _STATES.get(state, state)
            self.counts[of] += 1
            if self.counts[of] <= _READ:
                self._jobs[of].append(row.document())
        self._places = {cluster_of(job.id) for jobs in self._jobs.values() for job in jobs}
        self._late = {job.id: job for job in self._jobs[State.RUNNING] if self._is_late(job)}

    def part(self, state: State) -> _Part:
        """The part for jobs in a state; one line says why where it fails."""
        jobs, number = self._jobs[state], self.counts[state]
        parts = self._held, self._pending, self._at_risk, self._failed
        try:
            rows, more = parts[self.states.index(state)](jobs) if jobs else ([], "")
        except JobsightError as error:
            return _Part(state, number, problem=str(error))
        if state is State.RUNNING:
            number = sum(len(row.jobs) for row in rows)
        return _Part(state, number, rows[:_ROWS], more)

    def _held(self, jobs: _Jobs) -> tuple[list[_Row], str]:
        groups = _alike(jobs)[:_ROWS]
        of_condor = [group[0].id for group in groups if group[0].id.startswith("htcondor:")]
        answers = {}
        if of_condor:
            from jobsight.cli.hold import answers_now

            answers = answers_now(self._settings, self._inputs, of_condor)
        rows = []
        for group in groups:
            if (answer := answers.get(group[0].id)) is not None:
                lead = answer.verdict.verb.replace("_", " ")
                lead += "" if answer.now is None else f", {percent(answer.now.probability)}"
                rows.append(_Row(group, lead, answer.advice.steps[0].text, answer))
            else:
                words = _obstacle(group) or why(group[0]) or "no reason is recorded"
                rows.append(_Row(group, "held", words))
        others = [row for row in rows if row.answer is None]
        commands = ["jobsight hold"] if of_condor else []
        commands += [self._command("start", others)] if others else []
        return rows, "; ".join(commands)

    @cached_property
    def _waiting(self) -> list[_Jobs]:
        """Kinds of pending jobs, those first that do not start by themselves."""
        groups = _alike(self._jobs[State.PENDING])
        return sorted(groups, key=lambda group: _obstacle(group) is None)[:_ROWS]

    @cached_property
    def _starts(self) -> dict[str | None, StartAnswer]:
        """When jobs start or end: the first and the last of each kind, and those near their limits.

        They are asked about together: the queue is played once.
        """
        from jobsight.cli.start import answers_now

        first = [group[0].id for group in self._waiting]
        others = [*(group[-1].id for group in self._waiting), *list(self._late)[:_LATE]]
        return answers_now(self._settings, self._inputs, first, others)

    def _pending(self, _: _Jobs) -> tuple[list[_Row], str]:
        rows = []
        for group in self._waiting:
            first, last = (self._starts.get(group[place].id) for place in (0, -1))
            if first is None or last is None:
                rows.append(_Row(group, UNKNOWN, why(group[0])))
                continue
            when, waits = UNKNOWN, first.waits_for
            if first.blocked is not None:
                when, waits = "blocked", [first.blocked]
            elif first.starts is not None and last.starts is not None:
                low, high = (clock(at, self.now) for at in (first.starts[0], last.starts[2]))
                when = low if low == high else f"{low}–{high}"
            elif first.not_before is not None:
                when = f"after {clock(first.not_before[0], self.now)}"
            elif first.job["scheduler"] == "htcondor":
                waits = [line for line in waits if _BLOCKS.search(line)][-1:]
            rows.append(_Row(group, when, "; ".join(waits) or why(group[0]), first))
        return rows, self._command("start", rows, State.PENDING, "start --pending")

    def _at_risk(self, jobs: _Jobs) -> tuple[list[_Row], str]:
        answers, rows = self._starts if self._late else {}, []
        for group in _alike([job for job in self._late.values() if _may_reach(answers, job)]):
            left, limit = self._left(group[0]), span(group[0].request.time_limit_s)
            text = f"{span(left)} left of {limit}" if left > 0 else f"its {limit} are over"
            answer = answers.get(group[0].id)
            if left > 0 and answer is not None and answer.ends is not None:
                low, _, high = (clock(at, self.now) for at in answer.ends)
                text += f"; it likely ends between {low} and {high}"
            rows.append(_Row(group, "time limit", text, answer))
        for group in _alike([job for job in jobs if _is_full(job)]):
            used, asked = group[0].usage.memory_mb, group[0].request.memory_mb
            rows.append(_Row(group, "memory", f"{memory(used)} of {memory(asked)} in use"))
        return rows, self._command("fail", rows[:_ROWS])

    def _failed(self, jobs: _Jobs) -> tuple[list[_Row], str]:
        rows = []
        for group in _alike(jobs, newest=True)[:_ROWS]:
            job, ended = group[0], group[0].outcome and group[0].outcome.ended
            cause = ending_of(job)
            reasons = [why(job), None if cause is None else cause.text]
            if job.state is State.TIMEOUT:
                reasons = [f"ran {span(ran(job, self.now))} of {span(job.request.time_limit_s)}"]
            lead = str(job.state).replace("_", " ") + (
                f" {clock(ended, self.now)}" if ended else ""
            )
            rows.append(_Row(group, lead, "; ".join(filter(None, reasons)) or UNKNOWN))
        states = "".join(f" --state {state}" for state in sorted({str(job.state) for job in jobs}))
        return rows, self._command("job", rows, State.FAILED, f"jobs --since 24h{states}")

    def _left(self, job: JobDocument) -> float:
        """Seconds until the time limit of a run; inf: it has none."""
        run, limit = runs(job, self.now)[-1:], job.request.time_limit_s or 0
        return limit - (run[0].seconds or 0.0) if run and limit > 0 else inf

    def _is_late(self, job: JobDocument) -> bool:
        return self._left(job) < (1.0 - _ELAPSED) * (job.request.time_limit_s or 0)

    def _command(
        self, verb: str, rows: Sequence[_Row], state: State | None = None, every: str = ""
    ) -> str:
        """The command of a verb for the first job of each row; their cluster is named if needed.

        Where these are not all jobs in the state, it is the command `every` of the user's.
        """
        if state is not None and self.counts[state] > sum(len(row.jobs) for row in rows):
            return f"jobsight {every} --user {quote(self.user)}"
        ids, alone = [row.jobs[0].id for row in rows], len(self._places) == 1
        return " ".join(["jobsight", verb, *(parse_key(id_).job if alone else id_ for id_ in ids)])


def _is_full(job: JobDocument) -> bool:
    return (job.usage.memory_mb or 0) >= _FULL * (job.request.memory_mb or inf)


def _may_reach(answers: Mapping[str | None, StartAnswer], job: JobDocument) -> bool:
    """Whether a run may take its whole time limit; yes, if that is not known."""
    answer, limit = answers.get(job.id), job.request.time_limit_s or 0
    return answer is None or answer.runtime is None or answer.runtime[2] >= _REACHED * limit


def _alike(jobs: _Jobs, *, newest: bool = False) -> list[_Jobs]:
    """Jobs by cluster, partition, name but for digits, state and cause; most first, or as given."""
    groups: dict[object, list[JobDocument]] = {}
    for job in jobs:
        name = re.sub(r"\d+", "#", _name(job)) or number_of(job.id)
        like = (cluster_of(job.id), job.request.partition, name, job.state, _cause(job))
        groups.setdefault(like, []).append(job)
    return list(groups.values()) if newest else sorted(groups.values(), key=len, reverse=True)


def _name(job: JobDocument) -> str:
    return job.submission.name or PurePosixPath(job.submission.command or "").name


def _cause(job: JobDocument) -> str:
    """Why a job is in its state, but for numbers; empty where it waits for free nodes."""
    from jobsight.history.slurm.pendingreasons import is_busy

    return "" if is_busy(why(job)) else re.sub(r"\d+", "#", why(job))


def _obstacle(jobs: _Jobs) -> str | None:
    """Why jobs of Slurm that are alike do not start by themselves; None: they may."""
    from jobsight.history.slurm.pendingreasons import refusal, stop

    if not jobs[0].id.startswith("slurm:"):
        return None
    ids = ",".join(parse_key(job.id).job for job in jobs[:_IDS])
    return refusal(why(jobs[0])) or stop(why(jobs[0]), ids)


def _cut(line: str, cells: int) -> str:
    return line if cell_len(line) <= cells else set_cell_size(line, cells - 1).rstrip() + "…"
