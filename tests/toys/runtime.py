"""How long will this run take? A question with quantiles."""

from collections.abc import Mapping
from typing import ClassVar

import polars as pl

from jobsight.learning.targets import Quantiles, Target
from tests.toys.starts import Starts


class Runtime(Starts):
    """The 10, 50 and 90 % quantiles of each run's seconds."""

    name: ClassVar[str] = "runtime"
    title: ClassVar[str] = "How long will this run take?"
    targets: ClassVar[Mapping[str, Target]] = {"seconds": Quantiles("s", log=True)}

    def outcome(self, runs: pl.DataFrame) -> pl.DataFrame:
        return runs.with_columns(seconds=(pl.col("known_at") - pl.col("decided")) / 1e6)


QUESTION = Runtime()
