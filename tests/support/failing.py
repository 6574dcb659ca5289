"""A small made-up Slurm cluster whose jobs fail by user, by request and by a change half way."""

from __future__ import annotations

import datetime as dt
from functools import lru_cache
from pathlib import Path

import numpy as np

from jobsight.history.jobtable import JobTable
from jobsight.learning.dataset import Dataset
from jobsight.learning.reading import job_table
from jobsight.learning.train import Trained, train
from jobsight.questions.fail.question import FAIL, FailSettings
from jobsight.settings import Settings
from tests.support.importing import SAMPLES, written
from tests.support.once import once

__all__ = ["QUICK", "dataset", "jobs_of", "sacct_text", "sample", "trained"]

QUICK = ("constant", "last", "rates", "linear", "mixture")
HEADER = ("JobID|JobIDRaw|Cluster|JobName|User|Account|Partition|State|ExitCode|Submit|Eligible|"
          "Start|End|Elapsed|Timelimit|ReqMem|ReqCPUS|NodeList")  # fmt: skip
BEGIN = dt.datetime(2026, 3, 2, tzinfo=dt.UTC)


def sacct_text(jobs: int = 500, seed: int = 1) -> str:
    """Accounting of a cluster: a job every 10 minutes, one in ten part of an array.

    "bad" fails often in the first half and "good" in the second; jobs of 1 GB run out of memory;
    jobs of "quick" run into their limits. Some are cancelled, and the last have not ended.
    """
    random = np.random.default_rng(seed)
    lines = [HEADER]
    for number in range(1, jobs + 1):
        user = str(
            random.choice(["good", "bad", "quick", "calm", "rare"], p=[0.3, 0.3, 0.2, 0.15, 0.05])
        )
        drifts = user == ("bad" if number < jobs * 0.55 else "good")
        memory = int(random.choice([1, 4, 16], p=[0.15, 0.5, 0.35]))
        odds = [0.75 if drifts else 0.03, 0.6 if memory == 1 else 0.0, 0.5 * (user == "quick")]
        hit = random.random(3) < odds
        state = next(
            (
                one
                for one, on in zip(("FAILED", "OUT_OF_MEMORY", "TIMEOUT"), hit, strict=True)
                if on
            ),
            "COMPLETED",
        )
        if random.random() < 0.05:
            state = "CANCELLED by 1000"
        submit = BEGIN + dt.timedelta(minutes=10 * number)
        start = submit + dt.timedelta(seconds=int(random.integers(5, 900)))
        spent = 3600 if state == "TIMEOUT" else int(random.integers(60, 3500))
        end = start + dt.timedelta(seconds=spent)
        if number > jobs - 5:
            state = "RUNNING"
        name = f"{number - 3}_3" if number % 10 == 0 else str(number)
        lines.append("|".join([
            name, str(number), "toy", f"{user} {number % 3}", user, "lab", "main", state,
            "1:0" if state == "FAILED" else "0:0", _text(submit), _text(submit), _text(start),
            "Unknown" if state == "RUNNING" else _text(end), str(dt.timedelta(seconds=spent)),
            "01:00:00" if user == "quick" else "2-00:00:00", f"{memory}G",
            str(random.integers(1, 9)), f"n{random.integers(1, 5)}",
        ]))  # fmt: skip
    return "\n".join(lines) + "\n"


def _text(moment: dt.datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S")


def jobs_of(path: Path) -> JobTable:
    """The table of a file of accounting, its times in UTC."""
    settings = Settings.model_validate({"timezone": "UTC", "slurm": {"timezone": "UTC"}})
    return job_table([str(path)], settings, lambda _done, _total: None).jobs


def sample(name: str = "sacct.psv") -> JobTable:
    """The table of a committed sample."""
    return jobs_of(SAMPLES / name)


@lru_cache(maxsize=2)
def table(jobs: int = 500) -> JobTable:
    """The table of the made-up cluster."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return jobs_of(written(Path(folder), sacct_text(jobs)))


def dataset(jobs: JobTable | None = None) -> Dataset:
    """Its parts."""
    settings = FailSettings.model_validate({"bootstrap": 100})
    return Dataset.for_training(FAIL, table() if jobs is None else jobs, settings)


@lru_cache(maxsize=1)
def trained() -> Trained:
    """Quick models of the made-up cluster."""
    return once("failing", lambda: train(dataset(), names=QUICK))
