import random

import pytest

from jobsight.history.sources import Pause


def test_pauses_double_up_to_the_bound_and_keep_half_of_it() -> None:
    pause = Pause(1.0, 10.0, random.Random(1))
    lengths = [pause.failed(0) for _ in range(8)]
    for length, span in zip(lengths, (1, 2, 4, 8, 10, 10, 10, 10), strict=True):
        assert span / 2 <= length <= span
    assert pause.failures == 8


def test_pauses_vary_so_that_collectors_do_not_come_back_together() -> None:
    pauses = {Pause(8.0, 8.0, random.Random(seed)).failed(0) for seed in range(50)}
    assert len(pauses) == 50


def test_a_success_begins_anew() -> None:
    pause = Pause(1.0, 100.0)
    for _ in range(6):
        pause.failed(0)
    pause.worked()
    assert pause.failures == 0
    assert pause.failed(0) <= 1.0


def test_trouble_without_end_does_not_overflow() -> None:
    pause = Pause(1.0, 5.0)
    pause.failures = 10_000
    assert pause.failed(0) <= 5.0


def test_a_bound_below_the_first_pause_is_the_first_pause() -> None:
    assert 1.5 <= Pause(3.0, 1.0).failed(0) <= 3.0


def test_nothing_is_tried_before_its_pause_is_over() -> None:
    pause = Pause(2.0, 5.0)
    assert pause.over(100.0)
    length = pause.failed(100.0)
    assert pause.left(100.0) == pytest.approx(length)
    assert not pause.over(100.9)
    assert pause.over(102.0)
    pause.failed(102.0)
    pause.worked()
    assert pause.over(102.0)
    assert pause.left(102.0) == 0
