"""JS0xx: what the interpreter or the scheduler cannot read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from jobsight.program.languages import INTERPRETERS, shebang
from jobsight.program.preflight.findings import Edit, Hit, hit, rule
from jobsight.program.preflight.job import Job, bash_error
from jobsight.program.shell.model import Program, Source
from jobsight.program.submission.job import Place
from jobsight.program.submission.templates import placeholder_line
from jobsight.text import wordset

__all__ = ["TEMPLATE", "opener"]


@rule("JS001 The shell cannot parse the script")
def _shell_syntax(job: Job) -> Iterator[Hit]:
    """Bash's own complaint, at the line where what is not closed begins."""
    if job.broken is not None:
        yield _shell_hit(None, job.text, job.broken)
    for program, source in job.sources:
        if program.language == "bash" and source.exact:
            broken = bash_error(source.text.replace("\r\n", "\n"), job.machine)
            if broken is not None:
                yield _shell_hit(source, source.text, broken)
    for source in job.walk.sources[1:]:
        if not any(one is source for _, one in job.sources) and source.exact:
            broken = bash_error(source.text, job.machine)
            if broken is not None:
                yield _shell_hit(source, source.text, broken)


_UNPARTED = re.compile(
    r"\s*(?:(?:if|elif|while|until)\s+(?:!\s+)?\[(?:[^;#]*\s)?\]{1,2}|for\s+\w+\s+in\s[^;#]*)\s+(then|do)\s*"
)
"""``if [ … ] then``, ``for x in … do``: taken for words of the command."""


def _shell_hit(source: Source | None, text: str, broken: tuple[int, str]) -> Hit:
    line, words = broken
    opened = opener(text, words)
    for number, one in enumerate(text.split("\n")[:line], 1):
        joined = _UNPARTED.fullmatch(one)
        if joined and opened is None and "unexpected token" in words:
            message = f"a semicolon is missing before {joined[1]}"
            return hit(number, message, f"; {joined[1]}", source=source)
    if opened is None:
        return hit(line, f"bash stops here: {words}", source=source)
    at, what, close = opened
    stop = line + (source.first if source else 0)
    message = f"{what} is never closed; bash stops at line {stop}: {words}"
    return hit(at, message, f"close it with {close}", source=source)


@rule("JS002 Python cannot compile the program")
def _python_syntax(job: Job) -> Iterator[Hit]:
    """What `ast.parse` refuses and Python 2 would refuse too."""
    for program, text in job.pythons:
        error = text.error
        exact = program.source is not None and program.source.exact
        if error is not None and exact and not error.two and not _is_two(program):
            message = f"Python stops here: {error.message}"
            yield hit(error, message, source=program.source)


@rule("JS003 A program for Python 2 is run by Python 3")
def _python_two(job: Job) -> Iterator[Hit]:
    """Syntax, names and modules that only Python 2 has."""
    for program, text in job.pythons:
        if program.source is None or not program.source.exact or not _is_three(program):
            continue
        if text.error is not None and text.error.two:
            message = f"Python 2 syntax: {text.error.message}"
            yield hit(text.error, message, text.error.two, source=program.source)
        for node, other in text.undefined():
            if other is not None:
                yield hit(node, f"Python 3 has no {node.id}", other, source=program.source)
        for one in text.imports:
            other = text.renamed(one.name)
            if other is not None:
                message = f"Python 3 has no module {one.name}"
                yield hit(one.node, message, other, source=program.source)


def _is_three(program: Program) -> bool:
    """Whether Python 3 runs it; ``python`` of an environment may be another."""
    environment = program.command.environment
    if _is_two(program):
        return False
    named = any("3" in (word.value or "") for word in environment.modules)
    return "python3" in (
        program.interpreter or program.source.text[:60] if program.source else ""
    ) or (not environment.opaque and (named or not environment.modules))


def _is_two(program: Program) -> bool:
    words = [program.interpreter or ""]
    if program.interpreter is None and program.source is not None:
        words = shebang(program.source.text) or []
    return any(re.search(r"python2|pypy$|ipython2", word) for word in words)


@rule("JS005 Line ends of Windows")
def _line_ends(job: Job) -> Iterator[Hit]:
    """Sbatch refuses them, bash takes the carriage return for a part of each command."""
    edit = Edit(None, "\r\n", "\n")
    runs = job.is_slurm or job.language == "bash" or job.data.startswith(b"#!")
    if runs and b"\r\n" in job.data:
        line = job.data[: job.data.index(b"\r\n")].count(b"\n") + 1
        who = "sbatch refuses the script" if job.is_slurm else "the interpreter takes \\r for text"
        if job.is_slurm or line not in job.here_lines:
            message = f"lines end with \\r\\n: {who}"
            yield hit(line, message, "dos2unix FILE", edit=edit)
    for text in job.walk.sources[1:]:
        ran = any(one is text for _, one in job.sources)
        if "\r\n" in text.text and not ran and text.file != job.source.file:
            message = "lines end with \\r\\n: words get a carriage return"
            yield hit(1, message, "dos2unix FILE", source=text)
    for program, source in job.sources:
        if source.file != job.source.file and "\r\n" in source.text:
            started = program.interpreter is None and source.text.startswith("#!")
            if program.language == "bash" or started:
                message = "lines end with \\r\\n: it cannot be run"
                yield hit(1, message, "dos2unix FILE", source=source)


@rule("JS006 A byte order mark before the first line")
def _byte_order_mark(job: Job) -> Iterator[Hit]:
    """The first bytes must be ``#!``."""
    if job.data.startswith(b"\xef\xbb\xbf") and (job.is_slurm or job.language == "bash"):
        edit = Edit(1, "\ufeff", "")
        yield hit(1, "a byte order mark hides #!", "save as UTF-8 without BOM", edit=edit)


@rule("JS007 The first line does not name an interpreter")
def _first_line(job: Job) -> Iterator[Hit]:
    """Sbatch refuses a script whose first line does not begin with ``#!``."""
    if not (job.is_slurm or job.executable) or job.text.startswith("#!"):
        return
    if job.executable and not job.text.strip():
        return
    misplaced = re.search(r"^[ \t]*#!\s*/", job.text, re.M)
    if misplaced is not None and job.text[: misplaced.start()].count("\n") < 5:
        message = "#! must be the first two bytes of the file"
        yield hit(misplaced, message, "move it to the first line")
        return
    message = "the first line must be #! and an interpreter"
    yield hit(1, message, "#!/bin/bash", edit=Edit(1, "", "#!/bin/bash\n"))


@rule("JS008 The interpreter of the first line is not there")
def _interpreter(job: Job) -> Iterator[Hit]:
    """Where this machine has the folder, but no such file in it."""
    subjects: list[tuple[Source | None, str]] = [(None, job.text)]
    subjects += [
        (source, source.text) for one, source in job.sources
        if one.interpreter is None and source.text != job.text
    ]  # fmt: skip
    for source, text in subjects:
        words = shebang(text)
        if words is None:
            continue
        if not words:
            yield hit(1, "#! names no interpreter", "#!/bin/bash", source=source)
            continue
        path = words[0]
        if not path.startswith("/") and not (source or job.is_slurm or job.executable):
            continue
        if not path.startswith("/"):
            message = f"#! needs an absolute path, not {path[:40]}"
            yield hit(1, message, "#!/bin/bash", source=source)
        elif not job.machine.exists(path) and (
            path.rpartition("/")[0] == "/bin" or job.machine.visible(path)
        ):
            here = job.machine.command(PurePosixPath(path).name)
            if _SHELL.fullmatch(path) and not job.machine.has_scheduler:
                continue
            message = f"there is no {path[:80]}"
            yield hit(Place(1, 3), message, f"#!{here}" if here else None, source=source)
        elif path.endswith("/env") and len(words) > 1:
            yield from _env(source, words[1:], job)


def _env(source: Source | None, words: list[str], job: Job) -> Iterator[Hit]:
    name = next((one for one in words if not one.startswith("-") and "=" not in one), None)
    if name is not None and re.sub(r"[\d.]+$", "", name) not in INTERPRETERS:
        if not job.machine.command(name):
            yield hit(1, f"env finds no {name[:40]}", source=source)
    elif name is not None and len(words) > 1 and words[0] == name:
        text = f"the kernel gives env one word, {' '.join(words)[:40]!r}"
        yield hit(1, text, f"#!/usr/bin/env -S {' '.join(words)[:60]}", source=source)


_SHELL = re.compile(r"(?:/usr)?/bin/(?:csh|fish|ksh|tcsh|zsh)")
"""Shells that a cluster may have where this machine has not."""
_BASH_ONLY = wordset("source declare typeset shopt pushd popd mapfile readarray let select [[")


@rule("JS009 What only bash has, in a script for sh")
def _bashisms(job: Job) -> Iterator[Hit]:
    """Where ``/bin/sh`` is dash: ``[[``, ``source``, ``==`` in a test, and others."""
    if not job.is_dash:
        return
    for command in job.commands:
        if command.name in _BASH_ONLY and command.source.file == job.source.file:
            yield hit(command, f"sh is dash here, and has no {command.name}", "#!/bin/bash")
    for number, line in job.code:
        found = re.search(
            r"(?:^|[;&|!]|\b(?:if|elif|while))\s*(\[\[) |(?:^|\s)\[ [^\]]*\s(==)\s|<<<|"
            r"^[ \t]*function (\w+)",
            line,
        )
        if found:
            what = found[1] or found[2] or ("function" if found[3] else "<<<")
            yield hit(number, f"sh is dash here, and has no {what}", "#!/bin/bash")


_ALIKE = {"\u00a0": "a blank", "\u2013": "-", "\u2014": "--", "\u201c": '"', "\u201d": '"',
          "\u2018": "'", "\u2019": "'", "\u200b": "nothing"}  # fmt: skip


TEMPLATE = "a template: check the file that is made of it"
"""The message of JS011."""


@rule("JS011 A template, not a script yet", severity="warning")
def _templates(job: Job) -> Iterator[Hit]:
    """Of any engine: what it becomes is not known, so nothing else is said of it."""
    lines = (one for one in enumerate(job.text.split("\n"), 1) if one[0] not in job.here_lines)
    if (number := placeholder_line(lines, job.path)) is not None:
        yield hit(number, TEMPLATE)


@rule("JS010 A character that only looks like the one that is meant")
def _look_alikes(job: Job) -> Iterator[Hit]:
    """Dashes, quotes, blanks of a word processor, outside of quotes, comments, here-documents."""
    for number, line in enumerate(job.text.split("\n") if job.language == "bash" else (), 1):
        if line.isascii() or number in job.here_lines:
            continue
        directive = line.startswith("#SBATCH")
        text = re.sub(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'", lambda m: "q" * len(m[0]), line)
        text = text if directive else re.sub(r"(?:^|\s)#.*", "", text)
        form = r"(?<=\s)[\u2013\u2014](?=\w)|[\u00a0\u200b]|(?<=[\s=])[\u2018\u201c]"
        found = re.search(form, text)
        if found is not None:
            character = found[0]
            message = f"U+{ord(character):04X} is not {_ALIKE[character]}"
            shown = re.match(r"\s*(?:echo|printf)\s[^;|&<>]*$", line)  # it is printed as it is
            yield hit(Place(number, found.start() + 1), message, f"type {_ALIKE[character]}",
                      severity="warning" if shown else None)  # fmt: skip


_CLOSES = {
    **dict.fromkeys(("if", "then", "else", "elif"), "fi"),
    **dict.fromkeys(("for", "while", "until", "select", "do"), "done"),
    "case": "esac", "{": "}", "${": "}", "(": ")", "$(": ")", '"': '"', "'": "'", "`": "`",
}  # fmt: skip
_TOKEN = re.compile(
    r"(?P<comment>(?:^|(?<=[\s;]))#[^\n]*)|(?P<escape>\\.)|(?P<here><<-?\s*(?P<q>['\"]?)(?P<tag>\w+)(?P=q))"
    r"|(?P<single>'[^']*')|(?P<dollar>\$[({])|(?P<mark>[\"'`(){}])"
    r"|(?P<word>(?:^|(?<=[\s;&|(]))(?:if|for|while|until|select|case|fi|done|esac)(?=[\s;&|)]|$))",
    re.MULTILINE | re.DOTALL,
)


def opener(text: str, words: str) -> tuple[int, str, str] | None:
    """The line, the name and the closing word of what is left open.

    Args:
        text: the script.
        words: its complaint.

    Returns:
        None where nothing is left open before that line, or the complaint is of another kind.
    """
    if "here-document" in words:
        found = re.search(r"delimited by end-of-file \(wanted `(.*)'\)", words)
        start = re.search(r"at line (\d+)", words)
        return (int(start[1]), "the here-document", found[1]) if found and start else None
    end_of_file = "unexpected end of file" in words or "unexpected EOF" in words
    if not end_of_file:
        return None
    wanted = re.search(r"matching [`'\"](.+?)'", words)
    left = _open_parts(text, wanted[1] if wanted else None)
    if not left:
        return None
    at, what = left
    return at, f"{what!r}" if what in "\"'`" else what, _CLOSES[what]


def _open_parts(text: str, wanted: str | None) -> tuple[int, str] | None:
    """The innermost part that is open at the end."""
    quotes = {'"', "'", "`"}
    stack: list[tuple[int, str]] = []
    lost: tuple[int, str] | None = None
    lines = text.split("\n")
    at, line, counted = 0, 1, 0
    while (found := _TOKEN.search(text, at)) is not None:
        at = found.end()
        line += text.count("\n", counted, found.start())
        counted = found.start()
        inside = stack[-1][1] if stack else ""
        kind, token = found.lastgroup, found[0]
        if kind in ("q", "tag"):
            kind = "here"
        if inside == '"' and not (kind in ("dollar", "escape") or token in ('"', "`")):
            at = found.start() + 1
            continue
        if kind == "here" and inside not in ('"', "$(("):
            end = re.compile(rf"^\t*{found['tag']}$", re.M).search(text, at)
            at = end.end() if end else len(text)
        elif kind in ("dollar", "word", "mark"):
            lost = lost or _by_indent(stack, line, token, lines)
            _push_or_pop(stack, line, token)
        if stack and stack[-1][1] == "'":
            break
    if wanted in quotes and (first := _runs_on(text, wanted)) is not None:
        return first, wanted
    if wanted in quotes:
        stack = [one for one in stack if one[1] == wanted] or stack
        return stack[0] if stack else None
    return lost or (stack[-1] if stack else None)


def _runs_on(text: str, quote: str) -> int | None:
    """The line of a quote that is closed by what opens another, in a later line."""
    lines = text.split("\n")
    odd = [
        number for number, line in enumerate(lines, 1)
        if not line.lstrip().startswith("#") and len(re.findall(rf"(?<!\\){quote}", line)) % 2
    ]  # fmt: skip
    if len(odd) == 1:
        return odd[0]
    for first, second in zip(odd[::2], odd[1::2], strict=False):
        if re.search(rf"(?:^|[\s=(]){quote}[\w$/]", lines[second - 1]):
            return first
    return None


def _by_indent(
    stack: list[tuple[int, str]], line: int, part: str, lines: list[str]
) -> tuple[int, str] | None:
    """The innermost part, where a word closes one further out by its indentation."""

    def indent(number: int) -> int:
        return len(lines[number - 1]) - len(lines[number - 1].lstrip())

    if len(stack) < 2 or part not in ("fi", "done", "esac") or _CLOSES[stack[-1][1]] != part:
        return None
    inner, outer = stack[-1], stack[-2]
    same = _CLOSES[outer[1]] == part and indent(outer[0]) == indent(line) < indent(inner[0])
    return inner if same else None


def _push_or_pop(stack: list[tuple[int, str]], line: int, part: str) -> None:
    inside = stack[-1][1] if stack else ""
    if part in ('"', "`") and inside == part:
        stack.pop()
    elif part in _CLOSES:
        stack.append((line, part))
    elif part == ")" and inside == "case":
        return
    elif stack and _CLOSES.get(inside) == part:
        stack.pop()
