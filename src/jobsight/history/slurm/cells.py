"""The values of one row of sacct's, by column: each read as what the column holds."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypedDict, TypeVar

from jobsight.clock import likeliest
from jobsight.history.slurm.ids import SlurmId, parse_id
from jobsight.history.slurm.sizes import parse_memory, parse_number, parse_tres
from jobsight.history.slurm.times import parse_minutes, parse_span, parse_time

__all__ = ["Cells", "parse_exit"]

_NO_HOST = frozenset({"", "none assigned", "(null)", "none", "n/a"})
_MOMENTS = ("submit", "eligible", "start", "end")
_Value = TypeVar("_Value")


class _Times(TypedDict):
    submit: int | None
    eligible: int | None
    start: int | None
    end: int | None
    unfinished: bool
    elapsed_s: float | None
    time_limit_s: float | None
    cpu_s: float | None


class _Amounts(TypedDict):
    priority: int | None
    req_cpus: int | None
    req_nodes: int | None
    alloc_cpus: int | None
    alloc_nodes: int | None
    restarts: int | None
    energy_j: int | None


def parse_exit(text: str) -> tuple[int, int] | None:
    """Exit code and signal of ``0:15``; None where the text is not that."""
    code, colon, signal = text.partition(":")
    if colon and code.isdecimal() and signal.isdecimal() and len(code) < 10 > len(signal):
        return int(code), int(signal)
    return None


@lru_cache(64)
def _lowered(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.lower() for name in names)


class Cells:
    """One row's values by lower-case column name; "" and None where there is no such column.

    Each method raises ValueError, naming the column, where a value cannot be understood.
    """

    def __init__(self, row: Mapping[str, str], zone: dt.tzinfo) -> None:
        names = _lowered(tuple(row))
        self._row: dict[str, str] = dict(zip(names, map(str.strip, row.values()), strict=True))
        self._zone = zone

    def text(self, name: str) -> str:
        """The value, without blanks around it."""
        return self._row.get(name, "")

    def plain(self, name: str) -> str:
        """The value, "" where it is one of the words for none."""
        text = self.text(name)
        return "" if text.lower() in ("none", "(null)", "unknown") else text

    def host(self, name: str) -> str:
        """A list of nodes, "" where there is none."""
        text = self.text(name)
        return "" if text.lower() in _NO_HOST else text

    def id(self) -> SlurmId:
        """The id of the job or step."""
        return parse_id(self.text("jobid") or self.text("jobidraw"))

    def tres(self, name: str) -> str:
        """A list of resources, as it stands."""
        text = self.text(name)
        self._checked(name, parse_tres)
        return text

    def exit(self, name: str) -> tuple[int, int] | None:
        """Exit code and signal."""
        return parse_exit(self.text(name))

    def memory(self, name: str) -> tuple[int, str | None] | None:
        """Bytes, and what each of these is meant for."""
        found = self._checked(name, parse_memory)
        return None if found is None else (found.size, found.per)

    def bytes(self, name: str) -> int | None:
        """A count, or an amount in bytes."""
        return self._checked(name, parse_number)

    def span(self, name: str) -> float | None:
        """Seconds."""
        return self._checked(name, parse_span)

    def times(self) -> _Times:
        """The moments and spans of a run."""
        raw = self._checked("elapsedraw", parse_number)
        elapsed = self.span("elapsed") if raw is None else float(raw)
        minutes = self._checked("timelimitraw", parse_minutes)
        submit, eligible, start, end = self._moments(elapsed)
        return {
            "submit": submit,
            "eligible": eligible,
            "start": start,
            "end": end,
            "unfinished": end is None and "end" in self._row,
            "elapsed_s": elapsed,
            "time_limit_s": self.span("timelimit") if minutes is None else minutes,
            "cpu_s": self.span("totalcpu"),
        }

    def _moments(self, elapsed: float | None) -> tuple[int | None, ...]:
        """Submission, eligibility, start and end, also across the hour that is shown twice."""
        return likeliest(
            [self._time(name) for name in _MOMENTS],
            lambda: [self._time(name, again=True) for name in _MOMENTS],
            elapsed,
        )

    def amounts(self) -> _Amounts:
        """The counts of a run."""
        return {
            "priority": self.bytes("priority"),
            "req_cpus": self.bytes("reqcpus"),
            "req_nodes": self.bytes("reqnodes"),
            "alloc_cpus": self._either("alloccpus", "ncpus"),
            "alloc_nodes": self._either("allocnodes", "nnodes"),
            "restarts": self.bytes("restarts"),
            "energy_j": self.bytes("consumedenergyraw"),
        }

    def _either(self, name: str, older: str) -> int | None:
        found = self.bytes(name)
        return self.bytes(older) if found is None else found

    def _time(self, name: str, *, again: bool = False) -> int | None:
        return self._checked(name, lambda text: parse_time(text, self._zone, again=again))

    def _checked(self, name: str, parse: Callable[[str], _Value]) -> _Value | None:
        text = self._row.get(name)
        if not text:
            return None
        try:
            return parse(text)
        except ValueError as error:
            raise ValueError(f"column {name}: {error}") from None
