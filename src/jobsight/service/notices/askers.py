"""Looking jobs up in their scheduler by their ids: what a notice triggers.

The number of calls does not grow with the number of jobs: Slurm is asked by `history.slurm.lookup`,
HTCondor by one ``condor_q -json`` for all ids and one ``condor_history -json`` for those that the
queue does not have any more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence

from jobsight.documents import JSON, JobDocument, parse_key
from jobsight.errors import DocumentError
from jobsight.history.condor.client import Ad, CondorClient
from jobsight.history.jobads import document_from_ad
from jobsight.history.slurm.client import SlurmClient
from jobsight.history.slurm.lookup import SlurmLookup
from jobsight.settings import SlurmSettings

__all__ = ["Asker", "CondorAsker", "SlurmAsker"]


class Asker(ABC):
    """Asks one scheduler about jobs. One thread at a time.

    Attributes:
        scheduler: ``slurm`` or ``htcondor``.
        cluster: the Slurm cluster, or the access point, in the jobs' ids.
    """

    scheduler: str
    cluster: str

    @abstractmethod
    def collect(self, jobs: Collection[str]) -> list[JobDocument]:
        """What the scheduler reports of these jobs now; jobs that it does not know are left out.

        Raises:
            SourceError: it gave no answer.
        """

    @abstractmethod
    def calls(self) -> dict[str, JSON]:
        """How often each command was run."""

    def resume(self) -> None:  # noqa: B027
        """Begin anew: what was collected last may not have been saved."""

    def known(self, document: JobDocument) -> None:  # noqa: B027
        """Take a living job of the store: what its document has need not be reported again."""


class SlurmAsker(SlurmLookup, Asker):
    """Asks one Slurm cluster; the client is this one's alone."""

    scheduler = "slurm"

    def __init__(self, client: SlurmClient, cluster: str, settings: SlurmSettings) -> None:
        super().__init__(client, cluster, settings)
        self.cluster = cluster

    def calls(self) -> dict[str, JSON]:
        """See `Asker.calls`."""
        return dict(self._client.calls)


class CondorAsker(Asker):
    """Asks one access point.

    Args:
        client: this one's alone.
        access_point: its name in the jobs' ids.
    """

    scheduler = "htcondor"

    def __init__(self, client: CondorClient, access_point: str) -> None:
        self.cluster = access_point
        self._client = client
        self._refused = 0

    def collect(self, jobs: Collection[str]) -> list[JobDocument]:
        """See `Asker.collect`."""
        documents = self._documents(self._client.queue(jobs), "condor_q", jobs)
        known = {parse_key(document.id).job for document in documents}
        if gone := [job for job in jobs if job not in known]:
            documents += self._documents(self._client.history(gone), "condor_history", gone)
        return documents

    def calls(self) -> dict[str, JSON]:
        """See `Asker.calls`."""
        return {**self._client.calls, "ads_refused": self._refused}

    def _documents(
        self, ads: Sequence[Ad], source: str, wanted: Collection[str]
    ) -> list[JobDocument]:
        found = []
        for ad in ads:
            try:
                document = document_from_ad(ad, self.cluster, source=source)
            except DocumentError:
                self._refused += 1
                continue
            if parse_key(document.id).job in wanted:
                found.append(document)
        return found
