"""Model directories to put into registries."""

import json
import shutil
from pathlib import Path

import pytest
from tests.support import pools
from tests.support.hold_models import Made

from jobsight.learning.manifest import write_manifest


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    trained = pools.trained()
    folder = tmp_path_factory.mktemp("written")
    trained.model.save(folder, seed=0, facts=trained.facts())
    return folder


@pytest.fixture
def made(written: Path, tmp_path: Path) -> Made:
    """Model directories that differ by their seed alone, and so by their digest."""

    def make(seed: int = 0, report: object = None) -> Path:
        folder = tmp_path / f"made-{seed}-{report is None}"
        shutil.copytree(written, folder)
        manifest = json.loads((folder / "manifest.json").read_text())
        (folder / "manifest.json").unlink()
        if report is not None:
            (folder / "report.json").write_text(json.dumps(report))
        write_manifest(
            folder, question="hold", seed=seed, settings=manifest["settings"], sources=[], facts={}
        )
        return folder

    return make
