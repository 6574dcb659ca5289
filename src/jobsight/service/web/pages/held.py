"""Held jobs for one who decides: what has one cause and one answer is one decision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from jobsight.codes import hold_name
from jobsight.history.reasons import origin
from jobsight.text import counted

__all__ = ["Decision", "decisions", "merged"]


@dataclass(frozen=True)
class Decision:
    """Groups of held jobs (see `Site.held`) with one cause and one answer.

    Attributes:
        key: names the decision on a page.
        groups: of its jobs, the greatest gain first.
    """

    key: str
    groups: Sequence[Mapping[str, Any]]

    @property
    def first(self) -> Mapping[str, Any]:
        """The group with the greatest gain, whose words are shown for all."""
        return self.groups[0]

    @cached_property
    def jobs(self) -> int:
        """How many."""
        return sum(one["jobs"] for one in self.groups)

    @cached_property
    def gain(self) -> float:
        """Expected, of all."""
        return float(sum(one["gain"] or 0.0 for one in self.groups))

    @cached_property
    def owners(self) -> list[str]:
        """Whose jobs they are."""
        return sorted({str(name) for one in self.groups for name in one["owners"] if name})

    @property
    def since(self) -> int | None:
        """µs: since when the first is held."""
        return min((one["held_since"] for one in self.groups if one["held_since"]), default=None)

    @cached_property
    def cause(self) -> str:
        """The hold code in a word."""
        code = self.first["hold_code"]
        return "hold code unknown" if code is None else hold_name(code)

    @cached_property
    def chance(self) -> tuple[float, float | None, float | None] | None:
        """Probability that a release succeeds, with its interval: means over the jobs."""
        known = [one for one in self.groups if one["probability"] is not None]
        if not known:
            return None
        weights = [one["jobs"] for one in known]
        middle = fmean((one["probability"] for one in known), weights)
        bounds = [one["interval"] for one in known]
        if None in bounds:
            return middle, None, None
        low, high = (fmean(ends, weights) for ends in zip(*bounds, strict=True))
        return middle, low, high

    @cached_property
    def steps(self) -> list[tuple[str, list[str]]]:
        """What to do, see `merged`.

        Where it reads differently for some of the jobs, such as how long to wait, the texts come
        first, each with its jobs, and the commands for all are with the last.
        """
        alike: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
        for one in self.groups:
            alike.setdefault(_texts(one), []).append(one)
        steps = merged(step for one in self.groups for step in one["advice"]["steps"])
        if len(alike) == 1:
            return steps
        by_text = [
            (f"{counted(sum(one['jobs'] for one in same), 'job')}: {'; '.join(texts)}", list[str]())
            for texts, same in alike.items()
        ]
        return [
            *by_text,
            ("the commands for all of them:", [one for _, commands in steps for one in commands]),
        ]


def merged(steps: Iterable[Mapping[str, Any]]) -> list[tuple[str, list[str]]]:
    """Steps of an advice, in order: each text once, with all its commands."""
    found: dict[str, list[str]] = {}
    for step in steps:
        commands = found.setdefault(step["text"], [])
        if step["command"] and step["command"] not in commands:
            commands.append(step["command"])
    return list(found.items())


def _texts(group: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(step["text"] for step in group["advice"]["steps"])


def decisions(groups: Sequence[Mapping[str, Any]]) -> list[Decision]:
    """Groups by cause, origin of data and answer, the greatest expected gain first.

    What has to be fixed is one decision only where the same steps fix it.
    """
    alike: dict[tuple[object, ...], list[Mapping[str, Any]]] = {}
    for one in groups:
        fix = () if one["verb"] in ("release", "wait") else _texts(one)
        place = origin(one["reason"])
        key = (one["cause"], one["hold_code"], one["hold_subcode"], place, one["verb"], fix)
        alike.setdefault(key, []).append(one)
    made = [
        Decision(min(same[0]["members"]), sorted(same, key=lambda one: -one["gain"]))
        for same in alike.values()
    ]
    return sorted(made, key=lambda one: (-one.gain, -one.jobs))
