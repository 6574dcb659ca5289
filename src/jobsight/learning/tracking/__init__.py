"""Tracking of runs: a local record always, and Weights & Biases beside it where asked for."""

from jobsight.learning.tracking.base import Ending, RunEnd, StopReason, Tracker, Trackers
from jobsight.learning.tracking.local import RECORD, LocalTracker

__all__ = ["RECORD", "Ending", "LocalTracker", "RunEnd", "StopReason", "Tracker", "Trackers"]
