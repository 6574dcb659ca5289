"""Slurm job ids as its tools print and take them.

``123`` a job, ``123_4`` a task of an array, ``123_[0-15%4]`` its pending tasks, ``123+1`` a
component of a heterogeneous job, each with a step behind a dot (``.batch``, ``.extern``,
``.interactive``, ``.0``, ``.0+1``); since 26.05 also a SLUID, ``s`` and 13 characters.
Format: squeue(1), sacct(1), job_array.html, heterogeneous_jobs.html.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["SlurmId", "Tasks", "expand", "pack", "parse_id", "parse_tasks", "unpack"]

_LARGEST = 2**32
_FORM = re.compile(
    r"(?:(?P<sluid>s[0-9A-Za-z]{13})|(?P<job>\d{1,10})"
    r"(?:_(?:(?P<task>\d{1,10})|\[(?P<tasks>[^\[\]]*)\])|\+(?P<component>\d{1,6}))?)"
    r"(?:\.(?P<step>\d{1,10}(?:\+\d{1,6})?|[a-z][a-z_]{0,31}))?",
    re.ASCII,
)
_RANGE = re.compile(r"(\d{1,10})(?:-(\d{1,10})(?::(\d{1,10}))?)?", re.ASCII)
_BITS = re.compile(r"0x([0-9A-Fa-f]{1,1048576})", re.ASCII)


@dataclass(frozen=True)
class Tasks:
    """The tasks of an array that one line is for."""

    ranges: tuple[range, ...]
    cut: bool = False
    """The tool cut the list short (``...``): there are more."""

    def __iter__(self) -> Iterator[int]:
        return itertools.chain.from_iterable(self.ranges)

    def count(self) -> int:
        """How many tasks are listed."""
        return sum(map(len, self.ranges))


class SlurmId(NamedTuple):
    """A job, a task, several tasks or a component, and perhaps one of its steps."""

    job: int | None
    task: int | None = None
    tasks: Tasks | None = None
    component: int | None = None
    step: str | None = None
    sluid: str | None = None

    @property
    def base(self) -> str:
        """The id of what was submitted: the job, the whole array, the whole heterogeneous job."""
        return self.sluid or str(self.job)

    @property
    def name(self) -> str:
        """The id without its step, as users see it; of several tasks, the array's."""
        if self.task is not None:
            return f"{self.base}_{self.task}"
        return f"{self.base}+{self.component}" if self.component is not None else self.base


def parse_id(text: str) -> SlurmId:
    """Read an id in any of the forms above.

    Raises:
        ValueError: the text is none of them.
    """
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text[:40]!r} is not a Slurm job id such as 123, 123_4 or 123+1")
    numbers = {name: int(found[name]) for name in ("job", "task", "component") if found[name]}
    if any(number >= _LARGEST for number in numbers.values()) or numbers.get("job") == 0:
        raise ValueError(f"{text[:40]!r} is not a Slurm job id: out of range")
    tasks = None if found["tasks"] is None else parse_tasks(found["tasks"])
    return SlurmId(
        job=numbers.get("job"),
        task=numbers.get("task"),
        tasks=tasks,
        component=numbers.get("component"),
        step=found["step"],
        sluid=found["sluid"],
    )


def parse_tasks(text: str) -> Tasks:
    """Read ``1,3,5-9:2%4``, a list cut short (``1,3,...``), or bits (``0x1E``).

    Raises:
        ValueError: the text is not such a list.
    """
    body = re.sub(r"%\d{1,10}$", "", text, flags=re.ASCII)  # how many may run at once
    if bits := _BITS.fullmatch(body):
        number = int(bits[1], 16)
        ones = (place for place in range(number.bit_length()) if number >> place & 1)
        return Tasks(tuple(_ranges(ones)))
    parts = body.split(",")
    cut = parts[-1].endswith("...")
    if cut:
        parts = parts[:-1]
    return Tasks(tuple(_range(part) for part in parts), cut)


def _range(text: str) -> range:
    found = _RANGE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text[:40]!r} is not a range of array tasks")
    first, last, step = int(found[1]), int(found[2] or found[1]), int(found[3] or 1)
    if last < first or step == 0 or last >= _LARGEST:
        raise ValueError(f"{text[:40]!r} is not a range of array tasks")
    return range(first, last + 1, step)


def expand(job: SlurmId, most: int) -> tuple[list[SlurmId], int]:
    """One id a task, at most so many of them, and how many were left out.

    The id of one job gives itself.
    """
    if job.tasks is None:
        return [job], 0
    chosen = [
        job._replace(task=task, tasks=None) for task in itertools.islice(iter(job.tasks), most)
    ]
    return chosen, job.tasks.count() - len(chosen)


def pack(numbers: Iterable[int]) -> str:
    """Distinct numbers as sorted ranges, ``1-5,7``: small where they are dense."""
    spans = _ranges(sorted(set(numbers)))
    return ",".join(
        str(span.start) if len(span) == 1 else f"{span.start}-{span.stop - 1}" for span in spans
    )


def unpack(text: str, most: int) -> list[int]:
    """The numbers that `pack` wrote, at most so many (the last ones).

    Raises:
        ValueError: the text was not written by `pack`.
    """
    if not text:
        return []
    chosen: list[int] = []
    for span in reversed([_range(part) for part in text.split(",")]):
        chosen.extend(itertools.islice(reversed(span), most - len(chosen)))
    return sorted(chosen)


def _ranges(numbers: Iterable[int]) -> Iterator[range]:
    """Runs of consecutive numbers; `numbers` ascend."""
    run = range(0)
    for number in numbers:
        if run and number != run.stop:
            yield run
            run = range(0)
        run = range(run.start if run else number, number + 1)
    if run:
        yield run
