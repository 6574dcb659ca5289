"""Real clusters at work, collectors and stores killed at random; then the stores have the truth.

Two collectors, one with an embedded store and one with a server, follow the same HTCondor pool and
the same Slurm cluster, whose event log rotates every few kilobytes. `tests/chaos/` has the parts.
`JOBSIGHT_PROVE=1` runs the long form; `JOBSIGHT_CHAOS_SEED` names a seed of one's own.
"""

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from tests.chaos import condortruth, slurmtruth
from tests.chaos.collecting import Collecting
from tests.chaos.condortruth import Verdict
from tests.chaos.condorwork import CondorWork
from tests.chaos.segments import Record, Segment, Segments
from tests.chaos.slurmwork import SlurmWork
from tests.chaos.trouble import CollectorTrouble, DaemonTrouble
from tests.chaos.work import Work, run_together
from tests.support.limits import PROVE
from tests.testbed import EventLogOptions, HtcondorPool, RedisServer, SlurmCluster
from tests.testbed.namespace import logs_folder, until

from jobsight.documents import JobDocument

_ROTATIONS = 4000
_SHOWN = 25


@dataclass(frozen=True)
class Plan:
    """How much of it: seconds of work, jobs at most, pauses between acts, size of a log file."""

    seed: str
    seconds: float
    jobs: int
    pauses: tuple[float, float]
    log_bytes: int = 6000
    version: str = "24.11"
    fsync: str = "always"


def _plans() -> list[Plan]:
    seed = os.environ.get("JOBSIGHT_CHAOS_SEED", "1")
    if not PROVE:
        return [Plan(seed, 14, 45, (0.02, 0.25))]
    return [
        Plan(f"{seed}-long", 100, 400, (0.02, 0.2)),
        Plan(f"{seed}-everysec", 80, 300, (0.02, 0.2), 3000, fsync="everysec"),
        Plan(f"{seed}-elder", 80, 300, (0.02, 0.2), 4000, version="22.05"),
    ]


class Bed:
    """The clusters, the server, the log kept aside, and two collectors."""

    def __init__(
        self, plan: Plan, folder: Path, stack: ExitStack, failed: Callable[[], bool]
    ) -> None:
        options = EventLogOptions(
            max_size=plan.log_bytes, max_rotations=_ROTATIONS, attributes=condortruth.ATTRIBUTES
        )
        self.pool = HtcondorPool(event_log_options=options)
        self.cluster = SlurmCluster(version=plan.version, min_job_age=3)
        self.server = RedisServer(settings=(f"appendfsync {plan.fsync}",))
        for piece in (self.pool, self.cluster, self.server):
            piece.start()
            stack.callback(lambda piece=piece: piece.stop(keep_logs=failed()))  # type: ignore[misc]
        aside = self.pool.folder / "aside"
        self.segments = stack.enter_context(Segments(self.pool.event_log, aside))
        sources = ["--event-log", str(self.pool.event_log), "--slurm"]
        slurm = {
            "cluster": self.cluster.name, "bin": str(self.cluster.bin), "interval": 0.7,
            "timeout": 10, "backoff_most": 2, "overlap": 60, "config_every": 5,
            "details_per_poll": 100, "unknown_end_after": 12,
        }  # fmt: skip
        settings = {"slurm": slurm, "eventlog": {"interval": 0.1, "settle_seconds": 2}}
        addresses = {"sqlite": f"sqlite:///{folder}/jobs.db", "redis": self.server.url}
        self.collectors = [
            Collecting(name, url, folder / name, sources, settings)
            for name, url in addresses.items()
        ]
        stack.callback(self._end)

    def _end(self) -> None:
        for collector in self.collectors:
            collector.kill()

    def versions(self) -> dict[str, str]:
        """Of the servers, as they say."""
        told = self.pool.run("condor_version").split()
        info = self.server.cli("INFO", "server")
        redis = next(line for line in info.splitlines() if line.startswith("redis_version"))
        return {
            "HTCondor": told[1],
            "Slurm": self.cluster.run("sinfo", "--version").split()[-1],
            "Redis": redis.partition(":")[2].strip(),
        }

    def settled(self) -> bool:
        """Whether both collectors have read all there is, and wait for nobody's word."""
        for collector in self.collectors:
            sources = collector.sources()
            for one in sources.values():
                # The cluster is at rest: a job that lives was restored, and not looked for yet.
                if any(one.get(name) for name in ("bytes_behind", "jobs_unsettled", "jobs_living")):
                    return False
            if len(sources) < 2:
                return False
        return True


@pytest.fixture(params=_plans(), ids=lambda plan: f"seed {plan.seed}")
def plan(request: pytest.FixtureRequest) -> Plan:
    assert isinstance(request.param, Plan)
    return request.param


@pytest.fixture
def bed(
    plan: Plan, bed_ready: None, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Bed]:
    before = request.session.testsfailed
    with ExitStack() as stack:
        yield Bed(plan, tmp_path, stack, lambda: request.session.testsfailed > before)


def _at_once(*actions: Callable[[], None]) -> None:
    """Run these side by side; the first error of any is raised."""
    errors: list[BaseException] = []

    def run(action: Callable[[], None]) -> None:
        try:
            action()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def _settle(bed: Bed) -> None:
    """Everything is collected; then once more, as from cron."""
    begun = time.monotonic()
    for collector in bed.collectors:
        collector.start()
    until(
        lambda: time.monotonic() - begun > 2 and bed.settled(),
        "the collectors to have everything",
        timeout=60,
    )
    for collector in bed.collectors:
        collector.stop()
        collector.once()


def _compare_living(bed: Bed, kills: Sequence[int]) -> dict[str, Verdict]:
    """What the stores say of the jobs that have stayed as they are while both collectors looked."""
    for collector in bed.collectors:
        collector.start()
    name = f"slurm:{bed.cluster.name}"
    before = slurmtruth.living(bed.cluster)
    begun = time.time_ns() // 1000
    first: dict[str, int] = {}

    def looked() -> bool:
        """Each has looked twice since the first status that it wrote 1.5 s after `begun`."""
        for collector in bed.collectors:
            polls = collector.sources().get(name, {}).get("polls")
            # A look in the second in which a job changed may leave it to a later one.
            if polls is not None and collector.status().get("written", 0) > begun + 1_500_000:
                first.setdefault(collector.name, polls)
            if (polls or 0) < first.get(collector.name, 1 << 60) + 2:
                return False
        return True

    until(looked, "the collectors to look at the queue", timeout=60)
    found = {collector.name: collector.documents("slurm") for collector in bed.collectors}
    after = slurmtruth.living(bed.cluster)
    same = {job: seen for job, seen in before.items() if after.get(job) == seen}
    assert len(same) > 4, "next to nothing waits: the test tests nothing"
    return {
        f"{name}, Slurm's queue": slurmtruth.compare_living(documents, same, kills)
        for name, documents in found.items()
    }


def test_after_chaos_the_stores_have_what_the_schedulers_say(
    plan: Plan, bed: Bed, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    condor = CondorWork(bed.pool, plan.seed, plan.jobs, plan.pauses)
    slurm = SlurmWork(bed.cluster, plan.seed, plan.jobs, plan.pauses)
    daemons = DaemonTrouble(bed.pool, bed.cluster, bed.server, plan.seed, (0.5, 3))
    works: list[Work] = [condor, slurm, daemons]
    works.append(CollectorTrouble(bed.collectors, plan.seed, (0.5, 4)))
    for collector in bed.collectors:
        collector.start()
    run_together(works, plan.seconds)
    bed.cluster.resume_nodes()
    slurm.hold_some(8)
    still = _compare_living(bed, daemons.kills)
    _at_once(lambda: condor.quiesce(60), lambda: slurm.quiesce(60))
    _settle(bed)

    log = bed.segments.jobs()
    ads = bed.pool.queue() + bed.pool.history()
    accounts = slurmtruth.rows(bed.cluster, slurm.jobs)
    verdicts: dict[str, Verdict] = still
    for collector in bed.collectors:
        documents = collector.documents("htcondor")
        verdicts[f"{collector.name}, HTCondor"] = condortruth.compare(documents, ads, log)
        documents = collector.documents("slurm")
        verdicts[f"{collector.name}, Slurm"] = slurmtruth.compare(
            documents, accounts, daemons.kills
        )
    for name, true in {"sacct": accounts, "condor": ads}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(true, indent=1))
    did = sum((work.did for work in works), Counter[str]())
    for name, value in bed.versions().items():
        record_property(name, value)
    record_property("rotations", len(bed.segments.read()) - 1)
    for name in ("collector killed", *sorted(daemons.did)):
        record_property(name, did[name])
    for name, verdict in verdicts.items():
        record_property(f"jobs ({name})", verdict.jobs)
        record_property(f"fields ({name})", verdict.fields)
        record_property(f"disputes ({name})", len(verdict.disputes))
    for collector in bed.collectors:
        again = [job for job in collector.documents("slurm") if "@" in job]
        record_property(f"numbers used again ({collector.name})", len(again))
    _judge(plan, verdicts, did, tmp_path)
    for collector in bed.collectors:
        told = collector.sources()[f"eventlog:{bed.pool.event_log}"]
        assert (told["gaps"], told["skipped"]) == (0, 0), told


def _judge(plan: Plan, verdicts: dict[str, Verdict], did: Counter[str], folder: Path) -> None:
    found = [f"{name}: {one}" for name, verdict in verdicts.items() for one in verdict.differences]
    if not did["schedd killed"]:
        found += [
            f"{name}: {one}"
            for name, verdict in verdicts.items()
            if "HTCondor" in name
            for one in verdict.disputes
        ]
    if found:
        shown = "\n".join(one[:600] for one in found[:_SHOWN])
        pytest.fail(
            f"{len(found)} differences with seed {plan.seed} "
            f"(JOBSIGHT_CHAOS_SEED={plan.seed.partition('-')[0]}):\n{shown}\n"
            f"done: {dict(did)}\nlogs: {folder} and {logs_folder()}",
            pytrace=False,
        )


@pytest.mark.parametrize("rounds", [8 if PROVE else 2])
def test_what_was_rotated_away_unread_is_reported_to_the_byte(
    rounds: int, bed_ready: None, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    seed = os.environ.get("JOBSIGHT_CHAOS_SEED", "1")
    options = EventLogOptions(max_size=4000, max_rotations=2, attributes=condortruth.ATTRIBUTES)
    with ExitStack() as stack:
        pool = stack.enter_context(HtcondorPool(event_log_options=options))
        segments = stack.enter_context(Segments(pool.event_log, pool.folder / "aside"))
        sources = ["--event-log", str(pool.event_log)]
        # What names the access point may have been rotated away.
        quick = {
            "access_point": pool.hostname, "eventlog": {"interval": 0.1, "settle_seconds": 1},
        }  # fmt: skip
        collector = Collecting("gaps", str(tmp_path / "jobs.db"), tmp_path / "c", sources, quick)
        stack.callback(collector.kill)
        for number in range(rounds):
            _lose_some(pool, segments, collector, f"{seed} {number}")
        collector.stop()
        collector.once()
        told = collector.sources()[f"eventlog:{pool.event_log}"]
        documents = collector.documents("htcondor")
        kept = segments.read()
        ads = pool.queue() + pool.history()
    gaps = _gaps(kept, documents)
    assert gaps, "nothing was lost: the test tests nothing"
    # Where HTCondor counted anew, no header tells how much the log before had, if any was unread.
    sure = len(gaps) - gaps.count(None)
    assert sure <= told["gaps"] <= len(gaps), (seed, gaps, told)
    known = sum(size or 0 for size in gaps)
    assert told["gap_bytes"] == known or (None in gaps and told["gap_bytes"] > known), (gaps, told)
    whole = _told_whole(documents, segments.jobs_of(kept))
    ads = [ad for ad in ads if f"{ad['ClusterId']}.{ad['ProcId']}" in whole]
    log = {job: records for job, records in segments.jobs_of(kept).items() if job in whole}
    verdict = condortruth.compare({job: documents[job] for job in whole}, ads, log)
    assert not verdict.differences, (seed, verdict.differences)
    record_property("bytes lost and reported", told["gap_bytes"])
    record_property("gaps", told["gaps"])
    record_property("jobs told whole", len(whole))


def _lose_some(pool: HtcondorPool, segments: Segments, collector: Collecting, seed: str) -> None:
    """Work while the collector runs, and while it was killed until files are rotated away."""
    collector.start()
    run_together([CondorWork(pool, f"{seed} read", 10, (0.02, 0.2))], 3)
    collector.kill()
    before = len(segments.read())
    unread = CondorWork(pool, f"{seed} unread", 1000, (0.0, 0.05))
    while len(segments.read()) < before + 5:
        run_together([unread], 0.5)
    unread.quiesce(90)
    collector.start()
    begun = time.monotonic()
    until(
        lambda: time.monotonic() - begun > 2 and not _behind(collector),
        "the collector to have what there is",
        timeout=30,
    )


def _behind(collector: Collecting) -> int:
    told = collector.sources()
    return sum(one.get("bytes_behind", 1) for one in told.values()) if told else 1


def _gaps(kept: Sequence[Segment], documents: Mapping[str, JobDocument]) -> list[int | None]:
    """Bytes of each stretch that no document tells of; None where HTCondor counted anew in it."""
    read = [(segment, end) for segment in kept if (end := _end_of_read(segment, documents))]
    assert read[-1] == (kept[-1], len(kept[-1].data)), "the end of the log was not read"
    gaps: list[int | None] = []
    for (before, end), (after, _) in pairwise(read):
        between = kept[kept.index(before) + 1 : kept.index(after) + 1]
        if end < len(before.data) or len(between) > 1:
            anew = any(segment.sequence == 1 for segment in between)
            gaps.append(None if anew else max(after.offset - before.offset - end, 0))
    return gaps


def _end_of_read(segment: Segment, documents: Mapping[str, JobDocument]) -> int:
    """Where the last record ends that a document tells of; 0: there is none."""
    name = f"#{segment.begun:016d}."
    told = {
        event.position
        for document in documents.values()
        for event in document.timeline
        if name in event.source
    }
    ends = segment.ends()
    last = max((end for start, end in ends if start in told), default=0)
    # No job has the header; two writers that rotate at once may write two.
    before = {start for start, end in ends if end <= last}
    before -= {start for start in before if segment.data.startswith(b"008 (-01.", start)}
    assert not last or before == told, "a hole in what was read"
    return last


def _told_whole(
    documents: Mapping[str, JobDocument], log: Mapping[str, Sequence[Record]]
) -> set[str]:
    return {job for job, document in documents.items() if len(document.timeline) == len(log[job])}
