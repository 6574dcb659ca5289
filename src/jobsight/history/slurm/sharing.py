"""Batch scripts that the tasks of an array, or the components of a job, have in common."""

from __future__ import annotations

import msgspec

from jobsight.documents import JobDocument, Submission
from jobsight.history.slurm.ids import SlurmId

__all__ = ["SharedScripts"]

_SHARED_BYTES = 16 << 20
_MOST_SHARED = 64 << 20


class SharedScripts:
    """Scripts by the number of their array or job; the oldest go where they grow too many."""

    def __init__(self) -> None:
        self._shared: dict[str, _Shared] = {}
        self._letters = 0

    def clear(self) -> None:
        """Forget all."""
        self._shared.clear()
        self._letters = 0

    def known(self, document: JobDocument) -> None:
        """Tell of a living job that the store has: its script may be its siblings' too."""
        base = document.submission.array
        if base and document.submission.script:
            self.keep(base, document.submission)

    def tell(self, base: str, submission: Submission) -> None:
        """Tell the script, and its options, of an array or a job."""
        self._drop(base)
        self._shared[base] = _Shared(
            Submission(script=submission.script, directives=submission.directives)
        )
        self._letters += len(submission.script or "")
        while self._letters > _MOST_SHARED and len(self._shared) > 1:
            self._drop(next(iter(self._shared)))

    def into(self, document: JobDocument, job: SlurmId) -> JobDocument:
        """The document with the script that its siblings have, if that is known."""
        shared = self._shared.get(job.base)
        if shared is None or document.submission.script is not None:
            return document
        return shared.into(document)

    def keep(self, base: str, submission: Submission) -> None:
        """As `tell`, where nothing was told yet."""
        if base not in self._shared:
            self.tell(base, submission)

    def _drop(self, base: str) -> None:
        if (shared := self._shared.pop(base, None)) is not None:
            self._letters -= len(shared.parts.script or "")


class _Shared:
    """A script and how often it may still be written.

    An array of a million tasks holds it often enough, but does not fill the store with it.
    """

    def __init__(self, parts: Submission) -> None:
        self.parts = parts
        self._left = _SHARED_BYTES

    def into(self, document: JobDocument) -> JobDocument:
        """The document with the script, or with its options alone where it may not hold more."""
        self._left -= len(self.parts.script or "")
        submission = msgspec.structs.replace(
            document.submission,
            script=self.parts.script if self._left >= 0 else None,
            directives=self.parts.directives,
        )
        return msgspec.structs.replace(document, submission=submission)
