"""Notices of jobs: which job a message of Kafka names, and when the jobs noticed are looked up.

The topic that a message came from decides, as configured. In a topic of job notices a message names
a job to look at, and nothing else of it is read: ``{"cluster": …, "job_id": …}``; `cluster` is a
Slurm cluster or an HTCondor access point, `job_id` a text or number (``123``, ``123_4``, ``123+1``
are Slurm's, ``123.4`` HTCondor's). Only in a topic that is configured as one of Slurm's
jobcomp/kafka does a message report the job (`jobsight.history.slurm.jobcomp`), and only of the
cluster that the topic is configured for. Anything else is poison: the reason says why. So is a
notice that is not UTF-8; Slurm sends whatever bytes a script or a name holds.

A job is watched from its notice until its scheduler reports its end. Jobs that were found are still
watched after a restart, by any collector, because the store has them as living and noticed; those
not found yet are in the source's position.
"""

from __future__ import annotations

import contextlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from time import time
from typing import Any

import msgspec

from jobsight.documents import JSON, Event, JobDocument, JobKey, merge, parse_key
from jobsight.documents.keys import first_id
from jobsight.errors import DocumentError, SourceError, UsageError
from jobsight.history.condor.client import Ad, CondorClient
from jobsight.history.jobads import document_from_ad
from jobsight.history.slurm.client import SlurmClient
from jobsight.history.slurm.ids import parse_id
from jobsight.history.slurm.jobcomp import document_from_message, job_of_message
from jobsight.history.slurm.lookup import SlurmLookup
from jobsight.settings import KafkaSettings, SlurmSettings
from jobsight.text import printable

__all__ = [
    "MOST_WAITING",
    "Asker",
    "CondorAsker",
    "Notice",
    "PoisonError",
    "SlurmAsker",
    "Watched",
    "has_ended",
    "meant",
    "read_notice",
]

_CLUSTER_WIDTH = 255
_SHOWN = 60
_CONDOR = re.compile(r"(\d{1,10})\.(\d{1,10})", re.ASCII)
_EARLIEST = 631_152_000_000_000  # 1990


class PoisonError(Exception):
    """A message names no job, or is not believed; its text is the reason."""


@dataclass(frozen=True)
class Notice:
    """What a message says.

    Attributes:
        key: the job; of a Slurm array, perhaps the whole of it.
        sent: when the message was, µs since 1970.
        document: what a message of jobcomp reports of the job; None: it is a notice.
    """

    key: JobKey
    sent: int
    document: JobDocument | None = None


def read_notice(
    value: bytes | None, topic: str, settings: KafkaSettings, *, sent: int, now: int
) -> Notice:
    """The notice of a message.

    Raises:
        PoisonError: it is too long, not UTF-8, not JSON, of other fields or types than those of its
            topic, of another cluster, or of an id or time that no scheduler has.
    """
    if value is None:
        raise PoisonError("no value")
    if len(value) > settings.message_bytes:
        raise PoisonError(f"{len(value)} bytes are more than {settings.message_bytes}")
    cluster = settings.jobcomp.get(topic)
    try:
        said = json.loads(value.decode("utf-8", "strict" if cluster is None else "replace"))
    except UnicodeDecodeError:
        raise PoisonError("no UTF-8") from None
    except (ValueError, RecursionError):
        raise PoisonError("no JSON") from None
    if not isinstance(said, dict):
        raise PoisonError("no JSON object")
    if cluster is not None:
        latest = now + round(settings.clock_skew_seconds * 1e6)
        named = _name(said.get("cluster") or cluster).lower()
        if cluster.lower() not in ("*", named) or named == "*":
            raise PoisonError("jobcomp: not of the cluster that kafka.jobcomp names for its topic")
        try:
            job, document = job_of_message(said).name, document_from_message(said, named)
        except (ValueError, RecursionError) as error:
            raise PoisonError(f"jobcomp: {printable(error, 200)}") from None
        if any(event.time > latest for event in document.timeline):
            raise PoisonError("jobcomp: a time in the future; see that the clocks agree")
        if any(event.time < _EARLIEST for event in document.timeline):
            raise PoisonError("jobcomp: a time that cannot be")
        return Notice(JobKey("slurm", named, job), sent, document)
    if "jobid" in said and "job_id" not in said:
        raise PoisonError("a message of jobcomp; its topic is not one of kafka.jobcomp")
    cluster, job_id = _name(said.get("cluster")), said.get("job_id")
    if type(job_id) is int:
        job_id = str(job_id)
    if not isinstance(job_id, str):
        raise PoisonError("job_id: no text and no number")
    text = job_id.strip()
    if condor := _CONDOR.fullmatch(text):
        number, proc = int(condor[1]), int(condor[2])
        if not 0 < number < 2**31 or proc >= 2**31:
            raise PoisonError("job_id: out of range")
        return Notice(JobKey("htcondor", cluster, f"{number}.{proc}"), sent)
    try:
        parsed = parse_id(text)
    except ValueError as error:
        raise PoisonError(f"job_id: {printable(error, _SHOWN)}") from None
    if parsed.tasks is not None or parsed.step is not None:
        raise PoisonError("job_id: a step, or several tasks")
    # By the name that Slurm itself gives it.
    return Notice(JobKey("slurm", cluster.lower(), parsed.name), sent)


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _CLUSTER_WIDTH:
        raise PoisonError("cluster: no name")
    if not value.isprintable() or any("\ud800" <= one <= "\udfff" for one in value):
        raise PoisonError("cluster: a name with control characters")
    return value.strip()


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
    """Asks one access point."""

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


MOST_WAITING = 5000
"""Jobs not in the store yet beyond which no more are to be taken: a position holds them all."""

_NOTICED_BY = ("notice", "jobcomp")


@dataclass(slots=True)
class _Entry:
    """A watched job; times in seconds since 1970."""

    since: float
    """When it was last heard of, by a notice or by its scheduler."""
    found: bool = False
    looked: float | None = None
    ended: bool = False
    """A message reported its end: the store has it, a look-up can only add to it."""


class Watched:
    """The jobs of some schedulers. One thread at a time.

    Attributes:
        foreign: notices of jobs that no asker is for.
        given_up: jobs that their scheduler never knew, or forgot without reporting an end.
    """

    def __init__(
        self,
        askers: Sequence[Asker],
        *,
        most: int,
        per_look: int,
        every: float,
        unknown_after: float,
    ) -> None:
        self._askers = {(one.scheduler, one.cluster): one for one in askers}
        self._most = most
        self._per_look = per_look
        self._every = every
        self._unknown_after = unknown_after
        self._jobs: dict[JobKey, _Entry] = {}
        self._failures: dict[str, str] = {}
        self._looks = 0
        self.foreign = self.given_up = 0

    def __len__(self) -> int:
        return len(self._jobs)

    def restore(self, waiting: JSON, documents: Iterable[JobDocument]) -> None:
        """Begin with what a position holds, and with the noticed jobs that the store has living.

        Raises:
            ValueError: the position is damaged.
        """
        self._jobs.clear()
        for asker in self._askers.values():
            asker.resume()
        if not isinstance(waiting, list):
            raise ValueError("no list of jobs")
        for scheduler, cluster, job, since in waiting:
            self._jobs[JobKey(str(scheduler), str(cluster), str(job))] = _Entry(float(since))
        self.adopt(documents)

    def adopt(self, documents: Iterable[JobDocument]) -> None:
        """Watch the jobs of these documents that were noticed, by whichever collector."""
        now = time()
        for document in documents:
            with contextlib.suppress(UsageError):
                key = parse_key(first_id(document.id))
                noticed = any(event.source in _NOTICED_BY for event in document.timeline)
                if noticed and key[:2] in self._askers and key not in self._jobs:
                    self._jobs[key] = _Entry(now, found=True)
                    self._askers[key[:2]].known(document)

    def add(self, notice: Notice) -> None:
        """Watch a job that was noticed, `full` or not: a notice taken is never dropped."""
        if notice.key[:2] not in self._askers:
            self.foreign += 1
            return
        # A scheduler that does not know the job of an old message will not learn of it.
        since = min(time(), notice.sent / 1e6)
        entry = self._jobs.setdefault(notice.key, _Entry(since))
        # Something happened to it: it is looked up with the new ones.
        entry.looked, entry.since = None, max(entry.since, since)
        if notice.document is not None:
            entry.ended = entry.ended or has_ended(notice.document)

    @property
    def full(self) -> bool:
        """Whether no more notices are to be taken: they, or their jobs, could not be kept."""
        if len(self._jobs) >= self._most:
            return True
        waiting = sum(not entry.found and not entry.ended for entry in self._jobs.values())
        return waiting >= MOST_WAITING

    @property
    def due(self) -> bool:
        """Whether a job was last looked at long enough ago."""
        return any(map(self._is_due, self._jobs.values()))

    def waiting(self) -> list[JSON]:
        """For the position: the keys of jobs that wait, each with when it was last heard of.

        Jobs whose end a message reported follow as far as there is room.
        """
        jobs = [one for one in self._jobs.items() if not one[1].found]
        jobs.sort(key=lambda one: one[1].ended)
        most = max(MOST_WAITING, sum(not entry.ended for _, entry in jobs))
        return [[*key, round(entry.since, 3)] for key, entry in jobs[:most]]

    def look(self) -> list[JobDocument]:
        """Ask each scheduler about the jobs that are due, at most `per_look` of them.

        Raises:
            SourceError: a scheduler gave no answer, and no other reported anything.
        """
        self._looks += 1
        documents: list[JobDocument] = []
        failure: SourceError | None = None
        for key, asker in self._askers.items():
            due = [
                (entry.looked or 0.0, job)
                for job, entry in self._jobs.items()
                if job[:2] == key and self._is_due(entry)
            ]
            chosen = [job for _, job in sorted(due)[: self._per_look]]
            if not chosen:
                continue
            try:
                found = asker.collect([job.job for job in chosen])
            except SourceError as error:
                failure = error
                self._failures[":".join(key)] = printable(error, 200)
                continue
            self._failures.pop(":".join(key), None)
            documents += self._marked(chosen, found)
        if failure is not None and not documents:
            raise failure
        return documents

    def status(self) -> dict[str, JSON]:
        """Counters, calls and failures by scheduler."""
        return {
            "watched": len(self._jobs),
            "not_found_yet": sum(not entry.found for entry in self._jobs.values()),
            "full": self.full,
            "foreign": self.foreign,
            "given_up": self.given_up,
            "looks": self._looks,
            "calls": {":".join(key): one.calls() for key, one in self._askers.items()},
            "asking_failures": dict(self._failures),
        }

    def _is_due(self, entry: _Entry) -> bool:
        return entry.looked is None or entry.looked <= time() - self._every

    def _marked(self, chosen: list[JobKey], found: list[JobDocument]) -> list[JobDocument]:
        """Mark what lives as noticed; stop watching what ended."""
        for key in chosen:
            self._jobs[key].looked = time()
        parts: dict[JobKey, list[JobDocument]] = {key: [] for key in chosen}
        for document in found:
            for key in meant(parse_key(document.id)):
                if key in parts:
                    parts[key].append(document)
        for key, documents in parts.items():
            entry = self._jobs[key]
            if documents:
                entry.found, entry.since = True, time()
                if all(map(has_ended, documents)):
                    del self._jobs[key]
            elif time() - entry.since > self._unknown_after:
                self.given_up += 1
                del self._jobs[key]
        marked = []
        for document in found:
            submitted, timeline = document.submission.submitted, document.timeline
            if submitted is not None and not has_ended(document):  # of each job the same entry
                timeline = (*timeline, Event(time=submitted, source="notice", word="NOTICED"))
            marked.append(msgspec.structs.replace(document, timeline=timeline))
        return marked


def meant(key: JobKey) -> tuple[JobKey, ...]:
    """The job itself, and the array or heterogeneous job that it is a part of."""
    base = key.job.partition("_")[0].partition("+")[0]
    return (key,) if base == key.job else (key, key._replace(job=base))


def has_ended(document: JobDocument) -> bool:
    """Whether what a source reports of a job has its end in it."""
    state = merge(None, document).state
    return state is not None and state.ended
