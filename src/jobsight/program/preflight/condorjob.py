"""A submit file that is checked, and the jobs that it makes."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from jobsight.program.machine import Elsewhere, Machine, Sandbox
from jobsight.program.preflight.job import Job
from jobsight.program.shell.model import Source, Word
from jobsight.program.shell.programs import interpreter_of
from jobsight.program.site import Site
from jobsight.program.submission.condor import expanded, fields_of, read_condor, split_arguments
from jobsight.program.submission.job import Queue, Setting, Submission

__all__ = ["ALWAYS", "CondorJob", "Instance", "all_settings", "megabytes"]

ALWAYS = "executable = /bin/echo\n"
"""How examples begin."""

_MOST_INSTANCES = 200
_MOST_NUMBERED = 64
_PROCESS = re.compile(r"\$\((?:Process|ProcId|Step)\)", re.I)
_SANDBOX = "/condor-sandbox"


def megabytes(text: str, unit: str) -> float | None:
    """An amount such as ``4 GB``; `unit`: of a bare number; None: it cannot be read."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGTP]?)i?B?", text.strip(), re.I)
    if found is None:
        return None
    power = {"k": -1, "m": 0, "g": 1, "t": 2, "p": 3}[found[2].lower() or unit]
    return float(found[1]) * 1024.0**power


@dataclass(frozen=True)
class Instance:
    """One job, or all those that differ in their number alone.

    Attributes:
        queue: of its statement.
        own: its variables.
    """

    queue: Queue
    own: dict[str, str]

    def value(self, *names: str) -> str | None:
        """The value of the first of these commands that is given, macros filled in."""
        for name in names:
            if name in self.queue.commands:
                return expanded(self.queue.commands[name].value, self.queue.commands, self.own)
        return None

    def known(self, *names: str) -> str | None:
        """As `value`, without quotes around it; None also where it depends on what is not known."""
        found = self.value(*names)
        return None if found is None or "$" in found else found.strip().strip('"')

    def setting(self, *names: str) -> Setting:
        """The first of these commands that is given; the queue statement if none is."""
        found = next((self.queue.commands[n] for n in names if n in self.queue.commands), None)
        return found or Setting("queue", "", self.queue.place)

    def yes(self, name: str) -> bool | None:
        """Whether a command is true; None: it is not given, or neither true nor false."""
        words = {"true": True, "yes": True, "false": False, "no": False}
        return words.get((self.known(name) or "").lower())

    @property
    def transfer(self) -> str:
        """Whether files are transferred: YES, NO, IF_NEEDED, another word, or empty: not given."""
        given = (self.known("should_transfer_files") or "").upper()
        return {"TRUE": "YES", "FALSE": "NO"}.get(given, given)


@dataclass
class CondorJob:
    """A submit file.

    Attributes:
        text: its.
        path: absolute.
        folder: where it is submitted.
        machine: this one.
        site: what is known of the pool.
        own: variables that a DAG gives; their values are not known where they are "".
    """

    text: str
    path: str
    folder: str
    machine: Machine
    site: Site | None = None
    in_dag: bool = False
    fed: frozenset[str] | bool = False
    """Whether what runs before it in its DAG may make its inputs, or all that this makes."""
    forgiven: bool = False
    """A script of its DAG decides whether it succeeded."""

    @cached_property
    def submission(self) -> Submission:
        """What it asks for."""
        return read_condor(
            self.text, lambda name: self.machine.text(self.place_of(name, self.folder))
        )

    @cached_property
    def instances(self) -> list[Instance]:
        """Its jobs: one for each item, or for each of a few numbers that names depend on."""
        found: list[Instance] = []
        for queue in self.submission.queues:
            if queue.items is None:
                files = [] if self.fed else self.matched(queue) or []
                item = queue.names[0] if queue.names else "Item"
                found += [Instance(queue, {item: one}) for one in files[:_MOST_INSTANCES]]
                found += [] if files else _numbered(queue)
                continue
            for _, line in queue.items[:_MOST_INSTANCES]:
                fields = fields_of(line, len(queue.names))
                found.append(Instance(queue, dict(zip(queue.names, fields, strict=False))))
        if not found and self.in_dag:
            place = min((one.place for one in self.submission.settings.values()), default=None)
            if place is not None:
                found.append(Instance(Queue(1, (), place, self.submission.settings), {}))
        return found[:_MOST_INSTANCES]

    def matched(self, queue: Queue) -> list[str] | None:
        """The files of ``queue … matching`` that are here now; None: they are not known."""
        pattern = re.sub(r"^(?:files|dirs|any)\s+", "", queue.file or "", flags=re.I).strip("() ")
        plain = re.fullmatch(r"(?!/)(?!.*\*\*)[^$,\s]*[*?][^$,\s]*", pattern)
        known = queue.items is None and not isinstance(self.machine, Elsewhere)
        if not (plain and known and len(queue.names) < 2):
            return None
        folder = Path(self.folder)
        return [str(one.relative_to(folder)) for one in sorted(folder.glob(pattern))]

    def place_of(self, name: str, folder: str) -> str:
        """The absolute path of a file that is named."""
        path = os.path.normpath(os.path.join(folder, name))  # noqa: PTH118
        return self.machine.resolve(path)

    def listed_in(self, queue: Queue) -> Source | None:
        """The file that the list of a queue statement is in; None: it is in this one."""
        if queue.file is None:
            return None
        path = self.place_of(queue.file, self.folder)
        return Source(os.path.relpath(self.machine.real(path)), self.machine.text(path) or "")

    def start(self, one: Instance) -> str | None:
        """The folder that input and output of a job are relative to; None: unknown."""
        chosen = one.value("initialdir", "initial_dir", "remote_initialdir")
        if chosen is None:
            return self.folder
        return None if "$" in chosen else self.place_of(chosen.strip('"'), self.folder)

    def script(self, one: Instance) -> Job | None:
        """The executable as a script, in the folder where it will start; None: it is not here.

        An interpreter of the machine with its arguments is a script, too, whose file has no name.
        """
        name = one.known("executable")
        path = self.place_of(name, self.folder) if name else ""
        text = self.machine.text(path) if path else None
        near = path.startswith((f"{self.folder}/", os.path.dirname(self.path)))  # noqa: PTH120
        start, own = self.start(one), os.path.dirname(path)  # noqa: PTH120
        source = Source(os.path.relpath(path), text or "", folder=own) if near else None
        if PurePosixPath(path).parent.name == "bin" and interpreter_of(path) and text is None:
            text = _call(path, one.value("arguments") or "")
            source = Source("", text or "", folder=start or "/")
        if text is None or source is None:
            return None
        script = Job(source, text.encode(), path, start or "/", self.machine, executable=True)
        script.blind = start is None
        script.variables = _environment(one)
        cpus = one.known("request_cpus") or "1"
        script.cpus = int(cpus) if cpus.isdecimal() else None
        memory = megabytes(one.known("request_memory") or "", "m")
        script.memory = int(memory) if memory else None
        given = one.value("arguments") or ""
        if "$" not in given and one.queue.commands:
            at = one.setting("arguments").place
            words = split_arguments(given)[0]
            script.arguments = tuple(Word(one, one, at, quoted=True) for one in words)
        if self.transfers(one):
            listed = self.inputs(one)
            found = list(self.found(one))
            files = {os.path.basename(path): path}  # noqa: PTH119
            kept = one.yes("preserve_relative_paths")
            for name, place in found:
                if kept and "/" in name and not name.startswith(("/", "..")):
                    top = name.removeprefix("./").partition("/")[0]
                    files[top] = self.place_of(top, start or "/")
                    continue
                whole = name.endswith("/") and self.machine.is_folder(place)
                inner = os.listdir(place) if whole else []  # noqa: PTH208
                files |= {own: f"{place}/{own}" for own in inner}
                files |= {} if inner else {os.path.basename(name.rstrip("/")): place}  # noqa: PTH119
            script.folder, script.machine = _SANDBOX, Sandbox(_SANDBOX, files)
            plain = all(self.machine.exists(place) and not self.machine.is_folder(place)
                        for _, place in found)  # fmt: skip
            made = self.fed is not False and not plain
            script.blind = listed is None or len(found) < len(listed) or made
        return script

    def contained(self, one: Instance) -> bool:
        """Whether it runs in a container, whose programs and packages are not known."""
        images = {"docker_image", "container_image"} & one.queue.commands.keys()
        return bool(images) or (one.known("universe") or "").lower() in ("docker", "container")

    def transfers(self, one: Instance) -> bool:
        """Whether the job surely runs in a folder of its own, with what is transferred."""
        chosen = one.transfer
        universe = (one.known("universe") or "vanilla").lower()
        if universe in ("local", "scheduler", "grid", "parallel") or chosen == "NO":
            return False
        return chosen == "YES" or "transfer_input_files" in one.queue.commands or universe in (
            "docker", "container")  # fmt: skip

    def inputs(self, one: Instance) -> list[str] | None:
        """What is transferred, as named; None: some of it is not known."""
        listed = one.value("transfer_input_files")
        if listed is None:
            return []
        if "$" in listed:
            return None
        names = listed.strip().strip('"').split(",")
        return [one.strip().strip('"') for one in names if one.strip()]

    def found(self, one: Instance) -> Iterator[tuple[str, str]]:
        """Inputs that are files here, with their absolute paths; addresses are left out."""
        folder = self.start(one)
        for name in self.inputs(one) or []:
            if "://" not in name and folder is not None and not any(c in name for c in "*?["):
                yield name, self.place_of(name, folder)

    def columns(self) -> dict[str, object]:
        """What its first job asks for, in columns of the job table."""
        if not self.instances:
            return {"name": None}
        one = self.instances[0]
        executable = one.known("executable")
        memory = megabytes(one.known("request_memory") or "", "m")
        return {
            "name": one.known("batch_name"),
            "command": executable and self.place_of(executable, self.folder),
            "work_dir": self.start(one),
            "request_memory_mb": memory and int(memory),
        }


def _call(program: str, arguments: str) -> str | None:
    """A script that does what an executable of the machine does with its arguments."""
    words = split_arguments(arguments)[0]
    known = words and "$" not in arguments
    return f"#!/bin/sh\n{shlex.join([program, *words])}\n" if known else None


def _environment(one: Instance) -> frozenset[str] | None:
    """The names of the variables that a job is given; None: also those of the caller."""
    text = one.value("environment", "env") or ""
    words = split_arguments(text)[0] if text.startswith('"') else text.split(";")
    copied = (one.known("getenv") or "false").lower() != "false"
    return None if copied else frozenset(word.partition("=")[0].strip() for word in words)


def _numbered(queue: Queue) -> Iterator[Instance]:
    count = queue.count or 1
    named = any(_PROCESS.search(one.value) for one in queue.commands.values())
    if queue.file is not None or not named or not 1 < count <= _MOST_NUMBERED:
        yield Instance(queue, {})
        return
    for number in map(str, range(count)):
        yield Instance(queue, {"Process": number, "ProcId": number, "Step": number})


def all_settings(job: CondorJob) -> dict[str, Setting]:
    """The commands of all queue statements, and those behind the last."""
    found: dict[str, Setting] = {}
    for queue in job.submission.queues:
        found |= queue.commands
    return {**found, **job.submission.settings}
