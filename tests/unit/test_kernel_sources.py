"""Machine code that is kept is found again by all sources that it was compiled from."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import jobsight
from jobsight import kernelcache

HOME = Path(jobsight.__file__).parent
DECORATORS = {"kernel", "helper"}


class Recorder:
    """In place of a hash: what it is given."""

    def __init__(self) -> None:
        self.texts: list[bytes] = []

    def update(self, text: bytes) -> None:
        self.texts.append(text)

    def hexdigest(self) -> str:
        return hashlib.sha1(b"".join(self.texts), usedforsecurity=False).hexdigest()


def file_of(module: str, name: str) -> Path:
    """The source of what ``from module import name`` gives."""
    place = HOME.parent / module.replace(".", "/")
    candidates = (place / f"{name}.py", place.with_suffix(".py"), place / "__init__.py")
    return next(one for one in candidates if one.exists())


def used_by_kernels(tree: ast.Module) -> Iterator[Path]:
    """Sources of Jobsight that kernels of a module take names from."""
    imported = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("jobsight")
        for alias in node.names
    }
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and DECORATORS.intersection(
            one.id for one in function.decorator_list if isinstance(one, ast.Name)
        ):
            for node in (node for line in function.body for node in ast.walk(line)):
                if isinstance(node, ast.Name) and node.id in imported:
                    module, name = imported[node.id]
                    assert module is not None
                    yield file_of(module, name)


def test_whatever_kernels_are_compiled_from_is_in_the_name_of_their_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hashed = Recorder()
    monkeypatch.setattr(hashlib, "sha256", lambda: hashed)
    kernelcache.sources.__wrapped__()
    own = [path for path in HOME.rglob("*.py") if b"jobsight.jit import" in path.read_bytes()]
    used = {file for path in own for file in used_by_kernels(ast.parse(path.read_bytes()))}
    assert len(used) > 5
    missing = [path for path in {*own, *used} if path.read_bytes() not in hashed.texts]
    assert [path.relative_to(HOME) for path in missing] == []
    checks = [path.read_bytes() for path in (HOME / "program" / "preflight").rglob("*.py")]
    assert not any(text in hashed.texts for text in checks if b"numba" in text), "no kernels there"
