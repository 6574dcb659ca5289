"""Sixty-four bytes at a step: vector compares for the kernels that go through text.

Bit k of a *mask*, an int64, is for byte k of a block; a *run* is the number of bytes, 64 at most,
from a position on that pass a test.

A caller sees to it that ``at + WIDTH <= len(buffer)``, and one byte more for `ad_ends`. Nothing is
checked, except where Numba checks each index (``NUMBA_BOUNDSCHECK=1``, as the tests do).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from jobsight.jit import Primitive

__all__ = ["WIDTH", "ad_ends", "copy_block", "digit_run", "equal", "first", "name_run", "plain_run"]

WIDTH = 64
"""Bytes in a block."""

Bytes = NDArray[np.uint8]

_HOME = "jobsight.history.eventlog.vectors"

plain_run: Callable[[Bytes, int], int] = Primitive(f"{_HOME}:plain_run")
"""``plain_run(buffer, at)``: the run of bytes that a JSON string holds as they are."""

name_run: Callable[[Bytes, int], int] = Primitive(f"{_HOME}:name_run")
"""``name_run(buffer, at)``: the run of letters, digits, underscores and dots (ASCII)."""

digit_run: Callable[[Bytes, int], int] = Primitive(f"{_HOME}:digit_run")
"""``digit_run(buffer, at)``: the run of digits."""

equal: Callable[[Bytes, int, int], int] = Primitive(f"{_HOME}:equal")
"""``equal(buffer, at, byte)``: mask of the bytes equal to `byte`."""

ad_ends: Callable[[Bytes, int], int] = Primitive(f"{_HOME}:ad_ends")
"""``ad_ends(buffer, at)``: mask of the newlines with a byte of at most "9" behind them, as no line
of an ad begins."""

first: Callable[[int], int] = Primitive(f"{_HOME}:first")
"""``first(mask)``: position of the lowest bit that is set; 64 where none is."""

copy_block: Callable[[Bytes, int, Bytes, int], None] = Primitive(f"{_HOME}:copy_block")
"""``copy_block(buffer, at, out, to)``: copy 64 bytes."""
