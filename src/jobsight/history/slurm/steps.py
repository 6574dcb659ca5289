"""What the steps of a run used together: CPU time, memory and GPUs.

A run has a step of its batch script, one of what its nodes start for it (``extern``) and one of
each srun. Slurm's accounting measures each task on its own (sacct(1)): MaxRSS is the largest task's
memory, and TRESUsageInTot the sum over the tasks, each at its own peak. Steps that run at the same
time add up; steps that run one after another do not.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from jobsight.history.slurm.sacct import Run, Step
from jobsight.program.submission.sizes import parse_tres

__all__ = ["used_by_steps"]

_usage = partial(parse_tres, unit="B")
_MB = 1 << 20
_SHORT_S = 5
"""Of a shorter step, CPU time is not divided by its time, which is in whole seconds."""
_PERCENT = 100.0


def used_by_steps(run: Run) -> dict[str, Any]:
    """Fields of `Usage` that rest on several steps; only what is known."""
    node, total, tasks = _at_once(run.steps)
    # CPU time of processes whose parent did not wait for them is in the samples alone.
    cpu = max(run.cpu_s or 0.0, sum(map(_cpu_s, run.steps)))
    sums = [_usage(step.total) for step in run.steps]
    busy = [known["gres/gpuutil"] for known in sums if "gres/gpuutil" in known]
    gpu_memory = [known["gres/gpumem"] for known in sums if "gres/gpumem" in known]
    found = {
        "cpu_s": cpu or None,  # 0: it was not measured, for what ran used milliseconds
        "memory_mb": -(-node // _MB) or None,
        "total_memory_mb": -(-total // _MB) if total > node else None,
        "tasks": tasks or None,
        "task_cpus": max(filter(None, map(_task_cpus, run.steps)), default=None),
        "gpus_busy": max(busy) / _PERCENT if busy else None,
        "gpu_memory_mb": -(-max(gpu_memory) // _MB) if gpu_memory else None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _cpu_s(step: Step) -> float:
    return max(step.cpu_s or 0.0, _usage(step.total).get("cpu", 0))


def _task_cpus(step: Step) -> float | None:
    """The CPUs that the busiest task kept busy, in the mean over the step."""
    elapsed = step.elapsed_s or 0.0
    if step.name == "extern" or elapsed < _SHORT_S:
        return None
    mean = _cpu_s(step) / max(step.tasks or 1, 1)
    return max(mean, _usage(step.most).get("cpu", 0)) / elapsed


def _memory(step: Step) -> tuple[int, int]:
    """Bytes of a step's tasks on the node that had most of them, and on all nodes, at most."""
    tasks, nodes = max(step.tasks or 1, 1), max(step.nodes or 1, 1)
    most = max(step.max_rss or 0, _usage(step.most).get("mem", 0))
    mean = most if step.mean_rss is None else step.mean_rss
    total = max(_usage(step.total).get("mem", 0) or mean * tasks, most)
    return (total if nodes == 1 else min(total, most * -(-tasks // nodes))), total


def _at_once(steps: Sequence[Step]) -> tuple[int, int, int]:
    """The most that steps had at once: bytes on one node and on all, tasks that srun started.

    Where the times of steps are unknown, those of srun count as run one after another.
    """
    dated = all(step.start is not None for step in steps)
    lasting = float("inf")
    running: list[tuple[float, int]] = []  # by end; the number of the step
    on_node: Counter[str] = Counter()
    everywhere = total = tasks = node_most = total_most = tasks_most = 0
    sizes = [_memory(step) for step in steps]
    by_srun = [step.name.isdecimal() for step in steps]
    order = sorted(range(len(steps)), key=lambda at: (steps[at].start or 0, by_srun[at]))

    def change(at: int, sign: int) -> None:
        nonlocal everywhere, total, tasks
        if (steps[at].nodes or 1) > 1:
            everywhere += sign * sizes[at][0]
        else:
            on_node[steps[at].hosts] += sign * sizes[at][0]
        total += sign * sizes[at][1]
        tasks += sign * (steps[at].tasks or 1) * by_srun[at]

    for at in order:
        start, end = float(steps[at].start or 0), float(steps[at].end or lasting)
        while running and running[0][0] <= start:
            change(heapq.heappop(running)[1], -1)
        change(at, +1)
        node_most = max(node_most, everywhere + max(on_node.values(), default=0))
        total_most, tasks_most = max(total_most, total), max(tasks_most, tasks)
        heapq.heappush(running, (end if dated or not by_srun[at] else 0.0, at))
    return node_most, total_most, tasks_most
