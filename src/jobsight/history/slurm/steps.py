"""What the steps of a run used together: CPU time, memory and GPUs.

A run has a step of its batch script, one of what its nodes start for it (``extern``) and one of
each srun. Slurm's accounting measures each task on its own (sacct(1)): MaxRSS is the largest task's
memory, and TRESUsageInTot the sum over the tasks, each at its own peak. Steps that run at the same
time add up; steps that run one after another do not.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from jobsight.history.slurm.sacct import Run, Step
from jobsight.program.submission.sizes import parse_tres

__all__ = ["used_by_steps"]

_MB = 1 << 20
_SHORT_S = 5
"""Of a shorter step, CPU time is not divided by its time, which is in whole seconds."""
_PERCENT = 100.0
_GPU, _GPU_MEMORY = "gres/gpuutil", "gres/gpumem"


class _Use(NamedTuple):
    """What a step used."""

    node: int
    """Bytes of its tasks on the node that had most of them, at most; `everywhere` on all nodes."""
    everywhere: int
    cpu_s: float
    task_cpus: float
    """CPUs that its busiest task kept busy in the mean; 0: unknown."""
    gpu: Mapping[str, int]


def used_by_steps(run: Run) -> dict[str, Any]:
    """Fields of `Usage` that rest on several steps; only what is known."""
    uses = [_use(step) for step in run.steps]
    node, total, tasks = _at_once(run.steps, uses)
    # CPU time of processes whose parent did not wait for them is in the samples alone.
    cpu = max(run.cpu_s or 0.0, sum(use.cpu_s for use in uses))
    found = {
        "cpu_s": cpu or None,  # 0: it was not measured, for what ran used milliseconds
        "memory_mb": -(-node // _MB) or None,
        "total_memory_mb": -(-total // _MB) if total > node else None,
        "tasks": tasks or None,
        "task_cpus": max((use.task_cpus for use in uses), default=0.0) or None,
    }
    if any(use.gpu for use in uses):
        busy, size = (max(use.gpu.get(name, 0) for use in uses) for name in (_GPU, _GPU_MEMORY))
        found |= {"gpus_busy": busy / _PERCENT, "gpu_memory_mb": -(-size // _MB)}
    return {name: value for name, value in found.items() if value is not None}


def _use(step: Step) -> _Use:
    total, one = parse_tres(step.total, unit="B"), parse_tres(step.most, unit="B")
    tasks, nodes = max(step.tasks or 1, 1), max(step.nodes or 1, 1)
    most = max(step.max_rss or 0, one.get("mem", 0))
    mean = most if step.mean_rss is None else step.mean_rss
    everywhere = max(total.get("mem", 0) or mean * tasks, most)
    node = everywhere if nodes == 1 else min(everywhere, most * -(-tasks // nodes))
    cpu_s = max(step.cpu_s or 0.0, total.get("cpu", 0))
    elapsed, busiest = step.elapsed_s or 0.0, max(cpu_s / tasks, one.get("cpu", 0))
    known = step.name != "extern" and elapsed >= _SHORT_S
    gpu = {name: total[name] for name in (_GPU, _GPU_MEMORY) if name in total}
    return _Use(node, everywhere, cpu_s, busiest / elapsed if known else 0.0, gpu)


def _at_once(steps: Sequence[Step], uses: Sequence[_Use]) -> tuple[int, int, int]:
    """The most that steps had at once: bytes on one node and on all, tasks that srun started.

    Where the times of steps are unknown, those of srun count as run one after another.
    """
    dated = all(step.start is not None for step in steps)
    lasting = float("inf")
    running: list[tuple[float, int]] = []  # by end; the number of the step
    on_node: Counter[str] = Counter()
    spread = total = tasks = node_most = total_most = tasks_most = 0
    by_srun = [step.name.isdecimal() for step in steps]
    order = sorted(range(len(steps)), key=lambda at: (steps[at].start or 0, by_srun[at]))

    def change(at: int, sign: int) -> None:
        nonlocal spread, total, tasks
        if (steps[at].nodes or 1) > 1:
            spread += sign * uses[at].node
        else:
            on_node[steps[at].hosts] += sign * uses[at].node
        total += sign * uses[at].everywhere
        tasks += sign * (steps[at].tasks or 1) * by_srun[at]

    for at in order:
        start, end = float(steps[at].start or 0), float(steps[at].end or lasting)
        while running and running[0][0] <= start:
            change(heapq.heappop(running)[1], -1)
        change(at, +1)
        node_most = max(node_most, spread + max(on_node.values(), default=0))
        total_most, tasks_most = max(total_most, total), max(tasks_most, tasks)
        heapq.heappush(running, (end if dated or not by_srun[at] else 0.0, at))
    return node_most, total_most, tasks_most
