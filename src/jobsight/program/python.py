"""A Python program, read and never run: its tree, or why there is none; what it imports and opens.

Python 2 is recognised by what Python 3 refuses (https://docs.python.org/3/howto/pyporting.html).
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from jobsight.program.known import KNOWN
from jobsight.program.pythonpaths import (
    OPENERS,
    Opened,
    dotted,
    mode_of,
    opened_in,
    running_in,
    writings,
)
from jobsight.program.pythonversions import leave_out_python_2
from jobsight.program.submission.job import Place

__all__ = ["Import", "Opened", "PythonError", "PythonText", "catches", "dotted", "within"]

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_MAGIC = frozenset(KNOWN["python"]["magic"].split())
_TWO_NAMES: dict[str, str] = KNOWN["python"]["two_names"]
_TWO_MODULES: dict[str, str] = KNOWN["python"]["two_modules"]
_TWO_FORMS = (
    (re.compile(r"^[ \t]*print\s+(?![=(\[.,+\-*/%:)]|in\b|if\b)\S|^[ \t]*print\s*>>|"
                r";\s*print\s+[\"']"), "print(...)"),
    (re.compile(r"^[ \t]*except\s+[\w.()]+(?:\s*,\s*\w+)?\s*,\s*\w+\s*:"), "except Error as name:"),
    (re.compile(r"^[ \t]*raise\s+\w+\s*,\s*\S"), "raise Error(...)"),
    (re.compile(r"^[ \t]*exec\s+[^(=\s]"), "exec(...)"),
    (re.compile(r"(?<![\w.])0[0-7]+[lL]?\b(?!\.)|\b\d+[lL]\b"), "0o... and integers without L"),
    (re.compile(r"<>"), "!="),
    (re.compile(r"`[^`]+`"), "repr(...)"),
    (re.compile(r"(?<!\w)ur[\"']"), "u\"...\""),
)  # fmt: skip


class PythonError(NamedTuple):
    """Why it does not compile; `two`: it is Python 2, with what to write in Python 3."""

    place: Place
    message: str
    two: str | None


class Import(NamedTuple):
    """An import of a top-level module that must succeed."""

    name: str
    full: str
    node: ast.Import | ast.ImportFrom


def catches(node: ast.AST, around: tuple[ast.AST, ...], *errors: str) -> bool:
    """Whether a ``try`` around a node catches one of the errors, or all."""
    wanted = {"Exception", "BaseException", *errors}
    for one, inner in zip(around, (*around[1:], node), strict=False):
        for handler in one.handlers if isinstance(one, ast.Try) and inner in one.body else ():
            if handler.type is None or wanted & {dotted(n) for n in ast.walk(handler.type)}:
                return True
    return False


def within(nodes: Iterable[ast.AST], *kinds: type[ast.AST]) -> bool:
    """Whether one of some nodes, as of those around another, is of one of these kinds."""
    return any(isinstance(one, kinds) for one in nodes)


class PythonText:
    """A program as Python 3 runs it; `tree` is None where it does not compile or is too deep."""

    def __init__(self, text: str, path: str | None = None) -> None:
        """A text, of the file at a path where it is of one."""
        self.text = text
        self.path = path
        self.tree: ast.Module | None = None
        self.error: PythonError | None = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.tree = ast.parse(text)
                if not re.search(r"^[ \t]*(?:%|!)", text, re.M):
                    compile(self.tree, "script", "exec", dont_inherit=True)
                leave_out_python_2(self.tree)
        except SyntaxError as error:
            self.error = self._explained(error)
        except (RecursionError, MemoryError, ValueError, OverflowError):
            self.tree = None

    def _explained(self, error: SyntaxError) -> PythonError:
        line = max(error.lineno or 1, 1)
        place = Place(line, max(error.offset or 1, 1))
        lines = self.text.split("\n")
        here = lines[line - 1] if line <= len(lines) else ""
        two = next((fix for form, fix in _TWO_FORMS if form.search(here)), None)
        return PythonError(place, error.msg or "invalid syntax", two)

    @cached_property
    def nodes(self) -> list[tuple[ast.AST, tuple[ast.AST, ...]]]:
        """All nodes with the nodes around them, outermost first; at most 200 000."""
        found: list[tuple[ast.AST, tuple[ast.AST, ...]]] = []
        waiting: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(self.tree, ())] if self.tree else []
        while waiting and len(found) < 200_000:
            node, around = waiting.pop()
            found.append((node, around))
            inner = (*around, node)
            waiting += [(one, inner) for one in reversed(list(ast.iter_child_nodes(node)))]
        return found

    @cached_property
    def calls(self) -> list[tuple[str, ast.Call, tuple[ast.AST, ...]]]:
        """Calls by their dotted names."""
        return [(dotted(one.func), one, up) for one, up in self.nodes if isinstance(one, ast.Call)]

    @cached_property
    def stores(self) -> Counter[str]:
        """How often each name is given a value, by assignment, import, definition or argument."""
        found: Counter[str] = Counter()
        for node, _ in self.nodes:
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                found[node.id] += 1
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found[node.name] += 1
            elif isinstance(node, ast.arg):
                found[node.arg] += 1
            elif isinstance(node, ast.alias):
                found[(node.asname or node.name).partition(".")[0]] += 1
        return found

    @cached_property
    def values(self) -> dict[str, ast.expr]:
        """What names are assigned, of those that are set once."""
        return {
            dotted(one.targets[0]): one.value for one, _ in self.nodes
            if isinstance(one, ast.Assign) and self.stores[dotted(one.targets[0])] == 1
        }  # fmt: skip

    @cached_property
    def handles(self) -> frozenset[str]:
        """Names that are open files, and nothing else."""
        bound = [(one.optional_vars, one.context_expr) for node, _ in self.nodes
                 if isinstance(node, ast.With) for one in node.items]  # fmt: skip
        bound += [(ast.Name(name), value) for name, value in self.values.items()]
        return frozenset(
            name.id for name, value in bound
            if isinstance(name, ast.Name) and self.stores[name.id] == 1
            and isinstance(value, ast.Call) and dotted(value.func) == "open"
        )  # fmt: skip

    @cached_property
    def containers(self) -> dict[str, ast.Dict | ast.List | ast.Tuple]:
        """Dictionaries and lists written out, set once, and read by subscripts and loops alone."""
        found: dict[str, ast.Dict | ast.List | ast.Tuple] = {}
        used: Counter[str] = Counter()
        for node, around in self.nodes:
            value = node.value if isinstance(node, ast.Assign) else None
            if isinstance(node, ast.Assign) and isinstance(value, ast.Dict | ast.List | ast.Tuple):
                if not within(getattr(value, "elts", ()), ast.Starred):
                    found[dotted(node.targets[0])] = value
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                outer = around[-1]
                reads = isinstance(outer, ast.Subscript) and isinstance(outer.ctx, ast.Load)
                called = dotted(outer.func) if isinstance(outer, ast.Call) else ""
                member = outer.attr if isinstance(outer, ast.Attribute) else ""
                walks = isinstance(outer, ast.For | ast.comprehension)
                plain = called in ("len", "print", "sum") or member in ("items", "keys", "values")
                used[node.id] += not (reads or walks or plain)
        once = (name for name in found if self.stores[name] == 1 and not used[name])
        return {name: found[name] for name in once}

    @cached_property
    def bound(self) -> Mapping[str, set[int]]:
        """Names that are given a value, with the `id` of each function in which; 0: outside."""
        found: dict[str, set[int]] = {}
        for node, around in self.nodes:
            names: set[str] = set()
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                names.add(node.id)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.arg):
                names.add(node.arg)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                names |= {(one.asname or one.name).partition(".")[0] for one in node.names}
            elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
                names.add(node.name)
            elif isinstance(node, ast.MatchMapping) and node.rest:
                names.add(node.rest)
            elif isinstance(node, ast.Global | ast.Nonlocal):
                names |= set(node.names)
            elif type(node).__name__ in ("TypeVar", "ParamSpec", "TypeVarTuple"):
                names.add(str(getattr(node, "name", "")))
            shared = isinstance(node, ast.Global | ast.Nonlocal)
            inner = [id(one) for one in around if isinstance(one, _SCOPES)]
            for name in names:
                found.setdefault(name, set()).add(inner[-1] if inner and not shared else 0)
        return found

    def undefined(self) -> Iterator[tuple[ast.Name, str | None]]:
        """Names that nothing binds, each once, with Python 3's name of one that Python 2 had.

        A variable of a function has no value outside of it.
        """
        if "*" in self.bound or re.search(r"\b(?:globals|locals|vars|exec|setattr)\(", self.text):
            return
        known = set(dir(builtins)) | _MAGIC
        seen: set[str] = set()
        for node, around in self.nodes:
            if isinstance(node, ast.Name) and node.id not in known and node.id not in seen:
                if self.bound.get(node.id, set()) & {0, *map(id, around)}:
                    continue
                if catches(node, around, "NameError") or _annotation(node, around):
                    continue
                seen.add(node.id)
                yield node, _TWO_NAMES.get(node.id)

    @cached_property
    def imports(self) -> list[Import]:
        """Imports that must succeed: not in ``try``, under a condition, or relative."""
        found: list[Import] = []
        for node, around in self.nodes:
            if within(around, ast.Try, ast.If, ast.FunctionDef, ast.With):
                continue
            if isinstance(node, ast.Import):
                names = [one.name for one in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                names = [node.module]
            else:
                continue
            found += [Import(one.partition(".")[0], one, node) for one in names]
        return found

    @cached_property
    def siblings(self) -> list[str]:
        """Modules of its package that it imports by ``from .``."""
        own = [n for n, _ in self.nodes if isinstance(n, ast.ImportFrom) and n.level == 1]
        return [one for n in own for one in ([n.module] if n.module else (a.name for a in n.names))]

    @staticmethod
    def renamed(module: str) -> str | None:
        """What Python 3 has instead of a module of Python 2."""
        return _TWO_MODULES.get(module)

    @cached_property
    def opened(self) -> list[Opened]:
        """Files that are opened or written by names that are known."""
        return self.opened_with({})

    def opened_with(self, given: Mapping[str, str | None]) -> list[Opened]:
        """The same, where a parser gives these texts for the attributes of its arguments."""
        own = {} if self.path is None else {"__file__": ast.Constant(self.path)}
        found = re.findall(r"\b(\w+)\s*=\s*[\w.()]+\.parse_args\(", self.text)
        own |= {f"{name}.{one}": ast.Constant(value) for name in found[:1]
                for one, value in given.items() if value}  # fmt: skip
        values = {**self.values, **own}
        return list(opened_in(self.calls, values, running_in(self.calls, self.stores)))

    @cached_property
    def opened_arguments(self) -> list[int]:
        """Numbers of the arguments that are opened for reading whenever the program runs."""
        found = []
        for name, call, around in self.calls:
            last = name.rpartition(".")[2]
            if last not in ("open", "read_csv", "loadtxt", "genfromtxt", "imread") or not call.args:
                continue
            first = call.args[0]
            mode = call.args[1] if len(call.args) > 1 else None
            plain = not isinstance(mode, ast.Constant) or "r" in str(mode.value)
            if not plain or within(around, ast.Try, ast.If, ast.FunctionDef):
                continue
            if isinstance(first, ast.Subscript) and dotted(first.value) == "sys.argv":
                number = self.number(first.slice)
                found += [] if number is None or number < 1 else [int(number)]
        return found

    @cached_property
    def may_write(self) -> bool:
        """Whether it may write files other than those of `opened`."""
        return self._may_write(asked=True)

    @cached_property
    def may_write_unasked(self) -> bool:
        """Whether it may write files that neither `opened` nor its command line names."""
        return self._may_write(asked=False)

    def _may_write(self, asked: bool) -> bool:
        known = {one.node: one for one in self.opened if one.mode != "?"}
        opens = {
            one for name, one, _ in self.calls
            if name in OPENERS and not re.fullmatch(r"r[^+]*", mode_of(one, 1))
            and (asked or not any(map(self._is_argument, one.args[:1])))
        }  # fmt: skip
        saved = sum(one.mode == "w" for node, one in known.items() if node not in opens)
        return self.tree is None or bool(opens - known.keys()) or writings(self.text) > saved

    def _is_argument(self, node: ast.expr) -> bool:
        """Whether it is an argument of the program, by ``sys.argv`` or by argparse."""
        of = dotted(node.value) if isinstance(node, ast.Attribute | ast.Subscript) else ""
        parsed = of and re.search(rf"\b{re.escape(of)}\s*=\s*[\w.()]+\.parse_args\(", self.text)
        return of == "sys.argv" or bool(parsed)

    @cached_property
    def constants(self) -> dict[str, float]:
        """Numbers that names have all the time: assigned once, at the top."""
        found: dict[str, float] = {}
        again: set[str] = set()
        for node, around in self.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                parent = around[-1]
                value = None
                if isinstance(parent, ast.Assign) and len(around) == 2 and node in parent.targets:
                    value = self.number(parent.value, found)
                if node.id in found or value is None:
                    again.add(node.id)
                elif value is not None:
                    found[node.id] = value
        return {name: value for name, value in found.items() if name not in again}

    def number(self, node: ast.AST | None, names: dict[str, float] | None = None) -> float | None:
        """The value of a constant expression."""
        names = self.constants if names is None else names
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return node.value
        if isinstance(node, ast.Name):
            return names.get(node.id)
        if isinstance(node, ast.Call) and dotted(node.func) == "int" and node.args:
            return self.number(node.args[0], names)
        if not isinstance(node, ast.BinOp):
            return None
        left, right = self.number(node.left, names), self.number(node.right, names)
        if left is None or right is None or abs(left) > 1e18 or abs(right) > 1e18:
            return None
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Pow | ast.LShift) and 0 <= right < 64:
            base, factor = (left, 1.0) if isinstance(node.op, ast.Pow) else (2.0, left)
            return base**right * factor if base < 1e4 else None
        if isinstance(node.op, ast.Div | ast.FloorDiv) and right:
            return left / right
        return None


def _annotation(node: ast.Name, around: tuple[ast.AST, ...]) -> bool:
    """Whether it is in a type annotation, which need not be evaluated."""
    inner: ast.AST = node
    for outer in reversed(around):
        if isinstance(outer, ast.arg) or (
            isinstance(outer, ast.AnnAssign) and inner is outer.annotation
        ):
            return True
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef) and inner is outer.returns:
            return True
        inner = outer
    return False
