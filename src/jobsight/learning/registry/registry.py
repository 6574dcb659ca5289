"""The registry: models by question and cluster, and which of them is champion.

::

    REGISTRY/<question>/<cluster>/000001/record.json     a model was put: when, by whom, why
                                  000001/model/          the model directory, as it was written
                                  000002/record.json     another was made champion, or removed …

A model is named by the digest of its manifest. Nothing but `remove` changes what is there; how
several writers get along is told in `jobsight.learning.registry.ledger`.
"""

from __future__ import annotations

import getpass
import random
import re
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from jobsight.errors import ModelError, UsageError
from jobsight.learning.manifest import Manifest, read_manifest
from jobsight.learning.registry.directories import checked, copy_model, read_report
from jobsight.learning.registry.ledger import Ledger, Record
from jobsight.learning.registry.names import folder_name
from jobsight.text import printable

__all__ = ["DEFAULT", "Entry", "Registry"]

DEFAULT = "default"
"""The cluster of models that are of no cluster of their own; asked where a cluster has none."""

LEAST_DIGITS = 4
_TRIES = 200
_PAUSE = 0.05
"""Longest pause before another try, in seconds: whenever a try fails, another writer got on."""


@dataclass(frozen=True)
class Entry:
    """One model of the registry.

    Attributes:
        question, cluster: whose model it is.
        digest: eight hexadecimal digits, as its manifest and its answers have them.
        folder: the model directory; nothing may be written there.
        added: µs since 1970.
        by: who put it: user and host.
        why: what it was put for, in words.
        champion: whether it answers for its question and cluster.
        number: of its record.
    """

    question: str
    cluster: str
    digest: str
    folder: Path
    added: int
    by: str
    why: str
    champion: bool
    number: int

    def open(self) -> tuple[Manifest, dict[str, Any]]:
        """Its manifest and the report of its test part, after all files were checked.

        Raises:
            ModelError: a file is missing, changed or not listed; names it.
        """
        manifest = read_manifest(self.folder, question=self.question)
        if manifest.digest != self.digest:
            raise ModelError(f"{self.folder} holds the model {manifest.digest}, not {self.digest}")
        return manifest, read_report(self.folder, manifest)


class Registry:
    """The models under one folder, which is made when the first one is put.

    Any number of processes, also of several hosts on a network file system, may read and write at
    a time. One object is for one thread.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def put(self, folder: Path, question: str, cluster: str = DEFAULT, *, why: str = "") -> str:
        """Copy a model directory into the registry.

        Where there is no champion it becomes that, whether or not it beat its baselines; else only
        by `promote`. A model that is there already stays, unless its files were damaged.

        Args:
            folder: what training wrote; it is only read.
            question: such as ``hold``.
            cluster: an access point or Slurm cluster; any text.
            why: kept beside it, e.g. how it was made.

        Returns:
            the digest, by which all other methods and ``--model`` know it.

        Raises:
            ModelError: it is no whole model directory of this question, its report lacks the
                baselines, or another model has this digest.
            OutputError: the registry cannot be written.
        """
        manifest = checked(folder, question)
        ledger = self._ledger(question, cluster)

        def decide(entries: dict[int, Entry], number: int) -> _Change | None:
            now = _champion(entries)
            same = next((one for one in entries.values() if one.digest == manifest.digest), None)
            if same is not None and _is_whole(same, manifest):
                return None
            champion = number if now is None or same == entries[now] else now
            return _Change("put", number, manifest.digest, champion, why)

        if self._present(ledger, decide):
            return manifest.digest
        with ledger.staged() as staged:
            copy_model(folder, staged / "model", manifest)
            # What was copied is checked, not what lay there before.
            checked(staged / "model", question, expected=manifest.digest)
            self._append(ledger, staged, question, cluster, decide)
        ledger.tidy({entry.number for entry in self._entries(ledger).values()})
        return manifest.digest

    def require_writable(self, question: str, cluster: str = DEFAULT) -> None:
        """Try whether a model can be put, before the work of making it.

        Raises:
            OutputError: the registry cannot be written.
        """
        with self._ledger(question, cluster).staged():
            pass

    def entries(self, question: str | None = None, cluster: str | None = None) -> list[Entry]:
        """The models, of all questions and clusters or of those named; oldest first in each.

        Raises:
            ModelError: a record cannot be read; names it.
        """
        return [
            entry
            for ledger in self._ledgers(question, cluster)
            for entry in self._entries(ledger).values()
        ]

    def find(self, name: str, *, question: str | None = None, cluster: str | None = None) -> Entry:
        """The model that a user names.

        Args:
            name: its digest, or at least four digits it begins with; also as answers write it,
                ``boosted@1a2b3c4d``.
            question: whose models are looked at; None: those of all.
            cluster: likewise. Of a model that several clusters have, the one that was put first is
                taken.

        Raises:
            ModelError: there is none, or several begin so.
            UsageError: it is no name of a model.
        """
        digits = name.rpartition("@")[2].lower()
        if not re.fullmatch(rf"[0-9a-f]{{{LEAST_DIGITS},64}}", digits):
            raise UsageError(
                f"{printable(name, 80)!r} names no model; write at least {LEAST_DIGITS} digits of "
                "its digest, as `jobsight models list` shows it"
            )
        found = [one for one in self.entries(question, cluster) if one.digest.startswith(digits)]
        digests = sorted({one.digest for one in found})
        where = "" if cluster is None else f" for {printable(cluster, 60)}"
        if not found:
            raise ModelError(
                f"the registry {self.path} has no model {digits}{where}; `jobsight models list` "
                "shows those it has"
            )
        if len(digests) > 1:
            raise ModelError(f"{digits} may be {', '.join(digests[:5])}; write more digits")
        return min(found, key=lambda one: one.added)

    def champion(self, question: str, cluster: str = DEFAULT) -> Entry | None:
        """The model that answers for a cluster; None where none was put.

        Two small files are read, however many models there are; the model itself is not looked at.

        Raises:
            ModelError: a record cannot be read.
        """
        ledger = self._ledger(question, cluster)
        last = ledger.last()
        if last is None or last.champion is None:
            return None
        return _entry(ledger, ledger.record(last.champion), champion=True)

    def history(self, question: str, cluster: str = DEFAULT) -> list[Record]:
        """What happened to the models of a cluster, oldest first; errors as of `champion`."""
        return self._ledger(question, cluster).all()

    def promote(self, entry: Entry, *, over: str | None, why: str) -> None:
        """Make a model the champion of its question and cluster.

        Args:
            entry: the model.
            over: digest of the champion that it was compared with; None: there was none.
            why: what the promotion rests on, in words; kept for good.

        Raises:
            ModelError: the champion is another by now, or the model was removed; compare again.
            OutputError: the registry cannot be written.
        """
        entry.open()
        ledger = self._ledger(entry.question, entry.cluster)

        def decide(entries: dict[int, Entry], number: int) -> _Change | None:
            _require_there(entries, entry)
            now = _champion(entries)
            found = None if now is None else entries[now].digest
            if found == entry.digest:
                return None
            if found != over:
                raise ModelError(
                    f"the champion is {found or 'none'} by now, not {over or 'none'}, which "
                    f"{entry.digest} was compared with; compare again"
                )
            return _Change("promoted", entry.number, entry.digest, entry.number, why)

        if not self._present(ledger, decide):
            with ledger.staged() as staged:
                self._append(ledger, staged, entry.question, entry.cluster, decide)

    def remove(self, entry: Entry, *, force: bool = False, why: str = "") -> None:
        """Delete a model; that it was there, and who removed it, stays on record.

        Args:
            entry: the model.
            force: even if it is the champion; then there is none, until one is put or promoted.
            why: in words.

        Raises:
            ModelError: it is the champion and `force` was not given, or it was removed before.
            OutputError: the registry cannot be written.
        """
        ledger = self._ledger(entry.question, entry.cluster)

        def decide(entries: dict[int, Entry], number: int) -> _Change | None:
            _require_there(entries, entry)
            now = _champion(entries)
            if now == entry.number and not force:
                raise ModelError(
                    f"{entry.digest} is the champion of {entry.question} on "
                    f"{printable(entry.cluster, 60)}; promote another first, or say --force"
                )
            left = None if now == entry.number else now
            return _Change("removed", entry.number, entry.digest, left, why)

        with ledger.staged() as staged:
            self._append(ledger, staged, entry.question, entry.cluster, decide)
        ledger.tidy({one.number for one in self._entries(ledger).values()})

    def _present(self, ledger: Ledger, decide: _Decide) -> bool:
        """Whether there is nothing to do, or else may be: so nothing is written in vain."""
        last = ledger.last()
        return last is not None and decide(self._entries(ledger), last.number + 1) is None

    def _append(
        self, ledger: Ledger, staged: Path, question: str, cluster: str, decide: _Decide
    ) -> None:
        """Add what `decide` says, and ask it again whenever another writer was faster."""
        by = _who()
        for tried in range(_TRIES):
            last = ledger.last()
            number = 1 if last is None else last.number + 1
            change = decide(self._entries(ledger), number)
            if change is None:
                return
            record = Record(
                number,
                change.event,
                change.entry,
                change.digest,
                change.champion,
                question,
                cluster,
                time.time_ns() // 1000,
                by,
                change.why,
                secrets.token_hex(8),
            )
            if ledger.add(staged, record):
                return
            time.sleep(random.uniform(0, _PAUSE * min(tried, 20) / 20))  # noqa: S311
        raise ModelError(f"others write into {ledger.folder} all the time; try again later")

    def _ledger(self, question: str, cluster: str) -> Ledger:
        return Ledger(self.path / folder_name(question) / folder_name(cluster))

    def _ledgers(self, question: str | None, cluster: str | None) -> Iterator[Ledger]:
        for above in _folders(self.path, question):
            for folder in _folders(above, cluster):
                yield Ledger(folder)

    def _entries(self, ledger: Ledger) -> dict[int, Entry]:
        """The models that were put and not removed, by the numbers of their records."""
        records = ledger.all()
        there: dict[str, Record] = {}
        for record in records:
            if record.event == "put":
                # Put once more, a model was damaged before: the later copy takes its place.
                there[record.digest] = record
            elif record.event == "removed":
                there.pop(record.digest, None)
        champion = records[-1].champion if records else None
        return {
            record.number: _entry(ledger, record, champion=record.number == champion)
            for record in there.values()
        }


@dataclass(frozen=True)
class _Change:
    """What a record will say."""

    event: Literal["put", "promoted", "removed"]
    entry: int
    digest: str
    champion: int | None
    why: str


_Decide = Callable[[dict[int, Entry], int], _Change | None]
"""Given the models and the number of the next record: what it says; None where none is needed."""


def _entry(ledger: Ledger, record: Record, *, champion: bool) -> Entry:
    return Entry(
        record.question,
        record.cluster,
        record.digest,
        ledger.model(record.number),
        record.time,
        record.by,
        record.why,
        champion,
        record.number,
    )


def _champion(entries: dict[int, Entry]) -> int | None:
    return next((number for number, entry in entries.items() if entry.champion), None)


def _require_there(entries: dict[int, Entry], entry: Entry) -> None:
    if entry.number not in entries:
        raise ModelError(f"the model {entry.digest} was removed meanwhile")


def _is_whole(entry: Entry, manifest: Manifest) -> bool:
    """Whether an entry is a model as it was written; a damaged one is put anew.

    Raises:
        ModelError: it is another model: digests are short, the files themselves tell.
    """
    try:
        found, _ = entry.open()
    except ModelError:
        return False
    if found.files != manifest.files:
        raise ModelError(
            f"the registry has another model with the digest {manifest.digest}; train with "
            "another seed"
        )
    return True


def _folders(above: Path, name: str | None) -> list[Path]:
    """The folder of a name below `above`, or all of them."""
    if name is not None:
        return [above / folder_name(name)]
    try:
        return sorted(path for path in above.iterdir() if path.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise ModelError(f"cannot read {above}: {error.strerror or error}") from None


def _who() -> str:
    """User and host, for the record."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):
        user = "somebody"
    return f"{user}@{socket.gethostname()}"
