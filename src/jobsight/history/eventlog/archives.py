"""Members of tar and zip archives, by the standard library, as ranges of bytes.

Formats: POSIX.1-2017 pax (ustar and GNU's headers too), PKWARE's APPNOTE. The members of a tar are
read where they are; those of a zip are unpacked, one after another. Of members with one name the
last counts, as for tar itself: ``tar -u`` adds a file anew that has grown.
"""

from __future__ import annotations

import contextlib
import io
import lzma
import os
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from jobsight.errors import SourceError

__all__ = ["Member", "archive_kind", "tar_members", "unzipped"]

Failed = Callable[[str, str], None]
"""Is given the name of what cannot be read, and the reason."""

_MOST = 100_000
_LARGEST_HEADER = 64 << 20
_BLOCK = 512
_PIECE = 1 << 20
_TAR_ERRORS = (tarfile.TarError, EOFError, OSError, ValueError, OverflowError, RecursionError)
_ZIP_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError),
    *(RuntimeError, NotImplementedError),  # encrypted; compressed in a way that Python lacks
)


class Member(NamedTuple):
    """A regular file in an archive."""

    name: str
    start: int
    """Where its bytes begin: in the archive, or in the unpacked copy."""
    size: int
    modified: float
    """Seconds since 1970."""
    problem: str | None = None
    """None, or why it is cut short."""


class _Headers(io.FileIO):
    """An archive of which only headers are read: a hostile one may claim any length."""

    def read(self, size: int | None = -1, /) -> bytes:
        most = _LARGEST_HEADER if size is None or size < 0 else size
        if most > _LARGEST_HEADER:
            raise ValueError(f"a header claims to have {size} bytes")
        return super().read(most) or b""


def archive_kind(head: bytes) -> Literal["tar", "zip"] | None:
    """Which archive begins with the uncompressed bytes `head` (at least 512); None: none."""
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    # A line of a log may have the same characters there, but no NUL before them.
    return "tar" if head[257:262] == b"ustar" and b"\0" in head[:257] else None


def tar_members(descriptor: int, name: str, failed: Failed) -> list[Member]:
    """The regular files of a tar that is not compressed.

    Args:
        descriptor: of the archive; is closed.
        name: of the archive, for errors.
        failed: is called for members that cannot be read, and where the archive breaks off.

    Raises:
        SourceError: it has too many members.
    """
    found: dict[str, Member] = {}
    with _Headers(descriptor) as source:
        size = os.fstat(descriptor).st_size
        source.seek(0)
        try:
            with tarfile.open(fileobj=source, mode="r:") as archive:
                for one in archive:
                    if one.isreg() and not one.issparse():
                        start, cut = one.offset_data, max(one.offset_data + one.size - size, 0)
                        why = "its archive ends early" if cut else None
                        found[one.name] = Member(one.name, start, one.size - cut, one.mtime, why)
                    elif not one.isdir():
                        failed(f"{name}/{one.name}", "a link or no plain file; unpack the archive")
                    _bound(len(found), name)
                # The library takes a damaged header for the end.
                if os.pread(descriptor, _BLOCK, archive.offset).strip(b"\0"):
                    failed(name, f"damaged tar at byte {archive.offset}; what follows is lost")
        except _TAR_ERRORS as error:
            failed(name, f"damaged tar ({error})")
    return list(found.values())


def unzipped(descriptor: int, name: str, found: list[Member], failed: Failed) -> Iterator[bytes]:
    """The bytes of the files of a zip, one after another.

    Args:
        descriptor: of the archive; is closed.
        name: of the archive, for errors.
        found: gets each file once all its bytes are given.
        failed: is called for members that cannot be read.

    Raises:
        SourceError: it has too many members.
    """
    end = 0
    with _Headers(descriptor) as source:
        try:
            archive = zipfile.ZipFile(source)
        except _ZIP_ERRORS as error:
            failed(name, f"damaged zip ({error})")
            return
        once = {one.filename: one for one in archive.infolist() if not one.is_dir()}
        _bound(len(once), name)
        for one in once.values():
            start, problem = end, None
            try:
                with archive.open(one) as stream:
                    while piece := stream.read(_PIECE):
                        end += len(piece)
                        yield piece
            except _ZIP_ERRORS as error:
                problem = f"damaged zip data ({error})"
            if problem and end == start:
                failed(f"{name}/{one.filename}", problem)
                continue
            modified = 0.0
            with contextlib.suppress(ValueError, OverflowError):
                modified = time.mktime((*one.date_time, 0, 0, -1))
            found.append(Member(one.filename, start, end - start, modified, problem))


def _bound(count: int, name: str) -> None:
    if count > _MOST:
        raise SourceError(f"{name!r} has more than {_MOST:,} members; unpack it")
