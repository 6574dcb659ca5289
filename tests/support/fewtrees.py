"""Boosted models of few trees, audited in few turns, for tests of what is done with models."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from jobsight.learning.audit import importance, leaks
from jobsight.models import boosted, forests
from jobsight.models.boosted import MOST_ROUNDS

__all__ = ["few_trees"]


@contextlib.contextmanager
def few_trees(most: int = MOST_ROUNDS) -> Iterator[None]:
    """Boosted models are fitted with few trees in this process, of which at most `most` are tried.

    Audits shuffle outcomes and columns few times.
    With a small `most` a model may not learn what there is to learn.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module in (boosted, forests):
            patch.setattr(module, "LEAST_ROUNDS", 30)
        patch.setattr(boosted, "MOST_ROUNDS", most)
        patch.setattr(boosted, "PATIENCE", 10)
        patch.setattr(leaks, "SHUFFLES", 4)
        patch.setattr(importance, "SHUFFLES", 1)
        yield
