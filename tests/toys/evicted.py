"""Will this run be evicted? A question with a yes-or-no target."""

from collections.abc import Mapping
from typing import ClassVar

import polars as pl

from jobsight.learning.targets import Binary, Target
from tests.toys.starts import Starts


class Evicted(Starts):
    """P(evicted) of each start."""

    name: ClassVar[str] = "evicted"
    title: ClassVar[str] = "Will this run be evicted?"
    targets: ClassVar[Mapping[str, Target]] = {"evicted": Binary()}
    models: ClassVar[tuple[str, ...]] = ("constant", "rates", "linear", "boosted")
    causes: ClassVar[tuple[str, ...]] = ("site",)
    words: ClassVar[tuple[str, str, str]] = ("start", "starts", "were evicted")

    def outcome(self, runs: pl.DataFrame) -> pl.DataFrame:
        return runs.with_columns(evicted=pl.col("end") == 4)


QUESTION = Evicted()
