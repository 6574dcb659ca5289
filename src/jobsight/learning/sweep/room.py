"""Whether a run fits into the memory there is, asked before it is tried.

A run that is too large would be killed by the system or the scheduler without a word, and tried
again in vain.
"""

from __future__ import annotations

import os
from pathlib import Path

from jobsight.errors import TrainingError
from jobsight.settings import FrameSettings, LstmSettings

__all__ = ["least_bytes", "memory_limit", "require_room"]

_COPIES = 5
"""Of each weight: itself, its gradient, AdamW's two moments, and the best so far."""
_GATES = 4
_FLOAT = 4
_CGROUPS = Path("/sys/fs/cgroup")


def least_bytes(examples: int, frames: FrameSettings, lstm: LstmSettings) -> int:
    """The least that training holds at once: frames, weights, and the LSTM's gates of one batch.

    Args:
        examples: of the train part.
        frames: of the run.
        lstm: of the run; a network of the user's own is taken to need frames alone.
    """
    cells = examples * frames.m * frames.j
    if ":" in lstm.network:
        return cells
    weights = lstm.lstm_layers * _GATES * lstm.hidden_size * 2 * lstm.hidden_size
    batch = min(lstm.batch_size, examples)
    gates = batch * frames.m * lstm.lstm_layers * _GATES * lstm.hidden_size
    return cells + _FLOAT * (_COPIES * weights + gates)


def memory_limit(cgroups: Path = _CGROUPS, mine: Path = Path("/proc/self/cgroup")) -> int:
    """Bytes that this process may hold: the machine's, or its cgroup's where that has a limit.

    Schedulers bind a job's memory by version 2 cgroups (``memory.max``, of the group or of one
    above it); where there are none, the machine's memory counts.
    """
    limit = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        groups = mine.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return limit
    path = next((line[3:].strip("/") for line in groups if line.startswith("0::")), None)
    if path is None or ".." in Path(path).parts:
        return limit
    for group in (cgroups / path, *(cgroups / path).parents):
        try:
            text = (group / "memory.max").read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            continue
        if text.isdecimal():
            limit = min(limit, int(text))
    return limit


def require_room(
    examples: int, frames: FrameSettings, lstm: LstmSettings, *, limit: int | None = None
) -> None:
    """Refuse what cannot fit.

    Raises:
        TrainingError: it needs more memory than there is; names both, and what makes it large.
    """
    there = memory_limit() if limit is None else limit
    least = least_bytes(examples, frames, lstm)
    if lstm.device == "cpu" and least > there:
        raise TrainingError(
            f"too large: it needs at least {least / 1e9:.1f} GB of memory and there are "
            f"{there / 1e9:.1f} GB ({examples} examples, m {frames.m}, j {frames.j}, lstm_layers "
            f"{lstm.lstm_layers}, hidden_size {lstm.hidden_size}, batch_size {lstm.batch_size})"
        )
