"""From the answers for pending jobs and their AdminComment to what is to be written, and why.

A plan starts from the queue of now and has only differences from it, so a round that was cut short
is finished by the next one, and nothing is done twice. Whole records are written alone: a job, or
all pending tasks of an array; `scontrol update` of one pending task would split its array.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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

__all__ = [
    "TAG",
    "Answers",
    "Change",
    "Plan",
    "is_ours",
    "is_waiting",
    "make_plan",
    "names_of",
    "spelled",
    "stake_of",
]

TAG = "jobsight: "
"""What our texts begin with."""

_OURS = re.compile(re.escape(TAG) + r"(.*); until (\d\d):(\d\d)", re.DOTALL | re.ASCII)
_WIDTH = 200
_LONGEST = 100_000
"""Characters of the tasks of an array; Linux takes 128 KiB of one argument."""
_RISK, _STEPS = 0.2, 20
"""The least risk of failure that is said; risks are said in steps of 1 / 20."""
_SECOND, _HOUR = 1_000_000, 3600
_ROUNDED = ((6 * _HOUR, 900), (48 * _HOUR, _HOUR), (math.inf, 6 * _HOUR))
"""Up to so many seconds from now, moments are rounded to so many."""
_UNLIMITED_H = 24.0
_DAY = dt.timedelta(days=1)


class Answers(NamedTuple):
    """What is known of a pending job."""

    start: StartAnswer | None
    fail: FailAnswer | None


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
        """Whether it still is to be made of a line that was read again, and may be."""
        same = line.raw_id == self.line.raw_id and is_waiting(line)
        if self.words is None:
            same = has_started(line) if has_started(self.line) else line.raw_id == self.line.raw_id
        return same and (is_ours(line) or not line.admin_comment)

    def to_json(self) -> dict[str, Any]:
        """As the decision log has it: known and said."""
        tasks = 1 if self.line.id.tasks is None else self.line.id.tasks.count()
        return {
            "jobs": [abridged(spelled(self.line), 200)], "base": self.line.id.base, "tasks": tasks,
            "known": {"user": printable(self.line.user, 60), "stake": round(self.stake, 1)},
            "said": self.words, "until": self.until, "why": self.why, "calls": 1,
        }  # fmt: skip

    def __str__(self) -> str:
        shown = f"{abridged(spelled(self.line), 60)} ({self.why}, {self.stake:,.1f} at stake)"
        return f"{shown}: {self.comment or 'clear'}"


@dataclass(frozen=True)
class Plan:
    """What a round is to do.

    Attributes:
        asked_at: seconds since 1970, just before the queue was read.
        changes: calls in order: first what is cleared, then the most at stake; as many as may be
            made.
        counts: records that wait, are answered, are unchanged, have another tool's comment
            (others), and changes left to a later round (left).
    """

    asked_at: int
    changes: Sequence[Change]
    counts: Mapping[str, int]


def is_ours(line: Queued) -> bool:
    """Whether we wrote the comment of a line."""
    return line.admin_comment.startswith(TAG)


def is_waiting(line: Queued) -> bool:
    """Whether it is a whole record that we may write: of no heterogeneous job, and no split task.

    The pending tasks of an array have the number of the array, split ones a number of their own.
    """
    whole = line.raw_id == line.id.base and line.id.component is None
    small = line.id.tasks is None or not (line.id.tasks.cut or len(spelled(line)) > _LONGEST)
    return slurm_state(line.state) is State.PENDING and whole and small


def has_started(line: Queued) -> bool:
    """Whether it runs."""
    return slurm_state(line.state) in (State.RUNNING, State.SUSPENDED)


def spelled(line: Queued) -> str:
    """The jobs of a line as scontrol takes them."""
    return line.id.name if line.id.tasks is None else f"{line.id.base}_[{pack(line.id.tasks)}]"


def names_of(line: Queued) -> tuple[str, str]:
    """The first and the last job of a line: one job, or two tasks of an array."""
    tasks = line.id.tasks and sorted((of[0], of[-1]) for of in line.id.tasks.ranges)
    if not tasks:
        return line.id.name, line.id.name
    return f"{line.id.base}_{tasks[0][0]}", f"{line.id.base}_{tasks[-1][1]}"


def stake_of(line: Queued) -> float:
    """Core-hours that the jobs of a line ask for; without a limit, those of a day."""
    limit, tasks = line.time_limit_s, line.id.tasks
    hours = limit / _HOUR if limit and math.isfinite(limit) else _UNLIMITED_H
    return (1 if tasks is None else tasks.count()) * (line.cpus or 1) * hours


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
    until = f"{dt.datetime.fromtimestamp(asked_at + settings.valid, zone):%H:%M}"
    soon = max(2 * settings.every, settings.valid / 5)
    started, stale, write = dict[str, Change](), list[Change](), list[Change]()
    for line in queue:
        state, ours, answer = slurm_state(line.state), is_ours(line), None
        if has_started(line) and ours:
            started[line.id.base] = Change(line, None, "", "it started")
        if has_started(line) or state is None or state.ended:
            continue
        if is_waiting(line):
            counts["waiting"] += 1
            first, last = (known.get(name, Answers(None, None)) for name in names_of(line))
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
    hour, minute = int(parts[2]) % 24, int(parts[3]) % 60
    until = at.replace(hour=hour, minute=minute, second=0, microsecond=0)
    nearest = min((until + days * _DAY for days in (-1, 0, 1)), key=lambda day: abs(day - at))
    return parts[1], max((nearest - at).total_seconds(), 0.0)


def _words(first: Answers, last: Answers, now: int, zone: dt.tzinfo) -> tuple[str, float] | None:
    """What is said of a record by the answers for its first and last job, and how sure it is.

    Of a risk of failure that is its probability; of a start, 1 / (1 + hours in which it may be).
    """
    parts, sure, start = list[str](), 0.0, first.start
    if start is not None and start.blocked is not None:
        parts, sure = [f"does not start by itself: {start.blocked}"], 1.0
    elif start is not None and start.starts is not None:
        begin, end = start.starts[0], start.starts[2]
        if last.start is not None and last.start.starts is not None:
            end = max(end, last.start.starts[2])
        low, high = _rounded(begin, now, math.floor), _rounded(end, now, math.ceil)
        shown = f"{_clock(low, now, zone)}-{_clock(high, now, zone)}"
        parts = [f"starts {shown}" if low > now else f"starts by {_clock(high, now, zone)}"]
        sure = 1.0 / (1.0 + (end - begin) / _SECOND / _HOUR)
    elif start is not None and start.not_before is not None:
        low, high = start.not_before[0], start.not_before[2]
        parts = [f"starts after {_clock(_rounded(low, now, math.floor), now, zone)}"]
        sure = 1.0 / (1.0 + (high - low) / _SECOND / _HOUR)
    fail = first.fail
    if fail is not None and (fail.probability or 0.0) >= _RISK:
        risk = round((fail.probability or 0.0) * _STEPS) / _STEPS
        kind = "" if fail.kind in (None, "failed") else f" ({str(fail.kind).replace('_', ' ')})"
        option = fail.advice.option if fail.advice is not None else None
        parts.append(f"fails {risk:.0%}{kind}" + (f", try {option}" if option else ""))
        sure = max(sure, fail.probability or 0.0)
    # Without what Slurm or its accounting would change.
    words = printable(", ".join(parts), _WIDTH).encode("ascii", "replace").decode()
    return (re.sub(r"[\"'`\\]", "", words), sure) if parts else None


def _rounded(moment: int, now: int, way: Any) -> int:
    """A moment (µs) in seconds, rounded the more the farther away it is."""
    seconds = moment / _SECOND
    step = next(step for most, step in _ROUNDED if seconds - now <= most)
    return int(way(seconds / step) * step)


def _clock(moment: int, now: int, zone: dt.tzinfo) -> str:
    """``14:15``, on another day ``tue 14:15`` or ``12-01 14:15``."""
    at, today = (dt.datetime.fromtimestamp(time, zone) for time in (moment, now))
    days = (at.date() - today.date()).days
    return f"{at:%H:%M}" if not days else f"{at:%a %H:%M}" if 0 < days < 7 else f"{at:%m-%d %H:%M}"
