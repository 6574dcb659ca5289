"""What ``jobsight start`` prints: answers one by one, or the queue by expected start."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jobsight.cli.asking import title
from jobsight.cli.output import say
from jobsight.cli.tables import table
from jobsight.cli.terminal import field, paint
from jobsight.clock import format_span
from jobsight.format import UNKNOWN
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.questions.start.answering import Answer

__all__ = ["print_answers", "print_table"]

_INDENT = 12
_AT_ONCE = 30.0
"""Seconds of waiting that are not worth a moment."""


def print_answers(answers: Sequence[Answer], when: str, zone: dt.tzinfo) -> None:
    """Print each answer; `when`: the moment asked about, in words; `zone`: of moments."""
    for number, one in enumerate(answers):
        if number:
            say("")
        say(f"{_headline(one, zone)}  {title(one.job)}")
        for label, text in zip(["waits for", *[""] * 99], one.waits_for, strict=False):
            say(field(label, f"· {printable(text)}", _INDENT))
        if one.runtime is not None:
            low, middle, high = map(_span, one.runtime)
            say(field("runs", f"{low} to {high}, half under {middle}", _INDENT))
        for label, advice in zip(["sooner", *[""] * 9], one.advice, strict=False):
            runs = counted(advice.support, "run")
            gain = format_span(advice.gain_s)
            text = f"· {printable(advice.text)} ({advice.option}): {gain} earlier, by {runs}"
            say(field(label, text, _INDENT))
        estimate = one.job["estimate"]
        if estimate is not None and one.starts is not None:
            say(field("Slurm says", _clock(estimate, one.moment, zone), _INDENT))
        say(field("model", f"{printable(one.model, 80)}, as of {when}", _INDENT))


def _headline(one: Answer, zone: dt.tzinfo) -> str:
    if one.blocked is not None:
        return paint(f"will not start by itself: {printable(one.blocked)}:", "31")
    if one.ends is not None:
        low, middle, high = (_clock(at, one.moment, zone) for at in one.ends)
        return f"likely ends between {low} and {high}, half by {middle}:"
    if one.starts is None or one.wait is None:
        return "runs:" if one.job["last_start"] is not None else "its start is not known:"
    if one.wait[2] <= _AT_ONCE:
        return paint("likely starts at once:", "32")
    low, middle, high = (_clock(at, one.moment, zone) for at in one.starts)
    return f"likely starts between {low} and {high}, half by {middle}:"


def _span(seconds: float) -> str:
    """``45 s``, ``12 min``, ``1 h 10 min``, ``2 d 3 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 48 * 60:
        hours, left = divmod(minutes, 60)
        return f"{hours} h {left} min" if left and hours < 10 else f"{round(minutes / 60)} h"
    days, hours = divmod(round(minutes / 60), 24)
    return f"{days} d {hours} h" if hours and days < 10 else f"{days} d"


def _clock(moment: int, now: int, zone: dt.tzinfo) -> str:
    """``14:10`` on the same day, ``Tue 14:10`` in the same week, else with the date."""
    try:
        at, today = (dt.datetime.fromtimestamp(one // 1_000_000, zone) for one in (moment, now))
    except (OverflowError, ValueError, OSError):
        return UNKNOWN
    if at.date() == today.date():
        close = abs(moment - now) < 600_000_000
        return f"{at:%H:%M:%S}" if close else f"{at:%H:%M}"
    return f"{at:%a %H:%M}" if abs((at.date() - today.date()).days) < 7 else f"{at:%Y-%m-%d %H:%M}"


def print_table(answers: Sequence[Answer], when: str, zone: dt.tzinfo) -> None:
    """Print the queue, what is expected to start first at the top."""
    if not answers:
        say(f"no job is pending as of {when}")
        return
    models = ", ".join(sorted({printable(one.model, 80) for one in answers}))
    say(f"{counted(len(answers), 'job')} pending as of {when}; model: {models}")
    say("")
    far = float("inf")
    rows = [_row(one, zone) for one in sorted(answers, key=lambda one: (one.wait or (far,) * 3)[1])]
    headings = ["half by", "likely between", "runs", "job", "user", "name", "CPUs", "why"]
    left = ["half by", "likely between", "runs", "job", "user", "name", "why"]
    say(table(headings, rows, ["CPUs", "name", "user", "runs"], left=left))


def _row(one: Answer, zone: dt.tzinfo) -> list[str]:
    job = one.job
    middle = between = UNKNOWN
    if one.starts is not None:
        low, middle, high = (_clock(at, one.moment, zone) for at in one.starts)
        between = f"{low}–{high}"
    runs = UNKNOWN if one.runtime is None else f"{_span(one.runtime[0])}–{_span(one.runtime[2])}"
    return [
        middle,
        between,
        runs,
        printable(job["job"], 40),
        printable(job["owner"] or job["account"] or UNKNOWN, 40),
        printable(job["name"] or UNKNOWN, 40),
        UNKNOWN if job["request_cpus"] is None else f"{job['request_cpus']:,}",
        printable(one.blocked or job["reason"] or "", 80),
    ]
