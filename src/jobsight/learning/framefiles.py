"""Writing the frames of all decisions of a source as files that NumPy maps into memory.

The folder holds, for n decisions with an outcome, in time order:

- ``frames.npy``: uint8 (n, m, j), oldest frame first; 0 for "not there yet", i for the i-th
  state event of the settings, from 1;
- ``outcomes.npy``: of the first target, (n,);
- ``times.npy``: int64 (n,), the decisions' times in µs since 1970;
- ``groups.npy``: int64 (n,), equal where examples must not be torn apart by a split, numbered
  in order of appearance;
- ``decisions.parquet``: the rows of the decision table;
- ``manifest.json``: sources, settings, encoding, versions, shapes and counts, those of the
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

from jobsight.errors import UsageError
from jobsight.files import Kind, new_folder, sha256, write_json
from jobsight.learning.manifest import Source, package_versions
from jobsight.learning.question import Builder, Question

__all__ = ["write_frames"]

SCHEMA = "jobsight.frames/1"
_BLOCK = 8192
"""Decisions that are built at a time, so that memory does not grow with their number."""


def write_frames(
    question: Question[Any],
    source: Any,
    settings: Any,
    folder: Path,
    sources: Sequence[Source] = (),
) -> dict[str, Any]:
    """Write the frames of every kept decision that has an outcome.

    The same input and settings give the same bytes on the same machine.

    The folder is replaced as a whole if it was written so before (`jobsight.files.new_folder`).
    Returns the manifest, which lists `sources`, and why what was no decision was left out.

    Raises:
        UsageError: the question's decisions have no frames.
        OutputError: the folder cannot be written, or is not to be replaced.
    """
    found = question.decisions(source, settings)
    encoding = question.encoding(found.table, settings)
    kept = question.resolved(found.table.filter("kept"), encoding)
    target, goal = next(iter(question.targets.items()))
    examples = kept.filter(pl.col(target).is_not_null())
    builder = question.builder(source, encoding, settings)
    with new_folder(folder, Kind.FRAMES) as temporary:
        shape = _write_blocks(temporary / "frames.npy", question, builder, examples, encoding)
        groups = examples["group"].to_list()
        numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
        arrays = {
            "outcomes": goal.values(examples[target]),
            "times": examples["decided"].cast(pl.Int64).to_numpy(),
            "groups": np.array([numbers[group] for group in groups], np.int64),
        }
        for name, array in arrays.items():
            np.save(temporary / f"{name}.npy", array, allow_pickle=False)
        examples.write_parquet(temporary / "decisions.parquet")
        manifest = {
            "schema": SCHEMA,
            "question": question.name,
            "settings": settings.model_dump(mode="json"),
            "encoding": encoding.to_json(),
            "sources": [asdict(source) for source in sources],
            "versions": package_versions(),
            "shapes": {"frames": list(shape)} | {k: list(v.shape) for k, v in arrays.items()},
            "counts": {
                "decisions": len(kept),
                "examples": len(examples),
                "groups": examples["group"].n_unique(),
                "batches": examples["batch"].n_unique(),
                "censored": dict(sorted(Counter(kept["censored"].drop_nulls()).items())),
            },
            "times": [examples["decided"].min(), examples["decided"].max()],
            "files": {path.name: sha256(path) for path in sorted(temporary.iterdir())},
        }
        write_json(temporary / "manifest.json", manifest)
    return {**manifest, "no_decision": found.left_out}


def _write_blocks(
    path: Path, question: Question[Any], builder: Builder, examples: pl.DataFrame, encoding: Any
) -> tuple[int, ...]:
    """Fill the file block by block; its shape."""
    moment = question.moments(encoding)[0]
    shape: tuple[int, ...] = ()
    # Not through a memory map: on a full disk that ends in a signal, not in an error.
    with path.open("wb") as stream:
        for start in range(0, max(len(examples), 1), _BLOCK):
            _, inputs = builder.build(examples[start : start + _BLOCK], moment)
            part: NDArray[np.uint8] | None = inputs.frames
            if part is None:
                raise UsageError(f"decisions of {question.name} have no frames")
            if not shape:
                shape = (len(examples), *part.shape[1:])
                header = {"descr": "|u1", "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(stream, header)
            stream.write(np.ascontiguousarray(part).data)
    return shape
