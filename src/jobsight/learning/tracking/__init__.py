"""Tracking of runs: a local record always, and Weights & Biases beside it where asked for."""

import logging
from collections.abc import Callable
from pathlib import Path

from jobsight.learning.tracking.base import Ending, RunEnd, StopReason, Tracker, Trackers
from jobsight.learning.tracking.child import require_sdk
from jobsight.learning.tracking.local import RECORD, LocalTracker
from jobsight.learning.tracking.server import ServerPoint, create_sweep, next_point
from jobsight.learning.tracking.wandb import WandbOptions, WandbTracker

__all__ = [
    "RECORD",
    "Ending",
    "LocalTracker",
    "RunEnd",
    "ServerPoint",
    "StopReason",
    "Tracker",
    "Trackers",
    "WandbOptions",
    "WandbTracker",
    "create_sweep",
    "next_point",
    "require_sdk",
    "tracker",
]

_LOG = logging.getLogger(__name__)


def tracker(
    folder: Path,
    wandb: WandbOptions | None = None,
    *,
    say: Callable[[str], None] = _LOG.warning,
) -> Tracker:
    """The tracker of one run: its local record, and W&B where asked for.

    Args:
        folder: of the run.
        wandb: how W&B is told; None, or a mode of ``off``, for not at all.
        say: is told, in one line, what the user should know; the record keeps it as a note too.

    Raises:
        UsageError: W&B is asked for and its SDK is not installed.
        OutputError: the record cannot be opened.
    """
    if wandb is None or wandb.mode == "off":
        return LocalTracker(folder)
    require_sdk()
    local = LocalTracker(folder)

    def tell(text: str) -> None:
        local.note(text)
        say(text)

    return Trackers([local, WandbTracker(folder, wandb, tell)])
