"""Model directories on their way into the registry: checked, and copied."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from jobsight.errors import ModelError
from jobsight.files import MANIFEST, read_json
from jobsight.learning.manifest import Manifest, read_manifest
from jobsight.models import BASELINES, is_baseline

__all__ = ["checked", "copy_model", "read_report"]

REPORT = "report.json"


def checked(folder: Path, question: str, *, expected: str | None = None) -> Manifest:
    """The manifest of a model directory that may be put.

    Args:
        folder: the model directory.
        question: that it must answer.
        expected: digest that it must have.

    Raises:
        ModelError: see `Registry.put`.
    """
    manifest = read_manifest(folder, question=question)
    if expected not in (None, manifest.digest):
        raise ModelError(f"{folder} changed while it was copied; put it again")
    models = read_report(folder, manifest).get("models")
    named = [name for name, scores in models.items() if scores] if isinstance(models, dict) else []
    beside = [name for name in named if is_baseline(name)]
    if BASELINES[0] not in beside or len(beside) < 2:
        raise ModelError(
            f"the report of {folder} lacks the baselines (it has {', '.join(beside) or 'none'}; at "
            f"least {BASELINES[0]} and one of rules or rates must stand beside a model); train it "
            "with `jobsight train`"
        )
    return manifest


def read_report(folder: Path, manifest: Manifest) -> dict[str, Any]:
    """The report of a model's test part.

    Args:
        folder: the model directory.
        manifest: its manifest, checked.

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


def copy_model(source: Path, target: Path, manifest: Manifest) -> None:
    """Copy the files that a manifest lists, and the manifest.

    Raises:
        OSError: a file cannot be read or written.
    """
    for name in (MANIFEST, *manifest.files):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target / name, follow_symlinks=False)
