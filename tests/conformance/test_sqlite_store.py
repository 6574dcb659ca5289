"""The conformance suite of stores, over SQLite files."""

import functools
import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.limits import PROVE

from jobsight.settings import StoreSettings
from jobsight.store import Store, open_store
from jobsight.testing import StoreContract


class TestSqliteStore(StoreContract):
    sequences = 600 if PROVE else 12
    kills = 60 if PROVE else 5

    @pytest.fixture(autouse=True)
    def places(self, tmp_path: Path) -> None:
        self.files = (tmp_path / f"{number}" / "jobs.db" for number in itertools.count())

    def new_opener(self) -> Callable[[], Store]:
        return functools.partial(
            open_store, str(next(self.files)), settings=StoreSettings(), create=True
        )
