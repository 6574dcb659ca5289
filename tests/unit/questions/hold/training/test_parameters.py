import pytest

from jobsight.errors import SettingsError
from jobsight.questions.hold.training.parameters import SHORT_NAMES, place_of, with_parameters
from jobsight.settings import HoldSettings

BASE = HoldSettings()


def test_the_first_studys_parameters_need_no_section() -> None:
    point = {
        "j": 40, "m": 70, "timeframe_len": 90, "lstm_layers": 3, "hidden_size": 64,
        "learning_rate": 0.05, "batch_size": 128,
    }  # fmt: skip
    made = with_parameters(BASE, point)
    assert (made.frames.j, made.frames.m, made.frames.timeframe_len) == (40, 70, 90.0)
    assert (made.lstm.lstm_layers, made.lstm.hidden_size) == (3, 64)
    assert (made.lstm.learning_rate, made.lstm.batch_size) == (0.05, 128)
    assert made.costs == BASE.costs


def test_all_other_settings_are_named_in_full() -> None:
    made = with_parameters(
        BASE, {"windows": [60, 120], "costs.lost_job": 9, "lstm.dropout": 0.5, "seed": 7}
    )
    assert made.windows == (60.0, 120.0)
    assert (made.costs.lost_job, made.lstm.dropout, made.seed) == (9.0, 0.5, 7)


def test_every_short_name_is_a_setting() -> None:
    for name in SHORT_NAMES:
        assert ".".join(place_of(name)) == SHORT_NAMES[name]


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ({"hiden_size": 3}, "no parameter 'hiden_size'; did you mean 'hidden_size'"),
        ({"lstm": {}}, "no parameter 'lstm'"),
        ({"lstm.": 1}, "no parameter 'lstm.'"),
        ({"": 1}, "no parameter ''"),
        ({"frames.m.x": 1}, "no parameter"),
        ({"x" * 10_000: 1}, "no parameter 'x"),
        ({"learning_rate": 0.0}, r"learning_rate: .*greater than 0 \(given 0.0\)"),
        ({"m": "many"}, "m: .*valid integer"),
        ({"m": None}, "m: "),
        ({"timeframe_len": [1]}, "timeframe_len: "),
        ({"windows": [60, -1]}, "windows: "),
        ({"m": 3, "frames.m": 4}, "'m' and 'frames.m' are the same setting"),
    ],
)
def test_what_is_wrong_is_said_by_the_parameters_name(
    point: dict[str, object], message: str
) -> None:
    with pytest.raises(SettingsError, match=message) as error:
        with_parameters(BASE, point)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 700


def test_a_fault_elsewhere_is_not_blamed_on_a_parameter() -> None:
    broken = BASE.model_copy(update={"seed": -1})
    with pytest.raises(SettingsError, match=r"^seed: "):
        with_parameters(broken, {"m": 3})
