"""How a sweep that is wanted follows the one that was planned in its folder, or why it cannot.

What has begun is never searched differently, nor by other versions of what shapes results. How and
where it runs may change, and a random search whose runs have ended may be given more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from jobsight.errors import SweepError
from jobsight.learning.sweep.layout import Frozen, Layout
from jobsight.text import counted, printable

__all__ = ["as_read_back", "follow_up", "has_begun"]

_TOP = {"config": "", "settings": "", "inputs": "data"}
"""How the parts of what is searched (`Frozen.searched`) are called in a config."""


def has_begun(layout: Layout) -> bool:
    """Whether any run has reported itself, so that the search is settled."""
    return any(layout.runs.glob("*/record.jsonl"))


def follow_up(before: Frozen, frozen: Frozen, layout: Layout) -> Frozen:
    """The wanted sweep as it follows the one that is there.

    Args:
        before: the sweep that was planned.
        frozen: the one that is wanted.
        layout: of both.

    Raises:
        SweepError: runs of the one and of the other cannot be compared, or some have to end first.
    """
    same = before.searched() == as_read_back(frozen.searched())
    if same:  # what was noted of the files counts as of the first planning, wherever they are now
        pairs = zip(frozen.shards, before.shards, strict=True)
        shards = tuple(replace(now, modified=then.modified) for now, then in pairs)
        frozen = replace(frozen, shards=shards)
    if not has_begun(layout):
        return frozen
    frozen = _of_versions(before, frozen, layout)
    frozen = replace(frozen, first=before.first, parse=before.parse)
    was, wanted = before.searched(), as_read_back(frozen.searched())
    changed = next(
        (one for key in was for one in _differences(was[key], wanted[key], _TOP[key])), None
    )
    if changed is not None:
        what, first, now = changed
        raise SweepError(
            f"{layout.folder} has runs of another sweep: {what} was {first} and is {now}; put it "
            "back, or name another `folder` in the config"
        )
    if frozen.runs == before.runs:
        return frozen
    return _extended(before, frozen, layout)


def _of_versions(before: Frozen, frozen: Frozen, layout: Layout) -> Frozen:
    """The wanted sweep, if its runs are made by the same versions as those that began.

    A sweep whose runs have all ended stays what it is, whatever is installed now.
    """
    if frozen.runs == before.runs and not _not_ended(before, layout):
        return replace(frozen, versions=before.versions)
    was, now = _shaping(before, frozen)
    for name in sorted({*was, *now}):
        if was.get(name) != now.get(name):
            there, here = was.get(name), now.get(name)
            advice = f"install {name} {there} again" if there else f"uninstall {name}"
            raise SweepError(
                f"{layout.folder} has runs made with {name} {there or '(none)'}, and here is "
                f"{here or 'none'}: results of the two do not compare; {advice} to go on, or name "
                "another `folder` in the config"
            )
    return frozen


def _shaping(*sweeps: Frozen) -> list[dict[str, str]]:
    """Versions that shape the results of runs, of each sweep, as far as they are known of all.

    Of Python that is ``3.11`` alone, a later fix of it changes nothing. What an image or a pack has
    is not known, but Jobsight must be the same there as here.
    """
    programs = [one.config["program"] for one in sweeps]
    if any(one["image"] is not None or one["pack"] is not None for one in programs):
        return [{"jobsight": one.versions.get("jobsight", "")} for one in sweeps]
    return [
        {
            name: ".".join(version.split(".")[:2]) if name == "python" else version
            for name, version in one.versions.items()
        }
        for one in sweeps
    ]


def _not_ended(frozen: Frozen, layout: Layout) -> list[int]:
    return [run for run in range(1, frozen.runs + 1) if not layout.result(run).exists()]


def _extended(before: Frozen, frozen: Frozen, layout: Layout) -> Frozen:
    if frozen.runs < before.runs or frozen.config["method"] != "random":
        raise SweepError(
            f"{layout.folder} has {counted(before.runs, 'run')} and the config asks for "
            f"{frozen.runs}; only a random search can be given more, and none can be given fewer: "
            "put it back, or name another `folder`"
        )
    missing = _not_ended(before, layout)
    if missing:
        raise SweepError(
            f"{counted(len(missing), 'run')} of {before.runs} in {layout.folder} have not ended, "
            f"the first is run {missing[0]}; submit the sweep with runs: {before.runs} until it is "
            "done, then ask for more"
        )
    parsed = all(layout.read(shard.name).exists() for shard in frozen.shards)
    return replace(frozen, first=before.runs + 1, parse=not parsed)


def _differences(before: Any, after: Any, name: str = "") -> Iterator[tuple[str, str, str]]:
    """Names of values that differ, as the config has them, with both in words."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted({*before, *after}):
            inner = f"{name}.{key}" if name else key
            yield from _differences(before.get(key), after.get(key), inner)
    elif before != after:
        yield name, printable(repr(before), 80), printable(repr(after), 80)


def as_read_back(value: Any) -> Any:
    """As JSON reads it back: tuples are lists."""
    return json.loads(json.dumps(value))
