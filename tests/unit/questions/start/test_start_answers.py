import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest
from tests.support.storedjobs import START, job, told

from jobsight.documents import JobDocument, Request, State, Submission, Usage, slurm_id
from jobsight.errors import UsageError
from jobsight.history.jobtable import JobTable
from jobsight.history.slurm.scontrol import read_nodes, read_partitions
from jobsight.learning.dataset import Dataset
from jobsight.learning.modeldir import ModelDir
from jobsight.learning.train import train
from jobsight.questions.start.answering import AT_ONCE, Answer, Answerer
from jobsight.questions.start.question import START as START_QUESTION
from jobsight.questions.start.question import StartSettings
from jobsight.questions.start.queue import Machine
from jobsight.text import wordlist

NOW = 50_000
NODES = (
    "NodeName=n1 State=IDLE Partitions=main,long CfgTRES=cpu=4,mem=8G,billing=4\n"
    "NodeName=n2 State=DOWN+DRAIN Partitions=main,long CfgTRES=cpu=4,mem=8G,billing=4\n"
    "NodeName=broken CfgTRES=cpu=x Partitions=main\n"
)
PARTITIONS = (
    "PartitionName=main Default=YES State=UP MaxTime=02:00:00 PriorityTier=1 OverSubscribe=NO\n"
    "PartitionName=long State=UP MaxTime=UNLIMITED PriorityTier=1 OverSubscribe=NO\n"
)
MACHINE = Machine(list(read_nodes(NODES)), list(read_partitions(PARTITIONS)))


def queued(
    number: int, at: float, start: float | None = None, end: float | None = None, *,
    cpus: int = 4, limit: int = 3600, user: str = "ann", reason: str | None = None,
    priority: int | None = None, partition: str = "main", name: str = "fit.sh", **request: Any,
) -> JobDocument:  # fmt: skip
    """A job submitted, started and ended so many seconds after `START`, and how it was seen."""
    steps = [(at, State.PENDING), (start, State.RUNNING), (end, State.COMPLETED)]
    events = [told(when, state) for when, state in steps if when is not None]
    if reason is not None:
        state = State.HELD if "Held" in reason else State.PENDING
        seen: dict[str, Any] = {"StartEstimate": START // 1_000_000 + NOW + 60}
        seen |= {} if priority is None else {"Priority": priority}
        numbers = json.dumps(seen)
        events.append(told(at + 1, state, source="squeue", reason=reason, attributes=numbers))
    asked = Request(cpus=cpus, nodes=1, time_limit_s=limit, partition=partition, **request)
    submission = Submission(user=user, name=name, submitted=events[0].time)
    id_ = slurm_id("grid", str(number))
    return job(id_, *events, submission=submission, request=asked)


def history() -> list[JobDocument]:
    """Forty runs of 600 s, one after another."""
    return [
        queued(number, number * 700.0, number * 700.0, number * 700 + 600) for number in range(40)
    ]


def after(seconds: float) -> tuple[float, float, float]:
    """Quantiles of a moment that is certain, µs."""
    moment = START + (NOW + seconds) * 1_000_000
    return moment, moment, moment


def answers(*jobs: JobDocument, machine: Machine | None = MACHINE, **script: Any) -> list[Answer]:
    """Of the jobs that wait, in their order; or of a script."""
    moment = START + NOW * 1_000_000
    found = Answerer(JobTable.read([*history(), *jobs]), moment).of_cluster(
        machine or Machine(), {}
    )
    if script:
        asked = found.unsubmitted({"owner": "ann", "scheduler": "slurm", **script})
    else:
        asked = found.asked(pl.col("state").cast(pl.String).is_in(["pending", "held"]))
    return found.answer(asked)


RUNNING = queued(100, NOW - 200, NOW - 100)


@pytest.mark.parametrize("machine", [MACHINE, None])
def test_jobs_start_one_after_another_as_runs_end(machine: Machine | None) -> None:
    first, second = answers(RUNNING, queued(101, NOW - 90), queued(102, NOW - 80), machine=machine)
    assert first.wait == pytest.approx((500, 500, 500), abs=2)
    assert second.wait == pytest.approx((1100, 1100, 1100), abs=3)
    assert first.runtime == pytest.approx((600, 600, 600))
    assert first.blocked is None and first.model == "play (uncalibrated)"
    assert second.waits_for == ["1 job ahead with 4 CPUs", "1 running job with 4 CPUs"]
    assert second.to_json()["start"][1].startswith("2026-11-21 15:46")


@pytest.mark.parametrize(("runs", "middle"), [(5, 40), (1, 9)])
def test_runtimes_follow_the_runs_of_that_name(runs: int, middle: float) -> None:
    named = [
        queued(100 + k, 30_000 + k, 30_000 + k, 30_040 + k, name=f"align{k}") for k in range(runs)
    ]
    others = [queued(200 + k, 31_000 + k, 31_000 + k, 31_009 + k, name="plot") for k in range(32)]
    (answer,) = answers(*named, *others, queued(300, NOW - 90, name="align7"))
    assert answer.runtime is not None and answer.runtime[1] == pytest.approx(middle)
    # Also with another limit.
    (answer,) = answers(*named, *others, queued(300, NOW - 90, name="align7", limit=7200))
    assert answer.runtime is not None and answer.runtime[1] == pytest.approx(40 if runs > 1 else 18)


def test_priority_goes_before_submission() -> None:
    low = queued(101, NOW - 90, reason="Priority", priority=10)
    high = queued(102, NOW - 80, reason="Resources", priority=20)
    late, early = answers(RUNNING, low, high)
    assert early.wait is not None and late.wait is not None and early.wait[1] < late.wait[1]
    assert early.job["estimate"] == START + (NOW + 60) * 1_000_000


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("JobHeldUser", "by its user: `scontrol release 101` lets it start (JobHeldUser)"),
        ("JobHoldMaxRequeue", "too often: `scontrol release 101` lets it start (JobHold"),
        ("DependencyNeverSatisfied", "a job that it depends on ended otherwise"),
        ("ReqNodeNotAvail, UnavailableNodes:n2", "nodes that it asks for are down"),
        ("QOSNotAllowed", "its QOS is not allowed"),
        ("QOSMaxCpuPerJobLimit", "it asks for more than its account or QOS allows for one job"),
        ("AssocMaxWallDurationPerJobLimit", "it asks for more than its account or QOS allows"),
        ("\x1b[2JJobHeldOdd {0}", "`scontrol release 101` lets it start"),
    ],
)
def test_what_does_not_start_by_itself_is_said_instead(reason: str, words: str) -> None:
    (answer,) = answers(queued(101, NOW - 90, reason=reason))
    assert answer.wait is None and answer.blocked is not None
    assert words in answer.blocked and "\x1b" not in answer.blocked


def test_a_limit_beyond_the_partition_and_a_size_beyond_the_machine() -> None:
    (answer,) = answers(queued(101, NOW - 90, limit=86_400))
    assert answer.blocked == (
        "its time limit is longer than its partition allows: 24 h, and main allows 2 h"
    )
    (answer,) = answers(queued(101, NOW - 90, cpus=5))
    assert answer.blocked == "it asks for more than its partition has"


@pytest.mark.parametrize("reason", ["QOSNotAllowed", "PartitionTimeLimit"])
def test_a_job_that_can_never_start_has_neither_start_nor_runtime(reason: str) -> None:
    (answer,) = answers(queued(101, NOW - 90, reason=reason))
    assert (answer.wait, answer.runtime, answer.advice) == (None, None, [])


def test_slurms_own_reason_is_not_contradicted() -> None:
    # What the running job takes is not known; Slurm says that nothing is free.
    unknown = queued(100, NOW - 200, NOW - 100)
    unknown = msgspec.structs.replace(unknown, request=Request(partition="main", time_limit_s=3600))
    full = queued(101, NOW - 90, reason="Resources", priority=20)
    behind = queued(102, NOW - 80, reason="Priority", priority=10, cpus=1)
    found = answers(unknown, full, behind)
    assert all(one.wait is not None and one.wait[0] > 490 for one in found)
    # A script that asks for as much finds no more; a smaller one may.
    script: dict[str, Any] = {"scheduler_name": "grid", "name": "fit.sh", "time_limit_s": 60}
    (large,) = answers(unknown, full, **script, request_cpus=4)
    (small,) = answers(unknown, full, **script, request_cpus=1)
    assert large.wait is not None and large.wait[0] > 490
    assert small.wait is not None and small.wait[2] == 0
    # Nothing that runs there is known: then nothing says when that changes.
    (alone,) = answers(queued(101, NOW - 90, reason="Resources"))
    assert alone.wait is None and alone.blocked is None


def test_a_job_first_seen_when_it_ran_takes_what_it_was_given() -> None:
    given = queued(100, NOW - 200, NOW - 100)
    given = msgspec.structs.replace(
        given, request=Request(partition="main", time_limit_s=3600), usage=Usage(cpus=4)
    )
    (answer,) = answers(given, queued(101, NOW - 90))
    assert answer.wait == pytest.approx((500, 500, 500), abs=2)
    assert answer.waits_for == ["1 running job with 4 CPUs"]


@pytest.mark.parametrize(("machine", "among"), [(MACHINE, "long, main"), (None, "main")])
def test_an_unknown_partition_is_an_error_that_names_the_known(
    machine: Machine | None, among: str
) -> None:
    script: dict[str, Any] = {"scheduler_name": "grid", "name": "fit.sh", "request_cpus": 4}
    with pytest.raises(UsageError, match=f"'mian' is known: .* {among}$"):
        answers(machine=machine, **script, partition="mian")
    if machine:  # several: the job may start in any of them
        (answer,) = answers(machine=machine, **script, partition="main,long", time_limit_s=86_400)
        assert answer.blocked is None and answer.wait == (0, 0, 0)


def test_a_script_without_a_partition_goes_to_the_default() -> None:
    last = queued(99, NOW - 900, NOW - 890, NOW - 880, partition="long")
    script: dict[str, Any] = {"scheduler_name": "grid", "name": "fit.sh", "request_cpus": 4}
    (reported,) = answers(last, **script)
    (unreported,) = answers(last, machine=None, **script)
    assert (reported.job["partition"], unreported.job["partition"]) == ("main", "long")


def test_where_nothing_is_known_nothing_is_guessed() -> None:
    jobs = JobTable.read([queued(101, NOW - 90), queued(102, NOW - 90, reason="AssocGrpCpuLimit")])
    found = Answerer(jobs, START + NOW * 1_000_000)
    for answer in found.answer(found.asked(pl.lit(True))):
        assert (answer.wait, answer.runtime, answer.blocked) == (None, None, None)


def test_a_limit_of_the_account_keeps_back_no_other_job() -> None:
    limited = queued(101, NOW - 90, reason="AssocGrpCpuLimit")
    first, second = answers(limited, queued(102, NOW - 80))
    assert first.wait is None and first.blocked is None
    assert first.waits_for[0] == "a limit of its account (AssocGrpCpuLimit)"
    assert second.wait == (0, 0, 0)


ELSEWHERE = wordlist(
    "Licenses Reservation QOSMaxJobsPerUserLimit QOSGrpCpuLimit QOSGrpGRES AssocGrpCpuLimit "
    "AssocMaxJobsLimit AssociationJobLimit MaxJobsPerAccount MaxGRESPerAccount AccountingPolicy "
    "MaxCpuRunMinsPerUser JobArrayTaskLimit Dependency BurstBufferStageIn Constraints "
    "MaxPoweredUpNodes MpiPortsBusy Cleaning FedJobLock FrontEndDown NeverSeenBefore"
)


@pytest.mark.parametrize("reason", ELSEWHERE)
def test_what_keeps_a_job_back_is_named_and_no_start_contradicts_it(reason: str) -> None:
    (answer,) = answers(queued(101, NOW - 90, reason=reason))
    assert (answer.wait, answer.starts, answer.blocked) == (None, None, None)
    assert answer.waits_for[0].endswith((f"({reason})", f"what Slurm calls {reason}"))


def test_a_job_starts_when_it_is_to_begin_also_by_a_model(tmp_path: Path) -> None:
    waits = queued(101, NOW - 90, reason="BeginTime")
    (answer,) = answers(waits)
    assert (answer.wait, answer.not_before) == ((60, 60, 60), after(60))
    (other,) = asked_of(model_of_history(tmp_path), waits)
    assert other.wait == (60, 60, 60)


def test_a_dependency_names_the_jobs_and_their_states() -> None:
    failed = queued(90, 100, 100, 160, name="prep")
    failed = msgspec.structs.replace(failed, timeline=(*failed.timeline[:-1], told(
        160, State.FAILED, return_value=3)))  # fmt: skip
    vain = queued(101, NOW - 90, reason="DependencyNeverSatisfied",
                  dependency="afterok:90(failed),afterok:100(unfulfilled)")  # fmt: skip
    later = queued(102, NOW - 90, reason="Dependency", dependency="afterok:100(unfulfilled)")
    array = queued(103, NOW - 90, reason="Dependency", dependency="afterany:7_*(unfulfilled)")
    never, then, unknown = answers(failed, RUNNING, vain, later, array)
    assert never.blocked == (
        "it depends on job 90 (prep, failed, exit code 3), and will never start "
        "(DependencyNeverSatisfied): `scancel 101`, "
        "or `scontrol update JobId=101 Dependency=` to run it all the same"
    )
    words = "other jobs that it depends on (Dependency): job"
    assert then.waits_for[0] == f"{words} 100 (fit.sh, running)"
    assert then.wait is None and then.not_before == pytest.approx(after(500), abs=2e6)
    assert (unknown.waits_for[0], unknown.not_before) == (f"{words} 7_*", None)


@pytest.mark.parametrize("reason", ["QOSMaxJobsPerUserLimit", "AssocMaxJobsLimit"])
def test_under_a_limit_of_its_user_a_job_starts_after_one_of_the_runs(reason: str) -> None:
    same: dict[str, Any] = {"qos": "few", "account": "lab", "cpus": 1}
    soon, late = (queued(n, NOW - 700, NOW - ago, **same) for n, ago in ((100, 500), (98, 100)))
    others = queued(97, NOW - 700, NOW - 590, user="bob", **same)
    (answer,) = answers(soon, late, others, queued(101, NOW - 90, reason=reason, **same))
    assert answer.wait is None and answer.not_before == pytest.approx(after(100), abs=2e6)
    assert answer.waits_for[0].endswith(f"({reason}): one of 2 running jobs must end")


def test_a_reservation_has_an_end() -> None:
    reason = "ReqNodeNotAvail, Reserved for maintenance"
    (answer,) = answers(queued(101, NOW - 90, reason=reason))
    assert (answer.blocked, answer.wait) == (None, None)
    assert answer.waits_for[0].endswith(f"reserved ({reason})")


def test_what_squeue_shows_now_goes_before_what_was_seen() -> None:
    lines = [("101", "ann", "Licenses", START + 70_000 * 1_000_000), ("102", "bob", "None", None)]
    jobs = (queued(101, NOW - 90, reason="Resources"), queued(102, NOW - 90, reason="Priority"))
    first, second = answers(*jobs, machine=replace(MACHINE, shown=lines))
    assert first.waits_for[0] == "licenses (Licenses)"
    assert first.job["estimate"] == START + 70_000 * 1_000_000
    assert second.job["reason"] == "Priority"  # the line is of another user's job


def test_a_job_that_asks_for_nothing_gets_the_defaults_of_slurm() -> None:
    text = PARTITIONS.replace(
        "MaxTime=02", "DefaultTime=00:10:00 DefMemPerNode=UNLIMITED MaxTime=02"
    )
    partitions = list(read_partitions(text, "DefMemPerCPU            = 1024\n"))
    machine = replace(MACHINE, partitions=partitions)
    script: dict[str, Any] = {"scheduler_name": "grid", "name": "new.sh", "owner": "eve"}
    (answer,) = answers(machine=machine, **script)
    asked = [answer.job[name] for name in ("request_cpus", "request_memory_mb", "request_nodes")]
    assert (answer.job["time_limit_s"], asked) == (600, [1, 1024, 1])
    (answer,) = answers(machine=machine, **script, request_cpus=2, partition="long")
    assert (answer.job["time_limit_s"], answer.job["request_memory_mb"]) == (-1, 2048)
    memory = queued(100, NOW - 200, NOW - 100, cpus=1, memory_mb=7 << 10)
    (answer,) = answers(memory, machine=machine, **script, request_cpus=2)
    assert answer.wait is not None and answer.wait[0] > 490  # 2 GB do not fit


def test_where_only_ones_own_jobs_are_seen_that_is_said() -> None:
    # Slurm finds no room where it seems free: what takes it is not seen.
    waits = queued(101, NOW - 90, cpus=1, reason="Resources")
    running = queued(100, NOW - 200, NOW - 100, cpus=1)
    (alone,) = answers(running, waits)
    assert (alone.only_of, alone.wait) == ("ann", None)
    (several,) = answers(running, waits, queued(90, 0, 0, 600, user="bob"))
    assert several.only_of is None and several.wait == pytest.approx((500, 500, 500), abs=2)


def model_of_history(folder: Path) -> ModelDir:
    trained = train(
        Dataset.for_training(START_QUESTION, JobTable.read(history()), StartSettings()),
        names=("constant",),
    )
    trained.model.save(folder, seed=0, facts=trained.facts())
    return ModelDir.open(folder, START_QUESTION)


def asked_of(model: ModelDir, *jobs: JobDocument) -> list[Answer]:
    table = JobTable.read([*history(), *jobs])
    found = Answerer(table, START + NOW * 1_000_000, model).of_cluster(MACHINE, {})
    return found.answer(found.asked(pl.col("state").cast(pl.String) == "pending"))


def test_a_model_that_does_not_see_a_limit_does_not_contradict_it(tmp_path: Path) -> None:
    limited = queued(101, NOW - 90, reason="Licenses")
    kept, free = asked_of(model_of_history(tmp_path), limited, queued(102, NOW - 90))
    assert free.wait is not None and free.wait[2] < AT_ONCE  # all that the model knows
    assert (kept.wait, kept.waits_for[0]) == (None, "licenses (Licenses)")


def test_a_shorter_limit_that_such_runs_fit_in_fills_a_hole() -> None:
    running = queued(100, NOW - 200, NOW - 100, cpus=2, user="bob")
    wide = queued(101, NOW - 90, cpus=4, user="bob")
    (_, answer) = answers(running, wide, queued(102, NOW - 80, cpus=1, limit=7200))
    (advice,) = answer.advice
    assert advice.text == "ask for 10 min instead of 2 h: 100 % of such runs fit"
    assert (advice.option, advice.support) == ("--time=0:10:00", 40)
    assert answer.wait is not None and advice.gain_s == pytest.approx(answer.wait[1])


def test_a_script_is_the_last_of_its_partition() -> None:
    script: dict[str, Any] = {
        "scheduler_name": "grid",
        "name": "fit.sh",
        "request_cpus": 4,
        "time_limit_s": 600,
    }
    (answer,) = answers(RUNNING, queued(101, NOW - 90), **script)
    assert answer.id is None and answer.job["partition"] == "main"
    assert answer.wait == pytest.approx((1100, 1100, 1100), abs=3)


def test_a_running_job_has_an_end() -> None:
    moment = START + NOW * 1_000_000
    found = Answerer(JobTable.read([*history(), RUNNING]), moment).of_cluster(MACHINE, {})
    (answer,) = found.answer(found.asked(pl.col("job") == "100"))
    assert answer.wait is None and answer.ends is not None
    assert answer.ends[1] == pytest.approx(moment + 500_000_000, abs=2_000_000)
