"""JS304, JS344: the tasks of an array: files that all write, lists that they choose from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from jobsight.program.known import KNOWN
from jobsight.program.preflight.arguments import given_words, parsed
from jobsight.program.preflight.files import path_of, uses_of
from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.otherfiles import filled
from jobsight.program.shell.model import Word
from jobsight.program.submission.job import Place

__all__: list[str] = []

_ID = "SLURM_ARRAY_TASK_ID"
_EXPRESSION = r"(?:\$\(\(\s*([^()]+?)\s*\)\)|\$\{?(\w+)\}?)"
_NAME = r"[\"']?([\w./${}-]+)[\"']?"
_LINES = (
    rf"sed\s+-n\s+[\"']?{_EXPRESSION}[\"']*\{{?p[;q}}]*[\"']?\s+{_NAME}",
    rf"sed\s+[\"']?{_EXPRESSION}[\"']*q;d[\"']?\s+{_NAME}",
    rf"head\s+-n?\s*[\"']?{_EXPRESSION}[\"']?\s+{_NAME}\s*\|\s*tail",
    rf"awk\s+[\"']NR\s*==\s*[\"']*{_EXPRESSION}[^|;]*?[\"']\s+{_NAME}",
    rf"awk\s+-v\s*(?P<v>\w+)=[\"']?{_EXPRESSION}[\"']?\s+'NR\s*==\s*(?P=v)\b(?!\s*[-+*/])[^']*'\s+{_NAME}",
)
"""Ways to take one line of a file: the number of the line, and the file."""


@dataclass(frozen=True)
class _Choice:
    """A list of which each task takes one: what it is, its first and last number, the offset."""

    name: str
    first: int
    last: int
    offset: int


@rule("JS344 Tasks of an array for which the list has nothing")
def _beyond(job: Job) -> Iterator[Hit]:
    """Lines of files count from 1, arrays of bash from 0."""
    if not job.is_slurm or not job.submission.request.array:
        return
    setting = job.submission.settings["array"]
    numbers = [int(one) for one in re.findall(r"\d+", re.sub(r"[:%]\d+", "", setting.value))]
    guard = r"\[\s+(?:!\s+)?-[znefs]\s|ARRAY_TASK_ID\S*\"?\s+-[lg][te]\b|%\s*\$"
    if not numbers or re.search(guard, job.text):
        return
    for one in set(_chosen(job)):
        low, high = min(numbers) + one.offset, max(numbers) + one.offset
        shown = f"{one.name} has numbers {one.first} to {one.last}"
        if low < one.first or high > one.last:
            task = min(numbers) if low < one.first else max(numbers)
            fix = f"--array={one.first - one.offset}-{one.last - one.offset}"
            yield hit(setting, f"{shown}: task {task} finds nothing", fix)
        elif high < one.last and len(numbers) == 2 and "," not in setting.value:
            fix = f"--array={min(numbers)}-{one.last - one.offset}"
            yield hit(setting, f"{shown}: no task takes the last", fix, severity="warning")


def _aliases(job: Job) -> dict[str, int]:
    """Variables that are the number of the task plus so many."""
    found = {_ID: 0}
    for name, value in re.findall(r"^[ \t]*(?:export\s+)?(\w+)=(\S[^;#\n]*)", job.text, re.M):
        text = re.sub(r":-\d+", "", value.strip().strip("\"'"))
        if (number := _offset(text, found)) is not None:
            found[name] = number
    return found


def _offset(text: str, known: dict[str, int]) -> int | None:
    """What is added to the number of the task; None: it is another expression."""
    bare = re.sub(r"\$\(\(|\)\)|[${}\"']", "", text).strip()
    found = re.fullmatch(r"([A-Za-z_]\w*)\s*(?:([-+])\s*(\d+))?", bare)
    if found is None or found[1] not in known:
        return None
    return known[found[1]] + int(f"{found[2] or '+'}{found[3] or 0}")


def _chosen(job: Job) -> Iterator[_Choice]:
    """Lists in the shell."""
    known = _aliases(job)
    code = "\n".join(line for _, line in job.code)
    for form in _LINES:
        for found in re.finditer(form, code):
            expressions = [one for one in found.groups()[-3:-1] if one]
            offset = _offset(expressions[0], known) if expressions else None
            count = _line_count(found.groups()[-1], job)
            if offset is not None and count:
                yield _Choice(found.groups()[-1], 1, count, offset)
    for name, text in re.findall(r"\$\{(\w+)\[([^\]]+)\]\}", code):
        offset = _offset(text, known)
        count = _array_count(name, code, job) if offset is not None else None
        if offset is not None and count:
            yield _Choice(name, 0, count - 1, offset)


def _line_count(name: str, job: Job) -> int | None:
    """Lines of a file that is here, and that the script does not write."""
    folder = next((one.folder for one in job.commands), job.folder)
    value = re.sub(
        r"\$\{?(\w+)\}?",
        lambda m: next(iter(re.findall(rf"^{m[1]}=[\"']?([\w./-]+)", job.text, re.M)), "$"), name,
    )  # fmt: skip
    path = path_of(Word(name, value, Place(1)), folder, job)
    text = job.machine.text(path) if path and "$" not in value else None
    written = re.search(rf">\s*[\"']?{re.escape(name)}", job.text)
    return None if text is None or written else len(text.splitlines())


def _array_count(name: str, code: str, job: Job) -> int | None:
    """Elements of an array that is set once."""
    read = re.search(rf"(?:mapfile|readarray)\s+-t\s+{name}\s*<\s*{_NAME}", code)
    sets = re.findall(rf"(?:^|[\s;]){name}\+?=\(((?:[^()]|\([^()]*\))*)\)", code)
    if read and not sets:
        return _line_count(read[1], job)
    if len(sets) != 1 or f"{name}+=" in code or f"{name}[" in re.sub(rf"\$\{{{name}\[", "", code):
        return None
    listed = re.fullmatch(rf"\s*\$\((?:cat\s+|<\s*){_NAME}\)\s*", sets[0])
    if listed:
        return _line_count(listed[1], job)
    words = re.findall(r"\"[^\"$`]*\"|'[^']*'|[^\s\"'$`*?{}()]+", re.sub(r"(?m)#.*$", "", sets[0]))
    if re.fullmatch(r"\s*[\w./-]*\*[\w./*-]*\s*", sets[0]):
        here, form = Path(job.machine.real(job.folder)), sets[0].strip()
        return None if form.startswith("/") else len(list(here.glob(form)))
    return None if re.search(r"[$`*?{}()]", sets[0]) else len(words)


_OWN = re.compile(
    r"SLURM_ARRAY_TASK_ID|SLURM_JOB_?ID|SLURM_TASK_PID|SLURM_LOCALID|RANDOM|BASHPID|\$|TMPDIR|"
    r"SLURM_TMPDIR|HOSTNAME|SLURMD_NODENAME|\$\(|SECONDS|LOCAL\w*|\d+|read|PPID|SLURM_PROCID"
)


@rule("JS304 All tasks of an array write to one file")
def _array_overwrites(job: Job) -> Iterator[Hit]:
    """Files of ``>``, and of ``--output``, whose names are the same in all tasks."""
    if not job.is_slurm or (job.submission.request.array or 0) < 2:
        return
    for name in ("output", "error"):
        setting = job.submission.settings.get(name)
        if setting is not None and not re.search(r"^/dev/|%\d*[ajJNnstu]", setting.value):
            message = f"all tasks write their --{name} to {setting.value}"
            yield hit(setting, message, f"--{name}={_with_task(setting.value)}")
    if "flock" in job.text:
        return
    yield from _programs_overwrite(job)
    yield from _others_overwrite(job)
    for command in job.commands:
        if command.conditional or command.folder is None or command.contained:
            continue
        program = job.program_of.get(id(command))
        if program and program.source and "SLURM_ARRAY_TASK_ID" in program.source.text:
            continue  # it may put the number into the name
        for use in uses_of(command):
            word, name = use.word, use.word.text
            if use.kind != "write" or name.startswith(("/dev/", '"/dev/')) or word.is_glob:
                continue
            into = [one.operator for one in command.redirects if one.target is word]
            if not PurePosixPath(name).suffix and not into:
                continue  # an option may name a folder
            kept = any(">>" in one for one in into) or name == "a.out" or "-p" in name
            own = any(map(_OWN.fullmatch, word.depends))
            if not (kept or own or command.name in ("touch", "mv", "cp")):
                fix = "put $SLURM_ARRAY_TASK_ID into the name"
                yield hit(word, f"all tasks write to {name[:60]}", fix, source=command.source)


def _programs_overwrite(job: Job) -> Iterator[Hit]:
    """Files of constant names that a Python program always writes, and knows of no task."""
    for program, text in job.pythons:
        knows = re.search(r"ARRAY|environ|getenv|getpid|hostname|tempfile|mkdtemp|chdir", text.text)
        given = any(set(word.depends) & {"SLURM_ARRAY_TASK_ID"} for word in program.arguments)
        command = program.command
        if knows or program.imported or not given or command.conditional or command.contained:
            continue
        if command.folder is None:
            continue  # it may be one of the task's own
        for one in text.opened_with(parsed(text, given_words(program))):
            if one.mode == "w" and one.sure and "{" not in one.path:
                message = f"all tasks write to {one.path}"
                yield hit(one.node, message, "put the task's number into it", source=program.source)


_KNOWS = re.compile(
    r"(?i)ARRAY|getenv|\bENV\b|getpid|hostname|tempfile|tempname|setwd|chdir|\bcd\("
)
_WRITES: dict[str, str] = KNOWN["arrays"]["writes"]
_WRITES["cpp"] = _WRITES["c"] + r"|\bofstream\s+\w+[({]\s*\"([\w./-]+\.\w+)\"\s*[)}]"


def _others_overwrite(job: Job) -> Iterator[Hit]:
    """The same of programs in other languages."""
    for command in job.commands:
        given = any(_ID in word.depends for word in command.arguments)
        if not given or command.conditional or command.contained or command.folder is None:
            continue
        for program, source in job.started_by(command):
            form = _WRITES.get(program.language or "")
            if form is None or _KNOWS.search(source.text):
                continue
            text = filled(source.text, program.language)
            for found in re.finditer(form, text):
                name = next(one for one in found.groups() if one)
                if not _guarded(text, found.start()) and not name.startswith(("/dev/", "/tmp/")):  # noqa: S108
                    message = f"all tasks write to {name}"
                    yield hit(found, message, "put the task's number into it", source=source)


def _guarded(text: str, at: int) -> bool:
    """Whether a place is behind a condition, in a comment, or adds to a file."""
    *before, first = text[:at].split("\n")
    line = first + text[at:].partition("\n")[0]
    lines, indent = [line], len(line) - len(line.lstrip())
    for one in reversed(before):
        if one.strip() and len(one) - len(one.lstrip()) < indent:
            indent = len(one) - len(one.lstrip())
            lines.append(one)
    guard = r"\s*(?:#|//|!)|.*\b(?i:if|else|elseif|unless|case|switch|append)\b"
    return any(re.match(guard, one) for one in lines)


def _with_task(value: str) -> str:
    stem, dot, ending = value.rpartition(".")
    return f"{stem}_%A_%a.{ending}" if dot and "%A" not in value else value.replace("%A", "%A_%a")
