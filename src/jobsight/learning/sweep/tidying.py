"""What a sweep that is done needs no more."""

from __future__ import annotations

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
    return {
        path: sum(one.lstat().st_size for one in path.rglob("*") if not one.is_dir())
        for path in _candidates(frozen, layout)
        if path.is_dir() and not path.is_symlink()
    }


def _candidates(frozen: Frozen, layout: Layout) -> Iterator[Path]:
    best = None
    try:
        facts = read_best(layout)
        if facts["registry"] is not None:  # until then every model may be the best
            best = int(facts["run"])
    except (SweepError, LookupError, TypeError, ValueError):
        pass
    for run in range(1, frozen.runs + 1):
        if layout.result(run).exists():
            yield layout.checkpoint(run)
            if best is not None and run != best:
                yield layout.model(run)
    if best is not None:
        yield from sorted(layout.folder.glob("submitted*"))


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
