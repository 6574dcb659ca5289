"""A cluster in memory that prints as Slurm's tools do: for what a real one does too seldom.

The real one is in `tests/testbed`; this one loses records, reverses clocks and fails on demand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.support.storedjobs import merge_into

from jobsight.documents import JobDocument
from jobsight.history.slurm.client import FailureKind, SlurmClient, SlurmError
from jobsight.history.slurm.poller import SlurmSource
from jobsight.history.slurm.sacct import COLUMNS
from jobsight.history.slurm.squeue import FIELDS
from jobsight.settings import SlurmSettings

__all__ = ["FakeJob", "FakeSlurm", "Keeper"]

T0 = 1_795_242_000
"""Seconds since 1970 at which the fake cluster's clock begins."""


@dataclass
class FakeJob:
    """A job, or the pending tasks of an array; times in seconds since 1970."""

    id: str
    raw_id: str
    state: str = "PENDING"
    reason: str = "Priority"
    submit: int = T0
    start: int | None = None
    end: int | None = None
    name: str = "job"
    exit: str = "0:0"
    restarts: int = 0
    user: str = "alice"


@dataclass
class FakeSlurm:
    """The cluster: what is in its queue, what its accounts hold, and what fails."""

    now: int = T0
    queue: dict[str, FakeJob] = field(default_factory=dict)
    accounts: list[FakeJob] = field(default_factory=list)
    scripts: dict[str, str] = field(default_factory=dict)
    down: dict[str, FailureKind] = field(default_factory=dict)
    accounting: str = "accounting_storage/slurmdbd"
    log: list[tuple[str, ...]] = field(default_factory=list)
    skew: int = 0
    flags: str = "job_comment,job_script"
    unreadable: dict[str, FailureKind] = field(default_factory=dict)
    """Jobs whose kept scripts sacct never gives."""
    private: bool = False
    """The controller gives us nobody's script."""

    def end(self, name: str, state: str, code: str = "0:0", *, listed: bool = False) -> None:
        """A job ends now; `listed`: it stays in the queue as ended, as within MinJobAge."""
        job = self.queue.pop(name)
        job.state, job.exit, job.end = state, code, self.now
        if listed:
            self.queue[name] = job
        self.accounts.append(job)

    def start(self, name: str) -> None:
        """A job starts now."""
        job = self.queue[name]
        job.state, job.reason, job.start = "RUNNING", "None", self.now


class FakeClient(SlurmClient):
    """The real client, with a fake cluster in the place of the tools."""

    def __init__(self, settings: SlurmSettings, slurm: FakeSlurm) -> None:
        super().__init__(settings)
        self.slurm = slurm

    def run(self, tool: str, *arguments: str) -> str:
        self.calls[tool] += 1
        self.slurm.log.append((tool, *arguments))
        if tool in self.slurm.down:
            raise SlurmError(f"{tool}: in trouble", self.slurm.down[tool])
        if tool == "squeue":
            return self._squeue(arguments)
        if tool == "sacct":
            return self._sacct(arguments)
        if arguments == ("show", "config"):
            return (
                f"Configuration data as of {self.slurm.now + self.slurm.skew}\n"
                f"AccountingStorageType   = {self.slurm.accounting}\n"
                f"AccountingStoreFlags    = {self.slurm.flags}\n"
                "ClusterName             = fake\nMinJobAge               = 300 sec\n"
                "SLURM_VERSION           = 24.11.5\n"
            )
        if arguments[0] == "write":
            return self._script(arguments[2])
        return self._show(arguments[-1])

    def _wanted(self, arguments: tuple[str, ...], name: str) -> set[str] | None:
        for argument in arguments:
            if argument.startswith(f"{name}="):
                return set(argument.partition("=")[2].split(","))
        return None

    def _squeue(self, arguments: tuple[str, ...]) -> str:
        wanted = self._wanted(arguments, "--jobs")
        text = ""
        for job in self.slurm.queue.values():
            if wanted is not None and not wanted & {job.id, job.id.split("_")[0]}:
                continue
            told = dict.fromkeys(FIELDS, "(null)") | {
                "id": job.id,
                "raw_id": job.raw_id,
                "state": job.state,
                "reason": job.reason,
                "user": job.user,
                "submit": str(job.submit),
                "start": str(job.start or "N/A"),
                "end": str(job.end or "N/A"),
                "time_limit_s": "10:00",
                "cpus": "2",
                "nodes": "1",
                "memory": "200M",
                "priority": "7",
                "hosts": "node1" if job.start else "",
                "name": job.name,
                "restarts": str(job.restarts),
            }
            text += self._delimiter.join([*told.values(), ""]) + "\n"
        return text

    def _sacct(self, arguments: tuple[str, ...]) -> str:
        if arguments == ("--helpformat",):
            return " ".join(COLUMNS)
        jobs = self._wanted(arguments, "--jobs")
        if "--batch-script" in arguments:
            assert jobs
            (base,) = jobs
            if base in self.slurm.unreadable:
                raise SlurmError("sacct: in trouble", self.slurm.unreadable[base])
            script = self.slurm.scripts.get(base, "NONE\n")
            return f"Batch Script for {base}\n{'-' * 80}\n{script}"
        text = self._delimiter.join([*COLUMNS, ""]) + "\n"
        for job in self._accounted(arguments, jobs):
            told = dict.fromkeys(COLUMNS, "") | {
                "JobID": job.id,
                "JobIDRaw": job.raw_id,
                "JobName": job.name,
                "User": job.user,
                "State": job.state,
                "ExitCode": job.exit,
                "Submit": str(job.submit),
                "Eligible": str(job.submit),
                "Start": str(job.start or "None"),
                "End": str(job.end or "Unknown"),
                "ReqTRES": "cpu=2,mem=200M,node=1",
                "AllocCPUS": "2" if job.start else "0",
                "NodeList": "node1" if job.start else "None assigned",
                "Restarts": str(job.restarts),
            }
            text += self._delimiter.join([*told.values(), ""]) + "\n"
        return text

    def _accounted(self, arguments: tuple[str, ...], jobs: set[str] | None) -> Iterator[FakeJob]:
        span = [
            int(argument.partition("=uts")[2])
            for argument in arguments
            if argument.startswith(("--starttime", "--endtime"))
        ]
        for job in self.slurm.accounts:
            if jobs is not None:
                named = jobs & {job.id, job.id.split("_")[0].split("+")[0]}
                if named and (job.end is None or job.end >= span[0]):
                    yield job
            elif span[0] <= (job.end or 0) <= span[1]:
                yield job

    def _show(self, base: str) -> str:
        text = ""
        for job in self.slurm.queue.values():
            if job.id.split("_")[0] != base and job.id != base:
                continue
            array, _, task = job.id.partition("_")
            part = f" ArrayJobId={array} ArrayTaskId={task.strip('[]')}" if task else ""
            text += (
                f"JobId={job.raw_id}{part} JobName={job.name} UserId=alice(1) JobState={job.state} "
                f"Reason={job.reason} Restarts={job.restarts} BatchFlag=1 ExitCode={job.exit} "
                f"TimeLimit=00:10:00 SubmitTime={job.submit} EligibleTime={job.submit} "
                f"StartTime={job.start or 'Unknown'} EndTime={job.end or 'Unknown'} "
                f"NodeList={'node1' if job.start else ''} ReqTRES=cpu=2,mem=200M,node=1 "
                "Command=/home/alice/job.sh WorkDir=/home/alice\n"
            )
        if not text:
            raise SlurmError("scontrol: Invalid job id specified", FailureKind.NO_JOB)
        return text

    def _script(self, base: str) -> str:
        if self.slurm.private:
            raise SlurmError("scontrol: Invalid user id", FailureKind.NO_PERMISSION)
        if base not in self.slurm.scripts:
            raise SlurmError("scontrol: job script retrieval failed", FailureKind.OTHER)
        return self.slurm.scripts[base]


class Keeper:
    """A source with a store in memory, polled as a collector does."""

    def __init__(self, slurm: FakeSlurm, settings: SlurmSettings | None = None) -> None:
        self.slurm = slurm
        self.settings = settings or SlurmSettings()
        self.documents: dict[str, JobDocument] = {}
        self.position: dict[str, object] | None = None
        self.asked: list[str | None] = []
        self.restart()

    def restart(self) -> None:
        """A new process: nothing is known but what was saved."""
        self.client = FakeClient(self.settings, self.slurm)
        self.source = SlurmSource(
            self.client, "fake", self.settings, clock=lambda: float(self.slurm.now)
        )
        self.source.resume(self.position, self.active)

    def active(self, cluster: str | None = None) -> Iterator[JobDocument]:
        """As `Store.active`; asked for once a restart, and for its own cluster alone."""
        self.asked.append(cluster)
        living = [one for one in self.documents.values() if not (one.state and one.state.ended)]
        return iter(one for one in living if cluster in (None, one.id.rpartition(":")[0]))

    def poll(self, seconds: int = 30) -> int:
        """Time passes, then polls until nothing more waits; how many documents came."""
        self.slurm.now += seconds
        count = 0
        while True:
            seen = self.source.poll()
            if seen is None:
                return count
            for document in seen.documents:
                merge_into(self.documents, document)
            count += len(seen.documents)
            self.position = seen.position
            if not seen.more:
                return count

    def job(self, name: str) -> JobDocument:
        return self.documents[f"slurm:fake:{name}"]

    def words(self, name: str) -> list[str | None]:
        """Words of the timeline, in order."""
        return [event.word for event in self.job(name).timeline]


def cluster(*jobs: FakeJob) -> FakeSlurm:
    """A cluster with these jobs in its queue."""
    return FakeSlurm(queue={job.id: job for job in jobs})


def kept(slurm: FakeSlurm, **settings: object) -> Keeper:
    """A source of it, with settings."""
    return Keeper(slurm, SlurmSettings.model_validate(settings))


def polled(*jobs: FakeJob, **settings: object) -> tuple[FakeSlurm, Keeper]:
    """A cluster with these jobs in its queue, and a source of it that has looked once."""
    slurm = cluster(*jobs)
    keeper = kept(slurm, **settings)
    keeper.poll()
    return slurm, keeper
