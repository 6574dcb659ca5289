"""What can go wrong when a Slurm tool is asked, recognised by what it prints."""

from __future__ import annotations

import enum
import re

from jobsight.errors import SourceError

__all__ = ["PASSING", "FailureKind", "SlurmError", "classify"]


class FailureKind(enum.StrEnum):
    """Kinds of failure."""

    DOWN = "down"
    """The controller, or for sacct the accounting daemon, cannot be reached."""
    SLOW = "slow"
    """No answer in time, or a request to ask less often."""
    NO_ACCOUNTING = "no_accounting"
    """The cluster keeps no accounts in a database."""
    NO_PERMISSION = "no_permission"
    NO_JOB = "no_job"
    """No such job (any more)."""
    MISSING = "missing"
    """The command is not there."""
    TOO_MUCH = "too_much"
    """More output than the settings allow, or slurmdbd gives (MaxQueryTimeRange)."""
    OTHER = "other"


PASSING = (FailureKind.DOWN, FailureKind.SLOW, FailureKind.MISSING)
"""Failures that say nothing of the job: asked again, the tool may answer."""


class SlurmError(SourceError):
    """A Slurm tool gave no answer.

    Attributes:
        kind: of failure.
    """

    def __init__(self, message: str, kind: FailureKind) -> None:
        super().__init__(message)
        self.kind = kind


_SIGNS: tuple[tuple[FailureKind, str], ...] = (
    (FailureKind.TOO_MUCH, r"too wide of a date range|result exceeds size limit"),
    (FailureKind.NO_ACCOUNTING, r"accounting storage is disabled|accounting is disabled"),
    (
        FailureKind.NO_JOB,
        r"invalid job id|job\S*( [\d_+]+)? not found|job/step already completing|no such job",
    ),
    (
        FailureKind.NO_PERMISSION,
        r"access/permission denied|permission denied|user .*not authorized|"
        r"authentication|munge|zero bytes were transmitted|invalid user id",
    ),
    (FailureKind.SLOW, r"timed out|timeout|rate limit|too many requests|try again|busy|back ?off"),
    (
        FailureKind.DOWN,
        r"unable to contact|connection refused|connection reset|unreachable|connection failure|"
        r"problem talking to the database|unable to connect|failed to connect|"
        r"slurm_persist_conn|resolve|no route|connection to .* (failed|lost)|in standby",
    ),
)
"""Messages of Slurm 22.05 to 26.05 (src/common/slurm_errno.c, slurm_persist_conn.c), in the order
in which they are looked for: the most specific first, since one failure prints several lines."""

_COMPILED = [(kind, re.compile(signs, re.IGNORECASE)) for kind, signs in _SIGNS]


def classify(stderr: str) -> FailureKind:
    """The kind of failure that a tool's error output reports."""
    found = (kind for kind, signs in _COMPILED if signs.search(stderr))
    return next(found, FailureKind.OTHER)
