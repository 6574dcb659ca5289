"""How runs and attempts end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["Ending", "RunEnd", "StopReason"]

Ending = Literal["finished", "early", "failed", "dropped"]
StopReason = Literal["evicted", "limit", "until", "saved"]
"""Why an attempt ended and the run did not: it was evicted, its time was up, it was to go no
further for now, or it exited so that its outputs are fetched, and goes on at once."""


@dataclass(frozen=True)
class RunEnd:
    """How a run ended for good; the last line of its record.

    Attributes:
        status: ``finished`` (all epochs), ``early`` (patience), ``failed`` (by its parameters),
            ``dropped`` (hopeless compared with the others).
        cause: one line, where it failed or was dropped.
        best_epoch: the one whose weights are kept, counted from 1; None without any.
        metrics: of the validation block with the kept weights; NaN or None where undefined.
        seconds, cpu_seconds: wall and processor time of all attempts.
        peak_bytes: most memory that an attempt held.
    """

    status: Ending
    cause: str | None = None
    epochs: int = 0
    best_epoch: int | None = None
    metrics: Mapping[str, float | None] | None = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0
