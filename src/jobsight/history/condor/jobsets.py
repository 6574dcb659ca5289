"""Sets of jobs as ranges of ids, and as constraints that a schedd evaluates quickly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

__all__ = ["Job", "Range", "constraints", "ranges"]

Job = tuple[int, int]
"""Cluster and proc."""

RANGES = 150
"""Ranges of one constraint: at most 6 kB; what takes a schedd long is stopped."""


class Range(NamedTuple):
    """The jobs of a cluster from one proc to another; as text ``12.0-399``, or ``12.3``."""

    cluster: int
    first: int
    last: int

    def __str__(self) -> str:
        end = f"-{self.last}" if self.last > self.first else ""
        return f"{self.cluster}.{self.first}{end}"


def ranges(jobs: Iterable[Job]) -> list[Range]:
    """The fewest ranges that hold these jobs and no other, in order."""
    found: list[Range] = []
    for cluster, proc in sorted(set(jobs)):
        if found and found[-1].cluster == cluster and found[-1].last == proc - 1:
            found[-1] = found[-1]._replace(last=proc)
        else:
            found.append(Range(cluster, proc, proc))
    return found


def constraints(jobs: Iterable[Job], most: int = RANGES) -> Iterator[tuple[Sequence[Range], str]]:
    """Expressions in parentheses, true of these jobs alone: at most so many ranges each, and these.

    HTCondor 23.9 takes about 3 ns per character of an expression, job of the queue and attribute
    that is set, even where the expression ends early. So equal procs of clusters are written once,
    and single ones as a list.
    """
    found = ranges(jobs)
    for begin in range(0, len(found), most):
        part = found[begin : begin + most]
        procs: dict[int, list[tuple[int, int]]] = {}
        for cluster, first, last in part:
            procs.setdefault(cluster, []).append((first, last))
        clusters: dict[tuple[tuple[int, int], ...], list[int]] = {}
        for cluster, spans in procs.items():
            clusters.setdefault(tuple(spans), []).append(cluster)
        terms = (
            f"{_among('ClusterId', same)} && ({_within(spans)})" for spans, same in clusters.items()
        )
        yield part, f"({' || '.join(terms)})"


def _within(spans: Sequence[tuple[int, int]]) -> str:
    singles = [first for first, last in spans if first == last]
    terms = [f"ProcId >= {first} && ProcId <= {last}" for first, last in spans if first < last]
    return " || ".join(terms + ([_among("ProcId", singles)] if singles else []))


def _among(name: str, values: Sequence[int]) -> str:
    if len(values) == 1:
        return f"{name} == {values[0]}"
    return f"member({name}, {{{','.join(map(str, values))}}})"
