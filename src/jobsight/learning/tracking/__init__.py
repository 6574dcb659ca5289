"""Tracking of runs: a local record always, and Weights & Biases where asked for."""

from jobsight.learning.tracking.base import Ending, RunEnd, StopReason
from jobsight.learning.tracking.child import create_sweep, next_point, require_sdk
from jobsight.learning.tracking.tracker import RECORD, Tracker
from jobsight.learning.tracking.wandb import WandbOptions

__all__ = [
    "RECORD",
    "Ending",
    "RunEnd",
    "StopReason",
    "Tracker",
    "WandbOptions",
    "create_sweep",
    "next_point",
    "require_sdk",
]
