import pytest

from jobsight.service.rates import Rate


class _Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_steady_flow_has_its_rate_early_and_late() -> None:
    clock = _Clock()
    rate = Rate(clock)
    for _ in range(300):
        clock.now += 1.0
        rate.add(50)
        if clock.now in (10.0, 60.0, 300.0):
            assert rate.value() == pytest.approx(50, rel=0.1)


def test_what_is_long_ago_is_forgotten() -> None:
    clock = _Clock()
    rate = Rate(clock)
    rate.add(1_000_000)
    clock.now = 600.0
    assert rate.value() < 1


def test_nothing_is_zero() -> None:
    assert Rate(_Clock()).value() == 0
