from tests.support.histories import micros
from tests.support.hold_models import history, released

from jobsight.history.labels import label_rows
from jobsight.history.timelines import History
from jobsight.questions.hold.examples.decisions import hold_decisions
from jobsight.questions.hold.reporting import later_outcomes, richest_moment
from jobsight.questions.hold.settings import HoldSettings


def mixed() -> History:
    """At 100 one job that will fail is held, at 200 to 202 one of each, at 300 two that fail."""
    return history(
        released(100, 1, good=False),
        released(200, 2, good=True),
        released(200, 3, good=False),
        released(300, 4, good=False),
        released(300, 5, good=False),
    )


def test_the_moment_is_that_of_the_most_various_fates() -> None:
    history = mixed()
    table = hold_decisions(history, HoldSettings(), label_rows(history)).table
    assert richest_moment(table, 0) == micros(200)
    assert richest_moment(table, micros(250)) == micros(300)
    assert richest_moment(table, micros(201)) == micros(300)
    assert richest_moment(table, micros(400)) is None
    assert richest_moment(table.clear(), 0) is None


def test_later_outcomes_are_those_of_the_jobs_held_then() -> None:
    history = mixed()
    table = hold_decisions(history, HoldSettings(), label_rows(history)).table
    assert later_outcomes(table, micros(201)) == {("ap", "2.0"): True, ("ap", "3.0"): False}
    assert later_outcomes(table, micros(202)) == {}
