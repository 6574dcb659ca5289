"""How many bytes a Python program allocates at once, where its sizes are constant."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from functools import partial

from jobsight.program.python import PythonText, dotted
from jobsight.text import wordlist

__all__ = ["allocations", "c_allocations"]

_SHAPED = frozenset(
    wordlist(
        "zeros ones empty full rand randn random random_sample standard_normal eye uniform "
        "normal arange linspace"
    )
)
_SIZES = {
    "float64": 8,
    "float": 8,
    "int64": 8,
    "int": 8,
    "double": 8,
    "complex128": 16,
    "float32": 4,
    "int32": 4,
    "single": 4,
    "uint32": 4,
    "float16": 2,
    "int16": 2,
    "uint16": 2,
    "half": 2,
    "uint8": 1,
    "int8": 1,
    "bool": 1,
    "bool_": 1,
    "complex64": 8,
    "uint64": 8,
    "bfloat16": 2,
}
_SMALLEST = 1 << 20


def allocations(text: PythonText) -> Iterator[tuple[ast.expr, float]]:
    """Expressions that allocate at least 1 MiB, with their bytes."""
    for node, around in text.nodes:
        if not isinstance(node, ast.expr) or any(isinstance(one, ast.BinOp) for one in around[-1:]):
            continue
        size = _size(node, text)
        if size is not None and size >= _SMALLEST:
            yield node, size


def _size(node: ast.expr, text: PythonText) -> float | None:
    if isinstance(node, ast.Call):
        return _call_size(node, text)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for left, right in ((node.left, node.right), (node.right, node.left)):
            count = text.number(right)
            if count is None:
                continue
            if isinstance(left, ast.Constant) and isinstance(left.value, str | bytes):
                return len(left.value) * count
            if isinstance(left, ast.List):
                return 8 * len(left.elts) * count
            inner = _size(left, text) if isinstance(left, ast.BinOp | ast.Call) else None
            if inner is not None:
                return inner * count
    return None


def _call_size(node: ast.Call, text: PythonText) -> float | None:
    name = dotted(node.func)
    first = node.args[0] if node.args else None
    if name in ("bytearray", "bytes"):
        known = isinstance(first, ast.Constant) and isinstance(first.value, bytes)
        return len(first.value) if known else text.number(first)  # type: ignore[union-attr]
    if name == "list" and isinstance(first, ast.Call) and dotted(first.func) == "range":
        count = text.number(first.args[-1]) if 0 < len(first.args) < 3 else None
        return None if count is None else 36 * count
    module, _, function = name.rpartition(".")
    if function not in _SHAPED or module.partition(".")[0] not in (
        "np",
        "numpy",
        "torch",
        "cupy",
        "rng",
    ):
        return None
    shape = _shape(node, function, text)
    if shape is None:
        return None
    default = 4 if module.startswith("torch") else 8
    return math.prod(shape) * _item(node, default)


def _shape(node: ast.Call, function: str, text: PythonText) -> list[float] | None:
    keywords = {one.arg: one.value for one in node.keywords}
    first: ast.expr | None = keywords.get("size") or keywords.get("shape")
    if first is None:
        if function in ("uniform", "normal") or function == "linspace":
            first = node.args[2] if len(node.args) > 2 else None
        elif node.args:
            first = node.args[0]
    given = [first] if first is not None else []
    if function in ("rand", "randn") or (
        function in ("zeros", "ones", "rand")
        and len(node.args) > 1
        and isinstance(node.args[1], ast.Constant | ast.Name)
        and text.number(node.args[1]) is not None
    ):
        given = list(node.args)
    if function == "eye" and given:
        given = [given[0], given[0]]
    if len(given) == 1 and isinstance(given[0], ast.Tuple | ast.List):
        given = list(given[0].elts)
    if function == "arange" and len(node.args) > 1:
        return None
    numbers = [text.number(one) for one in given]
    known = [one for one in numbers if one is not None]
    return known if known and len(known) == len(numbers) else None


def _item(node: ast.Call, default: int) -> int:
    for one in node.keywords:
        if one.arg == "dtype":
            name = one.value.value if isinstance(one.value, ast.Constant) else dotted(one.value)
            return _SIZES.get(str(name).rpartition(".")[2], default)
    return default


_C_SIZES = {"char": 1, "short": 2, "int": 4, "float": 4, "long": 8, "double": 8, "size_t": 8}
_C_ARRAY = re.compile(
    r"\b(char|short|int|float|long|double)\s+\w+\s*((?:\[\s*[\w* ]+\s*\])+)\s*[;=]"
)
_C_CALL = re.compile(r"\b(?:malloc|calloc)\s*\(((?:[^();]|\([^()]*\))*)\)")


def c_allocations(text: str) -> Iterator[tuple[int, float]]:
    """Lines of a C program that allocate a constant amount of at least 1 MiB, with the bytes."""
    defined = {
        m[1]: m[2] for m in re.finditer(r"^\s*#\s*define\s+(\w+)\s+(\d+)[uUlL]*\s*$", text, re.M)
    }
    for number, line in enumerate(text.split("\n"), 1):
        for found in (*_C_ARRAY.finditer(line), *_C_CALL.finditer(line)):
            factors = [str(_C_SIZES[found[1]])] if found.re is _C_ARRAY else []
            inner = (
                found[2].replace("][", "*").strip("[] ") if factors else found[1].replace(",", "*")
            )
            inner = re.sub(
                r"sizeof\s*\(\s*(\w+)\s*\)", lambda m: str(_C_SIZES.get(m[1], "?")), inner
            )
            inner = re.sub(r"sizeof\s*\(?\s*\*\s*(\w+)\s*\)?", partial(_pointed, text), inner)
            factors += [
                defined.get(one, one) for one in (part.strip("() ") for part in inner.split("*"))
            ]
            plain = [
                re.sub(r"[uUlL]+$", "", re.sub(r"^\(\w+\)", "", one)).strip() for one in factors
            ]
            if all(one.isdecimal() and len(one) < 19 for one in plain):
                size = float(math.prod(map(int, plain)))
                if size >= _SMALLEST:
                    yield number, size


def _pointed(text: str, size_of: re.Match[str]) -> str:
    """The bytes of ``sizeof *name``, by its only declaration."""
    types = "|".join(_C_SIZES)
    found = set(re.findall(rf"\b({types})\s*\*\s*(?:restrict\s+)?{size_of[1]}\b", text))
    return str(_C_SIZES[found.pop()]) if len(found) == 1 else "?"
