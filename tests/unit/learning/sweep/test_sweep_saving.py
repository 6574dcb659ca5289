import pytest

from jobsight.learning.sweep.attempt import SAVE_SECONDS, SAVE_TIMES, Saving


@pytest.mark.parametrize(
    ("trained", "left", "due"),
    [
        (59.0, 100, False),
        (60.0, 100, True),
        (600.0, 1, True),  # an epoch takes 60 s, a start 8 s
        (60.0, 1, False),  # an epoch takes 6 s: it is done before another start would be
        (60.0, 2, True),
    ],
)
def test_it_saves_after_its_span_unless_the_end_is_near(
    trained: float, left: int, due: bool
) -> None:
    assert Saving(60).due(begun=8.0, trained=trained, epochs=10, left=left) is due


@pytest.mark.parametrize("begun", [1.0, 30.0, 200.0])
def test_by_default_a_save_costs_a_tenth_at_most(begun: float) -> None:
    span = max(SAVE_SECONDS, SAVE_TIMES * begun)
    assert not Saving().due(begun=begun, trained=span - 1, epochs=10, left=1000)
    assert Saving().due(begun=begun, trained=span, epochs=10, left=1000)
