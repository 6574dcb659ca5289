import pytest

from jobsight.questions.hold.answering.retries import chance_left


def test_each_failure_of_a_program_leaves_less_chance() -> None:
    assert [chance_left(0.4, failed, 2.0) for failed in (0, 2, 6)] == pytest.approx([0.4, 0.2, 0.1])
