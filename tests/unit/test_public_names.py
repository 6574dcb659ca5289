"""Every module says what is public in it: all of that is there, and nothing public is left out."""

import ast
from pathlib import Path

import pytest

import jobsight

ROOT = Path(jobsight.__file__).parent
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))
COMMANDS = ("cli/", "service/web/api", "service/web/pages")
"""Functions there are public to their decorator: they are verbs and routes."""


def defined(tree: ast.Module) -> set[str]:
    """Names that a module has at its top, those under TYPE_CHECKING too."""
    names: set[str] = set()
    for found in ast.walk(tree):
        if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(found.name)
        elif isinstance(found, ast.ImportFrom | ast.Import):
            names |= {(one.asname or one.name).partition(".")[0] for one in found.names}
        elif isinstance(found, ast.Name) and isinstance(found.ctx, ast.Store):
            names.add(found.id)
    return names


def exported(tree: ast.Module) -> list[str] | None:
    """The module's ``__all__``; None: it has none."""
    for found in tree.body:
        if isinstance(found, ast.Assign) and ast.unparse(found.targets[0]) == "__all__":
            return list(ast.literal_eval(found.value))
    return None


@pytest.mark.parametrize("name", MODULES)
def test_what_is_public_is_told(name: str) -> None:
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
    names = exported(tree)
    public = {
        found.name
        for found in tree.body
        if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not found.name.startswith("_")
    }
    if names is None:
        assert not public
        return
    assert len(set(names)) == len(names)
    assert set(names) <= defined(tree)
    if not name.startswith(COMMANDS):
        assert public <= set(names)
