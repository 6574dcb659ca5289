"""The normalized tree of a program: flat arrays in preorder, and the names apart from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Endless", "File", "Tree"]


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
