"""JS111: packages of R, Perl and Lua; what Python can import in an environment built from lists."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from jobsight.commands import bounded_child, child_environment, run_command
from jobsight.program.known import KNOWN
from jobsight.program.preflight.files import text_here
from jobsight.program.preflight.findings import Hit, Severity, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.othernames import PERL_ASIDE
from jobsight.program.shell.model import Command, Program, Source, Word
from jobsight.text import one_slip, wordset

__all__ = ["R_PACKAGES", "built_for", "requirement_of"]

R_PACKAGES = wordset(KNOWN["packages"]["r_packages"])
"""Packages that come with R or that many sites install."""
_R_FOLDERS = ("/usr/lib/R/library", "/usr/lib/R/site-library", "/usr/local/lib/R/site-library",
              "/usr/lib64/R/library", "/usr/share/R/library")  # fmt: skip


@cache
def _perl_folders(perl: str) -> tuple[str, ...]:
    words = (perl, "-e", 'print join "\\n", @INC')
    ended = run_command(words, env=child_environment(PERL5OPT=""), timeout=5, most_output=1 << 16,
                        before=bounded_child())  # fmt: skip
    return tuple(ended.stdout.decode("utf-8", "replace").split("\n"))


@cache
def _r_packages() -> frozenset[str]:
    """Packages of R in the usual folders, and in those of the user."""
    own = [str(one) for one in Path.home().glob("R/*/*")]
    names = {one for folder in (*_R_FOLDERS, *own) if Path(folder).is_dir()
             for one in os.listdir(folder)}  # fmt: skip  # noqa: PTH208
    return frozenset(names)


@rule("JS111 R, Perl or Lua lacks a package that is loaded")
def _packages(job: Job) -> Iterator[Hit]:
    """Looked up in the folders of this machine's interpreter, where no module chooses another."""
    for program, source in job.sources:
        command = program.command
        if command.contained or command.environment.opaque:
            continue
        if program.language == "r":
            yield from _of_r(source, command, job)
        elif program.language == "perl" and not command.environment.modules:
            yield from _of_perl(source, command, job)
        elif program.language == "lua" and command.folder and program.path:
            if re.search(r"LUA_PATH|package\.(?:path|searchers|loaders)", source.text + job.text):
                continue
            own = os.path.dirname(program.path)  # noqa: PTH120
            for found in re.finditer(r"\brequire\s*\(?\s*[\"']([\w.]+)[\"']", source.text):
                name = f"{found[1].replace('.', '/')}.lua"
                here = job.machine.exists(f"{command.folder}/{name}")
                if job.machine.exists(f"{own}/{name}") and not here:
                    message = f"Lua looks for {name} in the current folder, not in its program's"
                    yield hit(found, message, "LUA_PATH", source=source)


def _of_r(source: Source, command: Command, job: Job) -> Iterator[Hit]:
    modules = " ".join(one.text for one in command.environment.modules)
    own = _libraries(source, command, job)
    here = own is not None and not modules and job.machine.command("Rscript")
    there = _r_packages() if here else frozenset()
    known = there | R_PACKAGES | (own or frozenset())
    code = re.sub(r"#.*", "", f"{source.text}\n{job.text}\n{job.program_texts}")
    partial = own and not re.search("(?i)bundle|bioc|cran", modules)
    judged = bool(there or partial) and not re.search(r"(?i)install|\b(?:renv|pak|p_load)\b", code)
    form = (
        r"^(?:suppress\w+\()*(?:library|require)\(\s*[\"']?([\w.]+)[\"']?\s*[,)]"
        r"|^[ \t]*([\w.]+)::\w"
    )
    for found in re.finditer(form, source.text, re.M):
        name = found[1] or found[2]
        slip = next((one for one in sorted(known) if len(one) > 3 and one_slip(name, one)), None)
        if name in there or name in (own or ()) or (name in known and not there):
            continue
        if slip is None and not judged:
            continue
        severity: Severity | None = "warning" if name in known or not (there or slip) else None
        yield hit(found, f"R has no package {name}", slip, severity=severity, source=source)


def _libraries(source: Source, command: Command, job: Job) -> frozenset[str] | None:
    """The packages of the folders that a job adds to R's libraries; None: they are not known."""
    if any(one.startswith("R_LIBS") for one in job.variables or ()):
        return None
    given = [value for name, value in command.assigned.items() if name.startswith("R_LIBS")]
    start = job.machine.text(f"{command.folder}/.Renviron") or ""
    given += re.findall(r"(?m)^R_LIBS\w*=[\"']?([^\"'\n]+)", start)
    calls = re.findall(r"\.libPaths\((?!\))(.*)", source.text)
    given += [one for call in calls for one in re.findall(r"[\"']([^\"']+)[\"']", call) or [None]]
    found: set[str] = set()
    for one in given:
        for folder in (one or "?").split(":"):
            path = job.machine.real(os.path.join(command.folder or "/", folder))  # noqa: PTH118
            names = os.listdir(path) if folder and os.path.isdir(path) else []  # noqa: PTH112, PTH208
            if folder and not names:
                return None
            found.update(names)
    return frozenset(found)


def _of_perl(source: Source, command: Command, job: Job) -> Iterator[Hit]:
    perl = job.machine.command("perl")
    added = re.search(r"PERL5LIB|\bcpanm?\b|\blocal::lib\b|(?<!\S)-I\s", job.text)
    if perl is None or added or re.search(r"\buse lib\b|@INC", source.text):
        return
    given = (one.text[2:] for one in command.arguments if one.text[:2] == "-I")
    folders = [*_perl_folders(perl), *given]
    text = re.sub(PERL_ASIDE, lambda m: re.sub(r"[^\n]", " ", m[0]), source.text)
    for found in re.finditer(r"^[ \t]*use ([A-Z][\w:]*)", text, re.M):
        path = found[1].replace("::", "/") + ".pm"
        if not any(job.machine.exists(f"{one}/{path}") for one in folders):
            yield hit(found, f"Perl has no module {found[1]}", source=source)


_PACKAGES: str = KNOWN["packages"]["packages"]
"""Packages, with the names that they add where these differ, and the packages that they need."""

_PARTS = [one.partition(":") for one in _PACKAGES.split(";")]
_KNOWN = {front.split()[0]: (front.split(), needs.split()) for front, _, needs in _PARTS}
_CREATES = re.compile(r"(?m)^[^#\n]*\b(?:conda|mamba|micromamba)\s+(?:env\s+)?create\b")


def requirement_of(module: str) -> str:
    """The package that adds a module."""
    return next((name for name, (adds, _) in _KNOWN.items() if module in adds[1:]), module)


def built_for(program: Program, job: Job) -> tuple[str, frozenset[str]] | None:
    """The list that a job builds the environment of a program from, and what can be imported.

    None: it builds none, or one of the packages is not known with all that it needs.
    """
    command = program.command
    before: list[Command] = []
    for one in job.commands:
        if one is command:
            break
        before.append(one)
    if re.search(r"PYTHONPATH|--system-site|\bspack\b|\$\(pip|easy_install", job.text):
        return None
    if not command.environment.fresh or _CREATES.search(job.text):
        return None
    installs = [words for one in before if (words := _installed(one)) is not None]
    lists = [found for words in installs for found in _pip(words, before, job)]
    if not lists or any(one is None for _, one in lists):
        return None
    names = {"pip", "setuptools", "wheel"} | {one for _, some in lists for one in some or ()}
    known = _imported(names)
    return None if known is None else (lists[-1][0], known)


def _installed(command: Command) -> tuple[Word, ...] | None:
    """The words behind ``pip install``; None: it is another command."""
    texts = [one.text for one in command.words[:5]]
    at = texts.index("install") if "install" in texts else 0
    called = at and any(re.search(r"(?:^|/)pip[\d.]*$|^uv$", one) for one in texts[:at])
    return command.words[at + 1 :] if called else None


def _pip(
    words: tuple[Word, ...], before: list[Command], job: Job
) -> list[tuple[str, list[str] | None]]:
    """For each list or package of a call of pip: its name, and the packages; None: not known."""
    folder = next((one.folder for one in before if {*words[:1]} & {*one.words}), None)
    found: list[tuple[str, list[str] | None]] = []
    taken = ""
    for word in words:
        option, taken = taken, ""
        if option in ("-r", "--requirement"):
            found.append((word.text, _requirements(word, folder, job)))
        elif option in ("-c", "--constraint"):
            continue
        elif word.text in ("-r", "--requirement", "-c", "--constraint"):
            taken = word.text
        elif word.text in (".", "-e"):
            found.append((word.text, None))
        elif not word.text.startswith("-"):
            found.append(("pip install", _named_packages([word.value or "?"])))
    return found


def _named_packages(lines: list[str]) -> list[str] | None:
    """The packages that lines of a list name; None: one of them is not a plain name."""
    bare = [re.sub(r"\s*(?:(?:^|\s)#.*|;.*)", "", one).strip() for one in lines]
    names = [re.fullmatch(r"([\w.-]+?)\s*(?:[<>=!~].*)?", one) for one in bare if one]
    if not all(names):
        return None
    return [re.sub(r"[-_.]+", "-", one[1].lower()) for one in names if one]


def _requirements(word: Word, folder: str | None, job: Job) -> list[str] | None:
    text = text_here(word, folder, job)
    return None if text is None else _named_packages(text.splitlines())


def _imported(packages: set[str]) -> frozenset[str] | None:
    """What packages and all that they need add; None: one is not known."""
    names, seen, waiting = set(sys.stdlib_module_names), set[str](), list(packages)
    while waiting:
        if (one := waiting.pop()) in seen:
            continue
        if one not in _KNOWN:
            return None
        seen.add(one)
        adds, needs = _KNOWN[one]
        names |= {one.replace("-", "_"), *adds[1:]}
        waiting += needs
    return frozenset(names)
