"""Numbers that identify decisions in another reading of their source."""

from __future__ import annotations

import hashlib

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["fingerprints"]


def fingerprints(table: pl.DataFrame, key: pl.Expr) -> NDArray[np.uint64]:
    """One number per decision that identifies it in another reading of its source: uint64 (n,).

    Made of its key, which a reader of the model cannot get back from it.
    """
    keys = table.select(key.alias("key")).to_series()
    digests = [hashlib.blake2b(key.encode(), digest_size=8).digest() for key in keys]
    return np.frombuffer(b"".join(digests), np.uint64)
