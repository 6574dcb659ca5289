"""JS116, JS341, JS342, JS353, JS355, JS361: what awk, sed, MATLAB, Java and others are given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePosixPath

from jobsight.program.known import KNOWN
from jobsight.program.preflight.files import absent, near, path_of, trace_of
from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.shell.model import Command, Word
from jobsight.program.submission.job import Place
from jobsight.text import one_slip, wordset

__all__: list[str] = []

_PAIRS = {"{": "}", "(": ")", "[": "]"}


@rule("JS341 A program of awk or sed that cannot be parsed")
def _little_programs(job: Job) -> Iterator[Hit]:
    """Brackets not closed; ``$1`` in double quotes, which the shell fills in; ``s/a/b``."""
    for command in job.commands:
        name = command.bare
        if name in ("awk", "gawk", "mawk"):
            word = _program(command, {"-F", "-v", "--assign", "--field-separator"})
            found = _awk(word, command, job) if word is not None else None
        elif name == "sed":
            word = _program(command, {"-l", "--line-length"})
            found = _sed(word) if word is not None else None
        else:
            continue
        if word is not None and found is not None:
            yield hit(word, f"{name}: {found}", source=command.source)


def _program(command: Command, valued: set[str]) -> Word | None:
    """The first word that is neither an option nor the value of one."""
    words = list(command.arguments)
    while words and words[0].text.startswith("-"):
        option = words.pop(0).text
        if option in ("-f", "-e", "--file", "--expression") or option[:2] == "-f":
            return words[0] if option in ("-e", "--expression") and words else None
        if option in valued and words:
            words.pop(0)
    return words[0] if words else None


def _awk(word: Word, command: Command, job: Job) -> str | None:
    if r"\$" in word.text or re.fullmatch(r"\"\s*BEGIN\s*\{[^}]*\}\s*\"", word.text):
        return None  # its author knows, or there is no field to take
    if word.text[:1] == '"' and re.search(r"(?<!\\)\$(?:\d|NF\b|NR\b|\()", word.text):
        taken = re.search(r"(?<!\\)\$(?:[1-9]|NF\b)", word.text)
        return f"the shell fills in {taken[0]}: use single quotes" if taken else None
    if word.text[:1] != "'":
        return None
    given = " ".join(one.text for one in command.arguments)
    for name in re.findall(r"\$([A-Za-z_]\w*)", re.sub(r"\"(?:[^\"\\]|\\.)*\"", "", word.text)):
        own = rf"\b{name}\s*(?:\+\+|--|[-+*/]?=(?!=))|\bin\s+{name}|for\s*\({name}\b|-v\s*{name}="
        if name in job.walk.assigned and not re.search(own, given):
            return f"{name} of the script is not seen: -v {name}=${name}, without $ in the program"
    text = re.sub(r"\"(?:[^\"\\\n]|\\.)*\"", '""', word.text[1:-1])
    form = r"(?<=[~(,!&|{;\n])\s*/(?:[^/\\\n]|\\.)+/|^[ \t]*/(?:[^/\\\n]|\\.)+/"
    text = re.sub(form, " 1 ", text)
    text = re.sub(r"#[^\n]*", "", text)
    stack: list[str] = []
    for one in text:
        if one in _PAIRS:
            stack.append(_PAIRS[one])
        elif one in _PAIRS.values() and (not stack or stack.pop() != one):
            return f"{one} closes nothing"
    return f"{stack[-1]} is missing" if stack else None


def _sed(word: Word) -> str | None:
    text = word.value if word.value is not None else word.text.strip("\"'")
    found = re.match(r"\s*(?:\d+|\$)?\s*([sy])([^\w\s\\])", text)
    if found is None or "\n" in text or ";" in text or "$(" in text or "`" in text:
        return None
    rest = re.sub(r"\[[^]]*\]", "", text[found.end() :])
    parts = re.findall(rf"(?<!\\){re.escape(found[2])}", rest)
    if len(parts) < 2:
        return f"{found[1]}{found[2]}…{found[2]}…{found[2]} lacks its end"
    form = r"\$\{?(?:PWD|HOME|TMPDIR|SLURM_SUBMIT_DIR|\w*(?:_DIR|_ROOT|PATH|SCRATCH))\b"
    path = re.search(form, text) if word.text[:1] != "'" else None
    flags = re.split(rf"(?<!\\){re.escape(found[2])}", rest, maxsplit=2)[2]
    odd = found[1] == "s" and not re.match(r"[gIiepmM\d]*(?:w .*)?\s*(?:$|\}|#)", flags)
    if found[2] == "/" and (path or odd):
        return "a / within ends the text: take another sign, s|a|b|"
    return None


@rule("JS342 Arithmetic that bash cannot do")
def _arithmetic(job: Job) -> Iterator[Hit]:
    """Fractions; numbers with a leading zero, which are octal: 08 and 09 are none."""
    if job.language != "bash":
        return
    values: dict[str, str] = {}
    for number, code in job.code:
        form = r"(?:^|[\s;])(?:for\s+)?([A-Za-z_]\w*)(?:=|\s+in\s+)(.*?)(?=;|&&|\|\||\s#|$)"
        for name, value in re.findall(form, code):
            values[name] = value.strip()
        for found in re.finditer(
            r"\(\(([^()]*(?:\([^()]*\)[^()]*)*)\)\)|-(?:eq|ne|lt|gt|le|ge)\b", code
        ):
            wrong = _uncountable(found[1], values) if found[1] else None
            if wrong is not None:
                fix = "bc or awk" if "fraction" in wrong else "10#$name"
                yield hit(Place(number, found.start() + 1), wrong, fix)
                break
        compared = re.search(r"\[\s[^]]*?(\S+)\s+-(?:eq|ne|lt|gt|le|ge)\s+(\S+)", code)
        for one in compared.groups() if compared else ():
            name = one.strip('"${}')
            value = values.get(name, "") if "$" in one else one
            if re.fullmatch(r"[\"']?-?\d*\.\d+[\"']?", value):
                yield hit(number, f"{one} is a fraction: [ compares whole numbers", "bc or awk")


def _uncountable(text: str, values: dict[str, str]) -> str | None:
    text = re.sub(r"\$\([^()]*\)", "1", text)
    if re.search(r"(?<![\w.$])\d+\.\d+|(?<![\w.#])\.\d", text):
        return "bash does not compute with fractions"
    if re.search(r"(?<![\w.#])0\d*[89]", text):
        return "a leading zero makes an octal number"
    for name in re.findall(r"(?<![#\w])\$?\{?([A-Za-z_]\w*)", text):
        value = values.get(name, "")
        if re.search(rf"10#\$?\{{?{name}\b", text):
            continue
        if re.fullmatch(r"[\"']?-?\d*\.\d+[\"']?", value):
            return f"{name} is {value}: bash does not compute with fractions"
        if re.search(
            r"^[\"']?(?:\S+\s+)*0\d*[89]\d*(?:\s+[\w.]+)*[\"']?$|"
            r"\bdate\b[^|)]*\+[\"']?%(?:m|d|H|M|S|j|V|U|y)[\"']?\s*\)"
            r"|seq\s+(?:-\w+\s+)*(?:-w|--equal-width)\b|printf\s+[\"']?%0\d+d"
            r"|\{0\d+\.\.\d\d+\}", value
        ):  # fmt: skip
            return f"{name} may be 08 or 09, which are not octal numbers"
    return None


@rule("JS361 More words than a command takes")
def _extra_words(job: Job) -> Iterator[Hit]:
    """``date +%Y %H``, ``cd new folder``: a blank that should be in quotes parts them."""
    for command in job.commands:
        words = command.arguments
        if any(one.is_glob or "@" in one.text or "*" in one.text for one in words):
            continue
        if command.name == "date":
            at = next((k for k, one in enumerate(words) if one.text[:1] == "+"), len(words))
            extra = words[at + 1 :]
        elif command.name in ("cd", "pushd"):
            extra = tuple(one for one in words if one.text[:1] not in ("-", "+"))[1:]
        else:
            continue
        if extra and extra[0].text[:1] != "-":
            yield hit(extra[0], f"{command.name} takes no {extra[0].text[:40]}: quotes are missing",
                      source=command.source)  # fmt: skip


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
            if option.text == "-r" and not _exits(text, command, job):
                yield hit(word, "MATLAB waits at its prompt when this has run", "-batch",
                          severity="warning", source=command.source)  # fmt: skip


def _exits(text: str, command: Command, job: Job) -> bool:
    """Whether a statement, or a script that it names, ends MATLAB; or nothing can be said of it."""
    if re.search(r"\b(?:exit|quit)\b", text) or "$" in text or command.fed:
        return True
    texts = [source.text for one, source in job.sources if one.command is command]
    return not texts or any(re.search(r"(?m)^[ \t]*(?:exit|quit)\b", one) for one in texts)


@rule("JS116 A class or an archive of Java that is not there")
def _java(job: Job) -> Iterator[Hit]:
    """The class that is started, among those that the script compiles; the file behind ``-jar``."""
    compiled = "\n".join(source.text for one, source in job.sources if one.language == "java")
    # A public class is in a file of its name
    for program, source in job.sources:
        if program.language != "java" or program.path is None:
            continue
        stem = PurePosixPath(program.path).stem
        found = re.search(r"^[ \t]*public\s+(?:final\s+|abstract\s+)*class\s+(\w+)",
                          source.text, re.M)  # fmt: skip
        if found and found[1] != stem:
            message = f"the public class {found[1]} must be in {found[1]}.java"
            yield hit(found, message, f"class {stem}", source=source)
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


_LITERAL = wordset(KNOWN["tools"]["literal"])
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
