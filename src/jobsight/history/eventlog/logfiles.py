"""Opening event logs; `discovery` finds them, and nothing else of the reader touches the disk.

Everything is read with pread from a descriptor, never through a memory map: a log that is truncated
while it is mapped would kill the process.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import re
import select
import stat
import sys
import tempfile
import time
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Literal

from jobsight.errors import SourceError
from jobsight.history.eventlog.packed import Compression, Expander, Member, detect, gzip_time

__all__ = [
    "Kind",
    "LogFile",
    "LogStream",
    "cannot_read",
    "from_standard_input",
    "looks_like_log",
    "member_of",
    "open_file",
    "sniff",
    "spool",
]

Kind = Literal["text", "xml", "json", "empty"]

_HEAD = 64 << 10
_KEPT = 8 << 10
_BLOCK = 4 << 20
_PIPE_SECONDS = 60.0
_TEXT_HEADER = re.compile(rb"^\d{3} \(-?\d+\.-?\d+\.-?\d+\) ", re.MULTILINE)
_XML_START = (b"<?xml", b"<!DOCTYPE", b"<classads", b"<c>", b"<a n=")
_XML_MARKS = (b"<c>", b"<a n=")
_AD_MARK = re.compile(rb'"EventTypeNumber"|"MyType"\s*:\s*"\w+Event"|<a n="MyType">\s*<s>\w+Event<')


class LogStream:
    """The uncompressed bytes of one log, from a given position on. Not thread-safe.

    Attributes:
        problem: None, or why the bytes end before the log does; final once `readinto` returned less
            than it was asked for.
    """

    def __init__(self, file: LogFile, descriptor: int, start: int) -> None:
        self._file = file
        self._descriptor = descriptor
        self._position = start
        self._expander: Expander | None = None
        self.problem: str | None = None
        if file.compression is not None:
            self._expander = Expander(file.compression, self._read_raw)
            view = memoryview(bytearray(min(start, _BLOCK)))
            while start and (count := self.readinto(view[: min(start, len(view))])):
                start -= count

    def __enter__(self) -> LogStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the descriptor back; closing twice does no harm."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def readinto(self, view: memoryview) -> int:
        """Fill `view` from its start; how many bytes, less than asked only at the end."""
        filled = 0
        if self._expander is not None:
            filled = self._expander.readinto(view)
            self.problem = self._expander.problem
        else:
            while (wanted := min(len(view) - filled, self._file.size - self._position)) > 0:
                try:
                    at = self._file.start + self._position
                    part = view[filled : filled + wanted]
                    count = os.preadv(self._descriptor, [part], at)
                except OSError as error:
                    self.problem = f"reading failed: {error.strerror or error}"
                    break
                if not count:
                    break
                self._position, filled = self._position + count, filled + count
        if filled < len(view):
            self.problem = self.problem or self._file.problem
        return filled

    def blocks(self) -> Iterator[bytes]:
        """All bytes, 4 MiB at a time."""
        view = memoryview(bytearray(_BLOCK))
        while count := self.readinto(view):
            yield bytes(view[:count])

    def _read_raw(self, offset: int, size: int) -> bytes:
        wanted = min(size, self._file.size - offset)
        at = self._file.start + offset
        return os.pread(self._descriptor, wanted, at) if wanted > 0 else b""


class _Descriptor:
    """An open file without a name, which goes with the last reference to it."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __del__(self) -> None:
        os.close(self.number)


@dataclass(frozen=True, eq=False)
class LogFile:
    """One file with an event log or a part of one; also a member of an archive.

    Attributes:
        name: as the user gave it; ``-`` for standard input; ``ARCHIVE/MEMBER`` for a member.
        path: where it is, or its archive; None for standard input and unpacked copies.
        modified: seconds since 1970 of its last change; of the original's by a gzip header.
        kind: how records are written.
        compression: None for plain bytes.
        size: bytes on disk when it was found; what is written later is not read, so that two passes
            see the same log.
        head: its first uncompressed bytes, 8 KiB or all there are.
        problem: None, or why an unpacked copy holds less than its source.
        archive: name of the archive of which it is a member.
        start: where its bytes begin in its archive, or in the unpacked copy of that.
    """

    name: str
    path: Path | None
    modified: float
    kind: Kind
    compression: Compression | None
    size: int
    head: bytes = field(default=b"", repr=False)
    problem: str | None = None
    archive: str | None = None
    start: int = 0
    _identity: tuple[int, int] = (0, 0)
    _copy: _Descriptor | None = field(default=None, repr=False)

    @property
    def seekable(self) -> bool:
        """Whether opening at a position costs nothing."""
        return self.compression is None

    @property
    def source(self) -> str:
        """The name of the file on disk: its own, or its archive's."""
        return self.archive or self.name

    @property
    def key(self) -> Hashable:
        """What identifies the file, whatever its name."""
        if self.source == "-":
            return self.name
        return self._identity, None if self.archive is None else self.name[len(self.archive) :]

    def open(self, start: int = 0) -> LogStream:
        """The log's uncompressed bytes from `start` on (compressed: all before is unpacked too).

        Raises:
            SourceError: another file has its name now, or it may no longer be read.
        """
        return LogStream(self, self.descriptor(), start)

    def descriptor(self) -> int:
        """The file on disk, or the copy, open; the caller closes it. Errors as of `open`."""
        if self._copy is not None:
            return os.dup(self._copy.number)
        assert self.path is not None
        with contextlib.suppress(OSError):
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            if _identity(os.fstat(descriptor)) == self._identity:
                return descriptor
            os.close(descriptor)
        raise SourceError(
            f"{self.name} was rotated, removed or replaced while it was read; run again"
        )


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def sniff(head: bytes) -> Kind:
    """How the records of a log are written that starts with the uncompressed bytes `head`."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        return "empty"
    has_text = _TEXT_HEADER.search(head) is not None
    has_xml = any(mark in head for mark in _XML_MARKS)
    if start.startswith(_XML_START) and (has_xml or not has_text):
        return "xml"
    if has_text:
        return "text"
    if start.startswith(b"{") or b'"EventTypeNumber"' in head:
        return "json"
    return "xml" if b"<c>" in head else "text"


def looks_like_log(head: bytes) -> bool:
    """Whether `head` (64 KiB of uncompressed bytes, or all there are) holds an event record."""
    return bool(_TEXT_HEADER.search(head) or _AD_MARK.search(head))


def cannot_read(name: str, error: OSError | ValueError) -> SourceError:
    """What is wrong with a file, folder or pattern, and what to do."""
    if glob.has_magic(name):
        return SourceError(f"no file matches {name!r}; check the pattern and the folder")
    if isinstance(error, FileNotFoundError):
        return SourceError(f"there is no file {name!r}; check the name and the folder")
    if isinstance(error, PermissionError):
        return SourceError(f"may not read {name!r}; run as a user who may, or copy the log first")
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return SourceError(f"cannot read {name!r}: {reason}")


def open_file(name: str) -> tuple[LogFile, bytes]:
    """The file of that name, and its first uncompressed bytes (64 KiB, or all there are).

    A pipe is copied to a temporary file.

    Raises:
        SourceError: it is missing, cannot be read, or is neither a file nor a pipe; or nothing is
            written to the pipe.
    """
    try:
        status = os.stat(name)  # noqa: PTH116
        if stat.S_ISFIFO(status.st_mode):
            with _pipe(name) as pipe:
                return _copied(name, pipe, time.time())
        if not stat.S_ISREG(status.st_mode):
            raise SourceError(f"{name!r} is neither a file, a folder nor a pipe; name a log")
        with open(name, "rb") as raw:  # noqa: PTH123
            head = raw.read(16)
    except OSError as error:
        raise cannot_read(name, error) from None
    return _new_file(name, Path(name).absolute(), status, head, status.st_mtime)


def _pipe(name: str) -> IO[bytes]:
    """A named pipe, open, once something was written to it; else nothing would end the wait."""
    descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    # What the shell makes, `<(command)`, has its writer, which may take its time.
    limit = None if name.startswith(("/dev/fd/", "/proc/")) else _PIPE_SECONDS
    if not select.select([descriptor], [], [], limit)[0]:
        os.close(descriptor)
        raise SourceError(
            f"{name!r} is a pipe to which nothing was written for {limit:g} s; start its writer "
            "first, or name a file"
        )
    os.set_blocking(descriptor, True)
    return os.fdopen(descriptor, "rb")


def _new_file(
    name: str,
    path: Path | None,
    status: os.stat_result,
    head: bytes,
    modified: float,
    copy: _Descriptor | None = None,
) -> tuple[LogFile, bytes]:
    file = LogFile(
        name=name,
        path=path,
        modified=gzip_time(head) or modified,
        kind="text",
        compression=detect(head),
        size=status.st_size,
        _identity=_identity(status),
        _copy=copy,
    )
    return _sniffed(file)


def _sniffed(file: LogFile) -> tuple[LogFile, bytes]:
    size = _HEAD if file.compression else min(_HEAD, file.size)
    view = memoryview(bytearray(size))
    with file.open() as stream:
        head = bytes(view[: stream.readinto(view)])
    if stream.problem is not None and not head:
        raise SourceError(f"cannot read {file.name!r}: {stream.problem}")
    return replace(file, kind=sniff(head), head=head[:_KEPT]), head


def from_standard_input() -> tuple[LogFile, bytes]:
    """A copy of standard input, as of `open_file`."""
    if sys.stdin is None:
        raise SourceError("standard input is closed; name a file, or pipe a log into -")
    pipe = sys.stdin.buffer
    modified = time.time()
    with contextlib.suppress(OSError, ValueError):
        status = os.fstat(pipe.fileno())
        if stat.S_ISREG(status.st_mode):
            modified = status.st_mtime
    return _copied("-", pipe, modified)


def _copied(name: str, source: IO[bytes], modified: float) -> tuple[LogFile, bytes]:
    copy = _to_temporary(name, iter(lambda: source.read(_BLOCK), b""))
    status = os.fstat(copy.number)
    return _new_file(name, None, status, os.pread(copy.number, 16, 0), modified, copy)


def member_of(archive: LogFile, unpacked: LogFile, member: Member) -> tuple[LogFile, bytes]:
    """A member of an archive as it was found, and its first uncompressed bytes.

    `unpacked` is the archive itself, or the copy that has the member's bytes.

    Raises:
        SourceError: nothing of it can be read.
    """
    file = replace(
        unpacked,
        name=f"{archive.name}/{member.name}",
        path=archive.path,
        size=member.size,
        problem=member.problem,
        archive=archive.name,
        start=member.start,
        _identity=archive._identity,
    )
    with file.open() as stream:
        view = memoryview(bytearray(16))
        head = bytes(view[: stream.readinto(view)])
    modified = gzip_time(head) or member.modified
    return _sniffed(replace(file, compression=detect(head), modified=modified))


def spool(file: LogFile, pieces: Iterable[bytes] | None = None) -> LogFile:
    """An unpacked copy of a log or archive in an anonymous temporary file, for reading at will.

    The file vanishes with the last reference to the result, also when the process is killed.

    The copy has the bytes of `pieces`, else the uncompressed bytes of `file`.

    Raises:
        SourceError: the disk is full or not writable; says to set TMPDIR.
    """
    with file.open() as stream:
        copy = _to_temporary(file.name, pieces or stream.blocks())
        status = os.fstat(copy.number)
        return replace(
            file,
            path=None,
            compression=None,
            size=status.st_size,
            problem=None if pieces else stream.problem,
            start=0,
            _identity=_identity(status),
            _copy=copy,
        )


def _to_temporary(name: str, pieces: Iterable[bytes]) -> _Descriptor:
    try:
        with tempfile.TemporaryFile() as target:
            for piece in pieces:
                target.write(piece)
            target.flush()
            return _Descriptor(os.dup(target.fileno()))
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        reason = "no room" if full else f"cannot write ({error.strerror or error})"
        raise SourceError(
            f"{reason} in the folder for temporary files to copy {name!r} into; "
            "set TMPDIR to a folder with more room"
        ) from None
