"""The configs in ``examples/`` are read, and name what they say they do."""

import runpy
from pathlib import Path

import polars as pl
import pytest

from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings
from jobsight.settings import Settings
from jobsight.tuning.config import SweepConfig
from jobsight.tuning.space import with_parameters

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("name", "parameters"), [("sweep.yaml", 7), ("pool-a-sweep.yaml", 8), ("fail-sweep.yaml", 5)]
)
def test_an_example_of_a_sweep_is_a_config(name: str, parameters: int) -> None:
    assert len(SweepConfig.read(EXAMPLES / name).space) == parameters


def test_what_the_sweep_found_lies_in_the_space_that_it_searched() -> None:
    searched = SweepConfig.read(EXAMPLES / "pool-a-sweep.yaml")
    settings = Settings.load(config=EXAMPLES / "pool-a.yaml", questions={"hold": HoldSettings})
    found = settings.of("hold", HoldSettings)
    point = {
        parameter.name: getattr(
            found.frames if hasattr(found.frames, parameter.name) else found.lstm, parameter.name
        )
        for parameter in searched.space
    }
    assert with_parameters(HOLD, searched.fixed_settings, point) == found


def test_the_limit_of_waits_compares_twins_and_others() -> None:
    example = runpy.run_path(str(EXAMPLES / "wait_limit.py"))
    columns = ("user", "request", "submit", "decided", "partition", "day", "wait")
    rows = [
        ("ann", 1, 0, 0, "p", 0, 1.0),
        ("ann", 1, 30_000_000, 30_000_000, "p", 0, 1.5),
        ("ann", 1, 120_000_000, 120_000_000, "p", 0, 9.0),  # later than a minute
        ("ann", 2, 31_000_000, 31_000_000, "p", 0, 4.0),
        ("bob", 1, 30_000_000, 30_000_000, "p", 1, 2.0),  # another day
    ]
    jobs = pl.DataFrame(rows, schema=columns, orient="row")
    assert example["of_twins"](jobs).to_list() == [0.5]
    others = example["of_others"](jobs, ("partition", "day", "user"), "request")
    assert others.sort().to_list() == [-3.0, -2.5, 2.5, 5.0]
