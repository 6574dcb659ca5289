"""The stages of a sweep's plan: its nodes, what each reads and writes.

``parse`` → ``runs`` → ``best`` → ``register``. With rounds (bayes) a node between two groups of
runs chooses the points of the next; with `drop` each group first trains some epochs, then a node
drops the hopeless, then the others go on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jobsight.cluster.plan import Node, Resources, Stage
from jobsight.learning.sweep.layout import Frozen, Layout, Shard

__all__ = ["rounds_of", "run_of", "stages_of"]

_RETRIES = 3
"""Times that a node is tried again after a failure of its machine."""
_ONCE = 1
"""The same, of nodes that choose and finish: what stops them is seldom the machine."""

_THERE = Layout(Path())
"""The places as a node names them: relative to its current folder."""

_FROZEN = str(_THERE.frozen)
_CHOOSING = Resources(cpus=1, memory_mb=1024, disk_mb=512)
"""Of nodes that only read records."""
_PARSING = Resources(cpus=1, memory_mb=2048, disk_mb=8192)
"""The reader's memory is bounded whatever the size of the logs."""


def _resources_of(config: Mapping[str, Any]) -> Resources:
    """What one run asks for, as the config has it."""
    asked = config["resources"]
    names = ("cpus", "memory", "disk", "gpus", "time")
    return Resources(*(asked[name] for name in names))


def rounds_of(frozen: Frozen) -> list[range]:
    """The runs of each round; one round of all runs where no node chooses points between them."""
    every = range(frozen.first, frozen.runs + 1)
    if frozen.config["method"] != "bayes":
        return [every]
    size = int(frozen.config["round"])
    return [every[at : at + size] for at in range(0, len(every), size)]


def run_of(name: str) -> int | None:
    """The run that a node trains, by the node's name (``run-0007``); None: it trains none."""
    kind, _, number = name.partition("-")
    digits = number.removesuffix("b")
    return int(digits) if kind == "run" and digits.isdecimal() else None


def stages_of(frozen: Frozen) -> tuple[Stage, ...]:
    """All stages, in order."""
    stages = []
    if frozen.parse:
        stages.append(Stage("parse", tuple(_parse(one, frozen) for one in frozen.shards)))
    rounds = rounds_of(frozen)
    for number, runs in enumerate(rounds, start=1):
        if number > 1:
            stages.append(Stage(f"plan-{number}", (_between("plan", number),)))
        stages += _round(frozen, number, runs, several=len(rounds) > 1)
    stages.append(Stage("best", (_best(frozen),)))
    stages.append(Stage("register", (_register(),)))
    return tuple(stages)


def _round(frozen: Frozen, number: int, runs: Sequence[int], *, several: bool) -> Iterator[Stage]:
    drop = frozen.config["drop"]
    if drop is None:
        name = f"runs-{number}" if several else "runs"
        yield Stage(name, tuple(_run(run, frozen) for run in runs))
        return
    first = tuple(_run(run, frozen, until=int(drop["after"])) for run in runs)
    yield Stage(f"runs-{number}", first)
    yield Stage(f"drop-{number}", (_between("drop", number),))
    yield Stage(f"runs-{number}b", tuple(_run(run, frozen, again=True) for run in runs))


def _parse(shard: Shard, frozen: Frozen) -> Node:
    # A store is read by address, from here; files of one name cannot be sent to one place.
    near = shard.documents or (not frozen.shared and not shard.distinct)
    return Node(
        name=f"parse-{shard.name}",
        arguments=("sweep", "node", "parse", shard.name, "."),
        inputs=(_FROZEN, *(() if near else shard.inputs)),
        outputs=(str(_THERE.shard(shard.name)),),
        resources=_PARSING,
        retries=_RETRIES,
        near=near,
    )


def _run(run: int, frozen: Frozen, *, until: int | None = None, again: bool = False) -> Node:
    place = str(_THERE.run(run))
    online = frozen.config["tracking"]["wandb"] == "online"
    return Node(
        name=f"run-{run:04d}" + "b" * again,
        arguments=(
            *("sweep", "node", "run", str(run), "."),
            *(() if until is None else ("--until", str(until))),
            *_saving(frozen),
        ),
        inputs=(_FROZEN, str(_THERE.history), *((str(_THERE.tracking),) if online else ())),
        outputs=(place,),
        resources=_resources_of(frozen.config),
        retries=_RETRIES,
        checkpoints=True,
    )


def _saving(frozen: Frozen) -> tuple[str, ...]:
    """When a run saves; where it sees the sweep's folder, its checkpoints lie there already."""
    every = frozen.config["save_every"]
    return () if frozen.shared or every == "off" else ("--save-every", str(every))


def _between(verb: str, number: int) -> Node:
    return Node(
        name=f"{verb}-{number}",
        arguments=("sweep", "node", verb, str(number), "."),
        inputs=(_FROZEN, str(_THERE.runs)),
        outputs=(str(_THERE.round(number)), str(_THERE.runs)),
        resources=_CHOOSING,
        retries=_ONCE,
        near=True,
    )


def _best(frozen: Frozen) -> Node:
    asked = _resources_of(frozen.config)
    return Node(
        name="best",
        arguments=("sweep", "node", "best", "."),
        inputs=(_FROZEN, str(_THERE.history), str(_THERE.runs)),
        outputs=(str(_THERE.best),),
        # As much memory as a run, which builds the same examples; its network is fitted already.
        resources=Resources(asked.cpus, asked.memory_mb, asked.disk_mb),
        retries=_ONCE,
    )


def _register() -> Node:
    return Node(
        name="register",
        arguments=("sweep", "node", "register", "."),
        inputs=(_FROZEN, str(_THERE.runs), str(_THERE.best)),
        resources=_CHOOSING,
        retries=_ONCE,
        near=True,
    )
