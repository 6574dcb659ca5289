"""JS331, JS332, JS358–JS360: calls, members and results that are not there, or do not fit."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TypeVar

from jobsight.program.known import KNOWN
from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.python import PythonText, catches, dotted, within
from jobsight.program.shell.model import Program, Source
from jobsight.text import closest, wordset

__all__ = ["compiled_programs", "imported", "known_in"]

T = TypeVar("T")

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def compiled_programs(job: Job) -> Iterator[tuple[Program, PythonText]]:
    """Programs that compile, and whose text is all known."""
    for program, text in job.pythons:
        if text.tree is not None and program.source is not None and program.source.exact:
            yield program, text


def imported(
    program: Program, text: PythonText, job: Job
) -> dict[str, tuple[PythonText, str, Source]]:
    """Functions of modules next to a program as it calls them: the module, their name in it."""
    texts = {one.source.file: (other, one.source) for one, other in job.pythons if one.source}
    found: dict[str, tuple[PythonText, str, Source]] = {}
    for node, _ in text.nodes:
        module = node.module if isinstance(node, ast.ImportFrom) and not node.level else None
        if not (module or isinstance(node, ast.Import)):
            continue
        for one in getattr(node, "names", ()):
            source = job.local_module(module or one.name, program)[1]
            there = texts.get(source.file) if source else None
            own = one.asname or one.name
            if there is None or text.stores[own.partition(".")[0]] != 1:
                continue
            for name in (one.name,) if module else tuple(there[0].stores):
                found[own if module else f"{own}.{name}"] = (there[0], name, there[1])
    return found


@rule("JS331 A call that does not fit the function")
def _misfits(job: Job) -> Iterator[Hit]:
    """Too many, too few or unknown arguments of a function, class or method of the same program."""
    for program, text in compiled_programs(job):
        known = known_in(_callables, text, imported(program, text, job))
        for name, call, around in text.calls:
            cls = next((one for one in reversed(around) if isinstance(one, ast.ClassDef)), None)
            if name.startswith("self.") and cls is not None and _plain(cls):
                method = name[5:]
                found = next((f for f in cls.body if isinstance(f, _Function) and f.name == method),
                             None)  # fmt: skip
                bound = 1
            elif "." in name and name not in known:
                found, bound = _method(name, text), 1
            else:
                found, bound = known.get(name, (None, 0))
            if found is None or catches(call, around, "TypeError") or found.decorator_list:
                continue
            if (wrong := _misfit(call, found.args, bound)) is not None:
                yield hit(call, f"{name}() {wrong}: TypeError", source=program.source)
        for node, around in text.nodes:
            cls = around[-1] if around and isinstance(around[-1], ast.ClassDef) else None
            if isinstance(node, _Function) and cls is not None and _selfless(node, text):
                yield hit(node, f"{node.name}() has no self: TypeError where it is called",
                          f"def {node.name}(self)", source=program.source)  # fmt: skip


def _selfless(node: _Function, text: PythonText) -> bool:
    """Whether a method takes nothing, and is called of an object."""
    given = node.args
    takes = given.posonlyargs or given.args or given.vararg or node.decorator_list
    return not takes and any(
        isinstance(call.func, ast.Attribute) and call.func.attr == node.name
        and (dotted(call.func.value) == "self" or not dotted(call.func.value)[:1].isupper())
        for _, call, _ in text.calls
    )  # fmt: skip


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


def known_in(
    read: Callable[[PythonText], dict[str, T]], text: PythonText,
    others: dict[str, tuple[PythonText, str, Source]],
) -> dict[str, T]:  # fmt: skip
    """What is read of a program and of the modules of `imported`, by the program's own names."""
    theirs = {id(module): read(module) for module, _, _ in others.values()}
    return read(text) | {name: theirs[id(module)][own] for name, (module, own, _) in others.items()
                         if own in theirs[id(module)]}  # fmt: skip


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
    if within(call.args, ast.Starred) or any(one.arg is None for one in call.keywords):
        return None
    places = [one.arg for one in (*given.posonlyargs, *given.args)][bound:]
    if len(call.args) > len(places) and given.vararg is None:
        return f"takes {len(places)} arguments, {len(call.args)} are given"
    names = {one.arg or "" for one in call.keywords}
    unknown = names - {*places, *(one.arg for one in given.kwonlyargs)}
    if given.kwarg is None and unknown:
        return f"has no argument {min(unknown)}"
    needed = places[: len(places) - len(given.defaults)] + [
        one.arg for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        if value is None
    ]  # fmt: skip
    lacking = [one for one in needed if one not in names and one not in places[: len(call.args)]]
    return f"lacks the argument {lacking[0]}" if lacking else None


_MODULES = wordset(KNOWN["pythoncalls"]["modules"])
"""Modules of Python that are quick to import; no others are."""


@rule("JS332 A module or an object has no such member")
def _members(job: Job) -> Iterator[Hit]:
    """Names of modules of Python, of modules next to the program, and of ``self``."""
    for program, text in compiled_programs(job):
        if not re.search(r"\b(?:hasattr|setattr|__getattr__|__dict__|reload)\b", text.text):
            yield from _module_members(program, text, job)
            yield from _self_members(program, text)
            yield from _object_members(program, text)


_KINDS: tuple[tuple[type[ast.expr], type], ...] = (
    (ast.List, list), (ast.ListComp, list), (ast.Dict, dict), (ast.DictComp, dict), (ast.Set, set),
    (ast.SetComp, set), (ast.Tuple, tuple), (ast.JoinedStr, str),
)  # fmt: skip


def _object_members(program: Program, text: PythonText) -> Iterator[Hit]:
    """Methods of names that are given a list, a dictionary, a text and so on, and nothing else."""
    for name, call, around in text.calls:
        front, _, method = name.rpartition(".")
        value = text.values.get(front)
        if value is None or text.stores[front] != 1 or catches(call, around, "AttributeError"):
            continue
        kind = next((own for form, own in _KINDS if isinstance(value, form)), None)
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            kind = str
        if kind is not None and not hasattr(kind, method):
            message = f"a {kind.__name__} has no {method}(): AttributeError"
            close = closest(method, [n for n in dir(kind) if n[0] != "_"])
            yield hit(call, message, close, source=program.source)


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
            if not (module and path) or text.stores[front] != 1 or f"{module}.{path[0]}" in full:
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


@rule("JS358 The main part of a Python program never runs")
def _never_main(job: Job) -> Iterator[Hit]:
    """``__name__`` is ``"__main__"`` in the program that is run."""
    for program, text in compiled_programs(job):
        for node, _ in text.nodes:
            if isinstance(node, ast.Compare) and dotted(node.left) == "__name__":
                right = node.comparators[0]
                value = right.value if isinstance(right, ast.Constant) else "__main__"
                if value != "__main__" and isinstance(node.ops[0], ast.Eq) and not program.imported:
                    yield hit(node, f"__name__ is never {value!r}", '"__main__"',
                              source=program.source)  # fmt: skip


@rule("JS359 A function gives nothing, and its result is used")
def _nothing_returned(job: Job) -> Iterator[Hit]:
    """A function without ``return``, and methods that change a list in place."""
    for program, text in compiled_programs(job):
        others = imported(program, text, job)
        silent, functions = (known_in(one, text, others) for one in (_silent, _functions))
        empty = {
            name: value for name, value in _last_values(text).items()
            if isinstance(value, ast.Call)
            and (dotted(value.func) in silent or _in_place(value, text))
        }  # fmt: skip
        seen: set[str] = set()
        for node, around in text.nodes:
            name = _used(node) or _handed(node, functions, empty.keys())
            value = None if name in seen else empty.get(name)
            if value is None or getattr(node, "lineno", 0) <= value.lineno:
                continue
            if catches(node, around, "TypeError", "AttributeError"):
                continue
            seen.add(name)
            assert isinstance(value, ast.Call)
            message = f"{name} is None: {ast.unparse(value.func)}() gives nothing"
            yield hit(node, message, "return", source=program.source)  # type: ignore[arg-type]
            called = dotted(value.func)
            if (gives := silent.get(called)) is not None:
                message = f"{gives.name}() gives nothing, and its result is used"
                source = others[called][2] if called in others else program.source
                yield hit(gives, message, "return", source=source)


def _functions(text: PythonText) -> dict[str, _Function]:
    return {one.name: one for one, _ in text.nodes if isinstance(one, _Function)}


def _last_values(text: PythonText) -> dict[str, ast.expr]:
    """What names have from a line on: the assignment, which always runs, is their last."""
    last = {
        name: node.lineno for node, _ in text.nodes
        for name in [getattr(node, "arg", None) or getattr(node, "id", None)]
        if isinstance(node, ast.arg | ast.Name) and name
        and not isinstance(getattr(node, "ctx", None), ast.Load)
    }  # fmt: skip
    return {
        name: node.value for node, around in text.nodes if isinstance(node, ast.Assign)
        for name in [dotted(node.targets[0])] if last.get(name) == node.lineno
        and isinstance(around[-1], ast.Module | ast.FunctionDef)
    }  # fmt: skip


def _handed(node: ast.AST, functions: Mapping[str, _Function], names: Collection[str]) -> str:
    """The one of some names that a node hands to a function that reads from it."""
    function = functions.get(dotted(node.func)) if isinstance(node, ast.Call) else None
    if function is None or not isinstance(node, ast.Call):
        return ""
    read = {_used(one) for one in ast.walk(function)}
    given = zip(function.args.args, node.args, strict=False)
    found = (dotted(one) for taken, one in given if taken.arg in read)
    return next((one for one in found if one in names), "")


def _silent(text: PythonText) -> dict[str, ast.FunctionDef]:
    """Functions that end without a value, whatever they do."""
    found = {}
    for one in text.tree.body if text.tree else ():
        if not isinstance(one, ast.FunctionDef) or one.decorator_list:
            continue
        inner = list(ast.walk(one))
        gives = any(isinstance(n, ast.Return) and n.value is not None for n in inner)
        gives = gives or within(inner, ast.Yield, ast.YieldFrom)
        if text.stores[one.name] == 1 and not (gives or isinstance(one.body[-1], ast.Raise)):
            found[one.name] = one
    return found


def _in_place(call: ast.Call, text: PythonText) -> bool:
    """``xs.sort()`` of a list that the program makes."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in (
        "sort", "append", "extend", "reverse", "insert"
    ):  # fmt: skip
        return False
    made = text.values.get(dotted(call.func.value))
    listed = isinstance(made, ast.Call) and dotted(made.func) in ("list", "sorted")
    return listed or isinstance(made, ast.List | ast.ListComp)


def _used(node: ast.AST) -> str:
    """The name that a node reads from, iterates over or measures."""
    if isinstance(node, ast.Subscript | ast.Attribute):
        return dotted(node.value)
    if isinstance(node, ast.For):
        return dotted(node.iter)
    if isinstance(node, ast.Call) and dotted(node.func) in ("len", "sum", "max", "min", "sorted"):
        return dotted(node.args[0]) if node.args else ""
    return ""


@rule("JS360 A loop goes beyond the end of its list")
def _beyond(job: Job) -> Iterator[Hit]:
    """``x[i + 1]`` in ``range(len(x))``, ``x[i]`` in ``range(len(x) + 1)``."""
    for program, text in compiled_programs(job):
        for loop, around in text.nodes:
            if not isinstance(loop, ast.For) or catches(loop.iter, (*around, loop), "IndexError"):
                continue
            name, most = _range(loop, text)
            index = dotted(loop.target)
            inner = [one for part in loop.body for one in ast.walk(part)]
            if not (name and index) or within(inner, ast.If, ast.IfExp, ast.Try, ast.Break):
                continue
            for node in inner:
                over = _offset(node, name, index) if isinstance(node, ast.Subscript) else None
                if over is not None and over + most > 0:
                    message = f"the last {ast.unparse(node)} is beyond the end: IndexError"
                    yield hit(node, message, source=program.source)  # type: ignore[arg-type]
                    break


def _range(loop: ast.For, text: PythonText) -> tuple[str, float]:
    """The list whose length bounds a loop, and how far behind its last the loop goes."""
    call = loop.iter
    if not isinstance(call, ast.Call) or dotted(call.func) != "range":
        return "", 0
    if len(call.args) not in (1, 2):
        return "", 0
    stop, more = call.args[-1], 0.0
    if isinstance(stop, ast.BinOp) and isinstance(stop.op, ast.Add | ast.Sub):
        number = text.number(stop.right)
        if number is None:
            return "", 0
        more = number if isinstance(stop.op, ast.Add) else -number
        stop = stop.left
    if isinstance(stop, ast.Call) and dotted(stop.func) == "len" and len(stop.args) == 1:
        name = dotted(stop.args[0])
        lists = isinstance(text.values.get(name), ast.List | ast.ListComp)
        return (name, more) if lists and text.stores[name] == 1 else ("", 0)
    return "", 0


def _offset(node: ast.Subscript, name: str, index: str) -> int | None:
    """K of ``name[index + k]``; None: it is something else."""
    if dotted(node.value) != name or not isinstance(node.ctx, ast.Load):
        return None
    place = node.slice
    if dotted(place) == index:
        return 0
    if isinstance(place, ast.BinOp) and dotted(place.left) == index:
        right = place.right.value if isinstance(place.right, ast.Constant) else None
        if isinstance(right, int) and isinstance(place.op, ast.Add | ast.Sub):
            return right if isinstance(place.op, ast.Add) else -right
    return None
