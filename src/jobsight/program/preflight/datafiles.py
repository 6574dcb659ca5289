"""JS339: names and numbers that a Python program expects in a data file that is here."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.pythonflow import Flow
from jobsight.program.preflight.traces import made_before, path_of, text_here
from jobsight.program.python import PythonText, catches, dotted, within
from jobsight.program.shell.model import Program
from jobsight.text import closest

__all__: list[str] = []

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
