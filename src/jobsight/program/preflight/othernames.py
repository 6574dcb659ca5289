"""JS354, JS356, JS357, JS363–JS365: names and tables in programs of other languages than Python."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial

from jobsight.program.known import KNOWN
from jobsight.program.preflight.arguments import given_words
from jobsight.program.preflight.files import made_before, path_of, siblings
from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.known import ATTACHES
from jobsight.program.shell.model import Program, Source, Word
from jobsight.text import one_slip, wordlist

__all__ = ["PERL_ASIDE", "with_arguments"]

_KNOWN = {one: wordlist(names) for one, names in KNOWN["othernames"]["known"].items()}
"""Functions of the languages themselves that programs use most."""
_CALLS = {"r": r"(?<![\w.$@:%])([A-Za-z][\w.]*)\(", "julia": r"(?<![\w.@:!])([A-Za-z]\w*!?)\(",
          "matlab": r"(?<![\w.@'])([A-Za-z]\w*)\("}  # fmt: skip
_SET = {
    "r": r"(?<![\w.$@])([A-Za-z][\w.]*)\s*(?:<-|=(?!=))|\bfor\s*\(\s*(\w+)\s+in\b",
    "julia": r"(?<![\w.])([A-Za-z]\w*)\s*[-+*/]?=(?![=>])|\bfor\s+(\w+)\s*(?:=|in)\s",
    "matlab": r"(?<![\w.])([A-Za-z]\w*)\s*(?:\([^()]*\))?\s*=(?!=)|\bfor\s+(\w+)\s*=",
    "lua": r"(?<![\w.:])([A-Za-z]\w*)\s*=(?!=)|\bfor\s+(\w+)\b",
}
"""What gives a name a value."""
PERL_ASIDE = r"(?ms)^=[a-z].*?(?:^=cut\b|\Z)|^__(?:END|DATA)__.*|(?<![$\\])#[^\n]*"
"""Documentation, data and comments of Perl."""
_COMMENT = {"matlab": "[#%]", "lua": "--", "fortran": "!"}
_TEXTS = r"\"{3}(?s:.*?)\"{3}|\"(?:[^\"\\\n]|\\.)*\"|(?<![\w)\]}.'])'(?:[^'\\\n]|\\.)*'"
_OF_DATA = re.compile(
    r"~|\b(?:with|within|subset|aes|mutate|filter|select|summari[sz]e|arrange|group_by|transform"
    r"|data\.table|quote|bquote|library|require)\b|%>%|\|>|\[,|\[\w*,"
)
"""Lines of R in which names may be columns of a table."""


def _programs(job: Job, languages: Collection[str]) -> Iterator[tuple[Program, Source, str]]:
    """Programs of these languages, with their texts without strings and comments."""
    for program, source in job.sources:
        language = program.language or ""
        if source.exact and language in languages:
            form = rf"{_TEXTS}|{_COMMENT.get(language, '#')}.*"
            form = {"go": r"(?!)", "perl": PERL_ASIDE}.get(language, form)
            yield program, source, re.sub(form, _blanked, source.text)


def _blanked(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


@rule("JS354 A name that nothing defines")
def _undefined(job: Job) -> Iterator[Hit]:
    """One slip away from a well-known function, or from a variable of the program."""
    for program, source, text in _programs(job, _SET):
        language = program.language or ""
        seen: set[str] = set()
        for name, at, close in (
            *_functions(language, text, job.program_texts, source),
            *_variables(language, text, job.program_texts),
        ):
            if name not in seen:
                seen.add(name)
                line = text.count("\n", 0, at) + 1
                yield hit(line, f"nothing defines {name}", close, source=source)
    if not job.machine.command("gfortran"):
        # Variables that Fortran sets without a declaration, after `implicit none`
        texts = [(program, source, _JOINED.sub(" \v", text.lower()))
                 for program, source, text in _programs(job, {"fortran"})]  # fmt: skip
        everything = "\n".join(text for _, _, text in texts)
        known = {*re.findall(r"[a-z]\w*", "\n".join(_DECLARES.findall(everything)))}
        modules = {*re.findall(r"^[ \t]*module[ \t]+(\w+)", everything, re.M), "iso_fortran_env"}
        for program, source, text in texts:
            used = {*re.findall(r"^[ \t]*use\b(?:[ \t]*,[^:\n]*::)?[ \t]*(\w+)", text, re.M)}
            fixed = (program.path or "").endswith((".f", ".F", ".for"))
            if fixed or used - modules or not re.search(r"^[ \t]*implicit[ \t]+none", text, re.M):
                continue
            included = re.search(r"^[ \t]*#?[ \t]*include\b", text, re.M)
            for found in () if included else _ASSIGNS.finditer(text):
                if found[1] not in known:
                    line = len(re.findall(r"[\n\v]", text[: found.start(1)])) + 1
                    yield hit(line, f"{found[1]} is not declared", source=source)
                    break


_JOINED = re.compile(r"&[ \t]*\n[ \t]*&?")
_DECLARES = re.compile(
    r"^[ \t]*(?:integer|real|double\s+precision|complex|logical|character|type|class|use|common"
    r"|external|namelist|procedure)\b.*|^.*(?:::|=>|\bfunction\b|\bsubroutine\b).*", re.M,
)  # fmt: skip
_ASSIGNS = re.compile(
    r"^[ \t]*(?:\d+[ \t]+)?(?:(?:\w+[ \t]*:[ \t]*)?do[ \t]+)?"
    r"([a-z]\w*)[ \t]*(?:\([^=\n]*\))?[ \t]*=(?![=>])", re.M,
)  # fmt: skip


def _functions(
    language: str, text: str, everything: str, source: Source
) -> Iterator[tuple[str, int, str]]:
    known: Iterable[str] = _KNOWN.get(language, ())
    for found in re.finditer(_CALLS.get(language, r"(?!)"), text):
        name = found[1]
        if name in known or len(name) < 4:
            continue
        close = next((one for one in known if len(one) > 3 and _slip(name, one)), None)
        bare = rf"(?<![\w.]){re.escape(name)}(?![\w.(!])|\bfunction\b.*\b{re.escape(name)}\b"
        set_here = rf"^[ \t]*{re.escape(name)}\(.*\)\s*=[^=]"
        own = f"{name}.m" in siblings(f"{source.folder}/x")
        if close and not own and not re.search(f"{bare}|{set_here}", everything, re.M):
            yield name, found.start(), close


def _variables(language: str, text: str, everything: str) -> Iterator[tuple[str, int, str]]:
    """Names that stand once in all programs of the job, and are nearly those of variables."""
    names = {one[1] or one[2] for one in re.finditer(_SET[language], text)}
    lines = text.split("\n")
    for found in re.finditer(r"(?<![\w.$@:])[A-Za-z][\w.]*(?![\w.]*\s*(?:[(=!]|<-))", text):
        name, at = found[0].rstrip("."), found.start()
        once = len(name) > 3 and len(re.findall(rf"(?<![\w.]){re.escape(name)}\b", everything)) == 1
        line = lines[text.count("\n", 0, at)]
        if not once or (language == "r" and _OF_DATA.search(line)) or "import" in line:
            continue
        close = next((one for one in sorted(names) if len(one) > 3 and _slip(name, one)), None)
        if close is not None and not re.search(rf"\b{re.escape(close)}\s*(?:<-|=[^=])", line):
            yield name, at, close


def _slip(name: str, other: str) -> bool:
    """Whether a name was meant for the other: one slip, or only the case differs."""
    same = name != other and name.lower() == other.lower()
    plural = name == f"{other}s" or other == f"{name}s" or name[:-1] == other[:-1]
    return same or (one_slip(name, other) and not plural and name[0] == other[0])


_FROM: dict[str, dict[str, str]] = KNOWN["othernames"]["from"]
"""Packages, and what they bring: functions that the languages themselves lack."""
_LOADS = re.compile(
    r"tidyverse|pacman|box::use|lapply\([^\n]*(?:library|require)|\bsource\(|\binclude\("
    r"|^[ \t]*do\b",
    re.M,
)
_BRINGS = (
    r"(?m)^[^#\n]*?(?:(?:library|require|requireNamespace|loadNamespace)\("
    r"|\b(?:using|import|use|require)\s+[A-Z]\w+)[^\n]*"
)
_BEFORE = {"r": r"(?<![\w.$@:])", "julia": r"(?<![\w.:!@])", "perl": r"(?<![\w>:$@%&-])"}
_BARE = re.compile(
    r"\b(?:Random|Printf|LinearAlgebra|Dates|Statistics|DelimitedFiles|Distributed)\b|"
    + "|".join(rf"\b{re.escape(one)}\b" for one in ATTACHES["r"])
)
"""Packages of which is known all that they load for the program that names them."""


@rule("JS356 A function whose package is not loaded")
def _unloaded(job: Job) -> Iterator[Hit]:
    """In R, Julia and Perl, where no other package that is loaded may bring it."""
    for program, source, text in _programs(job, _FROM):
        language = program.language or ""
        packages = re.findall(_BRINGS, source.text)
        packages += [one.text[2:] for one in program.command.arguments if one.text[:2] == "-M"]
        if _LOADS.search(source.text):
            continue
        named = {one for text in packages for one in re.findall(r"[\w.]+", text)}
        attached = {one for name in named for one in ATTACHES.get(language, {}).get(name, ())}
        for package, functions in _FROM[language].items():
            if package in attached or any(
                re.search(rf"\b{re.escape(package)}\b", one) for one in packages
            ):
                continue
            found = _first_use(functions, language, text, job.program_texts)
            others = [one for one in packages if language != "perl" and not _BARE.search(one)]
            if found is not None and not others:
                load = {"r": f"library({package})", "julia": f"using {package}"}.get(language)
                message = f"{found[1]} is of {package}, which is not loaded"
                yield hit(found, message, load or f"use {package};", source=source)


def _first_use(functions: str, language: str, text: str, everything: str) -> re.Match[str] | None:
    """The first call of one of these that the programs of the job do not define themselves."""
    before = _BEFORE[language]
    for name in wordlist(functions):
        word = re.escape(name)
        own = rf"\b{word}\s*(?:<-|=[^=])|(?:function|sub)\s+(?:[\w.]+\.)?{word}\b"
        own += rf"|^[ \t]*(?:use|using|import)\b[^;\n]*\b{word}\b"
        end = r"\b" if name[0] == "@" else r"\s*\("
        found = re.search(rf"{before}({word}){end}", text)
        if found and not re.search(rf"{own}|^[ \t]*{word}\(.*\)\s*=", everything, re.M):
            return found
    return None


@rule("JS357 What the compiler of Go refuses")
def _go(job: Job) -> Iterator[Hit]:
    """Packages that are imported, and variables that are declared, and never used."""
    for _, source, text in _programs(job, ("go",)):
        code = re.sub(r"//.*|/\*(?s:.*?)\*/", _blanked, text)
        block = re.search(r"(?m)^import\s*\((?s:.*?)^\)|^(?:import\s+[^(\n]*\n)+", code)
        start, end = block.span() if block else (0, 0)
        rest = code[end:]
        form = r"(?m)^[ \t]*(?:import\s+)?([\w.]+\s+)?\"([\w./-]+)\""
        imports = re.finditer(form, code[start:end])
        for found in imports:
            name = (found[1] or found[2].rpartition("/")[2]).strip()
            aside = name in ("_", ".", "C") or "-" in name
            if not aside and not re.search(rf"\b{name}\.", rest):
                line = code.count("\n", 0, start + found.start(2)) + 1
                yield hit(line, f"{found[2]} is imported and not used", source=source)
        for found in re.finditer(r"(?m)^[ \t]+(?:var\s+(?=\w+\s)|(?=\w+\s*:=))(\w+)", rest):
            name, inside = found[1], re.search(r"(?m)^func\b", rest[: found.start()])
            if name != "_" and inside and len(re.findall(rf"\b{name}\b", rest)) == 1:
                line = code.count("\n", 0, end + found.start(1)) + 1
                yield hit(line, f"{name} is declared and not used", "_", source=source)


_ARRAYS = {
    "julia": r"(?<![\w.@])([A-Za-z]\w*)\[0\]",
    "matlab": r"(?m)(?<![\w.])([A-Za-z]\w*)\(0\)",
}


@rule("JS365 An index of 0 where the first is 1")
def _zero_index(job: Job) -> Iterator[Hit]:
    """Of arrays in Julia and MATLAB."""
    for program, source, text in _programs(job, ("julia", "matlab")):
        for found in re.finditer(_ARRAYS[program.language or ""], text):
            values = r"(?:\[|zeros|ones|linspace|rand|load|readmatrix|\d+:)"
            made = rf"(?<![\w.]){found[1]}\s*=\s*{values}"
            array = program.language == "julia" and not re.search(r"\bDict\b|OffsetArray", text)
            if array or (program.language == "matlab" and re.search(made, text)):
                message = f"{found[1]} begins with 1: 0 is out of bounds"
                yield hit(found, message, source=source)


_BLANKED = re.compile(r"#[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
_NAME = r"(?<![\w.$@])([A-Za-z.][\w.]*)"


def _programs_of_r(job: Job) -> list[tuple[Program, Source]]:
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
    for _, source in _programs_of_r(job):
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
    for program, source in _programs_of_r(job) if not job.blind else ():
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
