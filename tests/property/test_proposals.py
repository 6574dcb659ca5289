"""No command that is printed asks for less than a job had or used, nor for more than any slot has.

Of generated logs of a cluster's held jobs, whose reasons, amounts of slots and tables of resources
agree or do not, as those of pools do.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.hold_models import answered

from jobsight.history.events import read_events
from jobsight.history.timelines import History
from jobsight.ids import JobId
from jobsight.program.submission.proposals import proposed
from jobsight.questions.hold.answering.groups import group_answers
from jobsight.questions.hold.answering.heldjob import Pool

_EDIT = re.compile(r"condor_qedit (.*) (Request\w+) (\d+)")
_NAMES = {"Memory": "Memory (MB)", "Disk": "Disk (KB)", "Cpus": "Cpus"}
_MOST = {"Memory": 1 << 18, "Disk": 1 << 33, "Cpus": 256}
_AMOUNTS = st.fixed_dictionaries(
    {}, optional={name: st.integers(1, most) for name, most in _MOST.items()}
)
_REASONS = st.sampled_from(
    [
        "memory usage exceeded request_memory",
        "Job has gone over cgroup memory limit of {0} megabytes. Peak usage: {1} megabytes.",
        "Job in status 2 put on hold by SYSTEM_PERIODIC_HOLD due to memory usage {2}.",
        "Memory of 4G as per the rules exceeded",
        "Job has encountered an out-of-memory event.",
        "disk usage exceeded request_disk",
        "disk usage of {1} MB over the limit of {0} KB",
        "CPU usage of {1} exceeds the {0} requested",
        "CPU usage exceeded request_cpus",
        "The system macro SYSTEM_PERIODIC_HOLD expression '(MemoryUsage > RequestMemory) || "
        "(DiskUsage > RequestDisk)' evaluated to TRUE",
        "Job wastes memory",
        "job exited with code 137",
        "",
    ]
)
_CODES = st.sampled_from([(34, 102), (34, 104), (21, 102), (21, 103), (26, 0), (26, 102), (3, 137)])
_JOBS = st.fixed_dictionaries(
    {"reason": _REASONS, "numbers": st.tuples(*[st.integers(1, 200_000)] * 3)},
    optional={
        "given": _AMOUNTS, "used": _AMOUNTS, "asked": _AMOUNTS, "evicted": _AMOUNTS, "ad": _AMOUNTS,
        "seen": st.integers(1, 1 << 18),
    },
)  # fmt: skip


def log_of(jobs: list[dict[str, Any]], code: int, subcode: int) -> str:
    lines = []
    for proc, job in enumerate(jobs):
        head = f"(9.{proc:03}.000) 2026-10-12 08:00:0"
        lines.append(f"000 {head}1 Job submitted from host: <192.0.2.10:9618?alias=ap1>\n...")
        given = "".join(f"\t{name} = {one}\n" for name, one in job.get("given", {}).items())
        lines.append(f"001 {head}2 Job executing on host: <192.0.2.51:9618>\n{given}...")
        if "seen" in job:
            seen = f"{job['seen']}  -  MemoryUsage of job (MB)"
            lines.append(f"006 {head}3 Image size of job updated: 1\n\t{seen}\n...")
        columns = [job.get(name, {}) for name in ("used", "asked", "evicted")]
        table = ""
        for name, label in _NAMES.items():
            sized = zip(columns, (9, 9, 10), strict=True)
            amounts = "".join(f"{one.get(name, ''):>{size}}" for one, size in sized)
            table += f"\t   {label:<21}:{amounts}\n"
        lines.append(
            f"004 {head}4 Job was evicted.\n\t(0) CPU times\n"
            f"\tPartitionable Resources :    Usage  Request Allocated\n{table}..."
        )
        reason = job["reason"].format(*job["numbers"])
        lines.append(f"012 {head}5 Job was held.\n\t{reason}\n\tCode {code} Subcode {subcode}\n...")
        ad = "".join(f"Request{name} = {one}\n" for name, one in job.get("ad", {}).items())
        lines.append(
            f"028 {head}5 Job ad information event triggered.\nProc = {proc}\n{ad}"
            "TriggerEventTypeNumber = 12\n..."
        )
    return "\n".join(lines) + "\n"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    jobs=st.lists(_JOBS, min_size=1, max_size=7),
    codes=_CODES,
    largest=st.fixed_dictionaries(
        {}, optional={f"Request{name}": st.integers(1, most) for name, most in _MOST.items()}
    ),
    alike=st.booleans(),
)
def test_every_figure_of_a_command(
    tmp_path_factory: pytest.TempPathFactory,
    jobs: list[dict[str, Any]],
    codes: tuple[int, int],
    largest: dict[str, int],
    alike: bool,
) -> None:
    if alike:
        jobs = [{**job, "reason": jobs[0]["reason"]} for job in jobs]
    path = tmp_path_factory.getbasetemp() / "proposals.log"
    path.write_text(log_of(jobs, *codes))
    of = History.from_table(read_events([str(path)]).table)
    moment = int(of.clock.max())
    answers = answered(of, moment, pool=Pool(largest=lambda: largest))
    assert len(answers) == len(jobs)
    advice = [one.advice for one in answers] + [one.advice for one in group_answers(answers)]
    steps = [step for one in advice for step in one.steps]
    for found in filter(None, (_EDIT.match(step.command or "") for step in steps)):
        named, attribute, figure = found[1], found[2], int(found[3])
        name = attribute.removeprefix("Request")
        procs = [int(one) for one in re.findall(r"(?:ProcId == |\b9\.)(\d+)", named)]
        assert figure <= largest.get(attribute, figure)
        for job in [jobs[proc] for proc in procs] or jobs:
            parts = [job.get(part, {}) for part in ("given", "asked", "evicted", "ad")]
            assert figure > max((one.get(name, 0) for one in parts), default=0)
            assert figure >= job.get("used", {}).get(name, 0)
            assert figure >= (job.get("seen", 0) if name == "Memory" else 0)


@given(
    st.floats(0, 1e9), st.lists(st.floats(0, 1e9)), st.floats(0, 1e9),
    st.none() | st.floats(1, 1e9), st.sampled_from([1, 64, 1024]),
)  # fmt: skip
def test_a_proposal_is_within_all_bounds(
    wanted: float, had: list[float], used: float, most: float | None, step: int
) -> None:
    amount = proposed(wanted, had=had, used=used, most=most, step=step)
    least = max(had, default=0.0)
    if amount is None:
        assert most is not None
        assert int(most) <= least or int(most) < used
        return
    assert amount > least
    assert amount >= used
    assert most is None or amount <= most
    assert amount % step == 0 or amount == int(most or 0)


def test_the_jobs_of_a_group_with_no_larger_slot_are_not_in_its_command(tmp_path: Path) -> None:
    jobs: list[dict[str, Any]] = [
        {
            "reason": "memory usage exceeded request_memory",
            "numbers": (1, 1, 1),
            "given": {"Memory": m},
        }
        for m in (1000, 1200, 9000)
    ]
    path = tmp_path / "job.log"
    path.write_text(log_of(jobs, 21, 102))
    of = History.from_table(read_events([str(path)]).table)
    moment = int(of.clock.max())
    pool = Pool(largest=lambda: {"RequestMemory": 4000})
    groups = group_answers(answered(of, moment, pool=pool))
    assert [[one.job for one in group.members] for group in groups] == [
        [JobId(9, 0), JobId(9, 1)], [JobId(9, 2)],
    ]  # fmt: skip
    (edit, _), (none, _) = (group.advice.steps for group in groups)
    assert edit.command is not None
    assert edit.command.endswith("(ProcId == 0 || ProcId == 1)' RequestMemory 2048")
    assert none.command is None
    assert json.dumps(none.text).count("no slot known has more memory than the 9,000 MB") == 1
