"""What `jobsight check` finds in the text of a batch script, as features.

No file, program or variable of this machine counts, so that a script has the same features
wherever they are made.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.errors import SourceError

__all__ = ["FINDINGS", "findings_of"]

_KINDS = {"syntax": "JS0", "missing": "JS1", "requests": "JS2", "logic": "JS3"}
FINDINGS = tuple(f"findings: {one}" for one in ("errors", "warnings", *_KINDS))
"""Numbers of errors and warnings, and of findings by kind."""


def findings_of(scripts: pl.Series) -> NDArray[np.float32]:
    """Features of the texts of batch scripts, NaN where there is none: float32 (n, FINDINGS)."""
    numbers, unknown = scripts.to_physical(), (np.nan,) * len(FINDINGS)
    texts = pl.DataFrame({"text": scripts, "number": numbers}).unique("number").drop_nulls()
    rows = {number: _counts(text) or unknown for text, number in texts.iter_rows()}
    found = [unknown if one is None else rows[one] for one in numbers]
    return np.array(found, np.float32).reshape(len(scripts), len(FINDINGS))


@lru_cache(maxsize=1 << 17)
def _counts(text: str) -> tuple[float, ...] | None:
    """The numbers of `FINDINGS`; None: it cannot be checked."""
    from jobsight.program.preflight.check import Checker

    try:
        found = Checker(shellcheck=False).sent("job.sh", text).findings
    except SourceError:
        return None
    levels = [sum(one.severity == level for one in found) for level in ("error", "warning")]
    kinds = [sum(one.code.startswith(code) for one in found) for code in _KINDS.values()]
    return (*map(float, levels), *map(float, kinds))
