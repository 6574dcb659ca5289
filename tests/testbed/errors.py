"""The two errors of the test bed."""

from unittest import SkipTest

__all__ = ["BedError", "Unavailable"]


class Unavailable(SkipTest):
    """What a test needs cannot be had here: pytest skips it with this reason."""


class BedError(RuntimeError):
    """A piece of the test bed did not start or did not do as told; names the log to read."""
