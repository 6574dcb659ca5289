import random

from jobsight.service.backoff import Backoff


def test_pauses_double_up_to_the_bound_and_keep_half_of_it() -> None:
    backoff = Backoff(1.0, 10.0, random.Random(1))
    pauses = [backoff.pause() for _ in range(8)]
    for pause, span in zip(pauses, (1, 2, 4, 8, 10, 10, 10, 10), strict=True):
        assert span / 2 <= pause <= span
    assert backoff.failures == 8


def test_pauses_vary_so_that_collectors_do_not_come_back_together() -> None:
    pauses = {Backoff(8.0, 8.0, random.Random(seed)).pause() for seed in range(50)}
    assert len(pauses) == 50


def test_a_success_begins_anew() -> None:
    backoff = Backoff(1.0, 100.0)
    for _ in range(6):
        backoff.pause()
    backoff.reset()
    assert backoff.failures == 0
    assert backoff.pause() <= 1.0


def test_trouble_without_end_does_not_overflow() -> None:
    backoff = Backoff(1.0, 5.0)
    backoff.failures = 10_000
    assert backoff.pause() <= 5.0


def test_a_bound_below_the_first_pause_is_the_first_pause() -> None:
    assert 1.5 <= Backoff(3.0, 1.0).pause() <= 3.0
