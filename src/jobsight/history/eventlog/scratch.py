"""Working memory that a thread uses again and again.

Fresh memory comes from the system page by page, and clearing those pages takes longer than the
kernels need to fill them.
"""

from __future__ import annotations

import threading
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Scratch"]

T = TypeVar("T", bound=np.generic)

_KEEP = 64 << 20
"""Bytes: a larger array, as only rubbish needs, is not kept."""


class Scratch(threading.local):
    """Arrays by name, of each thread its own."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def take(self, name: str, size: int, kind: type[T]) -> NDArray[T]:
        """An array of `size` elements of `kind` that hold anything.

        It is good until this thread takes `name` again; a name always stands for one kind.
        """
        kept = self._arrays.get(name)
        if kept is None or len(kept) < size:
            fresh = np.empty(size, kind)
            if fresh.nbytes > _KEEP:
                return fresh
            self._arrays[name] = kept = fresh
        return kept[:size]
