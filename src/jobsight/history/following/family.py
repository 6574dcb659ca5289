"""The files of one rotated log in its folder: finding and opening them.

HTCondor rotates by renaming (``EventLog`` → ``EventLog.old``, or ``.1`` … ``.N``), so a
name only shows which file is newer. Everything is found by polling: network file systems send no
notice.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from jobsight.errors import SourceError
from jobsight.history.eventlog.generations import HEAD, Generation, identify, may_be_log
from jobsight.history.eventlog.terms import begun, rotation
from jobsight.text import beginning

__all__ = [
    "Opened",
    "explain",
    "look",
    "oldest_first",
    "opened",
    "opened_family",
    "read_at",
    "rotated",
]


@dataclass
class Opened:
    """One file of a log, open.

    Attributes:
        path: where it was found.
        descriptor: of the open file; −1 once taken.
        inode: device and number.
        size: bytes, when it was opened.
        generation: None while its first record is still being written.
    """

    path: Path
    descriptor: int
    inode: tuple[int, int]
    size: int
    generation: Generation | None

    def take(self) -> int:
        """The descriptor, which from now on belongs to the caller."""
        descriptor, self.descriptor = self.descriptor, -1
        return descriptor

    def close(self) -> None:
        """Close the descriptor, unless it was taken."""
        if self.descriptor >= 0:
            os.close(self.take())


def explain(path: Path, error: OSError) -> SourceError:
    """What is wrong with a log, and what to do."""
    if isinstance(error, FileNotFoundError):
        reason = "there is no such file yet; it is read as soon as it appears (is EVENT_LOG right?)"
    elif isinstance(error, PermissionError):
        reason = "may not be read; let the collector's user read it and its folder"
    elif error.errno == errno.ESTALE:
        reason = (
            "the network file system lost it (stale handle); it is opened again at the next poll"
        )
    else:
        reason = f"cannot be read: {error.strerror or error}; it is tried again"
    return SourceError(f"event log {str(path)!r}: {reason}")


def look(path: Path) -> os.stat_result:
    """The status of the log at `path`.

    Raises:
        SourceError: it is missing, may not be read, or is not a regular file. Its cause is the
            OSError, if any.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise explain(path, error) from error
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        raise SourceError(f"event log {str(path)!r} is {kind}; name the log itself")
    return status


def read_at(descriptor: int, size: int, offset: int) -> bytearray:
    """Up to `size` bytes from `offset` on; fewer only where the file ends."""
    # Megabytes are allowed where a few bytes are left: only what is there is made room for.
    size = min(size, max(os.fstat(descriptor).st_size - offset, 0))
    data = bytearray(size)
    view = memoryview(data)
    filled = 0
    while filled < size and (count := os.preadv(descriptor, [view[filled:]], offset + filled)):
        filled += count
    view.release()
    del data[filled:]
    return data


def opened_family(path: Path) -> Iterator[Opened]:
    """The log's files, newest first, each open; the caller closes them.

    Rotation meanwhile makes files older, so one may come twice, but none is missed; the oldest may
    have a new name then, so the folder is listed again.

    Raises:
        SourceError: a file of them, or the folder, cannot be read.
    """
    yield opened(path)
    oldest = 0.0
    while older := sorted(found for found in rotated(path) if found[0] > oldest):
        for age, name in older:
            try:
                yield opened(name)
            except SourceError as error:
                # It is gone by now, or is not a log; otherwise its records would be missed.
                if not isinstance(error.__cause__, FileNotFoundError | None):
                    raise
            oldest = age


def oldest_first(files: Iterable[Opened]) -> list[Opened]:
    """Files as `opened_family` gives them, oldest first and each once; others are closed.

    They are ordered by the moments in their names, where all have one: rotation meanwhile may have
    put a newer one behind an older.
    """
    once: dict[str, Opened] = {}
    for file in reversed(list(files)):
        assert file.generation is not None
        if once.setdefault(file.generation.name, file) is not file:
            file.close()
    dated = {name: moment for name in once if (moment := begun(name)) is not None}
    whole = len(dated) == len(once)
    return [once[name] for name in (sorted(dated, key=dated.__getitem__) if whole else once)]


def rotated(path: Path) -> Iterator[tuple[float, Path]]:
    """Age and path of the rotated files in the folder of `path`, and of what it links to.

    Raises:
        SourceError: the folder cannot be read.
    """
    try:
        linked = path.is_symlink()
    except OSError as error:
        raise explain(path, error) from error
    for place in (path, Path(os.path.realpath(path))) if linked else (path,):
        try:
            with os.scandir(place.parent) as entries:
                names = [entry.name for entry in entries]
        except OSError as error:
            raise explain(place.parent, error) from error
        for name in names:
            base, age = rotation(name)
            if age and base == place.name:
                yield age, place.with_name(name)


def opened(path: Path) -> Opened:
    """A file of a log, open; the caller closes it.

    Raises:
        SourceError: it cannot be read, or is not a log.
    """
    look(path)
    try:
        # It may have become a pipe since, whose opening must not block.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise explain(path, error) from error
    try:
        status = os.fstat(descriptor)
        head = bytes(read_at(descriptor, HEAD, 0))
        if not may_be_log(head):
            raise SourceError(
                f"event log {str(path)!r} is not one: it begins with {beginning(head)}; name "
                "the log that `condor_config_val EVENT_LOG` shows"
            )
        generation = identify(head)
    except OSError as error:
        os.close(descriptor)
        raise explain(path, error) from error
    except SourceError:
        os.close(descriptor)
        raise
    inode = (status.st_dev, status.st_ino)
    return Opened(path, descriptor, inode, status.st_size, generation)
