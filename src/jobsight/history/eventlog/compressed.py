"""Decompression of gzip, bzip2, xz and Zstandard in bounded memory, keeping all that is sound.

Formats: RFC 1952 (gzip), the bzip2 and xz file formats, RFC 8878 (Zstandard). They are told apart
by their first bytes, never by a file's name; members or streams may follow one another.
"""

from __future__ import annotations

import bz2
import lzma
import re
import zlib
from collections.abc import Callable
from typing import Literal, Protocol

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

# Zstandard's decoder has no limit on its output: 8 KiB of input make at most 256 MiB of it.
_FEED = {"gzip": 256 << 10, "bzip2": 256 << 10, "xz": 256 << 10, "zstd": 8 << 10}
_OUTPUT = 1 << 20
_CAREFUL_OUTPUT = 4 << 10
_XZ_MEMORY = 512 << 20


def detect(head: bytes) -> Compression | None:
    """The compression of a file that starts with `head` (at least ten bytes), None for none."""
    return next((name for magic, name in _MAGIC if magic.match(head)), None)


def gzip_time(head: bytes) -> int | None:
    """MTIME of a gzip header: seconds since 1970 of the original's last change, None if not set."""
    if detect(head) != "gzip" or len(head) < 8:
        return None
    return int.from_bytes(head[4:8], "little") or None


class _Codec(Protocol):
    """One member: `decompress` is given input only when `needs_input` says so."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = ...) -> bytes: ...


class _Gzip:
    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(31)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def decompress(self, data: bytes, max_length: int = _OUTPUT) -> bytes:
        tail = self._zlib.unconsumed_tail
        out = self._zlib.decompress(tail + data if tail else data, max_length)
        self.needs_input = not self._zlib.unconsumed_tail and len(out) < max_length
        return out


class _Zstd:
    def __init__(self) -> None:
        import zstandard

        self._zstd = zstandard.ZstdDecompressor().decompressobj()
        self._out = memoryview(b"")

    @property
    def eof(self) -> bool:
        return self._zstd.eof and not self._out

    @property
    def needs_input(self) -> bool:
        return not self._out

    @property
    def unused_data(self) -> bytes:
        return self._zstd.unused_data

    def decompress(self, data: bytes, max_length: int = _OUTPUT) -> bytes:
        if data:
            self._out = memoryview(self._zstd.decompress(data))
        out = bytes(self._out[:max_length])
        self._out = self._out[max_length:]
        return out


def _new_codec(compression: Compression) -> _Codec:
    if compression == "gzip":
        return _Gzip()
    if compression == "bzip2":
        return bz2.BZ2Decompressor()
    if compression == "xz":
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
    return _Zstd()


def _decoder_errors() -> tuple[type[Exception], ...]:
    import zstandard

    return (zlib.error, lzma.LZMAError, zstandard.ZstdError, OSError, ValueError, EOFError)


class _DamagedError(Exception):
    """The compressed bytes are unsound from here on; says why, and where the last feed began."""

    def __init__(self, reason: str, fed_at: int | None) -> None:
        super().__init__(reason)
        self.fed_at = fed_at


class _Members:
    """The members of one file, one after another.

    Args:
        compression: what the file is.
        read_at: reads the compressed bytes.
        careful_from: from this position of the file on, input is fed byte by byte. A decoder that
            finds damage drops the output of that very call, so small calls lose the least.
    """

    def __init__(self, compression: Compression, read_at: ReadAt, careful_from: int | None) -> None:
        self._compression = compression
        self._read_at = read_at
        self._careful_from = careful_from
        self._position = 0
        self._fed_at = 0
        self._carry = b""
        self._codec: _Codec | None = None
        self._errors = _decoder_errors()

    def read(self, limit: int) -> bytes:
        """The next 1 … `limit` bytes, b"" at the end.

        Raises:
            _DamagedError: no more sound bytes follow.
        """
        while True:
            if self._codec is None and not self._next_member():
                return b""
            assert self._codec is not None
            data = self._input() if self._codec.needs_input else b""
            if self._codec.needs_input and not data:
                raise _DamagedError(f"the {self._compression} data ends early", None)
            out = self._decode(self._codec, data, limit)
            if self._codec.eof:
                self._carry = self._codec.unused_data
                self._codec = None
            if out:
                return out

    def _decode(self, codec: _Codec, data: bytes, limit: int) -> bytes:
        if self._careful_from is not None and self._position > self._careful_from:
            limit = min(limit, _CAREFUL_OUTPUT)
        try:
            return codec.decompress(data, min(limit, _OUTPUT))
        except self._errors as error:
            reason = f"damaged {self._compression} data ({error})"
            raise _DamagedError(reason, self._fed_at) from None

    def _input(self) -> bytes:
        if self._carry:
            data, self._carry = self._carry, b""
            self._fed_at = self._position - len(data)
            return data
        self._fed_at = self._position
        return self._read()

    def _read(self) -> bytes:
        size = _FEED[self._compression]
        if self._careful_from is not None:
            ahead = self._careful_from - self._position
            size = min(size, ahead) if ahead > 0 else 1
        try:
            data = self._read_at(self._position, size)
        except OSError as error:
            raise _DamagedError(f"reading failed: {error.strerror or error}", None) from None
        self._position += len(data)
        return data

    def _next_member(self) -> bool:
        """Start the next member; False at the end of the file. Padding of NUL bytes is passed."""
        head = self._carry.lstrip(b"\0")
        while len(head) < _MAGIC_BYTES and (more := self._read()):
            head = (head + more).lstrip(b"\0")
        if not head:
            return False
        if detect(head) != self._compression:
            raise _DamagedError(f"bytes that are no {self._compression} data follow", None)
        self._carry = head
        self._codec = _new_codec(self._compression)
        return True


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
        self._members = _Members(compression, read_at, None)
        self._delivered = 0
        self._careful = False
        self._ended = False

    def readinto(self, view: memoryview) -> int:
        """Fill `view` from its start; how many bytes, less than asked only at the end."""
        filled = 0
        while filled < len(view) and not self._ended:
            out = self._next(len(view) - filled)
            view[filled : filled + len(out)] = out
            filled += len(out)
        return filled

    def _next(self, limit: int) -> bytes:
        try:
            out = self._members.read(limit)
        except _DamagedError as error:
            if error.fed_at is not None and not self._careful and self._retry(error.fed_at):
                return b""
            self.problem = str(error)
            out = b""
        self._ended = not out
        self._delivered += len(out)
        return out

    def _retry(self, careful_from: int) -> bool:
        """Go over the file once more, up to what was delivered, now with care at the damage."""
        self._careful = True
        self._members = _Members(self._compression, self._read_at, careful_from)
        left = self._delivered
        try:
            while left:
                out = self._members.read(left)
                if not out:
                    return False
                left -= len(out)
        except _DamagedError:
            return False
        return True
