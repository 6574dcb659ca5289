"""Processes that others start, observed while they come and go."""

import os
import subprocess
import time
from collections.abc import Iterator

import pytest

from jobsight.program.running import Observed, observe
from jobsight.program.sampling import Sampler


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "100"]) as process:
        yield process
        process.kill()


def test_time_before_the_first_process_and_after_the_last_one_does_not_count() -> None:
    begun = time.monotonic()
    started: list[int] = []

    def job() -> list[int]:
        """A process of a second after one second, another after three."""
        due = sum(time.monotonic() - begun > moment for moment in (1, 3))
        while len(started) < due:
            started.append(os.posix_spawn("/bin/sleep", ["sleep", "1"], os.environ))
        return started

    sampler = Sampler(job, fresh=True)
    with Observed(sampler.reap) as observed:
        seen = observe(observed, sampler, None, interval=0.02, patience=3.0)
    took = time.monotonic() - begun
    ran = sum(window.seconds for window in seen.timeline.windows)
    assert len(started) == 2
    assert 2.5 < ran < took - 2.0  # to a window on either side


def test_it_ends_when_it_is_asked_to_however_rare_samples_are(
    sleeper: subprocess.Popen[bytes],
) -> None:
    begun = time.monotonic()
    sampler = Sampler(lambda: [sleeper.pid], fresh=False)
    with Observed(sampler.reap, lambda: time.monotonic() - begun > 0.5) as observed:
        seen = observe(observed, sampler, None, interval=60.0)
    assert observed.stopped
    assert (seen.samples, seen.left) == (1, 1)
    assert time.monotonic() - begun < 30
