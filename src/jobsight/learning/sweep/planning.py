"""From a config to a folder with everything that nodes need: points, plan, places to write into.

Planning draws nothing twice: the same config gives the same bytes, wherever and however often.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jobsight.cluster import NAMES, Option, Plan, Program
from jobsight.errors import OutputError, PlanError, SweepError
from jobsight.files import read_json, write_json
from jobsight.learning.manifest import package_versions
from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.following import as_read_back, follow_up, has_begun
from jobsight.learning.sweep.layout import (
    Frozen,
    Layout,
    Shard,
    damaged,
    named_by,
    point_of,
    read_frozen,
    read_saved,
)
from jobsight.learning.sweep.rounds import round_points
from jobsight.learning.sweep.search import draw, grid
from jobsight.learning.sweep.stages import rounds_of, stages_of
from jobsight.text import printable

__all__ = ["freeze", "lay_out", "read_plan"]

Command = Sequence[str]
Report = Callable[[int, int], None]


def freeze(
    config: SweepConfig, settings: Mapping[str, Any], shards: tuple[Shard, ...], *, base: Path
) -> Frozen:
    """The frozen form of a config.

    Args:
        config: as read.
        settings: time zone and access point of the logs, and where the registry is.
        shards: of `config.data`.
        base: folder of the config, from which it names an image or a pack.

    Raises:
        SweepError: there is no such image next to the config, or no such home folder.
    """
    plain = {**config.model_dump(mode="json"), "model": config.trained}
    program = plain["program"]
    if program["image"] is not None:
        program["image"] = _image(program["image"], base)
    if program["pack"] is not None:
        program["pack"] = str(named_by(base, program["pack"]).resolve())
    return Frozen(
        config=plain,
        settings=dict(settings),
        shards=shards,
        runs=config.runs,
        shared=config.where != "dagman" if config.shared == "auto" else bool(config.shared),
        versions=package_versions(),
    )


def _image(image: str, base: Path) -> str:
    """Where an image is: a file or a folder of here or of the other machines, or an address."""
    path = named_by(base, image)
    with contextlib.suppress(OSError, RuntimeError):  # it may lie where only nodes may look
        return str(path.resolve(strict=True))
    if ":" in image:  # docker://…, docker-archive:…
        return image
    if not image.startswith(("/", "~")):
        raise SweepError(
            f"program.image: there is no {printable(path, 200)}; name a file or a folder that is "
            "there, a whole path where runs run, or an address such as docker://…"
        )
    return str(path)


def lay_out(
    frozen: Frozen,
    layout: Layout,
    command: Command,
    *,
    active: bool = False,
    progress: Report = lambda _done, _total: None,
) -> tuple[Frozen, Plan, bool]:
    """Write a sweep's folder, or what changed of it; hand nothing over.

    Args:
        frozen: what is wanted.
        layout: where.
        command: how `jobsight` starts on this machine.
        active: a scheduler works on what was planned before.
        progress: is called with the runs written of all.

    Returns:
        the sweep as it follows what was there, what a scheduler is handed, and whether the folder
        was written, not so already.

    Raises:
        SweepError: something else is in the folder, or the sweep there has begun and is another,
            or was begun with other versions.
        OutputError: the folder cannot be written.
        PlanError: a name or path that no scheduler takes.
    """
    before = _before(layout)
    if before is not None:
        frozen = follow_up(before, frozen, layout)
    plan = _plan_of(frozen, layout, command)
    if before == frozen and _same_plan(layout, plan) and _is_whole(frozen, layout):
        return frozen, plan, False
    if active:
        cancel = f"jobsight sweep cancel {shlex.quote(str(layout.folder))}"
        raise SweepError(
            f"{layout.folder} is being worked on, and the config has changed; wait for it, or "
            f"cancel it ({cancel}), then submit again"
        )
    _write(before, frozen, layout, plan, progress)
    return frozen, plan, True


def _plan_of(frozen: Frozen, layout: Layout, command: Command) -> Plan:
    """The plan of a frozen config."""
    config = frozen.config
    asked = config["program"]
    pack = None if asked["pack"] is None else Path(asked["pack"])
    elsewhere = asked["image"] is not None or pack is not None
    program = Program(
        command=("jobsight",) if elsewhere else tuple(command),
        image=asked["image"],
        pack=pack,
        environment=dict(asked["environment"]),
        near=tuple(command) if elsewhere else (),
    )
    return Plan(
        name=_plan_name(layout),
        folder=layout.folder,
        stages=stages_of(frozen),
        program=program,
        shared=frozen.shared,
        options={name: _options(config[name]) for name in NAMES},
    )


def _options(given: Mapping[str, Any]) -> dict[str, Option]:
    """Options as a plan has them: texts, and those alone that were given."""
    return {
        name: value if isinstance(value, list) else str(value)
        for name, value in given.items()
        if value is not None
    }


def read_plan(layout: Layout, *, moved: bool = False) -> Plan:
    """The plan that lies in a sweep's folder.

    Args:
        layout: of the folder.
        moved: also where the folder was moved since, so that no scheduler knows it.

    Raises:
        SweepError: there is none, it is damaged, or the folder was moved since.
    """
    missing = f"{layout.folder} has no plan; run `jobsight sweep plan` first"
    try:
        plan = Plan.from_json(read_saved(layout.plan, missing))
    except PlanError as error:
        raise damaged(layout.plan, str(error)) from None
    if plan.folder != layout.folder.resolve() and not moved:
        raise SweepError(
            f"{layout.folder} was planned as {plan.folder} and moved since; move it back, or plan "
            "it again here if nothing works on it"
        )
    return plan


def _before(layout: Layout) -> Frozen | None:
    """What was planned in the folder before; None: it is new, empty, or nothing of ours began."""
    if layout.frozen.exists():
        return read_frozen(layout.folder)
    try:
        found = next(layout.folder.iterdir(), None)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SweepError(
            f"cannot look into {layout.folder}: {error.strerror or error}; name another `folder`"
        ) from None
    if found is not None:
        raise SweepError(
            f"{layout.folder} holds {printable(found.name, 60)!r}, but no sweep; name another "
            "`folder` in the config"
        )
    return None


def _same_plan(layout: Layout, plan: Plan) -> bool:
    try:
        found: object = read_json(layout.plan, dict)
    except (OSError, ValueError):
        return False
    return bool(found == as_read_back(plan.to_json()))


def _is_whole(frozen: Frozen, layout: Layout) -> bool:
    return all(layout.point(run).exists() for run, _ in _points(frozen))


def _write(
    before: Frozen | None, frozen: Frozen, layout: Layout, plan: Plan, progress: Report
) -> None:
    """Write the folder: the frozen config first, the plan last."""
    begun = has_begun(layout)
    try:
        layout.folder.mkdir(parents=True, exist_ok=True)
        if before is not None and not begun:
            _clear(layout)
        elif before is not None and _is_other_work(before, frozen):
            _put_aside(layout, before)
        write_json(layout.frozen, frozen.to_json())
        for place in _places(frozen, layout):
            place.mkdir(parents=True, exist_ok=True)
        for run, parameters in _points(frozen):
            if not layout.point(run).exists():
                write_json(layout.point(run), point_of(run, parameters))
            progress(run, frozen.runs)
        write_json(layout.plan, plan.to_json())
    except OSError as error:
        raise OutputError(f"cannot write {layout.folder}: {error.strerror or error}") from None


def _is_other_work(before: Frozen, frozen: Frozen) -> bool:
    """Whether what a scheduler remembers of its earlier plan is not of this one."""
    return before.config["where"] != frozen.config["where"] or before.first != frozen.first


def _put_aside(layout: Layout, before: Frozen) -> None:
    """Keep what was submitted before under a name of its own."""
    if not layout.submitted.exists():
        return
    name = f"submitted-{before.config['where']}-{before.first}"
    earlier = len(list(layout.folder.glob(f"{name}*")))
    layout.submitted.rename(layout.folder / (f"{name}-{earlier + 1}" if earlier else name))


def _clear(layout: Layout) -> None:
    """Remove what an earlier plan, of which nothing ran, wrote."""
    for folder in (layout.runs, layout.history, layout.folder / "rounds", layout.best):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(layout.submitted, ignore_errors=True)
    for file in (layout.plan, layout.frozen, layout.tracking):
        file.unlink(missing_ok=True)


def _places(frozen: Frozen, layout: Layout) -> Iterator[Path]:
    """The folders that nodes write into, which must be there when they are submitted."""
    for shard in frozen.shards:
        yield layout.shard(shard.name)
    for run in range(1, frozen.runs + 1):
        yield layout.run(run)
    for number in range(1, len(rounds_of(frozen)) + 1):
        yield layout.round(number)
    yield layout.best


def _points(frozen: Frozen) -> Iterator[tuple[int, dict[str, Any]]]:
    """The points that are known before anything ran."""
    config = SweepConfig.model_validate(frozen.config)
    if config.tracking.wandb == "online":
        return  # the server's sweep decides, when each run asks
    if config.method == "bayes":
        first = rounds_of(frozen)[0]
        yield from zip(first, round_points(config, 1, []), strict=True)
    elif config.method == "grid":
        yield from enumerate(grid(config), start=1)
    else:
        for run in range(frozen.first, frozen.runs + 1):
            yield run, draw(config, run)


def _plan_name(layout: Layout) -> str:
    """A name that every scheduler takes, made of the folder's."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", layout.name)[:60]
    return f"sweep-{name.strip('-') or 'unnamed'}"
