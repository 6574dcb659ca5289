"""Decompression of gzip, bzip2, xz and Zstandard in bounded memory.

Formats: RFC 1952 (gzip), the bzip2 and xz file formats, RFC 8878 (Zstandard). They are recognised
by their first bytes, not by a file's name; members or streams may follow one another.
"""

from __future__ import annotations

import bz2
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Literal

__all__ = ["Compression", "Expander", "ReadAt", "detect", "gzip_time"]

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
        self._pieces = self._expand()
        self._piece = memoryview(b"")

    def readinto(self, view: memoryview) -> int:
        """Fill `view` from its start; how many bytes, less than asked only at the end."""
        filled = 0
        while filled < len(view):
            if not self._piece:
                piece = next(self._pieces, None)
                if piece is None:
                    break
                self._piece = memoryview(piece)
            size = min(len(self._piece), len(view) - filled)
            view[filled : filled + size] = self._piece[:size]
            self._piece = self._piece[size:]
            filled += size
        return filled

    def _expand(self) -> Iterator[bytes]:
        try:
            yield from self._members()
        except _damage() as error:
            reading = getattr(error, "strerror", None)  # those of bz2 are OSErrors without it
            self.problem = (
                f"reading failed: {reading}"
                if reading
                else f"damaged {self._compression} data ({error})"
            )

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
