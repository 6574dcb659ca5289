"""The question `start` as the contract wants it: jobs that wait, their waits and runtimes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from jobsight.history.jobtable import JobTable
from jobsight.learning.question import Decisions, Question, Stratum
from jobsight.learning.targets import Quantiles, Target
from jobsight.models.base import Inputs
from jobsight.questions.start.decisions import MOMENTS, outcomes_of, starts_asked
from jobsight.questions.start.features import ESTIMATE, PLAYED, REQUEST, Encoding, Features
from jobsight.questions.start.settings import StartSettings

__all__ = ["START", "Start"]


class Start(Question[StartSettings]):
    """How long does a job wait, and how long does it run?

    See `jobsight.learning.question.Question`.
    """

    name: ClassVar[str] = "start"
    title: ClassVar[str] = "When will it start, and how long will it run?"
    settings = StartSettings
    targets: ClassVar[Mapping[str, Target]] = {
        "wait": Quantiles("s", log=True),
        "runtime": Quantiles("s", log=True),
    }
    equal: ClassVar[bool] = True
    models: ClassVar[tuple[str, ...]] = (
        "constant", "partition", "recent", "last", "slurm", "play", "limit", "last2", "request",
        "boosted", "mixture",
    )  # fmt: skip
    columns: ClassVar[Mapping[str, str]] = {
        "partition": "partition",
        "recent": "partition: wait day",
        "last": "user: last wait",
        "slurm": ESTIMATE,
        "play": PLAYED[1],
        "limit": "limit",
        "last2": "user: last 2 runtimes",
        "request": "request: runtime 50",
    }
    only: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("partition", "recent", "last", "slurm", "play"), "wait"),
        **dict.fromkeys(("limit", "last2", "request"), "runtime"),
    }
    each_moment: ClassVar[bool] = True
    reads: ClassVar[Literal["events", "jobs"]] = "jobs"
    searched: ClassVar[tuple[str, ...]] = ("seed", "boosted")
    key: ClassVar[pl.Expr] = pl.col("id")
    job: ClassVar[pl.Expr] = pl.format("{} {}", "scheduler_name", "job")
    strata: ClassVar[Mapping[str, Stratum]] = {
        "week": Stratum(
            pl.from_epoch("decided", "us").dt.strftime("%G-W%V"), "By week of the decision"
        ),
        "partition": Stratum(pl.col("partition"), "By partition"),
        "size": Stratum(
            pl.when(pl.col("request_gpus") > 0).then(pl.lit("gpus"))
            .when(pl.col("request_cpus") <= 1).then(pl.lit("one"))
            .when(pl.col("request_cpus") <= 32).then(pl.lit("some"))
            .when(pl.col("request_cpus") > 32).then(pl.lit("many")),
            "By size",
            words={"gpus": "with GPUs", "one": "one CPU", "some": "2 to 32 CPUs",
                   "many": "more than 32 CPUs"},
        ),
        "user": Stratum(pl.coalesce("owner", "account"), "By user", saved=False),
    }  # fmt: skip
    words: ClassVar[tuple[str, str, str]] = ("job", "jobs", "started")
    families: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "its request": (*REQUEST, "request", "user and request"),
        "its queue": ("queue", "play", "waited", "eligible", "sighted", ESTIMATE, "reason"),
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
        "its partition": ("partition", "partition and size"),
        "the whole machine": ("all", "hour", "weekday"),
    }

    def decisions(self, source: JobTable, settings: StartSettings) -> Decisions:
        """Every job, decided at its submission or its first sighting in the queue."""
        table = outcomes_of(source, settings.seed)
        times = table["decided"].to_numpy()
        latest = table["waits_until"].to_numpy()
        known = table["known_at runtime"].drop_nulls().to_numpy()
        return Decisions(
            table,
            int(times.min(initial=np.iinfo(np.int64).max)),
            int(max(one.max(initial=0) for one in (times, latest, known))),
            facts={"jobs": len(table)},
            nothing="nothing to learn from: there are no jobs",
        )

    def encoding(self, rows: pl.DataFrame, settings: StartSettings) -> Encoding:
        """By what jobs can be compared here, and what is known of their queue."""
        return Encoding.of(rows)

    def encoding_from(self, data: Mapping[str, Any]) -> Encoding:
        """See `Encoding.to_json`."""
        return Encoding.from_json(data)

    def builder(self, source: JobTable, encoding: Encoding, settings: StartSettings) -> Features:
        """Features as of a moment."""
        return Features(source, encoding, settings.seed)

    def moments(self, encoding: Encoding) -> tuple[str, ...]:
        """At submission, and while the job waits."""
        return MOMENTS

    def again(
        self, source: JobTable, row: pl.DataFrame, encoding: Encoding, settings: StartSettings,
        moment: str,
    ) -> Inputs | None:  # fmt: skip
        """The same from the table cut off at the moment; of the job itself, what was known then."""
        now = int(row["decided"][0])
        seen = source.as_of(now + 1)
        own = starts_asked(seen, settings.seed).filter(pl.col("id") == row["id"][0])
        features = Features(source.as_of(now), encoding, settings.seed, seen)
        return features.ask(own.with_columns(decided=pl.lit(now))) if len(own) else None


START = Start()
