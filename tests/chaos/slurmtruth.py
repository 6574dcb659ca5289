"""A store's documents of Slurm jobs against what sacct says of all their runs."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from jobsight.documents import Event, JobDocument
from tests.chaos.condortruth import Verdict
from tests.testbed import SlurmCluster

__all__ = ["compare", "compare_living", "living", "rows"]

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


def living(cluster: SlurmCluster) -> dict[str, tuple[str, str]]:
    """State and reason of each job that lives, of pending array tasks those that have lines."""
    said = cluster.run("squeue", "-h", "--states=PD,R,S", "-o", "%i|%T|%r")
    lines = (line.split("|", 2) for line in said.splitlines() if "[" not in line)
    return {job: (state, reason) for job, state, reason in lines}


def compare_living(
    documents: Mapping[str, JobDocument], queue: Mapping[str, tuple[str, str]], kills: Sequence[int]
) -> Verdict:
    """Compare the states of living jobs, and why the pending ones wait.

    Args:
        documents: as for `compare`; of jobs that had one number, the latest has it now.
        queue: see `living`.
        kills: when the controller was killed, so that it forgot that jobs had ended before.
    """
    verdict = Verdict(jobs=len(queue))
    newest: dict[str, JobDocument] = {}
    for job, document in sorted(documents.items(), key=lambda pair: (len(pair[0]), pair[0])):
        newest[job.partition("@")[0]] = document
    for job, (word, reason) in queue.items():
        if job not in newest:
            verdict.differences.append(f"{job}: the store lacks it, squeue has it {word}")
            continue
        document = newest[job]
        ended = document.outcome.ended if document.outcome else None
        if ended is not None and any(ended <= (kill + _SLACK) * 1_000_000 for kill in kills):
            verdict.disputes.append(f"{job}: it ended, and the controller forgot that")
            continue
        held = word == "PENDING" and "held" in reason.lower()
        verdict.check(f"{job} in the queue", str(document.state), "held" if held else word.lower())
        if word == "PENDING":
            last = next(one for one in reversed(document.timeline) if one.state)
            verdict.check(f"{job} waits", last.reason, None if reason == "None" else reason)
    return verdict


def compare(
    documents: Mapping[str, JobDocument],
    accounts: Mapping[str, Sequence[Row]],
    kills: Sequence[int] = (),
) -> Verdict:
    """Compare all jobs, all fields.

    Args:
        documents: of the store, by the job's id as users see it, and `@2` behind the second job of
            its number.
        accounts: see `rows`. Slurm keeps none of some jobs that were cancelled before they
            started, array tasks above all; of these a document must say that they ended so.
        kills: when the controller was killed before it had saved its state, seconds since 1970.
    """
    verdict = Verdict(jobs=len(documents))
    numbers: dict[str, list[JobDocument]] = defaultdict(list)
    for job in sorted(documents, key=lambda job: (len(job), job)):
        numbers[job.partition("@")[0]].append(documents[job])
    named = _named(documents, accounts)
    plain = {job: _jobs(runs) for job, runs in named.items() if "[" not in job}
    for job in sorted(numbers.keys() | plain.keys()):
        _compare_number(verdict, job, numbers[job], plain.get(job, []), kills)
    return verdict


def _named(
    documents: Mapping[str, JobDocument], accounts: Mapping[str, Sequence[Row]]
) -> dict[str, list[Row]]:
    """The accounts under the names that the queue had for their jobs.

    sacct lists components of heterogeneous jobs that never started by Slurm's own numbers (24.11).
    """
    components = {
        (document.submission.raw_id, submit): job.partition("@")[0]
        for job, document in documents.items()
        if "+" in job
        for submit in _submits(document)
    }
    found: dict[str, list[Row]] = defaultdict(list)
    for job, runs in accounts.items():
        for run in runs:
            found[components.get((job, int(run["Submit"])), job)].append(run)
    return found


def _jobs(runs: Sequence[Row]) -> list[list[Row]]:
    """The jobs to which Slurm gave one number, each with its runs, in order."""
    found: list[list[Row]] = []
    for run in runs:
        # 22.05 does not count; there what is no requeue ended otherwise.
        before = found[-1][-1] if found else None
        again = run["Restarts"] not in ("", "0") or bool(
            before and not run["Restarts"] and before["State"].split()[0] not in _END
        )
        # A task that the controller forgot to have run runs again, under another number of its own.
        again = again or bool(before and before["Submit"] == run["Submit"])
        if before is None or not again or before["User"] != run["User"]:
            found.append([])
        found[-1].append(run)
    return found


def _compare_number(
    verdict: Verdict,
    number: str,
    documents: Sequence[JobDocument],
    jobs: Sequence[list[Row]],
    kills: Sequence[int],
) -> None:
    """Compare the jobs of one number: each has one document, in the order of their submissions."""
    first = [document.submission.submitted or 0 for document in documents]
    verdict.check(f"{number} order of its jobs", first, sorted(set(first)))
    told = [_submits(document) for document in documents]
    left = list(range(len(documents)))
    for runs in jobs:
        submits = {int(run["Submit"]) for run in runs}
        found = [at for at in left if told[at] & submits]
        job = f"{number} of {runs[0]['User']} at {runs[0]['Submit']}"
        if not found and _is_forgotten(runs[-1]) and kills:
            verdict.disputes.append(f"{job}: the controller forgot it before it was seen")
            continue
        verdict.check(f"{job} documents", len(found), 1)
        if found:
            left = [at for at in left if at not in found]
            _compare_job(verdict, job, documents[found[0]], runs, kills)
    for at in left:
        _check_unaccounted(verdict, f"{number} at {first[at] // 1_000_000}", documents[at], kills)


def _compare_job(
    verdict: Verdict, job: str, document: JobDocument, runs: list[Row], kills: Sequence[int]
) -> None:
    requeued, compare_run = runs[-1]["State"].startswith(_REQUEUED), _of_run
    lost = requeued or any(map(_is_forgotten, runs))
    if requeued:
        verdict.disputes.append(f"{job}: sacct knows it as requeued, and of no run since")
    elif lost:
        verdict.disputes.append(f"{job}: sacct knows a run that the controller forgot")
    elif any(int(runs[0]["Submit"]) <= kill <= int(runs[-1]["End"]) + _SLACK for kill in kills):
        # The controller may have forgotten starts and ends, and then sacct has later ones instead.
        verdict.disputes.append(f"{job}: the controller was killed meanwhile")
        compare_run = _of_survivor
    for fields in (_lasting, _of_lost if lost else compare_run):
        for name, told, true in fields(document, runs):
            verdict.check(f"{job} {name}", told, true)


def _submits(document: JobDocument) -> set[int]:
    words = ("PENDING", _REQUEUED)
    found = {event.time // 1_000_000 for event in document.timeline if event.word in words}
    return found | {(document.submission.submitted or 0) // 1_000_000}


def _is_forgotten(run: Row) -> bool:
    """Whether a run never ends in the accounts, although no job lives any more."""
    return _number(run["End"]) is None


def _check_unaccounted(
    verdict: Verdict, job: str, document: JobDocument, kills: Sequence[int]
) -> None:
    verdict.disputes.append(f"{job}: sacct knows no such job")
    verdict.check(f"{job} ended", str(document.state) in ("cancelled", "unknown_end"), True)
    # A controller that is killed as a job starts may not have reported it to slurmdbd.
    kept = max(kills, default=0) * 1_000_000
    times = [event.time for event in document.timeline if event.state == "running"]
    starts = [time for time in times if time > kept]
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
    true = {int(run["Start"]) for run in runs if _ran(run) and not _is_forgotten(run)}
    yield "starts that are missing", sorted(true - told), []


def _of_survivor(
    document: JobDocument, runs: Sequence[Row]
) -> Iterator[tuple[str, object, object]]:
    """The controller was killed during its life: what sacct has of it now must be there."""
    yield from _end(document, runs[-1])
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
