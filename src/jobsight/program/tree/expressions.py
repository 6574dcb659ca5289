"""Values that a text gives: of its expressions, and of its names and parameters by other lines."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from jobsight.text import wordset

__all__ = ["KnownValues", "computed", "evaluated", "number_of"]

_NUMBER_FORM = re.compile(
    r"0[xX][\da-fA-F_]+|0[bB][01_]+|(?:\d[\d_']*\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?"
)
_TOKEN = re.compile(
    rf"\s*(?:({_NUMBER_FORM.pattern})(?:[uUlLfF]+|_?[iuf](?:8|16|32|64|size))?(?!\w)"
    r"|([A-Za-z_]\w*)|(<<|>>|\*\*|//|\.?[-+*/^%]|[()]))"
)
_CASTS = wordset(
    "int Int long size_t unsigned float double usize u64 i64 u32 i32 std round Integer"
)
_OPERATORS: Mapping[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Pow: "**",
    ast.LShift: "<<",
}  # fmt: skip
_LONGEST = 120
_NESTED = r"(?:[^()\n]|\([^()\n]*\))"
_CALL = re.compile(rf"\b([A-Za-z_]\w*)[ \t]*(?=\(({_NESTED}{{1,160}})\))")
_ARGUMENT = re.compile(r"(?:[^,()]|\([^()]*\))+")
_ASSIGNED = re.compile(
    r"(\bdo[ \t]+(?:\d+[ \t]+)?)?\b([A-Za-z_]\w*)\b[^\S\n]*(?::[ \t]*\w+[ \t]*)?"
    r"(?:=|<-)(?!=)([^,;\n]*)", re.I,
)  # fmt: skip
_MADE = re.compile(
    r"\b([A-Za-z_]\w*)[ \t]{0,8}=[ \t]{0,8}(?:await )?([A-Za-z_][\w.]*)\(|"
    r"\bwith[ \t]+([A-Za-z_][\w.]*)\([^\n]{0,200}\)[ \t]+as[ \t]+(\w+)"
)
_ENTRY = re.compile(r"[\"'](\w+)[\"'][ \t]*(?::|=>)[ \t]*([^,}\n]+)")
_UNPACKED = re.compile(
    r"^(?:my|let)?[ \t]*\(?([\w$, \t]{1,80}?)\)?[ \t]{0,8}="
    r"[^=\n]{0,120}(?:argv\[1:\d*\]|@ARGV\b)", re.M,
)  # fmt: skip
_SHIFTED = re.compile(r"^my[ \t]+\$(\w+)[ \t]*=[ \t]*shift\b", re.M)
_TAKEN = re.compile(
    r"get_command_argument[ \t]{0,4}\([ \t]{0,4}(\d+)[ \t]{0,4},[ \t]{0,4}(\w+)[ \t]{0,4}\)"
    r"[\s;]{0,40}read[ \t]{0,4}\([ \t]{0,4}\2[ \t]{0,4},[ \t]{0,4}\*[ \t]{0,4}\)[ \t]{0,4}(\w+)",
    re.I,
)
_ARGUMENT_AT = re.compile(r"\barg[sv]\[(\d+)\]")
_ALL_ARGUMENTS = re.compile(r"\*.*\bargv\[1:\d*\]")
_ALTERNATIVES = re.compile(r"\s+if\s.*\selse\s+|^.*\s\?|\s:\s|\s+or\s+|\|\|")
_KEYWORD = re.compile(r"\s*(\w+)\s*=(?!=)(.*)", re.S)
_FROM_ZERO = frozenset({"java"})
_LAST = frozenset({"c", "cpp", "cuda", "java"})
"""Languages in which the name of a parameter follows its type."""


def number_of(text: str) -> float | None:
    """The value of a literal number, whatever the language; None: not one."""
    found = _NUMBER_FORM.match(text)
    if found is None:
        return None
    plain = re.sub(r"[_']", "", found[0])
    try:
        if plain[:2].lower() in ("0x", "0b"):
            return float(int(plain, 0))
        return float(re.sub(r"[dD]", "e", plain))
    except (ValueError, OverflowError):
        return None


def evaluated(text: str, known: Mapping[str, float]) -> float | None:
    """The value of an arithmetic expression in any language; None: unknown.

    Args:
        text: of the expression.
        known: values of names.
    """
    parts, at = [], 0
    text = text.strip()
    while at < len(text) <= _LONGEST:
        found = _TOKEN.match(text, at)
        if found is None:
            return None
        number, name, sign = found.groups()
        value = number_of(number) if number else known.get(name) if name else None
        if value is not None and math.isfinite(value):
            parts.append(repr(value))
        elif sign:
            parts.append(sign.strip(".").replace("^", "**"))
        elif name not in _CASTS:
            return None
        at = found.end()
    try:
        return _worth(ast.parse(" ".join(parts).replace("( )", "").strip(), mode="eval").body)
    except (SyntaxError, RecursionError):
        return None


def _worth(node: ast.expr) -> float | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, float):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _worth(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _worth(node.left), _worth(node.right)
        if left is not None and right is not None:
            return computed(_OPERATORS[type(node.op)], [left, right])
    return None


def computed(operator: str, values: list[float]) -> float | None:
    """The value of an operation; of one that is not known the largest of the operands."""
    if len(values) == 1:
        return values[0]
    if len(values) != 2:
        return None
    left, right = values
    try:
        match operator:
            case "*" | ".*":
                return left * right
            case "+":
                return left + right
            case "-":
                return left - right
            case "/" | "//" | "./" | "div":
                return left / right if right else None
            case "<<":
                return left * math.pow(2.0, min(right, 64))
            case "**" | "^" | ".^":
                return float(math.pow(left, right)) if abs(right) < 64 and left >= 0 else None
    except (OverflowError, ZeroDivisionError):
        return None
    return max(left, right)


class KnownValues:
    """What a text says of its names elsewhere than where they are used.

    Args:
        text: of the program.
        language: of it.
        arguments: of its command line; None: unknown.
    """

    def __init__(
        self, text: str, language: str, arguments: Sequence[str | None] | None = None
    ) -> None:
        self._text, self._language = text, language
        self.arguments = arguments or ()

    @cached_property
    def constants(self) -> dict[str, float]:
        """Names that are assigned once, a number."""
        found: dict[str, list[str]] = {}
        for loop, name, value in _ASSIGNED.findall(self._text):
            found.setdefault(name, []).append("" if loop else value)
        once = ((name, one[0]) for name, one in found.items() if len(one) == 1)
        return self._known(once)

    @cached_property
    def passed(self) -> dict[str, float]:
        """Numbers of the command line by the names that take them in their order."""
        if not self.arguments:
            return {}
        taken = [(int(at) - 1, name) for at, _, name in _TAKEN.findall(self._text)]
        for names in (*_UNPACKED.findall(self._text), ",".join(_SHIFTED.findall(self._text))):
            taken += enumerate(one.strip(" $") for one in names.rpartition("\n")[2].split(","))
        found = ((name, self.argument(at)) for at, name in taken if name)
        return {name: value for name, value in found if value is not None}

    @cached_property
    def makers(self) -> dict[str, str]:
        """Names that are all through the text what one call makes: ``with Session() as name``."""
        found: dict[str, set[str]] = {}
        for name, maker, other, alias in _MADE.findall(self._text):
            found.setdefault(name or alias, set()).add(maker or other)
        return {name: one.pop() for name, one in found.items() if len(one) == 1}

    @cached_property
    def entries(self) -> dict[str, float]:
        """Numbers by the keys of dictionaries."""
        return self._known(_ENTRY.findall(self._text))

    @cached_property
    def _calls(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, given in _CALL.findall(self._text):
            found.setdefault(name, []).append(given)
        return found

    def parameters(self, function: str, head: str) -> dict[str, float]:
        """The largest numbers that calls give the parameters of a function, else their defaults.

        Args:
            function: its name, or that of the class that it makes objects of.
            head: its text, from its name on.
        """
        listed = re.search(r"\(((?:[^()]|\([^()]*\))*)\)", head)
        plain = [one for one in _ARGUMENT.findall(listed[1] if listed else "") if one.strip()]
        plain = plain[bool(plain) and plain[0].strip() in ("self", "cls") :]
        names, found = [], {}
        for one in plain:
            left, equals, default = one.partition("=")
            words = re.findall(r"[A-Za-z_]\w*", left)
            names.append((words[-1 if self._language in _LAST else 0]) if words else "")
            if equals and (value := evaluated(default, {})) is not None:
                found[names[-1]] = value
        calls = [self._passed(names, given) for given in self._calls.get(function, ())]
        for name in names:
            values = [one[name] for one in calls if name in one]
            if values:
                found[name] = max(values)
        return found

    def _passed(self, names: list[str], given: str) -> dict[str, float]:
        found = {}
        if _ALL_ARGUMENTS.match(given):
            numbers = (self.argument(at) for at in range(len(names)))
            return {name: one for name, one in zip(names, numbers, strict=True) if one is not None}
        for name, one in zip(names, _ARGUMENT.findall(given), strict=False):
            keyword = _KEYWORD.match(one)
            worth = self._worth(keyword[2] if keyword else one, self.constants)
            if worth is not None:
                found[keyword[1] if keyword else name] = worth
        for key, value in re.findall(r"(\w+)\s*=\s*([^,()]+)", given):
            if (worth := self._worth(value, self.constants)) is not None:
                found[key] = worth
        return found

    def _worth(self, text: str, known: Mapping[str, float]) -> float | None:
        """The value of an expression, or of its first known alternative, as of ``a or 9``."""
        start = 0 if self._language in _FROM_ZERO else 1
        for one in _ALTERNATIVES.split(text[: 2 * _LONGEST]):
            if at := _ARGUMENT_AT.search(one):
                value = self.argument(int(at[1]) - start)
            else:
                value = evaluated(one, known)
                value = evaluated(one.rstrip(" })"), known) if value is None else value
            if value is not None:
                return value
        return None

    def _known(self, pairs: Iterator[tuple[str, str]] | list[tuple[str, str]]) -> dict[str, float]:
        values = ((name, self._worth(value, {})) for name, value in pairs)
        return {name: value for name, value in values if value is not None}

    def option(self, names: Sequence[str]) -> float | None:
        """The number that the command line gives an option; None: it has none."""
        for at, word in enumerate(self.arguments):
            key, equals, value = (word or "").partition("=")
            if key in names:
                following = self.arguments[at + 1 : at + 2]
                return number_of(value if equals else (following or ("",))[0] or "")
        return None

    def positional(self, position: int) -> float | None:
        """The number at a position of a command line without options; None: there is none."""
        options = any((one or "-").startswith("-") for one in self.arguments)
        return None if options else self.argument(position)

    def argument(self, position: int) -> float | None:
        """The number at a position of the command line, from 0; None: there is none."""
        here = self.arguments[position : position + 1] if position >= 0 else ()
        return number_of(here[0]) if here and here[0] else None
