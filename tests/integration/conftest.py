"""What tests of job notices share: a topic and a store of their own, and a quick client."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.noticing import QUICK

from jobsight.store import Store, open_store

_numbers = itertools.count()


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kafka") / "kafka.properties"
    path.write_text(QUICK)
    return path


@pytest.fixture
def topic() -> str:
    return f"notices-{os.getpid()}-{next(_numbers)}"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "jobs.db"), create=True) as opened:
        yield opened
