"""Which files a command reads and writes, by what its manual page says of its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from jobsight.program.shell.model import Command, Word
from jobsight.program.shell.programs import COMPILERS
from jobsight.program.submission.sbatch import OPTIONS
from jobsight.text import wordlist, wordset

__all__ = ["BUILDS", "BUILTINS", "HARMLESS", "Use", "taken_away", "uses_of"]


class Use(NamedTuple):
    """A file of a command: `kind` is read, write, folder (entered) or make (a folder made)."""

    kind: str
    word: Word


_READERS = {
    **dict.fromkeys(wordlist(
        "cat wc md5sum sha256sum sha1sum zcat gunzip tac gzip bzip2 bunzip2 bzcat xzcat unxz rev "
        "comm diff less more chmod chown file tr ls jq dos2unix readlink"
    ), ""),
    "head": "n c", "tail": "n c", "sort": "k t S T o", "uniq": "f s w", "nl": "b",
    "cut": "d f c b", "paste": "d", "cmp": "n", "join": "t j o 1 2", "od": "A t N", "stat": "c f",
    "unzip": "d x P", "grep": "e f m A B C", "egrep": "m A B C", "fgrep": "m A B C", "zgrep": "m",
    "sed": "e f", "awk": "F v f", "gawk": "F v f", "cp": "t", "mv": "t", "split": "l b n a",
    "csplit": "f b n", "column": "s t", "xz": "T", "fold": "w", "strings": "n", "du": "d",
}  # fmt: skip
_PACKS = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "gunzip": "", "bunzip2": "", "unxz": ""}
"""Commands that write next to a file, and what they add to its name."""
_SBATCH = "A a b D M C c d e x G i J L w N n p q t o m append file " + " ".join(
    f"-{name}" for name, kind in OPTIONS.items() if kind == "value"
)
_SKIPS_FIRST = wordset("grep egrep fgrep zgrep sed awk gawk chmod chown jq")
_SILENT = frozenset({"ls", "tr", "file", "readlink", "du", "split", "csplit"})
"""Operands of these are not judged: they may well be missing, or be something else."""
_SOURCES = re.compile(r".*\.(?:c|cc|cpp|cxx|C|cu|f|f90|f95|F90|F|rs|java|o)$")
BUILTINS = wordset(
    ". : [ alias bg bind break builtin caller case cd command compgen complete compopt continue "
    "declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history "
    "jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return "
    "select set shift shopt source suspend test time times trap true type typeset ulimit umask "
    "unalias unset wait"
)
"""Commands of bash itself."""
BUILDS = wordset(
    "make cmake git tar unzip wget curl rsync ninja scons pip pip3 go cargo configure ./configure "
    "meson svn aws scp sftp gsutil rclone dvc cp 7z mv ln sbcast"
)
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
