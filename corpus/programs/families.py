"""The programs of the corpus as their ``family.toml`` files describe them (README.md here)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from jobsight.errors import SourceError

__all__ = ["HERE", "LANGUAGES", "MOST_VARIANTS", "Language", "Program", "programs", "read_family"]

HERE = Path(__file__).parent
MOST_VARIANTS = 5
_DESCRIPTION = "family.toml"
Commands = tuple[tuple[str, ...], ...]


class Language(NamedTuple):
    """How programs of a language are built and run.

    Attributes:
        tool: the program without which it is absent.
        package: Debian's package of it.
        run: its command, before the arguments.
        build: how it is built, unless `family.toml` has another way.
    """

    tool: str
    package: str
    run: tuple[str, ...]
    build: Commands = ()


_BUILT = ("{exe}",)
_MODULES = ("-J", "{work}")
_CLASSES = ("java", "-XX:+UseSerialGC", "-cp", "{work}", "{stem}")
LANGUAGES = {
    "awk": Language("gawk", "gawk", ("gawk", "-f", "{file}")),
    "bash": Language("bash", "bash", ("bash", "{file}")),
    "c": Language("gcc", "gcc", _BUILT, (("gcc", "-O2", "-o", "{exe}", "{file}", "-lm"),)),
    "cpp": Language("g++", "g++", _BUILT, (("g++", "-O2", "-o", "{exe}", "{file}", "-lpthread"),)),
    "fortran": Language(
        "gfortran", "gfortran", _BUILT, (("gfortran", "-O2", *_MODULES, "-o", "{exe}", "{file}"),)
    ),
    "go": Language("go", "golang-go", _BUILT, (("go", "build", "-o", "{exe}", "{file}"),)),
    "java": Language(
        "javac", "default-jdk-headless", _CLASSES, (("javac", "-d", "{work}", "{file}"),)
    ),
    "lua": Language("lua5.4", "lua5.4", ("lua5.4", "{file}")),
    "octave": Language("octave-cli", "octave", ("octave-cli", "--no-init-file", "{file}")),
    "perl": Language("perl", "perl", ("perl", "{file}")),
    "python": Language("python3", "python3", ("{python}", "{file}")),
    "r": Language("Rscript", "r-base-core", ("Rscript", "{file}")),
    "rust": Language("rustc", "rustc", _BUILT, (("rustc", "-O", "-o", "{exe}", "{file}"),)),
}  # fmt: skip


class Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One program.

    Attributes:
        file: its name in the folder of its family.
        language: one of `LANGUAGES`.
        args: its arguments, of a size that takes some seconds.
        small: the same for cachegrind; None: those of `args`.
        inputs: commands that make what it reads.
        build: how it is built; None: as its language is.
        needs: Python packages, programs and servers.
        intent: the class that its author expects; never a label.
        family: the folder's name, which `read_family` adds.
    """

    file: str
    language: str
    intent: str
    args: tuple[str, ...] = ()
    small: tuple[str, ...] | None = None
    inputs: Commands = ()
    build: Commands | None = None
    needs: tuple[str, ...] = ()
    family: str = ""

    @property
    def path(self) -> str:
        """Its file, relative to this folder."""
        return f"{self.family}/{self.file}"

    def builds(self) -> Commands:
        """The commands that build it."""
        return LANGUAGES[self.language].build if self.build is None else self.build

    def command(self, args: tuple[str, ...]) -> tuple[str, ...]:
        """The command that runs it."""
        return (*LANGUAGES[self.language].run, *args)

    def filled(self, command: tuple[str, ...], work: Path, **more: str) -> list[str]:
        """A command with its placeholders replaced.

        Args:
            command: words with ``{file}``, ``{work}`` and others.
            work: the folder in which it runs.
            more: values of further placeholders.
        """
        file = HERE / self.path
        values = {
            "file": str(file), "here": str(file.parent), "stem": file.stem,
            "exe": str(work / file.stem), "work": str(work), **more,
        }  # fmt: skip
        return [_replaced(word, values) for word in command]

    def digest(self) -> str:
        """Of all that its measurement depends on: its file, its description, helper files."""
        found = hashlib.sha256(msgspec.json.encode(self))
        folder = HERE / self.family
        described = read_family(folder) if (folder / _DESCRIPTION).exists() else []
        others = {one.file for one in described} - {self.file}
        for path in sorted(folder.iterdir()):
            if path.is_file() and path.name not in {*others, _DESCRIPTION}:
                found.update(path.read_bytes())
        return found.hexdigest()[:16]


def _replaced(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", value)
    return word


class _Family(msgspec.Struct, forbid_unknown_fields=True):
    program: tuple[Program, ...]


def read_family(folder: Path) -> list[Program]:
    """The programs of one family.

    Raises:
        SourceError: its ``family.toml`` is not as README.md says.
    """
    path = folder / _DESCRIPTION
    try:
        found = msgspec.toml.decode(path.read_bytes(), type=_Family).program
    except (OSError, msgspec.DecodeError) as error:
        raise SourceError(f"{path}: {error}") from None
    for one in found:
        if one.language not in LANGUAGES:
            raise SourceError(f"{path}: {one.language!r} is not one of {', '.join(LANGUAGES)}")
        if "/" in one.file or not (folder / one.file).is_file():
            raise SourceError(f"{path}: there is no {one.file!r} next to it")
    names: list[Any] = [one.file for one in found]
    if not 0 < len(names) <= MOST_VARIANTS or len({*names}) < len(names):
        raise SourceError(
            f"{path}: 1 to {MOST_VARIANTS} programs with different files are expected"
        )
    return [msgspec.structs.replace(one, family=folder.name) for one in found]


def programs() -> list[Program]:
    """All programs, by path.

    Raises:
        SourceError: as `read_family`.
    """
    folders = sorted(path.parent for path in HERE.glob("*/family.toml"))
    found = (one for folder in folders for one in read_family(folder))
    return sorted(found, key=lambda one: one.path)
