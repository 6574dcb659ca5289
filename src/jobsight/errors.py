"""Every error that Jobsight raises on purpose.

The tree::

    JobsightError                 exit status 1
    ├── UsageError                exit status 2: the call itself is wrong
    │   └── SettingsError         a setting is unknown or has a bad value
    ├── SourceError               an input cannot be read at all (missing, no permission, no log)
    ├── OutputError               an output cannot be written (no permission, disk full)
    ├── DocumentError             a job document cannot be read or written
    ├── JobError                  the job asked for is unknown, or is not held at that time
    ├── TrainingError             the examples do not suffice to train or to judge a model
    └── ModelError                a model directory is missing, damaged or of another schema

A message names the bad value, the valid choices, and what to do next; it is one line. Damage inside
a readable input is no error: it is skipped, counted and reported (`jobsight.history.Skipped`).
"""

__all__ = [
    "DocumentError",
    "JobError",
    "JobsightError",
    "ModelError",
    "OutputError",
    "SettingsError",
    "SourceError",
    "TrainingError",
    "UsageError",
]


class JobsightError(Exception):
    """Root of the tree; the command line prints its message and leaves with `exit_status`."""

    exit_status = 1


class UsageError(JobsightError):
    """The call itself is wrong: an option, a job id or a time that cannot be understood."""

    exit_status = 2


class SettingsError(UsageError):
    """A setting is unknown or has a bad value; names file, line and column where known."""


class SourceError(JobsightError):
    """An input cannot be read at all."""


class OutputError(JobsightError):
    """An output cannot be written; what was there before is untouched."""


class DocumentError(JobsightError):
    """A job document is damaged, of an unknown form, or cannot be written."""


class JobError(JobsightError):
    """The job asked for is unknown, or is not held at that time."""


class TrainingError(JobsightError):
    """The examples do not suffice to train or to judge a model; says what would be needed."""


class ModelError(JobsightError):
    """A model directory is missing, damaged or of another schema."""
