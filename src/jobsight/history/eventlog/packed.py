"""Bytes out of packings: gzip, bzip2, xz and Zstandard, and the members of tar and zip archives.

Formats: RFC 1952 (gzip), the bzip2 and xz file formats, RFC 8878 (Zstandard), POSIX.1-2017 pax
(ustar and GNU's headers too), PKWARE's APPNOTE. They are recognised by their first bytes, not by a
file's name; members or streams may follow one another. Memory is bounded. The members of a tar are
read where they are; those of a zip are unpacked, one after another. Of members with one name the
last counts, as for tar itself: ``tar -u`` adds a file anew that has grown.
"""

from __future__ import annotations

import bz2
import contextlib
import io
import lzma
import os
import re
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from jobsight.errors import SourceError

__all__ = [
    "Compression",
    "Expander",
    "Member",
    "ReadAt",
    "archive_kind",
    "detect",
    "gzip_time",
    "tar_members",
    "unzipped",
]

Compression = Literal["gzip", "bzip2", "xz", "zstd"]
ReadAt = Callable[[int, int], bytes]
"""``read_at(offset, size)``: at most `size` bytes of the compressed file, b"" at its end."""

_MAGIC: tuple[tuple[re.Pattern[bytes], Compression], ...] = (
    (re.compile(rb"\x1f\x8b\x08"), "gzip"),
    (re.compile(rb"BZh[1-9](1AY&SY|\x17\x72\x45\x38\x50\x90)"), "bzip2"),
    (re.compile(rb"\xfd7zXZ\x00"), "xz"),
    (re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", re.DOTALL), "zstd"),
)
_MAGIC_BYTES = 10

_FEED = 8 << 10
"""Compressed bytes decoded at once: at most 8 MiB of gzip, 256 MiB of Zstandard, whose decoders
have no limit on their output."""

_OUTPUT = 1 << 20
_XZ_MEMORY = 512 << 20

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


def detect(head: bytes) -> Compression | None:
    """The compression of a file that starts with `head` (at least ten bytes), None for none."""
    return next((name for magic, name in _MAGIC if magic.match(head)), None)


def gzip_time(head: bytes) -> int | None:
    """MTIME of a gzip header: seconds since 1970 of the original's last change, None if not set."""
    if detect(head) != "gzip" or len(head) < 8:
        return None
    return int.from_bytes(head[4:8], "little") or None


def _new_decoder(compression: Compression) -> Any:
    """A decoder of one member, as of `bz2.BZ2Decompressor`."""
    import zstandard

    if compression == "gzip":
        return zlib.decompressobj(31)
    if compression == "bzip2":
        return bz2.BZ2Decompressor()
    if compression == "xz":
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
    return zstandard.ZstdDecompressor().decompressobj()


def _damage() -> tuple[type[Exception], ...]:
    import zstandard

    return zlib.error, lzma.LZMAError, zstandard.ZstdError, OSError, EOFError, ValueError


def _decode(decoder: Any, data: bytes, before: Any) -> Iterator[bytes]:
    """The output for `data`; where that is damaged, what is before the damage, then the error.

    A decoder that finds damage, such as a wrong checksum, drops the output of that call. `before`
    is another one in the state before `data`, which then goes on byte by byte; or None.
    """
    given = 0
    try:
        for piece in _pieces(decoder, data):
            given += len(piece)
            yield piece
    except _damage():
        for byte in data if before is not None else b"":
            for piece in _pieces(before, bytes((byte,))):
                yield piece[given:]
                given -= min(given, len(piece))
        raise


def _pieces(decoder: Any, data: bytes) -> Iterator[bytes]:
    """The output for `data`, in pieces of at most 1 MiB where the decoder can bound them."""
    if not hasattr(decoder, "needs_input"):
        yield decoder.decompress(data)
        return
    yield decoder.decompress(data, _OUTPUT)
    while not decoder.eof and not decoder.needs_input:
        yield decoder.decompress(b"", _OUTPUT)


class Expander:
    """The uncompressed bytes of a compressed file.

    Not thread-safe. Memory stays below about 600 MiB whatever the input.

    Attributes:
        problem: None, or why the bytes end before the file does (truncated, damaged); set once
            `readinto` has returned all sound bytes.
    """

    def __init__(self, compression: Compression, read_at: ReadAt) -> None:
        self.problem: str | None = None
        self._compression = compression
        self._read_at = read_at
        self._position = 0
        self._pieces = self._members()
        self._piece = memoryview(b"")

    def readinto(self, view: memoryview) -> int:
        """Fill `view` from its start; how many bytes, less than asked only at the end."""
        filled = 0
        while filled < len(view):
            if not self._piece:
                try:
                    piece = next(self._pieces, None)
                except _damage() as error:
                    # Of failed reading; those of bz2 are OSErrors without it.
                    reading = getattr(error, "strerror", None)
                    damaged = f"damaged {self._compression} data ({error})"
                    self.problem = f"reading failed: {reading}" if reading else damaged
                    break
                if piece is None:
                    break
                self._piece = memoryview(piece)
            size = min(len(self._piece), len(view) - filled)
            view[filled : filled + size] = self._piece[:size]
            self._piece = self._piece[size:]
            filled += size
        return filled

    def _members(self) -> Iterator[bytes]:
        data = self._next_member(b"")
        while data:
            decoder, before = _new_decoder(self._compression), _new_decoder(self._compression)
            while True:
                yield from _decode(decoder, data, before)
                if decoder.eof:
                    break
                # Those of zlib alone can be copied: of the others, only small files lose nothing.
                before = decoder.copy() if hasattr(decoder, "copy") else None
                if not (data := self._read()):
                    self.problem = f"the {self._compression} data ends early"
                    return
            data = self._next_member(decoder.unused_data)

    def _read(self) -> bytes:
        data = self._read_at(self._position, _FEED)
        self._position += len(data)
        return data

    def _next_member(self, head: bytes) -> bytes:
        """The first bytes of the next member, b"" at the end; NUL bytes before it are padding."""
        head = head.lstrip(b"\0")
        while len(head) < _MAGIC_BYTES and (more := self._read()):
            head = (head + more).lstrip(b"\0")
        if head and detect(head) != self._compression:
            self.problem = f"bytes that are not {self._compression} data follow"
            return b""
        return head


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
    """The regular files of a tar that is not compressed; its descriptor is closed.

    `failed` is called for members that cannot be read, and where the archive breaks off.

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
    """The bytes of the files of a zip, one after another; its descriptor is closed.

    `found` gets each file once all its bytes are given; `failed` is called for members that cannot
    be read.

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
