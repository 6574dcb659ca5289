"""Results of a method that are kept with its object, and go with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar
from weakref import WeakMethod

__all__ = ["remembered"]

T = TypeVar("T")


def remembered(method: Callable[..., T], most: int) -> Callable[..., T]:
    """A bound method that keeps its last results, at most so many; for an attribute of its object.

    ``lru_cache(most)(self.method)`` there would refer to the object that it is part of: all that
    this holds, such as a whole history, would stay until Python looks for cycles of references.
    """
    weak = WeakMethod(method)

    def call(*asked: Any) -> T:
        alive = weak()
        assert alive is not None  # the object asks itself
        result: T = alive(*asked)
        return result

    return lru_cache(most)(call)
