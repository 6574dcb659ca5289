"""Requests that are proposed: every figure that an answer or finding says to ask for is made here.

A figure is more than all that the job is known to have asked for or been given, since that did not
suffice; no less than what it used; and no more than the largest slot or node known has, since
nothing could run it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["Ceilings", "proposed"]


class Ceilings(NamedTuple):
    """The most that a job may ask for, by what is known of its cluster; None: unknown."""

    memory_mb: float | None = None
    """Of its largest node, or of the largest slot of an HTCondor pool."""
    time_s: float | None = None


def proposed(
    wanted: float,
    *,
    had: Iterable[float] = (),
    used: float = 0.0,
    most: float | None = None,
    step: int = 1,
) -> int | None:
    """The whole amount to ask for; all amounts are in one unit.

    Args:
        wanted: what would do, with headroom.
        had: amounts asked for, allocated, or named as a limit.
        used: the most that was used.
        most: what the largest slot or node has; None: unknown.
        step: the amount is a multiple of it, unless that is more than `most`.

    Returns:
        None where no slot or node known has enough.
    """
    least = max(had, default=0.0)
    amount = math.ceil(max(wanted, used, math.floor(least) + 1) / step) * step
    if most is not None and amount > most:
        amount = math.floor(most)
    return amount if amount > least and amount >= used else None
