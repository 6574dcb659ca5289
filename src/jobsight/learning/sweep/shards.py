"""The inputs of a sweep, cut into shards that nodes parse separately.

Files of one rotated log stay in one shard: only together do they show their order, their years and
their access point. Shards hold whole logs in the order that they were named, so that their tables,
joined again, are the table of all logs read at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from jobsight.errors import SourceError, SweepError, UsageError
from jobsight.history.eventlog.discovery import find_logs
from jobsight.history.eventlog.logfiles import LogFile
from jobsight.history.eventlog.segments import plan as logs_of
from jobsight.learning.reading import program_lines
from jobsight.learning.sweep.layout import Shard, named_by

__all__ = ["MOST", "shards_of"]

MOST = 16
"""Shards of logs at most: each is a node, and a node costs its scheduler more than a small log."""
_LEAST_BYTES = 64 << 20
"""Logs that are smaller together are not worth a node more."""
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")


def shards_of(
    data: Sequence[str],
    *,
    base: Path,
    are_documents: Callable[[str], bool],
    place: Callable[[int], str],
    reads: str = "events",
) -> tuple[Shard, ...]:
    """Cut inputs into shards: those of logs first, then one for each store or snapshot.

    For a question about jobs, which may have records in several inputs, or programs, all are one
    shard.

    Args:
        data: files, folders and globs of logs, addresses of stores, snapshots, corpora; relative to
            `base`.
        base: folder of the config.
        are_documents: whether an input is a store or a snapshot, not a log.
        place: of an input in the config, by its number from 0 on; begins the errors.
        reads: what the question reads.

    Raises:
        SourceError: a log is missing or cannot be read.
        UsageError: standard input is named, or an address holds a password.
        SweepError: there is no such home folder.
    """
    documents: list[str] = []
    logs: list[LogFile] = []
    for number, one in enumerate(data):
        try:
            placed = _placed(one, base)
            if reads == "programs":
                program_lines(placed)  # refuses what has none
                documents.append(placed)
            elif are_documents(placed):
                documents.append(placed)
            else:
                logs += find_logs([placed])
        except (SourceError, SweepError, UsageError) as error:
            raise type(error)(f"{place(number)}: {error}") from None
    archive = next((one.archive for one in logs if one.archive is not None), None)
    if archive is not None:
        raise SourceError(f"a sweep reads no archives: unpack {archive!r} and name the folder")
    if reads != "events":
        return (Shard("s01", (*(str(one.path) for one in logs), *documents), documents=True),)
    groups = _groups(find_logs(logs)) if logs else []
    shards = []
    for k, group in enumerate(groups, start=1):
        paths = tuple(str(file.path) for file in group)
        shards.append(Shard(f"s{k:02d}", paths, modified=tuple(file.modified for file in group)))
    for k, one in enumerate(documents, start=len(shards) + 1):
        shards.append(Shard(f"s{k:02d}", (one,), documents=True))
    return tuple(shards)


def _placed(text: str, base: Path) -> str:
    """An input that means the same from any folder."""
    if text == "-":
        raise UsageError("a sweep cannot read standard input; write it to a file and name that")
    if _ADDRESS.match(text) and not (base / text).exists():
        if _holds_password(text):
            raise UsageError(
                "the address of a store in `data` holds a password, which would be written into "
                "the sweep's folder; leave it out and set JOBSIGHT_STORE_PASSWORD, or "
                "store.password_file in the settings"
            )
        return text
    return str(named_by(base, text))


def _holds_password(address: str) -> bool:
    try:
        parts = urlsplit(address)
        if parts.password is not None or "password" in parse_qs(parts.query):
            return True
    except ValueError:
        return True  # what cannot be taken apart is not written down
    # One that was not percent-encoded ends in what looks like the path.
    return bool(parts.netloc) and "@" in f"{parts.path}{parts.query}{parts.fragment}"


def _groups(files: Sequence[LogFile]) -> list[list[LogFile]]:
    """The files of each shard: whole logs, next to each other, of about equal size."""
    logs = [list(dict.fromkeys(part.file for part in log.segments)) for log in logs_of(files)]
    sizes = [sum(file.size for file in log) for log in logs]
    enough = max(sum(sizes) / MOST, _LEAST_BYTES)
    groups: list[list[LogFile]] = []
    filled = enough
    for log, size in zip(logs, sizes, strict=True):
        if filled + size / 2 >= enough and len(groups) < MOST:
            groups.append([])
            filled = 0.0
        groups[-1] += sorted(log, key=files.index)
        filled += size
    return groups
