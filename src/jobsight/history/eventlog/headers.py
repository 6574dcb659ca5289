"""The header record of a global log, and the host of its submissions.

Every file of a global event log starts with a record 008 ``Global JobLog: ctime=… id=… sequence=…``
(HTCondor's condor_utils/write_user_log.cpp and user_log_header.cpp). When a file is rotated its
header is written anew in place, with size and count: the date of the record is then that of the
rotation, while ``ctime`` stays that of the file's beginning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from xml.sax.saxutils import unescape

__all__ = ["HEADER_MARK", "Header", "first_header", "parse_header", "sinful_name", "submit_host"]

# Kernels have it compiled in: by these words `jobsight.compiling` compiles them anew with it.
HEADER_MARK = b"Global JobLog:"

_RECORD = re.compile(rb"008 \(-\d+\.-\d+\.-\d+\) [^\n]{10,40}? Global JobLog:([^\n]*)")
_FIELD = re.compile(rb"(?<![^ ])([a-z_]+)=(\S+)")
_CREATOR = re.compile(rb" creator_name=<([^\n]*)>")
_SECOND = 1_000_000
_NEAR = 2
_NUMBER = re.compile(rb"-?\d{1,18}", re.ASCII)
_XML_END = re.compile(rb"</c>")
_JSON_END = re.compile(rb"\}\s*?$", re.MULTILINE)
_SUBMIT_TEXT = re.compile(
    rb"^000 \([^\n]{10,90}? Job submitted from host: <([^>\n]*)>", re.MULTILINE
)
_SUBMIT_AD = re.compile(
    rb'"SubmitHost"\s*:\s*"<([^">]*)>"|<a n="SubmitHost"><s>&lt;([^<]*?)&gt;</s></a>'
)


@dataclass(frozen=True)
class Header:
    """The header of one file of a global event log; None where a field is missing or unreadable.

    Attributes:
        base: first four components of the id (user, process, seconds, microseconds): the writer
            that made the file. Every process that rotates has its own.
        ctime: seconds since 1970 at which the file was begun.
        sequence: number of the file in its log, one more at each rotation.
        size: bytes of the file, written at its rotation; 0 while it is the newest.
        offset: bytes of all files before it.
        creator: name of the daemon that made it, None where it is empty.
        identity: the whole id, which no other file has; it stays when the header is written anew.
    """

    base: str | None
    ctime: int | None
    sequence: int | None
    size: int | None
    offset: int | None
    creator: str | None
    identity: str | None = None

    @property
    def moment(self) -> int | None:
        """µs since 1970 at which the file was begun; to the second where the id has no more.

        Processes that rotate at once make files within one second, and may count them from 1 again
        (HTCondor 23.9), so that only this moment gives their order.
        """
        if self.ctime is None:
            return None
        parts = (self.identity or "").split(".")
        seconds, micros = (_number(part.encode()) for part in [*parts, *[""] * 7][5:7])
        if seconds is None or micros is None or not 0 <= micros < _SECOND:
            return self.ctime * _SECOND
        # The two are stamped one after the other, at times on both sides of a second's border.
        near = abs(seconds - self.ctime) <= _NEAR
        return seconds * _SECOND + micros if near else self.ctime * _SECOND


def parse_header(line: bytes) -> Header | None:
    """Read the header record that `line` starts with, None where it is none.

    Only records with negative ids count: users can write 008 records of their own jobs.
    """
    found = _RECORD.match(line)
    return None if found is None else _parse_info(found[1])


def _parse_info(info: bytes) -> Header:
    fields = dict(_FIELD.findall(info))
    creator = _CREATOR.search(info)
    identity = fields.get(b"id", b"").decode("ascii", "replace").split(".")
    ctime = _number(fields.get(b"ctime"))
    if ctime is None and len(identity) > 2:
        ctime = _number(identity[5 if len(identity) > 5 else 2].encode())
    return Header(
        base=".".join(identity[:4]) if len(identity) >= 4 else None,
        ctime=ctime,
        sequence=_number(fields.get(b"sequence")),
        size=_number(fields.get(b"size")),
        offset=_number(fields.get(b"offset")),
        creator=(creator[1].decode("utf-8", "replace").strip() or None) if creator else None,
        identity=".".join(identity) if len(identity) >= 4 else None,
    )


def _number(text: bytes | None) -> int | None:
    return int(text) if text is not None and _NUMBER.fullmatch(text) else None


def first_header(head: bytes, kind: Literal["text", "xml", "json", "empty"]) -> Header | None:
    """The header that the first record of a log holds; `head` are its first bytes (8 KiB do)."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if kind == "text":
        return parse_header(start)
    last = (_XML_END if kind == "xml" else _JSON_END).search(start)
    first = start[: last.start() if last else len(start)]
    at = first.find(HEADER_MARK)
    if at < 0:
        return None
    end = re.compile(b"<" if kind == "xml" else b'"').search(first, at)
    info = first[at + len(HEADER_MARK) : end.start() if end else len(first)]
    return _parse_info(unescape(info.decode("utf-8", "replace")).encode())


def sinful_name(sinful: str) -> str | None:
    """The name of the host behind an address such as ``<192.0.2.1:9618?addrs=…&alias=ap1&…>``.

    Its alias where it has one, else the host without the port; None where there is no host.
    Format: HTCondor's condor_utils/condor_sinful.cpp.
    """
    address, _, query = sinful.strip().removeprefix("<").removesuffix(">").partition("?")
    for pair in re.split("[&;]", query):
        name, _, value = pair.partition("=")
        if name == "alias" and value:
            return value
    if address.startswith("["):
        return address[1:].partition("]")[0] or None
    return address.partition(":")[0].strip() or None


def submit_host(head: bytes) -> str | None:
    """The access point that the first submission in `head` names, in any form of log."""
    text = _SUBMIT_TEXT.search(head)
    if text is not None:
        return sinful_name(text[1].decode("utf-8", "replace"))
    ad = _SUBMIT_AD.search(head)
    if ad is None:
        return None
    sinful = unescape((ad[1] or ad[2]).decode("utf-8", "replace"))
    return sinful_name(sinful.replace("\\/", "/"))
