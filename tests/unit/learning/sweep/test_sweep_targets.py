import pytest

from jobsight.errors import SettingsError
from jobsight.learning.sweep.searched import with_parameters
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings

BASE = HoldSettings()


def test_the_first_studys_parameters_need_no_section() -> None:
    point = {
        "j": 40, "m": 70, "timeframe_len": 90, "lstm_layers": 3, "hidden_size": 64,
        "learning_rate": 0.05, "batch_size": 128,
    }  # fmt: skip
    made = with_parameters(HOLD, BASE, point)
    assert (made.frames.j, made.frames.m, made.frames.timeframe_len) == (40, 70, 90.0)
    assert (made.lstm.lstm_layers, made.lstm.hidden_size) == (3, 64)
    assert (made.lstm.learning_rate, made.lstm.batch_size) == (0.05, 128)
    assert made.costs == BASE.costs


def test_settings_may_be_named_in_full() -> None:
    made = with_parameters(HOLD, BASE, {"windows": [60, 120], "lstm.dropout": 0.5, "seed": 7})
    assert made.windows == (60.0, 120.0)
    assert (made.lstm.dropout, made.seed) == (0.5, 7)


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ({"hiden_size": 3}, "'hiden_size' is unknown; the nearest .*hidden_size"),
        ({"lstm": {}}, "'lstm' is unknown"),
        ({"": 1}, "'' is unknown"),
        ({"epochs": 9}, "the same for all runs"),
        ({"success": "terminated"}, "cannot be compared"),
        ({"x" * 10_000: 1}, "is unknown"),
        ({"learning_rate": 0.0}, r"lstm.learning_rate: .*greater than 0 \(given 0.0\)"),
        ({"m": "many"}, r"frames.m: .*valid integer"),
        ({"m": None}, r"frames.m: "),
        ({"timeframe_len": [1]}, r"frames.timeframe_len"),
        ({"windows": [60, -1]}, "windows"),
        ({"m": 3, "frames.m": 4}, "twice"),
    ],
)
def test_what_is_wrong_is_said(point: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message) as error:
        with_parameters(HOLD, BASE, point)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 700
