"""The end of a sweep: its best parameters, trained next to all other models, tested once.

A run was taught on a part of the history, to be measured on the rest; what answers is trained with
its parameters on all that is before the test.

The test part can be looked at once. Before it is, a record of that is written; who comes with
another network afterwards, chosen maybe because of what was seen, is refused.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jobsight.clock import format_micros
from jobsight.errors import ModelError, OutputError, UsageError
from jobsight.files import read_json, write_json
from jobsight.learning.dataset import Dataset
from jobsight.learning.manifest import Source
from jobsight.learning.sweep.attempt import RESULT, identity_of, kept_files, read_result
from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.searched import with_parameters
from jobsight.learning.train import train
from jobsight.learning.trained import Trained
from jobsight.settings import QuestionSettings

__all__ = ["finish_sweep", "looks"]

SCHEMA = "jobsight.test-looks/1"


def finish_sweep(
    source: Any,
    config: SweepConfig,
    *,
    parameters: Mapping[str, Any],
    network: Path,
    record: Path,
    sources: Sequence[Source] = (),
    again: bool = False,
    progress: Callable[[str], None] = lambda _step: None,
) -> Trained:
    """All models with the parameters of the best run, chosen among and tested.

    Args:
        source: of all inputs, see `Question.source`.
        config: of the sweep, as the run had it.
        parameters: the best run's.
        network: its folder ``model/``, next to its ``result.json``.
        record: JSON file that lists every look at the test part; written before the look.
        sources: the logs, for the manifest.
        again: look although another network was tested before; the record then lists both.
        progress: is called with what is being done.

    Returns:
        what `jobsight.learning.train.train` made, to be saved as a model directory.

    Raises:
        UsageError: the test part was looked at with another network, and `again` is not set.
        ModelError: the network is missing, or of a run with other settings.
        TrainingError: there is too little to judge a model by.
        OutputError: the record cannot be read or written; nothing was looked at then.
    """
    question, settings = config.asked, config.fixed_settings
    _require_result(network.parent, identity_of(settings, parameters))
    resolved = _anywhere(with_parameters(question, settings, parameters))
    data = Dataset.for_training(question, source, resolved)
    _note_look(record, network, again=again)
    return train(data, required=config.trained, sources=sources, progress=progress)


def _require_result(folder: Path, identity: str) -> None:
    try:
        read_result(folder, identity)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise ModelError(
            f"cannot take the network of the run in {folder}: {RESULT}: {reason or error}; start "
            "the run again, or give the settings that it had"
        ) from None


def _anywhere(settings: QuestionSettings) -> QuestionSettings:
    """The settings without the need of a GPU, which the machine that finishes a sweep may lack."""
    lstm = getattr(settings, "lstm", None)
    if lstm is None or lstm.device == "cpu":
        return settings
    lstm = lstm.model_copy(update={"device": "auto"})
    return settings.model_copy(update={"lstm": lstm})


def looks(record: Path) -> list[dict[str, Any]]:
    """Every look at the test part: `network` (a digest), `folder`, `time` (µs since 1970).

    Raises:
        OutputError: the record is there, but cannot be read.
    """
    try:
        saved = read_json(record, dict)
        if saved["schema"] != SCHEMA:
            raise ValueError(f"it has schema {saved['schema']!r}")
        return list(saved["looks"])
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OutputError(
            f"the record of looks at the test part, {record}, cannot be read ({error}); it shows "
            "whether this sweep was tested already, so restore it, or plan the sweep anew"
        ) from None


def _note_look(record: Path, network: Path, *, again: bool) -> None:
    """Write down that the test part is looked at now, unless it was with this very network."""
    digest = hashlib.sha256(repr(list(kept_files(network).items())).encode()).hexdigest()
    before = looks(record)
    if any(look["network"] == digest for look in before):
        return
    if before and not again:
        last = before[-1]
        raise UsageError(
            f"the test part was looked at with the network of {last['folder']} already "
            f"({format_micros(last['time'])}); testing another one now would make the better of "
            "two looks pass for one. If that must be, ask for it (again), and it will be recorded"
        )
    look = {"network": digest, "folder": str(network), "time": time.time_ns() // 1000}
    write_json(record, {"schema": SCHEMA, "looks": [*before, look]})
