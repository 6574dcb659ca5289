"""For all tests: the real clusters of `tests/testbed/`; which tests share a process, and which
`make check` leaves out; how hypothesis runs; no registry of models but the tests' own.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.testbed.fixtures"]

# A machine that is busy with something else is slow, but nothing is wrong with it.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

# The fixtures of `tests/testbed/`, those first whose tests take longest.
_BEDS = ("slurm_cluster", "condor_pool", "kafka_broker", "bed_ready", "redis_server")
# Fixtures and names of modules that train, compile or draw pages.
_HEAVY = frozenset(("packed", "pools", "write_report", "written"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have one process run all files of a bed, the longest first, and mark what is slow."""
    used: dict[Path, set[str]] = defaultdict(set)
    for item in items:
        used[item.path].update(getattr(item, "fixturenames", ()))
    beds = {path: next((bed for bed in _BEDS if bed in names), "") for path, names in used.items()}
    items.sort(key=lambda item: (*_BEDS, "").index(beds[item.path]))
    for item in items:
        item.add_marker(pytest.mark.xdist_group(beds[item.path] or str(item.path)))
        names = {*vars(getattr(item, "module", None)), *getattr(item, "fixturenames", ())}
        if beds[item.path] or names & _HEAVY:
            item.add_marker(pytest.mark.slow)


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
