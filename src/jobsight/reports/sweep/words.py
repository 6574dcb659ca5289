"""Runs, shares and amounts in words, for titles under the pointer, tables and captions."""

from __future__ import annotations

from jobsight.clock import format_span
from jobsight.reports.sweep.data import STATUSES, Run, SweepData
from jobsight.reports.sweep.scales import in_words, short
from jobsight.text import printable

__all__ = ["correlation_words", "hours_words", "parameter_words", "run_words"]

_PARAMETERS = 6


def run_words(data: SweepData, run: Run) -> str:
    """A run in a line: number, metric, how it ended, the first of its parameters."""
    value = "" if run.metric is None else f" · {data.metric} {short(run.metric)}"
    return f"run {run.number}{value} · {STATUSES[run.status]}\n{parameter_words(run)}"


def parameter_words(run: Run, most: int = _PARAMETERS) -> str:
    """The first parameters of a run: ``m=14, j=20 …``."""
    shown = [
        f"{printable(name, 24)}={in_words(value, 24)}"
        for name, value in list(run.parameters.items())[:most]
    ]
    return ", ".join(shown) + (" …" if len(run.parameters) > most else "")


def hours_words(seconds: float) -> str:
    """An amount of time: seconds below two minutes, minutes below three hours, then hours."""
    if seconds < 10:
        return f"{short(seconds, 2)} s"
    if seconds < 3 * 3600:
        return format_span(seconds)
    hours = seconds / 3600
    if hours >= 1e6:
        return f"{short(hours, 3)} h"
    return f"{hours:,.{0 if hours > 100 else 1}f} h"


def correlation_words(value: float | None) -> str:
    """Which way a parameter pulls, in words."""
    if value is None:
        return "no order"
    if abs(value) < 0.1:
        return "neither way"
    return f"{'more' if value > 0 else 'less'} is better (ρ = {value:+.2f})"
