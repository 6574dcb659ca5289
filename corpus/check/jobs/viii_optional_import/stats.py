from __future__ import annotations

import sys
from typing import TYPE_CHECKING

try:
    import cupy as xp
except ImportError:
    xp = None
if TYPE_CHECKING:
    from pandas import DataFrame


def table(frame: DataFrame | None) -> list[str]:
    """print "old style" is only text here."""
    match frame:
        case None:
            return []
        case _:
            return list(frame.columns)


if (total := sum(map(int, sys.argv[1:]))) > 20:
    print("total", total, end="\n" if xp is None else " (gpu)\n")
assert table(None) == []
