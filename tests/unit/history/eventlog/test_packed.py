"""Expanding compressed bytes: whole, damaged, truncated, several members."""

import bz2
import gzip
import lzma
import random
import struct
from collections.abc import Callable

import pytest
import zstandard

from jobsight.history.eventlog.packed import Compression, Expander, detect, gzip_time

COMPRESS: dict[Compression, Callable[[bytes], bytes]] = {
    "gzip": lambda data: gzip.compress(data, 6, mtime=0),
    "bzip2": lambda data: bz2.compress(data, 1),
    "xz": lambda data: lzma.compress(data, preset=0),
    "zstd": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
}
_RANDOM = random.Random(1)
DATA = b"".join(b"%d %d\n" % (k, _RANDOM.randrange(10**9)) for k in range(60_000))
KINDS = pytest.mark.parametrize("kind", list(COMPRESS))


def expand(kind: Compression, packed: bytes, size: int = 70_001) -> tuple[bytes, str | None]:
    expander = Expander(kind, lambda offset, count: packed[offset : offset + count])
    view = memoryview(bytearray(size))
    out = bytearray()
    while count := expander.readinto(view):
        out += view[:count]
    assert expander.readinto(view) == 0
    return bytes(out), expander.problem


@KINDS
def test_bytes_come_back(kind: Compression) -> None:
    packed = COMPRESS[kind](DATA)
    assert detect(packed) == kind
    assert expand(kind, packed) == (DATA, None)


@KINDS
@pytest.mark.parametrize("size", [1, 7])
def test_any_size_of_view_does(kind: Compression, size: int) -> None:
    assert expand(kind, COMPRESS[kind](DATA[:500]), size) == (DATA[:500], None)


@KINDS
@pytest.mark.parametrize("padding", [b"", b"\0" * 8])
def test_members_follow_one_another(kind: Compression, padding: bytes) -> None:
    pack = COMPRESS[kind]
    packed = pack(DATA[:100_000]) + padding + pack(b"") + pack(DATA[100_000:]) + padding
    assert expand(kind, packed) == (DATA, None)


@KINDS
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_truncated_file_yields_what_it_has(kind: Compression, share: float) -> None:
    packed = COMPRESS[kind](DATA)
    out, problem = expand(kind, packed[: int(len(packed) * share)])
    assert DATA.startswith(out)
    assert problem is not None
    assert "ends early" in problem
    if kind in ("gzip", "xz") or share > 0.2:  # the others' blocks are whole or nothing
        assert len(out) > 0


@KINDS
def test_damage_ends_the_bytes_and_loses_little(kind: Compression) -> None:
    packed = bytearray(COMPRESS[kind](DATA) + COMPRESS[kind](DATA))
    at = len(packed) * 3 // 4
    packed[at : at + 40] = bytes(40)
    out, problem = expand(kind, bytes(packed))
    assert problem is not None
    assert "damaged" in problem
    assert len(out) > len(DATA) + (0.3 * len(DATA) if kind == "gzip" else -1)
    if kind == "gzip":
        start = len(DATA) + len(DATA) // 3
        assert out[:start] == (DATA + DATA)[:start]


@KINDS
def test_rubbish_behind_is_reported(kind: Compression) -> None:
    out, problem = expand(kind, COMPRESS[kind](DATA[:5000]) + b"rubbish behind it all")
    assert out == DATA[:5000]
    assert problem is not None
    assert "follow" in problem


def test_a_failing_disk_is_a_problem_and_no_error() -> None:
    def read_at(_offset: int, _size: int) -> bytes:
        raise OSError(5, "Input/output error")

    expander = Expander("gzip", read_at)
    assert expander.readinto(memoryview(bytearray(10))) == 0
    assert expander.problem == "reading failed: Input/output error"


@pytest.mark.parametrize("head", [b"", b"\x1f\x8b", b"008 (-01.-01", b"BZh is a word", b"(\xb5/"])
def test_plain_bytes_are_not_taken_for_compressed(head: bytes) -> None:
    assert detect(head) is None


def test_gzip_tells_the_time_of_its_original() -> None:
    assert gzip_time(gzip.compress(b"x", mtime=1_600_000_000)) == 1_600_000_000
    assert gzip_time(gzip.compress(b"x", mtime=0)) is None
    assert gzip_time(b"plain text") is None


def test_zstandard_skippable_frames_are_passed() -> None:
    frame = struct.pack("<II", 0x184D2A50, 4) + b"meta"
    packed = frame + COMPRESS["zstd"](DATA)
    assert detect(packed) == "zstd"
    assert expand("zstd", packed) == (DATA, None)


@pytest.mark.parametrize(("kind", "at"), [("gzip", -6), ("zstd", -2)])
def test_a_small_file_with_a_wrong_checksum_yields_all_of_it(kind: Compression, at: int) -> None:
    packed = bytearray(COMPRESS[kind](DATA[:5_000]))
    packed[at] ^= 1
    out, problem = expand(kind, bytes(packed))
    assert out == DATA[:5_000]
    assert problem is not None and "damaged" in problem


def test_of_a_large_gzip_file_nothing_before_the_damage_is_lost() -> None:
    packed = bytearray(COMPRESS["gzip"](DATA))
    packed[-6] ^= 1
    out, problem = expand("gzip", bytes(packed))
    assert out == DATA
    assert problem is not None and "incorrect data check" in problem
