"""The logs that benchmarks read, made from the pool's log in this repository."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

__all__ = ["COMPRESSED", "first_records", "large_log", "part_of", "plain_log"]

COMPRESSED = Path(__file__).parent.parent / "data" / "pool-a.log.gz"
_SEPARATOR = b"\n...\n"


def plain_log(folder: Path) -> Path:
    """The log, uncompressed, in `folder`."""
    path = folder / "pool-a.log"
    with gzip.open(COMPRESSED) as source, path.open("wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
    return path


def first_records(count: int) -> bytes:
    """The first `count` records of the log, including its header."""
    with gzip.open(COMPRESSED) as source:
        head = source.read(count << 12)
    return b"".join(record + _SEPARATOR for record in head.split(_SEPARATOR)[:count])


def part_of(log: Path, folder: Path, size: int) -> Path:
    """The first `size` bytes of `log`, up to the end of a record."""
    with log.open("rb") as source:
        text = source.read(size)
    path = folder / "part.log"
    path.write_bytes(text[: text.rfind(_SEPARATOR) + len(_SEPARATOR)])
    return path


def large_log(log: Path, folder: Path, size: int) -> Path:
    """At least `size` bytes: `log`, then its records again and again (without its header)."""
    text = log.read_bytes()
    records = text[text.find(_SEPARATOR) + len(_SEPARATOR) :]
    path = folder / "large.log"
    with path.open("wb") as target:
        target.write(text)
        while target.tell() < size:
            target.write(records)
    return path
