"""What a model directory was made from, and the proof that its files are those written.

``manifest.json`` carries no time of writing: the same input, seed and machine give the same bytes.
Its ``sha256`` is that of its other fields, as JSON with sorted keys and no blanks.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import stat
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from jobsight import __version__
from jobsight.errors import ModelError
from jobsight.files import MANIFEST, read_json, sha256, without_nan, write_json

__all__ = [
    "SCHEMA",
    "Manifest",
    "Source",
    "digest_of",
    "package_versions",
    "read_manifest",
    "write_manifest",
]

SCHEMA = "jobsight.model/1"
PACKAGES = ("lightgbm", "numba", "numpy", "polars", "scikit-learn", "torch")
NAME = MANIFEST


@dataclass(frozen=True)
class Source:
    """One input file, by its content.

    Attributes:
        name: as the user gave it.
        sha256: of its bytes as they lie on disk.
        bytes: its size.
    """

    name: str
    sha256: str
    bytes: int

    @classmethod
    def of(cls, path: Path) -> Source:
        """Hash a file; `OSError`: it cannot be read."""
        return cls(str(path), sha256(path), path.stat().st_size)


@dataclass(frozen=True)
class Manifest:
    """The content of ``manifest.json``.

    Attributes:
        question: e.g. ``hold``.
        seed: of the training.
        settings: all settings, as JSON data.
        sources: the input files.
        facts: counts, time range, borders, and what else the question wants back.
        versions: of Python, Jobsight and the packages that shape the result.
        files: SHA-256 by path relative to the directory, of every file but the manifest.
    """

    question: str
    seed: int
    settings: Mapping[str, Any]
    sources: tuple[Source, ...]
    facts: Mapping[str, Any]
    versions: Mapping[str, str]
    files: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that distinguish models: of files, settings and seed."""
        made_of = [sorted(self.files.items()), dict(self.settings), self.seed]
        text = json.dumps(made_of, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:8]


def package_versions() -> dict[str, str]:
    """Versions of Python, Jobsight and the installed packages that shape a model."""
    versions = {"python": platform.python_version(), "jobsight": __version__}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def write_manifest(
    folder: Path,
    *,
    question: str,
    seed: int,
    settings: Mapping[str, Any],
    sources: Sequence[Source],
    facts: Mapping[str, Any],
) -> Manifest:
    """Hash all files in `folder` and write its manifest next to them, last of all.

    Raises:
        OutputError: it cannot be written.
    """
    files = {
        path.relative_to(folder).as_posix(): sha256(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path != folder / NAME
    }
    manifest = Manifest(question, seed, settings, tuple(sources), facts, package_versions(), files)
    body = without_nan({"schema": SCHEMA, **asdict(manifest)})
    write_json(folder / NAME, {**body, "sha256": digest_of(body)})
    return manifest


def digest_of(body: Mapping[str, Any]) -> str:
    """The ``sha256`` of a manifest with these other fields: hexadecimal digits."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read_manifest(folder: Path, *, question: str | None = None) -> Manifest:
    """Read a manifest and check that the files it lists, and no others, are there, unchanged.

    So whatever is opened in the directory afterwards is what was written.

    Raises:
        ModelError: no model directory, another schema or question, or a file that is missing,
            changed, not listed, or a link; names it.
    """
    path = folder / NAME
    try:
        data = read_json(path)
    except FileNotFoundError:
        raise ModelError(f"{folder} is no model directory: it has no {NAME}") from None
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise ModelError(f"{path} is damaged ({error})") from None
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        raise ModelError(
            f"{path} has schema {schema!r}, this version reads {SCHEMA!r}; train again"
        )
    if question is not None and data.get("question") != question:
        raise ModelError(f"{folder} answers {data.get('question')!r}, not {question!r}")
    if data.pop("sha256", None) != digest_of(data):
        raise ModelError(f"{path} is damaged (it was changed since training: its hash differs)")
    try:
        manifest = msgspec.convert(data, Manifest)
    except msgspec.ValidationError as error:
        raise ModelError(f"{path} is damaged ({type(error).__name__}: {error})") from None
    for parent, folders, files in os.walk(folder):  # nothing may be there that no hash vouches for
        for place in (Path(parent, name) for name in (*folders, *files)):
            mode = place.lstat().st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise ModelError(f"{place} is no regular file; a model directory holds no links")
            listed = {NAME, *manifest.files}
            if stat.S_ISREG(mode) and place.relative_to(folder).as_posix() not in listed:
                raise ModelError(f"{place} is not listed in {path}; move it elsewhere")
    for name, expected in manifest.files.items():
        parts = PurePosixPath(name)
        if parts.is_absolute() or ".." in parts.parts:
            raise ModelError(f"{path} lists {name!r}, which is outside the model directory")
        try:
            digest = sha256(folder / parts)
        except OSError as error:
            raise ModelError(f"cannot read {folder / parts}: {error.strerror or error}") from None
        except ValueError:
            raise ModelError(f"{path} lists {name!r}, which is no file name") from None
        if digest != expected:
            raise ModelError(f"{folder / parts} was changed since training (its hash differs)")
    return manifest
