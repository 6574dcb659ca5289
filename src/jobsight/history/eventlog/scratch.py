"""Working memory that a thread uses again and again.

Fresh memory comes from the system page by page, and clearing those pages takes longer than the
kernels need to fill them.
"""

from __future__ import annotations

import threading
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["scratch"]

T = TypeVar("T", bound=np.generic)

_KEEP = 64 << 20
"""Bytes: a larger array, as only rubbish needs, is not kept."""

_kept = threading.local()


def scratch(name: str, size: int, kind: type[T]) -> NDArray[T]:
    """An array of `size` elements of `kind` that hold anything.

    It is good until this thread asks for `name` again; a name always has one kind.
    """
    kept: NDArray[Any] | None = getattr(_kept, name, None)
    if kept is None or len(kept) < size:
        kept = np.empty(size, kind)
        if kept.nbytes <= _KEEP:
            setattr(_kept, name, kept)
    return kept[:size]
