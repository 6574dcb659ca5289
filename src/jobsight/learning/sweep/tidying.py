"""What a sweep that is done needs no more."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from jobsight.errors import OutputError, SweepError
from jobsight.learning.sweep.best import read_best
from jobsight.learning.sweep.layout import Frozen, Layout

__all__ = ["leftovers", "remove"]


def leftovers(frozen: Frozen, layout: Layout) -> dict[Path, int]:
    """What may go, and its bytes: checkpoints, models but the best run's, the scheduler's files.

    Checkpoints and models of runs that have not ended stay: they go on from there. Records,
    results, points, the parsed history, what tracking wrote, and ``best/`` stay too.
    """
    best = _kept_run(layout)
    found: dict[Path, int] = {}
    for path in _candidates(frozen, layout, best):
        if path.is_dir() and not path.is_symlink():
            found[path] = _bytes(path)
    return found


def _kept_run(layout: Layout) -> int | None:
    """The best run, once its model is in the registry: until then the sweep may have to go on."""
    try:
        facts = read_best(layout)
        return None if facts["registry"] is None else int(facts["run"])
    except (SweepError, LookupError, TypeError, ValueError):
        return None


def _candidates(frozen: Frozen, layout: Layout, best: int | None) -> Iterator[Path]:
    for run in range(1, frozen.runs + 1):
        if layout.result(run).exists():
            yield layout.checkpoint(run)
            # Before the best is known and kept, every model may be it.
            if best is not None and run != best:
                yield layout.model(run)
    if best is not None:
        yield from sorted(layout.folder.glob("submitted*"))


def _bytes(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(parent) / name).lstat().st_size
            except OSError:
                continue
    return total


def remove(found: Mapping[Path, int]) -> None:
    """Remove folders that `leftovers` found.

    Raises:
        OutputError: one cannot be removed; those before it are gone.
    """
    for path in found:
        try:
            shutil.rmtree(path)
        except OSError as error:
            raise OutputError(f"cannot remove {path}: {error.strerror or error}") from None
