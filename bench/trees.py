"""Trees of programs with their features, next to the same counts over Python's own ``ast``."""

from __future__ import annotations

import ast
import sysconfig
from collections import Counter
from pathlib import Path
from typing import Any

from bench.measure import Section, isolated, median, spread, timed

__all__ = ["run"]

_MOST_BYTES = 3_000_000
_RUNS = 5


def _sources() -> list[tuple[Path, str]]:
    """Modules of Python's library, largest first, up to `_MOST_BYTES`."""
    library = Path(sysconfig.get_paths()["stdlib"])
    found, total = [], 0
    for path in sorted(library.glob("*.py"), key=lambda one: (-one.stat().st_size, one.name)):
        text = path.read_text("utf-8")
        if total + len(text) <= _MOST_BYTES:
            found.append((path, text))
            total += len(text)
    return found


class _Features(ast.NodeVisitor):
    """What the features count, over an ``ast``: kinds, nesting, calls by resolved name."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, int]] = Counter()
        self.aliases: dict[str, str] = {}
        self.names: Counter[str] = Counter()
        self.depth = 0

    def generic_visit(self, node: ast.AST) -> None:
        self.counts[type(node).__name__, self.depth] += 1
        loop = isinstance(node, ast.For | ast.While | ast.comprehension)
        self.depth += loop
        super().generic_visit(node)
        self.depth -= loop

    def visit_Import(self, node: ast.Import) -> None:
        for one in node.names:
            self.aliases[one.asname or one.name.partition(".")[0]] = one.name

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for one in node.names:
            self.aliases[one.asname or one.name] = f"{node.module}.{one.name}"

    def visit_Call(self, node: ast.Call) -> None:
        parts: list[str] = []
        at: ast.AST = node.func
        while isinstance(at, ast.Attribute):
            parts.append(at.attr)
            at = at.value
        if isinstance(at, ast.Name):
            parts.append(self.aliases.get(at.id, at.id))
        self.names[".".join(reversed(parts))] += 1
        self.generic_visit(node)


def by_ast(runs: int) -> dict[str, Any]:
    """Parse with ``ast`` and count."""
    sources = [text for _, text in _sources()]

    def work() -> None:
        for text in sources:
            _Features().visit(ast.parse(text))

    return {**timed(work, runs), "files": len(sources), "bytes": sum(map(len, sources))}


def by_tree(runs: int) -> dict[str, Any]:
    """Read trees and make all features."""
    from jobsight.program.tree import features_of, read_text

    sources = _sources()

    def work() -> None:
        for path, text in sources:
            features_of(read_text(text, path.name, language="python", folder="/nonexistent"))

    return {**timed(work, runs), "files": len(sources), "bytes": sum(len(t) for _, t in sources)}


def run() -> Section:
    """The benchmark."""
    section = Section("Trees of programs")
    section.say(
        "Modules of Python's own library, read one after another on one core: the normalized tree "
        "with all features, next to Python's `ast` with a visitor that counts kinds of nodes by "
        "loop depth and resolves called names. The aim is twice the speed of `ast`."
    )
    rows, speeds = [], []
    for name, work in (("`ast`", "by_ast"), ("tree and features", "by_tree")):
        found = isolated(f"bench.trees:{work}", cores=1, runs=_RUNS)
        seconds = median(found["cpu"])
        speeds.append(found["bytes"] / seconds)
        rows.append([name, f"{found['files'] / seconds:.0f}", f"{speeds[-1] / 1e6:.2f}",
                     spread(found["cpu"])])  # fmt: skip
    section.table(["read by", "files/s", "MB/s", "spread"], rows)
    section.say(f"Tree and features: {speeds[1] / speeds[0]:.1f} times the speed of `ast`.")
    return section
