"""A little of what the nodes of a sweep do, so that the kernels they use get compiled."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from jobsight.errors import TrainingError
from jobsight.history.eventlog.discovery import find_logs
from jobsight.history.events import EventReader
from jobsight.history.parquet import write_events
from jobsight.history.timelines import History
from jobsight.learning.dataset import Dataset
from jobsight.learning.question import Question

__all__ = ["practise"]

_JOBS = 60
_BEGIN = dt.datetime(2026, 1, 1)
_EVERY = dt.timedelta(minutes=2)
"""Between two jobs, longer than any of them takes: batches of one release each."""

_LIFE = (
    (0, 0, "Job submitted from host: <192.0.2.1:9618?alias=ap1>"),
    (10, 1, "Job executing on host: <192.0.2.7:9618>"),
    (20, 12, "Job was held.\n\tTransfer input files failure\n\tCode 13 Subcode 256"),
    (40, 13, "Job was released.\n\tvia condor_release (by user x)"),
    (50, 1, "Job executing on host: <192.0.2.7:9618>"),
)
_ENDS = (
    "Job terminated.\n\t(1) Normal termination (return value 0)",
    "Job terminated.\n\t(1) Normal termination (return value 1)",
)
_AD = (
    'Job ad information event triggered.\nOwner = "ann"\nRequestMemory = 1.5\n'
    "TriggerEventTypeNumber = {code}"
)


def practise(question: Question[Any], folder: Path) -> int:
    """Parse a made-up log and make examples of it, with the very calls that nodes make.

    Args:
        question: on event histories.
        folder: to work in.

    Returns:
        how many examples were made.

    Raises:
        TrainingError: none were, so not everything was compiled.
        OutputError: the folder cannot be written.
    """
    log, table = folder / "made-up.log", folder / "table.parquet"
    log.write_text("".join(_records()), encoding="ascii")
    write_events(EventReader(find_logs([str(log)]), timezone="UTC").batches(), table)
    history = History.from_table(pl.read_parquet(table))
    data = Dataset.for_training(question, history, question.settings())
    made = len(data.labelled(data.part("train"))[1])
    if not made:
        raise TrainingError("the log that was made up gives no examples")
    return made


def _records() -> Iterator[str]:
    """Records of jobs that are held, released, and end, each followed by its ad."""
    for job in range(1, _JOBS + 1):
        end = (80, 5, _ENDS[job % len(_ENDS)])
        for seconds, code, body in (*_LIFE, end):
            moment = _BEGIN + job * _EVERY + dt.timedelta(seconds=seconds)
            for number, text in ((code, body), (28, _AD.format(code=code))):
                yield f"{number:03d} ({job:03d}.000.000) {moment:%Y-%m-%d %H:%M:%S} {text}\n...\n"
