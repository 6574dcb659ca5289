"""Stores over SQLite files, opened as the tests of this folder need them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jobsight.settings import StoreSettings
from jobsight.store import Store
from jobsight.store.sqlite import SqliteBackend

QUICK = StoreSettings(busy_timeout_s=0.1)
"""For stores that do not wait long for others."""


def sqlite_store(path: Path, settings: StoreSettings | None = None, **options: Any) -> Store:
    """The store of a file; with the options of `SqliteBackend`."""
    return Store(SqliteBackend(path, settings, **options))
