"""Which file system a path is on, and whether SQLite's write-ahead log can be kept there.

WAL needs memory shared between all who open the file, and locks that hold
(https://www.sqlite.org/wal.html, "Overview"); network file systems have neither.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from jobsight.text import wordlist

__all__ = ["filesystem_of", "is_remote"]

_REMOTE = wordlist(
    "9p acfs afs beegfs beegfs_nodev ceph cifs coda daos davfs gfs gfs2 glusterfs gpfs lustre "
    "moosefs ncpfs nfs nfs4 ocfs2 orangefs panfs pvfs2 quobyte smb smb2 smb3 smbfs vboxsf virtiofs "
    "vmhgfs wekafs"
)
_LOCAL_FUSE = frozenset({"fuse.fuse-overlayfs", "fuse.mergerfs"})
_OCTAL = re.compile(rb"\\([0-7]{3})")


def is_remote(kind: str) -> bool:
    """Whether a file system of this kind, as the kernel names it, may be shared with other hosts.

    Of those that programs provide (``fuse.sshfs``), all count as remote but the few known not to
    be: they seldom share memory between processes.
    """
    kind = kind.lower()
    if kind == "fuse" or kind.startswith("fuse."):
        return kind not in _LOCAL_FUSE
    return kind in _REMOTE


def filesystem_of(path: Path, mounts: Path = Path("/proc/self/mountinfo")) -> str | None:
    """The kind of file system that `path` is, or will be, on, e.g. ``ext4``.

    Args:
        path: need not exist.
        mounts: the kernel's list (proc(5), ``/proc/[pid]/mountinfo``).

    Returns:
        None: not known.
    """
    # First of all: where an automounter waits, to follow the path is what mounts its file system.
    place = os.fsencode(os.path.realpath(path))
    try:
        lines = mounts.read_bytes().splitlines()
    except OSError:
        return None
    best: tuple[int, str] | None = None
    for line in lines:
        before, found, after = line.partition(b" - ")
        fields = before.split(b" ")
        if not found or len(fields) < 5:
            continue
        point = _OCTAL.sub(lambda code: bytes([int(code[1], 8) & 0xFF]), fields[4]).rstrip(b"/")
        # Of two mounts at one point, the later hides the earlier.
        if (place == point or place.startswith(point + b"/")) and (
            best is None or len(point) >= best[0]
        ):
            best = (len(point), after.split(b" ")[0].decode("ascii", "replace"))
    return best[1] if best else None
