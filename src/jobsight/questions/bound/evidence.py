"""Lines of a program that speak for an answer."""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from jobsight.program.tree import EFFECTS, KINDS
from jobsight.questions.bound.effects import CLASS_OF
from jobsight.questions.bound.features import Read

__all__ = ["Line", "evidence_of", "gpu_line", "idles", "not_a_job"]

_MOST = 5
_LOOP = KINDS.index("loop")
_GPU = EFFECTS.index("gpu")
_PAUSES = np.isin(
    EFFECTS, ("listen", "receive", "serve", "watch", "prompt", "sleep", "wait", "queue")
)
_WORDS = {
    "cpu": "computes", "memory": "moves data through memory", "io": "uses the disk",
    "network": "uses the network", "waiting": "waits",
}  # fmt: skip


class Line(TypedDict):
    """A line, and what it speaks for."""

    file: str
    line: int
    what: str


def evidence_of(program: Read, kind: str) -> list[Line]:
    """The lines that speak most for a class: its calls in the deepest loops, then loops for cpu."""
    if program.tree is None:
        return [{"file": program.name, "line": 1, "what": program.problem}]
    tree = program.tree
    nodes = [
        int(node) for node in np.flatnonzero((tree.effect > 0) & tree.reached)
        if CLASS_OF.get(EFFECTS[tree.effect[node]]) == kind
    ]  # fmt: skip
    nodes.sort(key=lambda node: (-int(tree.depth[node]), node))
    lines = {tree.place(node): _said(program, node, kind) for node in reversed(nodes)}
    found = [_line(place, lines[place]) for place in list(lines)[::-1][:_MOST]]
    if kind == "cpu" and not found:
        loops = np.flatnonzero((tree.kind == _LOOP) & tree.reached)
        loops = loops[np.argsort(-tree.depth[loops].astype(int), kind="stable")][:2]
        found = [_line(tree.place(int(node)), "a loop that computes") for node in loops]
    return found


def _said(program: Read, node: int, kind: str) -> str:
    assert program.tree is not None
    name, deep = program.tree.calls.get(node, ""), int(program.tree.depth[node])
    where = {0: "", 1: " in a loop"}.get(deep, f" in {deep} loops")
    call = f"{name}: " if name else ""
    return f"{call}{EFFECTS[program.tree.effect[node]]}{where}; {_WORDS[kind]}"


def _line(place: tuple[str, int], what: str) -> Line:
    return {"file": place[0], "line": place[1], "what": what}


def gpu_line(program: Read) -> Line | None:
    """The first line that works on a GPU; None: there is none."""
    if program.tree is None:
        return None
    nodes = np.flatnonzero((program.tree.effect == _GPU) & program.tree.reached)
    if not len(nodes):
        return None
    name = program.tree.calls.get(int(nodes[0]), "")
    what = f"{name}: works on a GPU, by a rule; unmeasured".removeprefix(": ")
    return _line(program.tree.place(int(nodes[0])), what)


def not_a_job(program: Read) -> Line | None:
    """Why the program does not end by itself; None: it does."""
    if program.tree is None or not program.tree.endless:
        return None
    first = program.tree.endless[0]
    return {"file": first.file, "line": first.line, "what": f"not a job: {first.reason}"}


def idles(program: Read) -> bool:
    """Whether a program that does not end by itself spends its time waiting for others.

    A server, a prompt, or an endless loop in which something waits.
    """
    if program.tree is None or not program.tree.endless:
        return False
    tree, first = program.tree, program.tree.endless[0]
    return first.server or bool(_PAUSES[tree.effect[first.node : tree.end[first.node]]].any())
