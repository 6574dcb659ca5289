"""This machine as a job would find it: files, programs on the PATH, packages of interpreters.

Nothing is run and nothing imported. Files are looked at once.
"""

from __future__ import annotations

import ast
import os
import re
import stat
import sys
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path

from jobsight.errors import SourceError
from jobsight.text import printable

__all__ = ["LARGEST", "Elsewhere", "Machine", "Python", "Sandbox", "read_source"]

LARGEST = 4 << 20
"""Bytes of a script that is read; Slurm refuses larger ones by default."""

_LARGEST_FOLLOWED = 1 << 20


def read_source(path: Path) -> bytes:
    """A file to be checked.

    Raises:
        SourceError: it cannot be read, is not a file of text, or is too large.
    """
    shown = printable(path, 120)
    try:
        if not path.is_file():
            raise SourceError(
                f"{shown} is not a file" if path.exists() else f"{shown} is not there"
            )
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise SourceError(f"cannot read {shown}: {getattr(error, 'strerror', error)}") from None
    if len(data) > LARGEST:
        raise SourceError(f"{shown} has more than {LARGEST >> 20} MiB: not a script")
    if b"\0" in data:
        raise SourceError(f"{shown} is not text: it has a zero byte at {data.index(0)}")
    return data


class Machine:
    """What is there, on the file system and in the environment of the caller."""

    def __init__(self, path: str | None = None, folders: tuple[str, str] | None = None) -> None:
        """`folders`: what is not in the first may be in the second, that of the script."""
        self.path = os.environ.get("PATH", os.defpath) if path is None else path
        self.folders = folders

    @cached_property
    def environment(self) -> Mapping[str, str]:
        """The variables of the caller."""
        return os.environ

    @cached_property
    def sh_is_dash(self) -> bool:
        """Whether ``/bin/sh`` lacks what bash adds."""
        return os.path.realpath("/bin/sh").endswith("dash")

    def resolve(self, path: str) -> str:
        """The path, or where it is in the script's own folder if it is there alone."""
        if self.folders is None or self.exists(path):
            return path
        here, own = self.folders
        if path != here and not path.startswith(f"{here}/"):
            return path
        other = own + path[len(here) :]
        return other if self.exists(other) else path

    def real(self, path: str) -> str:
        """Where a file is that the job finds under a path."""
        return path

    @cache  # noqa: B019  # lives as long as the call
    def status(self, path: str) -> os.stat_result | None:
        """The status of a file; None: it is not there, or cannot be looked at."""
        try:
            return os.stat(self.real(path))  # noqa: PTH116
        except (OSError, ValueError):
            return None

    def exists(self, path: str) -> bool:
        """Whether there is such a file or folder."""
        return self.status(path) is not None

    def is_folder(self, path: str) -> bool:
        """Whether it is a folder."""
        found = self.status(path)
        return found is not None and stat.S_ISDIR(found.st_mode)

    def listed(self, folder: str) -> list[str]:
        """The names in a folder that is there."""
        return os.listdir(self.real(folder))  # noqa: PTH208

    def may(self, path: str, right: int) -> bool:
        """Whether this user has a right (4 read, 2 write, 1 execute) on what is there."""
        return self.exists(path) and os.access(self.real(path), right)

    def visible(self, path: str) -> bool:
        """Whether this machine can say of an absolute path that it is not there.

        Of ``/scratch/x/y``, where ``/scratch/x`` is not here, it cannot: the cluster may have it.
        """
        near = Path(path).parent
        while not self.is_folder(str(near)):
            near = near.parent
        return len(near.parts) > 2

    @cache  # noqa: B019
    def text(self, path: str) -> str | None:
        """A program's text; None: it is not there, too large, or binary."""
        found = self.status(path)
        if found is None or not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST_FOLLOWED:
            return None
        try:
            data = Path(self.real(path)).read_bytes()
        except OSError:
            return None
        return None if b"\0" in data else data.decode("utf-8", "replace")

    @cache  # noqa: B019
    def command(self, name: str, path: str | None = None) -> str | None:
        """Where a command is on a PATH (None: the caller's)."""
        for folder in (self.path if path is None else path).split(":"):
            place = f"{folder}/{name}"
            if folder and self.may(place, 1) and not self.is_folder(place):
                return place
        return None

    @cached_property
    def has_scheduler(self) -> bool:
        """Whether jobs are submitted from here."""
        return any(map(self.command, ("sbatch", "condor_submit")))

    def python(self, name: str, venv: str | None, path: str | None) -> Python | None:
        """The packages of a Python interpreter, None: it is not here."""
        found = f"{venv}/bin/{name}" if venv else name if "/" in name else self.command(name, path)
        if found and "/shims/" in found:
            found = _behind_shim(found)
        own = f"{Path(found or '').parent.parent}/pyvenv.cfg"
        return Python.at(found) if found and (self.exists(found) or self.exists(own)) else None


class Sandbox(Machine):
    """The folder where HTCondor runs a job: what is transferred is there, by its last name."""

    def __init__(self, folder: str, files: dict[str, str]) -> None:
        super().__init__()
        self.folder = folder
        self.files = files

    def real(self, path: str) -> str:
        """Where a file of the job comes from."""
        if path == self.folder:
            return "/"
        if not path.startswith(f"{self.folder}/"):
            return path
        top, slash, rest = path[len(self.folder) + 1 :].partition("/")
        return f"{self.files.get(top, '/nonexistent')}{slash}{rest}"

    def listed(self, folder: str) -> list[str]:
        """The names in a folder that is there."""
        return list(self.files) if folder == self.folder else super().listed(folder)


class Elsewhere(Machine):
    """The unknown machine from which a script was sent. No file is looked at."""

    environment = dict.fromkeys(("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TMPDIR", "USER"), "?")
    sh_is_dash = False

    def __init__(self) -> None:
        super().__init__(path="")

    def real(self, path: str) -> str:
        """Nowhere."""
        return "/nonexistent"

    def visible(self, path: str) -> bool:
        """Of no path can be said that it is not there."""
        return False


def _behind_shim(path: str) -> str | None:
    """The interpreter that a pyenv shim starts: the first of its global versions."""
    root = Path(path).parent.parent
    try:
        version = (root / "version").read_text(encoding="utf-8").split()[0]
    except (OSError, IndexError):
        return None
    return str(root / "versions" / version / "bin" / Path(path).name)


class Python:
    """An interpreter's version and the names that can be imported, read from its folders."""

    def __init__(self, version: tuple[int, int], folders: tuple[str, ...]) -> None:
        self.version = version
        self.folders = folders

    @classmethod
    @cache
    def at(cls, executable: str) -> Python | None:
        """The interpreter with that path; None: its version or folders are not to be found.

        That of a venv may be on the cluster alone: its folder says the version.
        """
        prefix = Path(executable).parent.parent
        real = Path(os.path.realpath(executable))
        config = prefix / "pyvenv.cfg"
        alone = config.is_file() and "include-system-site-packages = true" not in config.read_text()
        own = " ".join(one.name for one in prefix.glob("lib/python*")) if alone else ""
        named = (
            re.search(r"python(\d)\.(\d+)", str(real))
            or re.search(r"/(\d)\.(\d+)\.\d+/", str(real))
            or re.search(r"python(\d)\.(\d+)", own)
        )
        if named is None or not (alone or real.is_file()):
            return None
        version = (int(named[1]), int(named[2]))
        lib = f"lib/python{version[0]}.{version[1]}"
        prefixes = [prefix]
        if not alone:
            prefixes += [real.parent.parent, Path("/usr/local"), Path("~/.local").expanduser()]
        places = [f"{one}/{lib}/site-packages" for one in prefixes]
        if Path("/usr") in prefixes:
            places += ["/usr/lib/python3/dist-packages", f"/usr/local/{lib}/dist-packages"]
        found = tuple(one for one in places if Path(one).is_dir())
        return cls(version, found) if found else None

    @cached_property
    def names(self) -> frozenset[str] | None:
        """What can be imported; None: a path file or an editable install adds names unseen."""
        names = set(sys.stdlib_module_names) | ({"imp", "asyncore"} | {"asynchat", "distutils"})
        if self.version >= (3, 12):
            names -= {"imp", "asyncore", "asynchat", "distutils"}
        for folder in map(Path, self.folders):
            entries = os.listdir(folder)  # noqa: PTH208
            for one in entries:
                added = _added_by(folder / one) if one.endswith(".pth") else frozenset()
                if added is None:
                    return None
                names |= added
            names |= {one.partition(".")[0] for one in entries}
        return frozenset(names)


def _added_by(path: Path) -> frozenset[str] | None:
    """The names that a path file adds; None: not all are known.

    A line names a folder, or imports a module that may be the finder of an editable install.
    """
    names: set[str] = set()
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        imported = re.match(r"import[ \t]+(\w+)", line)
        folder = path.parent / line.strip()
        if imported and "editable" in line + path.name:
            found = _mapped(folder.with_name(f"{imported[1]}.py"))
            if found is None:
                return None
            names |= found
        elif line.strip() and imported is None and not line.startswith("#"):
            if not os.path.isdir(folder):  # noqa: PTH112  # False for any text
                return None
            names |= {one.partition(".")[0] for one in os.listdir(folder)}  # noqa: PTH208
    return frozenset(names)


def _mapped(finder: Path) -> frozenset[str] | None:
    """The names that a finder of setuptools maps to folders; None: it is none."""
    try:
        tree = ast.parse(finder.read_text(encoding="utf-8", errors="replace"))
        tables = [
            ast.literal_eval(one.value) for one in tree.body
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
            and one.target.id in ("MAPPING", "NAMESPACES") and one.value
        ]  # fmt: skip
        return frozenset(name.partition(".")[0] for one in tables for name in one) or None
    except (OSError, SyntaxError, ValueError, TypeError, AttributeError, RecursionError):
        return None
