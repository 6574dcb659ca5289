"""Process 1 of a namespace: builds its root, reaps its orphans, and dies with whoever started it.

Run as a script, by the host's Python, right after `unshare --pid --fork`; standard library alone.
The one argument is JSON:

    watch     number of an inherited pidfd of the process that the namespace belongs to
    command   a command to run to its end, or null to wait for `stop` on standard input
    hostname  name of the machine inside, or null to keep the host's
    root      null, or the root to assemble: {"source": cached root, "target": empty folder,
              "binds": [[host path, path inside, "rw" | "ro"], …]}
    folder    null, or the folder to remove if the watched process dies without stopping us

When process 1 ends, the kernel kills every other process of the namespace and, nobody being left in
it, unmounts all that was mounted. That is why nothing outlives a test run, however it ends.
"""

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["main"]

_READ_ONLY, _REMOUNT, _BIND, _DETACH = 1, 32, 4096, 2
# What daemons write to lies in a tmpfs; everything else is the cached root, read-only.
_FRESH = frozenset({"dev", "proc", "sys", "tmp", "run", "home", "root", "mnt", "media"})
_FRESH_IN_VAR = frozenset({"tmp", "log", "spool", "cache", "mail"})

_libc = ctypes.CDLL(None, use_errno=True)


def _mount(source: str, target: Path, kind: str | None = None, flags: int = 0) -> None:
    """mount(2). Raises `OSError` naming the target."""
    kind_bytes = kind.encode() if kind else None
    if _libc.mount(source.encode(), os.fsencode(target), kind_bytes, flags, None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"mount: {os.strerror(number)}", str(target))


def _bind(source: Path, target: Path, *, writable: bool) -> None:
    """Show `source` (file or folder) at `target`, which is made where it is missing."""
    if not target.exists():
        if source.is_dir():
            target.mkdir(parents=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.touch()
    _mount(str(source), target, flags=_BIND)
    if not writable:
        _mount("none", target, flags=_BIND | _REMOUNT | _READ_ONLY)


def _mirror(source: Path, target: Path, fresh: frozenset[str], *, split: bool) -> None:
    """Show each entry of `source` in `target`, read-only, but for the names in `fresh`."""
    for entry in sorted(source.iterdir()):
        shown = target / entry.name
        if entry.is_symlink():
            shown.symlink_to(entry.readlink())
        elif entry.name in fresh:
            shown.mkdir()
        elif split and entry.name == "var":
            shown.mkdir()
            _mirror(entry, shown, _FRESH_IN_VAR, split=False)
        else:
            _bind(entry, shown, writable=False)


def _assemble(spec: dict[str, Any]) -> None:
    """Put the root together: a tmpfs, the cached root's folders in it, then the binds asked for."""
    target = Path(spec["target"])
    _mount("tmpfs", target, "tmpfs")
    target.chmod(0o755)
    _mirror(Path(spec["source"]), target, _FRESH, split=True)
    for writable in ("tmp", "var/tmp"):
        (target / writable).chmod(0o1777)
    (target / "run/lock").mkdir(mode=0o755)
    _mount("proc", target / "proc", "proc")
    _bind(Path("/dev"), target / "dev", writable=True)
    _mount("tmpfs", target / "dev/shm", "tmpfs")
    _mount("devpts", target / "dev/pts", "devpts")
    if Path("/dev/fuse").exists():  # containers' users need it; without udev root alone may open it
        os.mknod(target / "run/fuse", stat.S_IFCHR, Path("/dev/fuse").stat().st_rdev)
        (target / "run/fuse").chmod(0o666)
        _bind(target / "run/fuse", target / "dev/fuse", writable=True)
    for source, inside, mode in spec["binds"]:
        _bind(Path(source), target / inside.lstrip("/"), writable=mode == "rw")


def _enter(target: str) -> None:
    """Make the assembled root the root of this namespace; the host's is no longer seen.

    A changed root (chroot) would not do: the kernel gives processes in one no user namespaces, and
    containers need them.
    """
    os.chdir(target)
    subprocess.run(["pivot_root", ".", "."], check=True)
    if _libc.umount2(b".", _DETACH) != 0:  # the host's, which now lies on top
        raise OSError(ctypes.get_errno(), "the host's root cannot be left")
    os.chdir("/")


def _reap() -> dict[int, int]:
    """Collect every child that has ended: exit status by process id."""
    ended: dict[int, int] = {}
    while True:
        try:
            child, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if child == 0:
            return ended
        ended[child] = os.waitstatus_to_exitcode(status)


def _clear(name: str | None, above: int | None) -> None:
    """End everything in here and remove the folder: nobody is left who would do it."""
    with contextlib.suppress(ProcessLookupError):  # nobody is
        os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    if name and above is not None:
        shutil.rmtree(name, ignore_errors=True, dir_fd=above)


def _wait(spec: dict[str, Any], command: int | None, above: int | None) -> int:
    """Stay until told to stop, or the watched process is gone, or the command has ended."""
    wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    watched = [spec["watch"], wake_read, *([] if command else [sys.stdin.fileno()])]
    while True:
        ended = _reap()
        if command in ended:
            return ended[command]
        ready, _, _ = select.select(watched, [], [])
        told = sys.stdin.fileno() in ready and os.read(sys.stdin.fileno(), 16) == b"stop"
        if told:
            return 0
        if spec["watch"] in ready or sys.stdin.fileno() in ready:
            _clear(spec["folder"] and Path(spec["folder"]).name, above)
            return 1
        if wake_read in ready:
            os.read(wake_read, 4096)


def main() -> int:
    """Set the namespace up, say `ready` (where no command is given), and keep it."""
    spec: dict[str, Any] = json.loads(sys.argv[1])
    if spec["hostname"]:
        socket.sethostname(spec["hostname"])
    above = None
    if spec["folder"]:
        above = os.open(Path(spec["folder"]).parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    if spec["root"]:
        _assemble(spec["root"])
        _enter(spec["root"]["target"])
    command = None
    if spec["command"]:
        command = subprocess.Popen(spec["command"], stdin=subprocess.DEVNULL).pid
    else:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
    return _wait(spec, command, above)


if __name__ == "__main__":
    sys.exit(main())
