"""Finding event logs: files, folders with all that is below them, globs, pipes."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from jobsight.errors import SourceError
from jobsight.history.eventlog.logfiles import (
    LogFile,
    cannot_read,
    from_standard_input,
    looks_like_log,
    open_file,
)

__all__ = ["find_logs"]

Report = Callable[[str, str], None]
"""Is called with the name of a file, and why it is not read."""


def find_logs(
    paths: Sequence[str | LogFile],
    *,
    skipped: Report | None = None,
    failed: Report | None = None,
    wanted: Callable[[LogFile, bytes], bool] | None = None,
    what: str = "event log",
) -> list[LogFile]:
    """The logs that `paths` name: files, folders, globs, ``-`` for standard input.

    A folder means all logs below it; other files there are passed over. A file named twice is taken
    once.

    Args:
        paths: as the user wrote them, in order; logs that were found before stay as they are.
        skipped: called for each file of a folder that is not a log.
        failed: called for each that cannot be read, in a folder or by a glob; None:
            the first is an error.
        wanted: whether a file of a folder is one, by its first bytes (64 KiB); None:
            whether it is empty or has a record of an event log there.
        what: what is searched for, in words.

    Raises:
        SourceError: nothing is found, it cannot be read, or is a tar or zip; says what to do.
    """
    search = _Search(skipped or (lambda *_: None), failed or _refuse, wanted or _is_log, what)
    found: dict[object, LogFile] = {}
    for name in dict.fromkeys(paths):
        for file in [name] if isinstance(name, LogFile) else search.named(name):
            found.setdefault(file.key, file)
    if not found:
        raise SourceError(
            search.failure or f"no {what} was named; give files, folders, globs, or - for a pipe"
        )
    return list(found.values())


def _refuse(_name: str, why: str) -> None:
    raise SourceError(why)


def _is_log(file: LogFile, head: bytes) -> bool:
    return file.kind == "empty" or looks_like_log(head)


class _Search:
    """One search; see `find_logs`.

    Attributes:
        failure: the first file that could not be read, and why.
    """

    def __init__(
        self, skipped: Report, failed: Report, wanted: Callable[[LogFile, bytes], bool], what: str
    ) -> None:
        self._skipped, self._report, self._wanted, self._what = skipped, failed, wanted, what
        self.failure = ""

    def named(self, name: str) -> Iterator[LogFile]:
        """The logs that one name means."""
        if name == "-":
            yield _no_archive(*from_standard_input())
            return
        try:
            os.stat(name)  # noqa: PTH116 - a name may hold what Path would tidy away
        except (OSError, ValueError) as error:
            places = sorted(glob.glob(name, recursive=True)) if glob.has_magic(name) else []  # noqa: PTH207
            if not places:
                raise cannot_read(name, error) from None
            for place in places:
                if Path(place).is_dir():
                    yield from self._in_folder(place)
                elif (opened := self._open(place)) is not None:
                    yield _no_archive(*opened)
        else:
            if Path(name).is_dir():
                yield from self._in_folder(name)
            else:
                yield _no_archive(*open_file(name))

    def _open(self, place: str) -> tuple[LogFile, bytes] | None:
        """A file that the user did not name alone; None, and reported, where it is unreadable."""
        try:
            return open_file(place)
        except SourceError as error:
            self._failed(place, str(error))
            return None

    def _failed(self, name: str, line: str) -> None:
        self.failure = self.failure or line
        self._report(name, line)

    def _in_folder(self, folder: str) -> Iterator[LogFile]:
        """The logs below a folder; an error if there are none."""
        found = False
        for file, head in filter(None, map(self._open, self._below(folder))):
            if self._wanted(file, head):
                found = True
                yield file
            else:
                self._skipped(file.name, f"no {self._what}: nothing of one is at its start")
        if not found:
            why = self.failure or "name the folder that has them"
            raise SourceError(f"there is no {self._what} in the folder {folder!r}; {why}")

    def _below(self, folder: str) -> Iterator[str]:
        """All files below a folder, by name; links to folders are not followed."""

        def unreadable(error: OSError) -> None:
            self._failed(str(error.filename), str(cannot_read(str(error.filename), error)))

        for parent, folders, files in os.walk(folder, onerror=unreadable):
            for name in folders:
                if (place := Path(parent, name)).is_symlink():
                    self._skipped(str(place), "a link to a folder; name it to have it read")
            folders.sort()
            for name in sorted(files):
                place = Path(parent, name)
                # A link that leads nowhere is a log that is missing.
                if place.is_file() or not place.exists():
                    yield str(place)
                else:
                    self._skipped(str(place), "no regular file")


def _no_archive(file: LogFile, head: bytes) -> LogFile:
    # A line of a log may have the same characters there, but no NUL before them.
    if head.startswith(b"PK\x03\x04") or (head[257:262] == b"ustar" and b"\0" in head[:257]):
        raise SourceError(f"{file.name!r} is a tar or zip archive; unpack it and name its folder")
    return file
