"""Writing the frames of all examples of a history as files that NumPy maps into memory.

The folder holds, for n examples:

- ``frames.npy``: uint8 (n, m, j), oldest frame first; 0 for "not there yet", i for the i-th
  state event of the manifest, from 1;
- ``outcomes.npy``: bool (n,), true for success;
- ``times.npy``: int64 (n,), the decisions' times in µs since 1970;
- ``groups.npy``: int64 (n,), equal where examples must not be torn apart by a split, numbered
  in order of appearance;
- ``decisions.parquet``: the rows of the decision table;
- ``manifest.json``: sources, settings, scale, versions, shapes and counts, those of the
  censored decisions by kind among them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.files import Kind, new_folder, sha256, write_json
from jobsight.history.frames import FrameIndex, build_frames
from jobsight.history.labels import RowLabels, label_rows
from jobsight.history.outcomes import apply_horizon
from jobsight.history.timelines import History
from jobsight.learning.manifest import Source, package_versions
from jobsight.questions.hold.examples.scale import Scale
from jobsight.questions.hold.settings import HoldSettings

__all__ = ["SCHEMA", "write_frames"]

SCHEMA = "jobsight.frames/1"
_MICRO = 1_000_000
_BLOCK_BYTES = 64 << 20


def write_frames(
    history: History,
    decisions: pl.DataFrame,
    folder: Path,
    settings: HoldSettings,
    scale: Scale,
    *,
    sources: Sequence[Source] = (),
    labels: RowLabels | None = None,
) -> dict[str, Any]:
    """Write the frames of every kept decision that has an outcome, in time order.

    The same input and settings give the same bytes on the same machine.

    Args:
        history: the indexed log.
        decisions: `jobsight.questions.hold.examples.decisions.Decisions.table`, before any horizon.
        folder: replaced as a whole if it was written so before, see `jobsight.files.new_folder`.
        settings: frames, seed and success.
        scale: horizon and length of a frame.
        sources: the input files, for the manifest.
        labels: of the rows of `history`, where the caller has them.

    Returns:
        the manifest.

    Raises:
        OutputError: the folder cannot be written, or is not ours to replace.
    """
    kept = apply_horizon(decisions.filter("kept"), scale.horizon_micros)
    examples = kept.filter(pl.col("outcome").is_not_null()).sort("time", "log", "row")
    manifest = _manifest(kept, examples, settings, scale, sources)
    with new_folder(folder, Kind.FRAMES) as temporary:
        index = FrameIndex(history, labels or label_rows(history), settings.frames.state_events)
        _write_blocks(temporary / "frames.npy", index, examples, settings, scale)
        for name, array in _arrays(examples).items():
            np.save(temporary / f"{name}.npy", array, allow_pickle=False)
        examples.write_parquet(temporary / "decisions.parquet")
        manifest["files"] = {path.name: sha256(path) for path in sorted(temporary.iterdir())}
        write_json(temporary / "manifest.json", manifest)
    return manifest


def _arrays(examples: pl.DataFrame) -> dict[str, NDArray[Any]]:
    groups = examples["group"].to_list()
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    return {
        "outcomes": examples["outcome"].cast(pl.Boolean).to_numpy(),
        "times": examples["time"].cast(pl.Int64).to_numpy(),
        "groups": np.array([numbers[group] for group in groups], np.int64),
    }


def _write_blocks(
    path: Path, index: FrameIndex, examples: pl.DataFrame, settings: HoldSettings, scale: Scale
) -> None:
    """Fill the file block by block, so that memory does not grow with the number of examples."""
    frames = settings.frames
    shape = (len(examples), frames.m, frames.j)
    block = max(_BLOCK_BYTES // (frames.m * frames.j), 1)
    header = {"descr": "|u1", "fortran_order": False, "shape": shape}
    # Not through a memory map: on a full disk that ends in a signal, not in an error.
    with path.open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        for start in range(0, len(examples), block):
            part, _ = build_frames(
                index,
                examples[start : start + block],
                m=frames.m,
                j=frames.j,
                timeframe=max(round(scale.timeframe_len * _MICRO), 1),
                related_share=frames.related_share,
                seed=settings.seed,
            )
            stream.write(np.ascontiguousarray(part).data)


def _manifest(
    kept: pl.DataFrame,
    examples: pl.DataFrame,
    settings: HoldSettings,
    scale: Scale,
    sources: Sequence[Source],
) -> dict[str, Any]:
    frames, times = settings.frames, examples["time"]
    return {
        "schema": SCHEMA,
        "question": "hold",
        "state_events": list(frames.state_events),
        "m": frames.m,
        "j": frames.j,
        "timeframe_len": scale.timeframe_len,
        "as_of": settings.as_of,
        "seed": settings.seed,
        "settings": settings.model_dump(mode="json"),
        "scale": {name: _plain(value) for name, value in asdict(scale).items()},
        "sources": [asdict(source) for source in sources],
        "versions": package_versions(),
        "shapes": {
            "frames": [len(examples), frames.m, frames.j],
            "outcomes": [len(examples)],
            "times": [len(examples)],
            "groups": [len(examples)],
        },
        "counts": {
            "decisions": len(kept),
            "examples": len(examples),
            "successes": int(examples["outcome"].sum()),
            "groups": examples["group"].n_unique(),
            "batches": examples["batch"].n_unique(),
            "censored": dict(sorted(Counter(kept["censored"].drop_nulls().to_list()).items())),
        },
        "times": [times.min(), times.max()],
    }


def _plain(value: Any) -> Any:
    """What JSON gives back is what was written: lists, no tuples."""
    return list(value) if isinstance(value, tuple) else value
