"""The normalized tree of a program: flat arrays in preorder, and the names apart from them.

`Growing` is the tree while it is built, without numpy, `Tree` the finished one.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Endless", "File", "Growing", "Tree"]


@dataclass(frozen=True)
class Endless:
    """Where a program does not end by itself, and why.

    Attributes:
        node: in the tree.
        file: of the text.
        line: of it, from 1.
        reason: a sentence without its full stop.
        server: it serves or asks, rather than loops.
    """

    node: int
    file: str
    line: int
    reason: str
    server: bool


@dataclass(frozen=True)
class File:
    """A text in a tree.

    Attributes:
        name: of the file that it is in; a here-document and ``python -c`` have that of the script.
        language: its language.
        node: its node.
        broken: places that the grammar could not take.
        lines: its number of lines.
    """

    name: str
    language: str
    node: int
    broken: int = 0
    lines: int = 0


@dataclass(frozen=True, eq=False)
class Tree:
    """A program with the programs that it runs; node 0 is its file.

    All arrays have one entry per node, in preorder: the nodes within node i are i + 1 … end[i] - 1.

    Attributes:
        kind: u8, position in `KINDS`.
        role: u8, position in `ROLES`: what the node is to its parent.
        effect: u8, position in `EFFECTS`; not 0 for calls alone, and what acts as a call does.
        parent: i32, -1 for node 0.
        end: i32, the node behind the last one within.
        depth: u8, loops around it that repeat, also those around the calls of its function.
        lexical: u8, loops around it in its own function.
        size: u8, of what has a constant value, or probably that: 1 + log2 of it (1 for 1, 11 for
            1024); of a loop, of its bounds; of an allocation, of its elements; 0: unknown.
        runs: f32, log2 of how often it runs: a loop repeats as often as its bounds say, else 32
            times.
        reached: whether the program gets there by calls from where it starts.
        line: i32, from 1.
        file: u16, position in `files`.
        files: texts.
        imports: names that imports bring, in order.
        calls: resolved names of calls by node; names of own functions too.
        functions: names of functions by node.
        names: other names by node, as written.
        endless: why it does not end by itself, in order; empty: it is a job.
        problems: what bounds or cycles left out, as sentences.
    """

    kind: NDArray[np.uint8]
    role: NDArray[np.uint8]
    effect: NDArray[np.uint8]
    parent: NDArray[np.int32]
    end: NDArray[np.int32]
    depth: NDArray[np.uint8]
    lexical: NDArray[np.uint8]
    size: NDArray[np.uint8]
    runs: NDArray[np.float32]
    reached: NDArray[np.bool_]
    line: NDArray[np.int32]
    file: NDArray[np.uint16]
    files: tuple[File, ...]
    imports: tuple[str, ...]
    calls: dict[int, str]
    functions: dict[int, str]
    names: dict[int, str]
    endless: tuple[Endless, ...] = ()
    problems: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def language(self) -> str:
        """Of the program itself."""
        return self.files[0].language

    def place(self, node: int) -> tuple[str, int]:
        """File and line of a node."""
        return self.files[self.file[node]].name, int(self.line[node])


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
