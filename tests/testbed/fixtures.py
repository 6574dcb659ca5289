"""Fixtures of pytest: a piece starts when first asked for, once a process, and stops for sure.

`condor_pool`, `slurm_cluster`, `slurm_2205`, `redis_server`, `valkey_server`, `kafka_broker`. Tests
share them, so a test looks only at its own jobs, keys and topics; a test that needs other settings
starts a piece of its own (`with HtcondorPool(...) as pool:`) and takes the fixture `bed_ready`
first, which skips where the bed cannot run. docs/develop/testbed.md has the rest.
"""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, TypeVar

import pytest

from tests.support.limits import PROVE
from tests.testbed.condor import HtcondorPool
from tests.testbed.containers import need_apptainer
from tests.testbed.kafka import KafkaBroker
from tests.testbed.redis import RedisServer
from tests.testbed.roots import RECIPES, root
from tests.testbed.sites import SiteBroker, SiteCluster, SitePool, SiteServer, of_the_site
from tests.testbed.slurm import SlurmCluster

__all__ = [
    "apptainer",
    "bed_ready",
    "condor_pool",
    "kafka_broker",
    "other_versions",
    "python_folders",
    "redis_server",
    "slurm_2205",
    "slurm_cluster",
    "valkey_server",
]


class _Piece(Protocol):
    def start(self) -> object: ...
    def stop(self, *, keep_logs: bool = False) -> Path | None: ...


_P = TypeVar("_P", bound=_Piece)


@pytest.fixture(scope="session")
def other_versions() -> None:
    """Skips but in `make prove`: `make test` runs one version of each server."""
    if not PROVE:
        pytest.skip("another version of a server: set JOBSIGHT_PROVE=1")


@pytest.fixture(scope="session")
def bed_ready(request: pytest.FixtureRequest) -> None:
    """Skips, with the reason, where no piece of our own can run; builds the roots if need be."""
    with _shown(request):
        for name in RECIPES:
            root(name)


def _shown(request: pytest.FixtureRequest) -> contextlib.AbstractContextManager[None]:
    """What is printed meanwhile is seen at once, whatever becomes of the test."""
    capture = request.config.pluginmanager.get_plugin("capturemanager")
    if capture is None:
        return contextlib.nullcontext()
    shown: contextlib.AbstractContextManager[None] = capture.global_and_fixture_disabled()
    return shown


def _lend(piece: _P, request: pytest.FixtureRequest) -> Iterator[_P]:
    """Start a piece, lend it, stop it; its logs are kept if a test failed meanwhile."""
    failed = request.session.testsfailed
    piece.start()
    try:
        yield piece
    finally:
        kept = piece.stop(keep_logs=request.session.testsfailed > failed)
        reporter = request.config.pluginmanager.get_plugin("terminalreporter")
        if kept:
            with _shown(request):
                if reporter:
                    reporter.ensure_newline()
                # One of several processes that share the tests has no reporter.
                sys.stderr.write(f"logs of the test bed: {kept}\n")
                sys.stderr.flush()


def python_folders() -> tuple[Path, ...]:
    """What jobs must see to run this very Python with Jobsight; none where it is Debian's own.

    Debian's lies below /usr, where a root has its own.
    """
    import jobsight

    base = Path(sys.base_prefix)
    if base == Path("/usr"):
        return ()
    folders = (base, Path(sys.prefix), Path(jobsight.__file__).parent.parent)
    return tuple(dict.fromkeys(folders))


@pytest.fixture(scope="session")
def apptainer(bed_ready: None) -> None:
    """Skips, with the reason, where jobs of our own pieces have no Apptainer."""
    need_apptainer()


@pytest.fixture(scope="session")
def condor_pool(request: pytest.FixtureRequest) -> Iterator[HtcondorPool]:
    """A pool of two sites, ALPHA and BETA."""
    if of_the_site("JOBSIGHT_TEST_CONDOR"):
        yield from _lend(SitePool(), request)
    else:
        request.getfixturevalue("bed_ready")
        yield from _lend(HtcondorPool(shows=python_folders()), request)


@pytest.fixture(scope="session")
def slurm_cluster(request: pytest.FixtureRequest) -> Iterator[SlurmCluster]:
    """Slurm 24.11 with accounting."""
    if of_the_site("JOBSIGHT_TEST_SLURM"):
        yield from _lend(SiteCluster(), request)
    else:
        request.getfixturevalue("bed_ready")
        yield from _lend(SlurmCluster(shows=python_folders()), request)


@pytest.fixture(scope="session")
def slurm_2205(
    other_versions: None, bed_ready: None, request: pytest.FixtureRequest
) -> Iterator[SlurmCluster]:
    """Slurm 22.05 with accounting."""
    yield from _lend(SlurmCluster(version="22.05", name="elder"), request)


@pytest.fixture(scope="session")
def redis_server(request: pytest.FixtureRequest) -> Iterator[RedisServer]:
    """Redis with an append-only file. Leave it running, with its settings as they were."""
    if of_the_site("JOBSIGHT_TEST_REDIS"):
        yield from _lend(SiteServer(), request)
    else:
        request.getfixturevalue("bed_ready")
        yield from _lend(RedisServer(), request)


@pytest.fixture(scope="session")
def valkey_server(
    other_versions: None, bed_ready: None, request: pytest.FixtureRequest
) -> Iterator[RedisServer]:
    """Valkey with an append-only file. Leave it running, with its settings as they were."""
    yield from _lend(RedisServer("valkey"), request)


@pytest.fixture(scope="session")
def kafka_broker(request: pytest.FixtureRequest) -> Iterator[KafkaBroker]:
    """A broker of one node; needs no root."""
    named = of_the_site("JOBSIGHT_TEST_KAFKA")
    yield from _lend(SiteBroker() if named else KafkaBroker(), request)
