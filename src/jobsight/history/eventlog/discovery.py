"""Finding event logs: files, folders with all that is below them, globs, archives, pipes."""

from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from jobsight.errors import SourceError
from jobsight.history.eventlog.logfiles import (
    LogFile,
    cannot_read,
    from_standard_input,
    looks_like_log,
    member_of,
    open_file,
    spool,
)
from jobsight.history.eventlog.packed import Member, archive_kind, tar_members, unzipped

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
    """The logs that `paths` name: files, folders, globs, archives, ``-`` for standard input.

    A folder means all logs below it, a tar or zip, compressed or not, those in it; other files
    there are passed over. A file named twice is taken once.

    Args:
        paths: as the user wrote them, in order; logs that were found before stay as they are.
        skipped: called for each file of a folder or archive that is not a log.
        failed: called for each that cannot be read, in a folder, an archive or by a glob; None:
            the first is an error.
        wanted: whether a file of a folder or archive is one, by its first bytes (64 KiB); None:
            whether it is empty or has a record of an event log there.
        what: what is searched for, in words.

    Raises:
        SourceError: nothing is found, or it cannot be read; says what to do.
    """

    def refuse(_name: str, why: str) -> None:
        raise SourceError(why)

    def is_log(file: LogFile, head: bytes) -> bool:
        return file.kind == "empty" or looks_like_log(head)

    search = _Search(skipped or (lambda *_: None), failed or refuse, wanted or is_log, what)
    found: dict[object, LogFile] = {}
    for name in dict.fromkeys(paths):
        for file in [name] if isinstance(name, LogFile) else search.named(name):
            found.setdefault(file.key, file)
    if not found:
        raise SourceError(search.failure or f"no {what} was named; give files, folders, globs, "
                          "archives, or - for a pipe")  # fmt: skip
    return list(found.values())


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
            yield from self._contents(*from_standard_input())
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
                    yield from self._contents(*opened)
        else:
            if Path(name).is_dir():
                yield from self._in_folder(name)
            else:
                yield from self._contents(*open_file(name))

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

    def _contents(self, file: LogFile, head: bytes) -> Iterator[LogFile]:
        """The file that was named; of an archive the logs in it."""
        if archive_kind(head) is None:
            yield file
            return
        yield from self._some("archive", file.name, self._in_archive(file, head))

    def _in_folder(self, folder: str) -> Iterator[LogFile]:
        opened = filter(None, map(self._open, self._below(folder)))
        found = (
            self._in_archive(*one) if archive_kind(one[1]) else self._kept(*one) for one in opened
        )
        yield from self._some("folder", folder, itertools.chain.from_iterable(found))

    def _some(self, kind: str, name: str, files: Iterator[LogFile]) -> Iterator[LogFile]:
        """The files; an error if there are none."""
        first = next(files, None)
        if first is not None:
            yield first
            yield from files
            return
        why = self.failure or f"name the {kind} that has them"
        raise SourceError(f"there is no {self._what} in the {kind} {name!r}; {why}")

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

    def _kept(self, file: LogFile, head: bytes) -> Iterator[LogFile]:
        """A file that the user did not name, if it is a log."""
        if self._wanted(file, head):
            yield file
        else:
            self._skipped(file.name, f"no {self._what}: nothing of one is at its start")

    def _in_archive(self, archive: LogFile, head: bytes) -> Iterator[LogFile]:
        def failed(name: str, why: str) -> None:
            self._failed(name, f"cannot read {name!r}: {why}")

        unpacked = archive if archive.seekable else spool(archive)
        if unpacked.problem:
            failed(archive.name, unpacked.problem)
        descriptor = unpacked.descriptor()
        if archive_kind(head) == "tar":
            members = tar_members(descriptor, archive.name, failed)
        else:
            found: list[Member] = []
            unpacked = spool(archive, unzipped(descriptor, archive.name, found, failed))
            members = found
        for member in members:
            try:
                file, start = member_of(archive, unpacked, member)
            except SourceError as error:
                self._failed(f"{archive.name}/{member.name}", str(error))
                continue
            if archive_kind(start) is not None:
                failed(file.name, "an archive in an archive; unpack it and name its folder")
            else:
                yield from self._kept(file, start)
