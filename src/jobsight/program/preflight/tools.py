"""JS341, JS342, JS361: programs of awk and sed, and arithmetic of the shell."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.shell.model import Command, Word
from jobsight.program.submission.job import Place

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
