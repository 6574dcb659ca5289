"""Every error that Jobsight raises on purpose.

The tree::

    JobsightError                 exit status 1
    ├── UsageError                exit status 2: the call itself is wrong
    │   └── SettingsError         a setting is unknown or has a bad value
    ├── SourceError               an input cannot be read at all (missing, no permission, no log)
    ├── OutputError               an output cannot be written (no permission, disk full)
    ├── DocumentError             a job document cannot be read or written
    ├── StoreError                a store is damaged, refused, or not what its address says
    │   ├── StoreUnavailableError it cannot be reached or written now; trying again may help
    │   ├── TooMuchError          more than one put may hold
    │   └── ConflictError         another writer was first: read again, then put again
    ├── JobError                  the job asked for is unknown, or is not held at that time
    ├── ClusterError              a scheduler is missing, does not answer, or refuses
    ├── TrainingError             the examples do not suffice to train or to judge a model
    ├── SweepError                a sweep's folder is missing, damaged, or in another state
    └── ModelError                a model directory is missing, damaged or of another schema

A message names the bad value, the valid choices, and what to do next; it is one line. Damage in a
readable input is not an error: it is skipped, counted and reported (`jobsight.history.readreport`).
"""

__all__ = [
    "ClusterError",
    "ConflictError",
    "DocumentError",
    "JobError",
    "JobsightError",
    "ModelError",
    "OutputError",
    "SettingsError",
    "SourceError",
    "StoreError",
    "StoreUnavailableError",
    "SweepError",
    "TooMuchError",
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


class StoreError(JobsightError):
    """A store is damaged, refuses what is asked, or is not a store; trying again does not help."""


class StoreUnavailableError(StoreError):
    """A store cannot be reached or written now: server away, locked, disk full. May pass."""


class TooMuchError(StoreError):
    """More documents, or bytes, than one put may hold; nothing was stored."""


class ConflictError(StoreError):
    """Another writer was first; nothing of the put was stored.

    Attributes:
        ids: documents that have another revision than the put was based on.
        sources: positions that are not what the put was based on.
    """

    def __init__(self, ids: tuple[str, ...] = (), sources: tuple[str, ...] = ()) -> None:
        self.ids = ids
        self.sources = sources
        what = [f"{len(ids)} documents"] if ids else []
        what += [f"the position of {source[:80]!r}" for source in sources[:3]]
        super().__init__(
            f"{' and '.join(what) or 'the archive'} changed meanwhile; read again and put again"
        )


class JobError(JobsightError):
    """The job asked for is unknown, or is not held at that time."""


class ClusterError(JobsightError):
    """A scheduler is missing, does not answer, or refuses what it is given."""


class TrainingError(JobsightError):
    """The examples do not suffice to train or to judge a model; says what would be needed."""


class SweepError(JobsightError):
    """A sweep's folder is missing, damaged, or not in the state that is asked for."""


class ModelError(JobsightError):
    """A model directory is missing, damaged or of another schema."""
