"""The conformance suite of schedulers, over processes of this machine."""

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pytest

from jobsight.cluster import Option, Scheduler, create
from jobsight.testing import SchedulerContract


class TestLocal(SchedulerContract):
    options: ClassVar[Mapping[str, Mapping[str, Option]] | None] = {"here": {"processes": "2"}}

    @pytest.fixture(autouse=True)
    def places(self, tmp_path: Path) -> None:
        self.folders = (tmp_path / f'{number} it\'s "é" %d $(id)' for number in itertools.count())

    def new_scheduler(self) -> Scheduler:
        return create("here")

    def new_folder(self) -> Path:
        folder = next(self.folders)
        folder.mkdir()
        return folder
