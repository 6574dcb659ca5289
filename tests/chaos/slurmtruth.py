"""A store's documents of Slurm jobs against what sacct says of all their runs."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from jobsight.documents import Event, JobDocument
from tests.chaos.condortruth import Verdict
from tests.testbed import SlurmCluster

__all__ = ["compare", "rows"]

_FIELDS = (
    "JobID", "JobIDRaw", "JobName", "User", "Account", "Partition", "State", "ExitCode", "Submit",
    "Eligible", "Start", "End", "ElapsedRaw", "AllocCPUS", "ReqCPUS", "ReqMem", "TimelimitRaw",
    "NodeList", "NNodes", "QOS", "Restarts",
)  # fmt: skip
_END = {
    "COMPLETED": "completed", "FAILED": "failed", "CANCELLED": "cancelled", "TIMEOUT": "timeout",
    "NODE_FAIL": "node_fail", "OUT_OF_MEMORY": "out_of_memory", "PREEMPTED": "preempted",
    "DEADLINE": "deadline", "BOOT_FAIL": "node_fail",
}  # fmt: skip
_ENDS = frozenset((*_END.values(), "unknown_end"))
_REQUEUED = "REQUEUED"
_SLACK = 2
"""Seconds by which the controller and the accounts date things otherwise."""

_SEPARATOR = "\x1e"

Row = dict[str, str]


def rows(cluster: SlurmCluster, jobs: Iterable[str]) -> dict[str, list[Row]]:
    """All runs of all jobs, oldest first, by the job's id as users see it.

    Args:
        jobs: numbers of some; others may be known to the cluster alone (its reply was lost). Asked
            for all jobs, sacct would leave out those never eligible: it is asked by numbers.
    """
    most = max(map(int, jobs)) + 20
    numbers = ",".join(map(str, range(1, most)))
    names = _FIELDS if cluster.version != "22.05" else _FIELDS[:-1]  # it has no Restarts
    said = cluster.run(
        "env", "SLURM_TIME_FORMAT=%s", "SLURM_BITSTR_LEN=0",
        "sacct", "-a", "-X", "-n", "-P", "--duplicates", f"--jobs={numbers}",
        f"--delimiter={_SEPARATOR}", f"--format={','.join(names)}",
    )  # fmt: skip
    found: dict[str, list[Row]] = defaultdict(list)
    for line in said.split("\n"):
        if line:
            row = {"Restarts": ""} | dict(zip(names, line.split(_SEPARATOR), strict=True))
            found[row["JobID"]].append(row)
    for runs in found.values():
        runs.sort(key=lambda row: (int(row["Submit"]), _number(row["Start"]) or 0))
    return found


def compare(documents: Mapping[str, JobDocument], accounts: Mapping[str, Sequence[Row]]) -> Verdict:
    """Compare all jobs, all fields.

    Args:
        documents: of the store, by the job's id as users see it.
        accounts: see `rows`. Slurm keeps none of some jobs that were cancelled before they
            started, array tasks above all; of these a document must say that they ended so.
    """
    verdict = Verdict(jobs=len(documents))
    plain = {job: runs for job, runs in accounts.items() if "[" not in job}
    verdict.check("jobs that the store lacks", sorted(plain.keys() - documents.keys()), [])
    for job in sorted(documents.keys() - plain.keys()):
        _check_unaccounted(verdict, job, documents[job])
    for job in sorted(documents.keys() & plain.keys()):
        lost = plain[job][-1]["State"].startswith(_REQUEUED)
        if lost:
            verdict.disputes.append(f"{job}: sacct knows it as requeued, and of no run since")
        compare_run = _of_lost if lost else _of_run
        for fields in (_lasting, compare_run):
            for name, told, true in fields(documents[job], plain[job]):
                verdict.check(f"{job} {name}", told, true)
    return verdict


def _check_unaccounted(verdict: Verdict, job: str, document: JobDocument) -> None:
    verdict.disputes.append(f"{job}: sacct knows no such job")
    verdict.check(f"{job} ended", str(document.state) in ("cancelled", "unknown_end"), True)
    starts = [event.time for event in document.timeline if event.state == "running"]
    verdict.check(f"{job} starts", starts, [])


def _lasting(document: JobDocument, runs: Sequence[Row]) -> Iterator[tuple[str, object, object]]:
    last = runs[-1]
    submission, request = document.submission, document.request
    told, first = _seconds(submission.submitted), int(runs[0]["Submit"])
    # Of a task that was requeued while it waited, the accounts keep no row, but count it.
    forgotten = int(last["Restarts"] or 0) >= len(runs)
    yield "Submit", told, min(told or first, first) if forgotten else first
    yield "User", submission.user, last["User"]
    yield "JobName", submission.name, last["JobName"]
    yield "Account", request.account, last["Account"]
    yield "Partition", request.partition, last["Partition"]
    yield "QOS", request.qos, last["QOS"]
    yield "ReqCPUS", request.cpus, int(last["ReqCPUS"])
    yield "ReqMem", request.memory_mb, _memory(last["ReqMem"])
    yield "Timelimit", request.time_limit_s, _limit(last["TimelimitRaw"])


def _of_lost(document: JobDocument, runs: Sequence[Row]) -> Iterator[tuple[str, object, object]]:
    """Slurm kept no account of the last run: the store may know of it what the queue showed."""
    yield "has ended", bool(document.state and document.state.ended), True
    told = {event.time // 1_000_000 for event in document.timeline if event.state == "running"}
    missing = {int(run["Start"]) for run in runs if _ran(run)} - told
    yield "starts that are missing", sorted(missing), []


def _of_run(document: JobDocument, runs: Sequence[Row]) -> Iterator[tuple[str, object, object]]:
    yield from _usage(document, runs)
    yield from _end(document, runs[-1])
    yield from _timeline(document, runs)


def _usage(document: JobDocument, runs: Sequence[Row]) -> Iterator[tuple[str, object, object]]:
    last, usage = runs[-1], document.usage
    if _ran(last):
        yield "Elapsed", usage.wall_s, float(last["ElapsedRaw"])
        yield "AllocCPUS", usage.cpus, int(last["AllocCPUS"])
        yield "NodeList", usage.hosts, last["NodeList"]
        yield "NNodes", usage.nodes, int(last["NNodes"])
    restarts = int(last["Restarts"] or 0)
    told, true = usage.requeues or 0, max(len(runs) - 1, restarts)
    # Of two within a second the accounts keep one row; before, they had told of both.
    again = sum(event.word == _REQUEUED for event in document.timeline)
    yield "Restarts", told, told if true < told <= again else true


def _end(document: JobDocument, last: Row) -> Iterator[tuple[str, object, object]]:
    outcome = document.outcome
    if outcome is None:
        yield "an end", None, last["State"]
        return
    yield "State", str(outcome.state), _END[last["State"].split()[0]]
    # Before its submission stands an end that 22.05 took over from the run before.
    yield "End", _seconds(outcome.ended), max(int(last["End"]), int(last["Submit"]))
    if _ran(last):
        code, signal = map(int, last["ExitCode"].split(":"))
        yield "ExitCode", outcome.exit_code or 0, code
        yield "ExitCode's signal", outcome.signal or 0, signal
    by = last["State"].partition(" by ")[2]
    if by:
        yield "cancelled by", (outcome.reason or "").rpartition(" ")[2], by


def _timeline(document: JobDocument, runs: Sequence[Row]) -> Iterator[tuple[str, object, object]]:
    """Each submission, start and end stands once, at its second; no other does."""
    entries = document.timeline
    events = [(event.time // 1_000_000, event.state, event.word or "") for event in entries]
    starts = Counter(
        at
        for event, (at, state, word) in zip(entries, events, strict=True)
        if state == "running" and word == "RUNNING" and not _told_late(event, runs)
    )
    again = [run for run in runs if run["State"].startswith(_REQUEUED)]
    true_starts = Counter(int(run["Start"]) for run in runs if _ran(run))
    # Of a job that was requeued again and again, sacct forgets that it ran.
    # Of one cancelled as it started it keeps the start, and no longer the node.
    undone = {_number(run["Start"]) for run in runs if run["State"].startswith("CANCELLED")}
    extra_starts = [
        at
        for at in starts - true_starts
        if at not in undone and not any(_within(at, run) for run in again)
    ]
    yield "starts that never were", extra_starts, []
    yield "starts that are missing", dict(true_starts - starts), {}
    ends = Counter((time, str(state)) for time, state, _ in events if str(state) in _ENDS)
    true = Counter(
        (max(int(run["End"]), int(run["Submit"])), _END[run["State"].split()[0]])
        for run in runs
        if run["State"].split()[0] in _END
    )
    # An ended job that is requeued had ended; its account says from then on that it ran till then.
    extra = [end for end in ends - true if not any(_within(end[0], run) for run in again)]
    yield "ends that never were", extra, []
    yield "ends that are missing", dict(true - ends), {}
    submitted = {time for time, _, word in events if word in ("PENDING", _REQUEUED)}
    missing = {int(run["Submit"]) for run in runs} - submitted
    yield "submissions that are missing", sorted(missing), []
    eligible = {time for time, _, word in events if word == "ELIGIBLE"}
    true_eligible = {int(run["Eligible"]) for run in runs if _number(run["Eligible"]) and _ran(run)}
    yield "Eligible that is missing", sorted(true_eligible - eligible), []
    told = Counter(
        (event.time, event.state, event.word, event.reason) for event in document.timeline
    )
    yield "entries told twice", [entry for entry, count in told.items() if count > 1], []


def _within(time: int, run: Row) -> bool:
    return int(run["Submit"]) <= time <= int(run["End"]) + _SLACK


def _told_late(event: Event, runs: Sequence[Row]) -> bool:
    """A start that the controller dates a little later than the accounts do."""
    at = event.time // 1_000_000
    near = any(0 < at - int(run["Start"]) <= _SLACK for run in runs if _ran(run))
    return event.source != "sacct" and near


def _ran(run: Row) -> bool:
    return _number(run["Start"]) is not None and run["NodeList"] not in ("", "None assigned")


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else None


def _seconds(micros: int | None) -> int | None:
    return None if micros is None else micros // 1_000_000


def _memory(text: str) -> int:
    """MB of ReqMem as Slurm since 21.08 writes it: of the whole job."""
    factor = {"K": 1 / 1024, "M": 1, "G": 1024}[text[-1]]
    return int(float(text[:-1]) * factor)


def _limit(text: str) -> int | None:
    return -1 if text == "UNLIMITED" else int(text) * 60
