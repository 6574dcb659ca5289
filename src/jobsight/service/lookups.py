"""Asking schedulers about jobs by their ids: what a notice triggers.

The number of calls does not grow with the number of jobs: Slurm is asked by `history.slurm.lookup`,
HTCondor by one ``condor_q -json`` for all ids and one ``condor_history -json`` for those that the
queue does not have any more.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection
from typing import Any

import msgspec

from jobsight.documents import JSON, JobDocument, parse_key
from jobsight.errors import DocumentError, SourceError
from jobsight.history.commands import Ended, child_environment, find_tool, run_command
from jobsight.history.jobads import document_from_ad
from jobsight.history.slurm import lookup
from jobsight.history.slurm.client import SlurmClient
from jobsight.settings import CondorSettings, SlurmSettings
from jobsight.text import printable

__all__ = ["CondorLookup", "Lookup", "SlurmLookup"]

_MOST_OUTPUT = 256 << 20
_SHOWN = 200


class Lookup(ABC):
    """One scheduler that can be asked about jobs. One thread at a time.

    Attributes:
        scheduler: ``slurm`` or ``htcondor``.
        cluster: the Slurm cluster, or the access point, in the jobs' ids.
    """

    scheduler: str
    cluster: str

    @abstractmethod
    def collect(self, jobs: Collection[str]) -> list[JobDocument]:
        """What the scheduler tells of these jobs now; jobs that it does not know are left out.

        Raises:
            SourceError: it gave no answer.
        """

    @abstractmethod
    def calls(self) -> dict[str, JSON]:
        """How often each command was run."""


class SlurmLookup(Lookup):
    """One Slurm cluster; the client is this lookup's alone."""

    scheduler = "slurm"

    def __init__(self, client: SlurmClient, cluster: str, settings: SlurmSettings) -> None:
        self.cluster = cluster
        self._client = client
        self._collector = lookup.SlurmLookup(client, cluster, settings)

    def collect(self, jobs: Collection[str]) -> list[JobDocument]:
        """As the contract says."""
        return self._collector.collect(jobs)

    def calls(self) -> dict[str, JSON]:
        """As the contract says."""
        return dict(self._client.calls)


class CondorLookup(Lookup):
    """One access point.

    Args:
        access_point: its name in the jobs' ids.
        settings: where the tools are, and their limits.
        schedd: name of the schedd to be asked; None: this machine's.
    """

    scheduler = "htcondor"

    def __init__(
        self, access_point: str, settings: CondorSettings, *, schedd: str | None = None
    ) -> None:
        self.cluster = access_point
        self._settings = settings
        self._where = [] if schedd is None else ["-name", schedd]
        self._calls: Counter[str] = Counter()
        self._refused = 0

    def collect(self, jobs: Collection[str]) -> list[JobDocument]:
        """As the contract says."""
        queued = self._ask("condor_q", ["-allusers", *self._where, "-json", *sorted(jobs)])
        documents = self._documents(queued, "condor_q", jobs)
        known = {parse_key(document.id).job for document in documents}
        gone = sorted(job for job in jobs if job not in known)
        if gone:
            # Without a limit, history is read to its end for each job that it does not have.
            limits = ["-match", str(len(gone)), "-scanlimit", str(self._settings.scan_limit)]
            ended = self._ask("condor_history", [*self._where, *limits, "-json", *gone])
            documents += self._documents(ended, "condor_history", gone)
        return documents

    def calls(self) -> dict[str, JSON]:
        """As the contract says."""
        return {**self._calls, "ads_refused": self._refused}

    def _documents(
        self, ads: list[dict[str, Any]], source: str, wanted: Collection[str]
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

    def _ask(self, tool: str, arguments: list[str]) -> list[dict[str, Any]]:
        words = [*self._settings.prefix, self._find(tool), *arguments]
        self._calls[tool] += 1
        environment = child_environment()
        if self._settings.config is not None:
            environment["CONDOR_CONFIG"] = str(self._settings.config)
        limit = self._settings.timeout
        try:
            ended = run_command(words, env=environment, timeout=limit, most_output=_MOST_OUTPUT)
        except OSError as error:
            raise SourceError(f"cannot run {words[0]}: {error.strerror or error}") from None
        _require_sound(tool, ended, limit)
        return _ads(tool, ended.stdout)

    def _find(self, tool: str) -> str:
        folder = self._settings.bin
        found = find_tool(tool, folder, self._settings.prefix)
        if found is None:
            where = "on the PATH" if folder is None else f"in {folder}"
            raise SourceError(f"{tool} is not {where}; name its folder in the setting condor.bin")
        return found


def _require_sound(tool: str, ended: Ended, limit: float) -> None:
    if ended.overflow:
        raise SourceError(f"{tool} printed more than {_MOST_OUTPUT >> 20} MB")
    if ended.status is None:
        raise SourceError(f"{tool} gave no answer within {limit:g} s (setting condor.timeout)")
    if ended.status != 0:
        told = printable(ended.stderr.decode("utf-8", "replace"), _SHOWN)
        raise SourceError(f"{tool}: {told or f'failed with status {ended.status}'}")


def _ads(tool: str, output: bytes) -> list[dict[str, Any]]:
    """The ads that a tool printed; nothing at all where there are none."""
    if not output.strip():
        return []
    try:
        ads = msgspec.json.decode(output)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        ads = _lenient(tool, output)
    if not isinstance(ads, list):
        raise SourceError(f"{tool} printed no list of ads")
    return [ad for ad in ads if isinstance(ad, dict)]


def _lenient(tool: str, output: bytes) -> Any:
    """Ads may hold bytes that are no UTF-8, control characters, and numbers that are none (NaN)."""
    try:
        return json.loads(output.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        raise SourceError(f"{tool} printed no JSON") from None
