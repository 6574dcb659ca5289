"""What happened to the models of one cluster: numbered records that are added, never changed.

A record is a folder ``000001``, ``000002`` … with a ``record.json``; the record of a model that was
put holds the model too, in ``model/``. A record is made beside the others under a hidden name, and
renamed to the next free number. rename(2) puts a folder in the place of no folder that holds
anything, so of several writers one wins and the others look again: there is no lock that a killed
process, or another machine of an NFS, could leave behind. Whatever is killed when, each record is
there whole, or not at all.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from jobsight.errors import ModelError, OutputError
from jobsight.files import read_json
from jobsight.modes import make_folder, restrict

__all__ = ["SCHEMA", "Ledger", "Record"]

SCHEMA = "jobsight.registry/1"
_EVENTS = ("put", "promoted", "removed")
_NUMBER = re.compile(r"\d{6,12}", re.ASCII)
_HIDDEN = re.compile(r"\.jobsight-[0-9a-f]{16}\.part", re.ASCII)
_TAKEN = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.EISDIR)
_FORGOTTEN = 86_400.0
"""Seconds after which what a killed writer left may be deleted."""


@dataclass(frozen=True)
class Record:
    """One thing that happened.

    Attributes:
        number: of the record, from 1, without gaps.
        event: what: a model was put, made champion, or removed.
        entry: number of the record that put the model concerned.
        digest: of that model.
        champion: number of the record that put the champion, as of this record; None: no champion.
        question, cluster: whose models these are, as they were named.
        time: µs since 1970, by the writer's clock.
        by: user and host.
        why: in words.
        token: tells this record from that of another writer with the same number.
    """

    number: int
    event: Literal["put", "promoted", "removed"]
    entry: int
    digest: str
    champion: int | None
    question: str
    cluster: str
    time: int
    by: str
    why: str
    token: str

    @classmethod
    def read(cls, path: Path, number: int) -> Record:
        """Read a record's file.

        Raises:
            OSError: there is none, or it cannot be read.
            ModelError: it is damaged, or of a newer version.
        """
        try:
            data = read_json(path, dict)
        except ValueError as error:
            raise _damaged(path, str(error)) from None
        if data.get("schema") != SCHEMA:
            raise ModelError(
                f"{path} has schema {str(data.get('schema'))[:60]!r}, this version reads "
                f"{SCHEMA!r}; use the version of Jobsight that wrote it"
            )
        try:
            return _checked(data, number)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise _damaged(path, f"{type(error).__name__}: {error}") from None


def _damaged(path: Path, why: str) -> ModelError:
    return ModelError(
        f"{path} is damaged ({why}); put it back from a copy, or remove the folder {path.parent}, "
        "and with it what it records"
    )


def _checked(data: dict[str, Any], number: int) -> Record:
    texts = ("question", "cluster", "by", "why", "token")
    if any(not isinstance(data[name], str) for name in texts) or data["event"] not in _EVENTS:
        raise ValueError("a text is missing")
    if not re.fullmatch(r"[0-9a-f]{8,64}", data["digest"]):
        raise ValueError("the digest is none")
    champion = data["champion"]
    if data["number"] != number or not 1 <= int(data["entry"]) <= number:
        raise ValueError("the number is another")
    if champion is not None and not 1 <= int(champion) <= number:
        raise ValueError("the champion is none")
    return Record(
        number,
        data["event"],
        int(data["entry"]),
        data["digest"],
        None if champion is None else int(champion),
        time=int(data["time"]),
        **{name: data[name] for name in texts},
    )


class Ledger:
    """The records in one folder. For one thread; any number of processes may write at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[int, Record] = {}

    def model(self, number: int) -> Path:
        """Where the model lies that a record put."""
        return self._at(number) / "model"

    def last(self) -> Record | None:
        """The newest record; None where there is none.

        Raises:
            ModelError: it cannot be read.
        """
        number = max(self._numbers(), default=0)
        # A list of the folder may be older than what is in it (NFS): look behind its end.
        while (self._at(number + 1) / "record.json").exists():
            number += 1
        return self._read(number) if number else None

    def record(self, number: int) -> Record:
        """The record of a number; errors as of `last`, also where there is none."""
        return self._read(number)

    def all(self) -> list[Record]:
        """Every record, oldest first, but those that somebody deleted; errors as of `last`."""
        last = self.last()
        if last is None:
            return []
        numbers = range(1, last.number + 1)
        return [self._read(number) for number in numbers if self._at(number).exists()]

    @contextlib.contextmanager
    def staged(self) -> Iterator[Path]:
        """A hidden folder in which the next record is made; gone afterwards unless it was added.

        Raises:
            OutputError: the folder is not writable, or the disk is full.
        """
        path = self.folder / f".jobsight-{secrets.token_hex(8)}.part"
        try:
            make_folder(self.folder)
            path.mkdir(mode=0o700)
            yield path
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise OutputError(
                f"cannot write into the registry {self.folder}: {reason}; name another with "
                "JOBSIGHT_REGISTRY"
            ) from error
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def add(self, staged: Path, record: Record) -> bool:
        """Make the folder `staged` the record; False where another writer was faster.

        Raises:
            OSError: it cannot be written.
        """
        from jobsight.files import write_json

        write_json(staged / "record.json", {"schema": SCHEMA, **asdict(record)})
        restrict(staged)
        _flush(staged)
        target = self._at(record.number)
        try:
            staged.rename(target)
        except OSError as error:
            # An answer that got lost on the network is asked for again: then the folder has moved.
            if error.errno == errno.ENOENT and self._is_ours(record):
                return True
            if error.errno in _TAKEN:
                return False
            raise
        _flush_folder(self.folder)
        return True

    def tidy(self, living: set[int]) -> None:
        """Delete what killed writers left a day ago, and models of entries that are no more.

        Args:
            living: numbers of the records whose models are to stay.
        """
        for path in self._list():
            if _HIDDEN.fullmatch(path.name) and _age(path) > _FORGOTTEN:
                shutil.rmtree(path, ignore_errors=True)
        for number in self._numbers():
            # A record that came after `living` was read is not known, and stays.
            if number in self._known and number not in living and self.model(number).exists():
                shutil.rmtree(self.model(number), ignore_errors=True)

    def _is_ours(self, record: Record) -> bool:
        with contextlib.suppress(OSError, ModelError):
            return self._read(record.number).token == record.token
        return False

    def _read(self, number: int) -> Record:
        if number not in self._known:
            path = self._at(number) / "record.json"
            try:
                self._known[number] = Record.read(path, number)
            except FileNotFoundError:
                raise ModelError(
                    f"{path} is missing; put it back from a copy, or make another model champion: "
                    "jobsight models promote"
                ) from None
            except OSError as error:
                raise ModelError(f"cannot read {path}: {error.strerror or error}") from None
        return self._known[number]

    def _at(self, number: int) -> Path:
        return self.folder / f"{number:06d}"

    def _numbers(self) -> list[int]:
        return [int(path.name) for path in self._list() if _NUMBER.fullmatch(path.name)]

    def _list(self) -> list[Path]:
        try:
            return list(self.folder.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise ModelError(f"cannot read {self.folder}: {error.strerror or error}") from None


def _age(path: Path) -> float:
    """Seconds since a folder changed; 0 where it is gone meanwhile."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _flush(folder: Path) -> None:
    """Have everything in a folder on the disk before its name is, lest power fails between."""
    for parent, _, files in os.walk(folder):
        for name in files:
            with (Path(parent) / name).open("rb") as file:
                os.fsync(file.fileno())
        _flush_folder(Path(parent))


def _flush_folder(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # Some file systems cannot flush a folder, and need not.
        with contextlib.suppress(OSError):
            os.fsync(number)
    finally:
        os.close(number)
