"""Limits of time and memory for the analysis of one script, which may be written to need more."""

from __future__ import annotations

import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType

from jobsight.commands import lower_limit, status_kb

__all__ = ["CPU_S", "MEMORY_MB", "WALL_S", "LimitError", "limited", "uninterrupted"]

CPU_S = 10.0
"""Seconds of CPU time for one script, without the programs that are asked about it."""
WALL_S = 60.0
"""Seconds, those of the programs included."""
MEMORY_MB = 768
"""MiB that are allocated for one script."""
_AGAIN_S = 0.2
"""Until the next try where one came at a moment at which nothing may be raised."""

uninterrupted = set[CodeType]()
"""Callbacks of libraries that crash when these raise."""


class LimitError(BaseException):
    """A limit is reached; the message names it. No ``except Exception`` on the way stops it."""


@contextmanager
def limited() -> Iterator[None]:
    """Interrupt what takes more time or memory than one script may.

    Outside of the main thread, where signals do not arrive, nothing is limited.

    Raises:
        LimitError: a limit is reached; what was allocated is freed when it is caught.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = [
        signal.signal(signal.SIGPROF, _stop(f"{CPU_S:.0f} s of CPU time")),
        signal.signal(signal.SIGALRM, _stop(f"{WALL_S:.0f} s")),
    ]
    before = resource.getrlimit(resource.RLIMIT_DATA)
    most = (status_kb("VmData") << 10) + (MEMORY_MB << 20)
    if before[0] != resource.RLIM_INFINITY:
        most = min(most, before[0])
    lower_limit(resource.RLIMIT_DATA, most)
    signal.setitimer(signal.ITIMER_PROF, CPU_S, _AGAIN_S)
    signal.setitimer(signal.ITIMER_REAL, WALL_S, _AGAIN_S)
    try:
        yield
    except MemoryError:
        raise LimitError(f"{MEMORY_MB} MiB of memory") from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGPROF, handlers[0])
        signal.signal(signal.SIGALRM, handlers[1])
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _stop(limit: str) -> signal._HANDLER:
    def stop(_number: int, frame: FrameType | None) -> None:
        if frame is None or frame.f_code not in uninterrupted:
            raise LimitError(limit)

    return stop
