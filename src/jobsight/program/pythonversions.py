"""What of a program only another version of Python runs.

Programs for Python 2 and 3 ask for the version, and name in one branch what the other lacks.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

from jobsight.program.pythonpaths import dotted

__all__ = ["leave_out_python_2"]

_VERSIONS: dict[str, tuple[Any, Any]] = {
    "sys.version_info": ((3, 0), (3, 99)),
    "sys.version_info[:2]": ((3, 0), (3, 99)),
    "sys.version_info[:1]": ((3,), (3,)),
    "sys.version_info[0]": (3, 3),
    "sys.version_info.major": (3, 3),
    "sys.version[0]": ("3", "3"),
    "sys.version": ("3.0", "3.99"),
    "sys.hexversion": (0x3000000, 0x3630000),
}
"""What programs look at, in the first Python 3 and in one to come."""
_ORDERS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip


def _in_python_3(test: ast.expr) -> bool | None:
    """What a condition is in every Python 3; None where it is about something else."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _in_python_3(test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.Name | ast.Attribute):
        flag = re.fullmatch(r"(?:six\.)?(?:IS_)?PY(?:THON_?)?([23])", dotted(test))
        return None if flag is None else flag[1] == "3"
    if not isinstance(test, ast.Compare) or type(test.ops[0]) not in _ORDERS:
        return None
    versions = _VERSIONS.get(ast.unparse(test.left)) if len(test.ops) == 1 else None
    try:
        wanted = ast.literal_eval(test.comparators[0])
        found = {_ORDERS[type(test.ops[0])](one, wanted) for one in versions or ()}
    except (ValueError, TypeError):
        return None
    return found.pop() if len(found) == 1 else None


def _live(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    for one in statements:
        chosen = _in_python_3(one.test) if isinstance(one, ast.If) else None
        if isinstance(one, ast.If) and chosen is not None:
            for inner in _live(one.body if chosen else one.orelse):
                yield inner
                if isinstance(inner, ast.Return | ast.Raise):
                    return  # what follows is of the other version
        else:
            yield one


def leave_out_python_2(tree: ast.Module) -> None:
    """Replace conditions about the version by what Python 3 runs of them."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            old = getattr(node, field, None)
            if isinstance(old, list) and any(isinstance(one, ast.If) for one in old):
                new = list(_live(old))
                setattr(node, field, new or [ast.copy_location(ast.Pass(), old[0])])
