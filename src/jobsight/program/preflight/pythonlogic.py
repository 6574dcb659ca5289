"""JS331–JS334: Python programs that compile, and fail when they get there."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
from collections.abc import Iterator

from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.variables import GIVEN
from jobsight.program.python import PythonText, catches, dotted
from jobsight.program.shell.model import Program
from jobsight.text import wordlist

__all__: list[str] = []

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _programs(job: Job) -> Iterator[tuple[Program, PythonText]]:
    """Programs that compile, and whose text is all known."""
    for program, text in job.pythons:
        if text.tree is not None and program.source is not None and program.source.exact:
            yield program, text


@rule(
    "JS331 A call that does not fit the function",
    fails="python3 - <<'EOF'\ndef area(x, y):\n    return x * y\nprint(area(3))\nEOF\n",
    passes="python3 - <<'EOF'\ndef area(x, y=1):\n    return x * y\nprint(area(3))\nEOF\n",
)
def _misfits(job: Job) -> Iterator[Hit]:
    """Too many, too few or unknown arguments of a function, class or method of the same program."""
    for program, text in _programs(job):
        known = _callables(text)
        for name, call, around in text.calls:
            cls = next((one for one in reversed(around) if isinstance(one, ast.ClassDef)), None)
            if name.startswith("self.") and cls is not None and _plain(cls):
                method = name[5:]
                found = next((f for f in cls.body if isinstance(f, _Function) and f.name == method),
                             None)  # fmt: skip
                bound = 1
            elif "." in name:
                found, bound = _method(name, text), 1
            else:
                found, bound = known.get(name, (None, 0))
            if found is None or catches(call, around, "TypeError") or found.decorator_list:
                continue
            if (wrong := _misfit(call, found.args, bound)) is not None:
                yield hit(call, f"{name}() {wrong}: TypeError", source=program.source)
        for node, _ in text.nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
                given = _returned(node.value, known)
                wanted = len(node.targets[0].elts)
                starred = any(isinstance(one, ast.Starred) for one in node.targets[0].elts)
                if given is not None and given != wanted and not starred:
                    message = f"{wanted} names for {given} values: ValueError"
                    yield hit(node, message, source=program.source)


def _method(name: str, text: PythonText) -> _Function | None:
    """The method of an object whose class is known."""
    variable, _, method = name.partition(".")
    for node, _ in text.nodes:
        if isinstance(node, ast.Assign) and dotted(node.targets[0]) == variable:
            made = dotted(node.value.func) if isinstance(node.value, ast.Call) else ""
            for cls in text.tree.body if text.tree else ():
                plain = isinstance(cls, ast.ClassDef) and cls.name == made and _plain(cls)
                if plain and text.stores[variable] == 1 and isinstance(cls, ast.ClassDef):
                    return next((f for f in cls.body if isinstance(f, _Function)
                                 and f.name == method), None)  # fmt: skip
    return None


def _returned(node: ast.AST, known: dict[str, tuple[_Function, int]]) -> int | None:
    """How many values a call of a function of the program gives; None: that is not known."""
    function = known.get(dotted(node.func), (None, 0))[0] if isinstance(node, ast.Call) else None
    if function is None or function.name == "__init__" or function.decorator_list:
        return None
    inner = list(ast.walk(function))
    if any(isinstance(one, ast.Yield | ast.YieldFrom) for one in inner):
        return None
    returns = [one.value for one in inner if isinstance(one, ast.Return)]
    sizes = {len(one.elts) if isinstance(one, ast.Tuple) else None for one in returns}
    return sizes.pop() if len(sizes) == 1 else None


def _callables(text: PythonText) -> dict[str, tuple[_Function, int]]:
    """Functions and classes that are bound once, with the number of arguments given unseen."""
    found: dict[str, tuple[_Function, int]] = {}
    for one in text.tree.body if text.tree else ():
        if isinstance(one, _Function) and text.stores[one.name] == 1:
            found[one.name] = (one, 0)
        elif isinstance(one, ast.ClassDef) and text.stores[one.name] == 1 and _plain(one):
            inits = [f for f in one.body if isinstance(f, _Function) and f.name == "__init__"]
            if len(inits) == 1 and not any(getattr(f, "name", "") == "__new__" for f in one.body):
                found[one.name] = (inits[0], 1)
    return found


def _plain(cls: ast.ClassDef) -> bool:
    return not (cls.bases or cls.keywords or cls.decorator_list)


def _misfit(call: ast.Call, given: ast.arguments, bound: int) -> str | None:
    if any(isinstance(one, ast.Starred) for one in call.args) or any(
        one.arg is None for one in call.keywords
    ):
        return None
    places = [one.arg for one in (*given.posonlyargs, *given.args)][bound:]
    if len(call.args) > len(places) and given.vararg is None:
        return f"takes {len(places)} arguments, {len(call.args)} are given"
    names = {one.arg or "" for one in call.keywords}
    if given.kwarg is None and (
        unknown := names - set(places) - {one.arg for one in given.kwonlyargs}
    ):
        return f"has no argument {min(unknown)}"
    needed = places[: len(places) - len(given.defaults)] + [
        one.arg for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        if value is None
    ]  # fmt: skip
    lacking = [one for one in needed if one not in names and one not in places[: len(call.args)]]
    return f"lacks the argument {lacking[0]}" if lacking else None


_MODULES = frozenset(
    wordlist(
        "math os sys re json time random itertools collections functools statistics datetime "
        "subprocess shutil pathlib csv glob string struct gzip argparse logging pickle copy heapq "
        "bisect operator tempfile hashlib socket threading signal decimal fractions cmath textwrap "
        "zipfile tarfile configparser io platform uuid warnings os.path multiprocessing queue "
        "contextlib dataclasses traceback bz2 lzma sqlite3 array calendar difflib locale"
    )
)
"""Modules of Python that are quick to import; no others are."""


@rule(
    "JS332 A module or an object has no such member",
    fails="python3 - <<'EOF'\nimport math\nprint(math.squareroot(2))\nEOF\n",
    passes="python3 - <<'EOF'\nimport math\nprint(math.sqrt(2))\nEOF\n",
)
def _members(job: Job) -> Iterator[Hit]:
    """Names of modules of Python, of modules next to the program, and of ``self``."""
    for program, text in _programs(job):
        if not re.search(r"\b(?:hasattr|setattr|__getattr__|__dict__|reload)\b", text.text):
            yield from _module_members(program, text, job)
            yield from _self_members(program, text)


def _module_members(program: Program, text: PythonText, job: Job) -> Iterator[Hit]:
    named: dict[str, str] = {}
    full = {one.full for one in text.imports}
    for node, around in text.nodes:
        if catches(node, around, "AttributeError", "ImportError"):
            continue
        if isinstance(node, ast.ImportFrom) and node.level and _is_main(program):
            yield hit(node, "a program has no package to import from: ImportError",
                      "import without the dot, or python -m", source=program.source)  # fmt: skip
        if isinstance(node, ast.Import):
            named |= {one.asname or one.name.partition(".")[0]: one.name if one.asname else
                      one.name.partition(".")[0] for one in node.names}  # fmt: skip
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for one in node.names:
                if one.name != "*" and _lacks(node.module, [one.name], program, job):
                    yield hit(node, f"{node.module} has no {one.name}", source=program.source)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            front, _, rest = dotted(node).partition(".")
            module = named.get(front, "")
            path = rest.split(".") if rest else []
            if not path or text.stores[front] != 1 or f"{module}.{path[0]}" in full:
                continue
            if _lacks(module, path, program, job) and not _lacks(module, path[:-1], program, job):
                yield hit(node, f"{module} has no {rest}", source=program.source)


def _is_main(program: Program) -> bool:
    """Whether it is started by its path."""
    module = any(one.text == "-m" for one in program.command.words)
    return not (program.imported or module or program.path is None)


def _lacks(module: str, path: list[str], program: Program, job: Job) -> bool:
    """Whether a module surely has no such member."""
    own = job.local_module(module, program)[1]
    if own is not None:
        text = PythonText(own.text)
        return (
            len(path) == 1 and text.tree is not None and "*" not in text.bound
            and path[0] not in text.bound and not path[0].startswith("__")
            and job.local_module(f"{module}.{path[0]}", program)[1] is None
            and not job.machine.is_folder(f"{own.folder}/{path[0]}")
        )  # fmt: skip
    if module not in _MODULES:
        return False
    place: object = importlib.import_module(module)
    for name in path:
        if not (inspect.ismodule(place) or inspect.isclass(place)):
            return False
        if not hasattr(place, name):
            return True
        place = getattr(place, name)
    return False


def _self_members(program: Program, text: PythonText) -> Iterator[Hit]:
    """Attributes of ``self`` that nothing sets, in classes without bases."""
    stored = {n.attr for n, _ in text.nodes
              if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load)}  # fmt: skip
    for node, around in text.nodes:
        if not (isinstance(node, ast.Attribute) and dotted(node.value) == "self"):
            continue
        classes = [one for one in around if isinstance(one, ast.ClassDef)]
        if len(classes) != 1 or not _plain(classes[0]) or catches(node, around, "AttributeError"):
            continue
        own = {getattr(one, "name", "") for one in classes[0].body}
        own |= {n.id for one in classes[0].body for n in ast.walk(one) if isinstance(n, ast.Name)}
        if node.attr not in stored | own and not hasattr(object, node.attr):
            yield hit(node, f"nothing sets self.{node.attr}: AttributeError", source=program.source)


@rule(
    "JS333 A name is used before it has a value",
    fails="python3 - <<'EOF'\nn = 0\ndef count():\n    n += 1\ncount()\nprint(n)\nEOF\n",
    passes="python3 - <<'EOF'\nn = 0\ndef count():\n    global n\n    n += 1\ncount()\nEOF\n",
)
def _too_early(job: Job) -> Iterator[Hit]:
    """A variable that a function assigns is its own; a function is there after its ``def``."""
    for program, text in _programs(job):
        assert text.tree is not None
        for node, _ in text.nodes:
            if isinstance(node, _Function):
                for name in _unbound(node):
                    message = f"{name.id} is a variable of {node.name}(), without a value here"
                    yield hit(name, message, f"global {name.id}", source=program.source)
        later = {one.name: k for k, one in enumerate(text.tree.body)
                 if isinstance(one, ast.FunctionDef | ast.ClassDef)
                 and text.stores[one.name] == 1}  # fmt: skip
        for at, statement in enumerate(text.tree.body):
            for one in _evaluated(statement):
                if isinstance(one, ast.Name) and later.get(one.id, -1) > at:
                    yield hit(one, f"{one.id} is defined further down", source=program.source)


def _evaluated(statement: ast.AST) -> Iterator[ast.AST]:
    """What a statement evaluates at once: without the bodies of functions, and of ``try``."""
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, _SCOPES) and not isinstance(node, ast.Try | ast.If):
            yield node
            waiting += ast.iter_child_nodes(node)


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
        looped = any(isinstance(one, ast.For | ast.While | ast.If | ast.With) for one in around)
        if name.id in stores and name.id not in parameters | seen:
            seen.add(name.id)
            augmented = bool(around) and isinstance(around[-1], ast.AugAssign)
            if (augmented or not looped) and (name.lineno, name.col_offset) < stores[name.id]:
                yield name


_TWO_METHODS = {"iteritems": "items", "itervalues": "values", "iterkeys": "keys", "has_key": "in"}
_LAZY = frozenset({"map", "filter", "zip", "reversed"})
_RUNS = frozenset(
    f"subprocess.{one}" for one in ("run", "call", "check_call", "check_output", "Popen")
)


@rule(
    "JS334 An operation that Python cannot do",
    fails="python3 - <<'EOF'\nn = 7\nfor k in range(n / 2):\n    print(k)\nEOF\n",
    passes="python3 - <<'EOF'\nn = 7\nfor k in range(n // 2):\n    print(k)\nEOF\n",
)
def _impossible(job: Job) -> Iterator[Hit]:
    """Fractions for ``range``, an index of ``map``, a text plus a number, ``input()``."""
    for program, text in _programs(job):
        fed = program.command.fed or program.path is None
        for node, around in text.nodes:
            if catches(
                node, around, "TypeError", "AttributeError", "LookupError", "EOFError", "OSError"
            ):
                continue
            found = _cannot(node, text, fed)
            if found is not None:
                yield hit(node, *found, source=program.source)  # type: ignore[arg-type]
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                yield from _environment(node, program, text, job)
                if (lacking := _not_in(node, text)) is not None:
                    yield hit(node, lacking, source=program.source)


def _cannot(node: ast.AST, text: PythonText, fed: bool) -> tuple[str, str | None] | None:
    """What fails, and what to write."""
    if isinstance(node, ast.Call):
        name = dotted(node.func)
        if name == "range" and any(map(_is_fraction, node.args)):
            return "range() takes whole numbers, and / gives a fraction", "//"
        if isinstance(node.func, ast.Attribute) and node.func.attr in _TWO_METHODS:
            other = _TWO_METHODS[node.func.attr]
            return f"Python 3 has no method {node.func.attr}", other
        if name == "input" and not fed:
            return "input() has nothing to read in a batch job: EOFError", "an argument"
        first = node.args[0] if node.args else None
        shell = any(one.arg in ("shell", None) for one in node.keywords)
        if name in _RUNS and isinstance(first, ast.Constant | ast.JoinedStr) and not shell:
            parts = [first] if isinstance(first, ast.Constant) else first.values
            words = "".join(str(one.value) for one in parts if isinstance(one, ast.Constant))
            if " " in words.strip():
                return f"{name} looks for a program of that whole name", "shell=True, or a list"
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):
        called = node.value.func
        if (dotted(called) in _LAZY and text.stores[dotted(called)] == 0) or (
            isinstance(called, ast.Attribute) and called.attr in ("keys", "values", "items")
            and not node.value.args and _is_number(node.slice)
        ):  # fmt: skip
            return "Python 3 makes no list here: TypeError", "list(...)[...]"
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        kinds = {_kind(node.left, text), _kind(node.right, text)}
        if kinds == {"text", "number"}:
            return "a text and a number cannot be added: TypeError", "str(...), or an f-string"
    return None


def _not_in(node: ast.Subscript, text: PythonText) -> str | None:
    """That a dictionary or list of constants, which nothing changes, lacks a key."""
    name, key = dotted(node.value), node.slice
    value = text.containers.get(name)
    if value is None or not isinstance(key, ast.Constant):
        return None
    if isinstance(value, ast.Dict):
        keys = [one.value for one in value.keys if isinstance(one, ast.Constant)]
        known = len(keys) == len(value.keys)
        return (
            f"{name} has no {key.value!r}: KeyError"[:90]
            if known and key.value not in keys
            else None
        )
    size = len(value.elts)
    wrong = isinstance(key.value, int) and not isinstance(key.value, bool) and key.value >= size
    return f"{name} has numbers 0 to {size - 1}: IndexError" if wrong else None


def _is_fraction(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and (
        isinstance(node.op, ast.Div)
        or (isinstance(node.op, ast.Add | ast.Sub | ast.Mult)
            and (_is_fraction(node.left) or _is_fraction(node.right)))
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
    return "number" if text.number(node) is not None else ""


def _environment(
    node: ast.Subscript, program: Program, text: PythonText, job: Job
) -> Iterator[Hit]:
    """``os.environ["X"]`` of a variable of the script that is not exported."""
    name = node.slice.value if isinstance(node.slice, ast.Constant) else None
    command = program.command
    if dotted(node.value) not in ("os.environ", "environ") or not isinstance(name, str):
        return
    if name in command.assigned or command.contained or os.environ.get(name) or "export" in str(
        re.findall(rf"(?:export|declare -x|set -a).*\b{re.escape(name)}\b", job.text)
    ) or re.search(r"set -\w*a|allexport", job.text):  # fmt: skip
        return
    if re.search(rf"['\"]{re.escape(name)}['\"]\s*(?:\]\s*=[^=]|\)?\s+(?:not )?in\b)", text.text):
        return
    if name in job.walk.assigned and not GIVEN.fullmatch(name):
        yield hit(
            node, f"{name} is not exported: KeyError", f"export {name}", source=program.source
        )
