"""An embedded store in a folder of its own, which does not wait long for others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.store.sqlite_stores import sqlite_store

from jobsight.settings import StoreSettings
from jobsight.store import Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with sqlite_store(path, StoreSettings(busy_timeout_s=0.1), create=True) as opened:
        yield opened
