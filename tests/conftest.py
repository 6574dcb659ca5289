"""For all tests: the real clusters of `tests/testbed/`; which tests share a process, and which
`make check` leaves out; how hypothesis runs; no registry of models or cache but the tests' own.
"""

import gc
import itertools
import os

# The processes that share the tests use all cores; more threads in each would only wait for each
# other. Set before NumPy, Polars and PyTorch are imported, also for the commands that tests start.
os.environ |= dict.fromkeys(
    {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"} - os.environ.keys(), "1"
)

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import jobsight.compiling  # noqa: F401 - with it kernels run compiled, however little they do
from jobsight.kernelcache import cache_directory
from tests.support.fewtrees import few_trees as fewer_trees
from tests.support.limits import PROVE
from tests.support.once import FOLDER

pytest_plugins = ["tests.testbed.fixtures"]

# A machine that is busy with something else is slow, but nothing is wrong with it.
settings.register_profile(
    "busy",
    deadline=None,
    max_examples=100 if PROVE else 25,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("busy")

# Files that share what is dear to start or to make run in one process; the longest first.
_TOGETHER = (
    ("test_dagman", "test_sweep_saves", "test_follow_pool", "test_pages_live", "test_trial_live"),
    ("test_slurm_live", "test_slurm_plans", "test_notices_live", "test_testbed"),
    ("test_sweep_proof", "test_containers"),
    ("test_notices", "test_answers_sent"),
    ("test_chaos",),
    ("test_docs",),
    ("test_collect",),
    ("test_pages",),
    ("test_audit", "test_verify_verb"),
    ("test_sweep_report",),
    ("test_cli_sweep",),
    ("test_run_killed",),
    ("test_wandb_offline",),
    ("test_service",),
    ("test_train_from_store",),
    ("test_bound_proof",),
    ("test_redis_store",),
    ("test_cli_models",),
    ("test_replay", "test_play", "test_start", "test_start_verb"),  # compile the same kernels
)
_GROUPS = {name: (at, names[0]) for at, names in enumerate(_TOGETHER) for name in names}
_BEDS = frozenset(("slurm_cluster", "condor_pool", "kafka_broker", "bed_ready", "redis_server"))
# Fixtures and names of modules that train, compile or draw pages.
_HEAVY = frozenset(("packed", "pools", "write_report", "written"))


def pytest_configure() -> None:
    """What is collected is kept to the end: searching it for garbage takes a third of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """The rest is searched seldom: at Python's own pace, that takes a twelfth of the time."""
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have one process run what belongs together, the longest first, and mark what is slow."""
    used: dict[Path, set[str]] = defaultdict(set)
    for item in items:
        used[item.path].update(getattr(item, "fixturenames", ()))
    groups = {path: _GROUPS.get(path.stem, (len(_GROUPS), str(path))) for path in used}
    items.sort(key=lambda item: groups[item.path][0])
    for item in items:
        item.add_marker(pytest.mark.xdist_group(groups[item.path][1]))
        names = {*vars(getattr(item, "module", None)), *getattr(item, "fixturenames", ())}
        if used[item.path] & _BEDS or names & _HEAVY:
            item.add_marker(pytest.mark.slow)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """No test is named by a long text: names reach every process that it starts."""
    return argname if isinstance(val, str | bytes) and len(val) > 60 else None


@pytest.fixture(scope="session", autouse=True)
def no_terminal() -> Iterator[None]:
    """Nothing is told of a terminal, also where several processes share the tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("COLUMNS", "LINES"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A folder for what the processes of this run make once (`tests.support.once`)."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # that of all processes
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER, str(folder))
        yield


@pytest.fixture(scope="session", autouse=True)
def registries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Iterator[Path]]:
    """Folders for registries, none of which is there; the first is in use outside of any test."""
    place = tmp_path_factory.mktemp("registries")
    paths = (place / str(number) for number in itertools.count())
    kernels = cache_directory()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))  # what mixtures learn
        patch.setenv("JOBSIGHT_MACHINE__BACKGROUND", "false")  # no process outlives its test
        if kernels is not None:  # compiled kernels alone outlive the tests
            patch.setenv("NUMBA_CACHE_DIR", kernels)
        patch.setenv("JOBSIGHT_REGISTRY", str(next(paths)))
        patch.setenv("JOBSIGHT_COMPILE", "never")
        yield paths


@pytest.fixture(scope="module")
def few_trees() -> Iterator[None]:
    """Boosted models of few trees, for tests of what is done with models."""
    with fewer_trees():
        yield


@pytest.fixture(scope="module")
def fewest_trees() -> Iterator[None]:
    """The same, and none tries many more: for tests in which it matters not how good models are."""
    with fewer_trees(most=60):
        yield


@pytest.fixture(autouse=True)
def registry(registries: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the test's models go; each test has a registry of its own, empty at first."""
    path = next(registries)
    monkeypatch.setenv("JOBSIGHT_REGISTRY", str(path))
    return path
