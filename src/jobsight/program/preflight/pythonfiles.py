"""JS107, JS109: modules and files that Python programs need."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Container, Iterator
from pathlib import PurePosixPath

from jobsight.program.known import KNOWN
from jobsight.program.languages import shebang
from jobsight.program.machine import Python, Sandbox
from jobsight.program.preflight.arguments import given_words, parsed
from jobsight.program.preflight.files import Trace, absent, near, path_of, siblings, trace_of
from jobsight.program.preflight.findings import Hit, Severity, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.packages import built_for, requirement_of
from jobsight.program.python import PythonText
from jobsight.program.pythonpaths import RUNS, path_in
from jobsight.program.shell.model import Command, Program
from jobsight.text import closest, one_slip, wordset

__all__ = ["not_executable"]

_KNOWN_PACKAGES = wordset(KNOWN["pythonfiles"]["known_packages"])


_INSTALLS = re.compile(
    r"\bpip[\d.]* install\b|conda|mamba|\bsetup\.py +(?:install|develop)|\beasy_install\b"
    r"|\b(?:uv|poetry|pixi|pdm|hatch|pipenv) +(?:pip|sync|run|add|install)\b"
)
"""What adds modules to an environment, or makes one."""


@rule("JS107 Python lacks a module that is imported")
def _python_imports(job: Job) -> Iterator[Hit]:
    """Read from the folders of the interpreter that the script chooses."""
    yield from _not_on_path(job)
    shells = "\n".join([job.text, *(one.text for one in job.walk.sources[1:])])
    if "PYTHONPATH=" in shells:
        return
    installs = _INSTALLS.search(shells) is not None
    for program, text in job.pythons:
        name, found = _importable(program, text, job)
        built = built_for(program, job) if installs else None
        found = (built[1] if built else None) if installs else found
        names = frozenset(sys.stdlib_module_names) if found is None else found
        moved = "sys.path" in _OWN_FOLDER.sub("", text.text)
        for one in text.imports if program.source is not None else ():
            if one.name in names or text.renamed(one.name):
                continue
            if _local(one.full, program, job):
                if not moved and (inner := _lacks(one.full, program, job)) is not None:
                    message = f"{inner} has no module {one.full.rpartition('.')[2]}"
                    yield hit(one.node, message, source=program.source)
                continue
            meant = None if moved or program.command.contained else _meant(one.name, program, job)
            if found is None and meant is None:
                continue
            sure = program.command.environment.venv is not None or job.site is not None
            sure = sure or bool(built) or job.machine.has_scheduler
            sure = sure or one.name not in _KNOWN_PACKAGES
            near = meant or closest(one.name, names | _KNOWN_PACKAGES, 0.84)
            fix = f"import {near}?" if near else "an environment that has it"
            fix = f"add {requirement_of(one.name)} to {built[0]}" if built else fix
            severity: Severity | None = None if sure else "warning"
            message = f"{name} has no module {one.name}"
            yield hit(one.node, message, fix, severity=severity, source=program.source)


_UNPACKS = r"\b(?:tar|unzip|git|cp|mv|ln|rsync|curl|wget|xrdcp|stashcp|osdf|PYTHONPATH)\b"


def _meant(module: str, program: Program, job: Job) -> str | None:
    """The module next to a program that is meant: misspelt, or not transferred by HTCondor."""
    path = job.machine.real(program.path or "")
    own = os.path.dirname(path)  # noqa: PTH120
    if (
        not own
        or job.variables is None
        or "PYTHONPATH" in job.variables
        or module in _KNOWN_PACKAGES
    ):
        return None
    if isinstance(job.machine, Sandbox) and not re.search(_UNPACKS, job.text):
        here = (job.machine.exists(f"{own}/{module}{end}") for end in (".py", "/__init__.py"))
        return module if any(here) else None
    names = (one.removesuffix(".py") for one in siblings(path) if one.endswith(".py"))
    swapped = (one for one in names if one_slip(module, one) and len(one) > 4)
    return next((one for one in swapped if "_" in one or len(one) == len(module)), None)


def _not_on_path(job: Job) -> Iterator[Hit]:
    """Imports that the one folder of PYTHONPATH lacks, where those of the user are left out."""
    set_to = re.findall(r"\bPYTHONPATH=[\"']?([^\s\"':;]+)[\"']?\s", job.text)
    named = re.sub(r"^\$\{?(?:SLURM_SUBMIT_DIR|PWD)\}?/", "", set_to[0]) if set_to else ""
    folder = os.path.normpath(os.path.join(job.folder, named))  # noqa: PTH118
    own = named.endswith("site-packages") and job.machine.is_folder(folder)
    code = re.sub(r"(?m)(?:^|\s)#.*", "", job.text)
    if len(set_to) != 1 or not own or "PYTHONNOUSERSITE" not in code or "pip install" in code:
        return
    names = Python((3, 11), (job.machine.real(folder),)).names
    for program, text in job.pythons if names is not None else ():
        for one in text.imports:
            known = one.name in (names or ()) or text.renamed(one.name)
            if not known and not _local(one.full, program, job):
                message = f"{named} has no module {one.name}: the interpreter must have it"
                yield hit(one.node, message, severity="warning", source=program.source)


_OWN_FOLDER = re.compile(
    r"sys\.path\.(?:insert\(\s*0\s*,|append\()\s*(?:str\()?(?:os\.path\.dirname\((?:os\.path\.\w+\()?__file__"
    r"|Path\(__file__\)(?:\.resolve\(\))?\.parent(?!\.parent|\s*/))\)*\s*$", re.M
)  # fmt: skip
"""The folder of the program put on the path, where it is already."""


def _importable(program: Program, text: PythonText, job: Job) -> tuple[str, frozenset[str] | None]:
    """The interpreter, and what it can import; None: that is not known."""
    environment = program.command.environment
    words = shebang(program.source.text) or [] if program.source else []
    name = program.interpreter or next((w for w in words if "python" in w), "python3")
    venv = _venv_of(name, program.command, job)
    known = venv is not None or not (environment.opaque or environment.modules)
    known = known and job.variables is not None and "PYTHONPATH" not in job.variables
    path = environment.path  # with a folder that is not here, an interpreter may come from there
    added = {*(path or "?").split(":")} - {*job.machine.path.split(":")}
    known = known and (venv is not None or all(map(job.machine.is_folder, added)))
    if program.command.contained or not known or "sys.path" in _OWN_FOLDER.sub("", text.text):
        return name, None
    if environment.fresh:
        return name, frozenset(sys.stdlib_module_names) | {"pip", "setuptools"}
    called = PurePosixPath(name).name if venv else name
    chosen = job.machine.python(called, venv, environment.path)
    return name, chosen.names if chosen else None


def _venv_of(name: str, command: Command, job: Job) -> str | None:
    """The venv of an interpreter: activated, named by its path, or first on the PATH."""
    if "/" not in name and command.environment.venv:
        return command.environment.venv
    path = os.path.normpath(f"{command.folder}/{name}")
    first = (command.environment.path or "").partition(":")[0]
    venv = os.path.dirname(os.path.dirname(path) if "/" in name else first)  # noqa: PTH120
    return venv if venv and job.machine.exists(f"{venv}/pyvenv.cfg") else None


def _local(module: str, program: Program, job: Job) -> bool:
    """Whether it is a file next to the program, or one that the script writes."""
    folders = {job.folder, job.source.folder, program.command.folder or job.folder}
    if isinstance(job.machine, Sandbox):
        own = os.path.dirname(program.path or "")  # noqa: PTH120
        folders = {job.folder, own if own.startswith(job.folder) else job.folder}
    elif program.path and not program.path.startswith("\0"):
        folders.add(os.path.dirname(program.path))  # noqa: PTH120
    elif program.source is not None:
        folders.add(program.source.folder)
    top = module.partition(".")[0]
    written = any(path.endswith((f"/{top}.py", f"/{top}/__init__.py")) for path in job.walk.made)
    paths = (f"{one}/{top}{end}" for one in folders for end in (".py", "", ".so"))
    return written or any(map(job.machine.exists, paths))


def _lacks(module: str, program: Program, job: Job) -> str | None:
    """The package of one's own that lacks the module; None: it is there, or that is not known."""
    path = program.path or ""
    if "." not in module or path.startswith("\0"):
        return None
    own = os.path.dirname(path) or program.source.folder if program.source else job.folder  # noqa: PTH120
    inner = f"{own}/{module.replace('.', '/')}"
    parent = os.path.dirname(inner)  # noqa: PTH120
    if not job.machine.is_folder(parent) or any(one.startswith(parent) for one in job.walk.made):
        return None
    last = inner.rpartition("/")[2]
    there = any(one.partition(".")[0] == last for one in job.machine.listed(parent))
    return None if there else module.rpartition(".")[0]


@rule("JS109 A Python program opens a file that is not there")
def _python_files(job: Job) -> Iterator[Hit]:
    """Constant names that are opened for reading, or in folders that are missing for writing."""
    if job.blind:
        return
    texts = {id(p.source): t for p, t in job.pythons}
    for command, trace in trace_of(job):
        program = job.program_of.get(id(command))
        text = texts.get(id(program.source)) if program and program.source else None
        if text is None or program is None or command.folder is None or command.contained:
            continue
        if re.search(r"\bchdir\(", text.text):
            continue
        yield from _python_opens(program, text, command, trace, job)
        if not command.conditional:
            read = set(text.opened_arguments)
            for number, word in enumerate(program.arguments, 1):
                path = path_of(word, program.command.folder, job)
                if path is None or not absent(path, trace, job) or not re.search(r"\.\w+$", path):
                    continue
                names = {one.lower(): one for one in siblings(path)}
                same = names.get(os.path.basename(path).lower())  # noqa: PTH119
                if number in read or same is not None:
                    message = f"{word.value} is not there"
                    yield hit(word, message, same or near(path), source=program.command.source)


_MAKES = re.compile(
    r"(?i)mkdir|makedirs|subprocess|system\(|popen|check_call|copytree|extract|unpack|rename|move|"
    r"symlink|download|to_zarr|save_pretrained"
)
"""What may make a folder."""


def _python_opens(
    program: Program, text: PythonText, command: Command, trace: Trace, job: Job
) -> Iterator[Hit]:
    opened = text.opened_with(parsed(text, given_words(program)))
    own = tuple(one.path.partition("{")[0] for one in opened if set("wax") & set(one.mode))
    parts = [one for other, one in job.pythons if other.imported or one is text]
    makes = any(_MAKES.search(one.text) for one in parts)
    made_before = any(one.may_write_unasked for one in parts)
    given = {word.value for word in command.arguments}
    for one in opened:
        path = job.machine.resolve(os.path.normpath(os.path.join(command.folder or "", one.path)))  # noqa: PTH118
        reads = (
            "r" in one.mode
            and not one.path.startswith(own)
            and (one.path not in given or "." in one.name)
            and "://" not in one.path
            and not re.search(r"[*{]", one.path)
            and (not one.name or len(re.findall(rf"\b{re.escape(one.name)}\b", text.text)) <= 2)
            and text.text.count(one.path.rpartition("/")[2]) <= 1
        )
        if not one.sure or command.conditional or "{" in os.path.dirname(one.path):  # noqa: PTH120
            continue
        if reads and not made_before and absent(path, trace, job):
            other = near(path)
            message = f"{_shown(one.path, command)} is not there"
            fix = f"is it {other}?" if other else None
            yield hit(one.node, message, fix, source=program.source)
        parent = os.path.dirname(path)  # noqa: PTH120
        writes = set("wax") & set(one.mode) and not makes and "/" in one.path
        if writes and absent(parent, trace, job):
            folder = os.path.dirname(_shown(one.path, command))  # noqa: PTH120
            message, fix = f"the folder {folder} is not there", f"mkdir -p {folder}"
            yield hit(one.node, message, fix, source=program.source)


def not_executable(job: Job, changed: Container[str | None]) -> Iterator[Hit]:
    """Files that Python programs start by name without the right to execute; but for `changed`."""
    for program, text in job.pythons:
        command = program.command
        if "chmod" in text.text or command.contained or command.folder is None:
            continue
        for name, call, _ in text.calls:
            first = call.args[0] if call.args and name in RUNS else None
            words = first.elts if isinstance(first, ast.List) else [first]
            path = (path_in(words[0], text.values) if words else None) or ""
            file = os.path.normpath(os.path.join(command.folder, path))  # noqa: PTH118
            if "/" not in path or file in changed or file in job.walk.made:
                continue
            there = job.machine.exists(file) and not job.machine.is_folder(file)
            if there and not job.machine.may(file, 1):
                yield hit(call, f"{path} may not be executed: permission denied",
                          f"chmod +x {path}", source=program.source)  # fmt: skip


def _shown(path: str, command: Command) -> str:
    """A path that is below the folder of the command, from there; others as they are."""
    return path.removeprefix(f"{command.folder}/")
