"""The record of a run, and its copy at Weights & Biases."""

from jobsight.learning.tracking.base import Ending, RunEnd, StopReason
from jobsight.learning.tracking.tracker import RECORD, Tracker

__all__ = ["RECORD", "Ending", "RunEnd", "StopReason", "Tracker"]
