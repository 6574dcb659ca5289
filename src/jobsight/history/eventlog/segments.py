"""Which files are one log, and in which order their parts were written.

A global event log is rotated, and people join its files again in any order. Each part starts with a
header record (`jobsight.history.eventlog.headers`), with the time of its beginning and its number.
"""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jobsight.history.eventlog.chunks import ByteStream
from jobsight.history.eventlog.headers import (
    HEADER_MARK,
    Header,
    first_header,
    parse_header,
    submit_host,
)
from jobsight.history.eventlog.logfiles import LogFile
from jobsight.history.eventlog.record import Bytes, find_after
from jobsight.history.eventlog.terms import rotation
from jobsight.jit import kernel

__all__ = ["Log", "Segment", "in_order", "plan", "survey"]

_MARK = re.compile(re.escape(HEADER_MARK))
_BLOCK = 1 << 20
_LINE = 4 << 10  # a header line is padded to 256 bytes or so
_PEEK = 1 << 20
_COMPRESSED_NAME = re.compile(r"\.(gz|bz2|xz|zst)$")


@dataclass(frozen=True)
class Segment:
    """Bytes `start` … `end` − 1 of a file (uncompressed; None: to its end), one part of a log."""

    file: LogFile
    start: int
    end: int | None
    header: Header | None


@dataclass(frozen=True)
class Log:
    """One event log: its parts in the order they were written.

    Attributes:
        number: 0, 1, … in the order the logs were named.
        segments: at least one.
        access_point: where its jobs were submitted, None where unknown.
    """

    number: int
    segments: tuple[Segment, ...]
    access_point: str | None


@kernel
def _find_mark(text: Bytes, at: int, end: int) -> int:
    """Where the mark of a header record begins in ``text[at:end]``, or a negative number."""
    return find_after(text, at, end, HEADER_MARK) - len(HEADER_MARK)


@_find_mark.estimate
def _search_seconds(_text: Bytes, at: int, end: int) -> float:
    return max(end - at, 0) * 1e-9


@_find_mark.in_python
def _search_mark(text: Any, at: int, end: int) -> int:
    found = _MARK.search(memoryview(text), at, end)
    return found.start() if found else -1


def survey(stream: ByteStream) -> list[tuple[int, Header]]:
    """Position and header of each header record at the start of a line, in a text log."""
    found: list[tuple[int, Header]] = []
    buffer = bytearray(_BLOCK + 2 * _LINE)
    text = np.frombuffer(buffer, np.uint8)
    base = kept = searched = 0
    while True:
        size = kept + stream.readinto(memoryview(buffer)[kept:])
        last = size < len(buffer)
        # A mark near the end waits for the rest of its line.
        limit = size if last else size - _LINE + len(HEADER_MARK)
        while (at := _find_mark(text, searched, limit)) >= 0:
            searched = at + len(HEADER_MARK)
            start = buffer.rfind(b"\n", max(0, at - _LINE), at) + 1
            if start > 0 or (base == 0 and at < _LINE):
                line = bytes(buffer[start : at + _LINE])
                header = parse_header(line.removeprefix(b"\xef\xbb\xbf"))
                found += [(base + start, header)] if header else []
        if last:
            return found
        kept, searched = 2 * _LINE, _LINE
        buffer[:kept] = buffer[size - kept : size]
        base += size - kept


def plan(files: Sequence[LogFile], *, access_point: str | None = None) -> list[Log]:
    """Group files into logs, and their parts into the order they were written.

    Files are one log when they share a header's writer, when the header of one says that it follows
    the other (number and bytes before it), or when their names are those of one rotated log
    (X, X.1 …, X.old in one folder). All of one file is one log.

    Args:
        files: as found; logs are numbered by the first file of each.
        access_point: the setting, which wins over the logs.

    Raises:
        SourceError: a file vanished meanwhile.
    """
    parts = [_parts(file) for file in files]
    logs: list[Log] = []
    for members in _groups(files, parts):
        segments = tuple(in_order([part for k in members for part in parts[k]]))
        creators = (part.header.creator for part in segments if part.header is not None)
        point = access_point or next(filter(None, creators), None)
        if point is None:
            hosts = map(_submit_host, dict.fromkeys(part.file for part in segments))
            point = next(filter(None, hosts), None)
        logs.append(Log(len(logs), segments, point))
    return logs


def _parts(file: LogFile) -> list[Segment]:
    header = first_header(file.head, file.kind)
    if file.kind != "text" or (header is None and not file.seekable):
        return [Segment(file, 0, None, header)]
    if _is_whole(file):
        headers = survey(io.BytesIO(file.head)) if HEADER_MARK in file.head else []
    else:
        with file.open() as stream:
            headers = survey(stream)
    parts: list[tuple[int, Header | None]] = [*headers]
    if not headers or headers[0][0] > 0:
        parts.insert(0, (0, None))
    ends = [*(offset for offset, _ in parts[1:]), None]
    return [
        Segment(file, start, end, header) for (start, header), end in zip(parts, ends, strict=True)
    ]


def _is_whole(file: LogFile) -> bool:
    """Whether the head that was kept is all there is."""
    return file.seekable and file.size <= len(file.head)


def _submit_host(file: LogFile) -> str | None:
    host = submit_host(file.head)
    if host is not None or _is_whole(file):
        return host
    view = memoryview(bytearray(_PEEK))
    with file.open() as stream:
        return submit_host(bytes(view[: stream.readinto(view)]))


def _family(file: LogFile) -> tuple[str, str, float]:
    """Folder, name of the newest file, and age (0 the newest) by the rules of rotation."""
    place = file.path if file.archive is None else Path(file.name)
    if place is None:
        return "", file.name, 0.0
    return str(place.parent), *rotation(_COMPRESSED_NAME.sub("", place.name))


def _groups(files: Sequence[LogFile], parts: list[list[Segment]]) -> list[list[int]]:
    """Numbers of the files of each log: files that share any key belong together."""
    group = list(range(len(files)))

    def root(k: int) -> int:
        while group[k] != k:
            group[k] = group[group[k]]
            k = group[k]
        return k

    keys: list[list[Hashable]] = [[] for _ in files]
    families: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for k, file in enumerate(files):
        folder, name, age = _family(file)
        if file.path is not None or file.archive is not None:
            families[folder, name][k] = age
        for header in filter(None, (part.header for part in parts[k])):
            if header.base:
                keys[k].append(("writer", header.base))
            if header.sequence is None or header.offset is None:
                continue
            # No two logs agree in number and bytes so far, but all begin with nothing before them.
            if header.offset > 0:
                keys[k].append(("follows", header.sequence, header.offset))
            if header.size:
                keys[k].append(("follows", header.sequence + 1, header.offset + header.size))
    for family, ages in families.items():
        # Logs without headers are one by their names: X with X.old, or with X.1 … X.N. ``job.17``
        # and ``job.18`` alone are logs of two jobs.
        numbers = sorted(age for age in ages.values() if age >= 1)
        are_rotated = 0.0 in ages.values() and numbers == [
            float(k + 1) for k in range(len(numbers))
        ]
        if are_rotated or any(part.header for k in ages for part in parts[k]):
            for k in ages:
                keys[k].append(("family", family))
    first: dict[Hashable, int] = {}
    for k, own in enumerate(keys):
        for key in own:
            a, b = root(first.setdefault(key, k)), root(k)
            group[max(a, b)] = min(a, b)
    members: dict[int, list[int]] = defaultdict(list)
    for k in range(len(files)):
        members[root(k)].append(k)
    return list(members.values())


def in_order(segments: Sequence[Segment]) -> list[Segment]:
    """The parts of one log in the order they were written.

    By the time each was begun, then its number. A part without a header is before all of its own
    file, or, if that has none, where its name puts it among the others.
    """
    timed = all(part.header is None or part.header.ctime is not None for part in segments)

    def begun(part: Segment) -> tuple[int, int, float]:
        assert part.header is not None
        moment = (part.header.moment or 0) if timed else 0
        return moment, part.header.sequence or 0, -_age(part)

    ordered = sorted((part for part in segments if part.header), key=begun)
    with_header = {part.file for part in ordered}
    bare = [part for part in segments if part.header is None]
    for part in sorted(bare, key=_age):  # newest first, so that an older one goes before it
        at = 0
        if part.file not in with_header:
            newer = [k for k, other in enumerate(ordered) if _age(other) < _age(part)]
            at = newer[0] if newer else len(ordered)
        ordered.insert(at, part)
    return ordered


def _age(part: Segment) -> float:
    return _family(part.file)[2]
