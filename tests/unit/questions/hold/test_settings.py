"""Times that the settings leave to the data."""

import polars as pl
import pytest

from jobsight.questions.hold.settings import DEFAULT_TIME_SCALE, HoldSettings, resolve_scale


def part(spans: list[float], outcome: bool | None = True) -> pl.DataFrame:
    """Decisions released at 0 and settled after `spans` seconds."""
    return pl.DataFrame(
        {
            "outcome": [outcome] * len(spans),
            "released": [0] * len(spans),
            "resolved_time": [round(span * 1e6) for span in spans],
        },
        schema={"outcome": pl.Boolean, "released": pl.Int64, "resolved_time": pl.Int64},
    )


def test_all_is_measured_in_the_median_time_to_an_outcome() -> None:
    scale = resolve_scale(part([10, 20, 90]), HoldSettings())
    assert scale.time_scale == 20.0
    assert scale.windows == (20.0, 80.0, 320.0)
    assert scale.delays == (20.0, 40.0, 80.0)
    assert scale.timeframe_len == 2.5
    assert scale.horizon == 90
    assert scale.horizon_micros == 90_000_000


def test_what_is_set_is_taken_as_it_is() -> None:
    given = {
        "windows": [60, 5],
        "delays": [7],
        "horizon": 11,
        "frames": {"timeframe_len": 3},
    }
    scale = resolve_scale(part([10]), HoldSettings.model_validate(given))
    assert (scale.windows, scale.delays) == ((5.0, 60.0), (7.0,))
    assert (scale.timeframe_len, scale.horizon) == (3, 11)


@pytest.mark.parametrize("decisions", [part([]), part([5, 6], outcome=None)])
def test_without_outcomes_there_is_a_usual_pace(decisions: pl.DataFrame) -> None:
    scale = resolve_scale(decisions, HoldSettings())
    assert scale.time_scale == DEFAULT_TIME_SCALE
    assert scale.horizon > 0


def test_outcomes_within_a_second_do_not_make_the_pace_vanish() -> None:
    scale = resolve_scale(part([0, 0, 0]), HoldSettings())
    assert scale.time_scale == 1
    assert scale.horizon == 1
