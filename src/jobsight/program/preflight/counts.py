"""JS336: the number of arguments that a program, a script or a function is given."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

from jobsight.program.preflight.arguments import given_words
from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.shell.model import Program, Source, Word
from jobsight.program.shell.programs import COMPILERS

__all__: list[str] = []

_COUNTS = {
    "python": (r"len\(\s*(?:sys\.)?argv\s*\)\s*(!=|<=?|>=?)\s*(\d+)", 1),
    "c": (r"\bargc\s*(!=|<=?|>=?)\s*(\d+)(?!\s*\?)", 1),
    "r": (r"length\(\s*\w*arg\w*\s*\)\s*(!=|<=?|>=?)\s*(\d+)", 0),
    "julia": (r"length\(\s*ARGS\s*\)\s*(!=|<=?|>=?)\s*(\d+)", 0),
    "perl": (r"(?:scalar\s*\(?\s*)?@ARGV\s*\)?\s*(!=|<=?|>=?)\s*(\d+)", 0),
    "fortran": (r"(?i)command_argument_count\(\)\s*(/=|<=?|>=?)\s*(\d+)", 0),
    "bash": (r"(?:\[\[?|test|\(\()\s*\"?\$\{?#\}?\"?\s*(-ne|-lt|-gt|!=|<=?|>=?)\s*(\d+)", 0),
}
_COUNTS["cpp"] = _COUNTS["c"]
_ASKS = re.compile(r"\bargc\b|\bcommand_argument_count\b", re.I)
_STOPS = re.compile(
    r"(?i)\b(?:exit|stop|quit|die|return\s+[1-9-]|raise|usage|error|abort|croak|throw)\b"
)
_OPTIONAL = re.compile(
    r"\$#|\$\{#|\$[@*]|\s-[nzv]\s|\$\{\w+:?[-+=]|\bcase\b|\bshift\b|\bgetopts\b|\bset --"
)
"""What shows that a script or function of the shell may have fewer arguments."""
_FEW = {"!=": 0, "-ne": 0, "/=": 0, "<": 0, "-lt": 0, "<=": 1}
_MANY = {"!=": 0, "-ne": 0, "/=": 0, ">": 0, "-gt": 0, ">=": -1}


@rule("JS336 Another number of arguments than the program wants")
def _counted(job: Job) -> Iterator[Hit]:
    """Where the program compares their number, or needs one (``${2:?}``), and ends."""
    for program, words in _started(job):
        assert program.source is not None
        text = program.source.text
        language = program.language or ""
        if language == "bash":
            text = re.sub(r"(?ms)^(?:function\s+)?\w+\s*\(\)\s*\{.*?^\}", "", text)
            if re.search(r"\bshift\b|\bset --", text):
                continue
            # Each branch of a case takes its own.
            text = re.sub(r"(?ms)^[ \t]*case\b.*?^[ \t]*esac\b", "", text)
        given = len(words)
        form, extra = _COUNTS.get(language, (r"(?!)", 0))
        needed = _needed_by_shell(text) if language == "bash" else _taken(language, text)
        low, high = max(needed, default=0), 1_000_000
        for found in re.finditer(form, text):
            if _STOPS.search(_body(text, found.end())):
                number = int(found[2]) - extra
                if found[1] in _FEW:
                    low = max(low, number + _FEW[found[1]])
                if found[1] in _MANY:
                    high = min(high, number + _MANY[found[1]])
        if low <= high and not low <= given <= high:
            wanted = f"at least {low}" if given < low else f"at most {high}"
            wanted = str(low) if low == high else wanted
            message = f"the program wants {wanted} arguments, {given} are given"
            yield hit(program.command, message)


_TAKES = {
    "r": (r"commandArgs\(\s*(?:trailingOnly\s*=\s*)?T", r"\b\w*arg\w*\[\[?(\d+)\]", 0),
    "julia": (r"", r"\bARGS\[(\d+)\]", 0),
    "perl": (r"", r"\$ARGV\[(\d+)\]", 1),
    "c": (r"", r"\bargv\[(\d+)\]", 0),
}
_TAKES["cpp"] = _TAKES["c"]
_MAY_LACK = {
    "r": r"length\(|is\.na\(|tryCatch|\bnargs\b|optparse|argparse|\bif\b",
    "julia": r"length\(ARGS|isempty\(ARGS|\btry\b|get\(ARGS|ArgParse",
    "perl": r"@ARGV|#ARGV|defined|//|\|\||Getopt|shift",
    **dict.fromkeys(("c", "cpp"), r"\bargc\b(?!\s*,)|getopt"),
}
"""What shows that a program asks how many arguments there are."""


def _taken(language: str, text: str) -> list[int]:
    """The numbers of the arguments that a program takes without asking whether they are there."""
    first, form, more = _TAKES.get(language, (r"(?!)", "", 0))
    if not re.search(first, text) or re.search(_MAY_LACK.get(language, ""), text):
        return []
    return [int(one) + more for one in re.findall(form, text)]


@lru_cache(256)
def _needed_by_shell(text: str) -> list[int]:
    """The numbers of the arguments that a script or function of the shell cannot do without."""
    needed = re.findall(r"\$\{(\d):?\?", text)
    if re.search(r"^[ \t]*set\s+-\w*u|nounset", text, re.M):
        needed += re.findall(r"\$\{?([1-9])(?!\d|:?[-+=])", text)
    elif not _OPTIONAL.search(text):
        plain = re.sub(r"'[^']*'|<<-?\s*[\"'\\](?s:.*)", "", text)
        needed += re.findall(r"(?<!\\)\$\{?([1-9])(?![\d:#%/-])", plain)
    return [int(one) for one in needed]


def _body(text: str, at: int) -> str:
    """What follows a condition, up to the end of its block or four lines."""
    after = "\n".join(text[at : at + 600].split("\n")[:5])
    return re.split(r"(?m)^[ \t]*(?:fi|end|\}|else\b.*|elif\b.*)\s*$", after)[0]


def _started(job: Job) -> Iterator[tuple[Program, list[Word]]]:
    """Programs with their arguments; compiled ones where they are started."""
    own = Source(job.source.file, job.text)
    if job.arguments is not None and job.language == "bash" and job.commands:
        yield Program(own, "bash", job.commands[0], job.arguments), list(job.arguments)
    yield from _called(job)
    for program in job.walk.programs:
        one, command = program, program.command
        if COMPILERS.fullmatch(command.bare):
            continue
        if program.source is None:
            built = job.compiled.get(id(command), ())
            main = [one for one in built if one.source and _ASKS.search(one.source.text)]
            if not main:
                continue
            one = Program(main[0].source, main[0].language, command, program.arguments)
        words = given_words(one)
        unknown = program.path == job.path and job.arguments is None
        if words is not None and not command.checked and not unknown:
            yield one, words


def _functions(text: str) -> dict[str, str]:
    """The bodies of the functions of the shell, up to a bracket that begins a line."""
    ends = [one.start() for one in re.finditer(r"^[ \t]*\}", text, re.M)]
    bodies: dict[str, str] = {}
    end = 0
    for one in re.finditer(r"^[ \t]*(?:function\s+)?([\w-]+)\s*\(\s*\)\s*\{", text, re.M):
        following = bisect_left(ends, one.end())
        if one.start() >= end and following < len(ends):
            end = ends[following]
            bodies[one[1]] = text[one.end() : end]
    return bodies


def _called(job: Job) -> Iterator[tuple[Program, list[Word]]]:
    """Functions of the shell where they are called."""
    text = "\n".join(one.text for one in job.walk.sources)
    if re.search(r"\btrap\b|\bexport -f\b", text):
        return
    bodies = _functions(text)
    for command in job.commands:
        body = bodies.get(command.name or "")
        if body is None or command.launchers or command.checked:
            continue
        one = Program(Source(command.source.file, body), "bash", command, command.arguments)
        words = given_words(one)
        if words is not None:
            yield one, words
