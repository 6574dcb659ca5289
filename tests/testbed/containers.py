"""Container images for the test bed, and the settings with which Apptainer runs them there.

Apptainer is in the root of Debian 13, taken from a later suite. Jobs run it as their own users, by
user namespaces, without any privilege.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.testbed.errors import Unavailable
from tests.testbed.namespace import Namespace
from tests.testbed.roots import root

__all__ = ["bind", "image", "need_apptainer", "pack_image"]

_SHARE = frozenset({"doc", "locale", "man", "mysql", "perl"})
_LARGE = 2_000_000
"""Bytes: programs beyond are those of databases."""
_SETTINGS = frozenset({"mysql", "shadow", "shadow-", "gshadow", "gshadow-"})
"""With what not all may read, or of no use."""
_EMPTY = ("dev", "proc", "sys", "tmp", "run", "home", "mnt", "opt", "root", "srv", "var/tmp")


def need_apptainer() -> None:
    """Raise `Unavailable`, with the reason, where jobs have no Apptainer."""
    lacks = root("trixie") / "etc/testbed-lacks"
    if lacks.exists():
        raise Unavailable(
            f"no apptainer: {lacks.read_text().strip()}; once the mirror has it, run "
            "`python -m tests.testbed clean`"
        )


def bind(space: Namespace, folders: Iterable[Path]) -> None:
    """Have every container of a piece see these folders of its machine, as a site's would.

    Call it before the namespace is started.
    """
    text = (space.root / "etc/apptainer/apptainer.conf").read_text()
    lines = "".join(f"bind path = {path}\n" for path in folders)
    settings = space.folder / "etc/apptainer.conf"
    settings.write_text(text + lines)
    space.binds.append((settings, "/etc/apptainer/apptainer.conf", "ro"))


def image(place: Path, command: Sequence[str] = (sys.executable, "-m", "jobsight")) -> Path:
    """An image as a folder: Debian 12, with a `jobsight` that is this `command` (2 s).

    The command's own files are not in it: `bind` shows them.
    """
    base = root("bookworm")
    place.mkdir()
    for entry in base.iterdir():
        if entry.is_symlink():
            (place / entry.name).symlink_to(entry.readlink())
    for part in ("etc", "usr"):
        shutil.copytree(base / part, place / part, symlinks=True, ignore=_left_out)
    for name in _EMPTY:
        (place / name).mkdir(parents=True)
    # What the base lacks and Optuna and LightGBM need of the machine; as a process of its own has
    # it, for one that has PyTorch has PyTorch's.
    loads = "import _sqlite3, lightgbm; print(open('/proc/self/maps').read())"
    maps = subprocess.run([sys.executable, "-c", loads], capture_output=True, text=True, check=True)
    for library in set(maps.stdout.split()):
        name = Path(library).name
        if library.startswith(("/usr/lib/", "/lib/")) and name.startswith(("libsqlite", "libgomp")):
            link = "libsqlite3.so.0" if "sqlite" in name else "libgomp.so.1"
            shutil.copy(library, place / "usr/lib/x86_64-linux-gnu" / link)
    program = place / "usr/local/bin/jobsight"
    program.write_text(f'#!/bin/sh\nexec {" ".join(command)} "$@"\n')
    program.chmod(0o755)
    return place


def _left_out(folder: str, names: list[str]) -> set[str]:
    """What an image does without."""
    here = Path(folder)
    if here.name == "share":
        return set(names) & _SHARE
    if here.name in ("bin", "sbin"):
        return {name for name in names if (here / name).lstat().st_size > _LARGE}
    return set(names) & _SETTINGS if here.name == "etc" else set()


def pack_image(space: Namespace, folder: Path, file: Path) -> Path:
    """The image in a folder as one file (SIF), made by Apptainer in a running namespace."""
    build = ("apptainer", "build", "--userns", "--mksquashfs-args", "-comp lz4")
    space.run(*build, str(file), str(folder), timeout=120, processes=True)
    file.chmod(0o644)
    return file
