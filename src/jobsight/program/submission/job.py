"""One structure for what is submitted to either scheduler, each part with its place in the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

__all__ = ["Place", "Problem", "Queue", "Request", "Setting", "Submission"]

Origin = Literal["script", "environment", "command line"]


class Place(NamedTuple):
    """Where something is in a file; both count from 1, columns in bytes."""

    line: int
    column: int = 1


class Setting(NamedTuple):
    """An option of sbatch or a command of a submit file, as it is in force."""

    name: str
    value: str
    place: Place
    origin: Origin = "script"


class Problem(NamedTuple):
    """What a parser could not take; rules make findings of it.

    Attributes:
        place: where it is.
        kind: by which the rules select.
        message: what happens.
        fix: what to write instead.
    """

    place: Place
    kind: str
    message: str
    fix: str | None = None


@dataclass(frozen=True)
class Request:
    """What a job asks for; None: nothing is asked, or it cannot be known.

    Attributes:
        nodes: the least number.
        most_nodes: the largest number; None: as many as the tasks may take.
        tasks: of all nodes.
        node_tasks: of the node that has most, at least.
        cpus_per_task: 1 where it is not given.
        gpus: of all nodes.
        memory_mb: of all nodes, MB of 2^20 bytes.
        node_memory_mb: of one node, at most; 0 means all that it has.
        needed_memory_mb: of one node, at least, likewise.
        time_s: −1 is unlimited.
        array: numbers of tasks, None: not an array.
    """

    nodes: int = 1
    most_nodes: int | None = 1
    tasks: int = 1
    node_tasks: int = 1
    cpus_per_task: int = 1
    gpus: int | None = None
    memory_mb: int | None = None
    node_memory_mb: int | None = None
    needed_memory_mb: int | None = None
    time_s: int | None = None
    array: int | None = None

    @property
    def cpus(self) -> int:
        """CPUs of all tasks."""
        return self.tasks * self.cpus_per_task


@dataclass(frozen=True)
class Queue:
    """One ``queue`` statement.

    Attributes:
        count: of jobs for each item; None: unknown.
        names: variables that it sets.
        place: of the statement.
        commands: the submit commands in force there.
        items: lines of its list with their places, in `file` where there is one; None: there is
            no list, or it is not here.
        file: that the list is in.
    """

    count: int | None
    names: tuple[str, ...]
    place: Place
    commands: Mapping[str, Setting]
    items: tuple[tuple[Place, str], ...] | None = None
    file: str | None = None

    @property
    def jobs(self) -> int | None:
        """How many jobs are queued; None: unknown."""
        if self.count is None or (self.file is not None and self.items is None):
            return None
        return self.count * (1 if self.items is None else len(self.items))


@dataclass(frozen=True)
class Submission:
    """What is submitted.

    Attributes:
        scheduler: whose format it has.
        settings: those in force, by name.
        request: numbers made of them.
        problems: what could not be taken.
        queues: of a submit file.
        components: of a heterogeneous job; `settings` are those of the first.
    """

    scheduler: Literal["slurm", "htcondor"]
    settings: Mapping[str, Setting] = field(default_factory=dict)
    request: Request = Request()
    problems: tuple[Problem, ...] = ()
    queues: tuple[Queue, ...] = ()
    components: int = 1

    def first(self, *names: str) -> Setting | None:
        """The first of these settings that is given."""
        return next((self.settings[name] for name in names if name in self.settings), None)

    def value(self, *names: str) -> str | None:
        """The value of the first of these settings that is given."""
        found = self.first(*names)
        return None if found is None else found.value
