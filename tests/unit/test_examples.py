"""The configs in ``examples/`` are read, and name what they say they do."""

from pathlib import Path

import pytest

from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.searched import with_parameters
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings
from jobsight.settings import Settings

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["sweep.yaml", "pool-a-sweep.yaml"])
def test_an_example_of_a_sweep_is_a_config(name: str) -> None:
    assert len(SweepConfig.read(EXAMPLES / name).space) >= 7


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
