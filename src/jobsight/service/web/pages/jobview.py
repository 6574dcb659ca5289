"""One job for its page: its life as a bar, what happened to it, its script with findings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from jobsight.codes import EventCode, hold_name
from jobsight.documents import JobDocument
from jobsight.documents.spans import life, spans, submitted, total
from jobsight.history.causes.endings import ending_of
from jobsight.history.jobwords import event_words, job_facts
from jobsight.history.reasons import origin
from jobsight.text import counted

__all__ = [
    "Decision",
    "decisions",
    "ending_of",
    "events",
    "job_facts",
    "lifetime",
    "marked_lines",
    "merged",
    "predicted",
]


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
        jobs: dict[tuple[str, ...], int] = {}
        for group in self.groups:
            jobs[_texts(group)] = jobs.get(_texts(group), 0) + group["jobs"]
        steps = merged(step for group in self.groups for step in group["advice"]["steps"])
        if len(jobs) == 1:
            return steps
        all_commands = [command for _, commands in steps for command in commands]
        by_text = [
            (f"{counted(count, 'job')}: {'; '.join(texts)}", list[str]())
            for texts, count in jobs.items()
        ]
        return [*by_text, ("the commands for all of them:", all_commands)]


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


_FIRST_EVENTS, _LAST_EVENTS = 20, 80
_LINES = 2000
"""Lines of a script that are shown."""


def lifetime(document: JobDocument, now: int) -> dict[str, Any]:
    """The states of a job along its life, and how long it was in each.

    Returns:
        ``bar``: stretches in order, each with its ``state``, where it begins (``start``) and how
        wide it is, of 1000; ``totals``: seconds by state (None: unknown); ``start`` and
        ``end`` (µs); ``lasts``: whether it has not ended. Empty: nothing is known.
    """
    found = life(document, now)
    if not found:
        return {}
    start, end = found[0].start, max(one.end or one.start for one in found)
    scale = 1000 / max(end - start, 1)
    bar = [
        {
            "state": one.state,
            "start": (one.start - start) * scale,
            "width": ((one.end or end) - one.start) * scale,
        }
        for one in found
    ]
    states = dict.fromkeys(one.state for one in found)
    totals = {state: total(one for one in found if one.state is state) for state in states}
    lasts = spans(document)[-1].end is None
    return {"bar": bar, "totals": totals, "start": start, "end": end, "lasts": lasts}


def events(document: JobDocument) -> dict[str, Any]:
    """What happened, in words: of a long timeline the first and the last entries.

    Returns:
        ``rows`` of time (µs; None: unknown), seconds since the submission, state, source and
        words; ``cut``: before which row entries are left out, and ``left_out``, how many.
    """
    known = [event for event in document.timeline if event.code != EventCode.AD]
    left_out = max(len(known) - _FIRST_EVENTS - _LAST_EVENTS, 0)
    shown = [*known[:_FIRST_EVENTS], *known[-_LAST_EVENTS:]] if left_out else known
    start = submitted(document) or 0
    rows = [
        {
            "time": None if one.undated else one.time,
            "after": None if one.undated or one.time < start else (one.time - start) / 1e6,
            "state": one.state,
            "source": re.split("[:#]", one.source)[0].rpartition("/")[2],
            "words": event_words(one),
        }
        for one in shown
    ]
    return {"rows": rows, "cut": _FIRST_EVENTS, "left_out": left_out + document.dropped}


def predicted(document: JobDocument) -> list[dict[str, Any]]:
    """The answers that were kept, the newest first: time, question, model and what it said."""
    return [
        {
            "time": one.time,
            "question": one.question,
            "model": one.model,
            "said": next(
                (one.answer[key] for key in ("answer", "verdict", "kind") if one.answer.get(key)),
                None,
            ),
            "probability": one.answer.get("probability"),
        }
        for one in reversed(document.predictions)
    ]


def marked_lines(
    text: str, findings: Sequence[Mapping[str, Any]]
) -> list[tuple[int, str, list[Mapping[str, Any]]]]:
    """The lines of a script with their numbers and what `check` finds in each.

    Findings of no line are at line 0, in front of the text.
    """
    lines = text.expandtabs(4).split("\n")[:_LINES]
    by_line: dict[int, list[Mapping[str, Any]]] = {}
    for one in findings:
        line = one.get("line") or 0
        by_line.setdefault(line if line <= len(lines) else 0, []).append(one)
    rows = [(number, line, by_line.get(number, [])) for number, line in enumerate(lines, 1)]
    return [(0, "", by_line[0]), *rows] if 0 in by_line else rows
