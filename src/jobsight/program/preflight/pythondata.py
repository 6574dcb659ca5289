"""JS339: what a Python program expects in its data files, and where its values come from."""

from __future__ import annotations

import ast
import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from jobsight.program.preflight.arguments import given_words, parsed
from jobsight.program.preflight.files import made_before, path_of, text_here
from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.python import PythonText, catches, dotted, within
from jobsight.program.shell.model import Program
from jobsight.text import closest

__all__ = ["Flow", "Rows"]

_Around = tuple[ast.AST, ...]
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ListComp, ast.SetComp,
           ast.DictComp, ast.GeneratorExp)  # fmt: skip
_SAME = frozenset({"open", "io.open", "gzip.open", "Path", "pathlib.Path", "str", "list", "tuple",
                   "os.fspath", "sys.intern"})  # fmt: skip
_READS = frozenset({"open", "read", "read_text", "resolve", "absolute", "expanduser"})
_DEEPEST = 16


class _Binding(NamedTuple):
    """What a name is bound to: ``is`` a value, a ``part`` of one, an ``item`` of one, ``given``."""

    kind: str
    value: ast.AST
    around: _Around
    at: int = 0


class Rows(NamedTuple):
    """The rows of a table: each is a dictionary with these keys."""

    columns: Mapping[str, Any]


class Flow:
    """A program as it is called.

    Attributes:
        program: and its command.
        text: its.
        contents: the text of a data file by its name in the program; None: it is not known.
    """

    def __init__(self, program: Program, text: PythonText, contents: Mapping[str, str]) -> None:
        self.program, self.text, self.contents = program, text, contents

    @cached_property
    def _bound(self) -> Mapping[tuple[int, str], list[_Binding]]:
        """What is bound in each scope; a name with other bindings, too, has one of kind ``?``."""
        found: defaultdict[tuple[int, str], list[_Binding]] = defaultdict(list)
        stored: Counter[tuple[int, str]] = Counter()
        for node, around in self.text.nodes:
            scope = _scopes(around)[0]
            pairs: list[tuple[ast.AST | None, str, ast.AST | None]] = []
            if isinstance(node, ast.Assign):
                pairs = [(one, "is", node.value) for one in node.targets]
            elif isinstance(node, ast.With):
                pairs = [(one.optional_vars, "is", one.context_expr) for one in node.items]
            elif isinstance(node, ast.For | ast.comprehension):
                pairs = [(node.target, "item", node.iter)]
            elif isinstance(node, ast.FunctionDef):
                for at, one in enumerate(node.args.args):
                    found[id(node), one.arg].append(_Binding("given", node, around, at))
                    stored[id(node), one.arg] += 1
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                stored[scope, node.id] += 1
            elif isinstance(node, ast.Global | ast.Nonlocal):
                stored.update((where, name) for name in node.names for where in _scopes(around))
            for target, kind, value in pairs:
                parts = target.elts if isinstance(target, ast.Tuple) else [target]
                for at, part in enumerate(parts):
                    if isinstance(part, ast.Name) and value is not None:
                        sort = "part" if part is not target else kind
                        known = _Binding("?" if sort != kind != "is" else sort, value, around, at)
                        found[scope, part.id].append(known)
        return {key: some for key, some in found.items() if len(some) == stored[key]}

    def _binding(self, name: str, around: _Around) -> _Binding | None:
        for loop in reversed(around):
            opened = [one for one in loop.items if dotted(one.optional_vars or loop) == name] if (
                isinstance(loop, ast.With)) else []  # fmt: skip
            if opened:
                return _Binding("is", opened[0].context_expr, around)
            inner = loop.generators if isinstance(loop, ast.ListComp | ast.GeneratorExp) else [loop]
            for one in inner:
                if isinstance(one, ast.For | ast.comprehension) and dotted(one.target) == name:
                    return _Binding("item", one.iter, around)
        for scope in _scopes(around):
            if some := self._bound.get((scope, name)):
                return some[0] if len(some) == 1 else None
        return None

    def _origin(self, node: ast.AST, around: _Around, deep: int) -> _Binding | None:
        """What an expression is, names followed to what they are bound to."""
        if not isinstance(node, ast.Name):
            return _Binding("is", node, around)
        bound = self._binding(node.id, around) if deep < _DEEPEST else None
        if bound is None or bound.kind in ("part", "item"):
            return bound
        if bound.kind == "is":
            return self._origin(bound.value, bound.around, deep + 1)
        function = bound.value
        calls = [(call, up) for name, call, up in self.text.calls
                 if isinstance(function, ast.FunctionDef) and name == function.name]  # fmt: skip
        if len(calls) != 1 or bound.kind != "given":
            return None
        call, up = calls[0]
        named = [one.value for one in call.keywords if one.arg == node.id]
        value = named[0] if named else call.args[bound.at] if bound.at < len(call.args) else None
        return None if value is None else self._origin(value, up, deep + 1)

    @cached_property
    def _words(self) -> list[str | None]:
        given = given_words(self.program)
        return [] if given is None else [one.value for one in given]

    def name(self, node: ast.AST, around: _Around, deep: int = 0) -> str | None:
        """The name of the file that an expression is, or has open; None: it is not known."""
        origin = self._origin(node, around, deep)
        if origin is None or deep > _DEEPEST:
            return None
        value, around = origin.value, origin.around
        if origin.kind == "part":
            at = origin.at
            if isinstance(value, ast.Tuple) and at < len(value.elts):
                return self.name(value.elts[at], around, deep + 1)
            cut = value.slice if isinstance(value, ast.Subscript) else None
            if not (isinstance(cut, ast.Slice) and isinstance(value, ast.Subscript)):
                return None
            first = self.text.number(cut.lower) if cut.lower else 0
            place = None if first is None else int(first) + at - 1
            if place is None or dotted(value.value) != "sys.argv":
                return None
            return self._words[place] if 0 <= place < len(self._words) else None
        if isinstance(value, ast.Constant):
            return value.value if isinstance(value.value, str) else None
        if isinstance(value, ast.Call):
            if dotted(value.func) in _SAME and value.args:
                return self.name(value.args[0], around, deep + 1)
            if isinstance(value.func, ast.Attribute) and value.func.attr in _READS:
                return self.name(value.func.value, around, deep + 1)
        if isinstance(value, ast.Subscript) and dotted(value.value) in ("sys.argv", "argv"):
            number = self.text.number(value.slice)
            known = number is not None and 0 < number <= len(self._words)
            return self._words[int(number or 0) - 1] if known else None
        if isinstance(value, ast.Attribute):
            made = self._origin(value.value, around, deep + 1)
            call = made.value if made else None
            if isinstance(call, ast.Call) and dotted(call.func).endswith(".parse_args"):
                return parsed(self.text, given_words(self.program)).get(value.attr)
        return None

    def number(self, node: ast.AST, around: _Around) -> float | None:
        """The number that an expression is, constants and arguments followed; None: not known."""
        if (known := self.text.number(node)) is not None:
            return known
        origin = self._origin(node, around, 0)
        value = origin.value if origin is not None and origin.kind == "is" else None
        if origin is None or value is None:
            return None
        if (known := self.text.number(value)) is not None:
            return known
        if isinstance(value, ast.Call) and dotted(value.func) in ("int", "float") and value.args:
            value = value.args[0]
        text = self.name(value, origin.around) or ""
        return float(text) if re.fullmatch(r"\d+(?:\.\d*)?(?:e\d{1,2})?", text) else None

    def data(self, node: ast.AST, around: _Around, deep: int = 0) -> Any:
        """What an expression is of a data file: dictionary, list, `Rows`; None: it is not known."""
        origin = self._origin(node, around, deep)
        if origin is None or deep > _DEEPEST or origin.kind == "part":
            return None
        value, around = origin.value, origin.around
        if origin.kind == "item":
            return _item(self.data(value, around, deep + 1))
        if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant):
            outer: Any = self.data(value.value, around, deep + 1)
            key: Any = value.slice.value
            if isinstance(outer, dict) or (isinstance(outer, list) and isinstance(key, int)):
                try:
                    return outer[key]
                except (LookupError, TypeError):
                    return None
        if isinstance(value, ast.Subscript) and not isinstance(value.slice, ast.Slice):
            outer = self.data(value.value, around, deep + 1)  # of some key
            return _item(list(outer.values()) if isinstance(outer, dict) else outer)
        return self._read(value, around, deep) if isinstance(value, ast.Call) else None

    def _read(self, call: ast.Call, around: _Around, deep: int) -> Any:
        """What a call reads from a file, or a function of the program that returns it."""
        name, first = dotted(call.func), call.args[0] if call.args else None
        returned = [
            (n.value, up) for n, up in self.text.nodes if isinstance(n, ast.Return)
            and any(isinstance(one, ast.FunctionDef) and one.name == name for one in up)
        ]  # fmt: skip
        if name and len(returned) == 1 and self.text.stores[name] == 1 and returned[0][0]:
            return self.data(returned[0][0], returned[0][1], deep + 1)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "values":
            outer = self.data(call.func.value, around, deep + 1)
            return list(outer.values()) if isinstance(outer, dict) else None
        if first is None:
            return None
        if name in ("list", "tuple", "sorted", "reversed"):
            return self.data(first, around, deep + 1)
        content = self.contents.get(self.name(first, around, deep) or "")
        if content is None or re.search(r"\b(?:next|readline|seek|islice)\(", self.text.text):
            return None
        content = content.removeprefix("\ufeff")
        if name in ("json.load", "json.loads"):
            try:
                return json.loads(content)
            except (ValueError, RecursionError):
                return None
        named = {one.arg: one.value for one in call.keywords}
        mark = named.pop("delimiter", None) or named.pop("sep", None) or ast.Constant(",")
        plain = len(call.args) == 1 and isinstance(mark, ast.Constant) and not (
            named.keys() - {"dtype", "parse_dates", "encoding", "low_memory"})  # fmt: skip
        if not plain or not re.fullmatch(r".", str(getattr(mark, "value", "")), re.S):
            return None
        mark_ = str(getattr(mark, "value", ","))
        columns = dict.fromkeys(next(csv.reader([content.split("\n")[0]], delimiter=mark_), []))
        if name in ("pd.read_csv", "pandas.read_csv"):
            return columns
        return Rows(columns) if name in ("csv.DictReader", "DictReader") else None


def _scopes(around: _Around) -> list[int]:
    return [*(id(one) for one in reversed(around) if isinstance(one, _SCOPES)), 0]


def _item(some: Any) -> Any:
    """An item of data: of several dictionaries, one with the keys of all."""
    if isinstance(some, Rows):
        return dict(some.columns)
    if isinstance(some, list) and some and all(isinstance(one, dict) for one in some):
        return {key: value for one in some for key, value in one.items()}
    return None


_TABLES = r"\.(?:csv|tsv|txt|dat)$"
_DATA = r"\.(?:csv|tsv|txt|dat|json)$"


@rule("JS339 A data file lacks what its program reads from it")
def _expected(job: Job) -> Iterator[Hit]:
    """Keys of JSON, columns of CSV, numbers in what is its header; of the only file of its kind."""
    made = made_before(job)
    for program, text in job.pythons:
        if text.tree is None or program.source is None or program.imported:
            continue
        flow = Flow(program, text, _contents(program, made.get(id(program.command), set()), job))
        for node, message in (*_keys(flow), *_headers(program, text, job)):
            yield hit(node, message, source=program.source)


def _only(pattern: str, program: Program, text: PythonText, job: Job) -> str | None:
    """The text of the one file with such a name that the program is given, or that it names."""
    names = {one.value for one in program.arguments if one.value and re.search(pattern, one.value)}
    names |= {one.value for one, _ in text.nodes if isinstance(one, ast.Constant)
              and isinstance(one.value, str) and re.search(pattern, one.value)}  # fmt: skip
    if len(names) != 1:
        return None
    name = names.pop()
    written = any(set("wa") & set(one.mode) for one in text.opened if one.path == name)
    return None if written else text_here(name, program.command.folder, job)


def _keys(flow: Flow) -> Iterator[tuple[ast.expr, str]]:
    """``data["key"]`` of what ``json.load`` gave, ``row["column"]`` of a table."""
    text = flow.text
    changes = {"update", "setdefault", "pop", "rename", "insert", "assign", "columns", "append"}
    for node, around in text.nodes:
        changed = isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)
        changed = changed or (isinstance(node, ast.Attribute) and node.attr in changes)
        if changed and flow.data(node.value, around) is not None:  # type: ignore[attr-defined]
            return
    for node, around in text.nodes:
        key = node.slice.value if (
            isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
            and isinstance(node.slice, ast.Constant)) else None  # fmt: skip
        if not (isinstance(node, ast.Subscript) and isinstance(key, str)):
            continue
        asked = rf"[\"']{re.escape(key)}[\"']\s+(?:not\s+)?in\b"
        if catches(node, around, "KeyError", "LookupError") or re.search(asked, text.text):
            continue
        content = flow.data(node.value, around)
        if isinstance(content, dict) and key not in content and not _perhaps(node, around):
            close = closest(key, map(str, content), 0.5)
            meant = f" (is it {close}?)" if close else ""
            yield node, f"the file has no {key}: KeyError{meant}"


def _perhaps(node: ast.AST, around: tuple[ast.AST, ...]) -> bool:
    """Whether a condition decides if a node is reached."""
    pairs = zip(around, (*around[1:], node), strict=True)
    return any(
        isinstance(one, ast.If | ast.IfExp | ast.While) and inner is not one.test
        and "__name__" not in ast.unparse(one.test)
        for one, inner in pairs
    )  # fmt: skip


def _contents(program: Program, made: set[str], job: Job) -> dict[str, str]:
    """The texts of data files that the program is given, or names, and that nothing made before."""
    names = {one.value for one in program.arguments if one.value}
    names |= {one.value.rpartition("=")[2] for one in program.arguments if one.value}
    text = program.source.text if program.source else ""
    names |= set(re.findall(r"[\"']([\w./-]+\.\w+)[\"']", text))
    found: dict[str, str] = {}
    for name in names:
        path = path_of(name, program.command.folder, job)
        if path and path not in made and re.search(_DATA, path):
            content = text_here(name, program.command.folder, job)
            found |= {} if content is None else {name: content}
    return found


def _headers(program: Program, text: PythonText, job: Job) -> Iterator[tuple[ast.expr, str]]:
    """``float(fields[1])`` of every line of a table whose first line is a header."""
    form = r"\bnext\(|\[1:\]|readline\(|islice|enumerate|DictReader|startswith|isdigit"
    if re.search(form, text.text):
        return
    for loop, _ in text.nodes:
        if not isinstance(loop, ast.For) or within(loop.body, ast.If, ast.Try):
            continue
        for node in (one for part in loop.body for one in ast.walk(part)):
            called = dotted(node.func) if isinstance(node, ast.Call) else ""
            first = node.args[0] if isinstance(node, ast.Call) and node.args else None
            if called not in ("int", "float") or not isinstance(first, ast.Subscript):
                continue
            place = text.number(first.slice)
            content = _only(_TABLES, program, text, job)
            if place is None or not content or not re.search(r"\.split\(|csv\.reader", text.text):
                continue
            head = re.split(r"[,;\t]|\s+", content.split("\n")[0].strip())
            field = head[int(place)] if -len(head) <= place < len(head) else "0"
            if re.fullmatch(r"[A-Za-z_][\w ()]*", field) and field.lower() not in ("nan", "inf"):
                yield first, f"the first line is a header: {called}({field!r}) is a ValueError"
                return
