"""Histories of held jobs, and models made without training, for tests."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from jobsight.history.timelines import History
from jobsight.learning.modeldir import Fitted, ModelDir, TargetModel
from jobsight.learning.targets import BinaryCalibrated
from jobsight.models.calibration import GRID, Calibration, Intervals
from jobsight.models.constant import Constant
from jobsight.questions.hold.answering.answer import Answer, Answerer
from jobsight.questions.hold.answering.heldjob import UNKNOWN, Pool
from jobsight.questions.hold.examples.decisions import HeldHistory
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings, Scale
from tests.support.histories import table

TIMED_OUT = (13, 256, "timed out waiting for origin ( URL file = lab://ap20/data/1 )")
MEMORY = (34, 102, "memory usage 163 MB exceeded request_memory 128 MB")
EXITED = (3, 1, "job exited with code 2")
BY_USER = (1, 0, "pausing (by user ann)")

Cause = tuple[int | None, int | None, str]
Made = Callable[..., Path]
"""Makes a model directory of a seed, and of a report of one's own."""


def held(at: float, cluster: int, proc: int = 0, cause: Cause = EXITED, **more: Any) -> list[Any]:
    """The events of a job that starts and is held at `at` (seconds)."""
    job = {"cluster": cluster, "proc": proc, "owner": "ann"} | more
    code, subcode, reason = cause
    hold = {"hold_code": code, "hold_subcode": subcode, "reason": reason}
    return [
        job | {"at": at - 3, "code": 0},
        job | {"at": at - 2, "code": 1, "slot": "slot1_1@mwt2@vm"},
        job | {"at": at, "code": 12} | hold,
    ]


def released(
    at: float, cluster: int, proc: int = 0, *, good: bool, cause: Cause = EXITED, **more: Any
) -> list[Any]:
    """As `held`, then released after 2 s; 5 s later it ends well, or is held again and removed."""
    job = {"cluster": cluster, "proc": proc, "owner": "ann"} | more
    rows = held(at, cluster, proc, cause, **more)
    rows.append(job | {"at": at + 2, "code": 13, "reason": "via condor_release (by user ann)"})
    if good:
        return [*rows, job | {"at": at + 7, "code": 5, "return_value": 0}]
    again = rows[2] | {"at": at + 7}
    return [*rows, again, job | {"at": at + 8, "code": 9, "reason": "via condor_rm (by user ann)"}]


def history(*jobs: list[Any]) -> History:
    """The history of some jobs' events, in order of time."""
    rows = sorted((row for job in jobs for row in job), key=lambda row: row["at"])
    return History.from_table(table(rows))


def constant_model(
    probability: float,
    *,
    margin: float = 0.05,
    delays: dict[float, float] | None = None,
    **settings: Any,
) -> ModelDir:
    """A model that answers one probability, ± `margin`, and others after `delays` (seconds)."""

    def fitted(rate: float) -> Fitted:
        grid = np.sin(np.linspace(0.0, np.pi / 2, GRID)) ** 2
        low, high = np.maximum(grid - margin, 0.0), np.minimum(grid + margin, 1.0)
        intervals = Intervals(low, high, 1.0, 50.0)
        calibrated = BinaryCalibrated(Calibration(), intervals, 0.5, 0.5)
        return Fitted(Constant(rate), calibrated, 50)

    moments = {
        str(delay): TargetModel("constant", "for tests", {"constant": fitted(rate)}, {})
        for delay, rate in (delays or {}).items()
    }
    main = TargetModel("constant", "for tests", {"constant": fitted(probability)}, moments)
    return ModelDir(
        question=HOLD,
        settings=HoldSettings.model_validate(settings),
        encoding=Scale(30.0, (30.0, 120.0, 480.0), tuple(delays or ()), 5.0, 300.0),
        borders=np.zeros(3, np.int64),
        names=(),
        targets={"outcome": main},
        seen=np.zeros(0, np.uint64),
    )


def answered(
    of: History,
    moment: int,
    model: ModelDir | None = None,
    settings: HoldSettings | None = None,
    pool: Pool = UNKNOWN,
) -> list[Answer]:
    """The answers for all jobs of a history that are held at a moment (µs)."""
    answerer = Answerer(HeldHistory(of), settings or HoldSettings(), model, moment).within(pool)
    return answerer.answer(answerer.asked(pl.lit(value=True)))
