"""The picture of a profile: what bound a run, over its time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from jobsight.program.profile import Window, window_shares
from jobsight.reports.drawing import BLUE, GREEN, GREY, GRID, ORANGE, RED, draw
from jobsight.reports.page import Markup

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["timeline_plot"]

_KINDS = {
    "on_cpu": ("cpu (and memory)", BLUE),
    "capacity": ("memory: swapped out", RED),
    "io": ("io", ORANGE),
    "network": ("network", GREEN),
    "waiting": ("waiting", GRID),
}


def timeline_plot(windows: Sequence[Window], title: str) -> Markup:
    """Shares of each window, stacked, over CPU cores and resident memory.

    Args:
        windows: of a run, in order.
        title: above it.
    """
    shares = window_shares(windows)
    walls = np.array([window.seconds for window in windows])
    edges = np.concatenate([[0.0], np.cumsum(walls)])
    stacks = {kind: np.array([one[kind] for one in shares]) / walls for kind in _KINDS}
    stacks["queued"] = 1 - sum(stacks.values())

    def paint(figure: Figure) -> None:
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        below = np.zeros(len(windows))
        for kind, part in stacks.items():
            label, colour = _KINDS.get(kind, (kind, GREY))
            upper.stairs(below + part, edges, baseline=below, fill=True, color=colour, label=label)
            below = below + part
        upper.set(ylim=(0, 1), ylabel="share of wall time", title=title)
        upper.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        lower.stairs([window.cpu_s / window.seconds for window in windows], edges, color=BLUE)
        lower.set(xlabel="seconds", xlim=(0, edges[-1]))
        lower.set_ylabel("cores", color=BLUE)
        memory = lower.twinx()
        memory.stairs([window.resident / (1 << 20) for window in windows], edges, color=RED)
        memory.set_ylabel("MB resident", color=RED)
        memory.set(ylim=(0, None))

    return draw("profile", 9.0, 4.2, title, paint)
