"""JS338–JS340, JS116: files and packages of programs in other languages; data files; Makefiles."""

from __future__ import annotations

import configparser
import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from jobsight.program.known import KNOWN
from jobsight.program.preflight.arguments import given_words
from jobsight.program.preflight.files import Trace, absent, near, path_of, said, siblings, trace_of
from jobsight.program.preflight.findings import Hit, Severity, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.othernames import with_arguments
from jobsight.program.shell.makefiles import make_call, read_makefile
from jobsight.program.shell.model import Command, Program, Source
from jobsight.text import closest

__all__ = ["filled"]

_OPENS: dict[str, str] = KNOWN["otherfiles"]["opens"]
_OPENS["cpp"] = _OPENS["c"]
_COMPILED = frozenset({"c", "cpp", "fortran", "java"})


@rule("JS112 A program in another language opens a file that is not there")
def _opened(job: Job) -> Iterator[Hit]:
    """Constant names, where the program cannot be without the file."""
    for command, now in trace_of(job) if not job.blind else ():
        if command.conditional or command.contained or command.folder is None:
            continue
        for program, source in job.started_by(command):
            if not _MOVES.search(source.text):
                yield from _written(program, source, command.folder, now, job)
                yield from _read(program, source, command, now, job)


_MOVES = re.compile(r"setwd\(|chdir|\bcd\(|file\.exists|isfile|\bexists\(|(?i:inquire\s*\(\s*file)")


def _read(
    program: Program, source: Source, command: Command, now: Trace, job: Job
) -> Iterator[Hit]:
    """Constant names in the text of a program that `command` starts."""
    language = program.language or ""
    words = given_words(program)
    text = with_arguments(source.text, words) if language == "r" else source.text
    code = filled(text, language)
    for found in re.finditer(_OPENS.get(language, r"(?!)"), code, re.M):
        name = found[found.lastindex or 0]
        line = code.count("\n", 0, found.end()) + 1
        path = path_of(name, command.folder, job)
        given = next((one for one in words or () if one.value == name), None)
        if not path or not absent(path, now, job):
            continue
        if given is not None:
            yield hit(given, *said(path, given), source=command.source)
        elif len(re.findall(rf"[\"']{re.escape(name)}[\"']", source.text)) < 2:
            severity: Severity | None = "warning" if language in _COMPILED else None
            yield hit(line, f"{name} is not there", near(path), severity=severity, source=source)


_PARTS = re.compile(r"[\"']([^\"'\n]+)[\"']")
_JOINS = re.compile(
    r"\b(?:fullfile|file\.path|joinpath)\(((?:\s*[\"'][^\"'\n]+[\"']\s*,)*\s*[\"'][^\"'\n]+[\"'])\s*\)"
)
"""Paths put together of constant parts."""


_NAMED = re.compile(
    r"^[ \t]*(?:#define\s+(\w+)\s+|(?:\((?:len=)?\*\)|[^\n=!;(])*?\b(\w+)(?:\[\])?\s*(?:<-|=)\s*)"
    r"([\"'][^\"'\n]+[\"'])\s*;?[ \t]*$", re.M,
)  # fmt: skip
"""A name for a text."""
_SET = re.compile(r"\b(\w+)(?:\[\])?\s*(?:<-|=(?!=))")
_ALONE = re.compile(r"(?<=[(=,])( ?)(\w+)(?=\s*[,)])")


_COMPOSED = re.compile(
    r"(?i)\bwrite\s*\(\s*([a-z]\w*)\s*,\s*(?:fmt\s*=\s*)?(?:'\(\"([\w./-]+)\"[^\n]*"
    r"|['\"]\(a\b[^\n]*?\)['\"]\s*\)\s*['\"]([\w./-]+)['\"])"
)
"""A name that Fortran composes, and how it begins: ``write(name, '(a,i4.4)') 'out/step_', k``."""


def filled(text: str, language: str | None) -> str:
    """Names that are set once, to a text, replaced by it where a call has them alone."""
    if language == "perl":
        return text
    text = re.sub(r"\b(?:getwd|pwd)\(\),\s*", "", text)
    composed = _COMPOSED.findall(text) if language == "fortran" else []
    once = len({found[0].lower() for found in composed}) == 1
    for name, one, other in composed[:1] if once else ():
        form = rf"(?i)(\bfile\s*=\s*)(?:trim\(\s*{name}\s*\)|{name}\b)"
        text = re.sub(form, lambda m, v=one or other: f"{m[1]}'{v}{{}}'", text)  # type: ignore[misc]
    text = _JOINS.sub(lambda m: '"' + "/".join(_PARTS.findall(m[1])) + '"', text)
    times = Counter(_SET.findall(text))
    named = {
        macro or name: value
        for macro, name, value in _NAMED.findall(text) if times[macro or name] == (not macro)
    }  # fmt: skip
    return _ALONE.sub(lambda m: f"{m[1]}{named.get(m[2], m[2])}", text)


_INTO = r"[\"']([\w./-]+)/[^/\"'\n]+[\"']"
_SAVED = {
    "r": rf"\b(?:write[._]\w+|saveRDS|fwrite|ggsave|pdf|png|svg|sink)\([^\"'\n]*{_INTO}",
    "julia": rf"\b(?:CSV\.write|writedlm|savefig)\([^\"'\n]*{_INTO}"
             rf"|\bopen\(\s*{_INTO}\s*,\s*\"[wa]",
    "matlab": rf"\b(?:save|saveas|writetable|writematrix|csvwrite|dlmwrite)\s*\([^\"'\n]*{_INTO}",
    "perl": rf"\bopen\b[^\n]*[\"']>>?[^\"']*[\"']\s*,[^\"'\n]*{_INTO}",
    "fortran": rf"(?i:\bopen\s*\([^!\n]*file\s*=\s*{_INTO}[^!\n]*"
               r"(?:status\s*=\s*['\"](?:replace|new|unknown)|action\s*=\s*['\"]write))",
    "c": rf"\bfopen\(\s*{_INTO}\s*,\s*\"[wa]|\bofstream\s+\w+\s*[({{]\s*{_INTO}",
    "java": rf"\bnew (?:FileWriter|PrintWriter|FileOutputStream)\(\s*{_INTO}",
}  # fmt: skip
_SAVED["cpp"] = _SAVED["c"]
_MAKES = r"(?i)dir\.create|mkdir|mkpath|make_path|\bsystem|\brun\(|create_?director|execute_command"


def _written(
    program: Program, source: Source, folder: str, trace: Trace, job: Job
) -> Iterator[Hit]:
    """Files that are written into a folder that is not there; the first."""
    form = _SAVED.get(program.language or "")
    if form is None or re.search(_MAKES, source.text):
        return
    code = filled(source.text, program.language)
    for found in re.finditer(rf"^(?![ \t]*[#%!/])[^\n]*?(?:{form})", code, re.M):
        name = found[found.lastindex or 0]
        path = path_of(name, folder, job)
        if path and absent(path, trace, job):
            line = code.count("\n", 0, found.end()) + 1
            yield hit(line, f"the folder {name} is not there", f"mkdir -p {name}", source=source)
            return


_PROGRAM = "python3 a.py\n=== a.py\nimport json\nprint(json.load(open('p.json')))\n=== p.json\n"


@rule("JS113 A data file that its program cannot parse")
def _data_files(job: Job) -> Iterator[Hit]:
    """JSON and TOML that a program is given or opens by a constant name; tabs in YAML."""
    seen: set[str] = set()
    texts = {id(program.source): text for program, text in job.pythons}
    for program in job.walk.programs:
        text = texts.get(id(program.source))
        command = program.command
        names = [one.value for one in program.arguments if one.value]
        names += [one.path for one in text.opened] if text else []
        if text and text.tree:  # names that are put into variables first
            names += re.findall(r"[\"']([\w./-]+\.(?:json|toml|ya?ml|ini|cfg))[\"']", text.text)
        for name in names:
            path = path_of(name, command.folder, job)
            kind = re.search(r"\.(?:json|toml|ya?ml|ini|cfg)$", path or "")
            if path is None or path in seen or not kind:
                continue
            seen.add(path)
            made = job.walk.made.get(path)
            content = made.text if made and made.exact else None if made else job.machine.text(path)
            if content is None or not _reads(text.text if text else None, path):
                continue
            if (wrong := _unparsed(path, content)) is not None:
                source = made or Source(os.path.relpath(job.machine.real(path)), content)
                yield hit(wrong[0], f"{PurePosixPath(path).name}: {wrong[1]}", source=source)


def _reads(text: str | None, path: str) -> bool:
    """Whether a program reads it by the usual parser; `text` is None if it is not in Python."""
    if text is None:  # every program has its own .ini
        return not path.endswith((".ini", ".cfg"))
    if re.search(r"\blines=True|allow_no_value|read_string|strict=|_prefixes=|delimiters=", text):
        return False  # lines of JSON, or what this parser takes and the usual one does not
    whole = r"json\.load\(|json\.loads\((?:(?! for ).)*\bread(?:_text|_bytes)?\(|read_json"
    kind = {"json": whole, "toml": r"toml\w*\.loads?\b",
            **dict.fromkeys(("ini", "cfg"), "ConfigParser")}  # fmt: skip
    return bool(re.search(kind.get(path.rpartition(".")[2], r"yaml\.\w*load|YAML\("), text))


def _unparsed(path: str, text: str) -> tuple[int, str] | None:
    """Line and reason."""
    try:
        if path.endswith(".json"):
            json.loads(text)
        elif path.endswith((".ini", ".cfg")):
            configparser.RawConfigParser().read_string(text)
        elif path.endswith(".toml"):
            tomllib.loads(text)
        elif found := re.search(r"^ *\t", text, re.M):
            return text.count("\n", 0, found.start()) + 1, "a tab, which YAML refuses"
    except json.JSONDecodeError as error:
        before = text[: error.pos].rstrip()
        comma = error.msg.startswith("Expecting property") and before.endswith(",")
        late = comma or "delimiter" in error.msg
        line = before.count("\n") + 1 if late else error.lineno
        return line, error.msg
    except tomllib.TOMLDecodeError as error:
        line_ = re.search(r"at line (\d+)", str(error))
        return int(line_[1]) if line_ else text.count("\n"), str(error)
    except configparser.Error as error:
        line_ = re.search(r"line:? +(\d+)", str(error))
        return int(line_[1]) if line_ else 1, str(error).partition("\n")[0]
    except RecursionError:
        return None
    return None


@rule("JS114 A Makefile that lacks the target, or cannot be read")
def _makefiles(job: Job) -> Iterator[Hit]:
    """No Makefile, no such target or prerequisite, recipes that do not begin with a tab."""
    for command, trace in trace_of(job) if not job.blind else ():
        if command.name != "make" or command.conditional or command.contained or trace.built:
            continue
        yield from _makefile(command, job)


def _makefile(command: Command, job: Job) -> Iterator[Hit]:
    call = make_call(command)
    folder = path_of(call.folder, command.folder, job) if call.folder else command.folder
    if (
        folder is None
        or not job.machine.is_folder(folder)
        or (
            call.file and call.file.value in (None, "-", "-f")
        )  # of `-f - <<EOF` the grammar loses -
    ):
        return
    path, source = call.found(folder, job.walk.made, job.machine)
    if source is None:
        if not job.machine.exists(path):
            yield hit(command, f"there is no {PurePosixPath(path).name} in the folder")
        return
    yield from _separators(source.text, source)
    makefile = read_makefile(source.text, call.values)
    if not makefile.whole:
        return

    def exists(name: str) -> bool:
        return f"{folder}/{name}" in job.walk.made or job.machine.exists(f"{folder}/{name}")

    def there(name: str) -> bool:
        return makefile.makes(name, exists) or exists(name)

    for word in call.targets:
        name = word.value or ""
        like = any(Path(one).stem == name for one in siblings(f"{folder}/{name}"))
        if name and not there(name) and not like:
            close = closest(name, makefile.targets)
            yield hit(word, f"the Makefile has no target {name}", close, source=command.source)
    chosen = {word.value for word in call.targets} or {*makefile.default}
    for rule_ in makefile.rules:
        for one in rule_.needs if chosen & {*rule_.targets} else ():
            compiled = any(one == f"{Path(name).stem}.o" for name in siblings(f"{folder}/{one}"))
            if not there(one) and not compiled:
                message = f"no rule makes {one}, which {rule_.targets[0]} needs"
                named = re.search(rf"(?m)^[^#\n]*(?<!\S){re.escape(one)}(?!\S)", source.text)
                line = source.text.count("\n", 0, named.end()) + 1 if named else rule_.line
                yield hit(line, message, source=source)


def _separators(text: str, source: Source) -> Iterator[Hit]:
    """Recipes that begin with blanks."""
    in_rule = continued = False
    for number, line in enumerate(text.split("\n"), 1):
        if in_rule and not continued and re.match(r" +[^\s#]", line) and not re.match(
            r" +(?:ifn?eq|ifn?def|else|endif|include|[\w.]+\s*[:+?]?=)", line
        ):  # fmt: skip
            yield hit(number, "a recipe begins with a tab, not with blanks", source=source)
            return
        if not continued and line[:1] not in ("\t", " ", "#", ""):
            in_rule = bool(re.match(r"[^\s:=#][^:=#]*:(?!=)", line))
        continued = line.endswith("\\")
