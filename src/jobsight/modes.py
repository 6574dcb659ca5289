"""Permissions of what holds data of jobs: files 0600 and folders 0700, unless a group may see it.

Scripts, command lines and reasons are their users' own. What is written within a sweep, for nodes
that may run as another user, has the permissions of the umask instead.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shlex
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

__all__ = [
    "GroupAccess",
    "distrust",
    "folder_mode",
    "make_file",
    "make_folder",
    "restrict",
    "set_group_access",
    "wider_modes",
]

GroupAccess = Literal["none", "read", "write"]

_FOLDER_MODES: dict[GroupAccess, int] = {"none": 0o700, "read": 0o750, "write": 0o770}
_current: dict[str, GroupAccess] = {"access": "none"}


def set_group_access(access: GroupAccess) -> None:
    """What members of the group may do with all that this process writes from now on."""
    _current["access"] = access


def folder_mode() -> int:
    """The permissions of new folders; those of files are the same without search."""
    return _FOLDER_MODES[_current["access"]]


def restrict(path: Path, folder: int | None = None) -> None:
    """Give a file, or a folder and all in it, the permissions of `folder_mode`, or of `folder`.

    Raises:
        OSError: it belongs to another user.
    """
    for place in (path, *path.rglob("*")):
        found, wanted = _mode(place, folder_mode() if folder is None else folder)
        if found & 0o777 != wanted and not place.is_symlink():
            # A folder's set-group-ID bit makes what is in it the group's: it stays.
            place.chmod(wanted | found & stat.S_ISGID)


def _mode(path: Path, folder: int) -> tuple[int, int]:
    """A path's permissions, and those wanted where folders have those of `folder`."""
    found = path.lstat().st_mode
    return stat.S_IMODE(found), folder if stat.S_ISDIR(found) else folder & 0o666


def wider_modes(paths: Iterable[Path]) -> Iterator[str]:
    """Which of these files and folders are open to more users than they should, and what to do."""
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            found, wanted = _mode(path, folder_mode())
            if found & 0o777 & ~wanted:
                run = f"chmod {found & wanted:o} {shlex.quote(str(path))}"
                yield f"{path} is open to others (mode {found:04o}); run: {run}"


def distrust(path: Path) -> str | None:
    """Why a user should not rely on what is in a file or folder, and what to do; None: no reason.

    Every user may write it, or its owner is neither this user nor root. With `group_access` any
    member of this user's groups may own it, if the group of the file or folder is one of them.
    """
    try:
        found = path.stat()
    except OSError:
        return None  # reported where it is opened
    if found.st_mode & stat.S_IWOTH:
        return f"every user may write {path}; run: chmod o-w {shlex.quote(str(path))}"
    shared = _current["access"] != "none" and found.st_gid in (os.getegid(), *os.getgroups())
    if shared or found.st_uid in (os.geteuid(), 0):
        return None
    return (
        f"{path} belongs to another user ({_owner(found.st_uid)}); use one of your own, or share "
        "it within a group of yours with the setting group_access"
    )


def _owner(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def make_folder(path: Path) -> None:
    """Make a folder for data of jobs, and those above it, where they are missing.

    Raises:
        OSError: it cannot be made, or a file has its name.
    """
    if not path.is_dir():
        with contextlib.suppress(FileExistsError):  # the next line says that it is not a folder
            make_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)
        restrict(path)


def make_file(path: Path) -> None:
    """Make an empty file for data of jobs, unless there is a file already; a link is followed.

    Raises:
        OSError: it cannot be made.
    """
    target = os.path.realpath(path)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        restrict(Path(target))
