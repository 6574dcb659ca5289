"""JS004, JS110, JS337, JS366: programs in compiled languages and Perl, as their compilers see them.

``gcc -fsyntax-only``, ``gfortran -fsyntax-only`` and ``perl -c`` read a program and run nothing of
it. Perl would run what ``BEGIN``, ``use`` and attributes name: it is asked only where these name
well-known modules alone.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from jobsight.commands import bounded_child, child_environment, run_command
from jobsight.program.known import KNOWN
from jobsight.program.languages import syntax_tree, tree_errors
from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.shell.model import Program, Source

__all__ = ["as_matlab", "dedented", "unclosed"]

_SECONDS = 5.0
_MOST = 1 << 18
_TREES = {"c": "C", "cpp": "C++", "cuda": "CUDA", "fortran": "Fortran", "julia": "Julia", "r": "R",
          "go": "Go", "rust": "Rust", "java": "Java", "perl": "Perl", "lua": "Lua",
          "matlab": "MATLAB"}  # fmt: skip
_COMPILERS = {"c": ("gcc", "c"), "cpp": ("g++", "c++"), "fortran": ("gfortran", "f95")}
_FLAGS = re.compile(r"-(?:std=|[DU]|fopenmp|ffree|ffixed|fdefault|fno-range|m\w+=)\S*")
_PURE = re.compile(
    r"use (?:strict|warnings|utf8|integer|feature|v?5[\d.]*|vars|POSIX|Carp|(?:List|Scalar)::Util"
    r"|Data::Dumper|Getopt::\w+|File::(?:Basename|Spec|Path|Temp|Copy)|Time::HiRes|Text::Wrap)"
    r"(?:\s+qw\s*[(/{][\w\s:$@%&*-]*[)/}]|\s*\(\s*\)|\s+'[\w:]+'(?:\s*,\s*'[\w:]+')*)?\s*;"
)
"""What Perl may load when it compiles: with words alone, as what follows ``use`` is run."""
_RISKY = re.compile(
    r"\b(?:use|no|BEGIN|UNITCHECK|CHECK|INIT)\b|\(\?\??\{|_ATTRIBUTES|\bsub\s+\w+\s*:"
)


@rule("JS004 A program in another language cannot be parsed")
def _other_syntax(job: Job) -> Iterator[Hit]:
    """What a compiler of this machine refuses, else what the grammar cannot take."""
    seen: set[tuple[str, int]] = set()
    with tempfile.TemporaryDirectory() as modules:
        for program, source in job.sources:
            language, key = program.language or "", (source.file, source.first)
            unread = language in _TREES and source.exact and key not in seen
            if not unread or len(source.text) > _MOST:
                continue
            seen.add(key)
            compiler = _compiler(program, source, job, modules)
            if compiler is not None:
                yield from _refused(compiler, source, program, job, modules)
            else:
                yield from _by_tree(source, language, program)


def _compiler(program: Program, source: Source, job: Job, modules: str) -> list[str] | None:
    """The call that reads a program from its standard input; None: it cannot be asked."""
    language = program.language or ""
    if language == "perl":
        perl = job.machine.command("perl")
        plain = re.sub(_PURE, "", source.text)
        risky = _RISKY.search(plain)
        first = source.text.partition("\n")[0]
        odd = first.startswith("#!") and re.search(r"\s-(?!w\b)", first)
        return None if perl is None or risky or odd else [perl, "-c"]
    name, kind = _COMPILERS.get(language, ("", ""))
    tool = job.machine.command(name) if name else None
    if tool is None:
        return None
    words = [one.value or "" for one in program.command.arguments]
    folders = {one for one in (source.folder, program.command.folder) if one}
    folders |= {f"{program.command.folder}/{one[2:]}" for one in words if one.startswith("-I")}
    if kind == "f95" and PurePosixPath(program.path or "").suffix in (".f", ".F", ".for"):
        kind = "f77"
    cpp = "-cpp-input" if kind != "c" and (program.path or "").endswith((".F", ".F90")) else ""
    given = [one for one in words if _FLAGS.fullmatch(one)]
    flags = ["-J", modules] if language == "fortran" else ["-Wimplicit-function-declaration"]
    paths = [f"-I{one}" for one in sorted(folders)]
    call = [tool, "-fsyntax-only", "-fdiagnostics-plain-output", *flags, *given, *paths]
    return [*call, "-x", f"{kind}{cpp}"]


def _refused(
    call: list[str], source: Source, program: Program, job: Job, folder: str
) -> Iterator[Hit]:
    path = Path(folder, "source")
    path.write_text(source.text, encoding="utf-8", errors="replace")
    bare = child_environment(PERL5OPT="", PERL5LIB="", PERL_USE_UNSAFE_INC="0")
    ended = run_command(
        [*call, str(path)], env=bare, timeout=_SECONDS, most_output=_MOST, before=bounded_child()
    )
    if ended.status is None:
        yield from _by_tree(source, program.language or "", program)
    said = ended.stderr.decode("utf-8", "replace")
    if ended.status is None or re.search(r"No such file|Cannot open module|Can't locate", said):
        return
    lines: set[int] = set()
    for line, message in _complaints(said, path, source.text, program, job):
        if line not in lines and len(lines) < 3:
            lines.add(line)
            yield hit(line, f"{PurePosixPath(call[0]).name}: {message}", source=source)


def _complaints(
    said: str, path: Path, text: str, program: Program, job: Job
) -> Iterator[tuple[int, str]]:
    """Lines and messages; of what is not closed, the line where it begins."""
    where, lines = re.escape(str(path)), text.split("\n")
    for found in re.finditer(rf"^(.*?) at {where} line (\d+)[.,].*", said, re.M):
        line, near = int(found[2]), re.search(r'near "([^"]*)("?)$', found[0])
        start = lines[line - 1].lstrip() if line <= len(lines) else ""
        begins = near and (not near[2] or start.startswith(near[1][:12] or "?"))
        yield _before(lines, line) if begins else line, found[1]
    for found in re.finditer(rf"^{where}:(\d+):(\d+): (?:fatal )?error: (.*)", said, re.M | re.I):
        line, message = int(found[1]), found[3]
        before = lines[line - 1][: int(found[2]) - 1] if line <= len(lines) else "?"
        if re.match(r"Expecting END|expected .* at end of input", message):
            line = unclosed(text) or line
        elif re.match(r"expected .*[;,)].* before", message) and not before.strip():
            line = _before(lines, line)
        yield line, message
    libraries = any(re.match(r"-l(?!m\b)", one.text) for one in program.command.arguments)
    form = rf"^{where}:(\d+):\d+: warning: (implicit decl.*['‘](\w+)['’])"
    for found in re.finditer(form, said, re.M):
        known = libraries or len(re.findall(rf"\b{found[3]}\s*\(", job.program_texts)) > 1
        if not known and "built-in" not in found[2]:
            yield int(found[1]), found[2]


def _before(lines: list[str], line: int) -> int:
    """The line before, at whose end something is missing; the line itself if it seems complete."""
    last = next((k for k in range(line - 1, 0, -1) if lines[k - 1].strip()), line)
    return line if re.search(r"[;{}(,:]\s*$", lines[last - 1]) else last


def _by_tree(source: Source, language: str, program: Program) -> Iterator[Hit]:
    """One fault only: grammars do not know preprocessors and dialects, which leave many."""
    if language == "fortran" and (program.path or "").endswith((".f", ".F", ".for")):
        return  # fixed form
    if language == "perl" and re.search(r"^=\w|<<|\bq[qwrx]?\W|(?:.*\n){80}", source.text, re.M):
        return  # beyond the grammar
    form = r"^[ \t]*#\s*(?:if|define)"
    if language in ("c", "cpp", "cuda") and re.search(form, source.text, re.M):
        return
    plain = re.sub(r"#.*|\"[^\"\n]*\"|'[^'\n]*'", "", source.text) if language == "r" else ""
    for lost in re.finditer(r"^[ \t]*else\b", plain, re.M):
        before = plain[: lost.start()]
        if before.count("{") == before.count("}") and before.count("(") == before.count(")"):
            yield hit(before.count("\n") + 1,
                      "R: else begins a line, behind a complete if", "} else",
                      source=source)  # fmt: skip
    text = as_matlab(source.text) if language == "matlab" else source.text
    lost_end = dedented(text) if language == "matlab" else None
    if lost_end is not None:
        yield hit(lost_end, "MATLAB: end is missing", source=source)
        return
    found = tree_errors(syntax_tree(language, text.encode("utf-8", "replace")))
    if 0 < len(found) <= 2:
        line, _, missing = found[0]
        line = unclosed(source.text) or line
        lines = source.text.split("\n")
        if language == "r" and re.match(r"\s*[\w.]+\s*=[^=]", lines[line - 1]):
            line = _before(lines, line)
        what = f"{missing} is missing" if missing else "this cannot be parsed"
        yield hit(line, f"{_TREES[language]}: {what}", source=source)


_MATH = re.compile(
    r"\b(?:pow|exp|log|log10|log2|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|cbrt|tgamma|lgamma"
    r"|hypot|fmod|erf|sqrt)\s*\(\s*[^)\s\d.]"
)


@rule("JS337 A program is linked without a library that it needs")
def _linked(job: Job) -> Iterator[Hit]:
    """C needs ``-lm`` for what ``math.h`` declares, ``omp_…()`` needs ``-fopenmp``."""
    for program, source in job.sources:
        words = [one.value or one.text for one in program.command.arguments]
        name = PurePosixPath(program.interpreter or "").name
        if program.language not in _COMPILERS or program.command.checked:
            continue
        if any(one == "-c" or one.startswith(("-f", "-l", "-q", "-E", "-S", "$")) for one in words):
            plain = not {"-c", "-E", "-S"} & set(words) and not any("$" in one for one in words)
            if not plain or any(one.startswith(("-lm", "-fopenmp", "-qopenmp")) for one in words):
                continue
        bare = name in ("gcc", "cc", "clang") and not {"-c", "-E", "-S", "-lstdc++"} & set(words)
        if program.language == "cpp" and bare and re.search(r"\bstd::|<iostream>", source.text):
            yield hit(program.command, f"{name} does not link the library of C++", "g++")
        text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"", "", source.text, flags=re.S)
        plain_c = program.language == "c" and name.startswith(("gcc", "cc", "clang"))
        if plain_c and "math.h" in source.text and _MATH.search(text):
            yield hit(program.command, "the mathematical library is not linked", "-lm")
        if re.search(r"\bomp_(?:get|set)_\w+\s*\(", text) and "_OPENMP" not in text:
            yield hit(program.command, "OpenMP is not linked", "-fopenmp")


@rule("JS110 A header that is included is not there")
def _headers(job: Job) -> Iterator[Hit]:
    """Headers in quotes and in angle brackets, in the folders of ``-I`` and of the system."""
    for program, source in job.sources:
        command = program.command
        if program.language not in ("c", "cpp", "cuda") or command.folder is None:
            continue
        words = [word.value or "" for word in command.arguments]
        if any(word.value is None for word in command.arguments) or job.blind:
            continue
        given = [word[2:] for word in words if word.startswith("-I") and len(word) > 2]
        given += [words[k + 1] for k, word in enumerate(words[:-1]) if word in ("-I", "-isystem")]
        own = [os.path.join(command.folder, one) for one in given]  # noqa: PTH118
        where = os.path.dirname(program.path or "")  # noqa: PTH120
        chosen = command.environment.opaque or command.environment.modules
        bare = chosen or "CPATH" in command.assigned
        for found in re.finditer(r'^[ \t]*#\s*include\s+([<"])([^">]+)[">]', source.text, re.M):
            quoted = found[1] == '"'
            folders = [*own, *([where, source.folder, command.folder] if quoted else []), *_SYSTEM]
            made = any(path.endswith(f"/{found[2]}") for path in job.walk.made)
            if made or any(job.machine.exists(f"{one}/{found[2]}") for one in folders):
                continue
            if not quoted and (bare or "/" not in found[2] or not job.machine.command("gcc")):
                continue
            yield hit(found, f"the header {found[2]} is not there", source=source)


@rule("JS366 A module of Fortran is compiled behind what uses it")
def _module_order(job: Job) -> Iterator[Hit]:
    """Sources are compiled in the order in which they are named, and ``use`` reads a ``.mod``."""
    fortran = [
        (one, source, set(_MODULE.findall(source.text.lower())))
        for one, source in job.sources if one.language == "fortran"
    ]  # fmt: skip
    made: set[str] = set()
    for k, (program, source, own) in enumerate(fortran):
        behind = {
            name: other for one, other, names in fortran[k + 1 :]
            for name in names if one.command is program.command
        }  # fmt: skip
        made |= own
        for found in re.finditer(r"^[ \t]*use\s*(?:::)?\s*(\w+)", source.text, re.M | re.I):
            name = found[1].lower()
            old = f"{program.command.folder}/{name}.mod"
            if name in behind and name not in made and not job.machine.exists(old):
                other = PurePosixPath(behind[name].file).name
                yield hit(found, f"{name} is not compiled yet: {other} is named behind this file",
                          f"{other} first", source=source)  # fmt: skip


_MODULE = re.compile(r"^[ \t]*module\s+(?!procedure\b)(\w+)", re.M)
_SYSTEM = ("/usr/include", "/usr/local/include", "/usr/include/x86_64-linux-gnu",
           "/usr/include/aarch64-linux-gnu", "/usr/lib/gcc")  # fmt: skip


_BLOCK = re.compile(
    r"(?i)(?:.*\{|(?:do|for|while|if|function|begin|try|switch|module|struct|select)\b(?!.*\bend\b).*)$"
)
_END = re.compile(r"(?i)(?:end\b|end(?:do|if|for|while|function)\b|\})")


def unclosed(text: str) -> int | None:
    """The line of a block that ends, by its indentation, after one around it; None: none does."""
    stack: list[tuple[int, int]] = []
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        indent = len(line) - len(line.lstrip())
        if _END.match(bare):
            if stack and indent < stack[-1][1]:
                return stack[-1][0]
            if stack:
                stack.pop()
        if _BLOCK.match(bare):
            one_line = re.match(r"(?i)if\b(?!.*\bthen\b).*\)\s*\w", bare) and "{" not in bare
            if not one_line and bare.count("{") >= bare.count("}"):
                stack.append((number, indent))
    return stack[-1][0] if stack else None


_OCTAVE: list[tuple[str, str]] = KNOWN["compiled"]["octave"]
"""What Octave has beyond MATLAB, and the same in MATLAB's words."""


def as_matlab(text: str) -> str:
    """A program of Octave as the grammar of MATLAB takes it, line by line."""
    if re.search(r"(?m)^[ \t]*do\s*(?:[#%].*)?$", text):
        return ""
    for form, other in _OCTAVE:
        text = re.sub(form, other, text)
    values = re.compile(r"(?<=\w)\s*=\s*(?:[^,()=\n]|\(\s*\))+(?=[,)])")  # of arguments
    return re.sub(r"(?m)^[ \t]*function\b.*", lambda m: values.sub("", m[0]), text)


def dedented(text: str) -> int | None:
    """The line of a block of MATLAB whose ``end`` is that of a block around it, by indentation."""
    bare = re.sub(r"%.*|\"[^\"\n]*\"|(?<![\w)\]}.'])'[^'\n]*'", "", text)
    while (plain := re.sub(r"\([^()\n]*\)|\[[^][\n]*\]|\{[^{}\n]*\}", "", bare)) != bare:
        bare = plain
    ends = len(re.findall(r"(?m)^[ \t]*end\b", bare))
    starts = len(re.findall(r"(?m)^[ \t]*(?:par)?(?:for|while|if|switch|try)\b(?!.*\bend\b)", bare))
    line = unclosed(bare) if 0 < ends == starts else None
    return line if line and not re.match(r"\s*function\b", bare.split("\n")[line - 1]) else None
