"""Jobs that completed and failed, as documents, and a model of them, for tests."""

import random
from collections.abc import Iterable
from functools import cache
from typing import Any

from jobsight.documents import JobDocument, Request, State, Submission, Usage, slurm_id
from jobsight.history.jobtable import JobTable
from jobsight.learning.dataset import Dataset
from jobsight.learning.modeldir import ModelDir
from jobsight.learning.train import train
from jobsight.questions.fail.question import FAIL, FailSettings
from tests.support.storedjobs import job, told

HOUR = 3600


def ran(
    number: object,
    at: float,
    state: State | None = State.COMPLETED,
    *,
    span: float = 600,
    user: str = "ann",
    name: str | None = "align.sh",
    memory: int | None = 8192,
    limit: int | None = HOUR,
    peak: int | None = None,
    code: int | None = None,
    cpus: int = 4,
    waits: bool = False,
) -> JobDocument:
    """A job of the cluster ``grid`` that starts 60 s after its submission `at` (seconds).

    Args:
        number: its id.
        at: its submission.
        state: its end after `span` seconds; None: it has not ended.
        span: seconds.
        user, name, memory, limit, peak, code, cpus: of the job, in units of the job table.
        waits: it has not started.
    """
    events = [told(at, State.PENDING)]
    if not waits:
        events.append(told(at + 60, State.RUNNING, host="n1"))
        if state is not None:
            events.append(told(at + 60 + span, state, return_value=code))
    return job(
        slurm_id("grid", str(number)),
        *events,
        submission=Submission(user=user, name=name, submitted=events[0].time),
        request=Request(
            cpus=cpus, memory_mb=memory, time_limit_s=limit, partition="main", nodes=1
        ),
        usage=Usage(memory_mb=peak),
    )  # fmt: skip


def documents(jobs: int = 400) -> list[JobDocument]:
    """Ann's align.sh runs out of 8192 MB, and completes with 16384 MB; Bob's jobs rarely fail."""
    draw, made = random.Random(1), []
    for number in range(1, jobs + 1):
        at, bad = number * 300.0, draw.random()
        more: dict[str, Any]
        if number % 2:
            enough = draw.random() < 0.5
            state = State.OUT_OF_MEMORY if bad < (0.1 if enough else 0.9) else State.COMPLETED
            more = {"memory": 16384 if enough else 8192, "peak": 11878 if enough else 8190}
        else:
            state = State.FAILED if bad < 0.1 else State.COMPLETED
            more = {"user": "bob", "name": f"sim{number}", "code": 2 if bad < 0.1 else 0}
        made.append(ran(number, at, state, **more))
    return made


def table(made: Iterable[JobDocument]) -> JobTable:
    """Their job table."""
    return JobTable.read(made)


@cache
def model() -> ModelDir:
    """Trained on `documents`, once per process."""
    settings = FailSettings(bootstrap=100)
    data = Dataset.for_training(FAIL, table(documents()), settings)
    names = ("constant", "last", "rates", "request", "linear", "mixture")
    return train(data, names=names).model
