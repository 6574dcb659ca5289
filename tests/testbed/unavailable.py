"""The one error of the test bed that means "cannot run here": tests skip with its reason."""

__all__ = ["BedError", "Unavailable"]


class Unavailable(Exception):  # noqa: N818 - a reason to skip, not a failure
    """The test bed cannot run on this machine; the message says why and what would help."""


class BedError(RuntimeError):
    """A piece of the test bed did not start or did not do as told; names the log to read."""
