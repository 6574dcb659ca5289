"""The registry: models by question and cluster, and which of them is champion.

Below ``REGISTRY/<question>/<cluster>/`` are ``registry.json``, what happened to these models,
oldest first; ``lock``, held while anything there changes; and ``1a2b3c4d/``, the model directory of
that digest. A model is copied under a hidden name and checked, then renamed under the lock
(flock(2)), which the kernel drops whatever ends its holder. `registry.json` is replaced as a whole,
so readers need no lock: whenever a writer is killed, a model is there whole or not at all.
"""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import hashlib
import os
import re
import shutil
import socket
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

import msgspec

from jobsight.clock import format_micros, now_micros
from jobsight.errors import ModelError, OutputError, UsageError
from jobsight.files import MANIFEST, REGISTRY, Kind, read_json, unfinished, write_json
from jobsight.learning.manifest import Manifest, read_manifest
from jobsight.models import is_baseline
from jobsight.modes import distrust, make_file, make_folder, restrict
from jobsight.text import printable

__all__ = ["DEFAULT", "Entry", "Models", "Record", "Registry", "best_baseline",
           "folder_name", "listed", "read_report", "rejections", "shown", "whole"]  # fmt: skip

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
    """The report of a model's test part; `ModelError`: there is none, or it is damaged."""
    if REPORT not in manifest.files:
        raise ModelError(f"{folder} has no {REPORT}; train again")
    try:
        report: dict[str, Any] = read_json(folder / REPORT, dict)
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder / REPORT} is damaged ({error})") from None
    return report


DEFAULT = "default"
"""The cluster of models that are of no cluster of their own; asked where a cluster has none."""

_LEAST_DIGITS = 4


class Registry:
    """The models under one folder, which is made when the first one is put.

    Any number of processes, also of several hosts on a network file system with locks, may read and
    write at a time.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def put(self, folder: Path, question: str, cluster: str = DEFAULT, *, why: str = "") -> str:
        """Copy a model directory into the registry; its digest, which names it everywhere else.

        Where there is no champion it becomes that, whether or not it beat its baselines; else only
        by `promote`. A model that is there already stays, unless its files were damaged.

        The `cluster` is an access point or Slurm cluster; any text.

        Raises:
            ModelError: it is not a whole model directory of this question, its report lacks the
                baselines, or another model has this digest.
            OutputError: the registry cannot be written.
        """
        manifest = _checked(folder, question)
        models = self._models(question, cluster)
        if models.has(manifest):
            return manifest.digest
        with models.writing() as staged:
            for name in (MANIFEST, *manifest.files):  # to the disk itself
                copied = staged / "model" / name
                copied.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(folder / name, copied, follow_symlinks=False)
                with copied.open("rb") as file:
                    os.fsync(file.fileno())
            if _checked(staged / "model", question).digest != manifest.digest:
                raise ModelError(f"{folder} changed while it was copied; put it again")
            restrict(staged)
            with models.locked():
                if models.has(manifest):
                    return manifest.digest
                target = models.folder / manifest.digest
                if target.exists():  # damaged
                    target.rename(staged / "damaged")
                (staged / "model").rename(target)
                models.add("put", manifest.digest, models.champion() or manifest.digest, why)
        return manifest.digest

    def require_writable(self, question: str, cluster: str = DEFAULT) -> None:
        """Try whether a model can be put, before the work of making it.

        Raises:
            OutputError: the registry cannot be written.
        """
        with self._models(question, cluster).writing():
            pass

    def entries(self, question: str | None = None, cluster: str | None = None) -> list[Entry]:
        """The models, of all questions and clusters or of those named; oldest first in each.

        Raises:
            ModelError: a file of records cannot be read; names it.
        """
        names = ("*" if name is None else folder_name(name) for name in (question, cluster))
        places = sorted(self.path.glob("/".join((*names, REGISTRY))))
        return [entry for place in places for entry in Models(place.parent).entries().values()]

    def find(self, name: str, *, question: str | None = None, cluster: str | None = None) -> Entry:
        """The model that a user names, among all or those of a question or cluster.

        `name` is its digest, or at least four digits it begins with; also as in answers,
        ``boosted@1a2b3c4d``. Of a model that several clusters have, the one put first is taken.

        Raises:
            ModelError: there is none, or several begin so.
            UsageError: it is not a name of a model.
        """
        digits = name.rpartition("@")[2].lower()
        if not re.fullmatch(rf"[0-9a-f]{{{_LEAST_DIGITS},64}}", digits):
            raise UsageError(
                f"{printable(name, 80)!r} names no model; write at least {_LEAST_DIGITS} digits of "
                "its digest, as `jobsight models list` shows it"
            )
        entries = self.entries(question, cluster)
        entries = [entry for entry in entries if entry.digest.startswith(digits)]
        digests = sorted({entry.digest for entry in entries})
        if not entries:
            where = "" if cluster is None else f" for {printable(cluster, 60)}"
            raise ModelError(
                f"the registry {self.path} has no model {digits}{where}; `jobsight models list` "
                "shows those it has"
            )
        if len(digests) > 1:
            raise ModelError(f"{digits} may be {', '.join(digests[:5])}; write more digits")
        return min(entries, key=lambda entry: entry.added)

    def champion(self, question: str, cluster: str = DEFAULT) -> Entry | None:
        """The model that answers for a cluster; None where none was put.

        Raises:
            ModelError: the records cannot be read.
        """
        entries = self._models(question, cluster).entries().values()
        return next((entry for entry in entries if entry.champion), None)

    def history(self, question: str, cluster: str = DEFAULT) -> list[Record]:
        """What happened to the models of a cluster, oldest first; errors as of `champion`."""
        return self._models(question, cluster).records()

    def promote(self, entry: Entry, *, over: str | None, why: str) -> None:
        """Make a model the champion of its question and cluster.

        `over` is the digest of the champion that it was compared with (None: there was none), `why`
        what the promotion rests on.

        Raises:
            ModelError: the champion is another by now, or the model was removed; compare again.
            OutputError: the registry cannot be written.
        """
        entry.open()
        models = self._models(entry.question, entry.cluster)
        with models.writing(), models.locked():
            models.require(entry)
            champion = models.champion()
            if champion == entry.digest:
                return
            if champion != over:
                raise ModelError(
                    f"the champion is {champion or 'none'} by now, not {over or 'none'}, which "
                    f"{entry.digest} was compared with; compare again"
                )
            models.add("promoted", entry.digest, entry.digest, why)

    def remove(self, entry: Entry, *, force: bool = False, why: str = "") -> None:
        """Delete a model; that it was there, and who removed it, stays on record.

        With `force` also the champion; then there is none, until one is put or promoted.

        Raises:
            ModelError: it is the champion and `force` was not given, or it was removed before.
            OutputError: the registry cannot be written.
        """
        models = self._models(entry.question, entry.cluster)
        with models.writing() as staged, models.locked():
            models.require(entry)
            champion = models.champion()
            if champion == entry.digest and not force:
                raise ModelError(
                    f"{entry.digest} is the champion of {entry.question} on "
                    f"{printable(entry.cluster, 60)}; promote another first, or say --force"
                )
            left = None if champion == entry.digest else champion
            models.add("removed", entry.digest, left, why)
            with contextlib.suppress(FileNotFoundError):
                entry.folder.rename(staged / "removed")

    def _models(self, question: str, cluster: str) -> Models:
        folder = self.path / folder_name(question) / folder_name(cluster)
        return Models(folder, question, cluster)


def _checked(folder: Path, question: str) -> Manifest:
    """The manifest of a model directory that may be put."""
    manifest = read_manifest(folder, question=question)
    models = read_report(folder, manifest).get("models")
    named = [name for name, scores in models.items() if scores] if isinstance(models, dict) else []
    baselines = [name for name in named if is_baseline(name)]
    if "constant" not in baselines:
        raise ModelError(
            f"the report of {folder} lacks the baselines (it has {', '.join(baselines) or 'none'}; "
            "at least constant must be next to a model); train it with `jobsight train`"
        )
    return manifest


def listed(entry: Entry) -> dict[str, Any]:
    """A model in a list, as plain data; `damaged` says what is wrong with its files."""
    row: dict[str, Any] = {
        "digest": entry.digest,
        "question": entry.question,
        "cluster": entry.cluster,
        "champion": entry.champion,
        "added": format_micros(entry.added),
        "by": entry.by,
        "why": entry.why,
        "folder": str(entry.folder),
        "damaged": None,
    }
    try:
        _, report = entry.open()
        with whole(entry.folder):
            return row | {
                "model": str(report["chosen"]),
                "batches": int(report["batches"]),
                "loss": report["models"][report["chosen"]][report["loss"]],
                "best_baseline": best_baseline(report),
                "rejected": rejections(report),
            }
    except ModelError as error:
        empty = dict.fromkeys(("model", "batches", "loss", "best_baseline"))
        return row | empty | {"rejected": [], "damaged": str(error)}


def shown(entry: Entry, records: Sequence[Record]) -> dict[str, Any]:
    """All that is known of a model, as plain data.

    Raises:
        ModelError: its files or its report are damaged.
    """
    manifest, report = entry.open()
    with whole(entry.folder):
        report["models"][report["chosen"]][report["loss"]]
        return {
            **listed(entry),
            "settings": dict(manifest.settings),
            "seed": manifest.seed,
            "sources": [asdict(source) for source in manifest.sources],
            "versions": dict(manifest.versions),
            "facts": dict(manifest.facts),
            "report": report,
            "history": [
                {
                    "time": format_micros(record.time),
                    "event": record.event,
                    "digest": record.digest,
                    "champion": record.champion == record.digest and record.event != "removed",
                    "by": record.by,
                    "why": record.why,
                }
                for record in records
            ],
        }


def rejections(report: dict[str, Any]) -> list[str]:
    """Which models failed the test of a training, of all targets and moments, in sentences."""
    others = (part for part in report.values() if isinstance(part, dict) and "chosen" in part)
    targets = [report, *others]
    sentences = []
    for part in targets:
        for moment, at in {"": part, **part.get("by_moment", {})}.items():
            if rejected := at.get("rejected"):
                of = f"{at['target']}: " if len(targets) > 1 else ""
                when = f"at the moment {moment} " if moment else ""
                sentences.append(f"{of}{when}{rejected['why']}")
    return sentences


def best_baseline(report: dict[str, Any]) -> dict[str, Any]:
    """Name and loss of the best baseline of a report."""
    losses = {
        str(name): float(scores[report["loss"]])
        for name, scores in report["models"].items()
        if is_baseline(name) and scores[report["loss"]] is not None
    }
    if not losses:
        return {"name": None, "loss": None}
    best = min(losses, key=lambda name: losses[name])
    return {"name": best, "loss": losses[best]}


@contextlib.contextmanager
def whole(place: object) -> Iterator[None]:
    """Make one error of whatever is missing in a report."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(
            f"the report of {place} is damaged ({type(error).__name__}: {error}); train again"
        ) from None
