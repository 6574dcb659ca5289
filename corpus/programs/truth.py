"""What a measurement says of a program: its class, or between which classes it lies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from corpus.programs.families import HERE
from jobsight.files import new_file
from jobsight.program.profile import MISSES, THRESHOLDS, stall_part

__all__ = ["AMBIGUOUS", "MEASURED", "Counted", "Row", "judged", "on_cpu", "read_rows", "write_rows"]

AMBIGUOUS = "ambiguous"
MEASURED = HERE / "measured.jsonl"
MARGIN = 0.1
"""A class that comes so near to the largest, in proportion to their thresholds, is possible too."""
Counted = tuple[float, float]
"""Last-level misses and instructions."""


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of ``measured.jsonl``; README.md here explains the fields."""

    path: str
    family: str
    language: str
    label: str
    classes: tuple[str, ...]
    shares: dict[str, float | None]
    wall_s: float
    queued_s: float
    misses_per_1000: float | None
    how: str
    digest: str
    machine: str
    measured: str
    arguments: tuple[str, ...] = ()


def on_cpu(profile: Mapping[str, Any]) -> float:
    """The share of a profile (docs/reference/profile.md) that the program was on a CPU."""
    shares, signals = profile["shares"], profile["signals"]
    return max((shares["cpu"] or 0.0) + (shares["memory"] or 0.0) - _capacity(signals), 0.0)


def _capacity(signals: Mapping[str, Any]) -> float:
    return signals["capacity"] or 0.0


def judged(
    profile: Mapping[str, Any], counted: Counted | None
) -> tuple[tuple[str, ...], dict[str, float | None]]:
    """The classes that are possible, and the shares with stalls split from cpu.

    Args:
        profile: JSON object of ``jobsight profile``.
        counted: in a smaller run; None: they were not, so the memory's share is unknown.
    """
    busy, capacity = on_cpu(profile), _capacity(profile["signals"])
    shares = {name: value for name, value in profile["shares"].items() if name != "gpu"}
    if counted:
        stalled = busy * stall_part(*counted)
        shares |= {"cpu": busy - stalled, "memory": capacity + stalled}
    found = {"on_cpu": busy, "io": shares["io"], "network": shares["network"], "memory": capacity}
    least = {**THRESHOLDS, "memory": THRESHOLDS["capacity"]}
    over = {name: (share or 0.0) / least[name] for name, share in found.items()} | {"waiting": 1.0}
    largest = max(over.values())
    classes = [name for name, value in over.items() if value >= largest * (1 - MARGIN)]
    if "on_cpu" in classes:
        classes.remove("on_cpu")
        classes += [name for name in _of_processor(counted) if name not in classes]
    rounded = {name: None if one is None else round(one, 4) for name, one in shares.items()}
    return tuple(sorted(classes)), rounded


def _of_processor(counted: Counted | None) -> tuple[str, ...]:
    """What binds a program that is on a CPU."""
    per_1000 = 1000 * counted[0] / counted[1] if counted else None
    low, high = MISSES
    if per_1000 is None or low <= per_1000 < high:
        return "cpu", "memory"
    return ("cpu",) if per_1000 < low else ("memory",)


def read_rows(path: Path = MEASURED) -> dict[str, Row]:
    """The rows of a file by path; of a program that is there twice, the last measured."""
    lines = path.read_bytes().splitlines() if path.exists() else []
    rows = sorted((msgspec.json.decode(line, type=Row) for line in lines), key=_when)
    return {row.path: row for row in rows}


def _when(row: Row) -> str:
    return row.measured


def write_rows(rows: Iterable[Row], path: Path = MEASURED) -> None:
    """Write rows in the order of their paths."""
    lines = [msgspec.json.encode(row) + b"\n" for row in sorted(rows, key=lambda row: row.path)]
    with new_file(path) as temporary:
        temporary.write_bytes(b"".join(lines))
