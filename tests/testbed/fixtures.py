"""Fixtures of pytest: a piece starts when first asked for, once per session, stopped for sure.

`condor_pool`, `slurm_cluster`, `slurm_2205`, `redis_server`, `kafka_broker`. Tests share them, so a
test looks only at its own jobs, keys and topics; a test that needs other settings starts a piece of
its own (`with HtcondorPool(...) as pool:`) and takes the fixture `bed_ready` first, which skips
where the bed cannot run. docs/testbed.md has the rest.
"""

import contextlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Protocol, TypeVar

import pytest

from tests.testbed.condor import HtcondorPool
from tests.testbed.roots import RECIPES, root
from tests.testbed.slurm import SlurmCluster
from tests.testbed.unavailable import Unavailable

__all__ = ["bed_ready", "condor_pool", "slurm_2205", "slurm_cluster"]


class _Piece(Protocol):
    def start(self) -> object: ...
    def stop(self, *, keep_logs: bool = False) -> Path | None: ...


_P = TypeVar("_P", bound=_Piece)


@pytest.fixture(scope="session")
def bed_ready(request: pytest.FixtureRequest) -> None:
    """Skips, with the reason, where no cluster of our own can run; builds the roots if need be."""
    capture = request.config.pluginmanager.get_plugin("capturemanager")
    try:
        with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
            for name in RECIPES:
                root(name)
    except Unavailable as reason:
        pytest.skip(f"no test bed: {reason}")


def _session(piece: _P, request: pytest.FixtureRequest) -> Generator[_P]:
    """Start a piece, lend it, stop it; its logs are kept if a test failed meanwhile."""
    failed = request.session.testsfailed
    piece.start()
    try:
        yield piece
    finally:
        kept = piece.stop(keep_logs=request.session.testsfailed > failed)
        if kept:
            _say(request, f"logs of the test bed: {kept}")


def _say(request: pytest.FixtureRequest, line: str) -> None:
    reporter = request.config.pluginmanager.get_plugin("terminalreporter")
    if reporter:
        reporter.ensure_newline()
        reporter.write_line(line)


@pytest.fixture(scope="session")
def condor_pool(bed_ready: None, request: pytest.FixtureRequest) -> Iterator[HtcondorPool]:
    """A pool of two sites, ALPHA and BETA."""
    yield from _session(HtcondorPool(), request)


@pytest.fixture(scope="session")
def slurm_cluster(bed_ready: None, request: pytest.FixtureRequest) -> Iterator[SlurmCluster]:
    """Slurm 24.11 with accounting."""
    yield from _session(SlurmCluster(), request)


@pytest.fixture(scope="session")
def slurm_2205(bed_ready: None, request: pytest.FixtureRequest) -> Iterator[SlurmCluster]:
    """Slurm 22.05 with accounting."""
    yield from _session(SlurmCluster(version="22.05", name="elder"), request)
