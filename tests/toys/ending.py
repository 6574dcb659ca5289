"""How will this run end? A question with kinds."""

from collections.abc import Mapping
from typing import ClassVar

import polars as pl

from jobsight.learning.targets import Classes, Target
from tests.toys.starts import Starts


class Ending(Starts):
    """A probability for each way to end."""

    name: ClassVar[str] = "ending"
    title: ClassVar[str] = "How will this run end?"
    targets: ClassVar[Mapping[str, Target]] = {
        "ending": Classes(("succeeded", "failed", "evicted"))
    }

    def outcome(self, runs: pl.DataFrame) -> pl.DataFrame:
        failed = pl.col("exit_code").fill_null(0) != 0
        kind = pl.when(pl.col("end") == 4).then(pl.lit("evicted")).when(failed).then(
            pl.lit("failed")
        ).otherwise(pl.lit("succeeded"))  # fmt: skip
        return runs.with_columns(ending=pl.when(pl.col("end").is_not_null()).then(kind))


QUESTION = Ending()
