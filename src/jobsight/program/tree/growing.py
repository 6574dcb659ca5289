"""The arrays of a tree while it grows."""

from __future__ import annotations

from dataclasses import dataclass, field

from jobsight.program.tree.normalized import File

__all__ = ["Growing"]


@dataclass
class Growing:
    """The arrays of a tree while it grows, one entry per node."""

    kind: list[int] = field(default_factory=list)
    role: list[int] = field(default_factory=list)
    effect: list[int] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    lexical: list[int] = field(default_factory=list)
    size: list[int] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    file: list[int] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    imports: list[str] = field(default_factory=list)
    calls: dict[int, str] = field(default_factory=dict)
    functions: dict[int, str] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    endless: dict[int, tuple[str, bool]] = field(default_factory=dict)
    aside: set[int] = field(default_factory=set)
    """Commands in the background, or with a time limit."""
    fed: set[int] = field(default_factory=set)
    """Commands whose input is a file or another command's output."""
    full: bool = False

    def add(self, kind: int, role: int, parent: int, line: int, file: int, lexical: int) -> int:
        """Add a node; its number."""
        number = len(self.kind)
        self.kind.append(kind)
        self.role.append(role)
        self.effect.append(0)
        self.parent.append(parent)
        self.end.append(number + 1)
        self.lexical.append(lexical)
        self.size.append(0)
        self.line.append(line)
        self.file.append(file)
        return number

    def drop(self, number: int) -> None:
        """Take back the node that was added last."""
        for one in (self.kind, self.role, self.effect, self.parent, self.end, self.lexical,
                    self.size, self.line, self.file):  # fmt: skip
            del one[number:]
