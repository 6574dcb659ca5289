"""Boosted models of few trees, for tests of what is done with models."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from jobsight.models import boosted, forests

__all__ = ["few_trees"]


@contextlib.contextmanager
def few_trees() -> Iterator[None]:
    """Boosted models are fitted with few trees in this process."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (boosted, forests):
            patch.setattr(module, "LEAST_ROUNDS", 30)
        patch.setattr(boosted, "PATIENCE", 10)
        yield
