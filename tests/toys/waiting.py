"""Which share of its life does a job wait, and which does it run? A question with shares."""

from collections.abc import Mapping
from typing import ClassVar

import polars as pl

from jobsight.learning.targets import Shares, Target
from tests.toys.starts import Starts


class Waiting(Starts):
    """The shares of waiting and running between the record before a start and the run's end."""

    name: ClassVar[str] = "waiting"
    title: ClassVar[str] = "Which share of its life does it wait?"
    targets: ClassVar[Mapping[str, Target]] = {"shares": Shares(("waiting", "running"))}

    def outcome(self, runs: pl.DataFrame) -> pl.DataFrame:
        waited = pl.col("decided") - pl.col("submitted")
        ran = pl.col("known_at") - pl.col("decided")
        spans = pl.concat_list((waited + 1).cast(pl.Float64), (ran + 1).cast(pl.Float64))
        return runs.with_columns(shares=pl.when(pl.col("end").is_not_null()).then(spans))


QUESTION = Waiting()
