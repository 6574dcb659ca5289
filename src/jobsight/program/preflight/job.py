"""A script that is checked, with all that rules ask of it: computed once, when first asked."""

from __future__ import annotations

import math
import os
import re
import subprocess
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product

from jobsight.commands import bounded_child
from jobsight.program.languages import language_of, shebang, syntax_tree
from jobsight.program.machine import Machine
from jobsight.program.python import PythonText
from jobsight.program.shell.model import Command, Environment, Program, Source, Word
from jobsight.program.shell.programs import COMPILERS, compiled_runs
from jobsight.program.shell.walk import Walk, walk_script
from jobsight.program.site import Site
from jobsight.program.submission.job import Place, Submission
from jobsight.program.submission.sbatch import read_sbatch
from jobsight.program.tree import LANGUAGES, Endless
from jobsight.program.tree.expressions import evaluated
from jobsight.program.tree.reader import endless_in

__all__ = ["BASH_SECONDS", "OTHER_SHELLS", "Job", "bash_error"]

BASH_SECONDS = 5
OTHER_SHELLS = frozenset({"csh", "zsh"})
"""Languages of shells whose scripts are not walked: what they start is not known."""
_HERE = re.compile(r"<<-?[ \t]*([\"']?)(\w+)\1")
_MODULES_IN = re.compile(
    r"(?:\bPYTHONPATH=[\"']?(?:\$\{?(?:PWD|SLURM_SUBMIT_DIR)\}?/)?|\bsys\.path\.\w+\([^\n\"']*[\"'])([\w./-]+)"
)
"""Folders that a script or a program puts on the path of Python's modules."""
_LEAVES = re.compile(
    r"(?m)^(?:exit(?:[ \t]+[\w$?]+)?[ \t]*(?:#.*)?|exec[ \t]+[\w./$\"][^<>&|;\n]*)$"
)
_MOST_LEAVES = 3
_MOST_PYTHONS = 64
_LONGEST_NUMBER = 200
"""Characters of the arithmetic that a number is computed from."""


def bash_error(text: str, machine: Machine, *, dash: bool = False) -> tuple[int, str] | None:
    """Line and words of bash's own first complaint about a script that it reads and does not run.

    ``bash -n`` reads from a pipe, with an empty environment, so that no start-up file is run.
    """
    bash = machine.command("bash") or "/bin/bash"
    wider = ["-O", "extglob"] if re.search(r"^[ \t]*shopt -s\b.*\bextglob", text, re.M) else []
    try:
        ended = subprocess.run(  # noqa: S603  # -n: commands are read and not run
            ["/bin/sh", "-n"] if dash else [bash, "--norc", "--noprofile", *wider, "-n"],
            input=text.encode("utf-8", "replace"),
            capture_output=True,
            timeout=BASH_SECONDS,
            env={"LC_ALL": "C"},
            check=False,
            preexec_fn=bounded_child(),  # it takes no lock
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    for line in ended.stderr[:4000].decode("utf-8", "replace").splitlines():
        found = re.match(r"\S*(?:bash|sh): (?:line )?(?:(\d+): )?(.*)", line)
        refused = ended.returncode and "warning:" not in line
        if found and (refused or "here-document" in line):
            return int(found[1] or 1), found[2]
    return None


@dataclass
class Job:
    """A batch script, or any script, that is checked.

    Attributes:
        source: its text.
        data: its bytes.
        path: absolute.
        folder: in which it will start.
        machine: this one.
        site: what is known of the cluster; None: nothing.
        options: of sbatch, from the call.
        batch: it is run by a scheduler even if it has no directive.
    """

    source: Source
    data: bytes
    path: str
    folder: str
    machine: Machine
    site: Site | None = None
    options: tuple[str, ...] = ()
    executable: bool = False
    """It is the executable of a submit file."""
    cpus: int | None = None
    """CPUs that a submit file asks for."""
    memory: int | None = None
    """MiB that it asks for."""
    arguments: tuple[Word, ...] | None = None
    """What it is given; None: unknown."""
    blind: bool = False
    """What is in its folder is not known."""
    variables: frozenset[str] | None = frozenset()
    """Variables that a submit file sets; None: also those of the caller."""

    @cached_property
    def text(self) -> str:
        """The text with line ends as bash wants them, without a byte order mark."""
        return self.source.text.replace("\r\n", "\n").removeprefix("\ufeff")

    @cached_property
    def language(self) -> str | None:
        """Its language."""
        return language_of(self.path, self.text)

    @cached_property
    def is_slurm(self) -> bool:
        """Whether it is written for sbatch, and not to write such scripts."""
        lines = enumerate(self.text.split("\n"), 1)
        found = (n for n, line in lines if re.match(r"(?i)#\s?SBATCH\b", line))
        return bool(self.options) or any(one not in self.here_lines for one in found)

    @cached_property
    def submission(self) -> Submission:
        """What it asks of Slurm."""
        return read_sbatch(self.text, self.options, self.machine.environment)

    def whole(self, text: str) -> int | None:
        """The number that a word becomes: arithmetic of constants and of variables of Slurm.

        Others are known where the script sets them once.
        """
        for _ in range(4):
            if len(text) > _LONGEST_NUMBER:
                return None
            text = re.sub(r"\b(?:expr|echo|bc)\b|[\"'\\|]", " ", text.replace("$(", "("))
            text = re.sub(r"\$?\{?\b([A-Za-z_]\w*)\b\}?", lambda m: self._set_once(m[1]), text)
        value = None if "%" in text else evaluated(text, {})
        return int(value) if value is not None and abs(value) < 1e9 else None

    def _set_once(self, name: str) -> str:
        """What a variable is set to, as written; its name where that is not known."""
        request, given = self.submission.request, self.submission.settings
        nodes = given["nodes"].value.isdecimal() if "nodes" in given else request.tasks == 1
        tasks = {"ntasks", "ntasks-per-node"} & given.keys()
        known = {
            **dict.fromkeys(("SLURM_NNODES", "SLURM_JOB_NUM_NODES"), nodes and request.nodes),
            **dict.fromkeys(("SLURM_NTASKS", "SLURM_NPROCS"), tasks and request.tasks),
            "SLURM_CPUS_PER_TASK": "cpus-per-task" in given and request.cpus_per_task,
            "SLURM_NTASKS_PER_NODE": self.submission.value("ntasks-per-node"),
        }
        if name in known:
            return str(known[name] or name)
        sets = re.findall(rf"(?m)\b{name}\+?=(.*?)(?:\s#.*|;.*)?$", self.text)
        loops = rf"\b(?:for|read|local)\b.{{0,80}}\b{name}\b"
        others = rf"{loops}|\(\(\s*{name}\s*(?:[-+*/]?=(?!=)|\+\+|--)"
        known_once = len(sets) == 1 and len(sets[0]) <= _LONGEST_NUMBER
        known_once = known_once and not re.search(others, self.text)
        return f"({sets[0]})" if known_once else name

    @cached_property
    def broken(self) -> tuple[int, str] | None:
        """The first syntax error of a shell script."""
        if self.language != "bash":
            return None
        error = bash_error(self.text, self.machine, dash=self.is_dash)
        return None if error and error[0] > self._left else error

    @cached_property
    def _left(self) -> float:
        """The line of a plain ``exit`` or ``exec`` behind which the shell reads no more."""
        leaves = _LEAVES.finditer(self.text) if self.language == "bash" else ()
        for found in islice(leaves, _MOST_LEAVES):
            if not self.text[found.end() :].strip():
                break
            before = self.text[: found.end()] + "\n"
            if bash_error(before, self.machine, dash=self.is_dash) is None:
                return before.count("\n")
        return math.inf

    @cached_property
    def is_dash(self) -> bool:
        """Whether ``#!/bin/sh`` is run by dash here, which lacks what bash adds."""
        words = shebang(self.text) or []
        sh = bool(words) and words[0] in ("/bin/sh", "/usr/bin/sh")
        return sh and self.machine.sh_is_dash

    @cached_property
    def walk(self) -> Walk:
        """What it does; of a script in another language, one program."""
        source = Source(self.source.file, self.text, folder=self.source.folder)
        if self.language == "bash":
            return walk_script(source, self.machine, self.folder, self.path, self.arguments or ())
        walk = Walk(self.machine)
        if self.language is not None:
            command = self._as_command(source)
            walk.commands.append(command)
            given = Program(source, self.language, command, self.arguments or (), self.path)
            walk.programs.append(given)
        return walk

    def _as_command(self, source: Source) -> Command:
        words = shebang(self.text) or [self.language or ""]
        name = words[1] if words[0].endswith("/env") and len(words) > 1 else words[0]
        word = Word(name, name, Place(1))
        return Command(source, (word,), (), Place(1), Environment(self.machine.path), self.folder)

    @cached_property
    def program_of(self) -> dict[int, Program]:
        """The program that each command runs, by the command's `id`."""
        return {id(one.command): one for one in self.walk.programs}

    @cached_property
    def compiled(self) -> dict[int, list[Program]]:
        """What it compiles, by the `id` of each command that starts it."""
        return compiled_runs(self.walk.commands, self.walk.programs)

    def started_by(self, command: Command) -> list[tuple[Program, Source]]:
        """The programs whose texts are here that a command starts: its own, or compiled before."""
        own = [self.program_of.get(id(command)), *self.compiled.get(id(command), ())]
        if COMPILERS.fullmatch(command.bare):
            own = []
        return [(one, one.source) for one in own if one is not None and one.source is not None]

    @cached_property
    def program_texts(self) -> str:
        """The texts of all programs that it runs, one after another."""
        return "\n".join(source.text for _, source in self.sources)

    @cached_property
    def endless(self) -> tuple[Endless, ...]:
        """Where it does not end by itself; of a broken script, what is before the error."""
        if self.language not in LANGUAGES:
            return ()
        source = Source(self.source.file, self.text, folder=self.source.folder)
        known = self.walk.sources[:1] if self.language == "bash" else []
        source = known[0] if known else source
        found = endless_in(source, self.language, self.walk, self.folder, self.path)
        last, file = self.broken[0] if self.broken else math.inf, self.source.file
        return tuple(one for one in found if one.file != file or one.line < last)

    @cached_property
    def here_lines(self) -> frozenset[int]:
        """Lines of a shell script that are in here-documents or go on a text in quotes."""
        found: set[int] = set()
        if self.language in OTHER_SHELLS:
            end: str | None = None
            for number, line in enumerate(self.text.split("\n"), 1):
                if end is not None:
                    found.add(number)
                    end = None if line.strip() == end else end
                elif mark := _HERE.search(line):
                    end = mark[2]
        waiting = [syntax_tree("bash", self.text.encode())] if self.language == "bash" else []
        while waiting:
            node = waiting.pop()
            first, last = node.start_point.row + 1, node.end_point.row + 1
            if node.type == "heredoc_body":
                found.update(range(first, last + 1))
            elif node.type in ("string", "raw_string"):
                found.update(range(first + 1, last + 1))
            elif first != last:
                waiting += node.children
        return frozenset(found)

    @cached_property
    def code(self) -> list[tuple[int, str]]:
        """Its lines with their numbers, without comments and without `here_lines`."""
        return [
            (number, line) for number, line in enumerate(self.text.split("\n"), 1)
            if number not in self.here_lines and not line.lstrip().startswith("#")
            and number <= self._left
        ]  # fmt: skip

    @cached_property
    def sources(self) -> list[tuple[Program, Source]]:
        """The programs that it runs whose texts are here, with these."""
        return [(one, one.source) for one in self.walk.programs if one.source is not None]

    @cached_property
    def commands(self) -> list[Command]:
        """Commands up to a syntax error: what follows it is read wrongly."""
        if self.broken is None:
            return self.walk.commands
        line = self.broken[0]
        return [one for one in self.walk.commands
                if one.source.file != self.source.file or one.place.line < line]  # fmt: skip

    @cached_property
    def pythons(self) -> list[tuple[Program, PythonText]]:
        """Python programs that it runs and whose text is here, with modules next to them, once."""
        found: dict[tuple[str, int], tuple[Program, PythonText]] = {}
        waiting = [one for one in self.sources if one[0].language == "python"]
        while waiting and len(found) < _MOST_PYTHONS:
            one, own = waiting.pop(0)
            key = (own.file, own.first)
            if key in found:
                continue
            path = one.path if one.path and one.path.startswith("/") else None
            text = PythonText(own.text, path)
            found[key] = (one, text)
            for name in (*(name.full for name in text.imports), *text.siblings):
                path, source = self.local_module(name, one)
                if source is not None:
                    module = replace(one, source=source, path=path, imported=True)
                    waiting.append((module, source))
        return list(found.values())

    def local_module(self, name: str, program: Program) -> tuple[str, Source | None]:
        """The path and the text of a module next to a program, or written by the script."""
        here = program.command.folder or self.folder
        own = os.path.dirname(program.path or "") or here  # noqa: PTH120
        named = _MODULES_IN.findall(f"{self.text}\n{program.source.text if program.source else ''}")
        folders = [own, *(f"{one}/{front}" for front in named for one in (here, own))]
        for folder, ending in product(folders, (".py", "/__init__.py")):
            path = os.path.normpath(f"{folder}/{name.replace('.', '/')}{ending}")
            if path in self.walk.made:
                return path, self.walk.made[path]
            if (text := self.machine.text(path)) is not None:
                shown = os.path.relpath(self.machine.real(path))
                return path, Source(shown, text, folder=os.path.dirname(path))  # noqa: PTH120
        return "", None
