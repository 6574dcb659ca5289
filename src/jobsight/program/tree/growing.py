"""The arrays of a tree while it grows."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from jobsight.program.tree.normalized import File

__all__ = ["Growing"]


@dataclass
class Growing:
    """The arrays of a tree while it grows, one entry per node."""

    kind: bytearray = field(default_factory=bytearray)
    role: bytearray = field(default_factory=bytearray)
    effect: bytearray = field(default_factory=bytearray)
    parent: array[int] = field(default_factory=lambda: array("i"))
    end: array[int] = field(default_factory=lambda: array("i"))
    lexical: bytearray = field(default_factory=bytearray)
    size: bytearray = field(default_factory=bytearray)
    line: array[int] = field(default_factory=lambda: array("i"))
    file: array[int] = field(default_factory=lambda: array("H"))
    files: list[File] = field(default_factory=list)
    imports: list[str] = field(default_factory=list)
    calls: dict[int, str] = field(default_factory=dict)
    functions: dict[int, str] = field(default_factory=dict)
    classes: dict[int, str] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    endless: dict[int, tuple[str, bool]] = field(default_factory=dict)
    aside: set[int] = field(default_factory=set)
    """Commands in the background, or with a time limit."""
    fed: set[int] = field(default_factory=set)
    """Commands whose input is a file or another command's output."""
    full: bool = False
    count: int = 0
    """Nodes; behind them is room for more."""

    def reserve(self, nodes: int) -> None:
        """Make room for so many nodes more."""
        for one in (self.kind, self.role, self.effect, self.lexical, self.size):
            one.extend(bytes(nodes))
        for numbers in (self.parent, self.end, self.line, self.file):
            numbers.frombytes(bytes(nodes * numbers.itemsize))

    def add(self, kind: int, role: int, parent: int, line: int, file: int, lexical: int) -> int:
        """Add a node; its number."""
        number = self.count
        self.count = number + 1
        if number >= len(self.kind):
            self.reserve(1024)
        self.kind[number] = kind
        self.role[number] = role
        self.effect[number] = 0
        self.parent[number] = parent
        self.end[number] = number + 1
        self.lexical[number] = lexical
        self.size[number] = 0
        self.line[number] = line
        self.file[number] = file
        return number

    def drop(self, number: int) -> None:
        """Take back the node that was added last."""
        self.count = number
