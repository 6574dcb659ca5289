"""Slurm of either version; for tests of job notices a topic, a store and a quick client."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.noticing import QUICK
from tests.support.limits import prove
from tests.testbed import SlurmCluster

from jobsight.store import Store, open_store

_numbers = itertools.count()


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kafka") / "kafka.properties"
    path.write_text(QUICK)
    return path


@pytest.fixture(params=["24.11", pytest.param("22.05", marks=prove)])
def cluster(slurm_cluster: SlurmCluster, request: pytest.FixtureRequest) -> SlurmCluster:
    """Slurm of either version."""
    if request.param == "24.11":
        return slurm_cluster
    elder: SlurmCluster = request.getfixturevalue("slurm_2205")
    return elder


@pytest.fixture
def topic() -> str:
    return f"notices-{os.getpid()}-{next(_numbers)}"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "jobs.db"), create=True) as opened:
        yield opened
