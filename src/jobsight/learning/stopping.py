"""Being asked to stop: the signals by which a scheduler takes a machine back."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any, Self

from jobsight.learning.tracking import StopReason

__all__ = ["StopSignals"]

_REASONS: dict[int, StopReason] = {signal.SIGTERM: "evicted", signal.SIGUSR1: "limit"}


class StopSignals:
    """Within ``with``, SIGTERM and SIGUSR1 end nothing; ask `reason` whether one came.

    HTCondor (soft vacate) and `here` send SIGTERM, Slurm SIGUSR1 some time before the limit. Use
    it in the main thread.
    """

    def __init__(self) -> None:
        self._reason: StopReason | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in _REASONS:
            self._before[number] = signal.signal(number, self._came)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _came(self, number: int, _frame: FrameType | None) -> None:
        self._reason = self._reason or _REASONS[number]

    @property
    def reason(self) -> StopReason | None:
        """Why to stop; None while nothing came."""
        return self._reason

    def __call__(self) -> StopReason | None:
        """The same, for who is given a function."""
        return self._reason
