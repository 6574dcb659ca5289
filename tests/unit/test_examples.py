"""The configs in ``examples/`` are read, and name what they say they do."""

from pathlib import Path

import pytest

from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.searched import with_parameters
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings
from jobsight.settings import Settings

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
