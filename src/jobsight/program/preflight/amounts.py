"""How many bytes a program allocates at once, where its sizes are constant."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from jobsight.program.python import PythonText, dotted
from jobsight.program.tree.expressions import Given, evaluated
from jobsight.text import wordset

__all__ = ["allocations", "other_allocations"]

_SHAPED = wordset(
    "zeros ones empty full rand randn random random_sample standard_normal eye uniform normal "
    "arange linspace"
)
_BY_SIZE = {
    16: "complex128",
    8: "float64 float int64 int double complex64 uint64",
    4: "float32 int32 single uint32",
    2: "float16 int16 uint16 half bfloat16",
    1: "uint8 int8 bool bool_",
}
_SIZES = {name: size for size, names in _BY_SIZE.items() for name in names.split()}
_ARRAY_MODULES = ("np", "numpy", "torch", "cupy", "rng")
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
        if isinstance(first, ast.Constant) and isinstance(first.value, bytes):
            return len(first.value)
        return text.number(first)
    if name == "list" and isinstance(first, ast.Call) and dotted(first.func) == "range":
        count = text.number(first.args[-1]) if 0 < len(first.args) < 3 else None
        return None if count is None else 36 * count
    module, _, function = name.rpartition(".")
    known = function in _SHAPED and module.partition(".")[0] in _ARRAY_MODULES
    shape = _shape(node, function, text) if known else None
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
    second = node.args[1] if len(node.args) > 1 else None
    several = isinstance(second, ast.Constant | ast.Name) and text.number(second) is not None
    if function in ("rand", "randn") or (function in ("zeros", "ones") and several):
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


_C_SIZES = {"char": 1, "short": 2, "int": 4, "float": 4, "long": 8, "double": 8, "size_t": 8} | {
    f"{sign}int{bits}_t": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)
}
_OF_C = rf"\b({'|'.join(_C_SIZES)})"
_NESTED = r"((?:[^();]|\((?:[^()]|\([^()]*\))*\))*)"
_C_ARRAY = re.compile(rf"{_OF_C}\s+\w+\s*((?:\[\s*[\w* ]+\s*\])+)\s*[;=]")
_C_NEW = re.compile(rf"\bnew\s+{_OF_C}\s*\[([^\];]+)\]")
_VECTOR = re.compile(rf"\bvector\s*<\s*{_OF_C}\s*>\s*\w*\s*\({_NESTED}\)")
_C_CALL = re.compile(rf"\b(?:malloc|calloc)\s*\({_NESTED}\)")
_JULIA_SIZES = {f"{kind}{bits}": bits // 8 for kind in ("Float", "Int", "UInt")
                for bits in (8, 16, 32, 64)} | {"ComplexF64": 16, "ComplexF32": 8}  # fmt: skip
_JULIA = re.compile(
    r"\b(?:(?:zeros|ones|rand|randn)\(|Array\{)(?:rng,\s*)?"
    r"(?:([A-Z]\w+)\b(?:,\s*\d\}\(undef)?,)?([^;]*?)\)"
)
_R_SIZED = {"matrix": "data nrow ncol", "array": "data dim", "rep": "x times",
            "vector": "mode length",
            **dict.fromkeys(("numeric", "double", "integer", "logical"), "length"),
            **dict.fromkeys(("rnorm", "runif", "rexp"), "n")}  # fmt: skip
"""The first parameters of functions of R."""
_R_CALL = re.compile(rf"\b({'|'.join(_R_SIZED)})\s*\({_NESTED}\)")
_MATLAB = re.compile(rf"\b(?:zeros|ones|rand|randn|nan|NaN|eye)\({_NESTED}\)")
_FORTRAN_TYPE = re.compile(
    r"\s*(real|integer|complex|logical|double\s+precision)\s*(?:\*\s*(\d+)|\(([^)]*)\))?"
    r"\s*(?:,[^:]*(?:\([^)]*\)[^:]*)*)?::(.*)", re.I,
)  # fmt: skip
_FORTRAN_ARRAY = re.compile(r"(\w+)\s*\(((?:[^()]|\([^()]*\))*)\)")
_USED = re.compile(r"^[ \t]*use\s*(?:::)?\s*(\w+)|^[ \t]*#\s*include\s*\"([^\"]+)\"", re.M | re.I)


def other_allocations(
    text: str, language: str, others: Callable[[str], str]
) -> Iterator[tuple[int, float]]:
    """Lines of a program that allocate a constant amount of at least 1 MiB, with the bytes.

    Args:
        text: of the program.
        language: of it; of those that are not known here nothing is found.
        others: the text of a module or header that it uses; empty: it is not known.
    """
    if language not in _FINDERS:
        return
    used = [others(one or other) for one, other in _USED.findall(text)]
    known = _constants("\n".join([text, *used]), language)
    for line, size in _FINDERS[language](text, known):
        if size >= _SMALLEST:
            yield line, size


def _constants(text: str, language: str) -> dict[str, float]:
    """Names that stand for one number; those of Fortran in lower case."""
    if language == "fortran":
        plain = "\n".join(re.findall(r"(?im)^.*\bparameter\b.*$", re.sub(r"!.*", "", text)))
        kinds = {"real64": 8.0, "int64": 8.0, "real32": 4.0, "int32": 4.0, "real128": 16.0}
        for name, digits in re.findall(r"(\w+)\s*=\s*selected_real_kind\s*\(\s*(\d+)", plain, re.I):
            kinds[name.lower()] = 4.0 if int(digits) <= 6 else 8.0
        for name in re.findall(r"(\w+)\s*=\s*kind\s*\(\s*[\d.]+d", plain, re.I):
            kinds[name.lower()] = 8.0
        return {**Given(plain.lower(), language).constants, **kinds}
    found = dict(Given(text, language).constants)
    for name, value in re.findall(r"^[ \t]*#\s*define\s+(\w+)[ \t]+(\S.*)$", text, re.M):
        if (number := evaluated(value, found)) is not None:
            found[name] = number
    return found


def _of_c(text: str, known: Mapping[str, float]) -> Iterator[tuple[int, float]]:
    total, kept = 0.0, not re.search(r"\bfree\s*\(", text)
    for number, line in enumerate(text.split("\n"), 1):
        plain = line.partition("//")[0]
        for found in _C_ARRAY.finditer(plain):
            counts = re.findall(r"\[([^\]]+)", found[2])
            yield from _counted(number, _C_SIZES[found[1]], counts, known)
        for found in (*_C_NEW.finditer(plain), *_VECTOR.finditer(plain)):
            count = _items(found[2])[:1]
            yield from _counted(number, _C_SIZES[found[1]], count, known)
        for found in _C_CALL.finditer(plain):
            sizes = r"sizeof\s*\(\s*(\w+)\s*\)"
            inner = re.sub(sizes, lambda m: str(_C_SIZES.get(m[1], m[1])), found[1])
            inner = re.sub(r"sizeof\s*\(?\s*\*\s*(\w+)\s*\)?", partial(_pointed, text), inner)
            for _, size in _counted(number, 1, _items(inner), known):
                total = total + size if kept else size
                yield number, total


def _of_julia(text: str, known: Mapping[str, float]) -> Iterator[tuple[int, float]]:
    for number, line in enumerate(text.split("\n"), 1):
        for found in _JULIA.finditer(line.partition("#")[0]):
            size = _JULIA_SIZES.get(found[1] or "Float64", 8)
            yield from _counted(number, size, _items(found[2]), known)


def _of_r(text: str, known: Mapping[str, float]) -> Iterator[tuple[int, float]]:
    for number, line in enumerate(text.split("\n"), 1):
        for name, inner in _R_CALL.findall(line.partition("#")[0]):
            items = [re.split(r"(?<=\w)\s*=(?!=)", one, maxsplit=1) for one in _items(inner)]
            given = {one[0].strip(): one[1].strip() for one in items if len(one) > 1}
            free = iter([one[0].strip() for one in items if len(one) == 1])
            values = {key: given.get(key) or next(free, "") for key in _R_SIZED[name].split()}
            kind = values.pop("data", "") or values.pop("x", "") or values.pop("mode", name)
            small = re.search(r"integer|logical|\d+L$|^(?:NA|TRUE|FALSE)$", kind)
            counts = [re.sub(r"(?<=\d)L\b", "", one) for one in values.values()]
            if name == "array":
                counts = _items(re.sub(r"^c\(|\)$", "", counts[0]))
            if name != "rep" or re.fullmatch(r"[\d.]+L?|NA|TRUE|FALSE", kind):
                yield from _counted(number, 4 if small else 8, counts, known)


def _of_matlab(text: str, known: Mapping[str, float]) -> Iterator[tuple[int, float]]:
    """Of one extent both are the same."""
    for number, line in enumerate(text.split("\n"), 1):
        for inner in _MATLAB.findall(line.partition("%")[0]):
            counts = [one for one in _items(inner) if not one.strip().startswith(("'", '"'))]
            counts = counts * 2 if len(counts) == 1 else counts
            size = next((n for kind, n in _SIZES.items() if re.search(rf"['\"]{kind}\b", inner)), 8)
            yield from _counted(number, size, counts, known)


def _of_fortran(text: str, known: Mapping[str, float]) -> Iterator[tuple[int, float]]:
    """Arrays of a size of their own; what is allocated and never freed adds up."""
    sizes: dict[str, float] = {}
    total, kept = 0.0, not re.search(r"\bdeallocate\b", text, re.I)
    for number, line in enumerate(text.lower().split("\n"), 1):
        plain = line.partition("!")[0]
        if found := _FORTRAN_TYPE.match(plain):
            size = 8.0 if found[1].startswith("double") else 4.0
            kind = (found[3] or found[2] or "").rpartition("=")[2].strip()
            size = (evaluated(kind, known) or size) * (2 if found[1] == "complex" else 1)
            for name, dims in _FORTRAN_ARRAY.findall(found[4]):
                sizes[name] = size
                yield from _counted(number, size, map(_extent, _items(dims)), known)
        elif given := re.match(r"\s*allocate\s*\((.*)\)", plain):
            for name, dims in _FORTRAN_ARRAY.findall(given[1]):
                extents = map(_extent, _items(dims))
                for _, size in _counted(number, sizes.get(name, 4.0), extents, known):
                    total = total + size if kept else max(total, size)
            yield number, total


def _extent(bounds: str) -> str:
    low, colon, high = bounds.partition(":")
    return f"({high})-({low})+1" if colon and low.strip() and high.strip() else bounds


def _items(text: str) -> list[str]:
    parts = re.findall(r"(?:[^,()]|\((?:[^()]|\([^()]*\))*\))+", text)
    return [one for one in parts if one.strip()]


def _counted(
    line: int, size: float, counts: Iterable[str], known: Mapping[str, float]
) -> Iterator[tuple[int, float]]:
    """Line and bytes of an array, if all its extents are known."""
    numbers = [evaluated(one, known) for one in counts]
    sizes = [one for one in numbers if one is not None and one > 0]
    if sizes and len(sizes) == len(numbers):
        yield line, size * math.prod(sizes)


def _pointed(text: str, size_of: re.Match[str]) -> str:
    """The bytes of ``sizeof *name``, by its only declaration."""
    form = rf"{_OF_C}\s*(?:\*\s*\w+\s*,\s*)*\*\s*(?:restrict\s+)?{size_of[1]}\b"
    found = set(re.findall(form, text))
    return str(_C_SIZES[found.pop()]) if len(found) == 1 else size_of[1]


_FINDERS = {"c": _of_c, "cpp": _of_c, "fortran": _of_fortran, "julia": _of_julia,
            "matlab": _of_matlab, "r": _of_r}  # fmt: skip
