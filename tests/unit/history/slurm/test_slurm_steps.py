"""What the steps of a run used together."""

from typing import Any

import pytest

from jobsight.history.slurm.ids import SlurmId
from jobsight.history.slurm.sacct import Run, Step
from jobsight.history.slurm.steps import used_by_steps

SECOND, MB = 1_000_000, 1 << 20


def step(name: str, start: int | None, end: int | None, rss: int, **more: Any) -> Step:
    """A step on one node from `start` to `end` (seconds), its largest task of `rss` MB."""
    begun, ended = (None if time is None else (1000 + time) * SECOND for time in (start, end))
    plain: dict[str, Any] = {"max_rss": rss * MB, "hosts": "n1", "nodes": 1, "tasks": 1}
    if start is not None and end is not None:
        plain["elapsed_s"] = float(end - start)
    return Step(name, begun, ended, **{**plain, **more})


def used(*steps: Step, cpu_s: float | None = None) -> dict[str, Any]:
    return used_by_steps(Run(SlurmId(7), state="COMPLETED", cpu_s=cpu_s, steps=steps))


def test_the_tasks_of_a_step_add_up() -> None:
    batch = step("batch", 0, 53, 20)
    most = used(batch, step("0", 0, 53, 1900, tasks=8))
    assert most == {"memory_mb": 20 + 8 * 1900, "tasks": 8}
    mean = used(batch, step("0", 0, 53, 1900, tasks=8, mean_rss=1500 * MB))
    assert mean["memory_mb"] == 20 + 8 * 1500
    total = used(batch, step("0", 0, 53, 1900, tasks=8, mean_rss=MB, total=f"mem={9000 * MB}"))
    assert total["memory_mb"] == 20 + 9000


def test_steps_add_up_while_they_run_at_once() -> None:
    after = used(step("batch", 0, 60, 10), step("0", 0, 30, 400), step("1", 30, 60, 500))
    assert after == {"memory_mb": 510, "tasks": 1}
    at_once = used(step("batch", 0, 60, 10), step("0", 0, 31, 400), step("1", 30, None, 500))
    assert at_once == {"memory_mb": 910, "tasks": 2}
    quick = [step(str(at), 10, 10, 300) for at in range(9)]
    assert used(step("batch", 0, 60, 10), *quick)["memory_mb"] == 310


def test_steps_of_unknown_times_count_as_one_after_another() -> None:
    steps = [step(name, None, None, 100) for name in ("0", "1", "extern", "batch")]
    assert used(*steps) == {"memory_mb": 300, "tasks": 1}


def test_each_node_has_its_own_tasks() -> None:
    spread = step("0", 0, 60, 100, tasks=5, nodes=2, hosts="n[1-2]", total=f"mem={450 * MB}")
    found = used(step("batch", 0, 60, 10), spread)
    assert (found["memory_mb"], found["total_memory_mb"]) == (310, 460)
    packed = [step(str(at), 0, 60, 200, hosts=f"n{at % 3}") for at in range(6)]
    found = used(*packed)
    assert (found["memory_mb"], found["total_memory_mb"], found["tasks"]) == (400, 1200, 6)


@pytest.mark.parametrize(
    ("of_job", "samples", "expected"), [(70.5, "cpu=00:00:40", 70.5), (0.01, "cpu=00:01:08", 68.0)]
)
def test_cpu_time_is_of_all_steps_also_where_a_kill_left_it_to_the_samples(
    of_job: float, samples: str, expected: float
) -> None:
    steps = step("batch", 0, 90, 5, cpu_s=0.01), step("0", 0, 90, 5, cpu_s=0.0, total=samples)
    assert used(*steps, cpu_s=of_job)["cpu_s"] == pytest.approx(expected, abs=0.02)


def test_the_busiest_task_is_known() -> None:
    uneven = step("0", 0, 100, 5, tasks=4, cpu_s=220.0, most="cpu=00:03:10", total="cpu=00:03:38")
    short = step("1", 0, 1, 5, cpu_s=1.9)
    assert used(step("batch", 0, 100, 5, cpu_s=1.0), uneven, short)["task_cpus"] == 1.9


def test_gpus_are_measured_or_not() -> None:
    total = f"cpu=00:00:01,gres/gpumem={3 * MB},gres/gpuutil=150"
    found = used(step("0", 0, 60, 5, total=total), step("1", 0, 60, 5, total="gres/gpuutil=20"))
    assert (found["gpus_busy"], found["gpu_memory_mb"]) == (1.5, 3)
    assert "gpus_busy" not in used(step("0", 0, 60, 5))


def test_what_was_not_measured_is_unknown() -> None:
    assert used() == {}
    assert used(step("batch", 0, 60, 0, max_rss=None), cpu_s=0.0) == {}
    many = [step(str(at), at, at + 40, 1) for at in range(20_000)]
    assert used(*many)["memory_mb"] == 40
