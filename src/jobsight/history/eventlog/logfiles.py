"""Finding and opening event logs: the one module of the reader that touches the file system.

Everything is read with pread from a descriptor, never through a memory map: a log that is truncated
while it is mapped would kill the process.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import itertools
import os
import re
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Literal

from jobsight.errors import SourceError
from jobsight.history.eventlog.compressed import Compression, Expander, detect, gzip_time

__all__ = ["Kind", "LogFile", "LogStream", "find_logs", "looks_like_log", "sniff", "spool"]

Kind = Literal["text", "xml", "json", "empty"]

_HEAD = 64 << 10
_KEPT = 8 << 10
_BLOCK = 4 << 20
_TEXT_HEADER = re.compile(rb"^\d{3} \(-?\d+\.-?\d+\.-?\d+\) ", re.MULTILINE)
_XML_START = (b"<?xml", b"<!DOCTYPE", b"<classads", b"<c>", b"<a n=")
_XML_MARKS = (b"<c>", b"<a n=")
_AD_MARKS = (b'"EventTypeNumber"', b'<a n="EventTypeNumber">', b'"MyType"', b'<a n="MyType">')


class LogStream:
    """The uncompressed bytes of one log, from a given position on. Not thread-safe.

    Attributes:
        problem: None, or why the bytes end before the log does; final once `readinto` returned less
            than it was asked for.
    """

    def __init__(self, file: LogFile, descriptor: int, start: int) -> None:
        self._file = file
        self._descriptor = descriptor
        self._position = start if file.compression is None else 0
        self._expander = (
            None if file.compression is None else Expander(file.compression, self._read_raw)
        )
        self.problem: str | None = None
        if self._expander is not None:
            self._pass(start)

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
        if self._expander is not None:
            filled = self._expander.readinto(view)
            if filled < len(view):
                self.problem = self._expander.problem
            return filled
        filled = 0
        while filled < len(view) and (count := self._read_plain(view[filled:])):
            filled += count
        if filled < len(view):
            self.problem = self.problem or self._file.problem
        return filled

    def _read_plain(self, view: memoryview) -> int:
        wanted = min(len(view), self._file.size - self._position)
        if wanted <= 0:
            return 0
        try:
            count = os.preadv(self._descriptor, [view[:wanted]], self._position)
        except OSError as error:
            self.problem = f"reading failed: {error.strerror or error}"
            return 0
        self._position += count
        return count

    def _read_raw(self, offset: int, size: int) -> bytes:
        wanted = min(size, self._file.size - offset)
        return os.pread(self._descriptor, wanted, offset) if wanted > 0 else b""

    def _pass(self, count: int) -> None:
        view = memoryview(bytearray(min(count, _BLOCK)))
        while count and (done := self.readinto(view[: min(count, len(view))])):
            count -= done


class _Descriptor:
    """An open file without a name, which goes with the last reference to it."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __del__(self) -> None:
        os.close(self.number)


@dataclass(frozen=True, eq=False)
class LogFile:
    """One file that holds an event log, or a part of one.

    Attributes:
        name: as the user gave it; ``-`` for standard input.
        path: where it lies, None for standard input and unpacked copies.
        modified: seconds since 1970 of its last change: of the original where a gzip header tells.
        kind: how records are written.
        compression: None for plain bytes.
        size: bytes on disk when it was found; what is written afterwards is not read, so that two
            passes see the same log.
        head: its first uncompressed bytes, 8 KiB or all there are.
        problem: None, or why an unpacked copy holds less than its source.
    """

    name: str
    path: Path | None
    modified: float
    kind: Kind
    compression: Compression | None
    size: int
    head: bytes = field(default=b"", repr=False)
    problem: str | None = None
    _identity: tuple[int, int] = (0, 0)
    _copy: _Descriptor | None = field(default=None, repr=False)

    @property
    def seekable(self) -> bool:
        """Whether opening at a position costs nothing."""
        return self.compression is None

    def open(self, start: int = 0) -> LogStream:
        """The log's uncompressed bytes from `start` on (compressed: all before is unpacked too).

        A log that was rotated since it was found is found again under its new name.

        Raises:
            SourceError: it is gone, or may no longer be read.
        """
        if self._copy is not None:
            return LogStream(self, os.dup(self._copy.number), start)
        assert self.path is not None
        # The folder is looked through only if the name no longer leads to the log.
        for path in itertools.chain([self.path], _siblings(self.path)):
            with contextlib.suppress(OSError):
                descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                if _identity(os.fstat(descriptor)) == self._identity:
                    return LogStream(self, descriptor, start)
                os.close(descriptor)
        raise SourceError(f"{self.name} was removed or replaced while it was read; run again")


def _siblings(path: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        yield from sorted(path.parent.glob(glob.escape(path.name.rsplit(".", 1)[0]) + "*"))


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
    return bool(_TEXT_HEADER.search(head)) or any(mark in head for mark in _AD_MARKS)


def find_logs(
    paths: Sequence[str | LogFile], *, skipped: Callable[[str, str], None] | None = None
) -> list[LogFile]:
    """The logs that `paths` name: files, folders, globs, ``-`` for standard input.

    A folder stands for the logs right in it, by name; what else lies there is passed over. A file
    named twice, by whatever name, is taken once. A pipe is copied to a temporary file, so that it
    can be read twice.

    Args:
        paths: as the user wrote them, in order; logs that were found before stay as they are.
        skipped: is told the name and the reason of each file of a folder that is passed over.

    Raises:
        SourceError: nothing is there, or it cannot be read; names it and what to do.
    """
    found: dict[object, LogFile] = {}
    for name in paths:
        known = [name] if isinstance(name, LogFile) else None
        for file in known or _named(str(name), skipped or (lambda _name, _reason: None)):
            found.setdefault(_key(file), file)
    if not found:
        raise SourceError("no event log was named; give files, folders, globs, or - for a pipe")
    return list(found.values())


def _key(file: LogFile) -> object:
    return "-" if file.path is None and file.name == "-" else file._identity


def _named(name: str, skipped: Callable[[str, str], None]) -> Iterator[LogFile]:
    if name == "-":
        yield _from_standard_input()[0]
        return
    try:
        os.stat(name)  # noqa: PTH116 - a name may hold what Path would tidy away
        names = [name]
    except (OSError, ValueError) as error:
        names = sorted(glob.glob(name, recursive=True)) if glob.has_magic(name) else []  # noqa: PTH207
        if not names:
            raise _cannot_read(name, error) from None
    for each in names:
        if Path(each).is_dir():
            yield from _in_folder(each, skipped)
        else:
            yield _open_file(each)[0]


def _cannot_read(name: str, error: OSError | ValueError) -> SourceError:
    if glob.has_magic(name):
        return SourceError(f"no file matches {name!r}; check the pattern and the folder")
    if isinstance(error, FileNotFoundError):
        return SourceError(f"there is no file {name!r}; check the name and the folder")
    if isinstance(error, PermissionError):
        return SourceError(f"may not read {name!r}; run as a user who may, or copy the log first")
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return SourceError(f"cannot read {name!r}: {reason}")


def _in_folder(folder: str, skipped: Callable[[str, str], None]) -> Iterator[LogFile]:
    try:
        entries = sorted(Path(folder).iterdir())
    except OSError as error:
        raise _cannot_read(folder, error) from None
    count = 0
    for path in entries:
        if path.is_dir():
            continue
        try:
            if not path.is_file():
                skipped(str(path), "no regular file")
                continue
            file, head = _open_file(str(path))
        except (SourceError, OSError) as error:
            skipped(str(path), str(error))
            continue
        if file.kind != "empty" and not looks_like_log(head):
            skipped(str(path), "holds no event record at its start")
            continue
        count += 1
        yield file
    if not count:
        raise SourceError(f"there is no event log in the folder {folder!r}; name the logs' folder")


def _open_file(name: str) -> tuple[LogFile, bytes]:
    """The file of that name, and its first uncompressed bytes."""
    try:
        status = os.stat(name)  # noqa: PTH116
        if stat.S_ISFIFO(status.st_mode):
            with open(name, "rb") as pipe:  # noqa: PTH123
                return _copied(name, pipe, time.time())
        if not stat.S_ISREG(status.st_mode):
            raise SourceError(f"{name!r} is neither a file, a folder nor a pipe; name a log")
        with open(name, "rb") as raw:  # noqa: PTH123
            head = raw.read(16)
    except OSError as error:
        raise _cannot_read(name, error) from None
    file = LogFile(
        name=name,
        path=Path(name).absolute(),
        modified=gzip_time(head) or status.st_mtime,
        kind="text",
        compression=detect(head),
        size=status.st_size,
        _identity=_identity(status),
    )
    return _sniffed(file)


def _sniffed(file: LogFile) -> tuple[LogFile, bytes]:
    size = _HEAD if file.compression else min(_HEAD, file.size)
    view = memoryview(bytearray(size))
    with file.open() as stream:
        head = bytes(view[: stream.readinto(view)])
    return replace(file, kind=sniff(head), head=head[:_KEPT]), head


def _from_standard_input() -> tuple[LogFile, bytes]:
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
    def readinto(view: memoryview) -> int:
        data = source.read(len(view))
        view[: len(data)] = data
        return len(data)

    copy, size = _to_temporary(name, readinto)
    head = os.pread(copy.number, 16, 0)
    file = LogFile(
        name=name,
        path=None,
        modified=gzip_time(head) or modified,
        kind="text",
        compression=detect(head),
        size=size,
        _identity=_identity(os.fstat(copy.number)),
        _copy=copy,
    )
    return _sniffed(file)


def spool(file: LogFile) -> LogFile:
    """An unpacked copy of a compressed log in an anonymous temporary file, for reading at will.

    The file vanishes with the last reference to the result, also when the process is killed.

    Raises:
        SourceError: the disk is full or not writable; says to set TMPDIR.
    """
    with file.open() as stream:
        copy, size = _to_temporary(file.name, stream.readinto)
        return LogFile(
            name=file.name,
            path=None,
            modified=file.modified,
            kind=file.kind,
            compression=None,
            size=size,
            head=file.head,
            problem=stream.problem,
            _identity=_identity(os.fstat(copy.number)),
            _copy=copy,
        )


def _to_temporary(name: str, readinto: Callable[[memoryview], int]) -> tuple[_Descriptor, int]:
    view = memoryview(bytearray(_BLOCK))
    size = 0
    try:
        with tempfile.TemporaryFile(buffering=0) as target:
            while count := readinto(view):
                _write_all(target, view[:count])
                size += count
            copy = _Descriptor(os.dup(target.fileno()))
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        reason = "no room" if full else f"cannot write ({error.strerror or error})"
        raise SourceError(
            f"{reason} in the folder for temporary files to copy {name!r} into; "
            "set TMPDIR to a folder with more room"
        ) from None
    return copy, size


def _write_all(target: IO[bytes], view: memoryview) -> None:
    while view:
        view = view[target.write(view) :]
