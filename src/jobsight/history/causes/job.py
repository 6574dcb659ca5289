"""Why a job ended as it did: by its record, and by the files that its output went to.

Output files are opened by commands alone, with the rights of who calls them. Their paths are the
users' own words: a service that opened them would show one user's files to another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from jobsight.documents import JobDocument, parse_key
from jobsight.errors import UsageError
from jobsight.history.causes.cause import Cause
from jobsight.history.causes.endings import ending_of
from jobsight.history.causes.search import Found, progress, read_end, search
from jobsight.program.submission.sbatch import read_submitted

__all__ = ["Explained", "explained", "output_files"]

_BY_RECORD = frozenset({"memory", "time", "node", "preempted", "cancelled", "request"})
"""Kinds of causes that the record of an end names surely: output only adds to them."""
_MOST_FILES = 4


@dataclass(frozen=True)
class Explained:
    """Why a job failed.

    Attributes:
        cause: the cause; None where it completed, or has not ended.
        found: what an output file names; None where none does, or none can be read.
        file: that has it.
        read: files that were read.
        reached: how far the work was, as the output of a job that was cut off shows it.
    """

    cause: Cause | None
    found: Found | None = None
    file: str | None = None
    read: Sequence[str] = ()
    reached: str | None = None


def explained(document: JobDocument, files: Sequence[str]) -> Explained:
    """Why a job failed, by its record and its output.

    What the record names surely (memory, time, its machine) is the cause. Else it is what the
    output names; and where that is nothing, the record's exit code or signal.

    Args:
        document: of the job.
        files: that its output went to, such as those of `output_files`; those that are not there
            or cannot be read are passed over.
    """
    cause = ending_of(document)
    if cause is None:
        return Explained(None)
    found: tuple[Found, str] | None = None
    read: list[str] = []
    reached = None
    for file in files:
        try:
            text, first = read_end(file)
        except UsageError:
            continue
        read.append(file)
        reached = reached or progress(text)
        named = search(text, first, failed=True)
        if named is not None and (found is None or named.rank < found[0].rank):
            found = named, file
    if found is None:
        return Explained(cause, read=read, reached=reached)
    by_record = cause.sure and cause.kind in _BY_RECORD
    if not by_record and (found[0].level != "effect" or not cause.sure):
        cause = found[0].cause
    return Explained(cause, *found, read, reached)


_PATTERN = re.compile(r"%(\d{0,2})([%AaJjNnstuxb])|(\\)")


def output_files(document: JobDocument) -> list[str]:
    """Where the output of a job went, as far as its record says: error first, then output.

    Sources: sbatch(1), "filename pattern"; condor_submit(1), output, error and initialdir.
    """
    of_slurm = document.id.startswith("slurm:")
    named = _of_slurm(document) if of_slurm else _of_condor(document)
    folder = PurePosixPath(document.submission.directory or "")
    files: dict[str, None] = {}
    for name in named:
        path = str(folder / name)
        if path.startswith("/") and not path.startswith("/dev/"):
            files.setdefault(path)
    return list(files)[:_MOST_FILES]


def _of_condor(document: JobDocument) -> Iterator[str]:
    yield from filter(None, (document.submission.stderr, document.submission.stdout))


def _of_slurm(document: JobDocument) -> Iterator[str]:
    job = document.submission
    settings = read_submitted(job).settings
    error, output = (
        known or (settings[option].value if option in settings else None)
        for known, option in ((job.stderr, "error"), (job.stdout, "output"))
    )
    default = "slurm-%A_%a.out" if "_" in parse_key(document.id).job else "slurm-%j.out"
    for pattern in (error, output or default):
        if pattern:
            yield _filled(pattern, document)


def _filled(pattern: str, document: JobDocument) -> str:
    """Slurm's pattern of a file's name, filled in; a backslash turns patterns off."""
    job = document.submission
    number = parse_key(document.id).job
    array, _, task = number.partition("_")
    host = re.sub(r"\[(\d+)[^\]]*\]", r"\1", document.usage.hosts or "").split(",")[0]
    known = {
        "%": "%", "A": array, "a": task or "4294967294", "j": job.raw_id or number.split("+")[0],
        "J": job.raw_id or number.split("+")[0], "N": host.split(".")[0], "n": "0", "t": "0",
        "s": "batch", "u": job.user or "", "x": job.name or "",
        "b": str(int(task) % 10) if task.isdigit() else "0",
    }  # fmt: skip
    if "\\" in pattern:
        return pattern.replace("\\", "")

    def fill(match: re.Match[str]) -> str:
        text = known[match[2]]
        return text.zfill(int(match[1])) if match[1] and text.isdigit() else text

    return _PATTERN.sub(fill, pattern)
