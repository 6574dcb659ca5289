"""No circle of files: what imports a file is never imported by it, not for types or late either."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import jobsight

ROOT = Path(jobsight.__file__).parent


def imports(file: Path, modules: dict[str, Path]) -> Iterator[Path]:
    """The files of the package that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in modules else node.module for name in inside]
        yield from (modules[name] for name in names if name in modules)


def test_no_files_import_each_other_in_a_circle() -> None:
    modules = {}
    for file in ROOT.rglob("*.py"):
        parts = ("jobsight", *file.relative_to(ROOT).with_suffix("").parts)
        modules[".".join(part for part in parts if part != "__init__")] = file
    graph = {file: set(imports(file, modules)) - {file} for file in modules.values()}
    assert sum(map(len, graph.values())) > 1000
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = " -> ".join(str(file.relative_to(ROOT)) for file in error.args[1])
        pytest.fail(f"these files import each other: {circle}")
