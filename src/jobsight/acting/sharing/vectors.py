"""What part of a node's shared resources a job will use, with the source of each number.

A job that waits for the disk for 60 % of its time uses 60 % of it: while one process waits, a disk
that serves it alone is busy. So it is with the network. Of memory bandwidth one CPU has a part: a
few CPUs use all that a node has (`Node.saturating`). A CPU token counts where CPUs are shared.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jobsight.documents import JobDocument
from jobsight.history.past import NUMBERS
from jobsight.program.profile import LEAST_SECONDS

__all__ = [
    "RESOURCES",
    "Key",
    "Kind",
    "Node",
    "Vector",
    "key_of",
    "of_node",
    "of_runs",
    "of_time",
    "unfit",
    "vectors",
]

RESOURCES = {"cpu": "cpu", "membw": "memory", "diskbw": "io", "netbw": "network"}
"""Tokens, and the class of `jobsight.program.profile.CLASSES` that each counts."""
TOKENS = 100
"""Of a node, each."""
_STEP = 5
_LEAST = 10
"""Fewer tokens are none: such a job disturbs no other."""
_QUANTILE = 0.8
_ENOUGH = 3
"""Measured runs that are trusted; fewer are not."""
_RUNS = 20
"""The newest runs of a name that count."""
_AT_ONCE = re.compile(
    r"\b(?:srun|mpirun|mpiexec)\b[^\n]*[^&|>\n]&[ \t]*(?:#[^\n]*)?$"
    r"|\b(?:xargs|parallel)\b[^\n]*\bsrun\b",
    re.M,
)
"""Steps that run at once. Where the script is unknown nothing speaks against it."""


class Key(NamedTuple):
    """Jobs that do the same: of a user, with the same name but for its digits."""

    user: str
    name: str


class Node(NamedTuple):
    """A kind of node.

    Attributes:
        cpus: of a node.
        saturating: CPUs that, moving data through memory all the time, use all its bandwidth.
        disk_mb_s: what its disk moves, in MB per second; None: not measured.
    """

    cpus: int
    saturating: float
    disk_mb_s: float | None = None


class Vector(NamedTuple):
    """The part of a node's resources that a job uses, by the names of `RESOURCES`.

    Attributes:
        shares: 0 to 1; a resource that is missing is not known.
        source: what they rest on, in words.
    """

    shares: Mapping[str, float]
    source: str

    def tokens(self) -> dict[str, int]:
        """Tokens of 100 a node, in steps of 5, rounded up; few are left out."""
        counts = {
            name: min(math.ceil(round(TOKENS * share / _STEP, 6)) * _STEP, TOKENS)
            for name, share in self.shares.items()
        }
        return {name: count for name, count in counts.items() if count >= _LEAST}


class Kind(NamedTuple):
    """What is known of jobs that do the same.

    Attributes:
        vector: None: they get no tokens.
        why: what the vector rests on, or why there is none.
        jobs: of the history.
    """

    vector: Vector | None
    why: str
    jobs: int

    def tokens(self) -> dict[str, int]:
        """See `Vector.tokens`."""
        return {} if self.vector is None else self.vector.tokens()


def key_of(user: str, name: str) -> Key:
    """The key of a job; as the policy's Lua makes it."""
    return Key(user, re.sub(NUMBERS, "#", name))


def unfit(document: JobDocument) -> str | None:
    """Why a job gets no tokens, in words; None: it may have some.

    All steps of a job hold its tokens one after another, and how many it uses of each node is
    known only if its tasks are spread in a fixed way.
    """
    asked, submitted = document.request, document.submission
    nodes = asked.nodes or document.usage.nodes
    if nodes is None or nodes > 1:
        options = " ".join((*(submitted.directives or ()), submitted.line or ""))
        if "--ntasks-per-node" not in options:
            return "its tasks are not spread over nodes in a fixed way"
    if submitted.script is not None and _AT_ONCE.search(submitted.script.replace("\\\n", " ")):
        return "it starts several steps at once"
    return None


def of_runs(documents: Sequence[JobDocument], node: Node) -> Vector | None:
    """The vector that runs of a key were measured to have; None: too few were.

    The 80 % quantile: a job that uses less than its tokens disturbs no other.
    """
    measured: dict[str, list[float]] = defaultdict(list)
    for document in documents[:_RUNS]:
        for name, share in _of_run(document, node).items():
            measured[name].append(share)
    shares = {
        name: float(np.quantile(values, _QUANTILE))
        for name, values in measured.items()
        if len(values) >= _ENOUGH
    }
    runs = max((len(measured[name]) for name in shares), default=0)
    return Vector(shares, f"measured, {runs} runs") if shares else None


def _of_run(document: JobDocument, node: Node) -> dict[str, float]:
    used = document.usage
    cpus = _cpus_of_node(document)
    if used.bound is not None:
        return of_node(of_time(used.bound.get("shares")), cpus, node)
    if used.wall_s is None or used.wall_s < LEAST_SECONDS:
        return {}
    found = {}
    if used.cpu_s is not None and (used.nodes or 1) == 1:
        found["cpu"] = min(used.cpu_s / used.wall_s / node.cpus, 1.0)
    moved = (used.read_mb or 0.0) + (used.written_mb or 0.0)
    if node.disk_mb_s and (used.read_mb is not None or used.written_mb is not None):
        found["diskbw"] = min(moved / (used.nodes or 1) / used.wall_s / node.disk_mb_s, 1.0)
    return found


def of_time(by_class: Any) -> dict[str, float]:
    """Shares of a run's time by resource, from those by class: JSON of any form.

    A program that waits for memory keeps its CPU busy all the same.
    """
    found = by_class if isinstance(by_class, Mapping) else {}
    known = {
        kind: float(share)
        for kind, share in found.items()
        if type(share) in (int, float) and 0 <= share <= 1
    }
    shares = {name: known[kind] for name, kind in RESOURCES.items() if kind in known}
    if "cpu" in shares:
        shares["cpu"] = min(shares["cpu"] + shares.get("membw", 0.0), 1.0)
    return shares


def _cpus_of_node(document: JobDocument) -> int:
    cpus, nodes = document.usage.cpus or document.request.cpus or 1, document.usage.nodes or 1
    return max(cpus // max(nodes, 1), 1)


def of_node(shares: Mapping[str, float], cpus: int, node: Node) -> dict[str, float]:
    """Shares of the time of a run on so many CPUs, as shares of a node's resources."""
    scale = {"cpu": cpus / node.cpus, "membw": cpus / node.saturating}
    return {name: min(share * scale.get(name, 1.0), 1.0) for name, share in shares.items()}


def vectors(
    documents: Iterable[JobDocument],
    node: Node,
    judge: Callable[[JobDocument], tuple[Mapping[str, float], str] | None],
) -> dict[Key, Kind]:
    """The kinds of job of a history, those with the most jobs first.

    Args:
        documents: of jobs, the newest first.
        node: of the cluster.
        judge: the shares of time that the script of a job will have, by class, with what said
            so; None: unsure, or there is no script.
    """
    newest: dict[Key, JobDocument] = {}
    ended: dict[Key, list[JobDocument]] = defaultdict(list)
    counts: Counter[Key] = Counter()
    for document in documents:
        job = document.submission
        name = job.name or job.command
        if not (job.user and name):
            continue
        key = key_of(job.user, name)
        counts[key] += 1
        newest.setdefault(key, document)
        if document.state is not None and document.state.ended and len(ended[key]) < _RUNS:
            ended[key].append(document)
    found = {}
    for key, first in newest.items():
        why = unfit(first)
        vector = None
        if why is None:
            vector = _joined(of_runs(ended[key], node), _of_script(first, node, judge))
            why = "nothing was measured, and its script says too little"
        found[key] = Kind(vector, why if vector is None else vector.source, counts[key])
    return dict(sorted(found.items(), key=lambda pair: -pair[1].jobs))


def _joined(measured: Vector | None, said: Vector | None) -> Vector | None:
    """What was measured, and of the resources that were not, what the script says."""
    if measured is None or said is None:
        return measured or said
    rest = {name: share for name, share in said.shares.items() if name not in measured.shares}
    if not rest:
        return measured
    source = f"{measured.source}; {', '.join(rest)}: {said.source}"
    return Vector({**rest, **measured.shares}, source)


def _of_script(
    document: JobDocument,
    node: Node,
    judge: Callable[[JobDocument], tuple[Mapping[str, float], str] | None],
) -> Vector | None:
    said = judge(document)
    if said is None:
        return None
    by_class, model = said
    return Vector(
        of_node(of_time(by_class), _cpus_of_node(document), node), f"its script, by {model}"
    )
