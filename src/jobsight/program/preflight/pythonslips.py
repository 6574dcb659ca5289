"""JS358–JS360: parts of Python programs that never run, and values that are not there."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.pythoncalls import compiled_programs, imported, known_in
from jobsight.program.python import PythonText, catches, dotted, within

__all__: list[str] = []

_Function = ast.FunctionDef | ast.AsyncFunctionDef


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
