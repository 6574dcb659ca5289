"""JS339: names and numbers that a Python program expects in a data file that is here."""

from __future__ import annotations

import ast
import csv
import json
import re
from collections import Counter
from collections.abc import Iterator

from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.traces import path_of
from jobsight.program.python import PythonText, catches, dotted
from jobsight.program.shell.model import Program, Word
from jobsight.program.submission.job import Place

__all__: list[str] = []

_TABLES = r"\.(?:csv|tsv|txt|dat)$"


@rule(
    "JS339 A data file lacks what its program reads from it",
    fails="python3 a.py\n=== a.py\nimport json\nc = json.load(open('c.json'))\nprint(c['step'])\n"
    '=== c.json\n{"steps": 3}\n',
    passes="python3 a.py\n=== a.py\nimport json\nc = json.load(open('c.json'))\nprint(c['steps'])\n"
    '=== c.json\n{"steps": 3}\n',
)
def _expected(job: Job) -> Iterator[Hit]:
    """Keys of JSON, columns of CSV, numbers in what is its header; of the only file of its kind."""
    for program, text in job.pythons:
        if text.tree is None or program.source is None or program.imported:
            continue
        for node, message in (*_keys(program, text, job), *_headers(program, text, job)):
            yield hit(node, message, source=program.source)


def _only(pattern: str, program: Program, text: PythonText, job: Job) -> str | None:
    """The text of the one file with such a name that the program is given, or that it names."""
    names = {one.value for one in program.arguments if one.value and re.search(pattern, one.value)}
    names |= {one.value for one, _ in text.nodes if isinstance(one, ast.Constant)
              and isinstance(one.value, str) and re.search(pattern, one.value)}  # fmt: skip
    if len(names) != 1:
        return None
    name = names.pop()
    path = path_of(Word(name, name, Place(1)), program.command.folder, job)
    if path is None or path in job.walk.made:
        return None
    written = any(set("wa") & set(one.mode) for one in text.opened if one.path == name)
    return None if written else job.machine.text(path)


def _keys(program: Program, text: PythonText, job: Job) -> Iterator[tuple[ast.expr, str]]:
    """``data["key"]`` of what ``json.load`` gave, ``row["column"]`` of a table."""
    known = dict(_loaded(program, text, job))
    changed = {dotted(n.value) for n, _ in text.nodes
               if isinstance(n, ast.Subscript) and not isinstance(n.ctx, ast.Load)}  # fmt: skip
    for node, around in text.nodes if known else ():
        name = dotted(node.value) if isinstance(node, ast.Subscript) else ""
        if name not in known or name in changed or not isinstance(node, ast.Subscript):
            continue
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        changes = rf"\b{name}\.(?:update|setdefault|columns|rename|insert|assign)"
        sure = not (catches(node, around, "KeyError") or re.search(changes, text.text))
        if isinstance(key, str) and key not in known[name] and sure:
            yield node, f"the file has no {key}: KeyError"


def _loaded(program: Program, text: PythonText, job: Job) -> Iterator[tuple[str, set[str]]]:
    """Names that are the content of the file, or its rows, with the keys that these have."""
    for name, value in text.values.items():
        if not isinstance(value, ast.Call):
            continue
        called, plain = dotted(value.func), len(value.args) == 1 and not value.keywords
        if called == "json.load":
            try:
                read = json.loads(_only(r"\.json$", program, text, job) or "null")
            except (ValueError, RecursionError):
                continue
            if isinstance(read, dict):
                yield name, set(read)
        elif called in ("pd.read_csv", "pandas.read_csv") and plain:
            yield from ((name, one) for one in (_columns(program, text, job),) if one)
    loops = Counter(
        one.target.id for one, _ in text.nodes
        if isinstance(one, ast.For | ast.comprehension) and isinstance(one.target, ast.Name)
        and _is_reader(one.iter, text)
    )  # fmt: skip
    for name, count in loops.items():
        columns = _columns(program, text, job) if text.stores[name] == count else None
        if columns:
            yield name, columns


def _is_reader(node: ast.expr, text: PythonText) -> bool:
    """Whether a loop is over the rows of ``csv.DictReader``, or a list of them."""
    source = text.values.get(dotted(node), node)
    while isinstance(source, ast.Call) and dotted(source.func) in ("list", "tuple") and source.args:
        source = source.args[0]
    reader = isinstance(source, ast.Call) and dotted(source.func).endswith("DictReader")
    return reader and "fieldnames" not in ast.unparse(source)


def _columns(program: Program, text: PythonText, job: Job) -> set[str] | None:
    content = _only(_TABLES, program, text, job)
    if not content:
        return None
    separated = re.search(r"delimiter\s*=\s*[\"'](.{1,2})[\"']", text.text)
    mark = "\t" if separated and separated[1] == "\\t" else separated[1] if separated else ","
    return set(next(csv.reader([content.split("\n")[0]], delimiter=mark[0]), []))


def _headers(program: Program, text: PythonText, job: Job) -> Iterator[tuple[ast.expr, str]]:
    """``float(fields[1])`` of every line of a table whose first line is a header."""
    if re.search(
        r"\bnext\(|\[1:\]|readline\(|islice|enumerate|DictReader|startswith|isdigit", text.text
    ):
        return
    for loop, _ in text.nodes:
        if not isinstance(loop, ast.For) or any(
            isinstance(one, ast.If | ast.Try) for one in loop.body
        ):
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
