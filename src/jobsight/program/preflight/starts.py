"""JS116, JS353, JS355: what MATLAB and Java are given to start; words in single quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePosixPath

from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.traces import absent, near, path_of, siblings, trace_of
from jobsight.program.shell.model import Command, Word
from jobsight.text import one_slip, wordset

__all__: list[str] = []


@rule("JS353 MATLAB cannot run what it is given, or does not end")
def _matlab(job: Job) -> Iterator[Hit]:
    """``-batch`` and ``-r`` take statements, not files; after ``-r`` MATLAB prompts for more."""
    for command in job.commands:
        if command.bare != "matlab" or command.contained:
            continue
        words = command.arguments
        for option, word in pairwise(words):
            text = (word.value or word.text).strip("\"'; ")
            if option.text not in ("-batch", "-r"):
                continue
            if re.fullmatch(r"[\w./-]+\.m", text):
                name = PurePosixPath(text).stem
                folder = text.rpartition("/")[0]
                fix = f"run('{text}')" if folder else name
                yield hit(word, f"{text} is not a statement: MATLAB takes the name without .m", fix,
                          source=command.source)  # fmt: skip
                continue
            yield from _script_of_matlab(word, text, command, job)
            if option.text == "-r" and not _exits(text, command, job):
                yield hit(word, "MATLAB waits at its prompt when this has run", "-batch",
                          severity="warning", source=command.source)  # fmt: skip


def _exits(text: str, command: Command, job: Job) -> bool:
    """Whether a statement, or a script that it names, ends MATLAB; or nothing can be said of it."""
    if re.search(r"\b(?:exit|quit)\b", text) or "$" in text or command.fed:
        return True
    texts = [source.text for one, source in job.sources if one.command is command]
    return not texts or any(re.search(r"(?m)^[ \t]*(?:exit|quit)\b", one) for one in texts)


def _script_of_matlab(word: Word, text: str, command: Command, job: Job) -> Iterator[Hit]:
    """The one script that is named, where one of nearly that name is there."""
    path = path_of(word._replace(value=f"{text}.m"), command.folder, job)
    if path is None or not re.fullmatch(r"[A-Za-z]\w*", text) or job.machine.exists(path):
        return
    names = [one[:-2] for one in siblings(path) if one.endswith(".m")]
    for name in names:
        if one_slip(text, name) or text.lower() == name.lower():
            yield hit(word, f"there is no {text}.m", name, source=command.source)
            return


@rule("JS116 A class or an archive of Java that is not there")
def _java(job: Job) -> Iterator[Hit]:
    """The class that is started, among those that the script compiles; the file behind ``-jar``."""
    compiled = "\n".join(source.text for one, source in job.sources if one.language == "java")
    yield from _public_classes(job)
    classes = set(re.findall(r"\b(?:class|record|enum|interface)\s+(\w+)", compiled))
    for command, trace in trace_of(job):
        if command.name != "java" or command.contained or command.conditional or job.blind:
            continue
        words, archive = list(command.arguments), False
        while words and words[0].text.startswith("-"):
            option = words.pop(0).text
            archive = option == "-jar"
            if option in ("-cp", "-classpath", "--class-path", "-p", "--module-path") and words:
                words.pop(0)
        word = words[0] if words else None
        if word is None or word.value is None:
            continue
        if archive and absent(path_of(word, command.folder, job), trace, job):
            close = near(path_of(word, command.folder, job) or "")
            yield hit(word, f"{word.value} is not there", close, source=command.source)
        elif not archive and classes and re.fullmatch(r"[\w.$]+", word.value):
            name = word.value.rpartition(".")[2].partition("$")[0]
            if word.value.endswith((".class", ".java")) and name in ("class", "java"):
                if word.value.endswith(".class"):
                    yield hit(word, "java takes the name of a class, not of its file", name[:-6])
                continue
            close = next((one for one in classes if one.lower() == name.lower()), None)
            close = close or next((one for one in classes if one_slip(name, one)), None)
            if name not in classes and close is not None:
                yield hit(word, f"there is no class {name}", close, source=command.source)


def _public_classes(job: Job) -> Iterator[Hit]:
    """A public class is in a file of its name."""
    for program, source in job.sources:
        if program.language != "java" or program.path is None:
            continue
        stem = PurePosixPath(program.path).stem
        found = re.search(r"^[ \t]*public\s+(?:final\s+|abstract\s+)*class\s+(\w+)",
                          source.text, re.M)  # fmt: skip
        if found and found[1] != stem:
            message = f"the public class {found[1]} must be in {found[1]}.java"
            yield hit(found, message, f"class {stem}", source=source)


_LITERAL = wordset(
    "sed grep egrep fgrep zgrep cd cp mv mkdir rmdir rm ls cat sort head tail tar gzip gunzip wget "
    "curl rsync scp touch ln chmod wc cut python python3 Rscript julia cmp diff zip unzip tee"
)
"""Commands that take their words as they are."""


_GIVEN = re.compile(r"SLURM_[A-Z_]+|HOME|USER|TMPDIR|SCRATCH")


@rule("JS355 A variable in single quotes")
def _single_quotes(job: Job) -> Iterator[Hit]:
    """The shell fills in nothing there: the command gets the name."""
    if re.search(r"\benvsubst\b|\beval\b", job.text):
        return
    for command in job.commands:
        name = command.bare
        inline = any(one.command is command and not one.path for one, _ in job.sources)
        if name not in _LITERAL or command.contained or inline:
            continue
        for word in (*command.arguments, *(one.target for one in command.redirects)):
            for text in re.findall(r"'([^']*)'", word.text if "'" in word.text else ""):
                found = re.search(r"(?<!\\)\$\{?([A-Za-z_]\w+)", text)
                outer = re.sub(r"'[^']*'", "", word.text)
                if found is None or '"' in outer or not _meant(found[1], name, text, job):
                    continue
                yield hit(word, f"${found[1]} is not filled in: it is in single quotes",
                          word.text.replace("'", '"')[:80], source=command.source)  # fmt: skip
                break


def _meant(name: str, command: str, text: str, job: Job) -> bool:
    """Whether a name in single quotes is a variable's: the script sets it, or Slurm does.

    What grep looks for, and what sed replaces, may well be the name itself.
    """
    if name not in job.walk.assigned and not _GIVEN.fullmatch(name):
        return False
    replaced = re.match(r"\d*s(.)(.*?)(?<!\\)\1", text) if command == "sed" else None
    own = replaced is not None and re.search(rf"\$\{{?{name}\b", replaced[2])
    return "grep" not in command and not own
