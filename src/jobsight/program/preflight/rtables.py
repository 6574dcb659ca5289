"""JS363, JS364: functions of R programs and their arguments; tables and their columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from functools import partial

from jobsight.program.preflight.arguments import given_words
from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.traces import made_before, path_of
from jobsight.program.shell.model import Program, Source, Word

__all__ = ["with_arguments"]

_BLANKED = re.compile(r"#[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
_NAME = r"(?<![\w.$@])([A-Za-z.][\w.]*)"


def _programs(job: Job) -> list[tuple[Program, Source]]:
    return [one for one in job.sources if one[0].language == "r" and one[1].exact]


def _inside(text: str, at: int) -> list[str] | None:
    """The parts, between commas, of the round bracket that opens before `at`."""
    depth, parts, start = 0, list[str](), at
    for k in range(at, min(len(text), at + 4000)):
        if text[k] in "([{":
            depth += 1
        elif text[k] in ")]}":
            depth -= 1
        if depth < 0 or (text[k] == "," and depth == 0):
            parts.append(text[start:k])
            start = k + 1
        if depth < 0:
            return [one.strip() for one in parts] if "".join(parts).strip() else []
    return None


@rule("JS363 An argument that a function of R does not take")
def _misfits(job: Job) -> Iterator[Hit]:
    """Functions of the program that are defined once, without ``...``."""
    for _, source in _programs(job):
        text = _BLANKED.sub(lambda m: re.sub(r"[^\n\"']", " ", m[0]), source.text)
        for made in re.finditer(r"(?m)^([\w.]+)\s*(?:<-|=)\s*function\s*\(", text):
            name, taken = made[1], _inside(text, made.end())
            formals = [re.split(r"\s*=", one)[0] for one in taken or []]
            again = len(re.findall(rf"(?<![\w.]){re.escape(name)}\s*(?:<-|=(?!=))", text))
            if taken is None or "..." in formals or again != 1:
                continue
            for call in re.finditer(rf"(?<![\w.$@:]){re.escape(name)}\s*\(", text):
                given = _inside(text, call.end()) or []
                named = [m[1] for one in given if (m := re.match(r"([\w.]+)\s*=(?!=)", one))]
                wrong = [one for one in named if not any(f.startswith(one) for f in formals)]
                if wrong:
                    yield hit(call, f"{name}() has no argument {wrong[0]}", source=source)
                elif len(given) > len(formals) and "..." not in "".join(given):
                    message = f"{name}() takes {len(formals)} arguments, {len(given)} are given"
                    yield hit(call, message, source=source)


def with_arguments(text: str, words: list[Word] | None) -> str:
    """An R program with the values of ``args[1]`` filled in, where these are known."""
    form = r"(?m)^(\w+)\s*(?:<-|=)\s*commandArgs\(\s*(?:trailingOnly\s*=\s*)?T(?:RUE)?\s*\)"
    found = re.search(form, text)
    if found is None or words is None or text.count("commandArgs") != 1:
        return text
    own, values = found[1], [one.value for one in words]
    asked = (
        rf"if\s*\(\s*length\({own}\)\s*(?:>\s*0|>=\s*1|==\s*1)\s*\)\s*({own}\[1\])\s*else"
        r"\s+([\"'][^\"'\n]+[\"'])"
    )
    text = re.sub(asked, lambda m: m[1] if values else m[2], text)

    def filled(word: re.Match[str]) -> str:
        at = int(word[1]) - 1
        value = values[at] if 0 <= at < len(values) else None
        return word[0] if value is None or re.search(r"[\"\\\n]", value) else f'"{value}"'

    return re.sub(rf"(?<![\w.]){own}\[\[?(\d+)\]\]?(?!\s*<-)", filled, text)


_READERS = (
    r"(?m)^[ \t]*([\w.]+)\s*(?:<-|=)\s*(?:utils::)?(read\.csv|read\.delim|read_csv|read_tsv)"
    r"\(\s*(?:file\s*=\s*)?[\"']([^\"'\n]+)[\"']([^\n]*)$"
)


def _tables(
    program: Program, text: str, made: set[str], job: Job
) -> Iterator[tuple[str, set[str]]]:
    """Tables that are read once, and not given other columns; with those that they have."""
    for name, reader, file, options in re.findall(_READERS, text):
        path = path_of(file, program.command.folder, job)
        own = re.escape(name)
        changed = re.search(
            rf"(?:names|colnames|setnames|setDT|within|attach)\(\s*{own}\b|(?<![\w.]){own}\[[^\n]*<-|:="
            rf"|function\([^)]*(?<![\w.]){own}\b|for\s*\(\s*{own}\b"
            rf"|(?<![\w.]){own}\s*(?:%>%|\|>)\s*$|(?<![\w.]){own}\s*%<>%", text, re.M
        )  # fmt: skip
        again = len(re.findall(rf"(?<![\w.$]){own}\s*(?:<-|=(?!=))", text)) > 1
        odd = re.search(r"header\s*=\s*F|col\.?_?names|skip|sep\s*=|delim\s*=|comment", options)
        if changed or again or odd or path is None or path in made | job.walk.made.keys():
            continue
        head = (job.machine.text(path) or "").split("\n")[0]
        mark = "," if reader in ("read.csv", "read_csv") else "\t"
        fields = next(csv.reader([head], delimiter=mark), [])
        columns = {re.sub(r"[^\w.]", ".", one.strip()) for one in fields}
        added = set(re.findall(rf"(?<![\w.]){own}\$([\w.]+)(?:\[[^\n]*?\])?\s*<-", text))
        if len(columns) > 1:
            yield name, columns | added


@rule("JS364 A column that the table of an R program does not have")
def _columns(job: Job) -> Iterator[Hit]:
    """``d$x``, ``d[["x"]]``, ``merge(by.x = "x")`` and formulas, of tables that are here."""
    made = made_before(job)
    for program, source in _programs(job) if not job.blind else ():
        text = with_arguments(source.text, given_words(program))
        texts = dict(re.findall(r"(?m)^(\w+)\s*(?:<-|=)\s*([\"'][^\"'\n]+[\"'])\s*$", text))
        text = re.sub(r"(?<=\()\w+(?=\s*[,)])", partial(_replaced, texts), text)
        tables = dict(_tables(program, text, made.get(id(program.command), set()), job))
        for name, columns in tables.items():
            for at, column in _asked(name, re.sub(r"(?m)#[^\n\"']*$", "", text)):
                whole = column in columns or any(one.startswith(column) for one in columns)
                if not whole and f'"{column}" %in%' not in text:
                    line = text.count("\n", 0, at) + 1
                    yield hit(line, f"{name} has no column {column}", source=source)


def _replaced(texts: Mapping[str, str], name: re.Match[str]) -> str:
    return texts.get(name[0], name[0])


def _asked(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Where a program asks for columns of a table, and which."""
    own = re.escape(name)
    for found in re.finditer(rf"(?<![\w.$]){own}\$([A-Za-z][\w.]*)(?!\s*(?:<-|\())", text):
        if not text.endswith("is.null(", 0, found.start()):
            yield found.start(), found[1]
    for found in re.finditer(rf"(?<![\w.$]){own}\[(?:\[|[^\]\n]*,\s*)[\"']([\w.]+)[\"']\]", text):
        yield found.start(), found[1]
    for found in re.finditer(r"(?<![\w.])merge\(", text):
        parts = _inside(text, found.end()) or []
        for side, key in zip(parts[:2], ("x", "y"), strict=False):
            by = [m[1] for one in parts if (m := re.fullmatch(
                rf"by(?:\.{key})?\s*=\s*[\"']([\w.]+)[\"']", one))]  # fmt: skip
            yield from ((found.start(), one) for one in by if side == name)
    form = rf"([\w.]+)\s*~([^,]*),\s*(?:data\s*=\s*)?{own}\s*[,)]"
    for found in re.finditer(form, text):
        for one in re.findall(rf"{_NAME}(?!\s*\(|[\w.])", f"{found[1]} {found[2]}"):
            word = re.escape(one)
            made = rf"(?<![\w.$]){word}\s*(?:<-|=(?!=))|function\([^)]*\b{word}\b"
            if not re.search(made, text) and one not in (".", "pi", "T", "F", "TRUE", "FALSE"):
                yield found.start(), one
