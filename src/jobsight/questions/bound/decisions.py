"""Programs as decisions of `bound`: their families take the place of time.

A family is as late as a hash of its name says. So the parts of a training, and the blocks of its
backtest, hold families that no earlier one does, and a family has its place in every source. Those
of a site's own jobs come in the first half: where they are few they are all learned from, and what
follows tests on the other programs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import polars as pl

from jobsight.program.examples import Example

__all__ = ["BOUND", "place_of", "table_of"]

BOUND = ("cpu", "memory", "io", "network", "waiting")
"""Classes that are learned; gpu, which runs without its counters cannot show, is for rules."""
_LAST = 10**15
"""µs: families are placed before it."""

_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(("id", "job", "family", "language", "source", "class"), pl.String),
    **dict.fromkeys(("example", "ended", "decided", "group"), pl.Int64),
    "shares": pl.List(pl.Float64),
    "possible": pl.List(pl.String),
}

Resolve = Callable[[Example], str | None]


def place_of(family: str, seed: int) -> int:
    """The moment of a family, µs."""
    digest = hashlib.blake2b(f"{seed} {family}".encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest) % _LAST


def table_of(source: Sequence[Example], seed: int, resolve: Resolve) -> pl.DataFrame:
    """The decisions, see `jobsight.learning.question`; `example` is the place in the source.

    Args:
        source: programs with what bound them.
        seed: of the families' order.
        resolve: the class of a program whose measurement leaves several possible; None: unknown.
    """
    numbers: dict[str, int] = {}
    rows = []
    for number, one in enumerate(source):
        possible = [kind for kind in one.classes if kind in BOUND]
        known = [one.shares.get(name) for name in BOUND]
        rows.append({
            "id": one.id, "example": number, "job": one.job, "family": one.family,
            "language": one.language, "source": "measured" if one.measured else "accounted",
            "ended": one.ended, "decided": place_of(one.family, seed) // (2 if one.job else 1),
            "group": numbers.setdefault(one.family, len(numbers)),
            "class": possible[0] if len(possible) == 1 else resolve(one) if possible else None,
            "shares": [share or 0.0 for share in known] if one.measured and any(known) else None,
            "possible": list(one.classes),
        })  # fmt: skip
    several = pl.when(pl.col("class").is_null()).then(pl.lit("several classes are possible"))
    table = pl.DataFrame(rows, schema=_SCHEMA).sort("decided", "example")
    return table.with_columns(
        known_at="decided", batch="example", drawn="group", log="group",
        kept=pl.lit(value=True), teaches=pl.lit(value=True), censored=several,
    )  # fmt: skip
