"""Names of the files of an event log that do not change with rotation, copying or packing.

A *generation* is what was written to one file of a log. HTCondor gives each a header whose id stays
while its sizes are written anew; one without a header is named by its first record. A record is
identified by that name and its offset from the generation's beginning.

Names of generations with headers are ``eventlog#<µs since 1970>.<digest of the id>``. They sort as
the files were begun (those of JSON logs only to the millisecond), and the part before the ``#``
is common to all generations of one log, since an access point has one global log. JSON headers lose
their id when they are written anew (HTCondor 23.9), so these are named by time and digest of the
first record after the header. All others are ``eventlog-<digest of the first record>``.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace

from jobsight.history.eventlog.columns import Batch
from jobsight.history.eventlog.headers import Header, first_header
from jobsight.history.eventlog.logfiles import Kind, sniff
from jobsight.history.eventlog.segments import Segment
from jobsight.history.eventlog.structured import first_end, parse_time
from jobsight.history.eventlog.terms import PREFIX

__all__ = [
    "HEAD",
    "Generation",
    "generation_name",
    "identify",
    "in_generation",
    "may_be_log",
    "segment_name",
]

HEAD = 64 << 10
"""Bytes of a file by which it is known; a first record that is longer is known by these."""

_BEGINNING = re.compile(rb"(?:\xef\xbb\xbf)?[\s\0]*(?:[\d<{\[]|$)")
_SEPARATOR = re.compile(rb"\n\.\.\.\r?\n")
_EVENT_TIME = re.compile(rb'"EventTime"\s*:\s*"([0-9T:.+Z -]{10,40})"')
_LATEST = 10**16


@dataclass(frozen=True)
class Generation:
    """One file of a log.

    Attributes:
        name: of the generation.
        kind: how its records are written.
        header: its header, None where it has none.
        first: bytes up to the end of its first record; those of a header may be written anew.
    """

    name: str
    kind: Kind
    header: Header | None
    first: int


def generation_name(header: Header) -> str | None:
    """The name of the generation with that header; None where id or time are missing."""
    moment = header.moment
    if header.identity is None or moment is None or not 0 <= moment < _LATEST:
        return None
    digest = hashlib.sha256(header.identity.encode()).hexdigest()[:8]
    return f"{PREFIX}#{moment:016d}.{digest}"


def may_be_log(head: bytes) -> bool:
    """Whether a file that begins with `head` may be a log, or the rest of one."""
    return _BEGINNING.match(head) is not None or _SEPARATOR.search(head) is not None


def identify(head: bytes, *, whole: bool = False) -> Generation | None:
    """The generation of a file that begins with `head`, its first `HEAD` bytes or all there are.

    None while its first record is still being written, unless `whole` says that nothing follows.
    """
    head = head[:HEAD]
    kind = sniff(head)
    if kind == "empty":
        return None
    end = _first_end(head, kind)
    if end is None and (whole or len(head) == HEAD):
        end = len(head)
    if end is None:
        return None
    header = first_header(head, kind)
    if header is not None and kind == "json":  # by the record behind the header
        size = _first_end(head[end:], "json")
        if size is None and not whole and len(head) < HEAD:
            return None
        record = head[end:][:size].strip()
        found = _EVENT_TIME.search(record)
        time = parse_time(found[1].decode()) if found else None
        stamp = min(max(time[0] if time else 0, 0), _LATEST - 1)
        own = f"{PREFIX}#{stamp:016d}.{hashlib.sha256(record).hexdigest()[:8]}"
        # The numbers of a JSON header are lost when it is written anew.
        plain = replace(header, base=None, sequence=None, offset=None, identity=None)
        return Generation(own, "json", plain, end)
    name = generation_name(header) if header is not None else None
    if name is None:
        header = None
        name = f"{PREFIX}-{hashlib.sha256(head[:end]).hexdigest()[:16]}"
    return Generation(name, kind, header, end)


def _first_end(head: bytes, kind: Kind) -> int | None:
    """Where the first record ends, None where it has not ended."""
    if kind == "text":
        found = _SEPARATOR.search(head)
        return found.end() if found else None
    return first_end("xml" if kind == "xml" else "json", head)


def segment_name(segment: Segment) -> str:
    """The name of the generation that is one part of a log.

    Raises:
        SourceError: the file vanished meanwhile.
    """
    header = segment.header if segment.file.kind != "json" else None
    name = generation_name(header) if header is not None else None
    if name is not None:
        return name
    size = HEAD if segment.end is None else min(HEAD, segment.end - segment.start)
    view = memoryview(bytearray(size))
    with segment.file.open(segment.start) as stream:
        head = bytes(view[: stream.readinto(view)])
    found = identify(head, whole=True)
    return found.name if found is not None else PREFIX


def in_generation(batch: Batch, name: str, start: int) -> Batch:
    """The batch with the generation's name as `source`, and offsets from `start`, its beginning."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = dict(batch.columns)
    columns["source"] = pa.repeat(pa.scalar(name, pa.large_string()), len(batch.stamp))
    columns["offset"] = pc.subtract(columns["offset"], start)
    return replace(batch, columns=columns)
