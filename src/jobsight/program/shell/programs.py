"""Which program a command runs, in which language, and its text where that is at hand."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import PurePosixPath

from jobsight.program.languages import INTERPRETERS, language_of
from jobsight.program.machine import Machine
from jobsight.program.shell.model import Command, Program, Source, Word

__all__ = [
    "COMPILERS",
    "compiled_by",
    "compiled_runs",
    "interpreter_of",
    "other_language",
    "program_of",
]

_WITH_VALUE = {
    "python": {"-W", "-X", "-Q"}, "bash": {"-o", "-O", "--rcfile"}, "perl": {"-I"},
    "r": set(), "julia": {"-t", "-p", "-L", "-J", "--project", "--threads"},
}  # fmt: skip
_TEXT = {
    **dict.fromkeys(("python", "bash", "csh", "zsh"), "c"),
    **dict.fromkeys(("perl", "r", "julia", "lua", "ruby"), "e"), "javascript": "ep",
}  # fmt: skip
"""Options, of one character, behind which the text of a program follows."""
COMPILERS = re.compile(
    r"(?:gcc|g\+\+|cc|c\+\+|gfortran|clang(?:\+\+)?|mpicc|mpicxx|mpic\+\+|mpif90|mpifort"
    r"|nvcc|icc|icpc|ifort|icx|icpx|ifx|rustc|javac|hipcc)(?:-\d+)?"
)
"""Names of compilers."""


def compiled_by(
    command: Command, made: Mapping[str, Source], machine: Machine,
    path_of: Callable[[Word], str | None],
) -> list[Program]:  # fmt: skip
    """The sources that a compiler is given and whose text is here."""
    if not COMPILERS.fullmatch(command.bare):
        return []
    found = []
    for word in command.arguments:
        if re.search(r"\.(?:c|cc|cpp|cxx|C|cu|f|f90|f95|F90|F|rs|java)$", word.value or word.text):
            program = _file(command, word, (), None, made, machine, path_of)
            if program.source is not None:
                language = language_of(word.value or word.text, program.source.text)
                found.append(replace(program, language=language, interpreter=command.name))
    return found


def compiled_runs(
    commands: Iterable[Command], programs: Iterable[Program]
) -> dict[int, list[Program]]:
    """What is compiled, by the `id` of each command that starts it.

    Args:
        commands: of a script, in their order.
        programs: those that it runs or compiles.
    """
    sources: dict[int, list[Program]] = {}
    for one in programs:
        sources.setdefault(id(one.command), []).append(one)
    made: dict[str, list[Program]] = {}
    found: dict[int, list[Program]] = {}
    for command in commands:
        name = command.bare
        words = [one.value or one.text for one in command.arguments]
        if not COMPILERS.fullmatch(name):
            started = next((one for one in words if one in made), "") if name == "java" else name
            if made.get(started):
                found[id(command)] = made[started]
            continue
        own = sources.get(id(command), [])
        if name == "javac":
            made.update({PurePosixPath(one.path or "").stem: [one] for one in own})
            continue
        named = words[words.index("-o") + 1 :][:1] if "-o" in words else []
        if {"-c", "-ptx", "-cubin"} & {*words}:
            plain = [f"{PurePosixPath(one.path or '').stem}.o" for one in own]
            made.update({PurePosixPath(one).name: own for one in named or plain})
        elif "-E" not in words:
            linked = (made.get(PurePosixPath(one).name, []) for one in words if one.endswith(".o"))
            made[PurePosixPath((named or ["a.out"])[0]).name] = [*own, *chain(*linked)]
    return found


def interpreter_of(name: str | None) -> str | None:
    """The language that a program of that name interprets."""
    if name is None or name.endswith(("awk", "srun")):
        return None
    return INTERPRETERS.get(re.sub(r"[\d.]+$", "", PurePosixPath(name).name))


def other_language(word: Word, language: str) -> str | None:
    """The language that the name of a program says, if it is another than its interpreter's."""
    other = language_of(word.value or "", "")
    named = re.search(r"\.(?:py|sh|R|pl|jl|m)$", word.value or "")
    return other if named and other != language else None


def program_of(
    command: Command, made: Mapping[str, Source], machine: Machine,
    path_of: Callable[[Word], str | None],
) -> Program | None:  # fmt: skip
    """What a command runs: a script of an interpreter, or a file that is named by its path."""
    language = interpreter_of(command.name)
    if language is None:
        if command.name is not None and "/" in command.name:
            return _file(command, command.words[0], command.arguments, None, made, machine, path_of)
        return None
    rest = list(command.arguments)
    if language == "go":
        named = [one for one in rest if one.text.endswith(".go")]
        rest = named if rest and rest[0].text in ("run", "build") else []
    if command.bare == "R":
        rest = _of_r(rest)
    if language == "matlab" and not (rest and rest[-1].text.endswith(".m")):
        found = re.match(r"\s*([A-Za-z]\w*)", (rest[-1].value or "") if rest else "")
        if found is None or len(rest) < 2 or rest[-2].text not in ("-batch", "-r", "--eval"):
            return None
        word = rest[-1]._replace(value=f"{found[1]}.m")
        program = _file(command, word, (), "matlab", {}, machine, path_of)
        return program if program.source is not None else None
    while rest and rest[0].text.startswith("-") and rest[0].text not in ("-", "--"):
        option = rest.pop(0)
        text = rf"-\w*[{_TEXT.get(language, '-')}]|--(?:eval|print|command)"
        if re.fullmatch(text, option.text) and rest:
            return _inline(command, rest[0], rest[1:], language)
        if language == "python" and option.text == "-m":
            path = path_of(rest[0]) if rest else None
            return _module(command, rest, machine, path)
        if option.text in _WITH_VALUE.get(language, ()) and rest:
            rest.pop(0)
    if not rest or rest[0].text == "-":
        if command.here is None:
            given = [one.target for one in command.redirects if one.operator == "<"]
            if not given:
                return None
            return _file(command, given[-1], (), language, made, machine, path_of)
        return Program(command.here, language, command, tuple(rest[1:]), interpreter=command.name)
    return _file(command, rest[0], tuple(rest[1:]), language, made, machine, path_of)


def _of_r(words: list[Word]) -> list[Word]:
    """What R runs and gives to it: ``R CMD BATCH fit.R out``, ``R -f fit.R --args 3``."""
    texts = [one.text for one in words]
    if texts[:2] == ["CMD", "BATCH"]:
        return [one for one in words[2:] if not one.text.startswith("-")][:1]
    if texts[:1] == ["CMD"]:
        return []
    at = texts.index("--args") if "--args" in texts else len(texts)
    given = words[at + 1 :]
    for number, one in enumerate(words[:at]):
        if one.text in ("-f", "--file") and number + 1 < at:
            return [words[number + 1], *given]
        if one.text.startswith("--file="):
            return [one._replace(value=one.value and one.value[7:]), *given]
    return words[:at]


def _inline(command: Command, word: Word, rest: list[Word], language: str) -> Program:
    source = None
    many = any(one.name in ("xargs", "parallel") for one in command.launchers)
    if word.value is not None and not (many and "{}" in word.value):
        first = command.source.first + word.place.line - 1
        source = Source(command.source.file, word.value, first, command.source.folder)
    return Program(source, language, command, tuple(rest), interpreter=command.name)


def _module(command: Command, rest: list[Word], machine: Machine, path: str | None) -> Program:
    word = rest[0] if rest else None
    for ending in ("", "/__main__"):
        place = None if path is None else path.replace(".", "/") + ending + ".py"
        if place and (text := machine.text(place)) is not None:
            shown = os.path.relpath(machine.real(place))
            source = Source(shown, text, folder=os.path.dirname(place))  # noqa: PTH120
            return Program(source, "python", command, tuple(rest[1:]), place, None, command.name)
    return Program(None, "python", command, tuple(rest[1:]), None, word, command.name)


def _file(
    command: Command, word: Word, arguments: tuple[Word, ...], language: str | None,
    made: Mapping[str, Source], machine: Machine, path_of: Callable[[Word], str | None],
) -> Program:  # fmt: skip
    path = path_of(word)
    source = made.get(path or "")
    if source is None and path is not None and (text := machine.text(path)) is not None:
        source = Source(os.path.relpath(machine.real(path)), text, folder=os.path.dirname(path))  # noqa: PTH120
    found = language
    if source is not None and language and other_language(word, language):
        return Program(None, language, command, arguments, path, word, command.name)
    if found is None and source is not None:
        found = language_of(path or "", source.text)
    interpreter = command.name if language else None
    return Program(source, found, command, arguments, path, word, interpreter)
