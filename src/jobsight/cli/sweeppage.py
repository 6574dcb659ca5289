"""What ``jobsight sweep`` prints: the plan in short, and how far a sweep is."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobsight.cli.terminal import Column, blocks, grid, width
from jobsight.text import abridged, counted, printable

if TYPE_CHECKING:
    from jobsight.learning.sweep.layout import Frozen
    from jobsight.learning.sweep.planning import Planned
    from jobsight.learning.sweep.progress import Progress, StageProgress

__all__ = ["command", "number", "plan_json", "plan_lines", "progress_lines", "size"]

_SHOWN_POINTS = 5
_SHOWN_TROUBLES = 10
_BAR = 24
_CAUSE = 400


def command(verb: str, file: Path) -> str:
    """What to type next, for a shell."""
    return f"jobsight sweep {verb} {shlex.quote(str(file))}"


def number(value: object) -> str:
    """A parameter or a metric in few letters."""
    if isinstance(value, bool) or not isinstance(value, float):
        return printable(value, 24)
    return f"{value:.4g}"


def size(amount: float) -> str:
    """Bytes in words: ``33.2 MB``."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    raise AssertionError("unreachable")


def plan_json(planned: Planned, files: list[Path]) -> dict[str, Any]:
    """The plan as plain data."""
    layout, frozen = planned.layout, planned.frozen
    return {
        "folder": str(layout.folder),
        "changed": planned.changed,
        "sweep": frozen.digest,
        "where": frozen.config["where"],
        "shared": frozen.shared,
        "runs": frozen.runs,
        "first": frozen.first,
        "stages": {stage.name: len(stage.nodes) for stage in planned.plan.stages},
        "shards": {shard.name: list(shard.inputs) for shard in frozen.shards},
        "points": {str(run): point for run, point in _points(planned, frozen.runs)},
        "files": [str(file) for file in files],
    }


def _points(planned: Planned, most: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """The points that are known, of so many runs at most."""
    from jobsight.learning.sweep.layout import read_point

    found = 0
    for run in range(planned.frozen.first, planned.frozen.runs + 1):
        if found < most and planned.layout.point(run).exists():
            found += 1
            yield run, read_point(planned.layout.folder, run)


def plan_lines(planned: Planned, files: list[Path]) -> Iterator[str]:
    """The plan in short: what is searched, on what, in which nodes, what will be asked for."""
    frozen, config = planned.frozen, planned.frozen.config
    metric, goal = frozen.metric
    most = "highest" if goal == "maximize" else "lowest"
    first = f" (of which {frozen.first - 1} have ended)" if frozen.first > 1 else ""
    yield (
        f"{counted(frozen.runs, 'run')}{first} of at most {counted(config['epochs'], 'epoch')}, "
        f"{config['method']}, seed {frozen.seed}; best by the {most} {metric}"
    )
    yield f"  data      {_data(frozen)}"
    stages = ", ".join(f"{stage.name} {len(stage.nodes)}" for stage in planned.plan.stages)
    yield f"  nodes     {printable(stages, 300)}"
    yield f"  each run  {_resources(config['resources'])}"
    yield f"  where     {_where(frozen)}"
    if config["tracking"]["wandb"] != "off":
        yield f"  tracking  Weights & Biases {config['tracking']['wandb']}"
    if files:
        names = ", ".join(file.name for file in files[:6]) + (", …" if len(files) > 6 else "")
        yield f"  files     {counted(len(files), 'file')} for the scheduler: {names}"
    yield from _point_lines(planned)


def _data(frozen: Frozen) -> str:
    inputs = [one for shard in frozen.shards for one in shard.inputs]
    files = [Path(one) for one in inputs if Path(one).is_file()]
    amount = f" ({size(sum(file.stat().st_size for file in files))})" if files else ""
    return (
        f"{counted(len(inputs), 'input')}{amount}, parsed in {counted(len(frozen.shards), 'shard')}"
    )


def _resources(asked: dict[str, Any]) -> str:
    from jobsight.clock import format_span

    parts = [
        counted(asked["cpus"], "core"),
        f"{asked['memory']:,} MiB of memory",
        f"{asked['disk']:,} MiB of disk",
    ]
    parts += [counted(asked["gpus"], "GPU")] if asked["gpus"] else []
    parts += [format_span(asked["time"]) + " at a time"] if asked["time"] else []
    return ", ".join(parts)


def _where(frozen: Frozen) -> str:
    config = frozen.config
    names = {
        "here": "here, as processes of this machine",
        "dagman": "HTCondor, by DAGMan",
        "slurm": "Slurm",
    }
    files = "all see one file system" if frozen.shared else f"files are {_sent(config)}"
    program = config["program"]
    by = f"; in {printable(program['image'], 80)}" if program["image"] else ""
    by = f"; by the pack {printable(program['pack'], 80)}" if program["pack"] else by
    return names[config["where"]] + ("" if config["where"] == "here" else f"; {files}") + by


def _sent(config: Mapping[str, Any]) -> str:
    """How files come and go where nodes are sent them."""
    from jobsight.clock import format_span

    every = config["save_every"]
    if every == "off":
        return "sent and fetched"
    often = "10 min" if every == "auto" else format_span(every)
    return f"sent, and fetched every {often} of training"


def _point_lines(planned: Planned) -> list[str]:
    """The first points as a table; nothing where a server decides."""
    points = list(_points(planned, _SHOWN_POINTS))
    if not points:
        return []
    names = list(points[0][1])
    rows = [[str(run), *(number(point.get(name)) for name in names)] for run, point in points]
    columns = [Column("run", right=True)]
    columns += [
        Column(printable(name, 24), right=True, spare=k) for k, name in enumerate(names, start=1)
    ]
    lines = grid(columns, rows, most=width())
    more = planned.frozen.runs - planned.frozen.first + 1 - len(points)
    return [*lines, f"… and {more} more"] if more > 0 else lines


def progress_lines(progress: Progress, where: str, *, each: bool = False) -> Iterator[str]:
    """How far a sweep is.

    Args:
        progress: as the scheduler and the records have it.
        where: name of the scheduler.
        each: tell of every run.
    """
    yield f"{_headline(progress)} ({where}{_manager(progress)})"
    for stage in progress.stages:
        yield f"  {printable(stage.name, 20):<10} {_bar(stage)}"
    states = ", ".join(f"{count} {state}" for state, count in sorted(progress.states.items()))
    yield f"runs: {states}; {progress.epochs:,} of at most {progress.epochs_most:,} epochs"
    if progress.best is not None:
        best = progress.best
        epoch = f", epoch {best.epoch}" if best.epoch is not None else ""
        yield (
            f"best {'run' if progress.done else 'so far: run'} {best.run}, {progress.metric} "
            f"{number(best.value)}{epoch}{'' if best.ended else ', which goes on'}"
        )
    for trouble in progress.troubles[:_SHOWN_TROUBLES]:
        log = f" (see {printable(trouble.log, 120)})" if trouble.log else ""
        yield f"  {trouble.what} {trouble.state}: {abridged(trouble.cause, _CAUSE)}{log}"
    if len(progress.troubles) > _SHOWN_TROUBLES:
        yield f"  and {len(progress.troubles) - _SHOWN_TROUBLES} more; --json tells all"
    if each:
        yield from _run_lines(progress)


def _headline(progress: Progress) -> str:
    if progress.active:
        return "running" if progress.asked else "running, as far as its files tell"
    if progress.done:
        return "done"
    if progress.manager is None and progress.updated is None:
        return "not submitted yet"
    left = sum(stage.total - stage.done for stage in progress.stages)
    if progress.stages and not left:
        return "not done, though all nodes are; finish it with: jobsight sweep collect"
    what = f"stopped with {counted(left, 'node')} not done" if left else "not done"
    return f"{what}; submit again to go on"


def _manager(progress: Progress) -> str:
    return "" if progress.manager is None else f", {printable(progress.manager, 300)}"


def _bar(stage: StageProgress) -> str:
    full, _, empty = blocks()
    filled = math.floor(_BAR * stage.done / stage.total)
    parts = [f"{full * filled}{empty * (_BAR - filled)} {stage.done}/{stage.total}"]
    parts += [f"{stage.running} running"] if stage.running else []
    parts += [f"{stage.troubled} in trouble"] if stage.troubled else []
    parts += [f"{stage.stopped} stopped"] if stage.stopped else []
    return ", ".join(parts)


def _run_lines(progress: Progress) -> list[str]:
    columns = [
        *(Column("run", right=True), Column("state"), Column("epochs", right=True)),
        Column(progress.metric, right=True),
        *(Column("starts", right=True, spare=1), Column("where", spare=2), Column("why")),
    ]
    rows = [
        [
            *(str(one.run), one.state, str(one.epochs)),
            "–" if one.value is None else number(one.value),
            *(str(one.attempts), printable(one.where or "–", 40)),
            abridged(one.cause or "", _CAUSE),
        ]
        for one in progress.runs
    ]
    return grid(columns, rows, most=width())
