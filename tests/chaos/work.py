"""Threads that do something at seeded random moments until their time is over."""

import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

from tests.testbed import BedError

__all__ = ["Work", "run_together"]


class Work:
    """One thread's worth of work. `act` is called again and again, with random pauses between.

    A command that a stopped daemon refuses is no failure: it is counted, and the work goes on.

    Args:
        seed: decides every choice, not the moments at which the daemons get round to them.
        pauses: shortest and longest pause between two acts, seconds.
    """

    def __init__(self, seed: str, pauses: tuple[float, float]) -> None:
        self.random = Random(seed)
        self.did: Counter[str] = Counter()
        self.error: BaseException | None = None
        self._pauses = pauses

    def act(self) -> None:
        """Do one thing."""
        raise NotImplementedError

    def attempt(self, name: str, action: Callable[[], object]) -> None:
        """Do `action` and count it; what a daemon refuses is counted as refused."""
        try:
            action()
            self.did[name] += 1
        except (BedError, subprocess.TimeoutExpired):
            self.did["refused"] += 1

    def run(self, until: float, failed: threading.Event) -> None:
        """Act until the monotonic clock says `until`, or some work has failed."""
        try:
            while time.monotonic() < until and not failed.is_set():
                self.act()
                time.sleep(self.random.uniform(*self._pauses))
        except BaseException as error:
            self.error = error
            failed.set()


def run_together(works: Sequence[Work], seconds: float) -> None:
    """Run all for so long; the first error of any is raised."""
    until = time.monotonic() + seconds
    failed = threading.Event()
    threads = [threading.Thread(target=work.run, args=(until, failed)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for work in works:
        if work.error is not None:
            raise work.error
