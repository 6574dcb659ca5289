"""The question `fail` as the contract wants it: jobs, whether they fail, and of what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from jobsight.history.jobsasked import KeysUsed, jobs_asked
from jobsight.history.jobtable import JobTable
from jobsight.learning.question import Decisions, Question, Stratum
from jobsight.learning.targets import Binary, Classes, Target
from jobsight.models.base import Inputs
from jobsight.questions.fail.decisions import KINDS, outcomes_of
from jobsight.questions.fail.features import MOMENTS, REQUEST, Features, at_moment
from jobsight.questions.fail.settings import FailSettings

__all__ = ["FAIL", "Fail"]

_FEW = 5
"""A user with fewer earlier jobs is new."""


class Fail(Question[FailSettings]):
    """Does a job fail? Asked at its submission and at its start.

    See `jobsight.learning.question.Question`.
    """

    name: ClassVar[str] = "fail"
    title: ClassVar[str] = "Will it fail?"
    settings = FailSettings
    targets: ClassVar[Mapping[str, Target]] = {
        "fails": Binary("failed", "succeeded"),
        "kinds": Classes(KINDS),
    }
    models: ClassVar[tuple[str, ...]] = (
        "constant", "last", "rates", "rates:50", "rates:5", "request", "linear", "boosted",
        "mixture",
    )  # fmt: skip
    columns: ClassVar[Mapping[str, str]] = {
        "last": "user: last",
        "rates": "user: rate",
        "rates:50": "user: rate 50",
        "rates:5": "user: rate 5",
        "request": "request: rate",
    }
    each_moment: ClassVar[bool] = True
    reads: ClassVar[Literal["events", "jobs"]] = "jobs"
    searched: ClassVar[tuple[str, ...]] = ("seed", "boosted")
    same: ClassVar[tuple[str, ...]] = ("cancelled",)
    key: ClassVar[pl.Expr] = pl.col("id")
    job: ClassVar[pl.Expr] = pl.format("{} {}", "scheduler_name", "job")
    strata: ClassVar[Mapping[str, Stratum]] = {
        "partition": Stratum(pl.col("partition"), "By partition"),
        "array": Stratum(
            pl.col("array_task_id").is_not_null(), "By array", words={"true": "tasks of arrays",
                                                                     "false": "single jobs"},
        ),
        "length": Stratum(
            pl.when(pl.col("time_limit_s") < 0).then(pl.lit("without limit"))
            .when(pl.col("time_limit_s") > 86_400).then(pl.lit("over a day"))
            .when(pl.col("time_limit_s") > 3600).then(pl.lit("over an hour"))
            .when(pl.col("time_limit_s").is_not_null()).then(pl.lit("up to an hour")),
            "By time limit",
        ),
        "experience": Stratum(
            pl.when(pl.col("earlier") < _FEW).then(pl.lit("new")).when(
                pl.col("earlier").is_not_null()).then(pl.lit("known")),
            "By experience of the user",
            words={"new": f"users with fewer than {_FEW} jobs before",
                   "known": f"users with {_FEW} jobs before, or more"},
        ),
        "user": Stratum(pl.coalesce("owner", "account"), "By user", saved=False),
    }  # fmt: skip
    spent: ClassVar[str] = "core_hours"
    words: ClassVar[tuple[str, str, str]] = ("job", "jobs", "failed")
    families: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "its request": (*REQUEST, "request", "user and request"),
        "its user": ("user", "account", "user and partition"),
        "its work": (
            "pattern",
            "script",
            "user and pattern",
            "user and name",
            "user and folder",
            "user and script",
            "submission",
            "same again",
        ),
        "the findings on its script": ("findings",),
        "its node": ("node",),
        "its partition": ("partition",),
        "the whole machine": ("all", "hour", "weekday", "waited"),
    }

    def decisions(self, source: JobTable, settings: FailSettings) -> Decisions:
        """Every job, decided at its submission."""
        table = outcomes_of(source, settings)
        times = table["decided"].to_numpy()
        known = table["known_at"].drop_nulls().to_numpy()
        return Decisions(
            table,
            int(times.min(initial=np.iinfo(np.int64).max)),
            int(max(times.max(initial=0), known.max(initial=0))),
            facts={"jobs": len(table)},
            nothing="nothing to learn from: there are no jobs",
        )

    def encoding(self, rows: pl.DataFrame, settings: FailSettings) -> KeysUsed:
        """By what jobs can be compared here."""
        return KeysUsed.of(rows)

    def encoding_from(self, data: Mapping[str, Any]) -> KeysUsed:
        """See `KeysUsed.to_json`."""
        return KeysUsed.from_json(data)

    def builder(self, source: JobTable, encoding: KeysUsed, settings: FailSettings) -> Features:
        """Features as of a moment."""
        return Features(source, encoding)

    def moments(self, encoding: KeysUsed) -> tuple[str, ...]:
        """At submission, and at the start."""
        return MOMENTS

    def again(
        self, source: JobTable, row: pl.DataFrame, encoding: KeysUsed, settings: FailSettings,
        moment: str,
    ) -> Inputs | None:  # fmt: skip
        """The same from the table cut off at the moment; of the job itself, what was known then."""
        now = int(row["decided"][0])
        jobs = jobs_asked(source.as_of(now + 1)).filter(pl.col("id") == row["id"][0])
        own = at_moment(jobs, moment)
        return Features(source.as_of(now), encoding).ask(own, moment) if len(own) else None


FAIL = Fail()
