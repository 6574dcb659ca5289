"""JS318, JS319, JS333, JS334, JS338: Python programs that compile, and fail when they get there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.pythoncalls import compiled_programs
from jobsight.program.preflight.variables import GIVEN
from jobsight.program.python import PythonText, catches, dotted, within
from jobsight.program.pythonpaths import RUNS
from jobsight.program.shell.model import Program

__all__: list[str] = []

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@rule("JS333 A name is used before it has a value")
def _too_early(job: Job) -> Iterator[Hit]:
    """A variable that a function assigns is its own; a function is there after its ``def``."""
    for program, text in compiled_programs(job):
        assert text.tree is not None
        for node, _ in text.nodes:
            if isinstance(node, _Function):
                for name in _unbound(node):
                    message = f"{name.id} is a variable of {node.name}(), without a value here"
                    yield hit(name, message, f"global {name.id}", source=program.source)
        later = {one.name: k for k, one in enumerate(text.tree.body)
                 if isinstance(one, ast.FunctionDef | ast.ClassDef)
                 and text.stores[one.name] == 1}  # fmt: skip
        postponed = "from __future__ import annotations" in text.text
        for at, statement in enumerate(text.tree.body):
            for one in _evaluated(statement, postponed):
                if isinstance(one, ast.Name) and later.get(one.id, -1) > at:
                    yield hit(one, f"{one.id} is defined further down", source=program.source)


def _evaluated(statement: ast.AST, postponed: bool) -> Iterator[ast.AST]:
    """What a statement evaluates at once: without the bodies of functions, and of ``try``.

    `postponed`: without annotations too (PEP 563).
    """
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, _SCOPES) and not isinstance(node, ast.Try | ast.If):
            yield node
            never = getattr(node, "annotation", None) if postponed else None
            waiting += (one for one in ast.iter_child_nodes(node) if one is not never)


def _unbound(function: _Function) -> Iterator[ast.Name]:
    """Names that are read before the first statement that sets them."""
    given = function.args
    parameters = {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    parameters |= {one.arg for one in (given.vararg, given.kwarg) if one is not None}
    loads: list[tuple[ast.Name, tuple[ast.AST, ...]]] = []
    stores: dict[str, tuple[int, int]] = {}
    waiting: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(one, ()) for one in function.body]
    while waiting:
        node, around = waiting.pop()
        if isinstance(node, ast.Global | ast.Nonlocal):
            parameters |= set(node.names)
        elif isinstance(node, (*_SCOPES, *_COMPREHENSIONS, ast.Import, ast.ImportFrom, ast.Try)):
            inner = ast.walk(node)
            parameters |= {n.id for n in inner if isinstance(n, ast.Name | ast.NamedExpr)
                           and isinstance(n, ast.Name)}  # fmt: skip
            parameters |= {getattr(node, "name", "")}
            parameters |= {(n.asname or n.name).partition(".")[0] for n in ast.walk(node)
                           if isinstance(n, ast.alias)}  # fmt: skip
            continue
        elif isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                loads.append((node, around))
            else:
                outer = around[-1] if around else node
                plain = isinstance(outer, ast.Assign | ast.AugAssign | ast.AnnAssign)
                end = outer if plain and isinstance(outer, ast.stmt) else node
                place = (end.end_lineno or 0, end.end_col_offset or 0)
                stores[node.id] = min(stores.get(node.id, place), place)
                if isinstance(outer, ast.AugAssign):
                    loads.append((node, around))
        waiting += [(one, (*around, node)) for one in ast.iter_child_nodes(node)]
    seen: set[str] = set()
    for name, around in sorted(loads, key=lambda one: (one[0].lineno, one[0].col_offset)):
        looped = within(around, ast.For, ast.While, ast.If, ast.With)
        if name.id in stores and name.id not in parameters | seen:
            seen.add(name.id)
            augmented = bool(around) and isinstance(around[-1], ast.AugAssign)
            if (augmented or not looped) and (name.lineno, name.col_offset) < stores[name.id]:
                yield name


_OF_OPERATIONS = ("TypeError", "AttributeError", "LookupError", "EOFError", "OSError")
_TWO_METHODS = {"iteritems": "items", "itervalues": "values", "iterkeys": "keys", "has_key": "in"}
_LAZY = frozenset({"map", "filter", "zip", "reversed"})
_OF_HANDLES = frozenset({"json.load", "pickle.load", "csv.reader", "csv.DictReader"})


@rule("JS338 A loop whose condition nothing in it changes")
def _stays(job: Job) -> Iterator[Hit]:
    """A comparison of names that the loop does not set: it runs into the time limit."""
    for program, text in compiled_programs(job):
        shared = {name for n, _ in text.nodes if isinstance(n, ast.Global | ast.Nonlocal)
                  for name in n.names}  # fmt: skip
        for node, _ in text.nodes:
            if not isinstance(node, ast.While) or not isinstance(node.test, ast.Compare):
                continue
            parts = [node.test.left, *node.test.comparators]
            names = {one.id for one in parts if isinstance(one, ast.Name)}
            if not names or not all(isinstance(one, ast.Name | ast.Constant) for one in parts):
                continue
            inner = [one for part in node.body for one in ast.walk(part)]
            leaves = any(isinstance(one, ast.Break | ast.Return | ast.Raise | ast.Yield | ast.Await)
                         or (isinstance(one, ast.Call) and dotted(one.func).endswith("exit"))
                         for one in inner)  # fmt: skip
            names_in = [one for one in inner if isinstance(one, ast.Name)]
            changed = {one.id for one in names_in if not isinstance(one.ctx, ast.Load)}
            ordered = not within(node.test.ops, ast.In, ast.NotIn, ast.Is, ast.IsNot)
            if ordered and not leaves and not names & (changed | shared):
                yield hit(node, f"nothing in the loop changes {min(names)}", source=program.source)


@rule("JS334 An operation that Python cannot do")
def _impossible(job: Job) -> Iterator[Hit]:
    """Fractions for ``range``, an index of ``map``, a text plus a number, ``input()``."""
    for program, text in compiled_programs(job):
        fed = program.command.fed or program.path is None or "isatty(" in text.text
        for node, around in text.nodes:
            if catches(node, around, *_OF_OPERATIONS):
                continue
            found = _cannot(node, text, fed)
            if found is not None:
                yield hit(node, *found, source=program.source)  # type: ignore[arg-type]
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                yield from _environment(node, program, text, job)
                if (lacking := _not_in(node, text)) is not None:
                    yield hit(node, lacking, source=program.source)


_METHODS = frozenset({"readlines", "readline", "read", "items", "keys", "values", "split"})


def _cannot(node: ast.AST, text: PythonText, fed: bool) -> tuple[str, str | None] | None:
    """What fails, and what to write."""
    if isinstance(node, ast.Call):
        return _cannot_call(node, text, fed)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):
        called = node.value.func
        if (dotted(called) in _LAZY and text.stores[dotted(called)] == 0) or (
            isinstance(called, ast.Attribute) and called.attr in ("keys", "values", "items")
            and not node.value.args and _is_number(node.slice)
        ):  # fmt: skip
            return "Python 3 makes no list here: TypeError", "list(...)[...]"
    shifted = isinstance(node, ast.BinOp) and isinstance(node.op, ast.RShift)
    if shifted and dotted(node.left) == "print" and not text.stores["print"]:  # type: ignore[attr-defined]
        return "print >> is of Python 2: TypeError", "print(..., file=...)"
    operators = ast.Add | ast.Sub | ast.Div | ast.FloorDiv | ast.Pow
    orders = ast.Lt | ast.Gt | ast.LtE | ast.GtE
    pair: list[ast.expr] = []
    if isinstance(node, ast.BinOp) and isinstance(node.op, operators):
        pair = [node.left, node.right]
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], orders):
        pair = [node.left, node.comparators[0]]
    if {_kind(one, text) for one in pair} == {"text", "number"}:
        return "a text and a number do not go together: TypeError", "int(...), or str(...)"
    if any(isinstance(one, ast.List | ast.Dict | ast.Set) for one in _keys(node, text)):
        return "a list, dict or set cannot be a key: TypeError", "a tuple"
    if isinstance(node, ast.For):
        looped = node.iter
        own = isinstance(looped, ast.Attribute) and any(
            isinstance(n, ast.Attribute) and n.attr == looped.attr and isinstance(n.ctx, ast.Store)
            for n, _ in text.nodes
        )
        if isinstance(looped, ast.Attribute) and looped.attr in _METHODS and not own:
            return f"{looped.attr} is not called: TypeError", f".{looped.attr}()"
        if isinstance(looped, ast.Call) and isinstance(looped.func, ast.Attribute):
            looped = looped.func.value  # for k, v in d.items()
        if _shrinks(node, dotted(looped), text):
            return "the dictionary changes while the loop reads it: RuntimeError", "list(...)"
    return None


def _keys(node: ast.AST, text: PythonText) -> Sequence[ast.expr | None]:
    """What an expression uses as keys of a dictionary, or has in a set."""
    if isinstance(node, ast.Dict):
        return node.keys
    if isinstance(node, ast.Set):
        return node.elts
    name = dotted(node.value) if isinstance(node, ast.Subscript) else ""
    keyed = isinstance(text.values.get(name), ast.Dict | ast.DictComp) and text.stores[name] == 1
    return [node.slice] if keyed and isinstance(node, ast.Subscript) else []


def _cannot_call(node: ast.Call, text: PythonText, fed: bool) -> tuple[str, str | None] | None:
    name, first = dotted(node.func), node.args[0] if node.args else None
    if name == "range" and any(_kind(one, text) == "text" for one in node.args):
        return "range() takes whole numbers, not texts: TypeError", "int(...)"
    if name == "range" and any(_is_fraction(one, text) for one in node.args):
        return "range() takes whole numbers, and / gives a fraction", "//"
    if isinstance(node.func, ast.Attribute) and node.func.attr in _TWO_METHODS:
        return f"Python 3 has no method {node.func.attr}", _TWO_METHODS[node.func.attr]
    if name == "input" and not fed:
        return "input() has nothing to read in a batch job: EOFError", "an argument"
    if name == "json.loads" and first is not None and dotted(first) in text.handles:
        return "json.loads() takes a text, not an open file: TypeError", "json.load"
    if name in _OF_HANDLES and first is not None and _kind(first, text) == "text":
        return f"{name}() takes an open file, not its name", "open(...)"
    written = isinstance(node.func, ast.Attribute) and node.func.attr == "write" and (
        dotted(node.func.value) in text.handles
    )  # fmt: skip
    if written and first is not None and _kind(first, text) == "number":
        return "write() takes a text: TypeError", "str(...)"
    shell = any(one.arg in ("shell", None) for one in node.keywords)
    if name in RUNS and isinstance(first, ast.Constant | ast.JoinedStr) and not shell:
        parts = [first] if isinstance(first, ast.Constant) else first.values
        words = "".join(str(one.value) for one in parts if isinstance(one, ast.Constant))
        if " " in words.strip():
            return f"{name} looks for a program of that whole name", "shell=True, or a list"
    return None


def _shrinks(loop: ast.For, name: str, text: PythonText) -> bool:
    """Whether a loop over a dictionary removes its entries, and goes on."""
    inner = [one for part in loop.body for one in ast.walk(part)]
    removed = any(
        (isinstance(one, ast.Delete) and any(
            isinstance(t, ast.Subscript) and dotted(t.value) == name for t in one.targets))
        or (isinstance(one, ast.Call) and dotted(one.func) == f"{name}.pop" and len(one.args) > 0)
        for one in inner
    )  # fmt: skip
    a_dict = any(
        isinstance(one, ast.Assign) and dotted(one.targets[0]) == name
        and (isinstance(one.value, ast.Dict | ast.DictComp | ast.SetComp | ast.Set)
             or (isinstance(one.value, ast.Call) and dotted(one.value.func) in ("dict", "set")))
        for one, _ in text.nodes
    )  # fmt: skip
    return bool(name) and removed and a_dict and not any(
        isinstance(one, ast.Break | ast.Return) for one in inner)  # fmt: skip


def _not_in(node: ast.Subscript, text: PythonText) -> str | None:
    """That a dictionary or list of constants, which nothing changes, lacks a key."""
    name, key = dotted(node.value), node.slice
    value = text.containers.get(name)
    if value is None or not isinstance(key, ast.Constant):
        return None
    if isinstance(value, ast.Dict):
        keys = [one.value for one in value.keys if isinstance(one, ast.Constant)]
        lacks = len(keys) == len(value.keys) and key.value not in keys
        return f"{name} has no {key.value!r}: KeyError"[:90] if lacks else None
    size = len(value.elts)
    wrong = isinstance(key.value, int) and not isinstance(key.value, bool) and key.value >= size
    return f"{name} has numbers 0 to {size - 1}: IndexError" if wrong else None


def _is_fraction(node: ast.AST, text: PythonText) -> bool:
    if isinstance(node, ast.Name) and text.stores[node.id] == 1:
        value = text.values.get(node.id)
        if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Div):
            return False
        return _is_number(value.right)  # what else / joins may be paths
    return isinstance(node, ast.BinOp) and (
        isinstance(node.op, ast.Div)
        or (isinstance(node.op, ast.Add | ast.Sub | ast.Mult)
            and (_is_fraction(node.left, text) or _is_fraction(node.right, text)))
    )  # fmt: skip


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _kind(node: ast.AST, text: PythonText) -> str:
    """Whether an expression surely is a text or a number."""
    if isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    ):
        return "text"
    if isinstance(node, ast.BinOp):
        kinds = [_kind(node.left, text), _kind(node.right, text)]
        if isinstance(node.op, ast.Mod | ast.Add) and kinds[0] == "text":
            return "text"
        return "number" if kinds == ["number", "number"] else ""
    if isinstance(node, ast.Call):
        name = dotted(node.func)
        kind = {"str": "text", "input": "text", "len": "number", "int": "number", "sum": "number",
                "float": "number", "round": "number", "repr": "text"}  # fmt: skip
        return kind.get(name, "") if not text.stores[name] else ""
    if isinstance(node, ast.Subscript) and dotted(node.value) in ("sys.argv", "os.environ"):
        return "" if isinstance(node.slice, ast.Slice) else "text"
    if isinstance(node, ast.Name) and text.stores[node.id] == 1 and text.number(node) is None:
        value = text.values.get(node.id)
        return _kind(value, text) if value is not None and not isinstance(value, ast.Name) else ""
    return "number" if text.number(node) is not None else ""


_OWN = re.compile(r"(?:DATA|PROJECT|STORE|GROUP|LOCAL|CLUSTER|JOB|NODE)\w*|\w+_(?:ROOT|HOME|DIR)")
"""Names that sites use, and that are a script's own where it sets them and loads nothing."""


def _environment(
    node: ast.Subscript, program: Program, text: PythonText, job: Job
) -> Iterator[Hit]:
    """``os.environ["X"]`` of a variable of the script that is not exported."""
    name = node.slice.value if isinstance(node.slice, ast.Constant) else None
    command, known = program.command, job.machine.environment
    if dotted(node.value) not in ("os.environ", "environ") or not isinstance(name, str):
        return
    if name in command.assigned or command.contained or known.get(name) or "export" in str(
        re.findall(rf"(?:export|declare -x|set -a).*\b{re.escape(name)}\b", job.text)
    ) or re.search(r"set -\w*a|allexport", job.text):  # fmt: skip
        return
    if re.search(rf"['\"]{re.escape(name)}['\"]\s*(?:\]\s*=[^=]|\)?\s+(?:not )?in\b)", text.text):
        return
    own = not (command.environment.opaque or command.environment.modules)
    site = GIVEN.fullmatch(name) and not (own and _OWN.fullmatch(name))
    if name in job.walk.assigned and not site:
        message = f"{name} is not exported: KeyError"
        yield hit(node, message, f"export {name}", source=program.source)


@rule("JS318 A Python name that nothing defines")
def _python_names(job: Job) -> Iterator[Hit]:
    """It is not assigned, imported or passed anywhere in the program: a NameError when reached."""
    for program, text in job.pythons:
        if program.source is None or not program.source.exact:
            continue
        for node, other in text.undefined():
            if other is None:
                yield hit(node, f"nothing defines {node.id}", source=program.source)


@rule("JS319 A Python program always fails, or lacks arguments")
def _python_fails(job: Job) -> Iterator[Hit]:
    """``sys.exit(3)``, ``raise``, ``assert False`` at the top; ``sys.argv[2]`` of one argument."""
    for program, text in job.pythons:
        ends = sum(name in ("sys.exit", "exit", "quit", "os._exit") for name, _, _ in text.calls)
        if text.tree is None or program.command.checked:
            continue
        for node in text.tree.body:
            status = _ends(node, text)
            if status is not None:
                if status and ends < 2:
                    yield hit(node, f"always ends here: {status}", source=program.source)
                break
        yield from _arguments(program, text, job)


def _ends(node: ast.stmt, text: PythonText) -> str | None:
    """How a statement at the top ends the program; "": well; None: it goes on."""
    if isinstance(node, ast.Raise):
        return "an exception is raised"
    if isinstance(node, ast.Assert) and isinstance(node.test, ast.Constant) and not node.test.value:
        return "the assertion is false"
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        if dotted(call.func) in ("sys.exit", "exit", "quit", "os._exit"):
            given = call.args[0] if call.args else ast.Constant(0)
            if isinstance(given, ast.Constant):
                fails = given.value not in (0, None, False)
                return f"exit status {given.value!r}"[:60] if fails else ""
            return ""
        if dotted(call.func) == "ctypes.string_at" and call.args and text.number(call.args[0]) == 0:
            return "a segmentation fault"
    return None


def _arguments(program: Program, text: PythonText, job: Job) -> Iterator[Hit]:
    unknown = program.path == job.path and job.arguments is None
    asks = r"len\(\s*(?:sys\.)?argv|argv\s*\[\s*\d*\s*:|\bargv\."
    if unknown or program.imported or re.search(asks, text.text):
        return
    if any(word.value is None or word.is_glob for word in program.arguments):
        return
    for node, around in text.nodes:
        if isinstance(node, ast.Subscript) and dotted(node.value) in ("sys.argv", "argv"):
            number = text.number(node.slice)
            if number is None or within(around, ast.If, ast.Try, ast.IfExp, ast.FunctionDef):
                continue
            given = len(program.arguments)
            if number > given and not program.command.launchers:
                message = f"the program reads argument {int(number)}, and {given} are given"
                yield hit(program.command, message)
                return
