"""The registry: models by question and cluster, and which of them is champion.

Below ``REGISTRY/<question>/<cluster>/`` are ``registry.json``, what happened to these models,
oldest first; ``lock``, held while anything there changes; and ``1a2b3c4d/``, the model directory of
that digest. A model is copied under a hidden name and checked, then renamed under the lock
(flock(2)), which the kernel drops whatever ends its holder. `registry.json` is replaced as a whole,
so readers need no lock: whenever a writer is killed, a model is there whole or not at all.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from pathlib import Path

from jobsight.errors import ModelError, UsageError
from jobsight.files import MANIFEST, REGISTRY
from jobsight.learning.manifest import Manifest, read_manifest
from jobsight.learning.registry.models import Entry, Models, Record, folder_name, read_report
from jobsight.models import is_baseline
from jobsight.modes import restrict
from jobsight.text import printable

__all__ = ["DEFAULT", "Entry", "Record", "Registry", "read_report"]

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

        Args:
            folder: what training wrote; it is only read.
            question: such as ``hold``.
            cluster: an access point or Slurm cluster; any text.
            why: such as how it was made.

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
            _copy(folder, staged / "model", manifest)
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


def _copy(source: Path, target: Path, manifest: Manifest) -> None:
    """Copy the files that a manifest lists, and the manifest, to the disk itself."""
    for name in (MANIFEST, *manifest.files):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target / name, follow_symlinks=False)
        with (target / name).open("rb") as file:
            os.fsync(file.fileno())
