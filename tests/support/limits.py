"""Limits of wall-clock time, and which tests are for `make prove` alone."""

from __future__ import annotations

import os

import pytest

__all__ = ["PROVE", "examples", "limit", "prove"]

PROVE = bool(os.environ.get("JOBSIGHT_PROVE"))
"""Whether the long forms of tests run."""

prove = pytest.mark.skipif(not PROVE, reason="long: set JOBSIGHT_PROVE=1")


def examples(number: int) -> int:
    """How many examples of a property to try: all for `make prove`, else about a third."""
    return number if PROVE else max(min(number, 8), number // 3)


def limit(seconds: float) -> float:
    """The seconds to allow now for what takes at most `seconds` on an idle machine."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
