"""The literal texts of a pattern: a text without any of them need not be searched.

A pattern that begins with a choice or with the start of a line costs Python a hundred times what a
search for a plain text costs, and few of some hundred patterns are in one output.
"""

from __future__ import annotations

import re._constants as ops  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterable
from typing import Any

__all__ = ["literals"]

_SHORTEST = 3


def literals(pattern: str) -> tuple[str, ...]:
    """Texts in lower case, of which every match of a pattern holds at least one.

    Empty where a match need not hold any of at least three characters.
    """
    texts = _of_sequence(parser.parse(pattern))
    return tuple(sorted(of for of in texts if not any(part in of for part in texts if part != of)))


def _of_sequence(items: Iterable[tuple[Any, Any]]) -> frozenset[str]:
    """The best of what the parts of a sequence offer: the one whose shortest text is longest."""
    offers: list[frozenset[str]] = []
    run = ""
    for op, of in items:
        if op is ops.LITERAL:
            run += chr(of).lower()
            continue
        offers.append(frozenset({run}))
        run = ""
        if op is ops.SUBPATTERN:
            offers.append(_of_sequence(of[-1]))
        elif op is ops.BRANCH:
            branches = [_of_sequence(branch) for branch in of[1]]
            offers.append(frozenset().union(*branches) if all(branches) else frozenset())
        elif op in (ops.MAX_REPEAT, ops.MIN_REPEAT) and of[0] > 0:
            offers.append(_of_sequence(of[2]))
    offers.append(frozenset({run}))
    whole = [offer for offer in offers if offer and min(map(len, offer)) >= _SHORTEST]
    return max(whole, key=lambda offer: min(map(len, offer)), default=frozenset())
