"""From the answers for pending jobs and their AdminComment to what is to be written, and why.

A plan starts from the queue of now and has only differences from it, so a round that was cut short
is finished by the next one, and nothing is done twice. Whole records are written alone: a job, or
all pending tasks of an array; `scontrol update` of some of these would split the array.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from jobsight.documents import State
from jobsight.documents.states import slurm_state
from jobsight.history.slurm.ids import pack
from jobsight.history.slurm.squeue import Queued
from jobsight.questions.fail.answering import Answer as FailAnswer
from jobsight.questions.start.answering import Answer as StartAnswer
from jobsight.settings import ActingSettings
from jobsight.text import abridged, printable

__all__ = ["TAG", "Answers", "Change", "Plan", "is_ours", "is_over", "is_waiting", "make_plan",
           "names_of", "stake_of"]  # fmt: skip

TAG = "jobsight: "
"""What our texts begin with."""

_OURS = re.compile(re.escape(TAG) + r"(.*); until (\d\d-\d\d \d\d:\d\d)", re.DOTALL | re.ASCII)
_WIDTH = 200
_RISK, _STEPS, _MOST = 0.2, 20, 0.95
"""The least risk of failure that is said, in steps of 1 / 20, and the most."""
_HOUR = 3600
_ROUNDED = ((6 * _HOUR, 900), (48 * _HOUR, _HOUR), (math.inf, 6 * _HOUR))
"""Up to so many seconds from now, moments are rounded to so many."""
_SOON_S = 900
_UNLIMITED_H = 24.0
_RANGES = 10_000
"""Ranges of tasks; Linux takes 128 KiB of one argument."""


class Answers(NamedTuple):
    """What is known of a pending job."""

    start: StartAnswer | None = None
    fail: FailAnswer | None = None


@dataclass(frozen=True)
class Change:
    """One call that changes one record, or clears all tasks of an array that started.

    Attributes:
        line: of the queue, on which it was planned.
        words: what AdminComment is to say; None: what we wrote is cleared.
        until: the time, as it is shown, until which that is valid.
        why: it is changed.
        stake: core-hours asked for, times how sure the answer is.
    """

    line: Queued
    words: str | None
    until: str
    why: str
    stake: float = 0.0

    @property
    def comment(self) -> str:
        """The whole comment; empty to clear it."""
        return "" if self.words is None else f"{TAG}{self.words}; until {self.until}"

    def is_of(self, line: Queued) -> bool:
        """Whether it is to be made of a job or a task that was read again, and still may be."""
        if self.words is None:
            return is_ours(line) and not is_over(line) and _runs(line) == _runs(self.line)
        return is_waiting(line) and (is_ours(line) or not line.admin_comment)

    def to_json(self) -> dict[str, Any]:
        """As the decision log has it: known and said."""
        return {
            "jobs": [self.name], "base": self.line.id.base, "tasks": _tasks(self.line),
            "known": {"user": printable(self.line.user, 60), "stake": round(self.stake, 1)},
            "said": self.words, "until": self.until, "why": self.why, "calls": 1,
        }  # fmt: skip

    def __str__(self) -> str:
        said = self.comment or "clear"
        return f"{self.name} ({self.why}, {self.stake:,.1f} core-hours at stake): {said}"

    @property
    def name(self) -> str:
        """What is changed, as users write it; not more than fits into a line."""
        tasks = self.line.id.tasks
        name = self.line.id.base if _runs(self.line) else self.line.id.name
        return name if tasks is None else abridged(f"{name}_[{pack(tasks)}]", 80)


@dataclass(frozen=True)
class Plan:
    """What a round is to do.

    Attributes:
        asked_at: seconds since 1970, just before the queue was read.
        changes: calls, as many as may be made: first what is cleared, then the most at stake.
        counts: records that wait, are answered, are unchanged, have another tool's comment
            (others), and changes left to later rounds (left).
    """

    asked_at: int
    changes: Sequence[Change]
    counts: Mapping[str, int]


def is_ours(line: Queued) -> bool:
    """Whether we wrote the comment of a line."""
    return line.admin_comment.startswith(TAG)


def is_waiting(line: Queued) -> bool:
    """Whether it is pending, and a whole record: of no heterogeneous job, and no split task.

    The pending tasks of an array have the number of the array, split ones a number of their own.
    """
    whole = line.raw_id == line.id.base and line.id.component is None
    tasks = line.id.tasks
    short = tasks is None or not (tasks.cut or len(tasks.ranges) > _RANGES)
    return whole and short and slurm_state(line.state) is State.PENDING


def is_over(line: Queued) -> bool:
    """Whether it has ended, or its state is unknown."""
    state = slurm_state(line.state)
    return state is None or state.ended


def _runs(line: Queued) -> bool:
    return slurm_state(line.state) in (State.RUNNING, State.SUSPENDED)


def _tasks(line: Queued) -> int:
    return 1 if line.id.tasks is None else line.id.tasks.count()


def names_of(line: Queued) -> tuple[str, str]:
    """The first and the last job of a line: one job, or two tasks of an array."""
    tasks = list(line.id.tasks or ())
    if not tasks:
        return line.id.name, line.id.name
    return f"{line.id.base}_{min(tasks)}", f"{line.id.base}_{max(tasks)}"


def stake_of(line: Queued) -> float:
    """Core-hours that the jobs of a line ask for; without a limit, those of a day."""
    limit = line.time_limit_s or math.inf
    hours = limit / _HOUR if math.isfinite(limit) else _UNLIMITED_H
    return _tasks(line) * (line.cpus or 1) * hours


def make_plan(
    queue: Iterable[Queued], known: Mapping[str, Answers], settings: ActingSettings, *,
    asked_at: int, zone: dt.tzinfo, most: int,
) -> Plan:  # fmt: skip
    """What is to be done now.

    Args:
        queue: all jobs.
        known: answers by the names of `names_of`.
        settings: how long a text is valid.
        asked_at: seconds since 1970.
        zone: in which times are shown.
        most: calls that may be made now.
    """
    counts = Counter(waiting=0, answered=0, unchanged=0, others=0, left=0)
    until = f"{dt.datetime.fromtimestamp(asked_at + settings.valid, zone):%m-%d %H:%M}"
    soon = max(2 * settings.every, settings.valid / 5)
    started, stale, write = dict[str, Change](), list[Change](), list[Change]()
    for line in queue:
        ours, answer = is_ours(line), None
        if _runs(line) and ours:
            started[line.id.base] = Change(line, None, "", "it started")
        if _runs(line) or is_over(line):
            continue
        if is_waiting(line):
            counts["waiting"] += 1
            first, last = (known.get(name, Answers()) for name in names_of(line))
            answer = _words(first, last, asked_at, zone)
        counts["answered"] += answer is not None
        words, left = _read(line.admin_comment, asked_at, zone)
        if line.admin_comment and not ours:
            counts["others"] += 1
        elif answer is None:
            if ours and left <= soon:
                stale.append(Change(line, None, "", "out of date"))
        elif words == answer[0] and left > soon:
            counts["unchanged"] += 1
        else:
            why = "renewed" if words == answer[0] else "it changed" if ours else "new"
            write.append(Change(line, answer[0], until, why, stake_of(line) * answer[1]))
    write.sort(key=lambda change: -change.stake)
    changes = [*started.values(), *stale, *write]
    counts["left"] = max(len(changes) - most, 0)
    return Plan(asked_at, changes[: max(most, 0)], dict(counts))


def _read(comment: str, now: int, zone: dt.tzinfo) -> tuple[str | None, float]:
    """The words of a comment of ours, and for how many seconds it is valid; 0: no longer."""
    parts = _OURS.fullmatch(comment)
    if parts is None:
        return None, 0.0
    at = dt.datetime.fromtimestamp(now, zone)
    with contextlib.suppress(ValueError):
        for year in (at.year, at.year + 1):  # of the next one, in the last minutes of this
            named = dt.datetime.strptime(f"{year}-{parts[2]}", "%Y-%m-%d %H:%M")
            left = (named.replace(tzinfo=zone) - at).total_seconds()
            if 0 < left <= 86_400:
                return parts[1], left
    return parts[1], 0.0


def _words(first: Answers, last: Answers, now: int, zone: dt.tzinfo) -> tuple[str, float] | None:
    """What is said of a record by the answers for its first and last job, and how sure it is.

    Of a risk of failure that is its probability; of a start, 1 / (1 + hours in which it may be).
    """
    parts, sure = list[str](), 0.0
    if (start := first.start) is not None:
        span = start.starts or start.not_before
        if start.blocked is not None:
            parts, sure = [f"does not start by itself: {start.blocked}"], 1.0
        elif span is not None:
            final = last.start.starts if last.start is not None else None
            begin, end = span[0] / 1e6, max(span[2], *(final or span)) / 1e6
            low, high = _clock(begin, now, zone, math.floor), _clock(end, now, zone, math.ceil)
            when = f"{low}-{high}" if begin - now > _SOON_S else f"by {high}"
            parts = [f"starts {when if start.starts else f'after {low}'}"]
            sure = 1.0 / (1.0 + (end - begin) / _HOUR)
    if first.fail is not None and (risk := first.fail.probability or 0.0) >= _RISK:
        kind, advice = first.fail.kind, first.fail.advice
        parts.append(f"fails {min(round(risk * _STEPS) / _STEPS, _MOST):.0%}".replace("%", " %"))
        parts[-1] += f" ({kind.replace('_', ' ')})" if kind and kind != State.FAILED else ""
        parts += [f"try {advice.option}"] if advice is not None and advice.option else []
        sure = max(sure, risk)
    # Without what Slurm, or its accounting, would change.
    words = printable(", ".join(parts), _WIDTH).encode("ascii", "replace").decode()
    return (re.sub(r"[\"'`\\]", "", words), sure) if parts else None


def _clock(moment: float, now: int, zone: dt.tzinfo, way: Callable[[float], int]) -> str:
    """``14:15``, on another day ``Tue 14:15`` or ``12-01 14:15``; rounded the more the later."""
    step = next(step for most, step in _ROUNDED if moment - now <= most)
    at = dt.datetime.fromtimestamp(way(moment / step) * step, zone)
    days = (at.date() - dt.datetime.fromtimestamp(now, zone).date()).days
    return f"{at:%H:%M}" if not days else f"{at:%a %H:%M}" if 0 < days < 7 else f"{at:%m-%d %H:%M}"
