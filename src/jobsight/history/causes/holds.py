"""The causes that the reason of a hold names, by the tables in ``causes/holds``.

Where code and words disagree the words win: codes 12 and 13 changed their meaning, and sites give
their own sub-codes. So an entry is tried for its codes, and, where the code is 0 or unknown, by its
words alone. A reason is hostile text: what is taken from it is shown, bounded and made plain.
"""

from __future__ import annotations

from functools import cache, lru_cache

from jobsight.history.causes.cause import Cause
from jobsight.history.causes.table import LEVELS, Entry, table

__all__ = ["READ", "causes_of_hold"]

READ = 4000
"""So many characters of a reason are read."""
_SHOWN = 1000
_REMEMBERED = 1 << 14


@cache
def _entries() -> tuple[Entry, ...]:
    """Those of the surest level first, those without words last."""
    return tuple(sorted(table("holds"), key=lambda of: (LEVELS.index(of.level), not of.expression)))


@lru_cache(_REMEMBERED)
def causes_of_hold(reason: str, code: int | None) -> tuple[tuple[Entry, Cause], ...]:
    """The surest cause that a reason of at most `READ` characters names.

    Where it is a request that is too small (`Entry.ask`), the others follow: a policy may name
    several resources.

    Args:
        reason: of the hold. Hostile text.
        code: of the hold; None if it is unknown.
    """
    lower = reason.lower()
    found = []
    for entry in _entries():
        if entry.codes and code not in entry.codes and not (entry.expression and not code):
            continue
        if entry.literals and not any(text in lower for text in entry.literals):
            continue
        if match := entry.pattern.search(reason):
            found.append((entry, entry.cause(match, _SHOWN)))
            if entry.ask != "more":
                break
    return tuple(found)
