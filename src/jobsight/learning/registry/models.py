"""The models of one question and cluster, and the records of what happened to them."""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import hashlib
import os
import socket
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

import msgspec

from jobsight.clock import now_micros
from jobsight.errors import ModelError, OutputError
from jobsight.files import REGISTRY, Kind, read_json, unfinished, write_json
from jobsight.learning.manifest import Manifest, read_manifest
from jobsight.modes import distrust, make_file, make_folder

__all__ = ["Entry", "Models", "Record", "folder_name", "read_report"]

REPORT = "report.json"
_LONGEST_NAME = 120
"""Of a folder; file systems allow 255 bytes, some encrypted ones 143."""

Event = Literal["put", "promoted", "removed"]


@dataclass(frozen=True)
class Record:
    """A model was put, made champion, or removed.

    Attributes:
        event: which of these.
        digest: of the model.
        champion: digest of the champion from then on; None: there is none.
        time: µs since 1970, by the writer's clock.
        by: user and host.
        why: in words.
    """

    event: Event
    digest: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{8,64}$")]
    champion: str | None
    time: Annotated[int, msgspec.Meta(ge=0, lt=2**62)]
    by: str
    why: str


@dataclass(frozen=True)
class Entry:
    """One model of the registry; its folder is read-only.

    Attributes:
        added: µs since 1970.
        by: user and host that put it.
        why: what it was put for, in words.
        champion: whether it answers for its question and cluster.
        number: of the record that put it, from 1.
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
            ModelError: a file is missing, changed or not listed, or others may write the folder;
                names it.
        """
        if reason := distrust(self.folder):
            raise ModelError(f"the model {self.digest} is not used: {reason}")
        manifest = read_manifest(self.folder, question=self.question)
        if manifest.digest != self.digest:
            raise ModelError(f"{self.folder} holds the model {manifest.digest}, not {self.digest}")
        return manifest, read_report(self.folder, manifest)


class Models:
    """The models in one folder; question and cluster are read there, or are those of a new one."""

    def __init__(self, folder: Path, question: str = "", cluster: str = "") -> None:
        self.folder = folder
        self.question = question
        self.cluster = cluster

    def records(self) -> list[Record]:
        """What happened, oldest first; nothing where no model was put.

        Raises:
            ModelError: the file of records cannot be read, or others may write it.
        """
        self._require_trusted()
        path = self.folder / REGISTRY
        try:
            if not path.exists() or not path.stat().st_size:
                return []
            data = read_json(path, dict)
            if data.get("schema") != Kind.REGISTRY.schema:
                raise ModelError(
                    f"{path} has schema {str(data.get('schema'))[:60]!r}, this version reads "
                    f"{Kind.REGISTRY.schema!r}; use the version of Jobsight that wrote it"
                )
            self.question, self.cluster = str(data["question"]), str(data["cluster"])
            return msgspec.convert(data["records"], list[Record])
        except OSError as error:
            raise ModelError(f"cannot read {path}: {error.strerror or error}") from None
        except (LookupError, ValueError, msgspec.ValidationError) as error:
            raise ModelError(
                f"{path} is damaged ({error}); put it back from a copy, or remove the folder "
                f"{self.folder}, and with it its models"
            ) from None

    def _require_trusted(self) -> None:
        """Refuse a registry into which a user whom this one does not trust may put a model."""
        question = self.folder.parent
        for path in (question.parent, question, self.folder, self.folder / REGISTRY):
            if reason := distrust(path):
                raise ModelError(f"no model of this registry is used: {reason}")

    def entries(self) -> dict[str, Entry]:
        """The models that were put and not removed, by digest."""
        records = self.records()
        found: dict[str, Entry] = {}
        for number, one in enumerate(records, start=1):
            if one.event == "put":
                champion = one.digest == records[-1].champion
                place = self.folder / one.digest
                whose = (self.question, self.cluster, one.digest, place)
                found[one.digest] = Entry(*whose, one.time, one.by, one.why, champion, number)
            elif one.event == "removed":
                found.pop(one.digest, None)
        return found

    def champion(self) -> str | None:
        """The champion's digest."""
        records = self.records()
        return records[-1].champion if records else None

    def has(self, manifest: Manifest) -> bool:
        """Whether the model is there as it was written; a damaged one is put anew.

        Raises:
            ModelError: another model has its digest.
        """
        entry = self.entries().get(manifest.digest)
        try:
            found, _ = entry.open() if entry else (None, None)
        except ModelError:
            found = None
        if found is None:
            return False
        if found.files != manifest.files:
            raise ModelError(
                f"the registry has another model with the digest {manifest.digest}; train with "
                "another seed"
            )
        return True

    def require(self, entry: Entry) -> None:
        """Refuse an entry that was removed."""
        found = self.entries().get(entry.digest)
        if found is None or found.number != entry.number:
            raise ModelError(f"the model {entry.digest} was removed meanwhile")

    @contextlib.contextmanager
    def writing(self) -> Iterator[Path]:
        """A hidden folder for what is to be put or deleted; gone afterwards.

        Raises:
            ModelError: others may write into the registry.
            OutputError: it cannot be written.
        """
        self._require_trusted()
        try:
            make_folder(self.folder)
            with unfinished(self.folder / "model", 0o700, folder=True) as staged:
                yield staged
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise OutputError(
                f"cannot write into the registry {self.folder}: {reason}; name another with "
                "JOBSIGHT_REGISTRY"
            ) from error

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock; waits for the writer that holds it, for as long as a file takes."""
        make_file(self.folder / "lock")
        with (self.folder / "lock").open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def add(self, event: Event, digest: str, champion: str | None, why: str) -> None:
        """Add a record; under the lock."""
        try:
            user = getpass.getuser()
        except (OSError, KeyError):
            user = "unknown"
        by = f"{user}@{socket.gethostname()}"
        record = Record(event, digest, champion, now_micros(), by, why)
        body = {
            "schema": Kind.REGISTRY.schema,
            "records": [asdict(one) for one in (*self.records(), record)],
            "question": self.question,
            "cluster": self.cluster,
        }
        make_file(self.folder / REGISTRY)  # its permissions are those of the file that replaces it
        write_json(self.folder / REGISTRY, body)


def folder_name(name: str) -> str:
    """A folder name for `name`, never empty, hidden or a path; different names get different ones.

    Percent-encoded as in URLs (RFC 3986, 2.1); a long name is cut and ends in a digest of it all.
    """
    text = quote(name, safe="", errors="surrogatepass").replace("~", "%7E")
    text = "%2E" + text[1:] if text.startswith(".") else text or "%"
    if len(text) <= _LONGEST_NAME:
        return text
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return text[: _LONGEST_NAME - 33] + "%" + digest


def read_report(folder: Path, manifest: Manifest) -> dict[str, Any]:
    """The report of a model's test part.

    Raises:
        ModelError: there is none, or it is damaged.
    """
    if REPORT not in manifest.files:
        raise ModelError(f"{folder} has no {REPORT}; train again")
    try:
        report: dict[str, Any] = read_json(folder / REPORT, dict)
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder / REPORT} is damaged ({error})") from None
    return report
