"""Sets of jobs as ranges of ids, and as constraints that a schedd evaluates quickly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

__all__ = ["Job", "Range", "constraints", "ranges"]

Job = tuple[int, int]
"""Cluster and proc."""

RANGES = 300
"""Ranges of one constraint: 15 kB of the 128 kB that Linux allows in one argument."""


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
    """Expressions that are true of these jobs alone, each of at most so many ranges, with these.

    Each begins with the bounds of its clusters: a schedd evaluates an expression for every job of
    the queue, and leaves most of them at that.
    """
    found = ranges(jobs)
    for begin in range(0, len(found), most):
        part = found[begin : begin + most]
        terms = " || ".join(map(_term, part))
        first, last = part[0].cluster, part[-1].cluster
        yield part, f"ClusterId >= {first} && ClusterId <= {last} && ({terms})"


def _term(jobs: Range) -> str:
    if jobs.first == jobs.last:
        return f"(ClusterId == {jobs.cluster} && ProcId == {jobs.first})"
    return f"(ClusterId == {jobs.cluster} && ProcId >= {jobs.first} && ProcId <= {jobs.last})"
