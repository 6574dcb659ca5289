"""Fixtures for all tests: the real clusters of `tests/testbed/`; how hypothesis runs; no registry
of models but the tests' own.
"""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.testbed.fixtures"]

# A machine that is busy with something else is slow, but nothing is wrong with it.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


@pytest.fixture(scope="session", autouse=True)
def no_terminal() -> Iterator[None]:
    """Nothing is told of a terminal, also where several processes share the tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("COLUMNS", "LINES"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def registries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Iterator[Path]]:
    """Folders for registries, none of which is there; the first is in use outside of any test."""
    place = tmp_path_factory.mktemp("registries")
    paths = (place / str(number) for number in itertools.count())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JOBSIGHT_REGISTRY", str(next(paths)))
        yield paths


@pytest.fixture(autouse=True)
def registry(registries: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the test's models go; each test has a registry of its own, empty at first."""
    path = next(registries)
    monkeypatch.setenv("JOBSIGHT_REGISTRY", str(path))
    return path
