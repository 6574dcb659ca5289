"""Lists of what schedulers, commands, programs and languages know: the tables of ``known.toml``."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

__all__ = ["KNOWN"]

KNOWN: dict[str, Any] = tomllib.loads(
    files("jobsight.program").joinpath("known.toml").read_text("utf-8")
)
"""By the name of the file that reads them: lists of words, and tables."""
