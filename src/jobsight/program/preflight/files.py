"""Files: those that a command uses, by its manual page, and those that are there when it runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from jobsight.program.known import KNOWN
from jobsight.program.preflight.job import Job
from jobsight.program.python import PythonText
from jobsight.program.shell.model import Command, Program, Word
from jobsight.program.shell.programs import COMPILERS
from jobsight.program.submission.job import Place
from jobsight.program.submission.sbatch import OPTIONS
from jobsight.text import closest, wordlist, wordset

__all__ = [
    "BUILDS",
    "BUILTINS",
    "HARMLESS",
    "Trace",
    "Use",
    "absent",
    "made_before",
    "near",
    "path_of",
    "said",
    "siblings",
    "taken_away",
    "text_here",
    "trace_of",
    "uses_of",
]


class Use(NamedTuple):
    """A file of a command: `kind` is read, write, folder (entered) or make (a folder made)."""

    kind: str
    word: Word


_READERS: dict[str, str] = KNOWN["files"]["readers"]
_PACKS = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "gunzip": "", "bunzip2": "", "unxz": ""}
"""Commands that write next to a file, and what they add to its name."""
_SBATCH = "A a b D M C c d e x G i J L w N n p q t o m append file " + " ".join(
    f"-{name}" for name, kind in OPTIONS.items() if kind == "value"
)
_SKIPS_FIRST = wordset("grep egrep fgrep zgrep sed awk gawk chmod chown jq")
_SILENT = frozenset({"ls", "tr", "file", "readlink", "du", "split", "csplit"})
"""Operands of these are not judged: they may well be missing, or be something else."""
_SOURCES = re.compile(r".*\.(?:c|cc|cpp|cxx|C|cu|f|f90|f95|F90|F|rs|java|o)$")
BUILTINS = wordset(KNOWN["files"]["builtins"])
"""Commands of bash itself."""
BUILDS = wordset(KNOWN["files"]["builds"])
"""Commands that may make files of any name."""
HARMLESS = (
    BUILTINS
    | frozenset(_READERS)
    | wordset(
        "sleep date hostname whoami id uname env nproc free df ps which basename dirname seq yes "
        "expr bc mkdir rmdir rm touch tee module ml ulimit nvidia-smi lscpu sync numactl squeue "
        "scontrol sacct sstat pwd uptime lsblk find xargs numfmt timeout nohup for mktemp sbatch "
        "paste flock"
    )
)
"""Commands that make no files but those in their words."""


def uses_of(command: Command) -> Iterator[Use]:
    """The files that a command is seen to use."""
    for one in command.redirects:
        operator = one.operator
        if operator == "<":
            yield Use("read", one.target)
        elif operator in (">", ">>", ">|", "&>", "&>>") and not one.target.text.startswith("&"):
            yield Use("write", one.target)
    name = command.bare
    texts = [one.text for one in command.arguments]
    if name in ("cd", "pushd") and command.arguments:
        yield Use("folder", command.arguments[0])
    elif name == "mkdir":
        yield from (Use("make", word) for word in _operands(command.arguments, "m"))
    elif name in ("touch", "tee", "mkfifo", "truncate"):
        yield from (Use("write", word) for word in _operands(command.arguments, "s r d t"))
    elif name == "for":
        yield from (Use("read", word) for word in command.arguments)
    elif name in ("sbatch", "condor_submit", "condor_submit_dag"):
        yield from (Use("read", word) for word in _operands(command.arguments, _SBATCH)[:1])
    elif name in ("source", "."):
        # A bare name is looked up on the PATH first, where a module may have put it.
        known = not (command.environment.opaque or command.environment.modules)
        named = r".*/.*|.+\.(?:sh|bash|env|conf|cfg)" if known else ".*/.*"
        words = command.arguments[:1]
        yield from (Use("read", word) for word in words if re.fullmatch(named, word.text))
    elif name in _READERS:
        yield from _reader(name, command.arguments)
        yield from _unnamed(name, command)
    elif name == "tar":
        yield from _tar(command.arguments)
    elif COMPILERS.fullmatch(name):
        yield from _compiler(command.arguments)
    elif name in ("conda", "mamba", "micromamba", "pip", "pip3") or (texts[:2] == ["-m", "pip"]):
        lists = ("-r", "--requirement") if "pip" in (name[:3], *texts) else ("-f", "--file")
        yield from (Use("read", word) for option, word in pairwise(command.arguments)
                    if option.text in lists and "://" not in word.text)  # fmt: skip
    elif name == "dd":
        yield from (Use("write", word._replace(value=word.value[3:])) for word in command.arguments
                    if word.value and word.value.startswith("of="))  # fmt: skip
    else:
        for at, word in enumerate(command.arguments):
            option = re.fullmatch(r"(-o|--?out[^\s=]*|-O)(?:=(.*))?", word.text)
            if option and option[2]:
                yield Use("write", word._replace(value=option[2] if word.value else None))
            elif option and at + 1 < len(command.arguments):
                yield Use("write", command.arguments[at + 1])


def _operands(words: tuple[Word, ...], options: str) -> list[Word]:
    """Words that are neither options nor values of those."""
    with_value = {f"-{one}" for one in options.split()}
    found: list[Word] = []
    skip = only = False
    for word in words:
        text = word.value or word.text
        if skip:
            skip = False
        elif not only and text.startswith("-") and text != "-":
            only = text == "--"
            skip = text in with_value
        elif text != "-":
            found.append(word)
    return found


def _reader(name: str, words: tuple[Word, ...]) -> Iterator[Use]:
    found = _operands(words, _READERS[name])
    options = {word.text for word in words if word.text.startswith("-")}
    if name in _SILENT:
        return
    if name in _SKIPS_FIRST and not options & {"-e", "-f", "--expression", "--file"}:
        found = found[1:]
    if name in ("cp", "mv"):
        if "-t" in options:
            return
        yield from (Use("read", word) for word in found[:-1])
        yield from (Use("write", one) for one in _copies(found))
        return
    if name in ("unzip", "jq"):
        found = found[:1]
    if name == "awk" or name == "gawk":
        found = [word for word in found if "=" not in word.text]
    yield from (Use("read", word) for word in found)
    for word in found if name in _PACKS else ():
        packed = name not in ("gunzip", "bunzip2", "unxz") and "-d" not in options
        value = f"{word.value}{_PACKS[name]}" if packed else (word.value or "").rpartition(".")[0]
        yield Use("write", word._replace(value=value if word.value else None))


_WRITES = {
    **dict.fromkeys(("awk", "gawk"), r"print[^;}]*>"), "sed": r"w\s+[\w./]", "split": "",
    "csplit": "",
}  # fmt: skip
"""Programs of awk and sed, and names of split, under which files of unknown names are written."""


def taken_away(command: Command) -> list[Word]:
    """Files that are surely not there after a command: removed, renamed, or packed."""
    name, options = command.name or "", {word.text for word in command.arguments}
    sure = not (command.conditional or command.loops or command.background or command.contained)
    keeps = re.compile(r"-\w*[ckdlt]\w*|--keep|--stdout|--decompress|--list|--test")
    if not sure or command.checked or name not in ("rm", "mv", *_PACKS):
        return []
    if name in _PACKS and any(map(keeps.fullmatch, options)):
        return []
    found = _operands(command.arguments, _READERS.get(name, ""))
    return found[:-1] if name == "mv" else found


def _unnamed(name: str, command: Command) -> list[Use]:
    form = _WRITES.get(name)
    words = [] if form is None else [w for w in command.words[:4] if re.search(form, w.text)]
    return [Use("write", Word("$", None, one.place)) for one in words[:1]]


def _copies(words: list[Word]) -> list[Word]:
    """What is written: below a folder that is named as one, by the last names of the sources."""
    folder = words[-1].value if words else None
    if folder in (".", "..", "./") or (folder or "").endswith("/"):
        names = [one.value for one in words[:-1]]
        if all(name and not one.is_glob for name, one in zip(names, words, strict=False)):
            lasts = [(name or "").rstrip("/").rpartition("/")[2] for name in names]
            return [words[-1]._replace(value=f"{folder}/{last}") for last in lasts]
    return words[-1:]


def _tar(words: tuple[Word, ...]) -> Iterator[Use]:
    flags = words[0].text.lstrip("-") if words else ""
    if words and re.fullmatch(r"[a-zA-Z]+", flags) and "f" in flags and len(words) > 1:
        yield Use("write" if "c" in flags else "read", words[1])
    for option, word in pairwise(words):
        if option.text in ("-C", "--directory"):
            yield Use("folder", word)


def _compiler(words: tuple[Word, ...]) -> Iterator[Use]:
    texts = [word.text for word in words]
    for at, word in enumerate(words):
        if at and texts[at - 1] == "-o":
            yield Use("write", word)
        elif _SOURCES.fullmatch(word.text) and not word.text.startswith("-"):
            yield Use("read", word)
    if "-c" in texts and "-o" not in texts:
        for word in words:
            if _SOURCES.fullmatch(word.text):
                built = word.text.strip("\"'").rpartition("/")[2].rpartition(".")[0] + ".o"
                yield Use("write", Word(built, built if word.value else None, word.place))
    if words and "-o" not in texts and "-c" not in texts:
        yield Use("write", Word("a.out", "a.out", words[0].place))


@dataclass
class Trace:
    """What of the file system is known to have been made, command by command."""

    made: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    """Made by mkdir: empty at first."""
    gone: set[str] = field(default_factory=set)
    """Removed, renamed or packed, and surely not made again."""
    built: bool = False
    """Something ran that may have made programs and files of any name."""
    opaque: bool = False
    """A program ran whose text is not known: it may have made data."""
    blurred: bool = False
    """A file was written whose name is not known."""
    unnamed: bool = False
    """A folder was made whose name is not known."""

    def may_be_there(self, path: str, *, program: bool = False) -> bool:
        """Whether something before may have made it."""
        unsure = self.opaque or self.blurred or self.unnamed
        if self.built or (unsure and not program):
            return True
        if path in self.folders:
            return True
        return any(path == one or path.startswith(f"{one}/") for one in self.made)


def path_of(word: Word | str, folder: str | None, job: Job) -> str | None:
    """The absolute path that a word names; None: unknown, or several."""
    word = Word(word, word, Place(1)) if isinstance(word, str) else word
    value = word.value
    if not value or word.is_glob or "\n" in value or value.startswith(("-", "~")) or ":" in value:
        return None
    if not value.startswith("/") and folder is None:
        return None
    path = os.path.normpath(os.path.join(folder or "/", value))  # noqa: PTH118
    return job.machine.resolve(path)


def text_here(word: Word | str, folder: str | None, job: Job) -> str | None:
    """The text of a file that a word names, and that the script does not write; None: unknown."""
    path = path_of(word, folder, job)
    return job.machine.text(path) if path and path not in job.walk.made else None


def trace_of(job: Job) -> Iterator[tuple[Command, Trace]]:
    """Each command with what was made before it."""
    trace = Trace()
    for command in job.commands:
        yield command, trace
        for use in uses_of(command):
            for word in _each(use.word, command) if use.kind in ("write", "make") else ():
                path = path_of(word, command.folder, job) or _prefix(word, command.folder)
                if use.kind == "make" and path is not None and not word.is_glob:
                    parts = path.split("/")
                    trace.folders |= {"/".join(parts[:k]) for k in range(2, len(parts) + 1)}
                    trace.gone -= trace.folders
                elif path is not None:
                    trace.made.add(path)
                    trace.gone.discard(path)
                else:
                    trace.gone.clear()
                    trace.blurred = trace.blurred or use.kind == "write"
                    trace.unnamed = trace.unnamed or use.kind == "make"
        _note_program(command, job.program_of.get(id(command)), trace, job)
        for word in taken_away(command):
            if (path := path_of(word, command.folder, job)) is not None:
                trace.gone.add(path)


def made_before(job: Job) -> dict[int, set[str]]:
    """Paths written before each command that runs a program, by the `id` of the command."""
    return {id(one): set(trace.made) for one, trace in trace_of(job) if id(one) in job.program_of}


def _each(word: Word, command: Command) -> Iterator[Word]:
    """What a word is in each round of a loop over known words; itself elsewhere."""
    values = [word.text.strip("\"'")] if word.value is None else []
    for loop in command.loops:
        for name in loop.names if loop.values else ():
            form = re.compile(rf"\$(?:{name}\b|\{{{name}\}})")
            values = [form.sub(lambda _, v=one: v, text) for text in values for one in loop.values]  # type: ignore[misc]
    if not values or any("$" in one or "`" in one for one in values):
        yield word
    else:
        yield from (word._replace(value=one, text=one) for one in dict.fromkeys(values))


def _prefix(word: Word, folder: str | None) -> str | None:
    """The folder before the first sign of a pattern: what is made is below it."""
    front = re.split(r"[*?\[{$]", (word.value or "").strip('"'))[0].rpartition("/")[0]
    if not word.is_glob or not front or folder is None:
        return None
    return os.path.normpath(os.path.join(folder, front))  # noqa: PTH118


def _note_program(command: Command, program: Program | None, trace: Trace, job: Job) -> None:
    name = command.bare
    if name not in HARMLESS and not COMPILERS.fullmatch(name):
        trace.gone.clear()
    if id(command) in job.walk.expanded:
        return  # its recipes are in the walk
    if name == "make" and {one.text for one in command.arguments} <= {"clean", "distclean", "-s"}:
        trace.built = trace.built or not command.arguments
    elif name in BUILDS:
        trace.built = trace.built or not _plain_copy(name, command)
    elif program is not None and program.language == "bash" and program.source is not None:
        return  # its commands are in the walk
    elif program is not None and program.language == "python" and program.source is not None:
        text = next((t for p, t in job.pythons if p.source is program.source), None)
        text = text or PythonText(program.source.text)
        trace.opaque = trace.opaque or text.may_write
        for one in text.opened:
            if command.folder is not None and set("wax+") & set(one.mode):
                front, unknown, _ = one.path.partition("{")
                name = front.rpartition("/")[0] if unknown else front
                trace.blurred = trace.blurred or not name
                trace.made.add(os.path.normpath(os.path.join(command.folder, name)))  # noqa: PTH118
    elif COMPILERS.fullmatch(name):
        return
    elif name not in HARMLESS and command.words and name not in job.walk.functions:
        trace.opaque = True
    for word in command.arguments:
        path = path_of(word, command.folder, job)
        if path is not None and name not in HARMLESS:
            trace.made.add(path)


def _plain_copy(name: str, command: Command) -> bool:
    """Whether a command makes nothing but what its words name: ``cp``, ``mv``, ``tar -c``."""
    words = command.arguments
    if name == "tar" and words and re.match(r"-?\w*c|--create", words[0].text):
        return True
    sure = all(one.text not in ("-t", "--target-directory") for one in words)
    return name in ("cp", "mv") and sure and bool(words) and words[-1].value is not None


def absent(path: str | None, trace: Trace, job: Job, *, program: bool = False) -> bool:
    """Whether a path surely is not there when the command runs."""
    if path in trace.gone:
        return True
    if path is None or job.machine.exists(path) or trace.may_be_there(path, program=program):
        return False
    own = [one for one in (job.folder, job.source.folder) if job.machine.is_folder(one)]
    if path.startswith(tuple(f"{one}/" for one in own)):
        return True
    return not path.startswith(_OF_NODES) and job.machine.visible(path)


_OF_NODES = wordlist(
    "/dev/ /etc/ /proc/ /sys/ /tmp/ /usr/share/ /var/tmp/ /usr/sbin/ /sbin/ /usr/local/ /usr/lib"
)
"""Folders of which nodes may have more than the machine that jobs are submitted from."""


def near(path: str) -> str | None:
    """A file in the same folder with nearly that name."""
    return closest(os.path.basename(path), siblings(path), 0.75)  # noqa: PTH119


def said(path: str, word: Word) -> tuple[str, str | None]:
    """That a path is not there, and what is meant perhaps."""
    other = near(path)
    return f"{word.value} is not there", None if other is None else f"is it {other}?"


def siblings(path: str) -> list[str]:
    """The names in the folder of a path."""
    try:
        return os.listdir(os.path.dirname(path))[:2000]  # noqa: PTH120, PTH208
    except OSError:
        return []
