"""The source `condor`: the jobs of one user, or of all, at one access point, without any rights.

A poll is at most one ``condor_q`` and one ``condor_history``, which reads what ended since the last
poll, and then the user logs that the ads name (`jobsight.history.condor.userlogs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from jobsight.documents import JSON, JobDocument
from jobsight.history.condor.client import CondorClient
from jobsight.history.sources import Observed, Position, Source
from jobsight.settings import CondorSettings

__all__ = ["CondorSource"]


class CondorSource(Source):
    """One access point.

    Args:
        client: runs the tools; this source's alone.
        access_point: the name in the ids of its jobs.
        settings: whose jobs, limits and spans.
    """

    def __init__(self, client: CondorClient, access_point: str, settings: CondorSettings) -> None:
        self.name = f"condor:{access_point}"
        self.interval = settings.interval
        self._client = client
        self._access_point = access_point
        self._settings = settings

    def resume(
        self, position: Position | None, active: Callable[[str | None], Iterator[JobDocument]]
    ) -> None:
        """Go on from `position`; see `Source.resume`."""

    def poll(self) -> Observed | None:
        """Ask the tools once, or read on in user logs where the last poll left some."""
        return None

    def status(self) -> dict[str, JSON]:
        """Calls by command."""
        return {"calls": dict(sorted(self._client.calls.items()))}

    def close(self) -> None:
        """Nothing is held open between polls."""
