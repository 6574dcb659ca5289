"""Files that a Python program opens or writes under names that its text gives."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

__all__ = [
    "OPENERS",
    "RUNS",
    "Opened",
    "dotted",
    "mode_of",
    "opened_in",
    "path_in",
    "running_in",
    "writings",
]

OPENERS = frozenset({"open", "io.open", "gzip.open", "bz2.open", "lzma.open", "tarfile.open",
                     "zipfile.ZipFile"})  # fmt: skip
RUNS = frozenset(
    f"subprocess.{one}" for one in ("run", "call", "check_call", "check_output", "Popen")
)
"""Calls that start a program."""
_METHODS = {"read_text": "r", "read_bytes": "r", "write_text": "w", "write_bytes": "w"}
_SAVES = re.compile(
    r".+\.(?:to_(?:csv|parquet|pickle|json|excel|netcdf|feather|hdf)|savefig)"
    r"|(?:np|numpy)\.(?:save\w*)|(?:plt|pyplot)\.imsave"
)
"""Calls whose first argument is a file, and that make no folder for it."""
_WRITES = re.compile(
    r"\b(?:savefig|to_\w+|save\w*|dump|write\w*|mkdir|makedirs|copy\w*|move|rename|subprocess|system|popen"
    r"|check_call|check_output|Popen|touch|\w*extract\w*|unpack\w*|urlretrieve|\w*download\w*|symlink\w*"
    r"|mkdtemp|make_archive|File)\b"
)  # fmt: skip
_HARMLESS = re.compile(
    r"\.write(?:row|rows|lines|header)?\(|\b(?:json|pickle|yaml)\.dump\(|\bcsv\.\w*[wW]riter\b"
    r"|\bwriter\b|\.copy\(\)"
)
"""What writes to a file that is open already."""
_SAID = re.compile(r"^[ \t]*(\"{3}|'{3}).*?\1|(?:^|(?<=\s))#\s[^\n]*", re.M | re.S)
"""Docstrings and comments."""


class Opened(NamedTuple):
    """A file that is opened or written by name; what is not known of the name is ``{}``."""

    path: str
    mode: str
    node: ast.Call
    """Where."""
    sure: bool
    """It is opened whenever the program runs, and nothing catches the failure."""
    name: str = ""
    """The variable that has the name."""


def dotted(node: ast.AST) -> str:
    """``os.path.join`` of such an expression, "" of any other."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        front = dotted(node.value)
        return f"{front}.{node.attr}" if front else ""
    return ""


def path_in(node: ast.AST | None, values: Mapping[str, ast.expr], deep: int = 0) -> str | None:
    """The path that an expression is; None: it is none, or unknown from its beginning."""
    if deep > 10 or node is None:
        return None
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Name | ast.Attribute) and (name := dotted(node)) in values:
        return path_in(values[name], values, deep + 1)
    parts: list[ast.expr] = []
    added = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)
    if isinstance(node, ast.JoinedStr) or added:
        together = [node.left, node.right] if isinstance(node, ast.BinOp) else node.values  # type: ignore[attr-defined]
        inner = (one.value if isinstance(one, ast.FormattedValue) else one for one in together)
        texts = [path_in(one, values, deep + 1) for one in inner]
        known = "".join("{}" if one is None else one for one in texts)
        return known if texts[:1] != [None] else None
    upper = isinstance(node, ast.Attribute) and node.attr == "parent"
    if upper or (isinstance(node, ast.Call) and dotted(node.func) == "os.path.dirname"):
        inside = node.value if isinstance(node, ast.Attribute) else next(iter(node.args), None)  # type: ignore[attr-defined]
        below = path_in(inside, values, deep + 1)
        return below.rpartition("/")[0] or None if below else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        called = node.func.attr
        if called in ("resolve", "absolute") and not node.args:
            return path_in(node.func.value, values, deep + 1)
        if called in ("abspath", "realpath") and len(node.args) == 1:
            return path_in(node.args[0], values, deep + 1)
    if isinstance(node, ast.Call) and dotted(node.func) in (
        "Path", "pathlib.Path", "os.path.join", "str"
    ):  # fmt: skip
        parts = node.args
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        parts = [node.left, node.right]
    found = [path_in(one, values, deep + 1) for one in parts]
    if not found or found[0] is None:
        return None
    return "/".join("{}" if one is None else one for one in found)


def opened_in(
    calls: Sequence[tuple[str, ast.Call, tuple[ast.AST, ...]]], values: Mapping[str, ast.expr],
    running: frozenset[str],
) -> Iterator[Opened]:  # fmt: skip
    """The files of calls, each with the nodes around it; `running`: functions that surely run."""
    for name, call, around in calls:
        reads = name.rpartition(".")[2].startswith(("read_", "load", "genfromtxt"))
        reads = reads and name.count(".") == 1
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        first: ast.expr | None = call.args[0] if call.args else None
        mode = "r"
        if name in OPENERS:
            mode = mode_of(call, 1)
        elif _SAVES.fullmatch(name):
            mode = "w"
        elif isinstance(call.func, ast.Attribute) and (
            method in _METHODS or (method == "open" and path_in(call.func.value, values))
        ):
            first, mode = call.func.value, _METHODS.get(method) or mode_of(call, 0)
            if isinstance(first, ast.Constant):
                continue
        elif not reads:
            continue
        path = path_in(first, values)
        sure = _surely(call, around, running)
        if path is not None:
            yield Opened(path, mode, call, sure, dotted(first or call))
            continue
        for given, caller, where in _passed(first, around, calls):
            if (path := path_in(given, values)) is not None:
                both = sure and _surely(caller, where, running)
                yield Opened(path, mode, caller, both, dotted(given))


def _passed(
    node: ast.expr | None, around: tuple[ast.AST, ...],
    calls: Sequence[tuple[str, ast.Call, tuple[ast.AST, ...]]],
) -> Iterator[tuple[ast.expr, ast.Call, tuple[ast.AST, ...]]]:  # fmt: skip
    """What calls of the function around a node give the parameter that the node is."""
    function = next((one for one in reversed(around) if isinstance(one, ast.FunctionDef)), None)
    names = [one.arg for one in function.args.args] if function is not None else []
    if function is None or not isinstance(node, ast.Name) or node.id not in names:
        return
    at = names.index(node.id)
    for name, call, where in calls:
        if name == function.name and len(call.args) > at:
            yield call.args[at], call, where


def mode_of(call: ast.Call, at: int) -> str:
    """How a call opens a file, by its argument number `at` or by name; ``?``: not known."""
    given = call.args[at] if len(call.args) > at else next(
        (one.value for one in call.keywords if one.arg == "mode"), ast.Constant("r")
    )  # fmt: skip
    return str(given.value) if isinstance(given, ast.Constant) else "?"


_MAY_NOT = (ast.Try, ast.Lambda, ast.IfExp, ast.While, ast.AsyncFunctionDef, ast.ClassDef)


def _surely(node: ast.AST, around: tuple[ast.AST, ...], running: frozenset[str]) -> bool:
    """Whether a node is reached whenever the program runs."""
    for one in around:
        guard = isinstance(one, ast.If) and "__name__" in ast.dump(one.test)
        if isinstance(one, _MAY_NOT) or (isinstance(one, ast.If | ast.BoolOp) and not guard):
            return False
        if isinstance(one, ast.FunctionDef) and (one.name not in running or _leaves(one, node)):
            return False
    return True


def _leaves(function: ast.FunctionDef, node: ast.AST) -> bool:
    """Whether a function may end before a node in it."""
    return any(
        isinstance(one, ast.Return | ast.Yield | ast.YieldFrom)
        and one.lineno < getattr(node, "lineno", 0)
        for one in ast.walk(function)
    )


def running_in(
    calls: Sequence[tuple[str, ast.Call, tuple[ast.AST, ...]]], stores: Counter[str]
) -> frozenset[str]:
    """Functions that are called whenever the program runs."""
    found: frozenset[str] = frozenset()
    while True:
        more = frozenset(
            name for name, call, around in calls
            if stores[name] == 1 and _surely(call, around, found)
        )  # fmt: skip
        if more <= found:
            return found
        found |= more


def writings(text: str) -> int:
    """How many places of a text may write files, besides what `open` opens."""
    return len(_WRITES.findall(_HARMLESS.sub("(", _SAID.sub("", text))))
