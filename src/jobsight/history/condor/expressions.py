"""ClassAd expressions of policies, as far as they compare a job's own attributes with constants.

The operators and their three values are those of HTCondor's manual (ClassAds: Old ClassAd
Semantics). Functions other than ``time()``, ``?:``, comparisons with ``undefined`` and strings give
None: not known.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jobsight.text import wordlist

__all__ = ["evaluated", "names_in"]

_LONGEST = 4096

_WORDS = (("&&", " and "), ("||", " or "), ("=?=", "=="), ("=!=", "!="))
_NOT = re.compile(r"!(?!=)")
_OPERATORS: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Add: operator.add, ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}  # fmt: skip
_TIME = "currenttime"
_CONSTANTS = frozenset(wordlist("true false undefined error"))


def evaluated(
    expression: str, attributes: Mapping[str, Any], *, was_true: bool = False
) -> bool | None:
    """Whether an expression is true of a job; None where that is not known.

    Args:
        expression: hostile text; it is parsed, never run.
        attributes: of the job, with names in lower case; ``currenttime`` is ``time()``.
        was_true: it was true before, and of the attributes only those given have changed since.
    """
    tree = _parsed(expression)
    if tree is None:
        return None
    try:
        value = _value(tree, attributes)
        if value is None and was_true:
            value = _still(tree, attributes)
    except (RecursionError, ValueError, OverflowError):
        return None
    return None if value is None else bool(value)


def names_in(expression: str) -> frozenset[str]:
    """The attributes that an expression names, in lower case; ``currenttime`` for ``time()``."""
    tree = _parsed(expression)
    return frozenset() if tree is None else frozenset(_names(tree))


def _parsed(expression: str) -> ast.expr | None:
    """The expression as a tree of Python's, whose operators bind likewise; None: not read."""
    if len(expression) > _LONGEST:
        return None
    for word, by in _WORDS:
        expression = expression.replace(word, by)
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(_NOT.sub(" not ", expression).strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _names(tree: ast.expr) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr.lower()
        elif isinstance(node, ast.Name) and (name := node.id.lower()) not in _CONSTANTS:
            yield _TIME if name == "time" else name


def _still(node: ast.expr, changed: Mapping[str, Any]) -> bool | None:
    """Whether a node that was true is true still; None where that is not known."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        values = [_value(one, changed) for one in node.values]
        pairs = zip(values, node.values, strict=True)
        parts = [_still(one, changed) if value is None else bool(value) for value, one in pairs]
        return False if False in parts else None if None in parts else True
    names = set(_names(node))
    return True if names and changed.keys().isdisjoint(names) else None


def _value(node: ast.AST, ad: Mapping[str, Any]) -> float | bool | None:
    """The number or truth value of a node; None where it is not known."""
    if isinstance(node, ast.BoolOp):
        values = [_value(one, ad) for one in node.values]
        decides = isinstance(node.op, ast.Or)
        if any(value is not None and bool(value) is decides for value in values):
            return decides
        return None if None in values else not decides
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        value = _value(node.operand, ad)
        return None if value is None else not value
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _applied(node.ops[0], node.left, node.comparators[0], ad)
    if isinstance(node, ast.BinOp):
        return _applied(node.op, node.left, node.right, ad)
    found: Any = None
    if isinstance(node, ast.Call) and ast.unparse(node).lower() == "time()":
        found = ad.get(_TIME)
    elif isinstance(node, ast.Constant):
        found = node.value
    elif isinstance(node, ast.Name):
        found = {"true": True, "false": False}.get(node.id.lower(), ad.get(node.id.lower()))
    elif isinstance(node, ast.Attribute) and ast.unparse(node.value).lower() == "my":
        found = ad.get(node.attr.lower())
    return found if isinstance(found, int | float) else None


def _applied(
    op: ast.AST, left: ast.AST, right: ast.AST, ad: Mapping[str, Any]
) -> float | bool | None:
    values, known = (_value(left, ad), _value(right, ad)), _OPERATORS.get(type(op))
    if known is None or None in values:
        return None
    result: float | bool = known(*values)
    return result
