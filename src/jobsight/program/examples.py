"""Programs with what bound a run of theirs: from a corpus, a site's own lines, or job documents.

A corpus is a folder with ``measured.jsonl``; a site's own file is such lines by any name. A line
has ``path`` (of the program, from the file's folder), ``shares`` by class, and ``label``, the
class, or ``classes``, those that are possible; optional are ``family`` (programs that do one thing;
else the folder of the path), ``language`` and ``arguments`` (of its command line, as it ran).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from jobsight.documents import JobDocument, parse_key
from jobsight.errors import SourceError
from jobsight.program.languages import language_of
from jobsight.program.profile import CLASSES, profile_of
from jobsight.text import printable

__all__ = ["LONGEST_PROGRAM", "MEASURED", "Example", "example_of", "examples_in", "lines_file"]

MEASURED = "measured.jsonl"
LONGEST_PROGRAM = 4 << 20
"""Bytes read of a program."""
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True)
class Example:
    """A program and what bound it.

    Attributes:
        id: unique in its source.
        path: where it is, or the name it was submitted by.
        text: of the program.
        language: None: unknown.
        family: programs that do one thing.
        shares: by class, those that were measured; empty: none.
        classes: what the measurement leaves possible.
        measured: rather than accounted by a scheduler.
        job: ``CLUSTER JOB`` of a job document; None of a program.
        ended: µs since 1970, when the run ended; 0: unknown.
        arguments: of its command line.
    """

    id: str
    path: str
    text: str
    language: str | None
    family: str
    shares: Mapping[str, float]
    classes: tuple[str, ...]
    measured: bool = True
    job: str | None = None
    ended: int = 0
    arguments: tuple[str, ...] = ()

    def to_json(self) -> str:
        """As a line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> Self:
        """What `to_json` gave."""
        data = json.loads(line)
        return cls(**{**data, **{name: tuple(data[name]) for name in ("classes", "arguments")}})


def lines_file(name: str) -> Path | None:
    """The lines that an input of this name holds; None where it is neither a corpus nor lines."""
    path = Path(name)
    if path.is_dir():
        return path / MEASURED if (path / MEASURED).is_file() else None
    return path if path.suffix == ".jsonl" and path.is_file() else None


def examples_in(lines: Path) -> Iterator[Example]:
    """The examples of a file of lines.

    Raises:
        SourceError: a line is not as the module says, or its program cannot be read; names it.
    """
    try:
        with lines.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield _example(lines, number, line)
    except (OSError, UnicodeError) as error:
        raise SourceError(f"cannot read {printable(lines, 200)}: {printable(error)}") from None


def _example(lines: Path, number: int, line: str) -> Example:
    where = f"{printable(lines, 200)}, line {number}"
    try:
        data = json.loads(line)
        path = str(data["path"])
        shares = {name: float(one) for name, one in data["shares"].items() if one is not None}
        classes = tuple(str(one) for one in data.get("classes") or [data["label"]])
        family = str(data.get("family") or Path(path).parent.name or path)
        language = None if data.get("language") is None else str(data["language"])
        arguments = tuple(map(str, data.get("arguments") or ()))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise SourceError(f"{where}: not a measured program ({printable(error, 80)})") from None
    if unknown := {*shares, *classes} - set(CLASSES):
        names = printable(", ".join(sorted(unknown)), 80)
        raise SourceError(f"{where}: no class is named {names}; known are {', '.join(CLASSES)}")
    program = lines.parent / path
    try:
        with program.open("rb") as file:
            text = file.read(LONGEST_PROGRAM).decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        raise SourceError(f"{where}: cannot read {printable(path, 200)}: {error}") from None
    digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    language = language or language_of(program.name, text)
    return Example(
        f"{path} {digest}", str(program), text, language, family, shares, classes,
        arguments=arguments,
    )  # fmt: skip


def example_of(document: JobDocument) -> Example | None:
    """A job's batch script with what bound the job; None: one of the two is not known.

    Jobs whose scripts differ in their numbers alone are one family.
    """
    script, found = document.submission.script, profile_of(document)
    if script is None or found is None or not found.classes:
        return None
    masked = _NUMBERS.sub("0", script).encode("utf-8", "replace")
    key = parse_key(document.id)
    folder = document.submission.directory or ""
    name = document.submission.command or document.submission.name or "script"
    return Example(
        id=document.id,
        path=str(Path(folder) / name),
        text=script,
        language=language_of(name, script),
        family=f"{key.scheduler} {hashlib.blake2b(masked, digest_size=8).hexdigest()}",
        shares={name: one for name, one in found.shares.items() if one is not None},
        classes=found.classes,
        measured=found.source == "sampled",
        job=f"{key.cluster} {key.job}",
        ended=0 if document.outcome is None else document.outcome.ended or 0,
    )
